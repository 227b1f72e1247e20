"""Row blocks on Dask: a pass is a graph of tasks, one for every part, merged by a tree.

Nothing comes back to the client but the merged summary. Tasks are pure functions of their part, so
that one that is run again, because its worker was lost, gives the same bytes. A client of
`dask.distributed` is used if there is one, else Dask's threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._progress.stages import Stage, stage
from isofold._typing import FloatArray
from isofold.blocks.arrays import rules_for
from isofold.blocks.protocol import (
    Block,
    BlockMemory,
    Part,
    RowBlocks,
    RowRules,
    blocks_of,
    reduce_part,
)
from isofold.exceptions import InvalidInputError, ClusterError

__all__ = ["DaskBlocks"]

S = TypeVar("S")

MERGED_AT_ONCE = 8
"""Summaries that one task merges."""

RETRIES = 2
"""How often a task that failed is run again; one whose worker died is always."""


@dataclass(frozen=True, eq=False)
class LazyPart:
    """A part that a task makes: a `Part` that is read there, or the rows themselves.

    Attributes
    ----------
    task : Delayed or Part
        What makes it.
    name : str
        Where it comes from.
    n_rows : int or None
        Its rows, if they are known.
    """

    task: Any
    name: str
    n_rows: int | None

    def read(self) -> Iterator[npt.NDArray[Any]]:
        """Yield the rows, here."""
        is_lazy = hasattr(self.task, "__dask_graph__")
        value = self.task.compute() if is_lazy else self.task
        yield from _Rows(value, self.name).read()


@dataclass(frozen=True, eq=False)
class _Rows:
    """A part that has arrived: arrays and data frames are its rows, parts are read."""

    value: Any
    name: str

    @property
    def n_rows(self) -> int | None:
        return self.value.n_rows if hasattr(self.value, "read") else len(self.value)

    def read(self) -> Iterator[npt.NDArray[Any]]:
        if hasattr(self.value, "read"):
            yield from self.value.read()
        else:
            yield np.asarray(self.value)


class DaskBlocks(RowBlocks):
    """Parts that are read, mapped and summarized by tasks of Dask."""

    def __init__(
        self,
        parts: Sequence[LazyPart],
        rules: RowRules,
        names: Sequence[str] = (),
        collection: Any = None,
    ) -> None:
        self._parts, self.rules, self.names = tuple(parts), rules, tuple(names)
        self.collection = collection
        counts = [part.n_rows for part in parts]
        self.n_rows = None if None in counts else sum(n or 0 for n in counts)

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
            chosen = collection[list(columns)] if columns else collection
            names = tuple(map(str, chosen.columns))
            found = np.result_type(*chosen.dtypes) if len(names) else np.dtype(np.float64)
            tasks, counts = chosen.to_delayed(), [None] * chosen.npartitions
        else:
            chosen = collection.rechunk({1: -1})  # a block holds whole rows
            names, found, tasks = (), chosen.dtype, chosen.to_delayed().ravel()
            counts = [None if n != n else int(n) for n in chosen.chunks[0]]
        parts = [
            LazyPart(task, f"X, partition {number}", n)
            for number, (task, n) in enumerate(zip(tasks, counts, strict=True))
        ]
        width = len(names) or int(chosen.shape[1])
        return cls(parts, rules_for(width, found, dtype, missing), names, chosen)

    @classmethod
    def of_blocks(cls, blocks: RowBlocks) -> DaskBlocks:
        """Return other blocks, such as those of files, to be read where the tasks run."""
        if isinstance(blocks, DaskBlocks):
            return blocks
        parts = [LazyPart(part, part.name, part.n_rows) for part in blocks.parts()]
        return cls(parts, blocks.rules, blocks.names)

    def parts(self) -> Sequence[Part]:
        """Return the partitions, in their order."""
        return self._parts

    def counted(self) -> DaskBlocks:
        """Return the same blocks with a known number of rows in every part; may take a pass."""
        if self.n_rows is not None:
            return self
        count = _delayed(_count_rows)
        tasks = [count(part.task, part.name, self.rules) for part in self._parts]
        with _explained():
            counts = _compute(tasks)
        parts = [LazyPart(p.task, p.name, int(n)) for p, n in zip(self._parts, counts, strict=True)]
        return DaskBlocks(parts, self.rules, self.names, self.collection)

    def reduce(
        self,
        of: Callable[[Block], S],
        merge: Callable[[S, S], S],
        *,
        memory: BlockMemory | None = None,
        name: str = "read blocks",
    ) -> S | None:
        """Return the merged summaries of all blocks; only they come back from the workers."""
        if self.n_rows is None:
            return self.counted().reduce(of, merge, memory=memory, name=name)
        starts = np.cumsum([0, *(part.n_rows or 0 for part in self._parts)])
        with _explained(), stage(name, total=len(self._parts)) as steps:
            work = sent(partial(_reduce, of=of, merge=merge, memory=memory, rules=self.rules))
            run = _delayed(_call)
            leaves = [
                run(work, part.task, part.name, int(start))
                for part, start in zip(self._parts, starts[:-1], strict=True)
            ]
            return _merged(leaves, partial(_merge_all, merge=merge), steps) if leaves else None

    def mapped(
        self,
        function: Callable[[FloatArray], FloatArray],
        n_features: int,
        names: Sequence[str],
    ) -> Any:
        """Return a lazy collection of the same kind: what a row-wise function makes of the rows."""
        work = sent(partial(_map_rows, function=function, rules=self.rules))
        if hasattr(self.collection, "columns"):
            return self._mapped_frame(work, n_features, names)
        from dask import array

        run = _delayed(_call)
        tables = [
            array.from_delayed(
                run(work, part.task, part.name),
                (np.nan if part.n_rows is None else part.n_rows, n_features),
                dtype=self.dtype,
            )
            for part in self._parts
        ]
        return array.concatenate(tables, axis=0)

    def _mapped_frame(self, work: Any, n_features: int, names: Sequence[str]) -> Any:
        import pandas as pd

        meta = pd.DataFrame({name: pd.Series(dtype=self.dtype) for name in names})
        return self.collection.map_partitions(_map_frame, work, meta=meta)


def _reduce(
    value: Any,
    name: str,
    start: int,
    *,
    of: Callable[[Block], S],
    merge: Callable[[S, S], S],
    memory: BlockMemory | None,
    rules: RowRules,
) -> S | None:
    return reduce_part(_Rows(value, name), start, rules, of, merge, memory)


def _map_rows(
    value: Any, name: str, *, function: Callable[[FloatArray], FloatArray], rules: RowRules
) -> FloatArray:
    return np.concatenate(
        [function(block.rows) for block in blocks_of(_Rows(value, name), 0, rules)]
    )


def _map_frame(frame: Any, work: Callable[..., FloatArray]) -> Any:
    """Return the image of a partition of a data frame, with its index."""
    import pandas as pd

    images = work(frame, "X") if len(frame) else None
    names = [f"x{axis + 1}" for axis in range(images.shape[1])] if images is not None else []
    return pd.DataFrame(images, index=frame.index, columns=names)


def _count_rows(value: Any, name: str, rules: RowRules) -> int:
    part = _Rows(value, name)
    if part.n_rows is not None:
        return part.n_rows
    return sum(len(array) for array in part.read())


def _call(function: Callable[..., S], *arguments: Any) -> S:
    return function(*arguments)


def _merge_all(summaries: Sequence[S | None], *, merge: Callable[[S, S], S]) -> S | None:
    total: S | None = None
    for summary in summaries:
        if summary is not None:
            total = summary if total is None else merge(total, summary)
    return total


def current_client() -> Any:
    """Return the client of `dask.distributed` that is in force here, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client(timeout=0)
    except ValueError:
        return None


