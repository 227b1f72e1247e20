"""The array of features: put together from columns, freed of useless ones, and without gaps."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from isofold._format import count
from isofold._memory import require_memory
from isofold._typing import FloatArray, IntArray
from isofold.tables.columnwise import Facts
from isofold.tables.preprocessing import Preprocessing
from isofold.tables.select import Selection, is_id_name
from isofold.tables.table import EXACT, Table, float_type
from isofold.tables.text_safety import listed, refusal

__all__ = ["assemble", "close_gaps", "counts_rows", "find_useful", "gap_notes", "medians"]

FEWEST_COUNTED = 10
"""In a shorter table, a column that counts 1, 2, 3, ... may as well be a measurement."""

BYTES_OF_INT64 = 8


# Damaged files hold NaN of a kind that processors complain about.
@np.errstate(invalid="ignore")
def assemble(table: Table, positions: tuple[int, ...]) -> FloatArray:
    """Return columns side by side; an array that is already so stays where it is."""
    block = table.block
    if block is not None and positions == tuple(range(table.n_wide)):
        if block.dtype in (np.float32, np.float64) and block.dtype.isnative:
            return block
        return _copied(table, block)
    columns = [table.column(position).values for position in positions]
    dtype = np.result_type(*{values.dtype for values in columns})
    _require(table, len(columns), dtype)
    X = np.empty((table.n_rows, len(columns)), dtype=dtype)
    for index, values in enumerate(columns):
        X[:, index] = values
    return X


def _copied(table: Table, block: npt.NDArray[Any]) -> FloatArray:
    dtype = float_type(block.dtype)
    _require(table, block.shape[1], dtype)
    with np.errstate(over="ignore"):  # extended precision beyond float64 becomes infinite
        return np.ascontiguousarray(block, dtype=dtype)


def _require(table: Table, width: int, dtype: np.dtype[Any]) -> None:
    require_memory(
        table.n_rows * width * dtype.itemsize,
        what=f"{table.source}: an array of {table.n_rows:,} rows and {width:,} features",
        instead="Take fewer rows or columns, or save it as float32 in a .npy file.",
    )


def find_useful(
    table: Table, selection: Selection, facts: Facts, counts_rows: CountsRows
) -> tuple[list[int], tuple[str, ...]]:
    """Return the indices of features that say something, and notes about the others.

    `counts_rows` tells of a feature that may only number the rows whether its values do.
    """
    names = [table.names[position] for position in selection.features]
    requested = [position in selection.requested for position in selection.features]
    is_empty = facts.n_missing == table.n_rows
    empty = [index for index in range(len(names)) if is_empty[index]]
    wanted = [names[index] for index in empty if requested[index]]
    if wanted or len(empty) == len(names):
        which = listed(wanted or [names[index] for index in empty])
        problem = f"every value of {which} is missing, so no distance can be measured by it."
        raise refusal(table.source, f"{problem} Choose other columns.")
    counting = [
        index
        for index in np.flatnonzero(_may_count(names, facts, table.n_rows)).tolist()
        if not requested[index] and counts_rows(index, named=is_id_name(names[index]))
    ]
    if len(counting) + len(empty) == len(names):
        counting = []  # a table of nothing but counts is meant as it is
    left_out = {*empty, *counting}
    notes = []
    if empty:
        notes.append(f"Left out (without any value): {listed(names[p] for p in empty)}.")
    if counting:
        notes.append(
            f"Left out (it only numbers the rows): {listed(names[p] for p in counting)}. "
            f"Use --columns if it is a feature."
        )
    if table.block is not None and _is_rounded(table.block.dtype, facts):
        notes.append("Whole numbers beyond 2**53 are rounded to 16 digits.")
    return [index for index in range(len(names)) if index not in left_out], tuple(notes)


def _may_count(names: list[str], facts: Facts, n_rows: int) -> npt.NDArray[np.bool_]:
    starts = (facts.low == 0) | (facts.low == 1)
    long_enough = n_rows >= FEWEST_COUNTED
    counted = starts & (facts.high - facts.low == n_rows - 1) & (facts.n_missing == 0) & long_enough
    named = np.array([is_id_name(name) for name in names])
    result: npt.NDArray[np.bool_] = counted | named
    return result


class CountsRows(Protocol):
    """Tells whether a feature holds whole numbers, each once unless its name says enough."""

    def __call__(self, index: int, *, named: bool) -> bool:
        """Look at the feature at an index."""
        ...


def counts_rows(X: FloatArray, index: int, *, named: bool) -> bool:
    """Return whether a column holds whole numbers, each once unless its name says enough."""
    values = X[:, index]
    known = values[~np.isnan(values)]
    whole = bool((known == np.round(known)).all())
    return whole and (named or len(np.unique(known)) == len(values))


def _is_rounded(dtype: np.dtype[Any], facts: Facts) -> bool:
    wide = dtype.kind in "iu" and dtype.itemsize == BYTES_OF_INT64
    return wide and bool((np.maximum(-facts.low, facts.high) > EXACT).any())


def medians(X: FloatArray) -> tuple[float, ...]:
    """Return the median of every column, of the values that are there."""
    columns = (X[:, index] for index in range(X.shape[1]))
    return tuple(float(np.nanmedian(np.asarray(c, dtype=np.float64))) for c in columns)


def close_gaps(
    table: Table,
    X: FloatArray,
    names: tuple[str, ...],
    n_missing: IntArray,
    preprocessing: Preprocessing,
) -> tuple[FloatArray, IntArray, tuple[str, ...]]:
    """Return features without missing values, the rows that are used, and notes."""
    everywhere = np.arange(table.n_rows)
    gappy = np.flatnonzero(n_missing)
    if gappy.size == 0:
        return X, everywhere, ()
    rows = everywhere
    if preprocessing.missing == "drop":
        rows = np.flatnonzero(~np.isnan(X[:, gappy]).any(axis=1))
    notes = gap_notes(table, names, n_missing, preprocessing, rows.size)
    if preprocessing.fill is not None:
        filled = np.array(X)
        for index in gappy:
            filled[np.isnan(filled[:, index]), index] = preprocessing.fill[index]
        return filled, everywhere, notes
    return X[rows], rows, notes


def gap_notes(
    table: Table,
    names: tuple[str, ...],
    n_missing: IntArray,
    preprocessing: Preprocessing,
    n_used: int,
) -> tuple[str, ...]:
    """Return what there is to say about missing values, or refuse them."""
    gappy = np.flatnonzero(n_missing)
    if gappy.size == 0:
        return ()
    indices = gappy[np.argsort(-n_missing[gappy], kind="stable")].tolist()
    where = listed({names[p]: f"{n_missing[p]:,}" for p in indices})
    if preprocessing.missing == "error":
        problem = f"values are missing in {where}. Fill them, or pass --missing drop or median."
        raise refusal(table.source, problem)
    notes = _mostly_missing(table, names, n_missing, indices)
    if preprocessing.fill is not None:
        return (*notes, f"Missing values are filled with the column's median: {where}.")
    if n_used == 0:
        problem = (
            f"every row lacks a feature, so none is left: values are missing in {where}. Fill "
            f"them (--missing median), or leave these columns out (--exclude)."
        )
        raise refusal(table.source, problem)
    lost = count(table.n_rows - n_used, "row")
    return (*notes, f"{lost} of {table.n_rows:,} left out, since values are missing in {where}.")


def _mostly_missing(
    table: Table, names: tuple[str, ...], n_missing: IntArray, indices: list[int]
) -> list[str]:
    most = [names[index] for index in indices if 2 * n_missing[index] > table.n_rows]
    if not most:
        return []
    return [f"More than half of the values are missing in {listed(most)}. Is it worth keeping?"]
