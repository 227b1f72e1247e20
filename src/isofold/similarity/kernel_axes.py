"""Principal axes of a kernel, and whether it has a feature space at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray
from isofold.linalg import eigh_extreme
from isofold.similarity.kernel_function import KernelFunction
from isofold.similarity.kernels import Gram

__all__ = ["PrincipalFeatures", "is_indefinite", "kernel_components", "kernel_features"]

MOST_FEATURES, FEATURE_FRACTION, LEAST_FEATURE = 100, 0.25, 1e-6
"""Axes that are kept, at most and as a fraction of the objects, and their least eigenvalue in units
of the largest. A map along more axes fits the training objects better and new ones worse; and
coefficients multiply rounding by the inverse of the eigenvalue."""

MOST_CHECKED, INDEFINITE = 5000, 1e-8
"""Objects up to which a kernel is tested by a Cholesky factorization (seconds), and how negative
an eigenvalue may be, in units of the largest diagonal entry."""


@dataclass(frozen=True, eq=False)
class PrincipalFeatures:
    """Coordinates F = K A of objects along the principal axes of their kernel, not centered.

    Attributes
    ----------
    values : ndarray of shape (n, q)
        F = V Λ^½.
    coefficients : ndarray of shape (n, q)
        A = V Λ^-½.
    """

    values: FloatArray
    coefficients: FloatArray


def kernel_features(gram: Gram) -> PrincipalFeatures:
    """Return the leading principal axes of a kernel."""
    matrix = gram.values if gram.is_sparse else gram.dense("The principal axes of the kernel")
    n_axes = min(MOST_FEATURES, int(np.ceil(FEATURE_FRACTION * gram.n_objects)))
    spectrum, vectors = eigh_extreme(matrix, n_axes)
    kept = spectrum > LEAST_FEATURE * max(float(spectrum[0]), np.finfo(np.float64).tiny)
    roots = np.sqrt(spectrum[kept])
    return PrincipalFeatures(vectors[:, kept] * roots, vectors[:, kept] / roots)


def kernel_components(gram: Gram, r: int) -> FloatArray:
    """Return kernel principal components, those that do not exist as zeros."""
    n, matrix = gram.n_objects, gram.values
    if not gram.is_sparse:
        matrix = gram.dense("The principal components of the kernel")

    def centered(x: FloatArray) -> FloatArray:
        x = np.asarray(x, dtype=np.float64).reshape(n, -1)
        x = x - x.mean(axis=0)
        product = matrix @ x
        return np.asarray(product - product.mean(axis=0))

    operator = LinearOperator(
        (n, n), matvec=lambda x: centered(x).ravel(), matmat=centered, dtype=np.float64
    )
    spectrum, vectors = eigh_extreme(operator, min(r, n))
    points = np.zeros((n, r))
    points[:, : len(spectrum)] = vectors * np.sqrt(np.maximum(spectrum, 0.0))
    return points


def is_indefinite(gram: Gram) -> bool:
    """Return whether a kernel of few objects is seen not to be positive semidefinite."""
    function = gram.source.kernel
    if isinstance(function, KernelFunction) and function.kind in ("rbf", "linear"):
        return False
    if gram.n_objects > MOST_CHECKED:
        return False
    matrix = gram.values.toarray() if gram.is_sparse else gram.values.copy()
    largest = float(np.abs(matrix.diagonal()).max())
    matrix[np.diag_indices(len(matrix))] += INDEFINITE * (largest or 1.0)
    try:
        scipy.linalg.cholesky(matrix, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return True
    return False
