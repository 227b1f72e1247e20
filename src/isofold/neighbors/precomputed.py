"""Distances that are given instead of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._errors import InvalidInputError
from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_finite, check_points

# Entries above and below the diagonal may come from different summation orders: they agree
# to a few hundred units in the last place, not to the last bit.
_SYMMETRY_ULPS = 512.0


def check_distances(D: Any, *, name: str = "X") -> FloatArray:
    """Return a dense distance matrix after checking that it can be one.

    Parameters
    ----------
    D : array-like of shape (n_samples, n_samples)
        Distances, not squared. The triangle inequality is not required.
    name : str, default="X"
        What the error messages call it.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        The same distances.

    Raises
    ------
    InvalidInputError
        If the matrix is not square, symmetric, non-negative, finite or has a non-zero
        diagonal.
    """
    distances = check_points(D, name=name, min_samples=1)
    if distances.shape[0] != distances.shape[1]:
        msg = (
            f"{name} has shape {distances.shape}, but precomputed distances hold one row and "
            f'one column a sample. Pass a square matrix, or use metric="euclidean" for points.'
        )
        raise InvalidInputError(msg)
    smallest = float(distances.min())
    if smallest < 0:
        msg = (
            f"{name} contains a negative distance ({smallest:.3g}). Similarities are not "
            f"distances; convert them first."
        )
        raise InvalidInputError(msg)
    diagonal = float(distances.diagonal().max())
    if diagonal > 0:
        msg = (
            f"{name} has {diagonal:.3g} on its diagonal, but a sample's distance to itself is 0. "
            f"Similarities are not distances; convert them first."
        )
        raise InvalidInputError(msg)
    _check_symmetric(distances, name=name)
    return distances


def _check_symmetric(D: FloatArray, *, name: str) -> None:
    """Raise an error if an entry differs from its mirror image by more than rounding."""
    n_samples = len(D)
    tolerance = _SYMMETRY_ULPS * float(np.finfo(D.dtype).eps) * float(D.max())
    step = block_rows(n_samples * 8 * 2, n_samples)
    for start in range(0, n_samples, step):
        block = slice(start, start + step)
        difference = np.abs(D[block] - D[:, block].T)
        worst = float(difference.max())
        if worst > tolerance:
            row, column = np.unravel_index(int(difference.argmax()), difference.shape)
            row += start
            msg = (
                f"{name} is not symmetric: entry ({row}, {column}) is {D[row, column]:.6g} but "
                f"({column}, {row}) is {D[column, row]:.6g}. Pass ({name} + {name}.T) / 2 if both "
                f"measure the same distance."
            )
            raise InvalidInputError(msg)


def check_lengths(W: Any, *, name: str = "X") -> tuple[int, IntArray, IntArray, FloatArray]:
    """Return the stored entries of a sparse matrix of lengths.

    Stored zeros are kept: they say that two samples are at the same place.

    Parameters
    ----------
    W : sparse matrix or array of shape (n_samples, n_samples)
        Lengths of a graph's edges, in one direction or both.
    name : str, default="X"
        What the error messages call it.

    Returns
    -------
    n_samples : int
        Number of samples.
    rows, columns : ndarray of shape (n_entries,)
        Where the entries stand.
    lengths : ndarray of shape (n_entries,)
        The entries.

    Raises
    ------
    InvalidInputError
        If the matrix is not square, not real or holds a negative or non-finite length.
    """
    if W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        msg = (
            f"{name} has shape {W.shape}, but a graph of lengths has one row and one column a "
            f"sample. Pass a square matrix."
        )
        raise InvalidInputError(msg)
    entries = W.tocoo()
    rows, columns = entries.coords
    lengths = entries.data
    if lengths.dtype.kind not in "fiub":
        msg = f"{name} holds {lengths.dtype} entries, but lengths are real numbers."
        raise InvalidInputError(msg)
    if lengths.dtype not in (np.float32, np.float64):
        lengths = lengths.astype(np.float64)
    check_finite(lengths, name=name)
    if (lengths < 0).any():
        msg = (
            f"{name} contains {int((lengths < 0).sum())} negative length(s), the least "
            f"{lengths.min():.3g}. Lengths are distances, not similarities; convert them first."
        )
        raise InvalidInputError(msg)
    return W.shape[0], rows.astype(np.intp), columns.astype(np.intp), lengths


def nearest_in_rows(
    D: FloatArray, k: int, *, own: IntArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return the k smallest entries of every row and their columns, ascending, ties by column.

    Parameters
    ----------
    D : ndarray of shape (m, n)
        Distances.
    k : int
        How many.
    own : ndarray of shape (m,) or None, default=None
        A column that a row must leave out.

    Returns
    -------
    distances, indices : ndarray of shape (m, k)
        The smallest entries and where they stand.
    """
    n_rows, n_columns = D.shape
    distances = np.empty((n_rows, k), dtype=D.dtype)
    indices = np.empty((n_rows, k), dtype=np.intp)
    step = block_rows(n_columns * 16, n_rows)
    for start in range(0, n_rows, step):
        block = D[start : start + step].copy()
        rows = np.arange(len(block))
        if own is not None:
            block[rows, own[start : start + step]] = np.inf
        nearest = np.argpartition(block, k - 1, axis=1)[:, :k]
        found = np.take_along_axis(block, nearest, axis=1)
        order = np.lexsort((nearest, found), axis=-1)
        distances[start : start + step] = np.take_along_axis(found, order, axis=1)
        indices[start : start + step] = np.take_along_axis(nearest, order, axis=1)
    return distances, indices
