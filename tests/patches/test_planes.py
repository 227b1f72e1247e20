"""Planes of pieces: principal axes piece by piece, ranks, and coordinates there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from isofold.patches import planes as planes_module
from isofold.patches.planes import fit_planes

# Sums of some dozen products of numbers of size ten; eigenvectors at gaps of a tenth and more.
ROUNDING = 1e-11


def cloud(n, d, seed=0):
    """Return points whose variances along all axes differ."""
    rng = np.random.RandomState(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * np.arange(d, 0, -1) @ turn + 3.0


def uneven_labels(n, n_cells, seed=0):
    """Return labels of pieces of different sizes, the larger the higher their numbers, shuffled."""
    sizes = np.arange(n_cells) + 4
    labels = np.repeat(np.arange(n_cells), sizes)
    rest = np.full(n - len(labels), n_cells - 1)
    return np.random.RandomState(seed).permutation(np.concatenate([labels, rest]))


# More points than dimensions, fewer, and as many axes as dimensions.
@pytest.mark.parametrize(("d", "q", "n_cells"), [(3, 2, 6), (5, 1, 4), (30, 2, 8), (3, 3, 5)])
def test_each_plane_is_that_of_principal_components(d, q, n_cells):
    X, labels = cloud(80, d), uneven_labels(80, n_cells)
    planes = fit_planes(X, labels, q)
    assert planes.n_cells == n_cells
    np.testing.assert_array_equal(planes.sizes, np.bincount(labels))
    for piece in range(n_cells):
        own = X[labels == piece]
        pca = PCA(q).fit(own)
        np.testing.assert_allclose(planes.means[piece], pca.mean_, atol=ROUNDING)
        axes = planes.axes[piece]
        np.testing.assert_allclose(axes.T @ axes, np.eye(q), atol=ROUNDING)
        np.testing.assert_allclose(np.abs(pca.components_ @ axes), np.eye(q), atol=1e-7)
        share = 1.0 - pca.explained_variance_ratio_.sum()
        assert planes.off[piece] == pytest.approx(share, abs=ROUNDING)
        spread = np.sqrt(pca.explained_variance_[0] * (len(own) - 1) / len(own))
        assert planes.extents[piece] == pytest.approx(4 * spread)
        assert planes.ranks[piece] == q


def test_coordinates_are_those_of_the_piece_and_lead_back():
    X, labels = cloud(60, 4), uneven_labels(60, 5)
    planes = fit_planes(X, labels, 2)
    found = planes.coordinates(X, labels)
    back = planes.points(found, labels)
    for row, point, piece in zip(found, X, labels, strict=True):
        expected = (point - planes.means[piece]) @ planes.axes[piece]
        np.testing.assert_allclose(row, expected, atol=ROUNDING)
    for row, point, piece in zip(back, X, labels, strict=True):
        axes = planes.axes[piece]
        shadow = planes.means[piece] + axes @ (axes.T @ (point - planes.means[piece]))
        np.testing.assert_allclose(row, shadow, atol=ROUNDING)
    np.testing.assert_allclose(planes.coordinates(back, labels), found, atol=ROUNDING)


def test_rows_do_not_mix():
    X, labels = cloud(60, 4), uneven_labels(60, 5)
    planes = fit_planes(X, labels, 2)
    coordinates = planes.coordinates(X, labels)
    back = planes.points(coordinates, labels)
    for i in range(60):
        one = slice(i, i + 1)
        np.testing.assert_array_equal(planes.coordinates(X[one], labels[one]), coordinates[one])
        np.testing.assert_array_equal(planes.points(coordinates[one], labels[one]), back[one])


def test_points_in_a_plane_lie_off_it_by_nothing():
    flat = cloud(40, 2)
    X = flat @ np.linalg.qr(np.random.RandomState(1).normal(size=(6, 6)))[0][:2] + 50.0
    planes = fit_planes(X, uneven_labels(40, 4), 2)
    assert (planes.off < ROUNDING).all()
    np.testing.assert_allclose(
        planes.points(planes.coordinates(X, planes.labels), planes.labels), X, atol=1e-12 * 50
    )


@pytest.mark.parametrize("d", [3, 12])
@given(unit=st.sampled_from([1e-6, 1.0, 1e6]), seed=st.integers(0, 100))
def test_ranks_are_seen_in_any_unit_and_place(d, unit, seed):
    # A point, two, points of a line, points of a plane.
    rng = np.random.RandomState(seed)
    axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
    shapes = [
        np.zeros((1, d)),
        np.array([[0.0], [1.0]]) * axes[:1],
        rng.uniform(0.5, 2.0, size=(7, 1)).cumsum(axis=0) * axes[:1],
        rng.normal(size=(9, 2)) @ axes[:2],
    ]
    X = unit * (np.concatenate(shapes) + 100 * rng.normal(size=d))
    labels = np.repeat(np.arange(4), [1, 2, 7, 9])
    planes = fit_planes(X, labels, 2)
    np.testing.assert_array_equal(planes.ranks, [0, 1, 1, 2])
    products = planes.axes.swapaxes(1, 2) @ planes.axes
    np.testing.assert_allclose(products, np.tile(np.eye(2), (4, 1, 1)), atol=ROUNDING)
    assert planes.extents[0] == 0
    assert planes.off[0] == 0
    assert np.isfinite(planes.coordinates(X, labels)).all()


def test_copies_of_a_point_span_nothing():
    planes = fit_planes(np.full((5, 3), 0.1), np.zeros(5, dtype=int), 2)
    np.testing.assert_array_equal(planes.ranks, [0])
    np.testing.assert_allclose(planes.axes[0].T @ planes.axes[0], np.eye(2), atol=ROUNDING)


def test_planes_of_single_precision_are_double():
    X, labels = cloud(60, 3), uneven_labels(60, 4)
    narrow = fit_planes(X.astype(np.float32), labels, 2)
    wide = fit_planes(X.astype(np.float32).astype(np.float64), labels, 2)
    assert narrow.axes.dtype == narrow.means.dtype == np.float64
    np.testing.assert_array_equal(narrow.axes, wide.axes)
    np.testing.assert_array_equal(narrow.means, wide.means)


def test_blocks_of_pieces_and_rows_do_not_matter(monkeypatch):
    X, labels = cloud(80, 3), np.random.RandomState(0).permutation(80) % 16
    whole = fit_planes(X, labels, 2)
    coordinates = whole.coordinates(X, labels)
    back = whole.points(coordinates, labels)
    monkeypatch.setattr(planes_module, "block_rows", lambda _row, _n: 3)
    parts = fit_planes(X, labels, 2)
    for name in ("means", "axes", "ranks", "off", "extents"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_array_equal(parts.coordinates(X, labels), coordinates)
    np.testing.assert_array_equal(parts.points(coordinates, labels), back)


def test_thin_cells_have_their_rank():
    # A width of a hundred-thousandth of the length is a width.
    X = np.random.RandomState(0).normal(size=(30, 2)) * [1.0, 1e-5]
    planes = fit_planes(np.pad(X, ((0, 0), (0, 1))), np.arange(30) % 2, 2)
    np.testing.assert_array_equal(planes.ranks, [2, 2])
