"""The one protocol for tables that come in blocks of rows, and for a pass over them.

A table is a sequence of parts, each of which can be read by itself, here or on another machine, and
gives one or more blocks. A pass makes a small summary of every block and merges the summaries:

    pass(table) = merge(of(block 1), merge(of(block 2), ...))

Summaries do not depend on how rows are cut into blocks, nor on the order in which blocks arrive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from isofold._findings import Value
from isofold._memory import BLOCK_BYTES
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_finite
from isofold.exceptions import InvalidInputError

__all__ = [
    "Block",
    "BlockMemory",
    "MappedBlocks",
    "RowBlocks",
    "RowRules",
    "TablePart",
    "reduce_part",
]

Missing = Literal["error", "drop", "keep"]

UNDEFINED = "Distances to such a point are undefined."
IN_SHELL = f"{UNDEFINED} Remove or correct such rows of the file."
GAP_ADVICE = Value(
    f"{UNDEFINED} Correct such values, or open the table with missing='drop', which leaves rows "
    f"with NaN out.",
    IN_SHELL,
)
INFINITE_ADVICE = Value(
    f"{UNDEFINED} Correct these values, or mark them as missing (NaN).", IN_SHELL
)

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a table that follow each other.

    Attributes
    ----------
    start : int
        Number of its first row in the whole table. It identifies rows in whatever order and size
        blocks arrive.
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    name : str, default="X"
        Where they come from, for error messages.
    kept : ndarray of int of shape (n_rows,) or None, default=None
        Which rows of the block these are, counted from its start, if rows were dropped.
    n_read : int or None, default=None
        Rows that the block had before some were dropped; None if none were.
    """

    start: int
    rows: FloatArray
    name: str = "X"
    kept: IntArray | None = None
    n_read: int | None = None

    @property
    def stop(self) -> int:
        """Number of the row behind its last one."""
        return self.start + (len(self.rows) if self.n_read is None else self.n_read)

    @property
    def numbers(self) -> IntArray:
        """The number of every row in the whole table."""
        inside = np.arange(len(self.rows)) if self.kept is None else self.kept
        return self.start + inside


class TablePart(Protocol):
    """A stretch of a table that can be read by itself, here or elsewhere."""

    @property
    def name(self) -> str:
        """Where it comes from, for error messages."""
        ...

    @property
    def n_rows(self) -> int | None:
        """Its rows; None if they are known only after reading."""
        ...

    def read(self) -> Iterator[npt.NDArray[Any]]:
        """Yield arrays of rows that follow each other."""
        ...


class BlockMemory(Protocol):
    """Summaries of blocks that an earlier run of the same pass has made."""

    def recall(self, start: int, stop: int | None) -> Any:
        """Return the summary of the rows from `start` on and where they end, or None."""
        ...

    def keep(self, block: Block, summary: Any) -> None:
        """Remember the summary of a block."""
        ...


@dataclass(frozen=True)
class RowRules:
    """What every block of a table must be, and what is done to it.

    Attributes
    ----------
    n_features : int
        Number of columns.
    dtype : dtype
        float32 or float64.
    casts : bool, default=False
        Whether numbers of another precision are converted; else they are refused.
    missing : {"error", "drop", "keep"}, default="error"
        What happens to rows with NaN.
    """

    n_features: int
    dtype: np.dtype[Any]
    casts: bool = False
    missing: Missing = "error"

    def block(self, start: int, array: npt.NDArray[Any], name: str) -> Block:
        """Return rows as a block, or refuse them."""
        stop = start + len(array)
        name = f"{name}, rows {start:,} to {stop - 1:,}" if stop > start else name
        self._refuse_other_shape(array, name)
        rows = as_floats(array, name)
        if rows.dtype != self.dtype and not self.casts:
            msg = (
                f"{name}: this block holds {array.dtype} numbers, but the first one {self.dtype}. "
                f"A map has one precision. Write all in one, or read the table in Python with "
                f"dtype='float64', which converts it."
            )
            raise InvalidInputError(msg)
        with np.errstate(over="ignore"):  # what is too large is infinite, and refused
            block = Block(start, rows.astype(self.dtype, copy=False), name)
        return self._without_missing(block)

    def _refuse_other_shape(self, array: npt.NDArray[Any], name: str) -> None:
        if array.ndim != 2:
            msg = f"{name}: this block has shape {array.shape}, but a table has rows and columns."
            raise InvalidInputError(msg)
        if array.shape[1] != self.n_features:
            msg = (
                f"{name}: this block has {array.shape[1]} columns, but the first one has "
                f"{self.n_features}. All blocks of a table need the same columns."
            )
            raise InvalidInputError(msg)

    def _without_missing(self, block: Block) -> Block:
        """Return the block as it goes on, with rows that lack a value dropped, kept or refused."""
        if self.missing == "error":
            check_finite(block.rows, name=block.name, advice=GAP_ADVICE, start=block.start)
            return block
        gaps = np.isnan(block.rows)
        finite = np.where(gaps, 0.0, block.rows)
        check_finite(finite, name=block.name, advice=INFINITE_ADVICE, start=block.start)
        if self.missing == "keep" or not gaps.any():
            return block
        kept = np.flatnonzero(~gaps.any(axis=1))
        return replace(block, rows=block.rows[kept], kept=kept, n_read=len(block.rows))


