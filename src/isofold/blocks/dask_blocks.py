"""Row blocks on Dask: arrays and data frames whose partitions are read where the tasks run.

Nothing comes back to the client but the merged summary of a pass; what rows are mapped to stays
with the workers, as a lazy collection of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, TypeVar, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.blocks.arrays import plain_rows, refuse_columns, rules_for
from isofold.blocks.dask_graph import Task, gathered, merged, merged_and_kept, sent
from isofold.blocks.frames import FrameColumns, chosen_columns
from isofold.blocks.protocol import (
    Block,
    BlockMemory,
    RowBlocks,
    RowRules,
    TablePart,
    blocks_of,
    reduce_part,
)
from isofold.exceptions import InvalidInputError

__all__ = ["DaskBlocks"]

S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class LazyPart:
    """A part that a task makes: a `TablePart` that is read there, or the rows themselves.

    Attributes
    ----------
    source : Delayed or TablePart
        What makes it.
    name : str
        Where it comes from.
    n_rows : int or None
        Its rows, if they are known.
    reader : RowReader
        How the rows are taken from it.
    """

    source: Any
    name: str
    n_rows: int | None
    reader: RowReader

    def read(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the rows, here."""
        is_lazy = hasattr(self.source, "__dask_graph__")
        value = self.source.compute() if is_lazy else self.source
        yield from self.reader.part(value, self.name).read()


@dataclass(frozen=True)
class RowReader:
    """Takes rows from what has arrived where a task runs.

    Attributes
    ----------
    rules : RowRules
        What every block must be.
    columns : FrameColumns or None
        Columns of data frames; None if there are arrays.
    """

    rules: RowRules
    columns: FrameColumns | None = None

    def part(self, value: Any, name: str) -> TablePart:
        """Return a part that has arrived: arrays and data frames are its rows, parts are read."""
        if hasattr(value, "read"):
            part: TablePart = value
            return part
        rows = plain_rows(value) if self.columns is None else self.columns.rows(value, name)
        return _ArrivedRows(rows, name)

    def blocks(self, value: Any, name: str, start: int | None) -> Iterator[Block]:
        """Yield the checked blocks."""
        return blocks_of(self.part(value, name), start or 0, self.rules)


@dataclass(frozen=True, eq=False)
class _ArrivedRows:
    """Rows that have arrived."""

    rows: npt.NDArray[Any]
    name: str

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def read(self) -> Iterator[npt.NDArray[Any]]:
        yield self.rows


