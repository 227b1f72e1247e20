"""What every neighbor search answers, and the helpers that put answers in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_points, check_positive
from isofold.exceptions import InvalidInputError

# Neighbors asked for first when all within a radius are wanted; doubled until enough.
_FIRST_RADIUS_QUERY = 32


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The k nearest points of each of m queries.

    Attributes
    ----------
    distances : ndarray of shape (m, k)
        Distances, ascending in every row.
    indices : ndarray of shape (m, k)
        Which points they lead to.
    """

    distances: FloatArray
    indices: IntArray


@dataclass(frozen=True, eq=False)
class RadiusNeighbors:
    """All points within a radius of each of m queries, rows of unequal length end to end.

    Attributes
    ----------
    indptr : ndarray of shape (m + 1,)
        Row i is ``indices[indptr[i]:indptr[i + 1]]``.
    indices : ndarray of shape (indptr[-1],)
        The points found, nearest first within a row.
    distances : ndarray of shape (indptr[-1],)
        Their distances.
    """

    indptr: IntArray
    indices: IntArray
    distances: FloatArray


class NeighborSearch(Protocol):
    """Points built into an index once, queried as often as needed."""

    @property
    def points(self) -> FloatArray:
        """The points in the index."""

    @property
    def n_points(self) -> int:
        """Number of points in the index."""

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest indexed points of every query."""

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every indexed point, itself left out."""

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all indexed points within a radius of every query, the rim included."""


def check_queries(points: Any, indexed: FloatArray) -> FloatArray:
    """Return the queries if they live in the space of the indexed points."""
    queries = check_points(points, name="points", min_samples=1)
    if queries.shape[1] != indexed.shape[1]:
        msg = (
            f"points has {queries.shape[1]} column(s), but the index was built from points with "
            f"{indexed.shape[1]}. Pass points of the same space."
        )
        raise InvalidInputError(msg)
    refuse_overflow(queries)
    return queries


def refuse_overflow(points: FloatArray) -> None:
    """Refuse points whose distances cannot be squared, or not be resolved in their precision."""
    largest = max(float(points.max()), -float(points.min()))
    ceiling = min(float(np.sqrt(np.finfo(np.float64).max)), float(np.finfo(points.dtype).max))
    if largest > ceiling / (4 * np.sqrt(points.shape[1])):
        msg = (
            f"The largest entry is {largest:.3g}: distances between such {points.dtype} points "
            f"overflow. Express the data in larger units."
        )
        raise InvalidInputError(msg)


def check_k(k: Any, n_available: int) -> int:
    """Return a number of neighbors that the index can give."""
    k = check_count(k, name="k")
    if k > n_available:
        msg = f"k={k}, but the index has only {n_available} points to offer. Pass a smaller k."
        raise InvalidInputError(msg)
    return int(k)


def pair_distances(queries: FloatArray, points: FloatArray, indices: IntArray) -> FloatArray:
    """Return ``|queries[i] - points[indices[i, j]]|`` by direct subtraction, in blocks."""
    n_queries, k = indices.shape
    distances = np.empty((n_queries, k))
    step = block_rows(k * points.shape[1] * 8, n_queries)
    for start in range(0, n_queries, step):
        block = slice(start, start + step)
        differences = points[indices[block]] - queries[block, None, :].astype(np.float64)
        distances[block] = np.sqrt(np.einsum("ijk,ijk->ij", differences, differences))
    return distances


def drop_own(found: Neighbors, own: IntArray) -> Neighbors:
    """Remove query i's own index ``own[i]`` from its row, or the last entry if it is not there."""
    n_queries, k = found.indices.shape
    if np.array_equal(found.indices[:, 0], own):
        return Neighbors(found.distances[:, 1:], found.indices[:, 1:])
    keep = found.indices != own[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (n_queries, k - 1)
    return Neighbors(found.distances[keep].reshape(shape), found.indices[keep].reshape(shape))


def ragged_rows(
    rows: IntArray, columns: IntArray, lengths: FloatArray, n_rows: int
) -> RadiusNeighbors:
    """Return unordered pairs as rows that ascend in distance, ties by index."""
    order = np.lexsort((columns, lengths, rows))
    counts = np.bincount(rows, minlength=n_rows)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return RadiusNeighbors(indptr, columns[order].astype(np.intp), lengths[order])


def radius_by_doubling(
    search: NeighborSearch, points: FloatArray, radius: float
) -> RadiusNeighbors:
    """Return about all points within a radius, by asking for more until one lies outside."""
    points, radius = check_queries(points, search.points), check_positive(radius, name="radius")
    rows, columns, lengths = [], [], []
    pending, k = np.arange(len(points)), min(_FIRST_RADIUS_QUERY, search.n_points)
    while len(pending):
        found = search.query(points[pending], k)
        finished = (found.distances[:, -1] > radius) | (k == search.n_points)
        row, column = np.nonzero((found.distances <= radius) & finished[:, None])
        rows.append(pending[row])
        columns.append(found.indices[row, column])
        lengths.append(found.distances[row, column])
        pending, k = pending[~finished], min(2 * k, search.n_points)
        require_pairs(sum(map(len, rows)) + k * len(pending), radius)
    return ragged_rows(
        np.concatenate(rows), np.concatenate(columns), np.concatenate(lengths), len(points)
    )


def require_pairs(n_pairs: int, radius: float) -> None:
    """Refuse a radius that holds more pairs than memory does."""
    # A record of two indices and a length, its sorted copy, and the sorting order.
    require_memory(
        n_pairs * 72,
        what=f"radius={radius:.3g} holds {n_pairs} pairs and",
        instead="Pass a smaller radius, or ask for a number of neighbors.",
    )


def match_precision(points: FloatArray, distances: FloatArray) -> FloatArray:
    """Return distances in the precision of the points."""
    return distances.astype(points.dtype, copy=False)
