"""Columns of files: their names, what they hold, and rows of numbers made of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.exceptions import InvalidInputError

__all__ = [
    "CSV",
    "ENDINGS",
    "MISSING",
    "NPY",
    "PARQUET",
    "arrow_types",
    "column_types",
    "file_kind",
    "is_number",
    "memory_map",
    "open_text",
    "parsing",
    "refuse_absent",
    "refuse_text",
    "repeated",
    "rows_of_batch",
    "seems_data",
]

PARQUET, CSV, NPY = (".parquet", ".pq"), (".csv", ".tsv"), (".npy",)
ENDINGS = (*PARQUET, *CSV, *NPY)

MISSING = (
    "", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "NAN",
    "null", "NULL", "Null", "None", "none", "?", "-",
)  # fmt: skip
"""What stands for a missing value in a text file."""

FEWEST_NUMBERED = 4
"""Columns of a file whose first row counts 0, 1, 2, ...: so many make names of it."""

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?inf(inity)?\s*", re.I)


def file_kind(path: Path) -> tuple[str, ...]:
    """Return which kind of file a name stands for."""
    ending = path.suffix.lower()
    for kind in (PARQUET, CSV, NPY):
        if ending in kind:
            return kind
    msg = f"{path.name}: only {', '.join(ENDINGS)} files and .zarr are read block by block."
    raise InvalidInputError(msg)


def column_types(path: Path) -> dict[str, Any]:
    """Return the columns of a file with the types of their numbers; text has type object."""
    if file_kind(path) == NPY:
        array = memory_map(path)
        return {f"column{i + 1}": array.dtype for i in range(array.shape[1])}
    found = arrow_types(path)
    # A column without values has any precision, except in text, where all have the same.
    of_nothing = np.dtype(np.float64 if file_kind(path) == CSV else np.float32)
    return {name: number_type(kind, of_nothing) for name, kind in found.items()}


def arrow_types(path: Path) -> dict[str, Any]:
    """Return the columns of a Parquet or CSV file with their types; refuse what names none."""
    if file_kind(path) == PARQUET:
        from pyarrow import parquet

        schema = parquet.read_schema(path)
    else:
        with open_text(path) as reader:
            schema = reader.schema
        if seems_data(schema.names):
            msg = (
                f"{path.name}: the first row holds numbers, not the names of the columns. Write "
                f"the names into a first row, or the table as .npy or .parquet."
            )
            raise InvalidInputError(msg)
    twice = repeated(schema.names)
    if twice:
        msg = f"{path.name}: several columns are called {twice[0]!r}. Rename them."
        raise InvalidInputError(msg)
    return {field.name: field.type for field in schema}


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that several columns have."""
    return [name for name, n in Counter(names).items() if n > 1]


def is_number(field: str) -> bool:
    """Return whether a field reads as a number."""
    return NUMBER.fullmatch(field) is not None


def seems_data(fields: Sequence[str]) -> bool:
    """Return whether the first row of a text file is data: all numbers, and no mere count."""
    filled = [field.strip() for field in fields if field.strip() not in MISSING]
    if not filled or not all(map(is_number, filled)):
        return False
    return len(filled) < FEWEST_NUMBERED or filled != [str(i) for i in range(len(filled))]


def number_type(arrow: Any, of_nothing: npt.DTypeLike = np.float32) -> Any:
    """Return the NumPy type of a column of numbers, or object for any other."""
    from pyarrow import types

    if types.is_null(arrow):
        return np.dtype(of_nothing)
    if types.is_float32(arrow):
        return np.dtype(np.float32)
    tests = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal)
    return np.dtype(np.float64 if any(test(arrow) for test in tests) else object)


def open_text(path: Path, columns: Mapping[str, Any] | None = None) -> Any:
    """Open a CSV file: all columns by what they hold, or some of them as types of Arrow."""
    from pyarrow import csv

    options = csv.ConvertOptions(
        null_values=list(MISSING),
        strings_can_be_null=True,
        include_columns=list(columns or ()),
        column_types=columns,
    )
    return csv.open_csv(path, parse_options=parsing(path), convert_options=options)


def parsing(path: Path) -> Any:
    """Return how fields of a text file are separated; text in quotes may hold line breaks."""
    from pyarrow import csv

    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    return csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)


def memory_map(path: Path) -> Any:
    """Open a .npy file of rows and columns."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.ndim != 2:
        msg = f"{path.name}: the array has shape {array.shape}, but a table has rows and columns."
        raise InvalidInputError(msg)
    return array


def refuse_absent(path: Path, names: Sequence[str], known: Any) -> None:
    """Refuse a file that lacks a column."""
    absent = [name for name in names if name not in known]
    if absent:
        msg = (
            f"{path.name}: there is no column {absent[0]!r}. All files of a table need the same "
            f"columns; this one has {', '.join(map(repr, list(known)[:8]))}."
        )
        raise InvalidInputError(msg)


def refuse_text(path: Path, names: Sequence[str], types: Sequence[Any]) -> None:
    """Refuse columns that hold no numbers."""
    for name, kind in zip(names, types, strict=False):
        if kind.kind == "O":
            msg = (
                f"{path.name}: column {name!r} does not hold numbers, but features do. Name the "
                f"columns to read, without it: columns=[...]."
            )
            raise InvalidInputError(msg)


def rows_of_batch(batch: Any, names: Sequence[str], path: Path) -> npt.NDArray[Any]:
    """Return columns of a record batch as one array; a missing number is NaN."""
    import pyarrow as pa

    columns = []
    for name in names:
        values = batch.column(name)
        kind = number_type(values.type)
        refuse_text(path, [name], [kind])
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        # A column without any number is an array of None.
        columns.append(values.to_numpy(zero_copy_only=False).astype(kind, copy=False))
    rows = np.empty((batch.num_rows, len(names)), dtype=np.result_type(*columns))
    for position, column in enumerate(columns):
        rows[:, position] = column
    return rows
