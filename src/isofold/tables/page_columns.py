"""Columns as a page shows them: labels and fields of every row, whatever they are made of.

All of it is untrusted text and numbers. A column is read as numbers, as points in time or as
classes (text, truth values, categories). Missing values stay missing, and no name is empty or used
twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.tables.distinct import distinct_of
from isofold.tables.text_safety import plain

__all__ = [
    "PageColumn",
    "class_column",
    "number_column",
    "read_column",
    "read_columns",
    "unique_name",
]

MAX_LABEL_NUMBERS = 30
"""Labels with up to so many different whole numbers are classes; with more they are quantities."""

MISSING = -1
"""Code of a missing class."""

MISSING_TEXT = frozenset({"nan", "nat", "none", "<na>"})
"""What NumPy and pandas make of a missing value in text."""


@dataclass(frozen=True, eq=False)
class PageColumn:
    """One property of all rows, as a page shows it.

    Attributes
    ----------
    name : str
        What it is called.
    kind : {"number", "time", "class"}
        How it is to be shown. Times are milliseconds since 1970.
    values : ndarray of shape (n_points,)
        Numbers, NaN where missing; of classes their codes, -1 where missing.
    table : tuple of str
        Texts of the classes, by code.
    """

    name: str
    kind: str
    values: npt.NDArray[Any]
    table: tuple[str, ...] = ()


def number_column(name: str, values: Any) -> PageColumn:
    """Return a column of numbers, in which what is not finite is missing."""
    numbers = np.asarray(values, dtype=np.float64).copy()
    numbers[~np.isfinite(numbers)] = np.nan
    return PageColumn(name, "number", numbers)


def class_column(name: str, texts: list[str | None], chosen: IntArray) -> PageColumn:
    """Return a column of classes, ordered as a reader would order them.

    Every row has one of the texts; None is missing.
    """
    different = sorted({text for text in texts if text is not None}, key=_natural)
    code_of = {None: MISSING} | {text: code for code, text in enumerate(different)}
    codes = np.array([code_of[text] for text in texts], dtype=np.int32)
    return PageColumn(name, "class", codes[chosen], tuple(different))


def read_column(values: Any, n_points: int, *, name: str, is_label: bool = False) -> PageColumn:
    """Return what a user gave for every row as a column."""
    if hasattr(values, "cat") and hasattr(values.cat, "categories"):
        return _categories(values, n_points, name=name)
    array = _one_value_each(values, n_points, name=name)
    kind = array.dtype.kind
    if kind == "M":
        stamps = array.astype("datetime64[ms]")
        times = stamps.astype(np.int64).astype(np.float64)
        times[np.isnat(stamps)] = np.nan
        return PageColumn(name, "time", times)
    if kind == "m":
        seconds = array / np.timedelta64(1, "s")
        return number_column(f"{name} (seconds)", seconds)
    if kind == "b":
        different, chosen = np.unique(array, return_inverse=True)
        return class_column(name, ["true" if value else "false" for value in different], chosen)
    if kind in "iuf":
        column = number_column(name, array)
        return _numbers_as_classes(column) if is_label and _are_names(column.values) else column
    return _mixture(array, name=name, is_label=is_label)


def unique_name(stem: str, taken: set[str]) -> str:
    """Return a name, numbered if it is taken, and take it."""
    name, copy = stem, 2
    while name in taken:
        name, copy = f"{stem} ({copy})", copy + 1
    taken.add(name)
    return name


def read_columns(fields: Any, n_points: int, *, taken: Iterable[str] = ()) -> list[PageColumn]:
    """Return the columns of a mapping or data frame, each under a name of its own."""
    if fields is None:
        return []
    if not isinstance(fields, Mapping) and not hasattr(fields, "columns"):
        msg = (
            f"fields is a {type(fields).__name__}, but names are needed to show values by. Pass a "
            f"data frame or a dictionary of column names and arrays."
        )
        raise InvalidInputError(msg)
    pairs = fields.items() if isinstance(fields, Mapping) else _columns_of_frame(fields)
    columns: list[PageColumn] = []
    names = set(taken)
    for number, (given, values) in enumerate(pairs, start=1):
        stem = plain(given).strip() or f"column {number}"
        columns.append(read_column(values, n_points, name=unique_name(stem, names)))
    return columns


def _columns_of_frame(frame: Any) -> list[tuple[Any, Any]]:
    """Return names and values by position, since names may not be unique."""
    if hasattr(frame, "iloc"):
        return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    return [(name, frame[name].to_numpy()) for name in frame.columns]


def _one_value_each(values: Any, n_points: int, *, name: str) -> npt.NDArray[Any]:
    array = values
    if np.ma.isMA(values):
        array = np.ma.getdata(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
    try:
        # NumPy would turn a list of text and numbers into text, and refuse unequal lists.
        array = array if hasattr(array, "__array__") else np.asarray(array, dtype=object)
        array = np.asarray(array)
    except (TypeError, ValueError) as error:
        msg = f"{name!r} cannot be read as one value a row: {error}. Pass a flat array."
        raise InvalidInputError(msg) from error
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.shape != (n_points,):
        msg = (
            f"{plain(name)[:80]!r} has shape {array.shape}, but the map has {n_points:,} points. "
            f"Pass one value for every point, in the order of the rows."
        )
        raise InvalidInputError(msg)
    return array


def _categories(values: Any, n_points: int, *, name: str) -> PageColumn:
    """Return a column of a pandas categorical, in the order of its categories."""
    codes = np.asarray(values.cat.codes, dtype=np.int32)
    _one_value_each(codes, n_points, name=name)
    return PageColumn(name, "class", codes, tuple(plain(c) for c in values.cat.categories))


def _mixture(array: npt.NDArray[Any], *, name: str, is_label: bool) -> PageColumn:
    """Return a column of Python objects: numbers if all are, else text."""
    values, chosen = distinct_of(array)
    known = [None if _is_missing(value) else value for value in values]
    present = [value for value in known if value is not None]
    if array.dtype.kind == "O" and present and all(_is_number(value) for value in present):
        numbers = np.array([np.nan if value is None else float(value) for value in known])
        return read_column(numbers[chosen], len(array), name=name, is_label=is_label)
    if present and all(isinstance(value, dt.date) for value in present):
        times = np.array([np.nan if value is None else _milliseconds(value) for value in known])
        return PageColumn(name, "time", times[chosen])
    is_truth = present and all(isinstance(value, bool | np.bool_) for value in present)
    texts = [None if value is None else plain(value) for value in known]
    if is_truth:
        texts = [None if text is None else text.lower() for text in texts]
    return class_column(name, texts, chosen)


def _milliseconds(moment: dt.date) -> float:
    """Return the time since 1970; without a time zone it is taken as universal time."""
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime(moment.year, moment.month, moment.day, tzinfo=dt.UTC)
    elif moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return moment.timestamp() * 1e3


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | str | bytes | complex):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str | bytes):
        return len(value) == 0
    # Only NaN, NaT and pandas' NA differ from themselves or have such a name.
    return str(value).lower() in MISSING_TEXT


def _are_names(numbers: FloatArray) -> bool:
    present = numbers[~np.isnan(numbers)]
    if not len(present) or not np.all(present == np.round(present)):
        return False
    return len(np.unique(present)) <= MAX_LABEL_NUMBERS


def _numbers_as_classes(column: PageColumn) -> PageColumn:
    missing = np.isnan(column.values)
    different, inverse = np.unique(column.values[~missing], return_inverse=True)
    codes: IntArray = np.full(len(column.values), MISSING, dtype=np.int32)
    codes[~missing] = inverse
    return PageColumn(column.name, "class", codes, tuple(f"{value:.0f}" for value in different))


def _natural(text: str) -> tuple[int, float, str]:
    """Return what sorts 9 before 10, and both before text."""
    try:
        number = float(text)
    except ValueError:
        return 1, 0.0, text
    return (0, number, text) if np.isfinite(number) else (1, 0.0, text)
