"""Neighbors and ranks of a few rows among all rows of a table that is read block by block.

Both are passes of `RowBlocks.reduce` over data and map side by side. They do not depend on how rows
are cut into blocks, nor on their order: equal distances are ranked by row number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Self, TypeVar

import numpy as np

from isofold._parallel import ordered_map
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_units
from isofold.blocks import Block
from isofold.neighbors import build_search
from isofold.neighbors.search.protocol import drop_own
from isofold.neighbors.search.query_balls import NearlySquared, Pairs, QueryBalls, squared_of_pairs

__all__ = ["BlockRanks", "FindNearest", "NearestRows", "RankCounts", "first_radii"]

S = TypeVar("S")

SPAN = 2**18
"""Rows of a block that one thread takes at a time."""

NOBODY = np.iinfo(np.int64).max
"""Row number where there is no neighbor yet."""


@dataclass(frozen=True, eq=False)
class NearestRows:
    """The k nearest rows of every query in one space, among the rows seen so far.

    Attributes
    ----------
    rows : ndarray of int of shape (n_queries, n_neighbors)
        Their numbers, nearest first.
    squared, elsewhere : ndarray of shape (n_queries, n_neighbors)
        Their squared distances in this space and in the other one.
    """

    rows: IntArray
    squared: FloatArray
    elsewhere: FloatArray

    def merged(self, other: Self) -> Self:
        """Return the nearest of two parts of a table."""
        k = self.rows.shape[1]
        rows = np.hstack([self.rows, other.rows])
        squared = np.hstack([self.squared, other.squared])
        order = np.lexsort((rows, squared), axis=-1)[:, :k]
        elsewhere = np.hstack([self.elsewhere, other.elsewhere])
        return type(self)(
            np.take_along_axis(rows, order, 1),
            np.take_along_axis(squared, order, 1),
            np.take_along_axis(elsewhere, order, 1),
        )


@dataclass(frozen=True, eq=False)
class BothNearest:
    """The nearest rows in the data and on the map."""

    near: NearestRows
    shown: NearestRows

    def merged(self, other: Self) -> Self:
        """Return the nearest of two parts of a table."""
        return type(self)(self.near.merged(other.near), self.shown.merged(other.shown))


@dataclass(frozen=True, eq=False)
class Span:
    """Rows of a block that one thread looks at, in both spaces.

    Attributes
    ----------
    start : int
        Number of the first row.
    spaces : tuple of ndarray
        The rows in the data and on the map.
    """

    start: int
    spaces: tuple[FloatArray, FloatArray]


def summarize(
    block: Block,
    n_features: int,
    of: Callable[[Span], S],
    merge: Callable[[S, S], S],
    n_jobs: int | None,
) -> S:
    """Return the merged summaries of the spans of a block, which threads make."""

    def of_span(start: int) -> S:
        rows = block.rows[start : start + SPAN].astype(np.float64, copy=False)
        check_units(rows, name=block.name, tiny=False)
        both = rows[:, :n_features], rows[:, n_features:]
        return of(Span(block.start + start, both))

    return reduce(merge, ordered_map(of_span, range(0, len(block.rows), SPAN), n_jobs=n_jobs))


@dataclass(frozen=True, eq=False)
class FindNearest:
    """Finds the nearest rows of queries in a block, in the data and on the map.

    Attributes
    ----------
    own : ndarray of int of shape (n_queries,)
        Row numbers of the queries, which are no neighbors of themselves.
    n_neighbors : int
        Neighbors of every query.
    balls : tuple of QueryBalls
        Balls that hold at least so many other rows, in the data and on the map.
    n_jobs : int or None
        Number of threads.
    """

    own: IntArray
    n_neighbors: int
    balls: tuple[QueryBalls, QueryBalls]
    n_jobs: int | None = None

    def __call__(self, block: Block) -> BothNearest:
        """Return the nearest in a block."""
        width = self.balls[0].queries.shape[1]
        return summarize(block, width, self._of_span, BothNearest.merged, self.n_jobs)

    def _of_span(self, span: Span) -> BothNearest:
        return BothNearest(self._nearest(span, 0), self._nearest(span, 1))

    def _nearest(self, span: Span, space: int) -> NearestRows:
        balls, other = self.balls[space], self.balls[1 - space]
        rows = span.spaces[space]
        found = [self._best(pairs, span) for pairs in balls.pairs(rows)]
        for query, squared in balls.to_all(rows):
            near = np.flatnonzero(squared <= balls.squared[query])
            pairs = Pairs(np.full(len(near), query), near, squared[near])
            found.append(self._best(pairs, span))
        shape = len(self.own), self.n_neighbors
        tables = np.full(shape, NOBODY), np.full(shape, np.inf), np.full(shape, np.inf)
        for pairs, position in found:
            elsewhere = squared_of_pairs(
                other.queries, pairs.queries, span.spaces[1 - space], pairs.rows
            )
            where = pairs.queries, position
            values = span.start + pairs.rows, pairs.squared, elsewhere
            for table, value in zip(tables, values, strict=True):
                table[where] = value
        return NearestRows(*tables)

    def _best(self, pairs: Pairs, span: Span) -> tuple[Pairs, IntArray]:
        """Return the nearest pairs of every query, and their ranks from 0 on."""
        others = np.flatnonzero(span.start + pairs.rows != self.own[pairs.queries])
        order = others[
            np.lexsort((pairs.rows[others], pairs.squared[others], pairs.queries[others]))
        ]
        queries = pairs.queries[order]
        first = np.searchsorted(queries, queries)
        position = np.arange(len(queries)) - first
        kept = np.flatnonzero(position < self.n_neighbors)
        order = order[kept]
        best = Pairs(pairs.queries[order], pairs.rows[order], pairs.squared[order])
        return best, position[kept]


def first_radii(
    points: FloatArray, own: IntArray, n_neighbors: int, *, n_jobs: int | None
) -> FloatArray:
    """Return squared distances within which a sample has so many others around some of its rows."""
    queries = points[own]
    search = build_search(points, n_jobs=n_jobs)
    found = drop_own(search.query(queries, n_neighbors + 1), own).indices
    which = np.repeat(np.arange(len(own)), n_neighbors)
    squared = squared_of_pairs(queries, which, points, found.ravel())
    return np.asarray(squared.reshape(found.shape).max(axis=1))


@dataclass(frozen=True, eq=False)
class BlockRanks:
    """Ranks, in one space, of rows that are near a query in the other.

    Attributes
    ----------
    rows : ndarray of int of shape (n_queries, n_neighbors)
        Numbers of the rows that are ranked.
    squared : ndarray of shape (n_queries, n_neighbors)
        Their squared distances in the space in which they are ranked.
    known : ndarray of int of shape (n_queries, n_neighbors)
        Their ranks, if they are among the nearest there, too; else 0.
    """

    rows: IntArray
    squared: FloatArray
    known: IntArray

    @classmethod
    def of(cls, ranked: NearestRows, nearest: NearestRows) -> Self:
        """Prepare the ranks of rows near in one space among those near in the other."""
        same = ranked.rows[:, :, None] == nearest.rows[:, None, :]
        known = np.where(same.any(axis=2), same.argmax(axis=2) + 1, 0)
        return cls(ranked.rows, ranked.elsewhere, known)

    def of_queries(self, chosen: IntArray) -> Self:
        """Return the ranks of some of the queries."""
        return type(self)(self.rows[chosen], self.squared[chosen], self.known[chosen])

    @property
    def radii(self) -> FloatArray:
        """Squared distances within which rows must be counted; -1 where none must."""
        return np.where(self.known > 0, -1.0, self.squared).max(axis=1)

    @property
    def at_least(self) -> IntArray:
        """Ranks where they are known, and one more than the number of neighbors elsewhere."""
        return np.where(self.known > 0, self.known, self.known.shape[1] + 1)

    def with_counts(self, counts: IntArray) -> IntArray:
        """Return all ranks, from the numbers of rows that are nearer."""
        return np.where(self.known > 0, self.known, counts + 1)


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Counts, in a block, the rows that are nearer to a query than ranked ones.

    Attributes
    ----------
    own : ndarray of int of shape (n_queries,)
        Row numbers of the queries.
    ranks : tuple of BlockRanks
        What is ranked in the data, and on the map.
    balls : tuple of QueryBalls
        Balls up to the farthest ranked row, in the data and on the map.
    n_jobs : int or None
        Number of threads.
    """

    own: IntArray
    ranks: tuple[BlockRanks, BlockRanks]
    balls: tuple[QueryBalls, QueryBalls]
    n_jobs: int | None = None

    def __call__(self, block: Block) -> IntArray:
        """Return counts of shape (2, n_queries, n_neighbors)."""
        width = self.balls[0].queries.shape[1]
        return summarize(block, width, self._of_span, np.add, self.n_jobs)

    def _of_span(self, span: Span) -> IntArray:
        return np.stack([self._counts(span, space) for space in (0, 1)])

    def _counts(self, span: Span, space: int) -> IntArray:
        balls, ranks = self.balls[space], self.ranks[space]
        counts = np.zeros(ranks.rows.shape, dtype=np.int64)
        rows = span.spaces[space]
        for pairs in balls.pairs(rows):
            self._add_pairs(counts, pairs, span, ranks)
        for line in balls.nearly_to_all(rows):
            own = self.own[line.query] - span.start - line.first
            if 0 <= own < len(line.squared):
                line.squared[own] = np.inf
            for column in np.flatnonzero(ranks.known[line.query] == 0):
                counts[line.query, column] += self._count_line(line, int(column), span, space)
        return counts

    def _count_line(self, line: NearlySquared, column: int, span: Span, space: int) -> int:
        """Return how many rows are nearer than a ranked one; where rounding decides, exactly."""
        balls, ranks = self.balls[space], self.ranks[space]
        limit = ranks.squared[line.query, column]
        low, high = limit - line.rounding, limit + line.rounding
        n_nearer = int(np.count_nonzero(line.squared < low))
        if np.count_nonzero(line.squared <= high) == n_nearer:
            return n_nearer
        unsure = line.first + np.flatnonzero((line.squared >= low) & (line.squared <= high))
        which = np.full(len(unsure), line.query)
        squared = squared_of_pairs(balls.queries, which, span.spaces[space], unsure)
        is_before = span.start + unsure < ranks.rows[line.query, column]
        is_nearer = (squared < limit) | ((squared == limit) & is_before)
        return n_nearer + int(np.count_nonzero(is_nearer))

    def _add_pairs(self, counts: IntArray, pairs: Pairs, span: Span, ranks: BlockRanks) -> None:
        numbers = span.start + pairs.rows
        others = np.flatnonzero(numbers != self.own[pairs.queries])
        queries, squared, numbers = pairs.queries[others], pairs.squared[others], numbers[others]
        for column in range(counts.shape[1]):
            limit = ranks.squared[queries, column]
            is_nearer: BoolArray = squared < limit
            is_nearer |= (squared == limit) & (numbers < ranks.rows[queries, column])
            counts[:, column] += np.bincount(queries[is_nearer], minlength=len(counts))
