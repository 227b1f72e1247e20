"""Approximate nearest neighbors by a hierarchical small-world graph (HNSW) of faiss.

References
----------
Malkov, Yu. A. and Yashunin, D. A. (2018). Efficient and robust approximate nearest neighbor
search using hierarchical navigable small world graphs. IEEE TPAMI 42(4).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from isofold._dependencies import require
from isofold._parallel import n_workers
from isofold._typing import FloatArray
from isofold.neighbors.search._lists import rank
from isofold.neighbors.search.protocol import (
    Neighbors,
    RadiusNeighbors,
    check_k,
    check_queries,
    drop_own,
    match_precision,
    radius_by_doubling,
)
from isofold.neighbors.search.screened import BruteForceSearch

# faiss's own defaults for the graph.
_LINKS = 32
_CONSTRUCTION_WIDTH = 80

_ONE_AT_A_TIME = Lock()


class HNSWSearch:
    """Approximate search, for many points in many dimensions.

    The index is built by one thread, since the order of insertion shapes it; queries run in
    parallel and do not depend on the number of threads.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    width : int, default=96
        How many candidates a query keeps at least: more miss less and take longer. By default
        wider than faiss's own, because a missed neighbor costs an edge of a graph.
    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention.

    Raises
    ------
    MissingDependencyError
        If faiss is not installed.

    Notes
    -----
    Candidates come from single precision; the distances returned are computed again from
    the input. A query for which faiss finds fewer than k points is answered exactly.
    """

    def __init__(self, X: FloatArray, *, width: int = 96, n_jobs: int | None = None) -> None:
        self._faiss = require("faiss", extra="approximate", purpose='method="hnsw"')
        self._points = X
        self._center = X.mean(axis=0, dtype=np.float64)
        self._unit = float(np.abs(X - self._center).max()) or 1.0
        self._width = width
        self._workers = n_workers(n_jobs)
        self._index = self._faiss.IndexHNSWFlat(X.shape[1], _LINKS)
        self._index.hnsw.efConstruction = _CONSTRUCTION_WIDTH
        with _threads(self._faiss, 1):
            self._index.add(self._single(X))

    def __getstate__(self) -> dict[str, Any]:
        # Modules cannot be pickled, and faiss's objects only as bytes.
        state = {name: value for name, value in vars(self).items() if name != "_faiss"}
        return state | {"_index": self._faiss.serialize_index(self._index)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._faiss = require("faiss", extra="approximate", purpose='method="hnsw"')
        vars(self).update(state | {"_index": self._faiss.deserialize_index(state["_index"])})

    @property
    def points(self) -> FloatArray:
        """The points in the index."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points in the index."""
        return int(self._index.ntotal)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return about the k nearest points of every query."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        # The width is the index's, and the number of threads that of all of faiss.
        with _ONE_AT_A_TIME, _threads(self._faiss, self._workers):
            self._index.hnsw.efSearch = max(self._width, 2 * k)
            _, candidates = self._index.search(self._single(points), k)
        distances, indices = np.empty((len(points), k)), np.empty((len(points), k), dtype=np.int64)
        rank(
            np.ascontiguousarray(points),
            np.ascontiguousarray(self._points),
            candidates.astype(np.int32),
            distances,
            indices,
        )
        missing = np.flatnonzero(indices[:, -1] < 0)
        if len(missing):
            exact = BruteForceSearch(self._points).query(points[missing], k)
            distances[missing], indices[missing] = exact.distances, exact.indices
        return Neighbors(match_precision(points, distances), indices)

    def query_self(self, k: int) -> Neighbors:
        """Return about the k nearest other points of every point."""
        k = check_k(k, self.n_points - 1)
        return drop_own(self.query(self._points, k + 1), np.arange(self.n_points))

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return about all points within a radius of every query, the rim included.

        faiss's own range search stops at a fixed width and misses many points; asking for
        more and more neighbors until one lies outside does not.
        """
        return radius_by_doubling(self, points, radius)

    def _single(self, points: FloatArray) -> FloatArray:
        """Return points in single precision, centered and scaled so that it suffices."""
        return np.ascontiguousarray((points - self._center) / self._unit, dtype=np.float32)


@contextmanager
def _threads(faiss: Any, n_threads: int) -> Iterator[None]:
    """Set the number of faiss's threads for a while."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_threads)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
