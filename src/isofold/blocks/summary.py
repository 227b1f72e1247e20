"""What one pass over a table finds out before a map is made: columns, and a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.blocks.protocol import Block
from isofold.blocks.sample import LARGEST_KEY, KeyedSample
from isofold.blocks.statistics import ColumnStatistics

__all__ = ["TableSummary"]

SLICE = 2**16
"""Rows whose statistics are gathered at once, which takes some copies of them."""


@dataclass(frozen=True, eq=False)
class TableSummary:
    """A sample of rows, statistics of their columns, and what is missing; parts can be merged.

    Attributes
    ----------
    n_rows : int
        Rows, with those that are not used.
    n_missing : ndarray of int of shape (n_features,)
        Missing values of every column.
    low, high : ndarray of shape (n_features,)
        Least and largest value, in all rows.
    n_fractions : ndarray of int of shape (n_features,)
        Values that are not whole numbers.
    statistics : ColumnStatistics
        Of the rows that are used.
    sample : KeyedSample
        Of the rows that are used.
    """

    n_rows: int
    n_missing: IntArray
    low: FloatArray
    high: FloatArray
    n_fractions: IntArray
    statistics: ColumnStatistics
    sample: KeyedSample

    @classmethod
    def of(
        cls, block: Block, *, drops: bool, size: int, seed: int, ceiling: int = LARGEST_KEY
    ) -> Self:
        """Return the summary of a block; rows with gaps are used unless they are dropped."""
        rows = block.rows
        gaps = np.isnan(rows)
        used: BoolArray = np.ones(len(rows), dtype=bool)
        if drops:
            used = np.asarray(~gaps.any(axis=1))
        statistics: ColumnStatistics | None = None
        for first in range(0, len(rows), SLICE):
            which = slice(first, first + SLICE)
            some = Block(0, rows[which][used[which]], block.name)
            found = ColumnStatistics.of(some)
            statistics = found if statistics is None else statistics.merged(found)
        assert statistics is not None  # noqa: S101 - a pass skips blocks without rows
        return cls(
            len(rows),
            gaps.sum(axis=0),
            np.fmin.reduce(rows, axis=0, initial=np.inf).astype(np.float64),
            np.fmax.reduce(rows, axis=0, initial=-np.inf).astype(np.float64),
            (rows != np.round(rows)).sum(axis=0) - gaps.sum(axis=0),
            statistics,
            KeyedSample.of(block, size, seed, chosen=used, ceiling=ceiling),
        )

    def merged(self, other: Self, size: int) -> Self:
        """Return the summary of two parts of a table."""
        return type(self)(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.n_fractions + other.n_fractions,
            self.statistics.merged(other.statistics),
            self.sample.merged(other.sample, size),
        )
