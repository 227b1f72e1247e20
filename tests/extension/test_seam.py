"""A stitching is moved onto the older map, and what is left between them is measured."""

from dataclasses import replace

import numpy as np
import pytest

from isofold._findings import Diagnosis
from isofold.extension.extended_map import ExtendedMap
from isofold.extension.patch_map import assemble
from isofold.extension.seam import JointNodes, Seam, align, find_seam, measure_seam
from isofold.linalg.motions import RigidMotions
from support.ipa_cases import half_cylinder, rectangle, stitched

# Images are sums of some products of numbers of size ten.
ROUNDING = 1e-11
TURNED = RigidMotions(np.array([[[0.6, 0.8], [0.8, -0.6]]]), np.array([[3.0, -7.0]]))


@pytest.fixture(scope="module")
def sheet():
    return stitched(half_cylinder(rectangle(400, (np.pi, 1.5))))


@pytest.fixture(scope="module")
def newer(sheet):
    return assemble(sheet.points, sheet.map)


@pytest.fixture(scope="module")
def nodes(sheet, newer):
    """All nodes, of which the first half of the sheet is old."""
    is_old = sheet.points[:, 0] > 0.0
    return JointNodes(
        images=newer.image_search.points,
        component=np.zeros(len(is_old), dtype=np.intp),
        old=np.where(is_old, np.cumsum(is_old) - 1, -1),
        cover=sheet.map.cover,
    )


def test_nodes_beside_new_ones_share_a_patch_with_them(nodes):
    expected = set()
    for patch in range(nodes.cover.n_patches):
        members = nodes.cover.members_of(patch)
        if not nodes.is_old[members].all():
            expected.update(members[nodes.is_old[members]].tolist())
    assert 0 < len(expected) < nodes.is_old.sum()
    np.testing.assert_array_equal(np.flatnonzero(nodes.is_beside_new), sorted(expected))


def test_a_motion_is_undone(newer, nodes):
    (target,) = TURNED.apply_each([nodes.images])
    labels = np.zeros(nodes.is_old.sum(), dtype=np.intp)
    moved = align(newer, nodes, target[nodes.is_old], labels)
    np.testing.assert_allclose(moved.image_search.points, target, atol=ROUNDING)


def test_a_new_component_goes_with_the_nearest(newer, nodes):
    # Patches across the border belong to the component of their seed.
    apart = replace(nodes, component=np.where(nodes.is_old, 0, 1))
    labels = np.full(nodes.is_old.sum(), 4)
    np.testing.assert_array_equal(apart.old_labels(labels), [4, -1])
    (target,) = TURNED.apply_each([nodes.images])
    moved = align(newer, apart, target[nodes.is_old], labels)
    np.testing.assert_allclose(moved.image_search.points, target, atol=ROUNDING)


def test_the_seam_is_as_wide_as_the_maps_are_apart(newer, sheet):
    older = ExtendedMap.of(newer)
    shifted = newer.moved(RigidMotions(np.eye(2)[None], np.array([[0.3, 0.4]])))
    placed = older.place(sheet.points)
    seam = measure_seam(older, shifted, sheet.points, placed, sheet.points[::5])
    assert seam.jump == pytest.approx(0.5)
    unit = np.sqrt((newer.reaches[::5] ** 2).mean())
    assert seam.tear == pytest.approx(0.5 / unit)
    assert measure_seam(older, shifted, sheet.points, placed, sheet.points[:0]) is None


def test_the_finding_adds_up(nodes):
    extent = np.sqrt(((nodes.images - nodes.images.mean(axis=0)) ** 2).sum(axis=1).mean())
    first = find_seam(Seam(0.6, 3.0 * extent), nodes.images, Diagnosis(), 1)
    assert (first.value, first.limit, first.is_raised) == (0.6, 0.5, True)
    second = find_seam(Seam(0.1, 4.0 * extent), nodes.images, Diagnosis((first,)), 2)
    assert second.value == 0.6
    assert dict(second.parameters)["error"] == pytest.approx(5.0)
    assert find_seam(None, nodes.images, Diagnosis((first,)), 2) is first
    assert find_seam(None, nodes.images, Diagnosis(), 2) is None