class DaskBlocks(RowBlocks):
    """Parts that are read, mapped and summarized by tasks of Dask."""

    def __init__(
        self,
        parts: Sequence[LazyPart],
        reader: RowReader,
        names: Sequence[str] = (),
        collection: Any = None,
    ) -> None:
        self._parts, self._reader, self.names = tuple(parts), reader, tuple(names)
        self.rules = reader.rules
        self.collection = collection
        counts = [part.n_rows for part in parts]
        self.n_rows = None if None in counts else sum(n or 0 for n in counts)
        self._counted: DaskBlocks | None = None if self.n_rows is None else self

    @classmethod
    def of_collection(
        cls,
        collection: Any,
        *,
        columns: Sequence[str] = (),
        dtype: Any = None,
        missing: Any = "error",
    ) -> Self:
        """Return the partitions of a Dask array or data frame."""
        if collection.ndim != 2:
            msg = f"X has {collection.ndim} dimension(s), but a table has rows and columns."
            raise InvalidInputError(msg)
        if hasattr(collection, "columns"):
            chosen = chosen_columns(collection, columns, "X")
            own = FrameColumns.of(chosen)
            rules = rules_for(len(own.labels), own.dtype, dtype, missing)
            reader, names = RowReader(rules, own), own.names
            sources = chosen.to_delayed()
            counts: list[int | None] = [None] * len(sources)
        else:
            _refuse_unknown_width(collection, columns)
            chosen = collection.rechunk({1: -1})  # a block holds whole rows
            rules = rules_for(int(chosen.shape[1]), chosen.dtype, dtype, missing)
            reader, names = RowReader(rules), ()
            sources = chosen.to_delayed().ravel()
            counts = [None if n != n else int(n) for n in chosen.chunks[0]]
        parts = [
            LazyPart(source, f"X, partition {number}", n, reader)
            for number, (source, n) in enumerate(zip(sources, counts, strict=True))
        ]
        return cls(parts, reader, names, chosen)

    @classmethod
    def of_blocks(cls, blocks: RowBlocks) -> DaskBlocks:
        """Return other blocks, such as those of files, to be read where the tasks run."""
        if isinstance(blocks, DaskBlocks):
            return blocks
        reader = RowReader(blocks.rules)
        parts = [LazyPart(part, part.name, part.n_rows, reader) for part in blocks.parts()]
        return cls(parts, reader, blocks.names)

    def parts(self) -> Sequence[TablePart]:
        """Return the partitions, in their order."""
        return self._parts

    def counted(self) -> RowBlocks:
        """Return the same blocks with a known number of rows in every part; takes a pass once."""
        if self._counted is None:
            with stage("count rows"):
                counts = gathered(self._tasks_to_count(), _count_rows)
            parts = [replace(p, n_rows=n) for p, n in zip(self._parts, counts, strict=True)]
            self._counted = DaskBlocks(parts, self._reader, self.names, self.collection)
        return self._counted

    def reduce(
        self,
        of: Callable[[Block], S],
        merge: Callable[[S, S], S],
        *,
        memory: BlockMemory | None = None,
        name: str = "read blocks",
    ) -> S | None:
        """Return the merged summaries of all blocks; only they come back from the workers."""
        tasks = self._tasks()
        if not tasks:
            return None
        work = partial(_reduce, of=of, merge=merge, memory=memory, reader=self._reader)
        with stage(name, total=len(tasks)) as steps:
            return merged(tasks, work, partial(_merge_all, merge=merge), steps)

    def reduce_and_map(
        self,
        of: Callable[[Block], tuple[S, FloatArray]],
        merge: Callable[[S, S], S],
        n_features: int,
        names: Sequence[str],
        *,
        name: str = "read blocks",
    ) -> tuple[S | None, Any]:
        """Return merged summaries, and the rows made beside them: a collection kept by workers."""
        tasks = self._tasks()
        images = Images(n_features, tuple(names), self.dtype, self._is_frame)
        work = partial(_reduce_and_map, of=of, merge=merge, reader=self._reader, images=images)
        with stage(name, total=len(tasks)) as steps:
            total, kept = merged_and_kept(tasks, work, partial(_merge_all, merge=merge), steps)
        return total, self._kept_frame(kept, images) if self._is_frame else self._array(
            dict(enumerate(kept)), (), images
        )

    def mapped(
        self,
        function: Callable[[FloatArray], FloatArray],
        n_features: int,
        names: Sequence[str],
    ) -> Any:
        """Return a lazy collection of the same kind: what a row-wise function makes of the rows."""
        images = Images(n_features, tuple(names), self.dtype, self._is_frame)
        work = sent(partial(_map_part, function=function, reader=self._reader, images=images))
        if self._is_frame:
            return self.collection.map_partitions(_map_frame, work, meta=images.empty_frame())
        # A future stands for itself in a graph, a delayed value for its key.
        given = work.key if hasattr(work, "__dask_graph__") else work
        tasks = self._known_tasks()
        chunks = {number: task.call(given) for number, task in enumerate(tasks)}
        return self._array(chunks, [work, *(task.source for task in tasks)], images)

    @property
    def _is_frame(self) -> bool:
        return hasattr(self.collection, "columns")

    def _tasks(self) -> list[Task]:
        """Return a task for every part, which knows the number of its first row."""
        self.counted()
        return self._known_tasks()

    def _known_tasks(self) -> list[Task]:
        """Return a task for every part, with the number of its first row where that is known."""
        tasks, start = [], cast("int | None", 0)
        for part in self._parts if self._counted is None else self._counted._parts:
            tasks.append(Task(part.source, part.name, start))
            start = None if start is None or part.n_rows is None else start + part.n_rows
        return tasks

    def _tasks_to_count(self) -> list[Task]:
        """Return tasks that see the rows; one column of data frames, so that files read no more."""
        if not self._is_frame:
            return [Task(part.source, part.name) for part in self._parts]
        narrow = self.collection[[self.collection.columns[0]]].to_delayed()
        return [Task(source, p.name) for source, p in zip(narrow, self._parts, strict=True)]

    def _array(self, chunks: dict[int, Any], dependencies: Sequence[Any], images: Images) -> Any:
        """Return an array of Dask whose chunks are given by tasks."""
        from dask import array
        from dask.highlevelgraph import HighLevelGraph

        name = f"isofold-images-{uuid4().hex}"
        # Nobody knows yet how many rows are dropped.
        known = self.rules.missing != "drop"
        rows = [np.nan if p.n_rows is None or not known else p.n_rows for p in self._parts]
        layer: dict[Any, Any] = {(name, number, 0): chunk for number, chunk in chunks.items()}
        lazy = [each for each in dependencies if hasattr(each, "__dask_graph__")]
        graph = HighLevelGraph.from_collections(name, layer, dependencies=lazy)
        return array.Array(graph, name, (tuple(rows), (images.n_features,)), dtype=self.dtype)

    def _kept_frame(self, kept: Sequence[Any], images: Images) -> Any:
        """Return a data frame of Dask with these partitions."""
        from dask import dataframe, delayed

        partitions = [
            each if hasattr(each, "key") else delayed(each, pure=False, traverse=False)
            for each in kept
        ]
        return dataframe.from_delayed(
            partitions,
            meta=images.empty_frame(),
            divisions=self.collection.divisions,
            verify_meta=False,
        )


