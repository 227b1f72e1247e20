"""The label column of a table that is read block by block, as whole tables have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import IntArray
from isofold.blocks.columns import column_types, open_text
from isofold.blocks.files import read_explained
from isofold.exceptions import InvalidInputError
from isofold.tables.columnar import column_of, text_of
from isofold.tables.table import EXACT
from isofold.tables.text_safety import quoted

__all__ = ["LabelColumn", "LabelReader", "check_label"]

STEP = 2**18
"""Rows of labels that are in memory at once."""


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels in files that follow each other.

    Attributes
    ----------
    paths : tuple of Path
        The files.
    name : str
        Name of the column.
    is_text, is_whole, has_gaps : bool
        Whether labels are text; whether all numbers are whole; whether some are missing.
    """

    paths: tuple[Path, ...]
    name: str
    is_text: bool
    is_whole: bool
    has_gaps: bool

    @classmethod
    def of(cls, paths: tuple[Path, ...], name: str) -> LabelColumn:
        """Look at all labels, which tell what they are together."""
        is_text, is_whole, has_gaps = False, True, False
        for array in _arrays(paths, name):
            column = column_of(name, array)
            if column.kind == "text":
                is_text = True
                break
            known = column.values[~np.isnan(column.values)]
            has_gaps |= len(known) < len(column.values)
            is_whole &= bool(((known == np.round(known)) & (abs(known) < EXACT)).all())
        return cls(paths, name, is_text, is_whole, has_gaps)

    def batches(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the labels: text with "" for the missing, whole numbers as int64, else floats."""
        for array in _arrays(self.paths, self.name):
            if self.is_text:
                texts = [text or "" for text in text_of(array)]
                yield np.array([*texts, None], dtype=object)[:-1]
                continue
            values = column_of(self.name, array).values
            if self.is_whole and self.has_gaps:
                texts = ["" if np.isnan(value) else str(int(value)) for value in values]
                yield np.array([*texts, None], dtype=object)[:-1]
            else:
                yield values.astype(np.int64) if self.is_whole else values

    def at(self, rows: IntArray) -> npt.NDArray[Any]:
        """Return the labels of some rows, whose numbers ascend."""
        found, start = [], 0
        for values in self.batches():
            first, last = np.searchsorted(rows, [start, start + len(values)])
            found.append(values[rows[first:last] - start])
            start += len(values)
        return np.concatenate(found)


class LabelReader:
    """Reads labels along with blocks of rows that follow each other.

    Parameters
    ----------
    column : LabelColumn
        The column.
    """

    def __init__(self, column: LabelColumn) -> None:
        self._batches = column.batches()
        self._values: npt.NDArray[Any] = np.empty(0)
        self._start = 0

    def at(self, rows: IntArray) -> npt.NDArray[Any]:
        """Return the labels of rows behind those of the last call."""
        found, done = [], 0
        while done < len(rows):
            stop = self._start + len(self._values)
            last = int(np.searchsorted(rows, stop))
            if last > done:
                found.append(self._values[rows[done:last] - self._start])
                done = last
            if done < len(rows):
                self._start, self._values = stop, next(self._batches)
        return np.concatenate(found) if found else self._values[:0]


def check_label(paths: tuple[Path, ...], name: str) -> None:
    """Refuse a table if one of its files lacks the column of labels."""
    for path in paths:
        with read_explained(path):
            known = column_types(path)
        if name not in known:
            msg = (
                f"{quoted(path.name)[1:-1]}: there is no column {quoted(name)}, which holds the "
                f"labels. All files of a table need the same columns. Write this one with it."
            )
            raise InvalidInputError(msg)


def _arrays(paths: tuple[Path, ...], name: str) -> Iterator[Any]:
    """Yield the column as arrays of Arrow; those of a text file are text."""
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        with read_explained(path):
            if path.suffix.lower() in (".csv", ".tsv"):
                with open_text(path, {name: pa.string()}) as reader:
                    yield from (batch.column(0) for batch in reader)
            else:
                with parquet.ParquetFile(path, pre_buffer=False) as file:
                    batches = file.iter_batches(STEP, columns=[name], use_threads=False)
                    yield from (batch.column(0) for batch in batches)
