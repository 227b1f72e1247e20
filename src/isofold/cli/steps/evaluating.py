"""How true the map of a table is that is read block by block: the steps of `evaluate`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from isofold._files import refuse_path
from isofold._format import count
from isofold._typing import FloatArray
from isofold.blocks import RowBlocks, read_blocks
from isofold.blocks.checkpoint import Checkpoint, Fingerprint
from isofold.blocks.columns import CSV, PARQUET, column_types
from isofold.blocks.files import read_explained
from isofold.blocks.protocol import RowRules, TablePart, blocks_of
from isofold.cli.console import Console, watched
from isofold.cli.steps.budget import plan_blocks
from isofold.cli.steps.inputs import ReadOptions, tell_read
from isofold.cli.steps.looking import Looked, StreamedRun, look_at_table
from isofold.cli.steps.maps import ROW, axis_names
from isofold.cli.steps.scores import NEIGHBORS
from isofold.cli.steps.sources import StreamOptions, refuse_reading
from isofold.embedding.streaming import StreamedFit
from isofold.embedding.unfold.unfold import Unfold
from isofold.quality import BlockScorecard, block_scorecard
from isofold.tables.select import select
from isofold.tables.streamed import BlockPreparation, open_streamed

__all__ = ["evaluate_streamed"]


def evaluate_streamed(
    file: Path,
    embedding: Path,
    reading: ReadOptions,
    streaming: StreamOptions,
    *,
    n_neighbors: int | None,
    seed: int,
    jobs: int,
    console: Console,
) -> tuple[BlockScorecard, tuple[str, ...]]:
    """Measure a map at a sample of rows, whose neighbors are found among all rows."""
    refuse_reading(reading)
    table = open_streamed(file)
    selection = select(
        table.head, columns=reading.columns, exclude=reading.exclude, label=reading.label
    )
    n_columns = len(selection.features) if table.has_names else table.head.n_wide
    # Columns are chosen, and gaps filled, by the sample that `embed` draws.
    work = StreamedFit.of(Unfold(random_state=seed))
    size = work.sizes[-1] + work.rules.n_held_out
    block_rows = plan_blocks(streaming.memory, n_columns, 0)
    with (
        tempfile.TemporaryDirectory(prefix="isofold-") as folder,
        Checkpoint.open(Path(folder) / "looked", Fingerprint("", (), ()), over=True) as checkpoint,
        watched(console),
    ):
        run = StreamedRun(table, reading, checkpoint, lambda blocks: blocks, block_rows)
        looked = look_at_table(run, selection, size=size, seed=work.seed)
    tell_read(
        table.name, looked.features.preprocessing, looked.features.notes, console,
        n_rows=looked.n_rows, n_used=looked.sample.n_seen, label=reading.label,
    )  # fmt: skip
    data, images = _PreparedBlocks(run, looked), _images(embedding, block_rows, looked)
    if reading.label is not None:
        console.note("Classes are not measured of tables that are read block by block.")
    k = n_neighbors or max(1, min(NEIGHBORS, (looked.sample.n_seen - 1) // 2))
    with watched(console) as seen:
        card = block_scorecard(data, images, n_neighbors=k, random_state=seed, n_jobs=jobs)
    return card, tuple(seen.messages)


class _PreparedBlocks(RowBlocks):
    """The rows that are features, as the map has seen them."""

    def __init__(self, run: StreamedRun, looked: Looked) -> None:
        source = run.blocks(looked.positions)
        columns = run.columns(looked.positions)
        prepare = BlockPreparation(columns, looked.features.preprocessing)
        is_whole = looked.sample.n_seen == looked.n_rows
        self._parts = [
            _PreparedPart(part, source.rules, prepare, part.n_rows if is_whole else None)
            for part in source.parts()
        ]
        self.rules = RowRules(len(looked.positions), source.dtype)
        self.n_rows = looked.n_rows if is_whole else None

    def parts(self) -> Sequence[TablePart]:
        """Return the parts, in their order."""
        return self._parts


@dataclass(frozen=True, eq=False)
class _PreparedPart:
    """A part whose rows are prepared; some may be dropped."""

    part: TablePart
    rules: RowRules
    prepare: BlockPreparation
    n_rows: int | None

    @property
    def name(self) -> str:
        return self.part.name

    def read(self) -> Iterator[FloatArray]:
        for block in blocks_of(self.part, 0, self.rules):
            yield self.prepare(block).rows


def _images(path: Path, rows: int, looked: Looked) -> RowBlocks:
    """Return the coordinates of a map; refuse those of other rows."""
    names: tuple[str, ...] = ()
    if path.suffix.lower() in (*PARQUET, *CSV):
        with read_explained(path):
            types = column_types(path)
        names = axis_names(types)
        if names and ROW in types:
            _check_numbers(path, rows, looked.n_rows)
        names = names or tuple(name for name, kind in types.items() if kind.kind != "O")
    images = read_blocks(path, columns=names, rows=rows)
    n_used = looked.sample.n_seen
    if images.n_rows not in (None, n_used):
        left_out = looked.n_rows - n_used
        but = f", {left_out:,} of them left out" if left_out else ""
        text = (
            f"it has {count(images.n_rows or 0, 'row')}, but the data have {looked.n_rows:,}{but}, "
            f"so rows cannot be matched. Pass the file that the map was made from"
        )
        refuse_path(path, text)
    return images


def _check_numbers(path: Path, rows: int, n_rows: int) -> None:
    """Refuse a map whose rows are not in the order of the data."""
    last = -1.0
    for block in read_blocks(path, columns=[ROW], rows=rows):
        numbers = np.concatenate([[last], block.rows[:, 0]])
        if not (np.diff(numbers) > 0).all() or numbers[-1] >= n_rows:
            _refuse_order(path)
        last = float(numbers[-1])


def _refuse_order(path: Path) -> NoReturn:
    text = (
        f"its column {ROW!r} must hold numbers of rows of the data, ascending. Pass the file that "
        f"the map was made from, and the map in the order in which isofold writes it"
    )
    refuse_path(path, text)
