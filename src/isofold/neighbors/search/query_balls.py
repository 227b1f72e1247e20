"""Which rows of a large table lie in balls around a few queries, block by block and exactly.

Radii are known beforehand: distances within a sample of the table are upper bounds of those in the
table. So nearly all rows are in no ball, and most are seen to be so at once:

1. Projected onto three principal axes, a row that lies in a ball lies in a cell that a ball
   touches. The cells are marked once; a row costs one look into their table.
2. Rows that are left are searched with a KD-tree, or compared with all queries by a product in
   single precision whose rounding is allowed for.
3. What these propose is measured again. Squares are added column after column, which gives a pair
   the same bits whatever it is computed with, so that ties are ties in every block.

Balls that hold much of the table are told apart: there all rows are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors.search.build import choose_method

__all__ = ["BallRules", "Pairs", "QueryBalls", "squared_of_pairs"]


@dataclass(frozen=True)
class BallRules:
    """How rows in balls are looked for.

    Attributes
    ----------
    crowded : float
        Fraction of all rows from which on a ball is compared with every row. In 3 columns a
        proposed row costs some 150 ns, and any row 8 ns.
    n_probed : int
        Rows of the sample from which this fraction is estimated.
    n_axes, n_cells : int
        Principal axes and cells of the table. 2^21 bytes stay in the cache.
    n_for_axes : int
        Rows of the sample that the axes come from.
    wide : float
        Radii that an axis must be long to be used.
    covered : float
        Cells that boxes around balls may mark, over all cells; beyond, marking would not pay.
    n_pairs : int
        Proposed pairs, about, that are held at a time.
    n_products : int
        Products that are held at a time: 4 MB of them.
    n_lines, n_together : int
        Rows and queries whose distances to each other are held at a time: 8 MB.
    slack : float
        Relative rounding of coordinates and radii, generously.
    """

    crowded: float = 0.05
    n_probed: int = 4096
    n_axes: int = 3
    n_cells: int = 2**21
    n_for_axes: int = 256
    wide: float = 8.0
    covered: float = 4.0
    n_pairs: int = 2**19
    n_products: int = 2**20
    n_lines: int = 2**14
    n_together: int = 64
    slack: float = 1e-9


RULES = BallRules()

FEW_PAIRS = 256
"""Pairs up to which calls for every column take longer than the numbers. The bits are the same."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a query and a row.

    Attributes
    ----------
    queries, rows : ndarray of int of shape (n_pairs,)
        Which query and which row of the block.
    squared : ndarray of shape (n_pairs,)
        Their squared distances.
    """

    queries: IntArray
    rows: IntArray
    squared: FloatArray


@dataclass(frozen=True, eq=False)
class NearlySquared:
    """Squared distances of one query to rows that follow each other, up to rounding.

    Attributes
    ----------
    query : int
        Which query.
    first : int
        Which row of the block is the first.
    squared : ndarray
        The squared distances.
    rounding : float
        By how much they may be off.
    """

    query: int
    first: int
    squared: FloatArray
    rounding: float


@dataclass(frozen=True, eq=False)
class BallCells:
    """Cells of a few axes that balls touch.

    Attributes
    ----------
    origin, axes : ndarray of shape (n_features,) and (n_features, n_axes)
        Where the axes start, and their directions.
    low, per_unit : ndarray of shape (n_axes,)
        Where the cells begin, and cells in a unit of length.
    touched : ndarray of bool, one axis for each of the axes
        Which cells balls touch, with a border of cells that none does.
    """

    origin: FloatArray
    axes: FloatArray
    low: FloatArray
    per_unit: FloatArray
    touched: BoolArray

    @classmethod
    def of(
        cls, queries: FloatArray, radii: FloatArray, sample: FloatArray, rules: BallRules
    ) -> Self | None:
        """Mark the cells that balls touch; None if they would be most of the cells."""
        origin = sample.mean(axis=0)
        some = sample[: rules.n_for_axes] - origin
        axes = np.linalg.svd(some, full_matrices=False)[2][: rules.n_axes].T
        reach = np.sqrt(np.einsum("ij,ij->i", queries - origin, queries - origin)) + radii
        radii = radii + rules.slack * reach.max()
        points = (queries - origin) @ axes
        # Across a thin axis every ball would touch all cells.
        wide = np.ptp(points, axis=0) > rules.wide * np.median(radii)
        wide[0] = True
        axes, points = axes[:, wide], points[:, wide]
        low, high = (points - radii[:, None]).min(axis=0), (points + radii[:, None]).max(axis=0)
        side = int(rules.n_cells ** (1 / axes.shape[1])) - 2
        if not (high > low).all():
            return None
        per_unit = side / (high - low)
        boxes = np.minimum(2 * radii[:, None] * per_unit + 2, side).prod(axis=1)
        if boxes.sum() > rules.covered * side ** axes.shape[1]:
            return None
        touched = np.zeros((side + 2,) * axes.shape[1], dtype=bool)
        for point, radius in zip(points - low, radii, strict=True):
            _mark(touched, point * per_unit, radius * per_unit)
        return cls(origin, axes, low, per_unit, touched)

    def rows_in(self, rows: FloatArray) -> IntArray:
        """Return which rows lie in a cell that a ball touches."""
        at = (rows - self.origin) @ self.axes
        at -= self.low
        at *= self.per_unit
        at += 1.0
        side = self.touched.shape[0]
        np.clip(at, 0, side - 1, out=at)
        code = at[:, 0].astype(np.int32)
        for column in at.T[1:]:
            code *= side
            code += column.astype(np.int32)
        return np.flatnonzero(self.touched.ravel()[code])


def _mark(touched: BoolArray, center: FloatArray, radius: FloatArray) -> None:
    """Mark the cells that an ellipsoid with these semi-axes touches, all in units of cells."""
    side = touched.shape[0] - 2
    first = np.clip(np.floor(center - radius).astype(int), 0, side - 1)
    last = np.clip(np.floor(center + radius).astype(int), 0, side - 1) + 1
    squared: FloatArray = np.zeros(())
    for axis, (a, b) in enumerate(zip(first, last, strict=True)):
        cell = np.arange(a, b)
        gap = np.maximum(np.maximum(cell - center[axis], center[axis] - cell - 1), 0)
        squared = squared[..., None] + (gap / radius[axis]) ** 2
    inner = tuple(slice(a + 1, b + 1) for a, b in zip(first, last, strict=True))
    touched[inner] |= squared <= 1.0


@dataclass(frozen=True, eq=False)
class QueryBalls:
    """Balls around queries, and what finds rows in them.

    Attributes
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Their centers.
    squared : ndarray of shape (n_queries,)
        Their squared radii, the rim included; a negative one is no ball.
    inside : ndarray of shape (n_queries,)
        Fraction of the table in every ball, about.
    center : ndarray of shape (n_features,)
        A point in the middle of the sample.
    cells : BallCells or None
        Cells that balls touch that hold few rows.
    uses_tree : bool
        Whether a KD-tree suits the rows.
    rules : BallRules
        What decides.
    """

    queries: FloatArray
    squared: FloatArray
    inside: FloatArray
    center: FloatArray
    cells: BallCells | None
    uses_tree: bool
    rules: BallRules = RULES

    @classmethod
    def of(
        cls,
        queries: FloatArray,
        squared: FloatArray,
        sample: FloatArray,
        *,
        rules: BallRules = RULES,
    ) -> Self:
        """Prepare a search, by a random sample of the rows in which balls will be looked for."""
        probe = np.ascontiguousarray(sample[: rules.n_probed].T)
        counts = [
            np.count_nonzero(squared_to_all(query, probe) <= radius) if radius >= 0 else 0
            for query, radius in zip(queries, squared, strict=True)
        ]
        inside = np.array(counts) / probe.shape[1]
        light = (squared >= 0) & (inside <= rules.crowded)
        cells = None
        if light.any():
            cells = BallCells.of(queries[light], np.sqrt(squared[light]), sample, rules)
        method = choose_method(sample)
        return cls(queries, squared, inside, probe.mean(axis=1), cells, method == "kd_tree", rules)

    @property
    def crowded(self) -> IntArray:
        """The queries whose balls hold much of the table."""
        return np.flatnonzero((self.squared >= 0) & (self.inside > self.rules.crowded))

    def to_all(self, rows: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield every crowded query with its squared distances to all rows."""
        columns = np.ascontiguousarray(rows.T) if len(self.crowded) else rows.T
        for query in self.crowded:
            yield int(query), squared_to_all(self.queries[query], columns)

    def nearly_to_all(self, rows: FloatArray) -> Iterator[NearlySquared]:
        """Yield every crowded query with its squared distances to all rows, up to rounding.

        Products take a fifth of the time of differences in many columns, and no more in few.
        """
        queries = self.queries[self.crowded] - self.center
        norms = np.einsum("ij,ij->i", queries, queries)
        unit = 4 * (rows.shape[1] + 8) * float(np.finfo(np.float64).eps)
        for start in range(0, len(rows) if len(queries) else 0, self.rules.n_lines):
            some = rows[start : start + self.rules.n_lines] - self.center
            lengths = np.einsum("ij,ij->i", some, some)
            rounding = unit * (norms + lengths.max())
            for first in range(0, len(queries), self.rules.n_together):
                batch = slice(first, first + self.rules.n_together)
                products = queries[batch] @ some.T
                products *= -2.0
                products += lengths
                products += norms[batch, None]
                lines = zip(self.crowded[batch], products, rounding[batch], strict=True)
                for query, squared, error in lines:
                    yield NearlySquared(int(query), start, squared, float(error))

    def pairs(self, rows: FloatArray) -> Iterator[Pairs]:
        """Yield the rows in all other balls, with those of one query together."""
        light = np.flatnonzero((self.squared >= 0) & (self.inside <= self.rules.crowded))
        where = np.arange(len(rows)) if self.cells is None else self.cells.rows_in(rows)
        if not len(light) or not len(where):
            return
        kept = rows if len(where) == len(rows) else rows[where]
        tree = KDTree(kept, balanced_tree=False, leafsize=16) if self.uses_tree else None
        for run in self._runs(light, len(rows)):
            found = self._by_products(kept, run) if tree is None else self._in_tree(tree, run)
            queries, proposed = found
            squared = squared_of_pairs(self.queries, queries, kept, proposed)
            right = np.flatnonzero(squared <= self.squared[queries])
            yield Pairs(queries[right], where[proposed[right]], squared[right])

    def _runs(self, light: IntArray, n_rows: int) -> list[IntArray]:
        """Return the queries in runs that are expected to have so many pairs each."""
        expected = np.cumsum((self.inside[light] + 1.0 / self.rules.n_probed) * n_rows)
        run = (expected // self.rules.n_pairs).astype(np.intp)
        return np.split(light, np.flatnonzero(np.diff(run)) + 1)

    def _in_tree(self, tree: KDTree, run: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of some queries that a tree finds, and hardly any other."""
        radii = np.sqrt(self.squared[run]) * (1 + self.rules.slack)
        lists = tree.query_ball_point(self.queries[run], radii, return_sorted=False)
        counts = np.fromiter(map(len, lists), dtype=np.intp, count=len(run))
        rows = np.fromiter(chain.from_iterable(lists), dtype=np.intp, count=int(counts.sum()))
        return np.repeat(run, counts), rows

    def _by_products(self, rows: FloatArray, run: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs of some queries that products find, and hardly any other.

        Notes
        -----
        x is in the ball of q if x·q - |x|²/2 + (r² - |q|²)/2 >= 0: one product of vectors with two
        more entries. Rounding to single precision changes it by less than
        2 (D + 8) u (|x|² + |q|² + r²), which is added on the side of the ball.
        """
        queries, squared = self.queries[run] - self.center, self.squared[run]
        norms = np.einsum("ij,ij->i", queries, queries)
        scale = float(np.sqrt((norms + squared).max())) or 1.0
        margin = _rounding(queries.shape[1])
        offsets = 0.5 * (squared - norms) + margin * (squared + norms)
        ones = np.ones(len(run))
        right = np.column_stack(
            [queries / scale, ones, offsets / scale**2 + np.finfo(np.float32).tiny]
        ).astype(np.float32)
        step = max(1, self.rules.n_products // len(run))
        found = [
            start * len(run) + _not_negative(rows[start : start + step], self.center, scale, right)
            for start in range(0, len(rows), step)
        ]
        row, query = np.divmod(np.concatenate(found), len(run))
        order = np.argsort(query, kind="stable")
        return run[query[order]], row[order]


def _not_negative(
    rows: FloatArray, center: FloatArray, scale: float, right: npt.NDArray[np.float32]
) -> IntArray:
    """Return which products of rows and prepared queries are not negative, counted row by row."""
    centered = (rows - center) / scale
    # What overflows is beyond every ball: it is minus infinity or NaN, which are not >= 0.
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.einsum("ij,ij->i", centered, centered)
        halves = (_rounding(rows.shape[1]) - 0.5) * norms
        left = np.column_stack([centered, halves, np.ones(len(rows))]).astype(np.float32)
        return np.flatnonzero(left @ right.T >= 0)


def _rounding(n_features: int) -> float:
    """Return the relative rounding of a product in single precision."""
    return 2 * (n_features + 8) * float(np.finfo(np.float32).eps)


def squared_of_pairs(
    queries: FloatArray, which: IntArray, rows: FloatArray, partners: IntArray
) -> FloatArray:
    """Return squared distances of pairs, added column after column."""
    total = np.zeros(len(which))
    with np.errstate(over="ignore"):
        if len(which) <= FEW_PAIRS:
            gaps = rows[partners] - queries[which]
            gaps *= gaps
            return np.asarray(np.add.accumulate(gaps, axis=1)[:, -1])
        for query_column, row_column in zip(queries.T, rows.T, strict=True):
            gap = row_column[partners] - query_column[which]
            gap *= gap
            total += gap
    return total


def squared_to_all(query: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the squared distances of one query to rows that are given by columns."""
    total = np.zeros(columns.shape[1])
    with np.errstate(over="ignore"):
        for value, column in zip(query, columns, strict=True):
            gap = column - value
            gap *= gap
            total += gap
    return total
