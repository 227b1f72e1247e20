"""How points are colored: by classes, by numbers, by distortion, or all alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError

__all__ = ["Classes", "Numbers", "read_color"]

MOST_CLASSES = 30
"""Classes with a color and mark of their own: ten colors, three marks. The rest are others."""

FEW_NUMBERS, REPEATED = 8, 3
"""Different whole numbers up to which they are classes; more of them, up to those that have a mark,
if each comes so often on average."""


@dataclass(frozen=True, eq=False)
class Classes:
    """A class for every point.

    Attributes
    ----------
    codes : ndarray of int of shape (n_points,)
        Number of the class, -1 for the others.
    names : tuple of str
        Names of the classes.
    title : str
        What the classes are, or empty.
    """

    codes: IntArray
    names: tuple[str, ...]
    title: str = ""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number for every point.

    Attributes
    ----------
    values : ndarray of shape (n_points,)
        The numbers; NaN where one is unknown.
    title : str
        What they are, or empty.
    """

    values: FloatArray
    title: str = ""


def read_color(color: Any, n_points: int) -> Classes | Numbers:
    """Read a column by which points are to be colored."""
    title = getattr(color, "name", None)
    title = "" if title is None else str(title)
    try:
        column = np.asarray(color)
    except ValueError:
        column = np.empty((0, 0))
    if column.shape != (n_points,):
        msg = (
            f"color has shape {np.shape(column)}, but a map of {n_points:,} points needs one value "
            f'for each. Pass one column, or color="distortion".'
        )
        raise InvalidInputError(msg)
    if column.dtype.kind == "f" or (column.dtype.kind in "iu" and _is_many(column)):
        return Numbers(column.astype(np.float64), title)
    if column.dtype.kind == "O":
        numbers = _as_numbers(column)
        if numbers is not None:
            return Numbers(numbers, title)
    if column.dtype.kind not in "OUSbiu":
        msg = (
            f"color holds {column.dtype} values, which are neither names nor numbers. Pass one of "
            f"these, such as years instead of dates."
        )
        raise InvalidInputError(msg)
    return _classes(column, title)


def _is_many(column: Any) -> bool:
    n_different = len(np.unique(column))
    return n_different > max(FEW_NUMBERS, min(MOST_CLASSES, len(column) // REPEATED))


def _as_numbers(column: Any) -> FloatArray | None:
    """Return a column of numbers and gaps as numbers, or None if it holds anything else."""
    kinds = {type(value) for value in column if value is not None}
    if not kinds or not all(issubclass(kind, float | np.floating) for kind in kinds):
        return None
    return np.array([np.nan if value is None else value for value in column], dtype=np.float64)


def _classes(column: Any, title: str) -> Classes:
    """Return the classes in order of their names, numbers by size; rare ones are others."""
    if column.dtype.kind in "OUS":
        column = np.array([str(value) for value in column], dtype=object)
    found, codes = np.unique(column, return_inverse=True)
    order = sorted(range(len(found)), key=lambda number: _natural(str(found[number])))
    found, codes = found[order], np.argsort(order)[codes]
    if len(found) > MOST_CLASSES:
        common = np.sort(np.argsort(-np.bincount(codes), kind="stable")[: MOST_CLASSES - 1])
        number = np.full(len(found), -1)
        number[common] = np.arange(len(common))
        found, codes = found[common], number[codes]
    return Classes(codes.astype(np.intp), tuple(str(name) for name in found), title)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key by which "class 2" comes before "class 10"."""
    parts = re.split(r"(\d{1,18})", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
