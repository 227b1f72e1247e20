"""Centering: of points, of distance and kernel matrices, and of rows that come later.

With H = I − 11ᵀ/n, points are centered as H X and matrices as H K H. A new point's kernel row is
centered with the statistics of the training kernel alone, so that each row is treated by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg._checks import (
    as_float_matrix,
    as_symmetric_matrix,
    column_means,
    refuse_overflow,
)

__all__ = ["KernelCentering", "center", "double_center"]


def center(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move points so that their mean is the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import center
    >>> centered, mean = center(np.array([[0.0, 2.0], [4.0, 4.0]]))
    >>> mean
    array([2., 3.])
    """
    X = as_float_matrix(X, name="X")
    if len(X) == 0:
        msg = f"X has shape {X.shape}: there is no mean of no points. Pass at least one row."
        raise InvalidInputError(msg)
    mean = column_means(X)
    with np.errstate(over="ignore"):
        centered = (X - mean).astype(X.dtype, copy=False)
    refuse_overflow(centered, name="Differences between X and its mean")
    return centered, mean


def double_center(K: FloatArray) -> FloatArray:
    """Return H K H: a matrix whose rows and columns have mean zero."""
    return centered_both_ways(as_symmetric_matrix(K, name="K"))


def centered_both_ways(K: FloatArray) -> FloatArray:
    """Return H K H for a matrix that was checked, in blocks and in float64."""
    n = len(K)
    require_memory(
        K.itemsize * n**2,
        what=f"A centered copy of a matrix of side {n}",
        instead="Work on fewer points.",
    )
    means = column_means(K)
    # Half of the grand mean each: the sum m_i + m_j is the same for (i, j) and (j, i), so rounding
    # keeps the symmetry even where the means are far larger than what remains.
    means -= 0.5 * column_means(means[:, None])
    result = np.empty_like(K, order="C")
    step = block_rows(4 * 8 * n, n)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            rows = slice(start, start + step)
            both = 0.5 * K[rows].astype(np.float64) + 0.5 * K[:, rows].T.astype(np.float64)
            result[rows] = both - (means[rows, None] + means)
    refuse_overflow(result, name="Entries of the centered matrix")
    return result


@dataclass(frozen=True, eq=False)
class KernelCentering:
    """What must be remembered of a training kernel to center rows that come later.

    Attributes
    ----------
    column_means : ndarray of shape (n_samples,)
        Column means of the raw training kernel, in float64.
    grand_mean : float
        Mean of all its entries.

    Notes
    -----
    A row k of raw kernel values against the training points is centered as
    ``k - column_means - mean(k) + grand_mean``, which for a training point gives its row of
    H K H. The raw kernel is needed: from a centered kernel all statistics would be zero and
    the formula would silently do nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import KernelCentering, double_center
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> kernel = X @ X.T
    >>> centering = KernelCentering.from_kernel(kernel)
    >>> bool(np.allclose(centering.apply(kernel[:1]), double_center(kernel)[:1]))
    True
    """

    column_means: FloatArray
    grand_mean: float

    @classmethod
    def from_kernel(cls, K: FloatArray) -> KernelCentering:
        """Collect the statistics of a raw, symmetric training kernel."""
        means = column_means(as_symmetric_matrix(K, name="K"))
        return cls(means, float(column_means(means[:, None])[0]))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Center kernel rows of new points, each by itself."""
        rows = as_float_matrix(rows, name="rows")
        if rows.shape[1] != len(self.column_means):
            msg = (
                f"rows has {rows.shape[1]} columns, but the training kernel had "
                f"{len(self.column_means)} points. Compute the kernel against exactly these."
            )
            raise InvalidInputError(msg)
        shift = self.grand_mean - column_means(rows.T)[:, None]
        with np.errstate(over="ignore"):
            centered = (rows - self.column_means + shift).astype(rows.dtype, copy=False)
        refuse_overflow(centered, name="Entries of the centered rows")
        return centered