def _refuse_unknown_width(array: Any, columns: Sequence[str]) -> None:
    """Refuse an array that does not say how many columns it has, or what they are called."""
    if columns:
        refuse_columns("X")
    if array.shape[1] != array.shape[1]:
        msg = (
            "X is a Dask array that does not know its number of columns. Call "
            "X.compute_chunk_sizes() first."
        )
        raise InvalidInputError(msg)


@dataclass(frozen=True)
class Images:
    """What rows are mapped to: arrays, or data frames that keep the index.

    Attributes
    ----------
    n_features : int
        Number of columns.
    names : tuple of str
        Their names.
    dtype : dtype
        Their precision.
    in_frames : bool
        Whether they come in data frames.
    """

    n_features: int
    names: tuple[str, ...]
    dtype: np.dtype[Any]
    in_frames: bool

    def of(self, value: Any, blocks: Sequence[Block]) -> Any:
        """Return the images of a partition: blocks that hold images instead of rows."""
        none = np.empty((0, self.n_features), dtype=self.dtype)
        table = np.concatenate([none, *(block.rows for block in blocks)])
        if not self.in_frames:
            return table
        import pandas as pd

        rows = [block.numbers - blocks[0].start for block in blocks]
        kept = np.concatenate([np.empty(0, dtype=np.intp), *rows])
        return pd.DataFrame(table, index=value.index[kept], columns=list(self.names))

    def empty_frame(self) -> Any:
        """Return a data frame of this kind without rows."""
        import pandas as pd

        return pd.DataFrame({name: pd.Series(dtype=self.dtype) for name in self.names})


def _reduce(
    value: Any,
    name: str,
    start: int | None,
    *,
    of: Callable[[Block], S],
    merge: Callable[[S, S], S],
    memory: BlockMemory | None,
    reader: RowReader,
) -> S | None:
    return reduce_part(reader.part(value, name), start or 0, reader.rules, of, merge, memory)


def _reduce_and_map(
    value: Any,
    name: str,
    start: int | None,
    *,
    of: Callable[[Block], tuple[S, FloatArray]],
    merge: Callable[[S, S], S],
    reader: RowReader,
    images: Images,
) -> tuple[S | None, Any]:
    pairs = [(block, of(block)) for block in reader.blocks(value, name, start) if len(block.rows)]
    total = _merge_all([summary for _, (summary, _) in pairs], merge=merge)
    return total, images.of(value, [replace(block, rows=rows) for block, (_, rows) in pairs])


def _map_part(
    value: Any,
    name: str,
    start: int | None,
    *,
    function: Callable[[FloatArray], FloatArray],
    reader: RowReader,
    images: Images,
) -> Any:
    blocks = [block for block in reader.blocks(value, name, start) if len(block.rows)]
    return images.of(value, [replace(block, rows=function(block.rows)) for block in blocks])


def _map_frame(frame: Any, work: Callable[..., Any], partition_info: Any = None) -> Any:
    """Return the image of a partition of a data frame, with its index."""
    number = partition_info["number"] if partition_info else 0
    return work(frame, f"X, partition {number}", None)


def _count_rows(value: Any, *_: Any) -> int:
    """Return the rows of a part; they are checked when they are used."""
    if not hasattr(value, "read"):
        return len(value)
    return sum(len(rows) for rows in value.read()) if value.n_rows is None else int(value.n_rows)


def _merge_all(summaries: Sequence[S | None], *, merge: Callable[[S, S], S]) -> S | None:
    total: S | None = None
    for summary in summaries:
        if summary is not None:
            total = summary if total is None else merge(total, summary)
    return total