class RowBlocks(ABC):
    """A table that is read block by block, as often as needed.

    Every embedder takes it in `fit`, `fit_transform` and `transform`. `isofold.read_blocks` makes
    it of files, arrays, Zarr and Dask.

    Attributes
    ----------
    rules : RowRules
        Number of columns and precision of all blocks, and what happens to missing values.
    n_rows : int or None
        Number of rows; None if it is known only after a pass.
    names : tuple of str
        Names of the columns; empty if they have none.
    """

    rules: RowRules
    n_rows: int | None = None
    names: tuple[str, ...] = ()

    @abstractmethod
    def parts(self) -> Sequence[TablePart]:
        """Return the parts, in their order."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.rules.n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the rows."""
        return self.rules.dtype

    @property
    def shape(self) -> tuple[int | None, int]:
        """Rows, if their number is known, and columns."""
        return self.n_rows, self.n_features

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks in their order, checked."""
        start = 0
        for part in self.parts():
            for block in blocks_of(part, start, self.rules):
                yield block
                start = block.stop

    def counted(self) -> RowBlocks:
        """Return the same blocks; their number of rows is known, if that is worth a pass."""
        return self

    def reduce(
        self,
        of: Callable[[Block], S],
        merge: Callable[[S, S], S],
        *,
        memory: BlockMemory | None = None,
        name: str = "read blocks",
    ) -> S | None:
        """Return the merged summaries of all blocks that have rows; None if there are none."""
        total: S | None = None
        start = 0
        with stage(name, total=self.n_rows) as steps:
            for part in self.parts():
                for end, summary in summaries_of(part, start, self.rules, of, memory):
                    steps.advance(end - start)
                    start = end
                    if summary is not None:
                        total = summary if total is None else merge(total, summary)
        return total

    def to_array(self) -> FloatArray:
        """Return all rows in memory, in their order."""
        blocks = [block.rows for block in self]
        return np.concatenate([np.empty((0, self.n_features), dtype=self.dtype), *blocks])

    def __repr__(self) -> str:
        rows = "unknown number of" if self.n_rows is None else f"{self.n_rows:,}"
        return f"<{type(self).__name__}: {rows} rows, {self.n_features} columns, {self.dtype}>"


class MappedBlocks(RowBlocks):
    """Blocks that a row-wise function makes of others, computed whenever they are read.

    Parameters
    ----------
    source : RowBlocks
        The other blocks.
    function : callable
        Maps an array of rows, each row by itself.
    n_features : int
        Number of columns that it returns.
    names : sequence of str, default=()
        Their names.
    """

    def __init__(
        self,
        source: RowBlocks,
        function: Callable[[FloatArray], FloatArray],
        n_features: int,
        names: Sequence[str] = (),
    ) -> None:
        self.source, self.function, self.names = source, function, tuple(names)
        self.rules = RowRules(n_features, source.dtype)
        # Rows with gaps may be dropped on the way.
        self.n_rows = None if source.rules.missing == "drop" else source.n_rows

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks in their order."""
        for block in self.source:
            yield replace(block, rows=mapped_rows(self.function, block.rows, self.n_features))

    def reduce(
        self,
        of: Callable[[Block], S],
        merge: Callable[[S, S], S],
        *,
        memory: BlockMemory | None = None,
        name: str = "read blocks",
    ) -> S | None:
        """Return the merged summaries of all blocks, made where those of the source are."""
        return self.source.reduce(_OfMapped(of, self.function), merge, memory=memory, name=name)

    def parts(self) -> Sequence[TablePart]:
        """Return the parts, in their order."""
        rules, n_features = self.source.rules, self.n_features
        return [_MappedPart(part, rules, self.function, n_features) for part in self.source.parts()]


