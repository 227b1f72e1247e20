"""Approximate nearest neighbors by inverted lists: near points share a list, a query probes a few.

The centers of the lists are found by k-means from a sample. A query is compared with centers, then
with the points of the nearest lists in single precision. The best of these are ranked again by
distances in all columns and the precision of the input. Of many columns, lists hold principal axes.

References
----------
Jégou, H., Douze, M. and Schmid, C. (2011). Product quantization for nearest neighbor search.
IEEE TPAMI 33(1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._parallel import n_workers, one_blas_thread, ordered_map
from isofold._typing import FloatArray, IntArray
from isofold.linalg.gram import principal_coordinates
from isofold.linalg.rows import row_product
from isofold.neighbors.search._lists import rank
from isofold.neighbors.search.coarse import CoarseCenters, find_centers, split_large
from isofold.neighbors.search.lists import Lists, fill_lists
from isofold.neighbors.search.protocol import (
    Neighbors,
    RadiusNeighbors,
    check_k,
    check_queries,
    drop_own,
    match_precision,
    radius_by_doubling,
)

__all__ = ["InvertedListSearch", "ListRules"]

BLOCK = 4096
"""Queries answered together: enough that several probe the same list."""

AXES_SAMPLE = 5000
"""Points from which principal axes are found."""

AXES_SAMPLE_WIDE = 1000
"""The same with more columns than this, where the rows are decomposed and not their scatter."""

FAR = 3.0
"""Points farther from the mean than so many medians are drawn in before axes are found."""

CHECKED_POINTS = 200
"""Points whose neighbors decide how many lists are probed: a standard error of .003 at most where
.99 of them are found."""

CHECKED_NEIGHBORS = 15
"""Neighbors of each of these."""

RESOLVED = 1e-4
"""Squared distance, relative to that from the nearest center, below which single precision does not
tell neighbors apart."""


@dataclass(frozen=True)
class ListRules:
    """Constants that decide between time and neighbors found.

    Attributes
    ----------
    list_size : int
        Points of a list, about. No list has more than four times as many.
    fewest_probes, most_probes : int
        Lists that a query is compared with, for up to `base_neighbors` neighbors.
    recall : float
        Fraction of the neighbors of a sample that lies in these lists, unless it takes more.
    base_neighbors : int
        Beyond so many, the number of probes grows in proportion.
    n_axes : int
        Principal axes kept of more columns than half as many again.
    n_spare : float
        Candidates ranked again, as a multiple of the neighbors wanted.
    n_spare_axes : float
        The same where lists hold axes.
    """

    list_size: int = 96
    fewest_probes: int = 12
    most_probes: int = 128
    recall: float = 0.99
    base_neighbors: int = 24
    n_axes: int = 80
    n_spare: float = 1.25
    n_spare_axes: float = 2.5


DEFAULT_RULES = ListRules()


class InvertedListSearch:
    """Approximate search by inverted lists, for many points in many dimensions.

    The neighbors of a query depend on that query alone, and not on the number of threads.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    rules : ListRules, optional
        Constants that decide between time and neighbors found.
    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention.

    Notes
    -----
    Candidates come from single precision; the distances returned are computed again from the
    input. A query for which single precision does not tell candidates apart is compared with
    all points of its lists directly, and one that finds fewer than k points with all points.
    """

    def __init__(
        self, X: FloatArray, *, rules: ListRules = DEFAULT_RULES, n_jobs: int | None = None
    ) -> None:
        self._points = np.ascontiguousarray(X)
        self._rules = rules
        self._workers = n_workers(n_jobs)
        rng = np.random.RandomState(0)
        # How BLAS rounds would depend on its threads.
        with one_blas_thread():
            self._space = _find_space(self._points, rules, rng)
            self._coarse, self._lists = self._build(rng)
            self._n_probes = self._find_probes(rng)

    @property
    def points(self) -> FloatArray:
        """The points in the lists."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points in the lists."""
        return len(self._points)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return about the k nearest points of every query."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        points = np.ascontiguousarray(points)
        parts = ordered_map(
            lambda block: self._nearest(points[block], k),
            _blocks(points, self._workers),
            n_jobs=self._workers,
        )
        distances = np.empty((len(points), k), dtype=points.dtype)
        indices = np.empty((len(points), k), dtype=np.int64)
        for block, found in zip(_blocks(points, self._workers), parts, strict=True):
            distances[block], indices[block] = found.distances, found.indices
        return Neighbors(distances, indices)

    def query_self(self, k: int) -> Neighbors:
        """Return about the k nearest other points of every point.

        The queries run in the order of the lists: those of one list probe nearly the same.
        """
        k = check_k(k, self.n_points - 1)
        order = self._lists.entries

        def find_others(block: slice) -> Neighbors:
            rows = order[block]
            return drop_own(self._nearest(self._points[rows], k + 1), rows)

        blocks = _blocks(self._points, self._workers)
        distances = np.empty((self.n_points, k), dtype=self._points.dtype)
        indices = np.empty((self.n_points, k), dtype=np.int64)
        parts = ordered_map(find_others, blocks, n_jobs=self._workers)
        for block, found in zip(blocks, parts, strict=True):
            distances[order[block]], indices[order[block]] = found.distances, found.indices
        return Neighbors(distances, indices)

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return about all points within a radius of every query, the rim included."""
        return radius_by_doubling(self, points, radius)

    def _build(self, rng: np.random.RandomState) -> tuple[CoarseCenters, Lists]:
        """Return the centers of the lists, and the lists."""
        rules, n = self._rules, self.n_points
        centers, group = find_centers(n, self._rows, max(1, n // rules.list_size), rng)
        coarse = CoarseCenters.of(centers, group, rng)
        nearest = ordered_map(
            lambda block: coarse.nearest(self._space.place(self._points[block]), 1)[:, 0],
            _blocks(self._points, self._workers),
            n_jobs=self._workers,
        )
        used, found = np.unique(np.concatenate(list(nearest)), return_inverse=True)
        labels, centers, origin = split_large(
            found,
            centers[used],
            self._rows,
            size=rules.list_size,
            most=4 * rules.list_size,
            rng=rng,
        )
        coarse = CoarseCenters.of(centers, group[used][origin], rng)
        return coarse, fill_lists(centers, labels, self._rows)

    def _find_probes(self, rng: np.random.RandomState) -> int:
        """Return how many lists hold nearly all neighbors of a sample."""
        rules, n_lists = self._rules, self._lists.n_lists
        if n_lists <= rules.fewest_probes:
            return n_lists
        sample = rng.choice(self.n_points, min(self.n_points, CHECKED_POINTS), replace=False)
        rows = self._rows(sample)
        every = np.tile(np.arange(n_lists, dtype=np.int32), (len(rows), 1))
        k = min(CHECKED_NEIGHBORS, self.n_points - 1)
        near = self._lists.nearest(rows, every, k + 1)[1]
        list_of = np.empty(self.n_points, dtype=np.int32)
        list_of[self._lists.entries] = np.repeat(np.arange(n_lists), self._lists.sizes)
        probes = self._coarse.nearest(rows, min(n_lists, rules.most_probes))
        hits = list_of[near][:, :, None] == probes[:, None, :]
        hits = hits[near != sample[:, None]]
        reached = np.cumsum(hits.mean(axis=0))
        enough = int(np.searchsorted(reached, rules.recall)) + 1
        return int(min(max(enough, rules.fewest_probes), probes.shape[1]))

    def _rows(self, numbers: IntArray) -> FloatArray:
        """Return some points as the lists see them."""
        return self._space.place(self._points, numbers)

    def _nearest(self, points: FloatArray, k: int) -> Neighbors:
        """Return about the k nearest points of a block of queries."""
        rules, rows = self._rules, self._space.place(points)
        n_probes = -(-self._n_probes * max(k, rules.base_neighbors) // rules.base_neighbors)
        probes = self._coarse.nearest(rows, n_probes)
        spare = rules.n_spare if self._space.axes is None else rules.n_spare_axes
        n_candidates = min(self.n_points, int(np.ceil(spare * k)) + 4)
        squares, candidates = self._lists.nearest(rows, probes, n_candidates)
        distances = np.empty((len(points), k))
        indices = np.empty((len(points), k), dtype=np.int64)
        rank(points, self._points, candidates, distances, indices)
        nearest = self._lists.centers[probes[:, 0]] - rows
        reach = np.einsum("ij,ij->i", nearest, nearest)
        for row in np.flatnonzero(squares[:, k - 1] <= RESOLVED * reach):
            near = np.concatenate([self._members(probe) for probe in probes[row]])
            one = slice(row, row + 1)
            rank(points[one], self._points, near[None], distances[one], indices[one])
        every = np.arange(self.n_points, dtype=np.int32)[None]
        for row in np.flatnonzero(indices[:, -1] < 0):
            one = slice(row, row + 1)
            rank(points[one], self._points, every, distances[one], indices[one])
        return Neighbors(match_precision(points, distances), indices)

    def _members(self, number: int) -> IntArray:
        """Return the points of a list."""
        return self._lists.entries[self._lists.starts[number] : self._lists.starts[number + 1]]


@dataclass(frozen=True, eq=False)
class _ListSpace:
    """The space of the lists: near the origin, of size one, of some principal axes."""

    mean: FloatArray
    unit: float
    axes: FloatArray | None

    def place(self, points: FloatArray, numbers: IntArray | None = None) -> FloatArray:
        """Return points, all or some, in this space, each row by itself."""
        d = points.shape[1]
        n = len(points) if numbers is None else len(numbers)
        rows = np.empty((n, d if self.axes is None else self.axes.shape[1]))
        step = block_rows(16 * d, n)
        for start in range(0, n, step):
            block = slice(start, start + step)
            chosen = points[block] if numbers is None else points[numbers[block]]
            scaled = (chosen - self.mean) / self.unit
            rows[block] = scaled if self.axes is None else row_product(scaled, self.axes)
        return rows


def _find_space(X: FloatArray, rules: ListRules, rng: np.random.RandomState) -> _ListSpace:
    """Return the space in which points are put into lists."""
    mean = X.mean(axis=0, dtype=np.float64)
    unit = float(np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0)).max()) or 1.0
    n, d = X.shape
    if d <= 1.5 * rules.n_axes:
        return _ListSpace(mean, unit, None)
    size = AXES_SAMPLE if d <= AXES_SAMPLE_WIDE else AXES_SAMPLE_WIDE
    sample = (X[np.sort(rng.choice(n, min(n, size), replace=False))] - mean) / unit
    lengths = np.linalg.norm(sample, axis=1, keepdims=True)
    # A few points far away would take all axes.
    limit = FAR * float(np.median(lengths))
    sample *= np.where(lengths > limit, limit, lengths) / np.where(lengths > 0, lengths, 1.0)
    return _ListSpace(mean, unit, principal_coordinates(sample, rules.n_axes).axes)


def _blocks(points: FloatArray, workers: int) -> list[slice]:
    """Return blocks of rows, one for every worker at least."""
    n, d = points.shape
    step = min(BLOCK, -(-n // workers), block_rows(8 * d, n))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
