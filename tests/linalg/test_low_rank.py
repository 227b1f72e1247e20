"""Nyström's low-rank form of a kernel, against the product with a pseudo-inverse."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.linalg import nystrom_coefficients

# Products of some tens of numbers of size one.
ROUNDING = 1e-12


def kernel_of_rank(n, rank, seed=0):
    B = np.random.default_rng(seed).standard_normal((n, rank))
    return B @ B.T


def low_rank(K, chosen, rank=None):
    F = K[:, chosen] @ nystrom_coefficients(K[np.ix_(chosen, chosen)], rank)
    return F @ F.T


def test_it_is_the_product_with_the_pseudo_inverse():
    K = kernel_of_rank(40, 30)
    chosen = np.arange(0, 40, 4)
    expected = K[:, chosen] @ np.linalg.pinv(K[np.ix_(chosen, chosen)]) @ K[chosen]
    np.testing.assert_allclose(low_rank(K, chosen), expected, atol=ROUNDING * np.abs(K).max() * 100)


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_landmarks_that_span_the_features_are_exact(rank):
    K = kernel_of_rank(40, rank)
    for chosen in (np.arange(rank), np.arange(rank + 5), np.arange(40)):
        # Rounding is amplified by the condition of the landmarks' kernel.
        values = np.linalg.eigvalsh(K[np.ix_(chosen, chosen)])[-rank:]
        atol = ROUNDING * np.abs(K).max() * values[-1] / values[0]
        assert atol < 1e-6
        np.testing.assert_allclose(low_rank(K, chosen), K, atol=atol)
        assert nystrom_coefficients(K[np.ix_(chosen, chosen)]).shape == (len(chosen), rank)


def test_what_is_lacking_is_positive_and_falls():
    K = kernel_of_rank(40, 30)
    left = [K - low_rank(K, np.arange(m)) for m in (2, 5, 10, 20, 30)]
    for residual in left:
        assert np.linalg.eigvalsh(residual)[0] >= -1e-9 * np.abs(K).max()
    traces = [np.trace(residual) for residual in left]
    assert np.all(np.diff(traces) < 0.0)
    assert traces[-1] <= 1e-9 * np.trace(K)


def test_few_features_are_those_of_the_largest_eigenvalues():
    K = kernel_of_rank(30, 30)
    values, vectors = np.linalg.eigh(K)
    best = (vectors[:, -4:] * values[-4:]) @ vectors[:, -4:].T
    np.testing.assert_allclose(low_rank(K, np.arange(30), rank=4), best, atol=1e-9)


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.empty((0, 0)), "empty|at least one"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "not positive semidefinite"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[np.nan]]), "NaN"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_what_is_no_kernel_is_refused(K, words):
    with pytest.raises(InvalidInputError, match=words):
        nystrom_coefficients(K)
