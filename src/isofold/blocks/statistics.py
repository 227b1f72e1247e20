"""Statistics of columns in one pass, to the last bit the same whatever the blocks.

Sums of floating-point numbers depend on their order, so numbers are added as whole numbers: the
mantissas of all numbers with the same exponent in one bin, exactly, and the bins at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt

from isofold._typing import FloatArray, IntArray
from isofold.blocks.protocol import Block
from isofold.exceptions import InvalidInputError

__all__ = ["ColumnStatistics"]

MANTISSA, HALF = 53, 27
"""Bits of a mantissa, and of its lower half. Sums of 2^26 upper halves are exact in float64, and
those of 2^36 rows in int64."""

LEAST_EXPONENT, N_BINS = -1080, 2110
"""Exponents of numbers of double precision."""


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Counts, ranges and exact sums of columns.

    Attributes
    ----------
    n_rows : int
        Rows.
    n_missing : ndarray of int of shape (n_features,)
        Missing values of every column.
    n_incomplete : int
        Rows with a missing value.
    low, high : ndarray of shape (n_features,)
        Least and largest value.
    sums, squares : ndarray of int64 of shape (2, n_features, n_bins)
        Upper and lower halves of mantissas, added up by exponent: of values and of their squares.
    """

    n_rows: int
    n_missing: IntArray
    n_incomplete: int
    low: FloatArray
    high: FloatArray
    sums: npt.NDArray[np.int64]
    squares: npt.NDArray[np.int64]

    @classmethod
    def of(cls, block: Block) -> Self:
        """Return the statistics of one block that is not empty."""
        rows = block.rows.astype(np.float64, copy=False)
        gaps = np.isnan(rows)
        low = np.where(gaps, np.inf, rows).min(axis=0)
        high = np.where(gaps, -np.inf, rows).max(axis=0)
        values = [column[~gap] for column, gap in zip(rows.T, gaps.T, strict=True)]
        with np.errstate(over="ignore"):
            squares = [column**2 for column in values]
        if not all(np.isfinite(column).all() for column in squares):
            msg = f"{block.name}: squares of its numbers are out of range. Use other units."
            raise InvalidInputError(msg)
        incomplete = int(gaps.any(axis=1).sum())
        # Rows that were dropped had gaps, too.
        dropped = block.stop - block.start - len(rows)
        return cls(
            len(rows) + dropped,
            gaps.sum(axis=0),
            incomplete + dropped,
            low,
            high,
            np.stack([_bins(column) for column in values], axis=1),
            np.stack([_bins(column) for column in squares], axis=1),
        )

    def merged(self, other: Self) -> Self:
        """Return the statistics of two parts of a table."""
        return type(self)(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_incomplete + other.n_incomplete,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.sums + other.sums,
            self.squares + other.squares,
        )

    def mean(self) -> FloatArray:
        """Return the mean of every column; zero where there are no values."""
        return np.array([float(mean) for mean in self._averages(self.sums)])

    def standard_deviation(self) -> FloatArray:
        """Return the standard deviation of every column, as of the whole population."""
        pairs = zip(self._averages(self.squares), self._averages(self.sums), strict=True)
        # Rounded squares may add up to less than the mean squared.
        return np.array([max(0.0, float(square - mean**2)) ** 0.5 for square, mean in pairs])

    def _averages(self, bins: npt.NDArray[np.int64]) -> list[Fraction]:
        """Return sums over the number of values of every column, exactly."""
        counts = [max(1, self.n_rows - int(n)) for n in self.n_missing]
        columns = bins.swapaxes(0, 1)
        return [_total(column) / n for column, n in zip(columns, counts, strict=True)]


def _bins(values: FloatArray) -> npt.NDArray[np.int64]:
    """Return the mantissas of numbers, in halves, added up by exponent."""
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**MANTISSA).astype(np.int64)
    where = exponents - LEAST_EXPONENT
    halves = (whole >> HALF, whole & (2**HALF - 1))
    sums = [np.bincount(where, weights=half, minlength=N_BINS) for half in halves]
    return np.stack(sums).astype(np.int64)


def _total(bins: npt.NDArray[np.int64]) -> Fraction:
    """Return the exact sum of binned numbers."""
    total = 0
    for exponent in np.flatnonzero(bins.any(axis=0)).tolist():
        upper, lower = (int(half) for half in bins[:, exponent])
        total += ((upper << HALF) + lower) << exponent
    return Fraction(total, 2 ** (MANTISSA - LEAST_EXPONENT))
