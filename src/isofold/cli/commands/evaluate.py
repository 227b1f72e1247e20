"""Measure how true a map is: `isofold evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._format import count
from isofold.cli.command import command, option
from isofold.cli.console import current_console, put, put_csv, put_json, watched
from isofold.cli.options import chosen, data_options, file_argument, memory_option, work_options

if TYPE_CHECKING:
    from isofold.cli.console import Console
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.quality import Scorecard
    from isofold.quality.score_table import ScoreTable


@command(
    "evaluate",
    "isofold evaluate data.csv map.csv",
    "isofold evaluate data.csv umap.npy --label species  # a map that another tool made",
    "isofold evaluate big.parquet map.parquet --memory 2GB  # larger than memory",
    "isofold evaluate data.csv map.csv --json > scores.json  # for scripts",
)
@file_argument("file")
@file_argument("embedding")
@option(
    "-k", "--n-neighbors", section="Measures", type=click.IntRange(min=1),
    metavar="K", help="Neighbors of each row that should stay near. Default: 12, or fewer in a "
    "small file.",
)  # fmt: skip
@option("--json", "as_json", section="Measures", is_flag=True, help="Write JSON.")
@option("--csv", "as_csv", section="Measures", is_flag=True, help="Write comma-separated values.")
@data_options
@memory_option
@work_options
def evaluate_command(file: Path, embedding: Path, **options: Any) -> None:
    """Measure how true a map is, whatever tool made it.

    FILE holds the data, EMBEDDING the map: a file of isofold, or any table of coordinates with one
    row for every row of the data. The measures go to standard output. Use the same --columns,
    --missing and --scale as for the map.

    Tables larger than memory are measured at 1,000 random rows, whose neighbors are found among all
    rows; every figure has a 99% interval.
    """
    from isofold.assessment.verdict import verdict
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.cli.steps.sources import StreamOptions, why_streamed

    if options["as_json"] and options["as_csv"]:
        msg = "Choose one of --json and --csv."
        raise click.UsageError(msg, click.get_current_context())
    console, reading = current_console(), chosen(ReadOptions, options)
    streaming = StreamOptions(options["memory"])
    reason = why_streamed(file, streaming)
    card: ScoreTable
    if reason is None:
        card, notes = _at_once(file, embedding, reading, options, console)
    else:
        from isofold.cli.steps.evaluating import evaluate_streamed

        console.say(f"Reading {file.name} block by block: {reason}.")
        card, notes = evaluate_streamed(
            file, embedding, reading, streaming,
            n_neighbors=options["n_neighbors"],
            seed=options["seed"],
            jobs=options["jobs"],
            console=console,
        )  # fmt: skip
    for text in notes:
        console.note(text)
    text = verdict(card.summary)
    _put(card, text, options)
    console.say(text)


def _at_once(
    file: Path, embedding: Path, reading: ReadOptions, options: dict[str, Any], console: Console
) -> tuple[Scorecard, tuple[str, ...]]:
    """Measure a map of a table that fits into memory; return what is to be noted, too."""
    from isofold.cli.steps.hints import scale_hint
    from isofold.cli.steps.inputs import prepare_table, read_file, tell_unlabeled
    from isofold.cli.steps.maps import read_map
    from isofold.cli.steps.scores import NEIGHBORS
    from isofold.quality import scorecard

    table = read_file(file, reading)
    prepared = prepare_table(table, reading)
    Y, which = read_map(embedding, prepared, encoding=reading.encoding)
    X, labels = prepared.X[which], prepared.labels
    for text in prepared.notes:
        console.note(text)
    console.say(
        f"Compared {count(len(X), 'row')}: {X.shape[1]:,} columns of numbers in {file.name} with "
        f"{Y.shape[1]:,} in {embedding.name}."
    )
    if labels is not None:
        tell_unlabeled(labels[which], console)
    k = options["n_neighbors"] or max(1, min(NEIGHBORS, (len(X) - 1) // 2))
    with watched(console) as seen:
        card = scorecard(
            X, Y,
            labels=None if labels is None else labels[which],
            n_neighbors=k,
            random_state=options["seed"],
            n_jobs=options["jobs"],
        )  # fmt: skip
    question = scale_hint(table, prepared, reading, Y=Y, which=which, seed=options["seed"])
    if question is not None:
        console.warn(question)
    return card, tuple(seen.messages)


def _put(card: ScoreTable, text: str, options: dict[str, Any]) -> None:
    rows = [
        {
            "measure": entry.name,
            "value": float(entry.score),
            "low": float(entry.score.interval[0]),
            "high": float(entry.score.interval[1]),
            "exact": bool(entry.score.exact),
            "best": entry.best,
            "meaning": entry.meaning,
        }
        for entry in card.entries
    ]
    if options["as_csv"]:
        put_csv(rows)
    elif options["as_json"]:
        put_json(
            {
                "n_points": card.n_points,
                "n_components": card.n_components,
                "n_neighbors": card.n_neighbors,
                "verdict": text,
                "measures": {str(row.pop("measure")): row for row in rows},
            }
        )
    else:
        put(str(card).splitlines())
