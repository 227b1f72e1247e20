"""Two tables of the same rows side by side, such as data and their map, however each is cut.

The table of fewer parts decides the parts of both. The rows of the other that belong to one of them
are read from the parts that overlap with it, so that hardly a row is read more than twice, and
every part can be read by itself, here or on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold._validation import check_same_rows
from isofold.blocks.protocol import RowBlocks, RowRules, TablePart, blocks_of
from isofold.exceptions import InvalidInputError

__all__ = ["PairedBlocks", "pair_blocks"]


def pair_blocks(first: RowBlocks, second: RowBlocks) -> RowBlocks:
    """Return a table with the columns of one table and then those of another, row by row.

    Parameters
    ----------
    first, second : RowBlocks
        Tables with the same rows in the same order, however each is cut. Rows that a table drops
        for missing values are no rows here.

    Returns
    -------
    RowBlocks
        The pair; on Dask if one of the tables is.

    Examples
    --------
    >>> import numpy as np
    >>> import isofold
    >>> from isofold.blocks import pair_blocks
    >>> first = isofold.read_blocks(np.arange(6.0).reshape(3, 2), rows=2)
    >>> second = isofold.read_blocks(np.ones((3, 1)))
    >>> pair_blocks(first, second).to_array()
    array([[0., 1., 1.],
           [2., 3., 1.],
           [4., 5., 1.]])
    """
    from isofold.blocks.dask_blocks import DaskBlocks

    if not isinstance(first, DaskBlocks) and not isinstance(second, DaskBlocks):
        return PairedBlocks(first, second)
    for blocks in (first, second):
        if blocks.rules.missing == "drop":
            msg = (
                "A Dask table with missing='drop' does not say which rows it drops before it is "
                "read, so that rows cannot be paired. Drop them first: X.dropna()."
            )
            raise InvalidInputError(msg)
    return _paired_on_dask(
        DaskBlocks.of_blocks(first).counted(), DaskBlocks.of_blocks(second).counted()
    )


class PairedBlocks(RowBlocks):
    """Blocks of two tables of the same rows, side by side.

    Parameters
    ----------
    first, second : RowBlocks
        The tables, with the same rows in the same order.
    """

    def __init__(self, first: RowBlocks, second: RowBlocks) -> None:
        self.rules = _joint_rules(first, second)
        counts = [_counts(blocks) for blocks in (first, second)]
        if None in counts:
            # Without numbers of rows both are read from their beginnings, at the same time.
            whole = [Side(tuple(b.parts()), b.rules) for b in (first, second)]
            self._parts = [PairedPart(whole[0], whole[1], None)]
            return
        spans = _shared_spans(*[count for count in counts if count is not None])
        self.n_rows = spans[-1][1] if spans else 0
        sides = zip(_sides(first, spans), _sides(second, spans), spans, strict=True)
        self._parts = [PairedPart(one, other, stop - start) for one, other, (start, stop) in sides]

    def parts(self) -> Sequence[PairedPart]:
        """Return the parts, in their order."""
        return self._parts


@dataclass(frozen=True, eq=False)
class Side:
    """Parts of one table that hold the rows of a pair.

    Attributes
    ----------
    parts : tuple of TablePart
        They follow each other.
    rules : RowRules
        What the rows must be.
    start : int
        Number of their first row in the table.
    skipped : int
        Rows before the first one that belongs to the pair.
    """

    parts: tuple[TablePart, ...]
    rules: RowRules
    start: int = 0
    skipped: int = 0

    def arrays(self) -> Iterator[FloatArray]:
        """Yield rows that follow each other."""
        start, skipped = self.start, self.skipped
        for part in self.parts:
            for block in blocks_of(part, start, self.rules):
                start = block.stop
                rows = block.rows[skipped:]
                skipped -= min(skipped, len(block.rows))
                if len(rows):
                    yield rows


@dataclass(frozen=True, eq=False)
class PairedPart:
    """A part of two tables.

    Attributes
    ----------
    first, second : Side
        Where its rows come from.
    n_rows : int or None
        Its rows; None if it goes on to the end of both tables.
    """

    first: Side
    second: Side
    n_rows: int | None

    @property
    def name(self) -> str:
        """Where it comes from."""
        return self.first.parts[0].name if self.first.parts else "X"

    def read(self) -> Iterator[FloatArray]:
        """Yield rows of both tables, in the blocks of the first."""
        seen, others = 0, _Queue(self.second.arrays())
        for array in self.first.arrays():
            rows = array if self.n_rows is None else array[: self.n_rows - seen]
            partners = others.take(len(rows))
            if len(partners) < len(rows):
                _refuse_end("Y", "X", self.second.start + seen + len(partners))
            yield np.hstack([rows, partners])
            seen += len(rows)
            if seen == self.n_rows:
                return
        if self.n_rows is not None or len(others.take(1)):
            _refuse_end("X", "Y", self.first.start + seen)


class _Queue:
    """Rows that arrive in arrays and are taken in other amounts."""

    def __init__(self, arrays: Iterator[FloatArray]) -> None:
        self._arrays = arrays
        self._waiting: list[FloatArray] = []

    def take(self, n: int) -> FloatArray:
        """Return the next n rows, or fewer at the end."""
        taken, missing = [], n
        while missing:
            array = self._waiting.pop() if self._waiting else next(self._arrays, None)
            if array is None:
                break
            taken.append(array[:missing])
            if len(array) > missing:
                self._waiting.append(array[missing:])
            missing -= len(taken[-1])
        if len(taken) == 1:
            return taken[0]
        return np.concatenate(taken) if taken else np.empty((0, 0))


def _joint_rules(first: RowBlocks, second: RowBlocks) -> RowRules:
    dtype = np.result_type(first.dtype, second.dtype)
    return RowRules(first.n_features + second.n_features, dtype, casts=True)


def _counts(blocks: RowBlocks) -> Sequence[int] | None:
    """Return the rows of every part, or None if they are known only after reading."""
    counts = [part.n_rows for part in blocks.parts()]
    if blocks.rules.missing == "drop" or None in counts:
        return None
    return [int(n or 0) for n in counts]


def _shared_spans(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of rows that the parts of the table of fewer parts hold."""
    check_same_rows(sum(first), sum(second))
    bounds = np.cumsum([0, *min(first, second, key=len)]).tolist()
    return [(a, b) for a, b in pairwise(bounds) if b > a]


