"""Map files: coordinates, and which rows of the data they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from isofold._format import count
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError

if TYPE_CHECKING:
    from isofold.tables import Prepared, Table

__all__ = ["ROW", "axis_names", "read_map", "read_places"]

ROW = "row"


def read_map(
    path: Path, prepared: Prepared, *, encoding: str
) -> tuple[FloatArray, slice | IntArray]:
    """Read coordinates and find the rows of the data that they belong to."""
    from isofold.tables import ANNOTATED_ENDING, MAP_KEY, prepare, read_table

    n_rows = prepared.n_rows
    if path.suffix.lower() == ANNOTATED_ENDING:
        # It has a row for each of the data, without numbers where a row is not on the map.
        found = prepare(read_table(path, key=MAP_KEY), missing="drop")
        return _by_number(path, found.X, found.rows.astype(float), prepared)
    table = read_table(path, encoding=encoding or "utf-8")
    names = axis_names(table.names) or None
    Y = prepare(table, columns=names, missing="error").X
    # Of a map that isofold wrote; a table of coordinates may have its own column of that name.
    is_ours = names is not None or table.block is not None
    numbers = _row_numbers(table) if is_ours else None
    if numbers is not None:
        return _by_number(path, Y, numbers, prepared)
    if len(Y) == len(prepared.X):
        return Y, slice(None)
    if len(Y) == n_rows:
        return Y[prepared.rows], slice(None)
    left_out = n_rows - len(prepared.X)
    but = f", {left_out:,} of them left out" if left_out else ""
    msg = (
        f"{path.name} has {count(len(Y), 'row')}, but the data have {n_rows:,}{but}, so rows "
        f"cannot be matched. Pass the file that the map was made from, or a map with a column "
        f"{ROW!r}, as isofold writes it."
    )
    raise InvalidInputError(msg)


def read_places(path: Path, n_axes: int, *, encoding: str) -> FloatArray:
    """Read coordinates of any points of a map, one or more."""
    from isofold.tables import Preprocessing, preprocess, read_table

    table = read_table(path, encoding=encoding or "utf-8")
    return preprocess(table, Preprocessing(axis_names(table.names) or n_axes, missing="error")).X


def axis_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return x1, x2, ... as far as a table has them; if it has none, all are coordinates."""
    known, found = set(names), list[str]()
    while f"x{len(found) + 1}" in known:
        found.append(f"x{len(found) + 1}")
    return tuple(found)


def _row_numbers(table: Table) -> FloatArray | None:
    if ROW not in table.names:
        return None
    column = table.column(table.names.index(ROW))
    return column.values if column.kind == "number" else None


def _by_number(
    path: Path, Y: FloatArray, numbers: FloatArray, prepared: Prepared
) -> tuple[FloatArray, IntArray]:
    n_rows = prepared.n_rows
    position = np.full(n_rows, -1)
    position[prepared.rows] = np.arange(len(prepared.rows))
    is_row = np.isfinite(numbers) & (numbers >= 0) & (numbers < n_rows) & (numbers % 1 == 0)
    if not is_row.all() or len(np.unique(numbers)) < len(numbers):
        msg = (
            f"{path.name}: its column {ROW!r} must hold numbers of the {count(n_rows, 'row')} of "
            f"the data, each once at most. Pass the file that the map was made from."
        )
        raise InvalidInputError(msg)
    which = position[numbers.astype(np.intp)]
    if (which < 0).any():
        msg = (
            f"{path.name} has {count(int((which < 0).sum()), 'row')} whose numbers are missing in "
            f"the data. Pass the same --columns as for the map, or --missing median."
        )
        raise InvalidInputError(msg)
    return Y, which
