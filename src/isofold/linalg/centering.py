"""Centering: of points, of distance and kernel matrices, and of rows that come later.

With H = I − 11ᵀ/n, points are centered as H X and matrices as H K H. A new point's kernel row is
centered with the statistics of the training kernel alone, so that each row is treated by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._errors import InvalidInputError
from isofold._typing import FloatArray
from isofold.linalg._checks import as_float_matrix, as_symmetric_matrix

__all__ = ["KernelCentering", "center", "double_center"]


def center(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move points so that their mean is the origin.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.

    Returns
    -------
    centered : ndarray of shape (n_samples, n_features)
        ``X - mean``, in the dtype of `X`.
    mean : ndarray of shape (n_features,)
        The mean, accumulated and kept in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import center
    >>> centered, mean = center(np.array([[0.0, 2.0], [4.0, 4.0]]))
    >>> mean
    array([2., 3.])
    """
    X = as_float_matrix(X, name="X")
    mean = X.mean(axis=0, dtype=np.float64)
    return (X - mean).astype(X.dtype, copy=False), mean


def double_center(K: FloatArray) -> FloatArray:
    """Return H K H: a matrix whose rows and columns have mean zero.

    Parameters
    ----------
    K : ndarray of shape (n_samples, n_samples)
        A symmetric matrix, for example a kernel or squared distances.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        A new matrix of the same dtype; the means are accumulated in float64.

    Raises
    ------
    InvalidInputError
        If `K` is not square, symmetric and finite.
    """
    K = as_symmetric_matrix(K, name="K")
    return KernelCentering._from_checked(K)._apply_checked(K)


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
        """Collect the statistics of a raw, symmetric training kernel.

        Parameters
        ----------
        K : ndarray of shape (n_samples, n_samples)
            The training kernel before centering.

        Returns
        -------
        KernelCentering
            The statistics.
        """
        return cls._from_checked(as_symmetric_matrix(K, name="K"))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Center kernel rows of new points, each by itself.

        Parameters
        ----------
        rows : ndarray of shape (n_new, n_samples)
            Raw kernel between each new point and all training points.

        Returns
        -------
        ndarray of shape (n_new, n_samples)
            The centered rows, in the same dtype.
        """
        rows = as_float_matrix(rows, name="rows")
        if rows.shape[1] != len(self.column_means):
            msg = (
                f"rows has {rows.shape[1]} columns, but the training kernel had "
                f"{len(self.column_means)} points. Compute the kernel against exactly these."
            )
            raise InvalidInputError(msg)
        return self._apply_checked(rows)

    @classmethod
    def _from_checked(cls, K: FloatArray) -> KernelCentering:
        column_means = K.mean(axis=0, dtype=np.float64)
        return cls(column_means, float(column_means.mean()))

    def _apply_checked(self, rows: FloatArray) -> FloatArray:
        shift = self.grand_mean - rows.mean(axis=1, dtype=np.float64, keepdims=True)
        centered = rows - self.column_means.astype(rows.dtype, copy=False)
        centered += shift.astype(rows.dtype, copy=False)
        return centered
