"""Distances that are given instead of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_distances, check_graph

__all__ = ["check_distances", "check_lengths", "nearest_in_rows"]


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
    graph = check_graph(W, name=name)
    rows, columns = graph.coords
    return graph.shape[0], rows.astype(np.intp), columns.astype(np.intp), graph.data


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
