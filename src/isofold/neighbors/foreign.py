"""The nearest point of another component, for every point that asks.

Number the components 0 to C - 1. A foreign component's number differs from one's own in at
least one bit. So for each of the log₂ C bits the points are split by that bit, and those who
ask are answered from the other side: whatever is found there is foreign, and the nearest
over all bits is the nearest foreign point. No pair of components is ever treated by itself.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.neighbors.search import build_search, choose_method


class ForeignSearch(Protocol):
    """Distances among nodes, as far as joining components needs them."""

    @property
    def n_points(self) -> int:
        """Number of nodes."""

    def nearest_foreign(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the distance and index of the nearest node with another label."""

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some nodes to all, shape (n_queries, n_points)."""


class PointForeignSearch:
    """Foreign search among points.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention.
    """

    def __init__(self, points: FloatArray, *, n_jobs: int | None = None) -> None:
        self._points = points.astype(np.float64, copy=False)
        self._method = choose_method(self._points)
        self._n_jobs = n_jobs

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self._points)

    def nearest_foreign(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the distance and index of the nearest point with another label, bit by bit."""
        distances = np.full(len(queries), np.inf)
        nearest = np.full(len(queries), -1, dtype=np.intp)
        for bit in range(int(labels.max()).bit_length()):
            side = (labels >> bit) & 1
            for own_side in (0, 1):
                asking = np.flatnonzero(side[queries] == own_side)
                if not len(asking):
                    continue
                others = np.flatnonzero(side != own_side)
                search = build_search(
                    self._points[others], method=self._method, n_jobs=self._n_jobs
                )
                found = search.query(self._points[queries[asking]], 1)
                nearer = found.distances[:, 0] < distances[asking]
                distances[asking[nearer]] = found.distances[nearer, 0]
                nearest[asking[nearer]] = others[found.indices[nearer, 0]]
        return distances, nearest

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some points to all."""
        distances: FloatArray = cdist(self._points[queries], self._points)
        return distances


class DistanceForeignSearch:
    """Foreign search in a dense distance matrix.

    Parameters
    ----------
    distances : ndarray of shape (n_points, n_points)
        The distances.
    """

    def __init__(self, distances: FloatArray) -> None:
        self._distances = distances

    @property
    def n_points(self) -> int:
        """Number of nodes."""
        return len(self._distances)

    def nearest_foreign(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the distance and index of the nearest node with another label, row by row."""
        distances = np.empty(len(queries))
        nearest = np.empty(len(queries), dtype=np.intp)
        step = block_rows(self.n_points * 8, len(queries))
        for start in range(0, len(queries), step):
            block = queries[start : start + step]
            rows = np.where(labels[block, None] == labels, np.inf, self._distances[block])
            nearest[start : start + step] = rows.argmin(axis=1)
            distances[start : start + step] = rows.min(axis=1)
        return distances, nearest

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some nodes to all."""
        return self._distances[queries]
