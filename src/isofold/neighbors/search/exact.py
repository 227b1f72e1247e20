"""Exact nearest neighbors: a KD-tree for few dimensions, all pairs in blocks for many."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._parallel import RowTeam, n_workers, ordered_map
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_positive
from isofold.neighbors.search import _tree
from isofold.neighbors.search._brute import keep
from isofold.neighbors.search._lists import rank
from isofold.neighbors.search.protocol import (
    Neighbors,
    NeighborSearch,
    RadiusNeighbors,
    check_k,
    check_queries,
    drop_own,
    match_precision,
    ragged_rows,
    require_pairs,
)

# Points of a leaf, at most: three registers full.
_LEAF = 24

# Spare candidates that let matrix-product distances be checked against their rounding.
_SPARE_CANDIDATES = 5

# Products of a block of queries with all points, which stay in the cache until they are looked at.
_BLOCK_BYTES = 8 * 2**20

# Relative difference of squared distances below which two neighbors count as tied.
_TIE = 1e-10


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
        self._tree = _tree_of(np.ascontiguousarray(X))
        self._workers = n_workers(n_jobs)

    @property
    def points(self) -> FloatArray:
        """The points in the tree."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points in the tree."""
        return len(self._points)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        order, near = self.query_by_leaves(points, k)
        back = inverse_of(order)
        return Neighbors(near.distances.take(back, axis=0), near.indices.take(back, axis=0))

    def query_by_leaves(self, points: FloatArray, k: int) -> tuple[IntArray, Neighbors]:
        """Return queries in the order of leaves, and the k nearest points of each in this order."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        order, ends = _tree.order(self._tree, np.ascontiguousarray(points))
        return order, self._nearest(points.take(order, axis=0), k, ends)

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every point, in blocks that follow the leaves."""
        k = check_k(k, self.n_points - 1)
        distances = np.empty((self.n_points, k), dtype=self._points.dtype)
        indices = np.empty((self.n_points, k), dtype=np.intp)
        order, n_leaves = self._tree[-1], len(self._tree[0])
        leaf_ends = self.n_points * np.arange(1, n_leaves + 1) // n_leaves
        step = block_rows((k + 1) * 16, self.n_points)
        for start in range(0, self.n_points, step):
            rows = order[start : start + step]
            ends = np.clip(leaf_ends - start, 0, len(rows))
            near = self._nearest(self._points[rows], k + 1, ends)
            found = drop_own(near, rows)
            distances[rows], indices[rows] = found.distances, found.indices
        return Neighbors(distances, indices)

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all points within a radius of every query, the rim included."""
        points, radius = check_queries(points, self._points), check_positive(radius, name="radius")
        queries, tree = (KDTree(rows, balanced_tree=False) for rows in (points, self._points))
        require_pairs(int(queries.count_neighbors(tree, radius)), radius)
        pairs = queries.sparse_distance_matrix(tree, radius, output_type="ndarray")
        return ragged_rows(pairs["i"], pairs["j"], match_precision(points, pairs["v"]), len(points))

    def _nearest(self, points: FloatArray, k: int, ends: IntArray) -> Neighbors:
        """Return the k nearest points of queries that come leaf by leaf."""
        distances, indices = np.empty((len(points), k)), np.empty((len(points), k), dtype=np.int64)
        with RowTeam(len(points), self._workers) as team:
            team.each(_tree.search, self._tree, points, ends, distances, indices)
        return Neighbors(match_precision(points, distances), indices)


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


def _tree_of(points: FloatArray) -> tuple[np.ndarray, ...]:
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
    _tree.build(points, *arrays)
    return arrays


class BruteForceSearch:
    """Exact search by comparing all pairs in blocks, for many dimensions.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.

    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention.

    Notes
    -----
    Candidates are found from |y|² - 2x·y, all in matrix products, in single precision first. That
    difference cancels badly for near points far from the origin. So the data are centered, a few
    spare candidates are kept, and distances are computed again directly. Rows whose k-th distance
    is not clear of the rounding error are searched again in double precision, and if that is not
    enough, compared with every point directly. So results are exact, and do not depend on how the
    products are made.
    """

    def __init__(self, X: FloatArray, *, n_jobs: int | None = None) -> None:
        self._points = np.ascontiguousarray(X)
        self._center = X.mean(axis=0, dtype=np.float64)
        centered = X - self._center
        self._norms = _squared_norms(centered)
        # Products of single precision neither overflow nor vanish in units of the largest entry.
        self._unit = float(2.0 ** np.frexp(np.abs(centered).max())[1])
        self._single = (centered / self._unit).astype(np.float32)
        self._n_jobs = n_jobs

    @property
    def points(self) -> FloatArray:
        """The points compared with."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points compared with."""
        return len(self._points)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        points = np.ascontiguousarray(points)
        step = max(1, _BLOCK_BYTES // (8 * self.n_points))
        blocks = (points[start : start + step] for start in range(0, len(points), step))
        found = list(ordered_map(lambda rows: self._nearest(rows, k), blocks, n_jobs=self._n_jobs))
        distances = np.concatenate([block.distances for block in found])
        indices = np.concatenate([block.indices for block in found])
        return Neighbors(match_precision(points, distances), indices)

    def _nearest(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of a block of queries."""
        found, unsure = self._nearest_by_products(points, k, np.float32)
        if len(unsure):
            again, still = self._nearest_by_products(points[unsure], k, np.float64)
            every = np.arange(self.n_points, dtype=np.int32)[None]
            for row in still:
                one = slice(row, row + 1)
                rank(
                    points[unsure[one]],
                    self._points,
                    every,
                    again.distances[one],
                    again.indices[one],
                )
            found.distances[unsure], found.indices[unsure] = again.distances, again.indices
        return found

    def _nearest_by_products(
        self, points: FloatArray, k: int, precision: type
    ) -> tuple[Neighbors, IntArray]:
        """Return the k nearest candidates of queries, and where they may not be the nearest."""
        unit = self._unit if precision is np.float32 else 1.0
        all_points = self._single if precision is np.float32 else self._points - self._center
        centered, n_queries = (points - self._center) / unit, len(points)
        n_candidates = min(k + _SPARE_CANDIDATES, self.n_points)
        candidates = np.empty((n_queries, n_candidates), dtype=np.int32)
        farthest, distances = np.empty(n_queries), np.empty((n_queries, k))
        indices = np.empty((n_queries, k), dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):
            # Queries far beyond all points have no products of single precision, and stay unsure.
            products = centered.astype(precision, copy=False) @ all_points.T
        keep(products, (self._norms / unit**2).astype(precision), candidates, farthest)
        rank(points, self._points, candidates, distances, indices)
        if n_candidates == self.n_points:
            return Neighbors(distances, indices), np.empty(0, dtype=np.intp)
        # A sum of D products errs by at most D units of rounding, whatever its order; the other
        # operations add a few.
        norms = _squared_norms(centered)
        rounding = (points.shape[1] + 4) * float(np.finfo(precision).eps)
        certain = farthest + norms - rounding * (norms + float(self._norms.max()) / unit**2)
        is_clear = (distances[:, -1] / unit) ** 2 <= certain * (1 + _TIE)
        return Neighbors(distances, indices), np.flatnonzero(~is_clear)

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every point."""
        k = check_k(k, self.n_points - 1)
        return drop_own(self.query(self._points, k + 1), np.arange(self.n_points))

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all points within a radius of every query, the rim included."""
        points, radius = check_queries(points, self._points), check_positive(radius, name="radius")
        rows, columns, lengths = [], [], []
        step = block_rows(self.n_points * 8, len(points))
        for start in range(0, len(points), step):
            # Direct differences: a rim decided by cancelled digits would not be a rim.
            block = cdist(points[start : start + step], self._points)
            row, column = np.nonzero(block <= radius)
            rows.append(row + start)
            columns.append(column)
            lengths.append(block[row, column])
            require_pairs(sum(map(len, rows)), radius)
        found = match_precision(points, np.concatenate(lengths))
        return ragged_rows(np.concatenate(rows), np.concatenate(columns), found, len(points))


def _squared_norms(rows: FloatArray) -> FloatArray:
    """Return the squared length of every row."""
    squares: FloatArray = np.einsum("ij,ij->i", rows, rows)
    return squares
