"""Centering of points, matrices and kernel rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isofold._errors import InvalidInputError
from isofold.linalg import KernelCentering, center, double_center

# Entries of size up to 100 and at most 12 of them in a mean: a few dozen roundings.
ATOL = 100 * np.finfo(np.float64).eps * 100

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
    np.testing.assert_allclose(centered, centering_matrix(len(X)) @ X, atol=ATOL)
    np.testing.assert_allclose(centered + mean, X, atol=ATOL)


@given(tables)
def test_double_center_is_multiplication_from_both_sides(X):
    kernel = X @ X.T
    H = centering_matrix(len(X))
    np.testing.assert_allclose(double_center(kernel), H @ kernel @ H, atol=10 * ATOL)


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
    np.testing.assert_allclose(rows, (new - mean) @ (X - mean).T, atol=100 * ATOL)


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
