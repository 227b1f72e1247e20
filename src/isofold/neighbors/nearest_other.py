"""The nearest point of another component, for every point that asks.

Number the components 0 to C - 1. Another component's number differs from one's own in at
least one bit. So for each of the log₂ C bits the points are split by that bit, and those who
ask are answered from the other side: whatever is found there is in another component, and the
nearest over all bits is the nearest point of another component. No pair of components is ever
treated by itself. Two shortcuts come first: a wider list of neighbors often holds one of another
component already, and the triangle inequality rules out the inner points of components that lie far
from all others.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.neighbors.search.build import build_search, choose_method, make_search
from isofold.neighbors.search.protocol import Neighbors, NeighborSearch

# Neighbors looked at before the components are split by bits.
_WIDE_LIST = 64

# Inner points are ruled out if so many of a group ask: below, the search for one pivot a
# group would cost as much as it saves.
_CROWD = 16

# Relative rounding allowed for when two computed distances are subtracted.
_SLACK = 1e-12


class NearestOtherSearch(Protocol):
    """Distances among nodes, as far as joining components needs them."""

    @property
    def n_points(self) -> int:
        """Number of nodes."""

    def nearest_foreign(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the distance and index of the nearest node with another label."""

    def promising(self, labels: IntArray, groups: IntArray, queries: IntArray, /) -> IntArray:
        """Return the queries from which the shortest edge of their component may leave."""

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some nodes to all, shape (n_queries, n_points)."""


class NearestOtherOfPoints:
    """Search among points.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points, all distinct.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention.
    """

    def __init__(self, points: FloatArray, *, n_jobs: int | None = None) -> None:
        self._points = points.astype(np.float64, copy=False)
        self._method = choose_method(self._points)
        self._n_jobs = n_jobs
        self._index = build_search(self._points, method=self._method, n_jobs=n_jobs)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self._points)

    def lists(self, k: int) -> Neighbors:
        """Return the k nearest others of every point, or all there are."""
        return self._index.query_self(min(k, self.n_points - 1))

    def nearest_foreign(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the distance and index of the nearest point with another label."""
        distances = np.empty(len(queries))
        nearest = np.full(len(queries), -1, dtype=np.intp)
        n_listed = min(_WIDE_LIST, self.n_points)
        step = block_rows(n_listed * 24, len(queries))
        for start in range(0, len(queries), step):
            block = queries[start : start + step]
            near = self._index.query(self._points[block], n_listed)
            is_other = labels[near.indices] != labels[block, None]
            rows = np.flatnonzero(is_other.any(axis=1))
            columns = is_other[rows].argmax(axis=1)
            distances[start + rows] = near.distances[rows, columns]
            nearest[start + rows] = near.indices[rows, columns]
        rest = np.flatnonzero(nearest < 0)
        if len(rest):
            distances[rest], nearest[rest] = self._bit_by_bit(labels, queries[rest])
        return distances, nearest

    def promising(self, labels: IntArray, groups: IntArray, queries: IntArray, /) -> IntArray:
        """Return the queries from which the shortest edge of their component may leave.

        One pivot c a group, near its middle, is answered: its nearest point f of another component
        is at distance D. The shortest edge of the component is at most min |x - f| over the queries
        x, and x is at least D - |x - c| from every other component.
        """
        names, own = np.unique(groups[queries], return_inverse=True)
        if len(queries) < _CROWD * len(names):
            return queries
        sums = [np.bincount(own, weights=column[queries]) for column in self._points.T]
        middles = np.stack(sums, axis=1) / np.bincount(own)[:, None]
        order = np.lexsort((self._gaps(queries, middles, own), own))
        pivots = queries[order[np.searchsorted(own[order], np.arange(len(names)))]]
        reach, found = self.nearest_foreign(labels, pivots)
        at_most = np.full(int(labels.max()) + 1, np.inf)
        np.minimum.at(at_most, labels[queries], self._gaps(queries, self._points[found], own))
        to_pivot = self._gaps(queries, self._points[pivots], own)
        at_least = reach[own] - to_pivot - _SLACK * (reach[own] + to_pivot)
        return queries[at_least <= at_most[labels[queries]]]

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some points to all."""
        distances: FloatArray = cdist(self._points[queries], self._points)
        return distances

    def _bit_by_bit(self, labels: IntArray, queries: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the nearest point of another component by splitting the components' numbers."""
        distances = np.full(len(queries), np.inf)
        nearest = np.full(len(queries), -1, dtype=np.intp)
        for bit in range(int(labels.max()).bit_length()):
            side = (labels >> bit) & 1
            for own_side in (0, 1):
                asking = np.flatnonzero(side[queries] == own_side)
                if not len(asking):
                    continue
                others = np.flatnonzero(side != own_side)
                found = self._search(self._points[others]).query(self._points[queries[asking]], 1)
                nearer = found.distances[:, 0] < distances[asking]
                distances[asking[nearer]] = found.distances[nearer, 0]
                nearest[asking[nearer]] = others[found.indices[nearer, 0]]
        return distances, nearest

    def _gaps(self, queries: IntArray, targets: FloatArray, which: IntArray) -> FloatArray:
        """Return the distance of every query to a target of its own, in blocks."""
        gaps = np.empty(len(queries))
        step = block_rows(targets.shape[1] * 24, len(queries))
        for start in range(0, len(queries), step):
            block = slice(start, start + step)
            gaps[block] = np.linalg.norm(
                self._points[queries[block]] - targets[which[block]], axis=1
            )
        return gaps

    def _search(self, points: FloatArray) -> NeighborSearch:
        """Return an index over some of the points."""
        return make_search(points, method=self._method, n_jobs=self._n_jobs)


class NearestOtherOfDistances:
    """Search in a dense distance matrix.

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

    def promising(self, _labels: IntArray, _groups: IntArray, queries: IntArray, /) -> IntArray:
        """Return all queries: given distances need not obey the triangle inequality."""
        return queries

    def rows(self, queries: IntArray) -> FloatArray:
        """Return the distances of some nodes to all."""
        return self._distances[queries]
