import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from isofold.clustering.subspaces import AffineSubspaces, fit_subspaces, members_of
from support.hypothesis_profiles import examples
from support.ldlc_cases import naive_squares

# Directions off by eps times the ratio of singular values, at most a hundred here, with room.
ROUNDING = 1e-11

shapes = {
    "seed": st.integers(0, 2**31 - 1),
    "n_clusters": st.integers(1, 4),
    "d": st.sampled_from([1, 2, 3, 5, 64, 65, 90]),
    "r": st.integers(0, 4),
}


def clusters_of(seed, n_clusters, d):
    """Points of clusters of different sizes, one at least with fewer points than dimensions."""
    rng = np.random.RandomState(seed)
    labels = np.concatenate([np.arange(n_clusters), rng.randint(n_clusters, size=40)])
    points = rng.standard_normal((len(labels), d)) * rng.uniform(0.2, 2.0, size=d)
    return points + 3.0 * labels[:, None], labels, rng.randint(1, 4, size=len(labels)).astype(float)


def assert_orthonormal(flats):
    """Columns are orthonormal, or zero, the zeros last."""
    for basis in flats.bases:
        rank = int((basis != 0.0).any(axis=0).sum())
        np.testing.assert_allclose(basis[:, :rank].T @ basis[:, :rank], np.eye(rank), atol=ROUNDING)
        assert not basis[:, rank:].any()


@examples(40)
@given(**shapes)
def test_flats_are_those_of_singular_values(seed, n_clusters, d, r):
    points, labels, _ = clusters_of(seed, n_clusters, d)
    r = min(r, d)
    flats = fit_subspaces(points, labels, r, n_clusters=n_clusters)
    assert flats.centers.shape == (n_clusters, d)
    assert flats.bases.shape == (n_clusters, d, r)
    assert_orthonormal(flats)
    own = flats.own_squared_distances(points, labels)
    for cluster in range(n_clusters):
        rows = points[labels == cluster]
        np.testing.assert_allclose(flats.centers[cluster], rows.mean(axis=0), atol=ROUNDING)
        sizes = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
        expected = (sizes[r:] ** 2).sum()
        np.testing.assert_allclose(
            own[labels == cluster].sum(), expected, rtol=0, atol=ROUNDING * (sizes**2).sum()
        )


@pytest.mark.parametrize("d", [4, 64, 65, 200])
def test_flats_are_those_of_principal_components(d):
    rng = np.random.RandomState(d)
    # Spread 9, 3, 1 and little else: directions are far from ties.
    points = rng.standard_normal((150, d)) * np.r_[9.0, 3.0, 1.0, np.full(d - 3, 0.01)] + 5.0
    labels = np.arange(150) % 3
    flats = fit_subspaces(points, labels, 3, n_clusters=3)
    for cluster in range(3):
        pca = PCA(n_components=3, svd_solver="full").fit(points[labels == cluster])
        expected = pca.components_.T @ pca.components_
        projector = flats.bases[cluster] @ flats.bases[cluster].T
        np.testing.assert_allclose(projector, expected, atol=1e-9)
        np.testing.assert_allclose(
            np.abs(flats.coordinates(points, cluster)), np.abs(pca.transform(points)), atol=1e-7
        )


@examples(30)
@given(**shapes)
def test_weights_repeat_rows(seed, n_clusters, d, r):
    points, labels, weights = clusters_of(seed, n_clusters, d)
    r = min(r, d)
    weighted = fit_subspaces(points, labels, r, n_clusters=n_clusters, weights=weights)
    times = weights.astype(int)
    repeated = fit_subspaces(
        np.repeat(points, times, axis=0), np.repeat(labels, times), r, n_clusters=n_clusters
    )
    np.testing.assert_allclose(weighted.centers, repeated.centers, atol=ROUNDING)
    sums = [
        np.bincount(labels, weights * flats.own_squared_distances(points, labels))
        for flats in (weighted, repeated)
    ]
    total = (weights[:, None] * (points - weighted.centers[labels]) ** 2).sum()
    np.testing.assert_allclose(*sums, rtol=0, atol=ROUNDING * total)
    np.testing.assert_array_equal(
        (weighted.bases != 0).any(axis=1).sum(axis=1), (repeated.bases != 0).any(axis=1).sum(axis=1)
    )


@pytest.mark.parametrize("d", [3, 64, 65, 100])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_columns_beyond_the_rank_are_zero(d, rank):
    rng = np.random.RandomState(rank)
    for n in (rank + 1, 30):
        points = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.3
        flats = fit_subspaces(points, np.zeros(n, dtype=int), 3, n_clusters=1)
        assert (flats.bases[0] != 0.0).any(axis=0).tolist() == [i < rank for i in range(3)]
        assert_orthonormal(flats)
        own = flats.own_squared_distances(points, np.zeros(n, dtype=int))
        # Rounding of points of size ten, squared.
        np.testing.assert_allclose(own, 0.0, atol=1e-24 * d)


