"""The first pass over a table that is read block by block: its columns, and a sample of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from isofold.blocks.checkpoint import Checkpoint
from isofold.blocks.protocol import Block, RowBlocks
from isofold.blocks.sample import LARGEST_KEY, KeyedSample, ceiling_of
from isofold.blocks.summary import TableSummary
from isofold.cli.steps.inputs import ReadOptions
from isofold.exceptions import InvalidInputError
from isofold.tables.select import Selection
from isofold.tables.streamed import BlockPreparation, Features, Streamed, choose_features
from isofold.tables.text_safety import listed

__all__ = ["Looked", "StreamedRun", "look_at_table"]

USED_FRACTION = 0.5
"""Fraction of the rows that have no gaps, at least; if there are fewer, another pass is needed."""

BYTES_A_NUMBER = 6
"""Bytes of a number in a text file, about: they tell how many rows to expect."""


@dataclass(frozen=True, eq=False)
class StreamedRun:
    """What all steps of a run see.

    Attributes
    ----------
    table : Streamed
        The table.
    reading : ReadOptions
        How it is read.
    checkpoint : Checkpoint
        Where finished work is kept.
    moved : callable
        Moves the work on blocks to where it is done.
    block_rows : int
        Rows of a block.
    """

    table: Streamed
    reading: ReadOptions
    checkpoint: Checkpoint
    moved: Callable[[RowBlocks], RowBlocks]
    block_rows: int

    def blocks(self, positions: tuple[int, ...]) -> RowBlocks:
        """Return the blocks of some columns, where the work is done."""
        return self.moved(self.table.blocks(positions, self.block_rows))

    def columns(self, positions: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return which columns of these blocks are meant; None for all."""
        return None if self.table.has_names else positions


@dataclass(frozen=True, eq=False)
class Looked:
    """What is known about a table after the first pass.

    Attributes
    ----------
    positions : tuple of int
        Columns of the table that are features.
    features : Features
        What is done to them.
    n_rows : int
        Rows of the table.
    sample : KeyedSample
        A sample of the rows that are used, prepared.
    """

    positions: tuple[int, ...]
    features: Features
    n_rows: int
    sample: KeyedSample


def look_at_table(run: StreamedRun, selection: Selection, *, size: int, seed: int) -> Looked:
    """Look at all rows, and once more if columns or a smaller sample than needed were left."""
    ceiling: int | None = None
    attempt = 0
    while True:
        attempt += 1
        summary, ceiling = _summarize(
            run, selection.features, size=size, seed=seed, ceiling=ceiling, attempt=attempt
        )
        features = choose_features(
            run.table, selection, summary, missing=run.reading.missing, scale=run.reading.scale
        )
        kept = tuple(selection.features[index] for index in features.indices)
        is_short = len(summary.sample.rows) < min(size, summary.sample.n_seen)
        if not is_short and not features.has_gaps_beside:
            points = summary.sample.points[:, list(features.indices)]
            prepare = BlockPreparation(None, features.preprocessing)
            sample = replace(summary.sample, points=prepare.of_rows(points))
            return Looked(kept, features, summary.n_rows, sample)
        ceiling = LARGEST_KEY if is_short else ceiling
        if features.has_gaps_beside:
            notes = (*selection.notes, *features.notes)
            selection = replace(selection, features=kept, notes=notes)


def _summarize(
    run: StreamedRun,
    positions: tuple[int, ...],
    *,
    size: int,
    seed: int,
    ceiling: int | None,
    attempt: int,
) -> tuple[TableSummary, int]:
    """Return the summary of a table, in a pass that can be continued, and its ceiling of keys."""
    blocks, name = run.blocks(positions), f"columns-{attempt}"
    if ceiling is None:
        n_rows = blocks.n_rows or run.table.n_bytes // (BYTES_A_NUMBER * blocks.n_features)
        ceiling = ceiling_of(size, int(USED_FRACTION * n_rows))
    summary = run.checkpoint.recall(f"{name}.npz", TableSummary)
    if summary is not None:
        return summary, ceiling
    merge = partial(TableSummary.merged, size=size)
    memory = run.checkpoint.memory(name, TableSummary, merge, packed=True)
    names = tuple(run.table.head.names[p] for p in positions)
    look = _LookAtBlock(run.columns(positions), names, run.reading.missing, size, seed, ceiling)
    summary = blocks.reduce(look, merge, memory=memory, name="look at columns")
    if summary is None:
        msg = f"{run.table.name}: the table has no rows. Pass files with rows."
        raise InvalidInputError(msg)
    run.checkpoint.keep(f"{name}.npz", summary)
    run.checkpoint.forget(name)
    return summary, ceiling


@dataclass(frozen=True)
class _LookAtBlock:
    """Summarizes a block, here or on another machine."""

    columns: tuple[int, ...] | None
    names: tuple[str, ...]
    missing: str
    size: int
    seed: int
    ceiling: int

    def __call__(self, block: Block) -> TableSummary:
        if self.columns is not None:
            block = replace(block, rows=block.rows[:, list(self.columns)])
        if self.missing == "error":
            self._refuse_gaps(block)
        drops = self.missing == "drop"
        return TableSummary.of(
            block, drops=drops, size=self.size, seed=self.seed, ceiling=self.ceiling
        )

    def _refuse_gaps(self, block: Block) -> None:
        gaps = np.atleast_1d(np.isnan(block.rows).any(axis=0))
        if gaps.any():
            where = listed(name for name, gap in zip(self.names, gaps, strict=True) if gap)
            msg = (
                f"{block.name}: values are missing in {where}. Fill them, or pass --missing drop "
                f"or median."
            )
            raise InvalidInputError(msg)
