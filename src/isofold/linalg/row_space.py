"""Points of many columns in the space of their rows: the same distances in fewer columns."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpstrf

from isofold._memory import block_rows
from isofold._typing import FloatArray

__all__ = ["row_space_coordinates"]

LEAST_SQUARED = 1e6
"""Squared distance between points over the rounding of products, from which on it is exact to six
digits."""


def row_space_coordinates(points: FloatArray) -> FloatArray:
    """Return points with the same distances and no more columns than rows, if there are more.

    Notes
    -----
    The Gram matrix of the centered points is factored by a Cholesky decomposition with pivots,
    G = L Lᵀ, and the rows of L are the points. Products of rows lose digits where two points are
    far nearer to each other than to their mean. If any are, the points are returned as they are.
    """
    n, d = points.shape
    if d <= n:
        return points
    gram = _gram(points)
    norms = gram.diagonal()
    rounding = float(np.finfo(np.float64).eps * norms.max())
    squared = norms[:, None] + norms[None, :] - 2.0 * gram
    np.fill_diagonal(squared, np.inf)
    if not squared.min() > LEAST_SQUARED * rounding:
        return points
    factor, pivots, rank, _ = dpstrf(gram, lower=1)
    rows = np.empty((n, rank))
    rows[pivots - 1] = np.tril(factor)[:, :rank]
    return rows.astype(points.dtype)


def _gram(points: FloatArray) -> FloatArray:
    """Return the products of centered points, some columns at a time."""
    n, d = points.shape
    gram = np.zeros((n, n))
    step = block_rows(2 * 8 * n, d)
    for start in range(0, d, step):
        block = points[:, start : start + step].astype(np.float64)
        block -= block.mean(axis=0)
        gram += block @ block.T
    return gram