@pytest.mark.parametrize("d", [2, 80])
@pytest.mark.parametrize("weight", [1.0, 3.0, 7.0, 49.0])
def test_the_flat_of_one_point_is_the_point(d, weight):
    # 3 x / 3 need not be x in floating-point numbers: a mean that is off has no direction.
    points = np.random.RandomState(0).rand(50, d)
    flats = fit_subspaces(
        points, np.arange(50), 2, n_clusters=50, weights=np.full(len(points), weight)
    )
    assert not flats.bases.any()
    np.testing.assert_allclose(flats.centers, points, rtol=1e-15)


@pytest.mark.parametrize("unit", [1e-60, 1e-30, 1e30, 1e60])
@pytest.mark.parametrize("d", [3, 70])
def test_units_do_not_matter(unit, d):
    points, labels, weights = clusters_of(1, 3, d)
    plain = fit_subspaces(points, labels, 2, n_clusters=3, weights=weights)
    scaled = fit_subspaces(points * unit, labels, 2, n_clusters=3, weights=weights)
    np.testing.assert_allclose(scaled.centers / unit, plain.centers, rtol=1e-9, atol=ROUNDING)
    np.testing.assert_allclose(scaled.bases, plain.bases, atol=1e-9)


def test_without_dimensions_flats_are_means():
    points, labels, _ = clusters_of(0, 3, 4)
    flats = fit_subspaces(points, labels, 0, n_clusters=3)
    assert flats.bases.shape == (3, 4, 0)
    assert flats.coordinates(points, 1).shape == (len(points), 0)
    offsets = points - np.array([points[labels == i].mean(axis=0) for i in range(3)])[labels]
    expected = (offsets**2).sum(axis=1)
    np.testing.assert_allclose(flats.own_squared_distances(points, labels), expected, rtol=1e-12)


@examples(30)
@given(**shapes)
def test_nearest_flats(seed, n_clusters, d, r):
    points, labels, _ = clusters_of(seed, n_clusters, d)
    flats = fit_subspaces(points, labels, min(r, d), n_clusters=n_clusters)
    squares = naive_squares(points, flats)
    found, least = flats.nearest(points)
    # Eq. 4.5 is right to some eps of the squared distance from the center, up to 1e4 here.
    atol = 1e-10
    np.testing.assert_allclose(least, squares.min(axis=1), rtol=1e-12, atol=atol)
    np.testing.assert_allclose(squares[np.arange(len(points)), found], least, atol=atol)
    each = [flats.squared_distances_to(points, i) for i in range(n_clusters)]
    np.testing.assert_allclose(np.transpose(each), squares, rtol=1e-12, atol=atol)
    np.testing.assert_allclose(
        flats.own_squared_distances(points, labels), squares[np.arange(len(points)), labels]
    )


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_of_equally_near_flats_that_with_the_nearest_center(order):
    centers = np.array([[-5.0, 0.0], [0.0, 0.0], [5.0, 0.0]])[order]
    axis = np.tile(np.array([[1.0], [0.0]]), (3, 1, 1))
    flats = AffineSubspaces(centers, axis)
    points = np.array([[-7.0, 1.0], [-2.0, 0.0], [0.1, -3.0], [2.6, 2.0], [100.0, 0.0]])
    labels, squares = flats.nearest(points)
    assert centers[labels, 0].tolist() == [-5.0, 0.0, 0.0, 5.0, 5.0]
    np.testing.assert_allclose(squares, points[:, 1] ** 2)


def test_of_equal_flats_the_first():
    flats = AffineSubspaces(np.zeros((3, 2)), np.zeros((3, 2, 1)))
    assert flats.nearest(np.ones((4, 2)))[0].tolist() == [0, 0, 0, 0]


def test_points_in_a_flat_are_nearest_to_it_far_from_its_center():
    # Beside a flat through (0, 1e-3) that starts near them.
    centers, bases = np.array([[0.0, 0.0], [1e3, 1e-3]]), np.array([[[1.0], [0.0]]] * 2)
    points = np.column_stack([np.linspace(900.0, 1100.0, 50), np.zeros(50)])
    assert AffineSubspaces(centers, bases).nearest(points)[0].tolist() == [0] * 50


def test_members_are_ascending_and_may_be_none():
    members = members_of(np.array([2, 0, 2, 0, 0]), 4)
    assert [each.tolist() for each in members] == [[1, 3, 4], [], [0, 2], []]
