"""Write a page about a map: `isofold report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from isofold._format import count, size_of
from isofold.cli.command import command, option
from isofold.cli.console import Console, current_console
from isofold.cli.options import (
    chosen,
    data_options,
    file_argument,
    force_option,
    output_option,
    work_options,
)

if TYPE_CHECKING:
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.tables import Prepared


@command(
    "report",
    "isofold report data.csv map.csv -o page.html --label species",
    "isofold report data.csv tsne.npy -o page.html --title 'Our t-SNE'  # any tool's map",
    "isofold report data.csv --model model.iso -o page.html  # with certificate and patches",
)
@file_argument("file")
@file_argument("embedding", required=False)
@output_option("-o", "--output", metavar="PAGE", required=True, text="The page (.html).")
@force_option
@option(
    "--model", section="Page", type=click.Path(path_type=Path), metavar="MODEL",
    help="A saved model (.iso) instead of a map.",
)  # fmt: skip
@option("--title", section="Page", metavar="TEXT", help="Title. Default: name of the data file.")
@data_options
@work_options
def report_command(file: Path, embedding: Path | None, **options: Any) -> None:
    """Write a page to look at a map and its errors.

    FILE holds the data; the map is a table of coordinates (EMBEDDING) that any tool made, or a
    saved model (--model), which knows its columns. The page is one file that works offline: colors
    by label, column or error, neighbors of every point, and how true distances are. If the map was
    made with --columns, --missing or --scale, pass the same options here.
    """
    from isofold import assess
    from isofold.cli.console import watched
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.cli.steps.outputs import Outputs
    from isofold.cli.steps.pages import write_page
    from isofold.cli.steps.scores import tell_scores

    if (embedding is None) == (options["model"] is None):
        msg = "Pass either a map or --model MODEL."
        raise click.UsageError(msg, click.get_current_context())
    if embedding is None:
        _refuse_preparation()
    console, page = current_console(), options["output"]
    other = embedding or options["model"]
    Outputs(page=page, force=options["force"]).check(file, other)
    reading = chosen(ReadOptions, options)
    if embedding is None:
        prepared, shown = _from_model(file, options["model"], reading)
    else:
        prepared, shown = _from_map(file, embedding, reading, console, seed=options["seed"])
    console.say(f"Read {count(len(prepared.X), 'row')} of {file.name} and {other.name}.")
    for text in prepared.notes:
        console.note(text)
    with watched(console) as seen:
        assessment = assess(prepared.X, shown, random_state=options["seed"], n_jobs=options["jobs"])
        title = options["title"] or file.name
        write_page(
            page, assessment, prepared,
            file=file, shown=shown, title=title, overwrite=options["force"],
        )  # fmt: skip
    for text in seen.messages:
        console.note(text)
    console.say()
    tell_scores(console, assessment.card.summary)
    console.say()
    console.say(f"Wrote {page} ({size_of(page)}). Open it in a browser.")


def _refuse_preparation() -> None:
    """Refuse options that would do nothing, since a saved model knows its columns."""
    context = click.get_current_context()
    for name in ("columns", "exclude", "missing", "scale"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            msg = f"--model knows its columns and how they were prepared: leave out --{name}."
            raise click.UsageError(msg, context)


def _from_map(
    file: Path, embedding: Path, options: ReadOptions, console: Console, *, seed: int
) -> tuple[Prepared, Any]:
    from isofold.cli.steps.hints import scale_hint
    from isofold.cli.steps.inputs import prepare_table, read_file, with_label
    from isofold.cli.steps.maps import read_map

    table, options = with_label(read_file(file, options), options)
    prepared = prepare_table(table, options)
    Y, which = read_map(embedding, prepared, encoding=options.encoding)
    question = scale_hint(table, prepared, options, Y=Y, which=which, seed=seed)
    if question is not None:
        console.warn(question)
    return prepared.restrict(which), Y


def _from_model(file: Path, model: Path, options: ReadOptions) -> tuple[Prepared, Any]:
    from isofold.cli.commands.transform import prepare_for
    from isofold.cli.steps.mapping import table_notes
    from isofold.exceptions import InvalidInputError
    from isofold.storage import load_with_notes

    estimator, notes = load_with_notes(model)
    prepared = prepare_for(estimator, table_notes(notes), file, options)
    n_fitted = len(estimator.embedding_)
    if len(prepared.X) != n_fitted:
        msg = (
            f"The model was made of {count(n_fitted, 'row')}, but {file.name} has "
            f"{len(prepared.X):,}. Pass the file that it was made of. For new rows, use isofold "
            f"transform, then isofold report."
        )
        raise InvalidInputError(msg)
    return prepared, estimator
