"""Tables: what every file format is read into, before it is decided what is a feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Column", "Table"]

NUMBER_KINDS = "biuf"

EXACT = 2**53
"""Whole numbers beyond are rounded when they become floating-point numbers."""


@dataclass(frozen=True, eq=False)
class Column:
    """One named column.

    Attributes
    ----------
    name : str
        Its name.
    values : ndarray of shape (n_rows,)
        Numbers (float32 or float64, NaN where missing) or text (objects: str, None where missing).
    """

    name: str
    values: npt.NDArray[Any]

    @property
    def kind(self) -> str:
        """Either "number" or "text"."""
        return "text" if self.values.dtype == object else "number"

    @property
    def is_empty(self) -> bool:
        """Whether every value is missing."""
        if self.kind == "text":
            return all(value is None for value in self.values)
        return bool(np.isnan(self.values).all())


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds: named columns, one wide block of numbers, or both.

    Where there is a block, its columns are the features, and the named columns describe the
    rows. Where there is none, every column of numbers may be a feature.

    Attributes
    ----------
    columns : tuple of Column
        The named columns.
    n_rows : int
        Number of rows.
    source : str
        Name of the file, ready for the screen.
    has_names : bool, default=True
        Whether the features were named in the file. If not, they are called column1, column2, ...
    block : ndarray of shape (n_rows, n_wide), default=None
        Numbers of any real type, possibly a memory map: wide data stay as they were stored.
    block_names : tuple of str, default=()
        Names of the block's columns; empty where it has none.
    image_shape : tuple of int, default=None
        Shape of one row before it was flattened.
    key : str, default=None
        Path of the matrix that the block is, where a file has several for the same rows.
    label : str, default=None
        Column that tells what a row is, where the file has an obvious one.
    notes : tuple of str, default=()
        Sentences about what was found while reading.
    """

    columns: tuple[Column, ...]
    n_rows: int
    source: str
    has_names: bool = True
    block: npt.NDArray[Any] | None = None
    block_names: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    key: str | None = None
    label: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_wide(self) -> int:
        """Number of columns of the block."""
        return 0 if self.block is None else int(self.block.shape[1])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, those of the block first."""
        block_names = self.block_names or tuple(f"column{i + 1}" for i in range(self.n_wide))
        return (*block_names, *(column.name for column in self.columns))

    def column(self, position: int) -> Column:
        """Return the column at a position in `names`."""
        if self.block is None or position >= self.n_wide:
            return self.columns[position - self.n_wide]
        values = as_floats(self.block[:, position])
        return Column(self.names[position], values)


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float32 where it holds every number of a type exactly, else float64."""
    exact = np.can_cast(dtype, np.float32)
    return np.dtype(np.float32 if exact else np.float64)


def as_floats(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers of any real type as float32 or float64, copied only if they must be."""
    if values.dtype in (np.float32, np.float64) and values.dtype.isnative:
        return values
    # Extended precision beyond float64 becomes infinite; damaged files hold NaN that complain.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values, dtype=float_type(values.dtype))