def _sides(blocks: RowBlocks, spans: Sequence[tuple[int, int]]) -> Iterator[Side]:
    """Yield the parts that overlap with every span of rows."""
    parts = blocks.parts()
    starts = np.cumsum([0, *(int(part.n_rows or 0) for part in parts)])
    for start, stop in spans:
        first = int(np.searchsorted(starts, start, side="right")) - 1
        last = int(np.searchsorted(starts, stop, side="left"))
        before = int(starts[first])
        yield Side(tuple(parts[first:last]), blocks.rules, before, start - before)


def _paired_on_dask(first: Any, second: Any) -> RowBlocks:
    """Return pairs that tasks read from the partitions of both."""
    import dask

    from isofold.blocks.dask_blocks import DaskBlocks, LazyPart, RowReader

    pair = dask.delayed(_with_values, pure=False)
    pairs = PairedBlocks(first, second)
    reader = RowReader(pairs.rules)
    lazy = []
    for part in pairs.parts():
        tasks = [[_task(each) for each in side.parts] for side in (part.first, part.second)]
        # The tasks carry the rows; what is known about them travels beside.
        empty = _with_values(part, *([None] * len(each) for each in tasks))
        plan = dask.delayed(empty, pure=False, traverse=False)
        lazy.append(LazyPart(pair(plan, *tasks), part.name, part.n_rows, reader))
    return DaskBlocks(lazy, reader)


def _with_source(part: Any, value: Any) -> Any:
    """Return a part of a Dask table that is made of something else."""
    return replace(part, source=value)


def _task(part: Any) -> Any:
    """Return what makes a part of a Dask table."""
    return part.source


def _with_values(part: PairedPart, first: Sequence[Any], second: Sequence[Any]) -> PairedPart:
    """Return a pair of parts with other values in them: rows that have arrived, or none."""
    sides = []
    for side, values in ((part.first, first), (part.second, second)):
        arrived = zip(side.parts, values, strict=True)
        parts = tuple(_with_source(known, value) for known, value in arrived)
        sides.append(replace(side, parts=parts))
    return PairedPart(sides[0], sides[1], part.n_rows)


def _refuse_end(short: str, long: str, n: int) -> None:
    msg = (
        f"{short} ends after {n} rows, but {long} goes on: row i of both must be the same point. "
        f"Pass both tables for exactly the same samples, in the same order."
    )
    raise InvalidInputError(msg)
