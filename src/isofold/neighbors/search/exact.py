"""Exact nearest neighbors in few dimensions, by a KD-tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from isofold._memory import block_rows
from isofold._parallel import n_workers
from isofold._typing import FloatArray
from isofold._validation import check_positive
from isofold.neighbors.search.protocol import (
    Neighbors,
    RadiusNeighbors,
    check_k,
    check_queries,
    drop_own,
    match_precision,
    ragged_rows,
    require_pairs,
)


class KDTreeSearch:
    """Exact search in a KD-tree, for data that fill few dimensions.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention.
    """

    def __init__(self, X: FloatArray, *, n_jobs: int | None = None) -> None:
        self._points = X
        # Splitting at the middle of a box instead of the median builds in half the time
        # and answers as fast.
        self._tree = KDTree(X, balanced_tree=False, leafsize=16)
        self._workers = n_workers(n_jobs)

    @property
    def points(self) -> FloatArray:
        """The points in the tree."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points in the tree."""
        return int(self._tree.n)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        return self._nearest(points, k)

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every point.

        The queries run in the order of the leaves: neighbors in the queue then find their
        nodes in the cache, which halves the time at a million points.
        """
        k = check_k(k, self.n_points - 1)
        distances = np.empty((self.n_points, k), dtype=self._points.dtype)
        indices = np.empty((self.n_points, k), dtype=np.intp)
        step = block_rows((k + 1) * 16, self.n_points)
        for start in range(0, self.n_points, step):
            rows = self._tree.indices[start : start + step]
            found = drop_own(self._nearest(self._points[rows], k + 1), rows)
            distances[rows], indices[rows] = found.distances, found.indices
        return Neighbors(distances, indices)

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all points within a radius of every query, the rim included."""
        points, radius = check_queries(points, self._points), check_positive(radius, name="radius")
        queries = KDTree(points, balanced_tree=False)
        require_pairs(int(queries.count_neighbors(self._tree, radius)), radius)
        pairs = queries.sparse_distance_matrix(self._tree, radius, output_type="ndarray")
        return ragged_rows(pairs["i"], pairs["j"], match_precision(points, pairs["v"]), len(points))

    def _nearest(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        found, indices = self._tree.query(points, k=k, workers=self._workers)
        shape = (len(points), k)  # SciPy drops the second axis for k = 1
        distances = match_precision(points, np.reshape(found, shape))
        return Neighbors(distances, np.reshape(indices, shape))