@dataclass(frozen=True, eq=False)
class _OfMapped:
    """A summary of what a function makes of a block."""

    of: Callable[[Block], Any]
    function: Callable[[FloatArray], FloatArray]

    def __call__(self, block: Block) -> Any:
        return self.of(replace(block, rows=self.function(block.rows)))


@dataclass(frozen=True, eq=False)
class _MappedPart:
    """A part whose rows a function maps."""

    part: TablePart
    rules: RowRules
    function: Callable[[FloatArray], FloatArray]
    n_features: int

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def n_rows(self) -> int | None:
        return None if self.rules.missing == "drop" else self.part.n_rows

    def read(self) -> Iterator[npt.NDArray[Any]]:
        for block in blocks_of(self.part, 0, self.rules):
            yield mapped_rows(self.function, block.rows, self.n_features)


def mapped_rows(
    function: Callable[[FloatArray], FloatArray], rows: FloatArray, n_features: int
) -> FloatArray:
    """Return what a function makes of rows; of none it makes none."""
    return function(rows) if len(rows) else np.empty((0, n_features), dtype=rows.dtype)


def blocks_of(part: TablePart, start: int, rules: RowRules) -> Iterator[Block]:
    """Yield the checked blocks of a part whose first row has a given number."""
    for array in part.read():
        block = rules.block(start, array, part.name)
        yield block
        start = block.stop


def summaries_of(
    part: TablePart,
    start: int,
    rules: RowRules,
    of: Callable[[Block], S],
    memory: BlockMemory | None,
) -> Iterator[tuple[int, S | None]]:
    """Yield where every block of a part ends, and its summary, which may be remembered."""
    if memory is not None and part.n_rows is not None:
        known = memory.recall(start, start + part.n_rows)
        if known is not None:
            yield start + part.n_rows, known
            return
    for block in blocks_of(part, start, rules):
        summary = None
        if len(block.rows):
            summary = None if memory is None else memory.recall(block.start, block.stop)
            if summary is None:
                summary = of(block)
                if memory is not None:
                    memory.keep(block, summary)
        yield block.stop, summary


def reduce_part(
    part: TablePart,
    start: int,
    rules: RowRules,
    of: Callable[[Block], S],
    merge: Callable[[S, S], S],
    memory: BlockMemory | None = None,
) -> S | None:
    """Return the merged summaries of one part; None if it has no rows."""
    total: S | None = None
    for _, summary in summaries_of(part, start, rules, of, memory):
        if summary is not None:
            total = summary if total is None else merge(total, summary)
    return total


def default_rows(n_features: int) -> int:
    """Return the rows of a block of numbers of double precision."""
    return max(1, BLOCK_BYTES // (8 * max(1, n_features)))


def float_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the precision in which numbers of a type are computed with."""
    kind = np.dtype(dtype).newbyteorder("=")
    return kind if kind in (np.float32, np.float64) else np.dtype(np.float64)


def as_floats(array: npt.NDArray[Any], name: str) -> FloatArray:
    """Return real numbers as float32 or float64, or refuse what are none."""
    if array.dtype.kind not in "biuf":
        msg = f"{name}: this block holds {array.dtype}, but features are real numbers."
        raise InvalidInputError(msg)
    return array.astype(float_type(array.dtype), copy=False)
