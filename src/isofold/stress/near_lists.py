"""Neighbors of every point with their lengths: lists, and the symmetric graph that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray

__all__ = ["NearLists", "SparseRows"]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A symmetric sparse matrix, in the types of the kernels.

    Attributes
    ----------
    indptr, indices : ndarray of int32
        Row i has the columns ``indices[indptr[i]:indptr[i + 1]]``, ascending.
    values : ndarray of float32
        Its entries.
    """

    indptr: IntArray
    indices: IntArray
    values: FloatArray

    @classmethod
    def of(cls, table: Any) -> Self:
        """Return the rows of a sparse matrix."""
        table = sp.csr_array(table)
        table.sort_indices()
        return cls(
            table.indptr.astype(np.int32, copy=False),
            table.indices.astype(np.int32, copy=False),
            table.data.astype(np.float32, copy=False),
        )

    @property
    def table(self) -> sp.csr_array:
        """The matrix, without a copy."""
        n = len(self.indptr) - 1
        return sp.csr_array((self.values, self.indices, self.indptr), shape=(n, n))

    def reordered(self, order: IntArray) -> SparseRows:
        """Return the matrix with rows and columns in another order."""
        return SparseRows.of(self.table[order][:, order])


@dataclass(frozen=True, eq=False)
class NearLists:
    """The nearest others of every point, nearest first. Rows may differ in length.

    Attributes
    ----------
    indptr : ndarray of int32 of shape (n + 1,)
        Row i is ``indices[indptr[i]:indptr[i + 1]]``.
    indices : ndarray of int
        The neighbors.
    lengths : ndarray of float
        Their distances, all positive.
    """

    indptr: IntArray
    indices: IntArray
    lengths: FloatArray

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.indptr) - 1

    @cached_property
    def counts(self) -> IntArray:
        """Number of neighbors of every point."""
        return np.diff(self.indptr)

    def in_unit(self, unit: float) -> NearLists:
        """Return the lists with their lengths divided by a unit, in the types of the kernels."""
        lengths = (self.lengths / unit).astype(np.float32)
        # Beside outliers a short length may vanish, and would then divide by zero.
        lengths = np.maximum(lengths, np.finfo(np.float32).tiny)
        return NearLists(self.indptr, self.indices.astype(np.int32, copy=False), lengths)

    def nearest(self, k: int) -> NearLists:
        """Return the lists cut to the k nearest."""
        position = np.arange(len(self.indices)) - np.repeat(self.indptr[:-1], self.counts)
        kept = position < k
        indptr = np.concatenate([[0], np.cumsum(np.minimum(self.counts, k))]).astype(np.int32)
        return NearLists(indptr, self.indices[kept], self.lengths[kept])

    @cached_property
    def reach(self) -> FloatArray:
        """Distance of every point's last neighbor; the median of them where it has none."""
        reach = np.zeros(self.n_points, dtype=self.lengths.dtype)
        known = self.counts > 0
        reach[known] = self.lengths[self.indptr[1:][known] - 1]
        reach[~known] = np.median(reach[known]) if known.any() else 1.0
        return reach

    def affinities(self) -> SparseRows:
        """Return the symmetric mean of weights 1/k on the neighbors of every point."""
        weights = np.repeat(0.5 / np.maximum(self.counts, 1), self.counts).astype(np.float32)
        table = self._table(weights)
        return SparseRows.of(table + table.T)

    def symmetric(self) -> SparseRows:
        """Return the lengths between all who are neighbors of each other, either way."""
        table = self._table(self.lengths)
        return SparseRows.of(table.maximum(table.T))

    def _table(self, entries: FloatArray) -> sp.csr_array:
        n = self.n_points
        return sp.csr_array((entries, self.indices, self.indptr), shape=(n, n))
