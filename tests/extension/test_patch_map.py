"""The map of aligned charts: exact at nodes, row by row, continuous, and with a way back."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.extension import patch_map as module
from isofold.extension.patch_map import assemble
from isofold.quality import procrustes_error
from support.helpers import assert_equal_up_to_rigid_motion
from support.ipa_cases import grid, half_cylinder, motion_onto, rectangle, stitched

# Images are sums of some products of numbers of size ten.
ROUNDING = 1e-11


@pytest.fixture(scope="module")
def sheet():
    flat = rectangle(400, (np.pi, 1.5))
    return flat, stitched(half_cylinder(flat))


@pytest.fixture(scope="module")
def mapping(sheet):
    return assemble(sheet[1].points, sheet[1].map)


@pytest.fixture(scope="module")
def new(sheet):
    flat = 0.05 + rectangle(200, (np.pi - 0.1, 1.4), seed=7)
    x = flat[:, 0] - sheet[0][:, 0].min()
    radius = np.ptp(sheet[0][:, 0]) / np.pi
    angle = x / radius
    return flat, np.column_stack([radius * np.cos(angle), radius * np.sin(angle), flat[:, 1]])


def test_nodes_go_where_the_unfolding_has_them(sheet, mapping):
    images = mapping.transform(sheet[1].points)
    assert_equal_up_to_rigid_motion(images, sheet[1].map.embedding, atol=ROUNDING)
    assert procrustes_error(images, sheet[0]) < 1e-3


def test_axes_are_principal_and_centered(sheet, mapping):
    images = mapping.transform(sheet[1].points)
    np.testing.assert_allclose(images.mean(axis=0), 0.0, atol=ROUNDING)
    covariance = np.cov(images.T)
    assert covariance[0, 0] > covariance[1, 1]
    assert abs(covariance[0, 1]) < ROUNDING


def test_new_points(sheet, mapping, new):
    motion = motion_onto(mapping.transform(sheet[1].points), sheet[0])
    # The third-order term of patches some .3 wide.
    assert np.abs(motion.apply(mapping.transform(new[1])) - new[0]).max() < 5e-3


def test_rows_are_mapped_by_themselves(mapping, new, monkeypatch):
    together = mapping.map_points(new[1])
    monkeypatch.setattr(
        module, "_blocks", lambda n, d: [slice(i, min(i + 7, n)) for i in range(0, n, 7)]
    )
    for n_jobs in (1, 2):
        pieces = mapping.map_points(new[1], n_jobs=n_jobs)
        for name in ("images", "squared_distances", "limits", "nearest"):
            np.testing.assert_array_equal(getattr(pieces, name), getattr(together, name))
        np.testing.assert_array_equal(
            mapping.inverse_transform(together.images, n_jobs=n_jobs),
            mapping.inverse_transform(together.images),
        )


def test_distances_are_left_out_on_request(mapping, new):
    lean = mapping.map_points(new[1], with_distances=False)
    np.testing.assert_array_equal(lean.images, mapping.transform(new[1]))
    assert np.isnan(lean.squared_distances).all()
    assert np.isnan(lean.limits).all()


def test_nearest_nodes(sheet, mapping, new):
    expected = cdist(new[1], sheet[1].points).argmin(axis=1)
    np.testing.assert_array_equal(mapping.map_points(new[1]).nearest, expected)


def test_images_keep_the_precision_of_the_points(mapping, new):
    single = mapping.map_points(new[1].astype(np.float32))
    assert single.images.dtype == np.float32
    np.testing.assert_allclose(single.images, mapping.transform(new[1]), atol=1e-5)


def test_images_move_as_points_do(sheet, mapping):
    # Along the sheet and off it, through many patches.
    angle = np.linspace(0.1, 3.0, 20001)
    line = np.column_stack([np.cos(angle), np.sin(angle), 0.75 + 0.3 * np.sin(5 * angle)])
    images = mapping.transform(line)
    moves = np.linalg.norm(np.diff(images, axis=0), axis=1)
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    assert (moves < 2 * steps).all()
    off = mapping.transform(1.1 * line)
    moves = np.linalg.norm(np.diff(off, axis=0), axis=1)
    # Off the sheet charts differ by how their tangents are turned, but there is no jump.
    assert (moves < 20 * steps).all()


def test_way_back(mapping, new):
    mapped = mapping.map_points(new[1])
    restored = mapping.inverse_transform(mapped.images)
    assert np.linalg.norm(restored - new[1], axis=1).max() < 5e-3
    np.testing.assert_allclose(mapping.transform(restored), mapped.images, atol=5e-3)


def test_way_back_undoes_the_bending_of_large_patches():
    # Some sixteen patches, half a radian to either side: bending moves points by (.5)³/6, two
    # hundredths, and a first step back without iteration leaves half of it.
    found = stitched(half_cylinder(rectangle(60, (np.pi, 1.5))))
    mapping = assemble(found.points, found.map)
    images = mapping.transform(found.points)
    again = mapping.transform(mapping.inverse_transform(images))
    assert np.abs(again - images).max() < 0.005


def test_plane_is_exact_and_heights_are_known():
    flat = rectangle(200, (5.0, 3.0))
    found = stitched(np.pad(flat, ((0, 0), (0, 1))))
    mapping = assemble(found.points, found.map)
    inner = 0.5 + rectangle(50, (4.0, 2.0), seed=1)
    motion = motion_onto(mapping.transform(found.points), flat)
    for height in (0.0, 0.2, -1.5):
        mapped = mapping.map_points(np.insert(inner, 2, height, axis=1))
        np.testing.assert_allclose(motion.apply(mapped.images), inner, atol=ROUNDING)
        np.testing.assert_allclose(np.sqrt(mapped.squared_distances), abs(height), atol=1e-6)
        np.testing.assert_allclose(
            mapping.inverse_transform(mapped.images),
            np.insert(inner, 2, 0.0, axis=1),
            atol=ROUNDING,
        )


def test_points_far_off_exceed_their_limits(sheet, mapping):
    points = sheet[1].points
    mapped = mapping.map_points(points)
    assert (mapped.limits > 0).all()
    assert (mapped.squared_distances <= mapped.limits).all()
    off = mapping.map_points(points * [2.0, 2.0, 1.0])
    assert (off.squared_distances > off.limits).all()


def test_pieces_share_one_map():
    flat = np.concatenate([grid(8, 8), grid(8, 8) + 30.0])
    found = stitched(np.pad(flat, ((0, 0), (0, 1))))
    assert len(found.map.components) == 2
    mapping = assemble(found.points, found.map)
    images = mapping.transform(found.points)
    for own in (slice(0, 64), slice(64, None)):
        assert procrustes_error(images[own], flat[own]) < ROUNDING
    np.testing.assert_allclose(images.mean(axis=0), 0.0, atol=ROUNDING)
