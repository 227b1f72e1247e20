"""Make a map of a data file: `isofold embed`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from isofold.cli.command import command, option
from isofold.cli.console import current_console
from isofold.cli.options import (
    DimensionType,
    chosen,
    data_options,
    file_argument,
    force_option,
    output_option,
    stream_options,
    work_options,
)
from isofold.cli.steps.similarity import DEFAULTS, make_comparison, read_distances
from isofold.embedding.catalog import BY_SHELL_NAME

METHOD, OBJECTS = "Method", "Objects that are not rows of numbers"


@command(
    "embed",
    "isofold embed data.csv -o map.csv  # the default: all numeric columns, the method that suits",
    "isofold embed wine.csv -o map.csv --label quality --scale standard --report wine.html",
    "isofold embed digits.parquet -c 'pixel*' -o map.npy --model digits.iso  # keep the model",
    "isofold embed roll.npy --method ipa --set n_patches=40 --report roll.html",
    "isofold embed 'parts/*.parquet' -o map.parquet --memory 2GB  # larger than memory",
    "isofold embed proteins.fasta --similarity mismatch:length=4 -o map.csv  # not a table",
    choices={name: method.title for name, method in BY_SHELL_NAME.items()},
)
@file_argument("file")
@output_option(
    "-o", "--output", metavar="OUT",
    text="The map: .csv, .tsv or .parquet with columns x1, x2, ... and the row, or .npy. If FILE "
    "is read at once, also .npz, or .h5ad: a copy of FILE with the map in obsm. If it is read "
    "block by block, also .zarr.",
)  # fmt: skip
@output_option("--report", metavar="PAGE", text="A page (.html) to look at the map and its errors.")
@output_option("--model", metavar="MODEL", text="The model (.iso), for isofold transform.")
@force_option
@option(
    "-m", "--method", section=METHOD, type=click.Choice(list(BY_SHELL_NAME)), default="auto",
    show_default=True, metavar="NAME",
    help="One of the methods below; auto looks at the data and decides.",
)  # fmt: skip
@option(
    "-d", "--n-components", section=METHOD, type=DimensionType(), default=2, show_default=True,
    metavar="D", help="Dimensions of the map; auto: the fewest that keep distances (auto, ipa).",
)  # fmt: skip
@option(
    "-k", "--n-neighbors", section=METHOD, type=click.IntRange(min=1), metavar="K",
    help="Neighbors of each row that the method looks at. Default: the method's.",
)  # fmt: skip
@option(
    "--max-seconds", section=METHOD, type=click.FloatRange(min=0, min_open=True), metavar="S",
    help="About how long --method auto may take. Default: 300.",
)  # fmt: skip
@option(
    "--set", "settings", section=METHOD, multiple=True, metavar="NAME=VALUE",
    help="Another parameter of the method, as in Python. May be repeated.",
)  # fmt: skip
@option(
    "--object", "kind", section=OBJECTS, type=click.Choice(list(DEFAULTS)), metavar="KIND",
    help="What FILE holds instead of numbers: strings, sequences, molecules, graphs, texts or "
    "series. Default: by its ending (.fasta, .smi, .graphml).",
)  # fmt: skip
@option(
    "--similarity", section=OBJECTS, metavar="NAME[:P=V,...]",
    help="How objects are compared: edit, spectrum, mismatch, subsequence, alignment, tfidf, wl, "
    "paths or dtw, with its parameters.",
)  # fmt: skip
@data_options
@stream_options
@work_options
@option("--strict", section="Work", is_flag=True, help="Exit with code 3 if the map is doubtful.")
def embed_command(file: Path, **options: Any) -> int:
    """Make a map of a data file.

    Reads a table (csv, tsv, parquet, npy, npz, h5ad or zarr), unfolds its numeric columns into two
    dimensions or more, says how true the map is, and writes the map, a page to look at it, the
    model, or all of them. Text columns are left out; no file is overwritten without --force. Of an
    h5ad file the principal components (obsm/X_pca) are mapped where they are there, else X, and
    cell types or clusters in obs are the labels.

    A folder or a quoted pattern of .parquet, .csv or .npy files is one table. It is read block by
    block, as are files too large for the memory: the map is fitted to a sample, and every row is
    placed on it. A run that was killed continues when the same command is given again.

    Objects that are not rows of numbers are compared by --similarity, and the map is made of their
    distances: FASTA sequences, SMILES molecules, GraphML graphs, one text, string or series a line
    of a .txt file, or the column of a table that --columns names.
    """
    from isofold.cli.steps.inputs import ReadOptions, read_data, tell_unlabeled
    from isofold.cli.steps.mapping import make_map
    from isofold.cli.steps.method import FitOptions, make_estimator
    from isofold.cli.steps.outputs import Outputs
    from isofold.cli.steps.sources import StreamOptions, why_streamed

    console = current_console()
    outputs = Outputs(options["output"], options["model"], options["report"], options["force"])
    if outputs.is_empty:
        msg = "Say what to write: -o OUT, --report PAGE or --model MODEL."
        raise click.UsageError(msg, click.get_current_context())
    reading, fitting = chosen(ReadOptions, options), chosen(FitOptions, options)
    if fitting.needs_label and reading.label is None:
        msg = f"--method {fitting.method} needs --label COLUMN."
        raise click.UsageError(msg, click.get_current_context())
    kind = _kind_of_objects(file, options)
    streaming = chosen(StreamOptions, options)
    why = why_streamed(file, streaming) if kind is None else None
    if why is not None:
        from isofold.cli.steps.streaming import embed_streamed

        console.say(f"Reading {file.name} block by block: {why}.")
        return embed_streamed(file, reading, fitting, streaming, outputs=outputs, console=console)
    outputs.check(file)
    # Before the file is read, so that wrong parameters are refused at once.
    make_estimator(fitting, metric="euclidean" if kind is None else "precomputed")
    if kind is None:
        prepared = read_data(file, reading, console, finds_label=True)
    else:
        prepared = read_distances(file, kind, options["similarity"], reading, console)
    if fitting.needs_label:
        tell_unlabeled(prepared.labels, console)
    return make_map(file, prepared, fitting, outputs=outputs, console=console)


def _kind_of_objects(file: Path, options: dict[str, Any]) -> str | None:
    """Return what a file holds that is not a table, or refuse options that do not fit."""
    from isofold.tables.objects import kind_of

    kind, ctx = options["kind"] or kind_of(file), click.get_current_context()
    if kind is None:
        if options["similarity"] is not None:
            msg = "--similarity compares objects: say with --object what they are."
            raise click.UsageError(msg, ctx)
        return None
    if options["model"] is not None:
        msg = (
            "--model keeps no objects, which new ones would be compared with. In Python, pass "
            "the kernel or distance to the method."
        )
        raise click.UsageError(msg, ctx)
    if options["memory"] is not None or options["scheduler"] is not None:
        msg = f"--memory and --scheduler are for tables of numbers, not for {kind}."
        raise click.UsageError(msg, ctx)
    if options["scale"] != "none":
        msg = f"--scale is for columns of numbers; {kind} have none."
        raise click.UsageError(msg, ctx)
    # Before the file is read, so that wrong parameters are refused at once.
    make_comparison(options["similarity"] or DEFAULTS[kind], kind)
    return str(kind)
