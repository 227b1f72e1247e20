"""Exact nearest neighbors in few dimensions, by a KD-tree."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from isofold._parallel import RowTeam, n_workers
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_positive
from isofold.neighbors.search import _tree
from isofold.neighbors.search.protocol import (
    Neighbors,
    NeighborSearch,
    RadiusNeighbors,
    check_k,
    check_queries,
    match_precision,
    ragged_rows,
    require_pairs,
)

# Points of a leaf, at most: three registers full.
_LEAF = 24


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
        self._workers = n_workers(n_jobs)
        self._tree = _tree_of(np.ascontiguousarray(X), self._workers)

    @property
    def points(self) -> FloatArray:
        """The points in the tree."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points in the tree."""
        return len(self._points)

    @property
    def order(self) -> IntArray:
        """The points leaf by leaf: near ones together."""
        return self._tree[-1]

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        points, k, rows, ends = self._by_leaves(points, k)
        return self._nearest(points, k, rows, ends)

    def query_by_leaves(self, points: FloatArray, k: int) -> tuple[IntArray, Neighbors]:
        """Return queries in the order of leaves, and the k nearest points of each in this order."""
        points, k, rows, ends = self._by_leaves(points, k)
        return rows, self._nearest(points.take(rows, axis=0), k, np.arange(len(rows)), ends)

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every point."""
        n_leaves = len(self._tree[0])
        ends = self.n_points * np.arange(1, n_leaves + 1) // n_leaves
        k = check_k(k, self.n_points - 1)
        return self._nearest(np.ascontiguousarray(self._points), k, self.order, ends, is_self=True)

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all points within a radius of every query, the rim included."""
        points, radius = check_queries(points, self._points), check_positive(radius, name="radius")
        queries, tree = (KDTree(rows, balanced_tree=False) for rows in (points, self._points))
        require_pairs(int(queries.count_neighbors(tree, radius)), radius)
        pairs = queries.sparse_distance_matrix(tree, radius, output_type="ndarray")
        return ragged_rows(pairs["i"], pairs["j"], match_precision(points, pairs["v"]), len(points))

    def _by_leaves(self, points: FloatArray, k: int) -> tuple[FloatArray, int, IntArray, IntArray]:
        """Return checked queries, their order by leaves, and where each leaf ends in it."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        points = np.ascontiguousarray(points)
        return points, k, *_tree.order(self._tree, points)

    def _nearest(
        self, points: FloatArray, k: int, rows: IntArray, ends: IntArray, *, is_self: bool = False
    ) -> Neighbors:
        """Return the k nearest points of queries whose rows are given leaf by leaf."""
        shape = (len(points), k)
        distances, indices = np.empty(shape, points.dtype), np.empty(shape, dtype=np.int64)
        with RowTeam(len(points), self._workers) as team:
            team.each(_tree.search, self._tree, points, rows, ends, is_self, distances, indices)
        return Neighbors(distances, indices)


def inverse_of(order: IntArray) -> IntArray:
    """Return where each item stands in an order of all; `take` there undoes the order."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def query_by_leaves(
    search: NeighborSearch, points: FloatArray, k: int
) -> tuple[IntArray, Neighbors]:
    """Return queries in an order with near ones together, and the k nearest of each there."""
    if isinstance(search, KDTreeSearch):
        return search.query_by_leaves(points, k)
    return np.arange(len(points)), search.query(points, k)


def _tree_of(points: FloatArray, workers: int) -> tuple[np.ndarray, ...]:
    """Return the arrays of a tree over points, as the kernel takes them."""
    n, d = points.shape
    n_leaves = 1 << max(0, ((n - 1) // _LEAF).bit_length())
    arrays = (
        np.empty(n_leaves),
        np.empty(n_leaves, dtype=np.int32),
        np.empty(2 * n_leaves * 2 * d),
        np.zeros(n * d + _tree.LANES),
        np.arange(n, dtype=np.int64),
    )
    with RowTeam(n, workers) as team:
        # Threads take branches: four each, so that they end together.
        branches = 1 if team.n_threads == 1 else min(n_leaves, 4 * _power_of_two(team.n_threads))
        _tree.build(0, branches - 1, points, *arrays, with_branches=False)
        team.each_part(
            np.ones(branches),
            lambda first, last: _tree.build(
                branches - 1 + first, branches - 1 + last, points, *arrays
            ),
        )
    return arrays


def _power_of_two(least: int) -> int:
    """Return the least power of two that is no smaller."""
    return 1 << (least - 1).bit_length()
