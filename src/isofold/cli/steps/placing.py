"""Rows of a table in blocks: placed, kept in a checkpoint, and written as a map."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from isofold._files import UnwritableError, check_store, disk_explained, finish_file
from isofold._format import count
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.blocks.checkpoint import Checkpoint, PassMemory
from isofold.blocks.protocol import Block, RowBlocks
from isofold.exceptions import (
    ClusterError,
    ConvergenceError,
    EmbeddingError,
    InvalidInputError,
)
from isofold.extension.out_of_range import find_outside
from isofold.tables.label_column import LabelColumn, LabelReader
from isofold.tables.map_files import MapChunk, write_chunks
from isofold.tables.streamed import BlockPreparation
from isofold.tables.text_safety import quoted
from isofold.tables.write import PERMISSION

if TYPE_CHECKING:
    from isofold.cli.console import Console

__all__ = [
    "MODEL",
    "PLACED",
    "KeepPlaced",
    "Placed",
    "TransformBlock",
    "connected",
    "kept_work",
    "put_output",
    "run_pass",
    "tell_continued",
    "write_placed",
]

MODEL, PLACED = "model.iso", "placed"
"""In a checkpoint, the model and the folders of rows that were placed."""

REFUSALS = (InvalidInputError, ConvergenceError, EmbeddingError)
"""Errors that the same command would meet again."""

CONNECTION_SECONDS = 20
COORDINATES_ONLY = {".npy": "a .npy file", ".zarr": "a .zarr array"}


class Placer(Protocol):
    """Places the rows of a block."""

    def pair(self, block: Block) -> tuple[Any, FloatArray]:
        """Return what was seen, and the images."""
        ...


@dataclass(frozen=True, eq=False)
class KeepPlaced:
    """Prepares and places the rows of a block, and keeps their images in a file.

    Attributes
    ----------
    prepare : BlockPreparation
        What is done to the rows first.
    place : Placer
        Places them.
    memory : PassMemory
        Keeps what was seen, and the images.
    output : Path or None
        The map that is to be written; None keeps no images.
    """

    prepare: BlockPreparation
    place: Placer
    memory: PassMemory
    output: Path | None

    def __call__(self, block: Block) -> Any:
        """Return what was seen in a block."""
        prepared = self.prepare(block)
        if self.output is not None and prepared.kept is not None:
            refuse_dropped(self.output)
        summary, images = self.place.pair(prepared)
        kept: dict[str, Any] = {}
        if self.output is not None:
            kept = {"images": images, "start": np.asarray(block.start)}
            if prepared.kept is not None:
                kept["kept"] = prepared.kept
        self.memory.keep(block, summary, **kept)
        return summary


def refuse_dropped(output: Path, *, instead: str = "") -> None:
    """Refuse a file of coordinates only, since it could not say which rows are left out."""
    kind = COORDINATES_ONLY.get(output.suffix.lower())
    if kind is not None:
        msg = (
            f"{quoted(output.name)[1:-1]}: rows with missing values are left out, and {kind}, "
            f"which holds only coordinates, cannot say which. Write .csv, .tsv or .parquet"
            f"{instead}."
        )
        raise InvalidInputError(msg)


@dataclass(frozen=True)
class Placed:
    """What is known about rows that were placed by a saved model.

    Attributes
    ----------
    n_read, n_rows : int
        Rows, and those of them that were placed.
    n_far : int
        Rows far from all that the map was made of; -1 if the model does not tell.
    """

    n_read: int
    n_rows: int
    n_far: int

    def merged(self, other: Self) -> Self:
        """Return what is known about two parts of a table."""
        n_far = -1 if min(self.n_far, other.n_far) < 0 else self.n_far + other.n_far
        return type(self)(self.n_read + other.n_read, self.n_rows + other.n_rows, n_far)


@dataclass(frozen=True, eq=False)
class TransformBlock:
    """Places the rows of a block by a saved model.

    Attributes
    ----------
    model : estimator
        The model.
    limit : float or None
        From which distance on a row is far.
    """

    model: Any
    limit: float | None

    def pair(self, block: Block) -> tuple[Placed, FloatArray]:
        """Return how many rows are far, and the images."""
        n_read = block.stop - block.start
        if not len(block.rows):
            width = self.model.embedding_.shape[1]
            return Placed(n_read, 0, 0), np.empty((0, width), dtype=block.rows.dtype)
        images = self.model.transform(block.rows)
        far = find_outside(self.model, block.rows, images, limit=self.limit)
        return Placed(n_read, len(images), -1 if far is None else int(far.sum())), images


@dataclass(frozen=True, eq=False)
class _Recalled:
    """The memory of a pass that keeps its blocks itself."""

    memory: PassMemory

    def recall(self, start: int, stop: int | None) -> Any:
        return self.memory.recall(start, stop)

    def keep(self, block: Block, summary: Any) -> None:
        """Do nothing: it is kept already, with the images."""


def run_pass(blocks: RowBlocks, work: KeepPlaced) -> Any:
    """Place all rows but those that were placed before."""
    merge = work.memory.merge
    return blocks.reduce(work, merge, memory=_Recalled(work.memory), name="place rows")


@contextmanager
def connected(address: str | None) -> Iterator[Callable[[RowBlocks], RowBlocks]]:
    """Give a function that moves the work on blocks to a scheduler, if there is one."""
    if address is None:
        yield lambda blocks: blocks
        return
    from isofold._dependencies import require
    from isofold.blocks.dask_blocks import DaskBlocks

    distributed = require("distributed", extra="dask", purpose="Working on a Dask scheduler")
    # A lost scheduler is told in one sentence, not by the tracebacks that Dask logs.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECTION_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        msg = (
            f"--scheduler {address}: no Dask scheduler answers there ({type(error).__name__}). "
            f"Start one (dask scheduler), or leave the option out."
        )
        raise ClusterError(msg) from error

    def moved(blocks: RowBlocks) -> RowBlocks:
        # Without a client Dask would do the work in threads here, with more memory than is given.
        if client.status != "running":
            msg = f"--scheduler {address}: the connection was lost. Start the scheduler again."
            raise ClusterError(msg)
        return DaskBlocks.of_blocks(blocks)

    try:
        yield moved
    finally:
        client.close(timeout=1)


@contextmanager
def kept_work(checkpoint: Checkpoint) -> Iterator[None]:
    """Add to errors where finished work is kept; keep none if rows or options are refused early.

    Whoever follows the advice of such an error gives another command or changes a file, which could
    not continue; and to look at columns again costs little.
    """
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        is_refusal = isinstance(error, REFUSALS) and not isinstance(error, UnwritableError)
        if is_refusal and not _has_results(checkpoint):
            with suppress(OSError):
                checkpoint.remove()
        else:
            error.add_note(
                f"Finished work is kept in {checkpoint.folder}: the same command continues, as "
                f"long as the files that it reads and its options stay the same. If they change, "
                f"begin again with --force."
            )
        raise


def _has_results(checkpoint: Checkpoint) -> bool:
    """Return whether a model was fitted, or a block of rows placed."""
    return checkpoint.has(MODEL) or any(checkpoint.folder.glob(f"{PLACED}*/[0-9]*.npz"))


def tell_continued(
    checkpoint: Checkpoint, memory: PassMemory, n: int | None, console: Console
) -> None:
    """Say how much an earlier run has done."""
    if checkpoint.is_continued:
        n_done = sum(stop - start for start, stop in memory.ends().items())
        of_all = "rows" if n is None else f"of {count(n, 'row')}"
        console.say(f"Continuing an earlier run: {n_done:,} {of_all} were placed before.")


def put_output(
    checkpoint: Checkpoint, path: Path, write: Callable[[Path], None], *, overwrite: bool
) -> None:
    """Write an output whole or not at all, unless an earlier run of the checkpoint has done it."""
    if checkpoint.has_written(path):
        return
    made = checkpoint.folder / f"output{path.suffix}"
    checkpoint.forget(made.name)
    with disk_explained(path):
        write(made)
        checkpoint.note_written(path, made)
        if made.is_dir():
            _replace_store(checkpoint, made, path, overwrite=overwrite)
        else:
            finish_file(made, path, overwrite=overwrite, permission=PERMISSION)


def _replace_store(checkpoint: Checkpoint, made: Path, path: Path, *, overwrite: bool) -> None:
    """Let a Zarr array become an output; an older one goes when the new one is whole."""
    check_store(path, overwrite=overwrite, permission=PERMISSION)
    final = Path(os.path.realpath(path))  # a link stays a link
    if final.exists():
        checkpoint.forget("replaced")
        final.replace(checkpoint.folder / "replaced")
    made.replace(final)


def write_placed(
    path: Path,
    checkpoint: Checkpoint,
    memory: PassMemory,
    *,
    n_rows: int,
    label: LabelColumn | None,
    overwrite: bool,
) -> None:
    """Write the images of all rows as a map."""
    ending = path.suffix.lower()
    name = "label" if label is None else label.name

    def write(target: Path) -> None:
        with stage("write the map", total=n_rows) as steps:

            def chunks() -> Iterator[MapChunk]:
                for chunk in _chunks(memory, label):
                    yield chunk
                    steps.advance(len(chunk.rows))

            write_chunks(target, ending, chunks(), n_rows=n_rows, label_name=name)

    put_output(checkpoint, path, write, overwrite=overwrite)


def _chunks(memory: PassMemory, label: LabelColumn | None) -> Iterator[MapChunk]:
    """Yield the placed rows in their order, with their labels."""
    labels = None if label is None else LabelReader(label)
    for arrays in memory.images():
        images = arrays["images"]
        rows = arrays["start"] + arrays.get("kept", np.arange(len(images)))
        if len(rows):
            yield MapChunk(rows, images, None if labels is None else labels.at(rows))
