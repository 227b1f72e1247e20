"""Maps of tables that are read block by block: the steps of `embed`, each of which is kept.

1. Look at all columns and draw a sample of rows, in one pass.
2. Fit the method to the sample.
3. Place all rows block by block, and once more if rows joined the sample.
4. Write the model, the map and the page, and remove the checkpoint.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from isofold._base import one_fit
from isofold._typing import FloatArray, IntArray
from isofold.blocks.checkpoint import Checkpoint, PassMemory, was_written
from isofold.blocks.protocol import Block
from isofold.blocks.sample import KeyedSample
from isofold.cli.console import Console, Watched, watched
from isofold.cli.errors import ExitCode
from isofold.cli.steps.budget import plan_fit
from isofold.cli.steps.inputs import ReadOptions, tell_read
from isofold.cli.steps.looking import Looked, StreamedRun, look_at_table
from isofold.cli.steps.mapping import INTERRUPTED, finish_map, model_notes
from isofold.cli.steps.method import FitOptions, make_estimator
from isofold.cli.steps.outputs import Outputs
from isofold.cli.steps.pages import write_page
from isofold.cli.steps.placing import (
    MODEL,
    PLACED,
    KeepPlaced,
    connected,
    kept_work,
    put_output,
    refuse_dropped,
    run_pass,
    tell_continued,
    write_placed,
)
from isofold.cli.steps.sources import (
    StreamOptions,
    checkpoint_of,
    fingerprint_of,
    refuse_inside,
    refuse_reading,
)
from isofold.embedding.streaming import Look, PlaceBlock, Stream, StreamedFit
from isofold.storage import load, save
from isofold.tables.label_column import LabelColumn, check_label
from isofold.tables.preparation import Prepared
from isofold.tables.select import Selection, select
from isofold.tables.streamed import BlockPreparation, Streamed, open_streamed

if TYPE_CHECKING:
    from isofold.assessment import Assessment, DensityTiles

__all__ = ["embed_streamed"]

STREAM = "stream.npz"


def embed_streamed(
    file: Path,
    reading: ReadOptions,
    fitting: FitOptions,
    streaming: StreamOptions,
    *,
    outputs: Outputs,
    console: Console,
) -> int:
    """Make a map of a table that is read block by block."""
    began = time.perf_counter()
    refuse_reading(reading)
    if fitting.needs_label:
        msg = f"--method {fitting.method} needs the labels of all rows: read the table at once."
        raise click.UsageError(msg, click.get_current_context(silent=True))
    work = StreamedFit.of(make_estimator(fitting))
    refuse_inside(file, outputs)
    table = open_streamed(file)
    selection = select(
        table.head, columns=reading.columns, exclude=reading.exclude, label=reading.label
    )
    label = _label_name(table, selection)
    if label is not None:
        check_label(table.paths, label)
    n_columns = len(selection.features) if table.has_names else table.head.n_wide
    work, block_rows = plan_fit(work, streaming.memory, n_columns)
    folder = checkpoint_of(outputs)
    outputs.check_streamed(*table.paths, is_ours=partial(was_written, folder))
    known = fingerprint_of(table.stamps, _that_matter(reading, fitting, streaming, outputs))
    with (
        connected(streaming.scheduler) as moved,
        Checkpoint.open(folder, known, over=outputs.force) as checkpoint,
        kept_work(checkpoint),
    ):
        run = StreamedRun(table, reading, checkpoint, moved, block_rows)
        seen, model, fitted = _embed(run, selection, work, outputs, console)
        if outputs.model is not None:
            notes = model_notes(file, fitted, model, fitting.seed)
            keep = partial(save, model, notes=notes, overwrite=True)
            put_output(checkpoint, outputs.model, keep, overwrite=outputs.force)
        is_ours = outputs.page is not None and checkpoint.has_written(outputs.page)
        code = finish_map(
            file, fitted, model, seen, fitting, console=console, began=began,
            outputs=replace(outputs, force=outputs.force or is_ours),
            page=partial(write_streamed_page, placed=outputs.map, checkpoint=checkpoint),
        )  # fmt: skip
        if code in (ExitCode.DONE, ExitCode.DOUBTFUL):
            checkpoint.remove()
    return code


def _that_matter(
    reading: ReadOptions, fitting: FitOptions, streaming: StreamOptions, outputs: Outputs
) -> dict[str, Any]:
    """Return the options that the map depends on."""
    return {
        "--method": fitting.method,
        "--n-components": fitting.n_components,
        "--n-neighbors": fitting.n_neighbors,
        "--max-seconds": fitting.max_seconds,
        "--seed": fitting.seed,
        "--set": " ".join(fitting.settings) or None,
        "--columns": None if reading.columns is None else ",".join(reading.columns),
        "--exclude": ",".join(reading.exclude) or None,
        "--label": reading.label,
        "--missing": reading.missing,
        "--scale": reading.scale,
        "--memory": streaming.memory,
        "-o": "given" if outputs.map is not None else None,
    }


def _embed(
    run: StreamedRun, selection: Selection, work: StreamedFit, outputs: Outputs, console: Console
) -> tuple[Watched, Any, Prepared]:
    """Fit the model, and place and write all rows; return it with the rows it was fitted to."""
    size = work.sizes[-1] + work.rules.n_held_out
    with watched(console):
        looked = look_at_table(run, selection, size=size, seed=work.seed)
    tell_read(
        run.table.name, looked.features.preprocessing, looked.features.notes, console,
        n_rows=looked.n_rows, n_used=looked.sample.n_seen, label=run.reading.label,
    )  # fmt: skip
    if outputs.map is not None and looked.sample.n_seen < looked.n_rows:
        refuse_dropped(outputs.map, instead=", or pass --missing median")
    passes = _Passes(run, looked, outputs.map)
    tell_continued(run.checkpoint, passes.memory(1), looked.n_rows, console)
    with watched(console) as seen:
        work, stream = _fit(run.checkpoint, work, looked.sample)
        with one_fit(work.embedder):
            stream = work.place(looked.sample, stream, passes.run, None)
        work.record(stream)
        name = _label_name(run.table, selection)
        label = None if name is None else LabelColumn.of(run.table.paths, name)
        if outputs.map is not None:
            write_placed(
                outputs.map, run.checkpoint, passes.memory(len(passes.looks)),
                n_rows=stream.n_rows, label=label, overwrite=outputs.force,
            )  # fmt: skip
    points = _points_at(stream.rows, looked.sample, passes.looks[0].far)
    return seen, work.embedder, _fitted(looked, stream, points, label)


def _fit(
    checkpoint: Checkpoint, work: StreamedFit, sample: KeyedSample
) -> tuple[StreamedFit, Stream]:
    """Fit the method to the sample, or take the model that an earlier run has fitted."""
    stream = checkpoint.recall(STREAM, Stream)
    if stream is not None and checkpoint.has(MODEL):
        return replace(work, embedder=load(checkpoint.folder / MODEL)), stream
    with one_fit(work.embedder):
        stream = work.fit(sample, None)
    if INTERRUPTED in work.embedder.diagnosis_.codes:
        # What was found until then is not what the same command would find.
        raise KeyboardInterrupt
    checkpoint.keep(STREAM, stream)
    save(work.embedder, checkpoint.folder / MODEL, overwrite=True)
    return work, stream


class _Passes:
    """Passes that place all rows: one, and another if rows joined the sample."""

    def __init__(self, run: StreamedRun, looked: Looked, output: Path | None) -> None:
        self._run, self._positions, self._output = run, looked.positions, output
        columns = run.columns(looked.positions)
        self._prepare = BlockPreparation(columns, looked.features.preprocessing)
        self.looks: list[Look] = []

    def memory(self, number: int) -> PassMemory:
        """Return what a pass keeps."""
        return self._run.checkpoint.memory(f"{PLACED}-{number}", Look, _merge_looks)

    def run(self, place: PlaceBlock) -> Look:
        """Place all rows."""
        memory = self.memory(len(self.looks) + 1)
        keep = KeepPlaced(self._prepare, _Placer(place), memory, self._output)
        self.looks.append(run_pass(self._run.blocks(self._positions), keep))
        return self.looks[-1]


@dataclass(frozen=True, eq=False)
class _Placer:
    """Places the rows of a block, if any are left."""

    place: PlaceBlock

    def pair(self, block: Block) -> tuple[Look, FloatArray]:
        if len(block.rows):
            return self.place.pair(block)
        width = self.place.coverage.model.embedding_.shape[1]
        nothing = KeyedSample.of(block, 0, self.place.seed)
        return Look(0, nothing), np.empty((0, width), dtype=block.rows.dtype)


def _merge_looks(one: Look, other: Look) -> Look:
    return one.merged(other)


def _label_name(table: Streamed, selection: Selection) -> str | None:
    if selection.label is None or not table.has_names:
        return None
    return table.head.names[selection.label]


def _points_at(rows: IntArray, sample: KeyedSample, far: KeyedSample) -> FloatArray:
    """Return the points of rows that were fitted: of the sample, and far ones that joined it."""
    both = sample.merged(far, len(sample.rows) + len(far.rows))
    return both.points[np.searchsorted(both.rows, rows)]


def _fitted(
    looked: Looked, stream: Stream, points: FloatArray, label: LabelColumn | None
) -> Prepared:
    """Return the rows that the map was fitted to, as of a table that was read at once."""
    return Prepared(
        X=points,
        rows=stream.rows,
        n_rows=looked.n_rows,
        labels=None if label is None else label.at(stream.rows),
        others=(),
        images=None,
        preprocessing=looked.features.preprocessing,
        notes=(),
    )


def write_streamed_page(
    path: Path,
    assessment: Assessment,
    prepared: Prepared,
    *,
    file: Path,
    shown: Any,
    title: str,
    overwrite: bool,
    placed: Path | None,
    checkpoint: Checkpoint,
) -> None:
    """Write the page of the rows that a map was fitted to, above the density of all rows."""
    density = None if placed is None else _density(placed, shown.embedding_)

    def write(target: Path) -> None:
        write_page(
            target, replace(assessment, density=density), prepared,
            file=file, shown=shown, title=title, overwrite=True,
        )  # fmt: skip

    put_output(checkpoint, path, write, overwrite=overwrite)


def _density(placed: Path, images: FloatArray) -> DensityTiles:
    """Count the rows of a written map on the pixels around the fitted ones."""
    from isofold.assessment import DensityFrame, DensityTiles
    from isofold.blocks import read_blocks

    has_names = placed.suffix.lower() in (".parquet", ".csv", ".tsv")
    columns = [f"x{axis + 1}" for axis in range(images.shape[1])] if has_names else ()
    blocks = read_blocks(placed, columns=columns)
    return DensityTiles.of_blocks((block.rows for block in blocks), DensityFrame.around(images))
