"""The span of a training kernel, and the coefficients of maps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.embedding.affine.span import span_of_kernel
from isofold.exceptions import InvalidInputError
from isofold.linalg import KernelCentering
from isofold.similarity.kernel_function import KernelFunction
from support.hypothesis_profiles import examples
from support.kernel_cases import KERNELS, points

ROUNDING = 1e-12
"""Sums of ten products of numbers near one, relative to the largest."""

REFINED = 1e-10
"""KΩ = Y after refinement: rounding of products with K, times the size of Ω relative to Y/K."""

each_kernel = pytest.mark.parametrize("kind", KERNELS)
seeds = st.integers(0, 2**32 - 1)


def centered_by_hand(K):
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return H @ K @ H


@pytest.mark.parametrize("kind", ["rbf", "poly", "linear"])
@examples(20)
@given(seed=seeds)
def test_kernels_are_symmetric_and_positive_semidefinite(kind, seed):
    kernel, _ = KERNELS[kind]
    X = points(seed)
    K = kernel.matrix(X, X)
    size = np.abs(K).max()
    np.testing.assert_allclose(K, K.T, rtol=0, atol=ROUNDING * size)
    assert np.linalg.eigvalsh((K + K.T) / 2)[0] >= -ROUNDING * len(X) * size
    assert span_of_kernel(K).most_negative >= -ROUNDING * len(X)


@each_kernel
def test_centered_rows_of_training_points_are_those_of_the_span(kind):
    kernel, _ = KERNELS[kind]
    X = points(3)
    raw = kernel.matrix(X, X)
    raw = (raw + raw.T) / 2
    span = span_of_kernel(raw)
    size = np.abs(raw).max()
    np.testing.assert_allclose(span.kernel, centered_by_hand(raw), rtol=0, atol=ROUNDING * size)
    rows = KernelCentering.from_kernel(raw).apply(raw)
    np.testing.assert_allclose(rows, span.kernel, rtol=0, atol=ROUNDING * size)


@each_kernel
def test_the_span_is_that_of_the_centered_kernel(kind):
    kernel, _ = KERNELS[kind]
    X = points(4)
    raw = kernel.matrix(X, X)
    span = span_of_kernel((raw + raw.T) / 2)
    E, values = span.functions, span.eigenvalues
    assert span.rank == len(values) == E.shape[1]
    assert span.freedom == span.rank * (span.rank + 1) // 2
    np.testing.assert_allclose(E.T @ E, np.eye(span.rank), atol=1e-10)
    np.testing.assert_allclose(E.mean(axis=0), 0.0, atol=ROUNDING)
    assert np.all(values > 0.0)
    assert np.all(np.diff(values) <= 0.0)
    size = values[0]
    np.testing.assert_allclose(span.kernel @ E, E * values, rtol=0, atol=1e-10 * size)
    if span.most_negative > -ROUNDING:
        # Nothing is left but what is below the tolerance of the rank.
        np.testing.assert_allclose((E * values) @ E.T, span.kernel, rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize(
    ("kernel", "rank"),
    [
        (KernelFunction("linear"), 3),
        # Monomials of degree one to two in three variables.
        (KernelFunction("poly", degree=2), 9),
        (KernelFunction("rbf", gamma=0.5), 29),
    ],
    ids=["linear", "quadratic", "rbf"],
)
def test_ranks(kernel, rank):
    X = points(5, n=30)
    span = span_of_kernel(kernel.matrix(X, X))
    assert span.rank == rank
    assert span.is_full == (rank == 29)


@examples(20)
@given(seed=seeds)
def test_a_kernel_of_full_rank_reaches_any_values(seed):
    """KΩ = Y, and Ω is the least of its kind: of mean zero."""
    X = points(seed)
    span = span_of_kernel(KernelFunction("rbf", gamma=2.0).matrix(X, X))
    Y = np.random.default_rng(seed).standard_normal((12, 2))
    Y -= Y.mean(axis=0)
    if span.is_full:
        omega = span.coefficients(Y)
        np.testing.assert_allclose(span.kernel @ omega, Y, rtol=0, atol=REFINED)
        size = np.abs(omega).max()
        np.testing.assert_allclose(omega.mean(axis=0), 0.0, atol=ROUNDING * (1.0 + size))


def test_an_ill_conditioned_kernel_is_refined():
    """Eigenvalues down to the tolerance of the rank: one solution with K alone would lose more."""
    rng = np.random.default_rng(6)
    axes = np.linalg.qr(np.column_stack([np.ones(10), rng.standard_normal((10, 9))]))[0][:, 1:]
    raw = (axes * np.logspace(0, -8.5, 9)) @ axes.T
    span = span_of_kernel(raw)
    assert span.is_full
    Y = axes @ rng.standard_normal((9, 2))
    np.testing.assert_allclose(span.kernel @ span.coefficients(Y), Y, rtol=0, atol=1e-7)


def test_a_kernel_of_low_rank_gives_the_nearest_values():
    """KΩ is the projection KK⁺Y, and Ω is K⁺Y."""
    X = points(7, n=20)
    raw = KernelFunction("poly", degree=2).matrix(X, X)
    span = span_of_kernel(raw)
    Y = np.random.default_rng(7).standard_normal((20, 2))
    Y -= Y.mean(axis=0)
    pinv = np.linalg.pinv(centered_by_hand(raw), rcond=1e-9, hermitian=True)
    projected = centered_by_hand(raw) @ pinv @ Y
    np.testing.assert_allclose(span.project(Y), projected, rtol=0, atol=REFINED)
    np.testing.assert_allclose(span.kernel @ span.coefficients(Y), projected, rtol=0, atol=REFINED)
    np.testing.assert_allclose(span.coefficients(Y), pinv @ Y, rtol=0, atol=REFINED)
    lost = np.sum((Y - projected) ** 2) / np.sum(Y**2)
    assert span.lost(Y) == pytest.approx(lost, rel=1e-9)
    # A constant is no variance, and what the kernel spans is not lost.
    assert span.lost(projected + 5.0) == pytest.approx(0.0, abs=ROUNDING)
    assert span.lost(np.ones((20, 1))) == 0.0


def test_a_matrix_that_is_no_kernel_is_seen():
    X = points(8)
    raw = np.tanh(5 * X @ X.T) - 2 * np.eye(12)
    values = np.linalg.eigvalsh(centered_by_hand(raw))
    assert values[0] < -0.1 * values[-1]
    assert span_of_kernel(raw).most_negative == pytest.approx(values[0] / values[-1], rel=1e-9)


def test_minus_a_distance_is_a_kernel_once_centered():
    """Its diagonal is zero, and nothing else is wrong with it."""
    X = points(8)
    span = span_of_kernel(-np.linalg.norm(X[:, None] - X, axis=2))
    assert span.is_full
    assert span.most_negative >= -ROUNDING
    assert not np.isnan(span.similarity)


def test_similarity_to_the_nearest():
    X = points(9)
    K = KernelFunction("rbf", gamma=0.7).matrix(X, X)
    nearest = [max(K[i, j] for j in range(12) if j != i) for i in range(12)]
    assert span_of_kernel(K).similarity == pytest.approx(np.median(nearest), rel=ROUNDING)
    # Samples of different size have no similarity in this sense.
    K = KernelFunction("poly", degree=2).matrix(X, X)
    assert span_of_kernel(K).similarity == 1.0


@pytest.mark.parametrize("raw", [np.ones((4, 4)), np.zeros((4, 4)), 1e9 + np.zeros((3, 3))])
def test_kernels_that_tell_nothing_apart_are_refused(raw):
    with pytest.raises(InvalidInputError, match="does not distinguish any two samples"):
        span_of_kernel(raw)
