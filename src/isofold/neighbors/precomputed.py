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

    Stored zeros are kept: they say that two samples are copies.
    """
    graph = check_graph(W, name=name)
    rows, columns = graph.coords
    return graph.shape[0], rows.astype(np.intp), columns.astype(np.intp), graph.data


def nearest_in_rows(
    D: FloatArray, k: int, *, own: IntArray | None = None
) -> tuple[FloatArray, IntArray]:
    """Return the k smallest entries of every row and their columns, ascending, ties by column."""
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
