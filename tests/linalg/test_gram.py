"""Gram matrices and coordinates: known answers, invariances, agreement with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group
from sklearn.decomposition import PCA

from isofold.exceptions import InvalidInputError, MemoryLimitError
from isofold.linalg import (
    coordinates_from_gram,
    gram_from_distances,
    numerical_rank,
    principal_coordinates,
)
from isofold.linalg import gram as gram_module
from support.helpers import assert_equal_up_to_rigid_motion

EPS = np.finfo(np.float64).eps
# Relative to the size of the configuration: a factorization of side 50 loses a few dozen eps.
RELATIVE_TOL = 1e-12
# Squared distances of points of size 10 around 100: rounding of the coordinates is 100 eps, and a
# squared distance of up to 1e4 doubles its relative part: 2 · 100 · 100 eps with room for sums.
FAR_TOL = 1e6 * RELATIVE_TOL
# Axes of n points whose variances have gaps of at least a tenth: ten times the rounding of a
# scatter matrix that sums 5000 rows.
AXES_TOL = 10 * 5000**0.5 * np.finfo(np.float64).eps * 100
# A coordinate is rounded once to float32.
SINGLE_EPS = np.finfo(np.float32).eps

seeds = st.integers(0, 2**16)


def squared_distances(points):
    return squareform(pdist(points, "sqeuclidean"))


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_regular_simplex_has_n_minus_one_equal_eigenvalues(n):
    D = 1.0 - np.eye(n)
    result = coordinates_from_gram(gram_from_distances(D))
    assert result.coordinates.shape == (n, n - 1)
    np.testing.assert_allclose(result.eigenvalues[:-1], 0.5, rtol=0, atol=RELATIVE_TOL)
    np.testing.assert_allclose(squared_distances(result.coordinates), D, rtol=0, atol=RELATIVE_TOL)
    assert result.explained == pytest.approx(1.0)
    assert result.negative == pytest.approx(0.0, abs=RELATIVE_TOL)


@given(seeds, st.integers(1, 4), st.floats(1e-3, 1e3))
def test_distances_give_the_points_back(seed, d, size):
    points = np.random.RandomState(seed).normal(size=(20, d)) * size
    result = coordinates_from_gram(gram_from_distances(squared_distances(points)))
    assert result.coordinates.shape == (20, d)
    assert_equal_up_to_rigid_motion(result.coordinates, points, atol=100 * RELATIVE_TOL * size)


@given(seeds, st.integers(2, 4))
def test_gram_depends_on_distances_only(seed, d):
    rng = np.random.RandomState(seed)
    points = rng.normal(size=(10, d))
    moved = points @ ortho_group.rvs(d, random_state=rng) + 5.0
    centered = points - points.mean(axis=0)
    gram = gram_from_distances(squared_distances(moved))
    np.testing.assert_allclose(gram, centered @ centered.T, rtol=0, atol=1000 * RELATIVE_TOL)


def test_few_components_keep_the_largest_share(monkeypatch):
    points = np.random.RandomState(0).normal(size=(60, 3)) * [10.0, 3.0, 0.1]
    gram = gram_from_distances(squared_distances(points))
    whole = coordinates_from_gram(gram)
    two = coordinates_from_gram(gram, 2)
    np.testing.assert_array_equal(two.coordinates, whole.coordinates[:, :2])
    expected = whole.eigenvalues[:2].sum() / whole.eigenvalues.sum()
    assert two.explained == pytest.approx(expected)
    monkeypatch.setattr(gram_module, "WHOLE_SPECTRUM_SIDE", 10)
    partial = coordinates_from_gram(gram, 2)
    assert partial.eigenvalues.shape == (2,)
    assert partial.negative is None
    assert partial.explained == pytest.approx(expected)
    np.testing.assert_allclose(
        partial.coordinates, two.coordinates, rtol=0, atol=100 * RELATIVE_TOL
    )


def test_columns_beyond_the_rank_are_zero():
    points = np.array([[0.0], [1.0], [5.0]])
    result = coordinates_from_gram(gram_from_distances(squared_distances(points)), 3)
    assert result.coordinates.shape == (3, 3)
    np.testing.assert_array_equal(result.coordinates[:, 1:], 0.0)


def test_distances_of_a_circle_measured_along_it_are_reported_as_not_euclidean():
    n = 20
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    along = np.minimum(steps, n - steps) * (2 * np.pi / n)
    result = coordinates_from_gram(gram_from_distances(along**2), 2)
    assert result.negative > 0.01
    assert result.eigenvalues[-1] < 0
    assert np.isfinite(result.coordinates).all()


@pytest.mark.parametrize("n_components", [None, 2])
def test_equal_points_give_an_empty_or_zero_configuration(n_components):
    result = coordinates_from_gram(np.zeros((4, 4)), n_components)
    assert result.coordinates.shape == (4, n_components or 0)
    assert not result.coordinates.any()
    assert (result.explained, result.negative) == (1.0, 0.0)


def test_rank_counts_what_exceeds_the_tolerance():
    values = np.array([1.0, 1e-3, 1e-9, 0.0, -1e-9])
    assert numerical_rank(values) == 3
    assert numerical_rank(values, tol=1e-6) == 2
    assert numerical_rank(values.astype(np.float32)) == 2
    assert numerical_rank(-np.ones(3)) == 0
    assert numerical_rank(np.zeros(3)) == 0
    assert numerical_rank(np.empty(0)) == 0
    with pytest.raises(InvalidInputError, match="relative"):
        numerical_rank(values, tol=2.0)


@pytest.mark.parametrize(
    ("values", "tol", "words"),
    [
        ([np.nan, 1.0], None, "1 NaN"),
        ([[1.0]], None, "2 dimension"),
        ([1j], None, "real"),
        (["a"], None, "real"),
        ([1.0], "x", "relative"),
        ([1.0], np.nan, "relative"),
        ([1.0], -0.1, "relative"),
    ],
)
def test_what_has_no_rank_is_refused(values, tol, words):
    with pytest.raises(InvalidInputError, match=words):
        numerical_rank(values, tol=tol)
    if tol is not None:
        with pytest.raises(InvalidInputError, match=words):
            principal_coordinates(np.eye(3), tol=tol)


def test_rank_of_integers():
    assert numerical_rank([3, 0]) == 1


def test_rank_tolerance_is_n_eps():
    n = 100
    values = np.ones(n)
    values[1:] = [*np.full(50, 1.01 * n * EPS), *np.full(49, 0.99 * n * EPS)]
    assert numerical_rank(values) == 51


def test_short_directions_of_float32_distances_are_kept_if_asked_for():
    # Their eigenvalue is 1.4e-4 of the largest: below the rank's n eps, far above rounding.
    points = np.random.RandomState(0).normal(size=(1500, 2)) * [1.0, 0.012]
    gram = gram_from_distances(squared_distances(points).astype(np.float32))
    result = coordinates_from_gram(gram, 2)
    # The Gram matrix carries the rounding of squares of size 40 in float32; its share in a column
    # of length 0.012 is that divided by the column, averaged over the points.
    assert result.coordinates[:, 1].std() == pytest.approx(points[:, 1].std(), rel=1e-2)
    assert not coordinates_from_gram(gram, 2, tol=0.01).coordinates[:, 1].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_direction_is_lost_however_many_points_there_are(dtype):
    X = (np.random.RandomState(0).normal(size=(10**6, 3)) * [1.0, 0.3, 0.1]).astype(dtype)
    assert principal_coordinates(X).coordinates.shape == (10**6, 3)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_of_the_input_is_no_direction(dtype, offset):
    # At an offset of 1e9 float32 keeps nothing but rounding; one column comes out in any case.
    rng = np.random.RandomState(0)
    X = (rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 6)) + offset).astype(dtype)
    assert principal_coordinates(X).coordinates.shape[1] <= 2


@pytest.mark.parametrize("size", [1e-170, 1e-150, 1e150, 1e153])
@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_principal_coordinates_in_any_units(shape, size):
    X = np.random.RandomState(0).normal(size=shape)
    usual, scaled = principal_coordinates(X, 2), principal_coordinates(X * size, 2)
    assert scaled.explained == pytest.approx(usual.explained, rel=RELATIVE_TOL)
    np.testing.assert_allclose(
        scaled.coordinates / size, usual.coordinates, rtol=0, atol=100 * RELATIVE_TOL
    )
    every = principal_coordinates(X * size).coordinates
    assert every.shape == principal_coordinates(X).coordinates.shape


def test_variances_out_of_range_are_refused():
    with pytest.raises(InvalidInputError, match="other units"):
        principal_coordinates(np.eye(3) * 1e160)


def test_coordinates_out_of_range_are_refused():
    # Along the diagonal the points are √2 · 3e38 from their mean, which float32 cannot hold.
    corners = np.array([[3e38, 3e38], [-3e38, -3e38]], dtype=np.float32)
    with pytest.raises(InvalidInputError, match="Coordinates of X leave the range of float32"):
        principal_coordinates(corners)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_signs_of_axes_are_deterministic(shape):
    X = np.random.RandomState(2).normal(size=shape)
    axes = principal_coordinates(X, 4).axes
    np.testing.assert_array_equal(axes.max(axis=0), np.abs(axes).max(axis=0))


@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_memory_is_refused_before_it_is_taken(monkeypatch, shape):
    X = np.ones(shape)
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 10**5)
    monkeypatch.setattr(np, "zeros", None)
    monkeypatch.setattr("scipy.linalg.svd", None)
    with pytest.raises(MemoryLimitError, match="Project the features"):
        principal_coordinates(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rank_is_judged_in_the_precision_of_the_input(dtype):
    points = np.random.RandomState(0).normal(size=(50, 3)).astype(dtype)
    gram = gram_from_distances(squared_distances(points).astype(dtype))
    result = coordinates_from_gram(gram)
    assert result.coordinates.dtype == dtype
    assert result.coordinates.shape == (50, 3)


@given(seeds, st.sampled_from([(30, 4), (4, 30), (10, 10), (1, 3), (2, 1)]))
def test_principal_axes_keep_every_distance(seed, shape):
    X = np.random.RandomState(seed).normal(size=shape) * 10 + 100
    result = principal_coordinates(X)
    np.testing.assert_allclose(
        squared_distances(result.coordinates), squared_distances(X), rtol=0, atol=FAR_TOL
    )
    axes = result.axes
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), rtol=0, atol=RELATIVE_TOL)
    assert result.explained == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_principal_coordinates_agree_with_scikit_learn(shape):
    X = np.random.RandomState(1).normal(size=shape) * np.linspace(1, 3, shape[1]) + 7
    reference = PCA(n_components=3, svd_solver="full").fit(X)
    result = principal_coordinates(X, 3)
    np.testing.assert_allclose(
        np.abs(result.axes.T), np.abs(reference.components_), rtol=0, atol=AXES_TOL
    )
    np.testing.assert_allclose(
        result.variances * shape[0] / (shape[0] - 1), reference.explained_variance_
    )
    assert result.explained == pytest.approx(reference.explained_variance_ratio_.sum())
    np.testing.assert_allclose(
        result.coordinates, (X - result.mean) @ result.axes, rtol=0, atol=100 * RELATIVE_TOL
    )


def test_rank_is_found_from_both_sides():
    flat = np.random.RandomState(0).normal(size=(50, 2))
    assert principal_coordinates(flat @ np.ones((2, 5)) + 1).coordinates.shape == (50, 1)
    assert principal_coordinates(np.pad(flat[:4], ((0, 0), (0, 90)))).coordinates.shape == (4, 2)


def test_asked_for_more_axes_than_samples_span():
    X = np.random.RandomState(0).normal(size=(3, 8))
    result = principal_coordinates(X, 6)
    assert result.coordinates.shape == (3, 6)
    np.testing.assert_allclose(result.axes.T @ result.axes, np.eye(6), rtol=0, atol=RELATIVE_TOL)
    np.testing.assert_allclose(result.coordinates[:, 2:], 0.0, rtol=0, atol=RELATIVE_TOL)
    assert result.variances.shape == (6,)


def test_equal_points_have_no_variance_but_a_column():
    result = principal_coordinates(np.full((5, 3), 2.0))
    assert result.coordinates.shape == (5, 1)
    assert not result.coordinates.any()
    assert result.explained == 1.0


@pytest.mark.parametrize("shape", [(5000, 3), (3, 5000)])
def test_float32_far_from_the_origin_is_accumulated_in_float64(shape):
    X = (np.random.RandomState(0).normal(size=shape) + 1000).astype(np.float32)
    result = principal_coordinates(X, 2)
    exact = principal_coordinates(X.astype(np.float64), 2)
    assert result.coordinates.dtype == np.float32
    # The same numbers in, the same axes out; only the result is rounded to float32.
    np.testing.assert_allclose(result.axes, exact.axes, rtol=0, atol=AXES_TOL)
    np.testing.assert_allclose(
        result.coordinates, exact.coordinates, rtol=SINGLE_EPS, atol=SINGLE_EPS
    )


def test_blocks_do_not_change_the_answer(monkeypatch):
    X = np.random.RandomState(0).normal(size=(101, 4))
    whole = principal_coordinates(X)
    monkeypatch.setattr(gram_module, "block_rows", lambda bytes_per_row, n_rows: 7)
    np.testing.assert_allclose(
        principal_coordinates(X).coordinates, whole.coordinates, rtol=0, atol=100 * RELATIVE_TOL
    )


def test_read_only_memory_map_is_read(tmp_path):
    X = np.random.RandomState(0).normal(size=(20, 3))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        principal_coordinates(mapped).coordinates, principal_coordinates(X).coordinates
    )


@pytest.mark.parametrize(
    ("distances", "words"),
    [
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "2 negative entries, down to -1"),
        (np.eye(3), "1 on its diagonal"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
        (np.full((2, 2), np.nan), "NaN"),
    ],
)
def test_what_are_no_squared_distances_is_refused(distances, words):
    with pytest.raises(InvalidInputError, match=words):
        gram_from_distances(distances)


@pytest.mark.parametrize("n_components", [0, 5, "two"])
def test_impossible_numbers_of_components_are_refused(n_components):
    with pytest.raises(InvalidInputError, match="n_components"):
        coordinates_from_gram(np.eye(4), n_components)
    with pytest.raises(InvalidInputError, match="n_components"):
        principal_coordinates(np.eye(4), n_components)
