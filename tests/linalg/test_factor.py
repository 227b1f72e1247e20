"""Gram matrices and coordinates: known answers, invariances, agreement with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ortho_group
from sklearn.decomposition import PCA

from helpers import assert_equal_up_to_rigid_motion
from isofold._errors import InvalidInputError
from isofold.linalg import (
    coordinates_from_gram,
    factor,
    gram_from_distances,
    numerical_rank,
    principal_coordinates,
)

# Relative to the size of the configuration: a factorization of side 50 loses a few dozen eps.
RELATIVE_TOL = 1e-12
# A length that is zero comes out of a square root as √eps, seen only where nothing is dropped.
ROOT_TOL = 1e-6

seeds = st.integers(0, 2**16)


def squared_distances(points):
    return squareform(pdist(points, "sqeuclidean"))


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_regular_simplex_has_n_minus_one_equal_eigenvalues(n):
    D = 1.0 - np.eye(n)
    result = coordinates_from_gram(gram_from_distances(D))
    assert result.coordinates.shape == (n, n - 1)
    np.testing.assert_allclose(result.eigenvalues[:-1], 0.5, atol=RELATIVE_TOL)
    np.testing.assert_allclose(squared_distances(result.coordinates), D, atol=RELATIVE_TOL)
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
    np.testing.assert_allclose(gram, centered @ centered.T, atol=1000 * RELATIVE_TOL)


def test_few_components_keep_the_largest_share(monkeypatch):
    points = np.random.RandomState(0).normal(size=(60, 3)) * [10.0, 3.0, 0.1]
    gram = gram_from_distances(squared_distances(points))
    whole = coordinates_from_gram(gram)
    two = coordinates_from_gram(gram, 2)
    np.testing.assert_array_equal(two.coordinates, whole.coordinates[:, :2])
    expected = whole.eigenvalues[:2].sum() / whole.eigenvalues.sum()
    assert two.explained == pytest.approx(expected)
    monkeypatch.setattr(factor, "WHOLE_SPECTRUM_SIDE", 10)
    partial = coordinates_from_gram(gram, 2)
    assert partial.eigenvalues.shape == (2,)
    assert partial.negative is None
    assert partial.explained == pytest.approx(expected)
    np.testing.assert_allclose(partial.coordinates, two.coordinates, atol=100 * RELATIVE_TOL)


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
        squared_distances(result.coordinates), squared_distances(X), atol=1e6 * RELATIVE_TOL
    )
    axes = result.axes
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=RELATIVE_TOL)
    assert result.explained == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_principal_coordinates_agree_with_scikit_learn(shape):
    X = np.random.RandomState(1).normal(size=shape) * np.linspace(1, 3, shape[1]) + 7
    reference = PCA(n_components=3, svd_solver="full").fit(X)
    result = principal_coordinates(X, 3)
    np.testing.assert_allclose(np.abs(result.axes.T), np.abs(reference.components_), atol=1e-10)
    np.testing.assert_allclose(
        result.variances * shape[0] / (shape[0] - 1), reference.explained_variance_
    )
    assert result.explained == pytest.approx(reference.explained_variance_ratio_.sum())
    np.testing.assert_allclose(
        result.coordinates, (X - result.mean) @ result.axes, atol=100 * RELATIVE_TOL
    )


def test_rank_is_found_from_both_sides():
    flat = np.random.RandomState(0).normal(size=(50, 2))
    assert principal_coordinates(flat @ np.ones((2, 5)) + 1).coordinates.shape == (50, 1)
    assert principal_coordinates(np.pad(flat[:4], ((0, 0), (0, 90)))).coordinates.shape == (4, 2)


def test_asked_for_more_axes_than_samples_span():
    X = np.random.RandomState(0).normal(size=(3, 8))
    result = principal_coordinates(X, 6)
    assert result.coordinates.shape == (3, 6)
    np.testing.assert_allclose(result.axes.T @ result.axes, np.eye(6), atol=RELATIVE_TOL)
    np.testing.assert_allclose(result.coordinates[:, 2:], 0.0, atol=ROOT_TOL)
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
    np.testing.assert_allclose(result.axes, exact.axes, atol=1e-9)
    np.testing.assert_allclose(result.coordinates, exact.coordinates, rtol=1e-6, atol=1e-5)


def test_blocks_do_not_change_the_answer(monkeypatch):
    X = np.random.RandomState(0).normal(size=(101, 4))
    whole = principal_coordinates(X)
    monkeypatch.setattr(factor, "block_rows", lambda bytes_per_row, n_rows: 7)
    np.testing.assert_allclose(
        principal_coordinates(X).coordinates, whole.coordinates, atol=100 * RELATIVE_TOL
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
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "least entry of -1"),
        (np.eye(3), "diagonal of up to 1"),
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
