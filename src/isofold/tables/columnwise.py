"""Facts about the columns of a large array, gathered in one pass over its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._memory import block_rows
from isofold._validation import LARGEST_UNIT
from isofold.tables.text_safety import quoted, refusal

__all__ = ["Facts", "facts_at", "gather_facts", "scaled"]

FLOAT_BYTES = 8


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about each column; missing values do not count.

    Attributes
    ----------
    low, high : ndarray of shape (n_features,)
        Least and greatest value; NaN where all are missing.
    mean, variance : ndarray of shape (n_features,)
        Mean and variance.
    n_missing : ndarray of shape (n_features,)
        How many values are missing.
    """

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    variance: npt.NDArray[np.float64]
    n_missing: npt.NDArray[np.int64]


# Damaged files hold NaN of a kind that processors complain about.
@np.errstate(invalid="ignore", over="ignore")
def gather_facts(X: npt.NDArray[Any], names: tuple[str, ...], source: str) -> Facts:
    """Look at every entry once; refuse infinite and huge ones by row and column."""
    n_rows, width = X.shape
    low, high = np.full(width, np.nan), np.full(width, np.nan)
    total, squares, shift = np.zeros(width), np.zeros(width), np.zeros(width)
    n_missing = np.zeros(width, dtype=np.int64)
    step = block_rows(3 * FLOAT_BYTES * width, n_rows)
    for start in range(0, n_rows, step):
        block = np.asarray(X[start : start + step], dtype=np.float64)
        low = np.fmin(low, np.fmin.reduce(block, axis=0))
        high = np.fmax(high, np.fmax.reduce(block, axis=0))
        if max(-np.nanmin(low, initial=0.0), np.nanmax(high, initial=0.0)) > LARGEST_UNIT:
            _refuse_huge(block, start, names, source)
        gaps = np.isnan(block)
        if start == 0:
            # Sums of differences from about the middle of a column keep their digits.
            shift = np.where(gaps, 0.0, block).sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
        differences = block - shift
        if gaps.any():
            n_missing += gaps.sum(axis=0)
            differences[gaps] = 0.0
        total += differences.sum(axis=0)
        squares += np.einsum("ij,ij->j", differences, differences)
    known = np.maximum(n_rows - n_missing, 1)
    mean = total / known
    variance = np.maximum(squares / known - mean**2, 0.0)
    variance[low == high] = 0.0
    return Facts(low, high, shift + mean, variance, n_missing)


def facts_at(facts: Facts, indices: list[int]) -> Facts:
    """Return the facts about some of the columns."""
    return Facts(
        facts.low[indices],
        facts.high[indices],
        facts.mean[indices],
        facts.variance[indices],
        facts.n_missing[indices],
    )


def _refuse_huge(
    block: npt.NDArray[np.float64], start: int, names: tuple[str, ...], source: str
) -> None:
    row, column = (int(i) for i in np.argwhere(np.abs(block) > LARGEST_UNIT)[0])
    value = block[row, column]
    what = "infinite" if np.isinf(value) else f"{value:.3g}"
    problem = (
        f"data row {start + row + 1:,}, column {quoted(names[column])} is {what}: distances to "
        f"this row would be so, too. Correct it, leave it empty, or leave the column out."
    )
    raise refusal(source, problem)


def scaled(
    X: npt.NDArray[Any], center: npt.NDArray[np.float64], scale: npt.NDArray[np.float64]
) -> npt.NDArray[Any]:
    """Return ``(X - center) / scale``, calculated in float64 and stored as `X` is."""
    result = np.empty_like(X, subok=False)
    step = block_rows(2 * FLOAT_BYTES * X.shape[1], len(X))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        result[rows] = (X[rows] - center) / scale
    return result
