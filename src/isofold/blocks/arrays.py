"""Row blocks of what is in memory or looks like an array: arrays, memory maps, Zarr, sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.blocks.protocol import RowBlocks, RowRules, TablePart, default_rows, float_type
from isofold.exceptions import InvalidInputError

__all__ = ["ArrayBlocks", "SequenceBlocks", "rules_for"]


def rules_for(n_features: int, found: npt.DTypeLike, dtype: Any, missing: Any) -> RowRules:
    """Return the rules of a table, in the precision found or in a wanted one."""
    if dtype is None:
        return RowRules(n_features, float_type(found), missing=missing)
    wanted = np.dtype(dtype)
    if wanted not in (np.float32, np.float64):
        msg = f"dtype={dtype!r} must be float32, float64 or None."
        raise InvalidInputError(msg)
    return RowRules(n_features, wanted, casts=True, missing=missing)


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
        yield np.asarray(self.array[self.start : self.stop])


class SequenceBlocks(RowBlocks):
    """Arrays that follow each other, from a list or from a function that makes an iterator."""

    def __init__(
        self,
        source: Sequence[Any] | Callable[[], Iterable[Any]],
        *,
        dtype: Any = None,
        missing: Any = "error",
    ) -> None:
        self._source = source
        first = next(iter(source() if callable(source) else source), None)
        if first is None:
            msg = "X has no blocks. Pass at least one array of rows."
            raise InvalidInputError(msg)
        table = np.asarray(first)
        if table.ndim != 2:
            msg = f"X, block 0 has shape {table.shape}, but a block is a table of rows and columns."
            raise InvalidInputError(msg)
        self.rules = rules_for(int(table.shape[1]), table.dtype, dtype, missing)
        self.n_rows = None if callable(source) else sum(len(each) for each in source)

    def parts(self) -> Sequence[TablePart]:
        """Return one part for each array, or one for all that a function yields."""
        if callable(self._source):
            return [_Made(self._source)]
        return [_Given(array, f"X, block {i}") for i, array in enumerate(self._source)]


@dataclass(frozen=True, eq=False)
class _Given:
    """An array of a list."""

    array: Any
    name: str

    @property
    def n_rows(self) -> int:
        return len(self.array)

    def read(self) -> Iterator[npt.NDArray[Any]]:
        yield np.asarray(self.array)


@dataclass(frozen=True, eq=False)
class _Made:
    """All arrays that a function yields."""

    make: Callable[[], Iterable[Any]]
    name: str = "X"
    n_rows: None = None

    def read(self) -> Iterator[npt.NDArray[Any]]:
        for array in self.make():
            yield np.asarray(array)
