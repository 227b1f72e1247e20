"""Row blocks of what is in memory or looks like an array: arrays, memory maps, Zarr, sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from isofold._validation import refuse_sparse
from isofold.blocks.frames import FrameColumns, chosen_columns
from isofold.blocks.protocol import RowBlocks, RowRules, TablePart, default_rows, float_type
from isofold.exceptions import InvalidInputError

__all__ = ["ArrayBlocks", "SequenceBlocks", "plain_rows", "refuse_columns", "rules_for"]

READ_ONCE = (
    "A map takes two passes, and an iterator can be read only once. Pass a path, an array, a list "
    "of arrays, or a function that returns a new iterator at every call."
)


def rules_for(n_features: int, found: npt.DTypeLike, dtype: Any, missing: Any) -> RowRules:
    """Return the rules of a table, in the precision found or in a wanted one."""
    if dtype is None:
        return RowRules(n_features, float_type(found), missing=missing)
    if dtype not in ("float32", "float64", np.float32, np.float64):
        msg = f"dtype={dtype!r} must be float32, float64 or None."
        raise InvalidInputError(msg)
    return RowRules(n_features, np.dtype(dtype), casts=True, missing=missing)


def refuse_columns(name: str) -> NoReturn:
    """Refuse to choose columns by their names where they have none."""
    msg = (
        f"{name} has no names of columns, so columns=... cannot choose any. Leave it out, and pass "
        f"an array of only these columns."
    )
    raise InvalidInputError(msg)


def plain_rows(rows: Any) -> npt.NDArray[Any]:
    """Return rows as a plain array; masked entries are missing."""
    if isinstance(rows, np.ma.MaskedArray) and np.ma.is_masked(rows):
        return np.ma.filled(rows.astype(float_type(rows.dtype)), np.nan)
    return np.asarray(rows)


class ArrayBlocks(RowBlocks):
    """Blocks of what has a shape and slices of rows."""

    def __init__(
        self,
        array: Any,
        *,
        rows: int | None = None,
        dtype: Any = None,
        missing: Any = "error",
        name: str = "X",
    ) -> None:
        refuse_sparse(array, name=name)
        _refuse_other_shape(array.shape, name)
        self._array, self._name = array, name
        self.n_rows = int(array.shape[0])
        self.rules = rules_for(int(array.shape[1]), array.dtype, dtype, missing)
        self._step = rows or _whole_chunks(array, default_rows(self.n_features))

    def parts(self) -> Sequence[TablePart]:
        """Return slices of rows."""
        starts = range(0, int(self.n_rows or 0), self._step)
        return [
            _Slice(self._array, s, min(s + self._step, self.shape[0] or 0), self._name)
            for s in starts
        ]


def _whole_chunks(array: Any, rows: int) -> int:
    """Return a number of rows that holds whole chunks of a Zarr array, if it has chunks."""
    chunks = getattr(array, "chunks", None)
    if not chunks or not isinstance(chunks[0], int):
        return rows
    return max(1, rows // chunks[0]) * int(chunks[0])


def _refuse_other_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        msg = f"{name} has shape {tuple(shape)}, but a table has rows and columns."
        raise InvalidInputError(msg)


@dataclass(frozen=True, eq=False)
class _Slice:
    """Some rows of an array."""

    array: Any
    start: int
    stop: int
    name: str

    @property
    def n_rows(self) -> int:
        return self.stop - self.start

    def read(self) -> Iterator[npt.NDArray[Any]]:
        yield plain_rows(self.array[self.start : self.stop])


class SequenceBlocks(RowBlocks):
    """Tables that follow each other, from a list or from a function that makes an iterator.

    They are arrays, or data frames with the same columns.
    """

    def __init__(
        self,
        source: Sequence[Any] | Callable[[], Iterable[Any]],
        *,
        columns: Sequence[str] = (),
        rows: int | None = None,
        dtype: Any = None,
        missing: Any = "error",
    ) -> None:
        self._source = source
        first = next(iter(_made(source) if callable(source) else source), None)
        if first is None:
            msg = "X has no blocks. Pass at least one array of rows."
            raise InvalidInputError(msg)
        self._reader = _TableReader.of(first, columns, rows)
        table = self._reader.table(first, "X, block 0")
        _refuse_other_shape(table.shape, "X, block 0")
        self.names = self._reader.names
        self.rules = rules_for(int(table.shape[1]), table.dtype, dtype, missing)
        self.n_rows = None if callable(source) else sum(len(each) for each in source)

    def parts(self) -> Sequence[TablePart]:
        """Return one part for each table, or one for all that a function yields."""
        if callable(self._source):
            return [_Made(self._source, self._reader)]
        return [
            _Given(table, f"X, block {i}", self._reader) for i, table in enumerate(self._source)
        ]


def _made(source: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Return a new iterator; refuse a function that cannot make several."""
    try:
        first, second = iter(source()), iter(source())
    except TypeError as error:
        msg = f"The function {source!r} does not return an iterator of arrays: {error}."
        raise InvalidInputError(msg) from error
    if first is second:
        msg = f"The function {source!r} returned the same iterator twice. {READ_ONCE}"
        raise InvalidInputError(msg)
    return first


@dataclass(frozen=True)
class _TableReader:
    """Takes rows from arrays or data frames.

    Attributes
    ----------
    frame : FrameColumns or None
        The columns of data frames; None if there are arrays.
    chosen : tuple
        Columns that are read, if not all.
    step : int or None
        Rows of a block; None takes a table as it is.
    """

    frame: FrameColumns | None
    chosen: tuple[Any, ...]
    step: int | None

    @classmethod
    def of(cls, first: Any, columns: Sequence[str], step: int | None) -> _TableReader:
        """Return the reader of tables that are like a first one."""
        chosen = tuple(columns)
        if not hasattr(first, "iloc"):
            if chosen:
                refuse_columns("X")
            return cls(None, (), step)
        return cls(FrameColumns.of(first, chosen), chosen, step)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, if they have any."""
        return () if self.frame is None else self.frame.names

    def table(self, table: Any, name: str) -> npt.NDArray[Any]:
        """Return all rows of a table."""
        refuse_sparse(table, name=name)
        if self.frame is None:
            return plain_rows(table)
        return self.frame.rows(chosen_columns(table, self.chosen, name), name)

    def read(self, table: Any, name: str) -> Iterator[npt.NDArray[Any]]:
        """Yield rows of a table, not too many at a time."""
        rows = self.table(table, name)
        step = max(1, len(rows)) if self.step is None else self.step
        for start in range(0, max(1, len(rows)), step):
            yield rows[start : start + step]


@dataclass(frozen=True, eq=False)
class _Given:
    """A table of a list."""

    table: Any
    name: str
    reader: _TableReader

    @property
    def n_rows(self) -> int:
        return len(self.table)

    def read(self) -> Iterator[npt.NDArray[Any]]:
        yield from self.reader.read(self.table, self.name)


@dataclass(frozen=True, eq=False)
class _Made:
    """All tables that a function yields."""

    make: Callable[[], Iterable[Any]]
    reader: _TableReader
    name: str = "X"
    n_rows: None = None

    def read(self) -> Iterator[npt.NDArray[Any]]:
        for table in self.make():
            yield from self.reader.read(table, self.name)
