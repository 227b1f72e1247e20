"""Maps one after the other: the oldest that knows a point decides."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.extension.extended_map import ExtendedMap
from isofold.extension.patch_map import N_SPACING, assemble
from isofold.linalg.motions import RigidMotions
from support.ipa_cases import half_cylinder, rectangle, stitched

# Images are sums of some products of numbers of size ten.
ROUNDING = 1e-11
SHIFT = np.array([100.0, 0.0])


@pytest.fixture(scope="module")
def sheet():
    return half_cylinder(rectangle(400, (np.pi, 1.5)))


@pytest.fixture(scope="module")
def older(sheet):
    """A map of the first half of the sheet."""
    found = stitched(sheet[sheet[:, 0] > 0.0])
    return assemble(found.points, found.map)


@pytest.fixture(scope="module")
def newer(sheet):
    """A map of the whole sheet, elsewhere, to tell it from the other."""
    found = stitched(sheet)
    return assemble(found.points, found.map).moved(RigidMotions(np.eye(2)[None], SHIFT[None]))


@pytest.fixture(scope="module")
def both(older, newer):
    return ExtendedMap.of(older).extended(newer)


def test_reach_is_the_usual_spacing_of_nodes(older):
    nodes = older.search.points
    lengths = np.sort(cdist(nodes, nodes), axis=1)[:, N_SPACING]
    near = np.argsort(cdist(nodes, nodes), axis=1, kind="stable")[:, : N_SPACING + 1]
    np.testing.assert_allclose(older.reaches, np.median(lengths[near], axis=1))


def test_points_like_the_nodes_are_within_reach(older):
    flat = rectangle(4000, (np.pi, 1.5), seed=9)
    radius = np.ptp(flat[:, 0]) / np.pi
    rows = half_cylinder(flat)
    rows = rows[rows[:, 0] > 0.1 * radius]
    mapped = older.map_points(rows)
    # exp(-12) of them are not.
    assert (older.remoteness(mapped) <= 1.0).all()
    assert not mapped.is_off.any()


def test_a_moved_map_has_moved_images(older):
    motion = RigidMotions(np.array([[[0.0, 1.0], [-1.0, 0.0]]]), SHIFT[None])
    moved = older.moved(motion)
    expected = older.image_search.points @ motion.rotations[0] + SHIFT
    np.testing.assert_allclose(moved.image_search.points, expected, atol=ROUNDING)
    np.testing.assert_allclose(moved.transform(older.node_points), expected, atol=ROUNDING)


def test_the_oldest_map_that_knows_a_point_decides(sheet, older, newer, both):
    known = older.map_points(sheet)
    is_known = ~known.is_off & (older.remoteness(known) <= 1.0)
    assert 0 < is_known.sum() < len(sheet)
    expected = np.where(is_known[:, None], older.transform(sheet), newer.transform(sheet))
    assert both.transform(sheet).tobytes() == expected.tobytes()
    placed = both.place(sheet)
    assert placed.is_covered.all()
    np.testing.assert_array_equal(both.distance(sheet), np.sqrt(placed.mapped.squared_distances))


def test_of_points_that_none_knows_the_nearest_node_decides(sheet, older, newer, both):
    rows = 5.0 * sheet[::7]
    nearer = newer.map_points(rows).gaps < older.map_points(rows).gaps
    assert nearer.any()
    assert not nearer.all()
    expected = np.where(nearer[:, None], newer.transform(rows), older.transform(rows))
    np.testing.assert_array_equal(both.transform(rows), expected)
    assert not both.place(rows).is_covered.any()


def test_the_way_back(sheet, older, newer, both):
    first, second = older.image_search.points, newer.image_search.points
    np.testing.assert_array_equal(both.inverse_transform(first), older.inverse_transform(first))
    np.testing.assert_array_equal(both.inverse_transform(second), newer.inverse_transform(second))


def test_nodes_of_all_maps(newer, both):
    nodes, images = both.training_pairs()
    np.testing.assert_array_equal(nodes, newer.search.points)
    np.testing.assert_array_equal(images, both.transform(nodes))
