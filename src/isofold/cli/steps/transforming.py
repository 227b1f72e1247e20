"""Rows of a table that is read block by block, placed on a saved map: the steps of `transform`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from isofold.blocks.checkpoint import Checkpoint, was_written
from isofold.cli.console import Console, watched
from isofold.cli.steps.budget import plan_blocks
from isofold.cli.steps.inputs import ReadOptions, tell_read
from isofold.cli.steps.outputs import Outputs
from isofold.cli.steps.placing import (
    PLACED,
    KeepPlaced,
    Placed,
    TransformBlock,
    connected,
    kept_work,
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
from isofold.exceptions import InvalidInputError
from isofold.tables.label_column import LabelColumn, check_label
from isofold.tables.preprocessing import Preprocessing
from isofold.tables.streamed import Streamed, open_streamed, rows_of_model, stamp

__all__ = ["transform_streamed"]


def transform_streamed(
    model: Path,
    estimator: Any,
    notes: dict[str, Any],
    file: Path,
    reading: ReadOptions,
    streaming: StreamOptions,
    *,
    outputs: Outputs,
    console: Console,
) -> Placed:
    """Place the rows of a table on a saved map, write them, and return what is known of them."""
    assert outputs.map is not None  # noqa: S101 - the command requires it
    refuse_reading(reading)
    refuse_inside(file, outputs)
    table = open_streamed(file)
    same = _preprocessing(estimator, notes, table, reading.label)
    label = same.label if table.has_names and same.label in table.head.names else None
    if label is not None:
        check_label(table.paths, label)
    positions, prepare = rows_of_model(table, same)
    n_columns = len(positions)
    block_rows = plan_blocks(streaming.memory, n_columns, model.stat().st_size)
    folder = checkpoint_of(outputs)
    outputs.check_streamed(model, *table.paths, is_ours=partial(was_written, folder))
    options = {"--label": same.label, "--memory": streaming.memory}
    known = fingerprint_of((stamp(model.absolute()), *table.stamps), options)
    with (
        connected(streaming.scheduler) as moved,
        Checkpoint.open(folder, known, over=outputs.force) as checkpoint,
        kept_work(checkpoint),
    ):
        memory = checkpoint.memory(PLACED, Placed, Placed.merged)
        blocks = moved(table.blocks(positions, block_rows))
        tell_continued(checkpoint, memory, blocks.n_rows, console)
        work = KeepPlaced(
            prepare, TransformBlock(estimator, notes.get("far_limit")), memory, outputs.map
        )
        with watched(console) as seen:
            placed: Placed | None = run_pass(blocks, work)
            if placed is None or placed.n_rows == 0:
                msg = f"{table.name}: there is no row that can be placed. Pass files with rows."
                raise InvalidInputError(msg)
            labels = None if label is None else LabelColumn.of(table.paths, label)
            write_placed(
                outputs.map, checkpoint, memory,
                n_rows=placed.n_rows, label=labels, overwrite=outputs.force,
            )  # fmt: skip
        tell_read(
            table.name, same, (), console,
            n_rows=placed.n_read, n_used=placed.n_rows, label=None,
        )  # fmt: skip
        for text in seen.messages:
            console.warn(text)
        checkpoint.remove()
    return placed


def _preprocessing(
    estimator: Any, notes: dict[str, Any], table: Streamed, label: str | None
) -> Preprocessing:
    """Return what was done to the table of the map; of a plain model, what its columns tell."""
    known = notes.get("preprocessing")
    if label is not None and label not in table.head.names:
        msg = f"{table.name}: there is no column {label!r}. Name another as --label."
        raise InvalidInputError(msg)
    if known is not None:
        same = Preprocessing.from_json(known)
        return replace(same, label=label or same.label)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return Preprocessing(tuple(map(str, names)), label=label)
    numbers = tuple(column.name for column in table.head.columns if column.kind == "number")
    width = int(estimator.n_features_in_)
    is_named = table.has_names and len(numbers) == width
    return Preprocessing(numbers if is_named else width, label=label)