def sent(function: Callable[..., Any]) -> Any:
    """Return a function, with the model in it, as one value that all tasks share.

    On a client it is a task of its own: a worker that is lost with it can make it again, and the
    graphs of tasks stay small.
    """
    client = current_client()
    if client is None:
        return _delayed_value(function)
    import cloudpickle
    from dask import config

    packed = cloudpickle.dumps(function)
    with config.set({"distributed.admin.large-graph-warning-threshold": "10GB"}):
        return client.submit(cloudpickle.loads, packed, pure=False)


def _delayed(function: Callable[..., Any]) -> Any:
    dask = require("dask", extra="dask", purpose="Working on Dask collections")
    return dask.delayed(function, pure=False)


def _delayed_value(value: Any) -> Any:
    dask = require("dask", extra="dask", purpose="Working on Dask collections")
    return dask.delayed(value, pure=False, traverse=False)


def _compute(tasks: Sequence[Any]) -> Sequence[Any]:
    import dask

    client = current_client()
    if client is None:
        return dask.compute(*tasks)
    return client.gather(client.compute(list(tasks), retries=RETRIES))


def _merged(leaves: Sequence[Any], merge: Callable[[Sequence[Any]], Any], steps: Stage) -> Any:
    """Return the value at the root of a tree of merges; everything below stays on the workers."""
    client = current_client()
    if client is None:
        level = list(leaves)
        while len(level) > 1:
            level = [_delayed(merge)(group) for group in _groups(level)]
        return level[0].compute()
    from distributed import as_completed

    futures = client.compute(list(leaves), retries=RETRIES)
    for _ in as_completed(futures, raise_errors=False):
        steps.advance()
    while len(futures) > 1:
        futures = [
            client.submit(merge, group, pure=False, retries=RETRIES) for group in _groups(futures)
        ]
    return futures[0].result()


def _groups(items: Sequence[Any]) -> list[list[Any]]:
    return [list(items[i : i + MERGED_AT_ONCE]) for i in range(0, len(items), MERGED_AT_ONCE)]


@contextmanager
def _explained() -> Iterator[None]:
    """Turn the loss of a scheduler or of all workers into an error of isofold."""
    if "distributed" not in sys.modules:
        yield
        return
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        msg = (
            f"Dask gave up on a block, because several workers died while they worked on it: "
            f"{error}. They may lack memory. Use smaller partitions, or workers with more memory."
        )
        raise ClusterError(msg) from error
    except (CommClosedError, CancelledError, TimeoutError) as error:
        msg = (
            f"The connection to the Dask scheduler was lost ({type(error).__name__}: {error}). The "
            f"work of its tasks is lost with it. Connect to a running scheduler and start again; "
            f"with a checkpoint, finished blocks are kept."
        )
        raise ClusterError(msg) from error
