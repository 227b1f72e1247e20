"""Kernel functions."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.similarity.kernel_function import KernelFunction
from support.kernel_cases import KERNELS, points

ROUNDING = 1e-12
"""Sums of ten products of numbers near one, relative to the largest."""

each_kernel = pytest.mark.parametrize("kind", KERNELS)


@each_kernel
def test_values_are_those_of_the_formula(kind):
    kernel, formula = KERNELS[kind]
    X, Y = points(0), points(1, n=5)
    expected = [[formula(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel.matrix(X, Y), expected, rtol=ROUNDING, atol=ROUNDING)


def test_a_precomputed_kernel_is_returned():
    rows = points(0, n=4, d=6)
    np.testing.assert_array_equal(KernelFunction("precomputed").matrix(rows, rows), rows)


@each_kernel
def test_float32_is_computed_in_float64(kind):
    kernel, _ = KERNELS[kind]
    X = points(2).astype(np.float32)
    found = kernel.matrix(X, X)
    assert found.dtype == np.float64
    wide = X.astype(np.float64)
    np.testing.assert_array_equal(found, kernel.matrix(wide, wide))


@pytest.mark.parametrize(
    "function",
    [
        lambda X, Y: np.ones(len(X)),
        lambda X, Y: np.ones((len(Y), len(X))),
        lambda X, Y: np.full((len(X), len(Y)), np.nan),
        lambda X, Y: np.full((len(X), len(Y)), np.inf),
        lambda X, Y: 1.0,
    ],
    ids=["one row", "transposed", "NaN", "infinite", "a number"],
)
def test_what_a_function_must_return(function):
    with pytest.raises(InvalidInputError, match="4 and 3 points"):
        KernelFunction(function).matrix(np.ones((4, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("degree", [3, 200])
def test_a_polynomial_beyond_the_range_of_numbers_is_refused(degree):
    X = np.full((2, 1), 1e60)
    with pytest.raises(InvalidInputError, match=f"degree {degree} .* leaves the range of numbers"):
        KernelFunction("poly", degree=degree).matrix(X, X)
