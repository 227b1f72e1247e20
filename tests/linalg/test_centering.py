"""Centering of points, matrices and kernel rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isofold.exceptions import InvalidInputError, MemoryLimitError
from isofold.linalg import KernelCentering, center, coordinates_from_gram, double_center

EPS = np.finfo(np.float64).eps
# Entries of size up to 100 and at most 12 of them in a mean: a few dozen roundings.
ATOL = 100 * EPS * 100
# Kernel entries are sums of at most 6 products of size 100, so up to 600: six times the size, and
# H K H takes two products with H on the side that is compared.
KERNEL_ATOL = 12 * ATOL

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.floats(-10, 10),
)


def centering_matrix(n):
    return np.eye(n) - np.ones((n, n)) / n


@given(tables)
def test_center_is_multiplication_by_the_centering_matrix(X):
    centered, mean = center(X)
    np.testing.assert_allclose(centered, centering_matrix(len(X)) @ X, rtol=0, atol=ATOL)
    np.testing.assert_allclose(centered + mean, X, rtol=0, atol=ATOL)


@given(tables)
def test_double_center_is_multiplication_from_both_sides(X):
    kernel = X @ X.T
    H = centering_matrix(len(X))
    np.testing.assert_allclose(double_center(kernel), H @ kernel @ H, rtol=0, atol=KERNEL_ATOL)


@given(tables)
def test_centered_kernel_row_of_a_training_point_is_its_row(X):
    kernel = (X @ X.T + 1.0) ** 2
    centering = KernelCentering.from_kernel(kernel)
    scale = 1.0 + np.abs(kernel).max()
    np.testing.assert_allclose(
        centering.apply(kernel), double_center(kernel), atol=ATOL * scale, rtol=0
    )


@given(tables, arrays(np.float64, (3, 6), elements=st.floats(-10, 10)))
def test_centered_linear_kernel_of_new_points_is_the_kernel_of_centered_points(X, new):
    new = new[:, : X.shape[1]]
    mean = X.mean(axis=0)
    rows = KernelCentering.from_kernel(X @ X.T).apply(new @ X.T)
    np.testing.assert_allclose(rows, (new - mean) @ (X - mean).T, rtol=0, atol=KERNEL_ATOL)


def test_kernel_rows_are_centered_one_by_one():
    X = np.random.RandomState(0).normal(size=(40, 3))
    centering = KernelCentering.from_kernel(X @ X.T)
    rows = X[:7] @ X.T
    together = centering.apply(rows)
    for i in range(7):
        np.testing.assert_array_equal(together[i : i + 1], centering.apply(rows[i : i + 1]))


def test_float32_stays_float32_with_a_mean_accumulated_in_float64():
    # Summed in float32, 2^24 + 1 + 1 + ... never moves: the mean would be wrong by half.
    X = np.ones((4096, 1), dtype=np.float32)
    X[0] = 2.0**24
    centered, mean = center(X)
    assert centered.dtype == np.float32
    assert mean.dtype == np.float64
    assert mean[0] == (2.0**24 + 4095) / 4096
    assert double_center(np.eye(3, dtype=np.float32)).dtype == np.float32


def test_a_float32_kernel_is_centered_with_means_in_float64():
    # In float32, 2^24 + 1 = 2^24: means summed there would leave entries of size one wrong.
    kernel = np.ones((512, 512), dtype=np.float32)
    kernel[0, 0] = 2.0**24
    exact = double_center(kernel.astype(np.float64))
    np.testing.assert_array_equal(double_center(kernel), exact.astype(np.float32))
    rows = KernelCentering.from_kernel(kernel).apply(kernel[:2])
    np.testing.assert_array_equal(rows, exact[:2].astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_centered_kernel_of_points_far_away_is_a_gram_matrix(dtype):
    X = np.random.RandomState(0).normal(size=(50, 3)) + 1e3
    centered = double_center((X @ X.T).astype(dtype))
    np.testing.assert_array_equal(centered, centered.T)
    assert coordinates_from_gram(centered, 3).coordinates.shape == (50, 3)


def test_a_matrix_that_is_symmetric_up_to_rounding_becomes_so_to_the_last_bit():
    rng = np.random.RandomState(0)
    kernel = np.eye(9) + 10 * EPS * rng.uniform(size=(9, 9))
    assert (kernel != kernel.T).any()
    centered = double_center(kernel)
    np.testing.assert_array_equal(centered, centered.T)


def test_asymmetry_beyond_rounding_is_refused():
    # Allowed are 64 eps √64 = 512 eps of the largest entry for matrices of up to 64 rows.
    kernel = np.eye(4)
    kernel[0, 1] = 500 * EPS
    double_center(kernel)
    kernel[0, 1] = 525 * EPS
    with pytest.raises(InvalidInputError, match=r"not symmetric: entry \(0, 1\)"):
        double_center(kernel)


def test_numbers_near_the_end_of_the_range_are_centered():
    np.testing.assert_array_equal(double_center(np.full((3, 3), 1.7e308)), 0.0)
    centered, mean = center(np.full((3, 2), 1.7e308))
    np.testing.assert_allclose(mean, 1.7e308, rtol=4 * EPS)
    np.testing.assert_allclose(centered, 0.0, rtol=0, atol=4 * EPS * 1.7e308)


def test_differences_out_of_range_are_refused():
    far = np.array([[3e38], [3e38], [-3e38]], dtype=np.float32)  # the last is -4e38 from the mean
    with pytest.raises(InvalidInputError, match="range of float32"):
        center(far)
    with pytest.raises(InvalidInputError, match="range of float64"):
        double_center(np.array([[1.7e308, -1.7e308], [-1.7e308, 1.7e308]]) * [[1, 1], [1, -1]])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.empty((0, 3)), "no points"),
        (sp.csr_array(np.eye(3)), "sparse"),
        ([[1], [1, 2]], "array"),
    ],
)
def test_what_has_no_center_is_refused(X, words):
    with pytest.raises(InvalidInputError, match=words):
        center(X)


def test_a_centered_copy_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="centered copy of a matrix of side 20"):
        double_center(np.eye(20))


def test_input_is_left_alone():
    kernel = np.eye(4)
    kernel.flags.writeable = False
    double_center(kernel)
    center(kernel)
    KernelCentering.from_kernel(kernel).apply(kernel)
    np.testing.assert_array_equal(kernel, np.eye(4))


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros((0, 0)), "square"),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "2 NaN"),
        (np.zeros(3), "1 dimension"),
        (np.eye(2) * 1j, "real"),
        (np.array([["a", "b"], ["b", "a"]]), "real"),
    ],
)
def test_matrices_that_cannot_be_centered_are_refused(matrix, words):
    with pytest.raises(InvalidInputError, match=words):
        double_center(matrix)


def test_rows_of_another_kernel_are_refused():
    with pytest.raises(InvalidInputError, match=r"4 columns.*3 points"):
        KernelCentering.from_kernel(np.eye(3)).apply(np.ones((1, 4)))
