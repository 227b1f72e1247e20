"""Place new rows on a saved map: `isofold transform`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._format import count, size_of
from isofold.cli.command import command, option
from isofold.cli.console import Console, current_console, watched
from isofold.cli.options import (
    chosen,
    file_argument,
    force_option,
    format_options,
    output_option,
    stream_options,
)

if TYPE_CHECKING:
    from isofold._typing import FloatArray
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.tables import Prepared, Preprocessing


@command(
    "transform",
    "isofold transform model.iso new.csv -o new-map.csv",
    "isofold transform digits.iso more.parquet -o more.npy --force  # overwrite more.npy",
    "isofold transform model.iso big.parquet -o map.parquet --memory 2GB  # larger than memory",
    "isofold transform model.iso places.csv -o rows.csv --inverse  # from the map to data",
)
@file_argument("model")
@file_argument("file")
@output_option(
    "-o", "--output", metavar="OUT", required=True,
    text="The coordinates of the rows: .csv, .tsv, .parquet or .npy. If FILE is read at once, also "
    ".npz, or .h5ad: a copy of FILE with them in obsm. If it is read block by block, also .zarr.",
)  # fmt: skip
@option(
    "--inverse", section="Output", is_flag=True,
    help="The other way: FILE holds points of the map (x1, x2, ...), OUT what rows there would be.",
)  # fmt: skip
@force_option
@format_options
@stream_options
def transform_command(model: Path, file: Path, **options: Any) -> None:
    """Place new rows on a map that was saved.

    MODEL is a file that isofold embed --model or isofold.save wrote. Columns are found by their
    names, filled and scaled as when the map was made. Every row is placed by itself: which other
    rows are in FILE does not matter.
    """
    from isofold.cli.steps.inputs import ReadOptions, tell_data
    from isofold.cli.steps.mapping import table_notes
    from isofold.cli.steps.outputs import Outputs, write_map
    from isofold.cli.steps.sources import StreamOptions, why_streamed
    from isofold.storage import load_with_notes
    from isofold.tables import check_map_rows

    console = current_console()
    outputs = Outputs(map=options["output"], force=options["force"])
    streaming = chosen(StreamOptions, options)
    why = why_streamed(file, streaming)
    if why is None:
        outputs.check(model, file)
    estimator, every = load_with_notes(model)
    notes = table_notes(every)
    if why is not None:
        from isofold.cli.steps.transforming import transform_streamed

        _refuse_inverse(options)
        console.say(f"Reading {file.name} block by block: {why}.")
        reading = chosen(ReadOptions, options)
        placed = transform_streamed(
            model, estimator, notes, file, reading, streaming, outputs=outputs, console=console
        )
        _tell_placed(placed.n_rows, None if placed.n_far < 0 else placed.n_far, console)
        console.say(f"Wrote {options['output']} ({size_of(options['output'])}).")
        return
    if options["inverse"]:
        _lead_back(estimator, notes, file, options, console)
        return
    prepared = prepare_for(estimator, notes, file, chosen(ReadOptions, options))
    check_map_rows(options["output"], prepared.rows)
    tell_data(file, prepared, console)
    if (prepared.preprocessing.key or "").startswith("obsm/"):
        console.note(
            "The columns must mean what they meant for the map: principal components that were "
            "computed from the new rows alone do not fit it."
        )
    with watched(console) as seen:
        Y = estimator.transform(prepared.X)
    for text in seen.messages:
        console.warn(text)
    _tell_far(estimator, prepared, Y, notes, console)
    write_map(
        options["output"], Y, prepared,
        file=file, model=estimator, overwrite=options["force"],
    )  # fmt: skip
    console.say(f"Wrote {options['output']} ({size_of(options['output'])}).")


def _refuse_inverse(options: dict[str, Any]) -> None:
    if options["inverse"]:
        msg = "--inverse reads the points of a map at once. Leave --memory and --scheduler out."
        raise click.UsageError(msg, click.get_current_context())


def _lead_back(
    estimator: Any, notes: dict[str, Any], file: Path, options: dict[str, Any], console: Console
) -> None:
    """Write what rows points of the map would be, in the units of the data."""
    import numpy as np

    from isofold.cli.steps.maps import read_places
    from isofold.exceptions import InvalidInputError
    from isofold.extension.out_of_range import is_outside
    from isofold.tables import TABLE_ENDINGS, Preprocessing, check_target, write_table

    check_target(options["output"], options["force"], endings=TABLE_ENDINGS)
    if not hasattr(estimator, "inverse_transform"):
        msg = (
            f"{type(estimator).__name__} of this model keeps no rows to go back to: it was made of "
            f"distances, or its map has no inverse. Make the model from rows of numbers."
        )
        raise InvalidInputError(msg)
    Y = read_places(file, estimator.embedding_.shape[1], encoding=options["encoding"])
    X = estimator.inverse_transform(Y)
    known = notes.get("preprocessing")
    same = Preprocessing(X.shape[1]) if known is None else Preprocessing.from_json(known)
    if same.center is not None and same.scale is not None:
        X = X * np.array(same.scale) + np.array(same.center)
    names = same.columns if known else getattr(estimator, "feature_names_in_", same.columns)
    outside = is_outside(estimator, Y, space="map")
    flag = "outside" if "outside" not in names else "outside the map"
    columns = {**dict(zip(map(str, names), X.T, strict=True)), flag: outside}
    write_table(options["output"], columns, overwrite=options["force"])
    console.say(f"Led {count(len(Y), 'point')} of the map back to the data.")
    if outside.any():
        lie, guess = ("lies", "a guess") if outside.sum() == 1 else ("lie", "guesses")
        console.warn(
            f"{int(outside.sum()):,} of {count(len(Y), 'point')} {lie} where the map has no data: "
            f"{guess}, marked in the column {flag!r}."
        )
    console.say(f"Wrote {options['output']} ({size_of(options['output'])}).")


def prepare_for(
    estimator: Any, notes: dict[str, Any], file: Path, options: ReadOptions
) -> Prepared:
    """Return the features of a file that a model needs, by its preprocessing or their names."""
    from isofold.cli.steps.inputs import read_file
    from isofold.exceptions import InvalidInputError
    from isofold.tables import Preprocessing, prepare, preprocess
    from isofold.tables.text_safety import listed, quoted

    known = notes.get("preprocessing")
    same = None if known is None else Preprocessing.from_json(known)
    table = read_file(file, options, fitted_key=_fitted_key(estimator, same))
    label = options.label
    if label is not None and label not in table.names:
        msg = f"{table.source}: there is no column {quoted(label)}. It has {listed(table.names)}."
        raise InvalidInputError(msg)
    if same is not None:
        return preprocess(table, replace(same, label=label or same.label))
    names = getattr(estimator, "feature_names_in_", None)
    columns = None if names is None else tuple(map(str, names))
    prepared = prepare(table, columns=columns, label=label)
    wanted, n_columns = int(estimator.n_features_in_), prepared.X.shape[1]
    if n_columns != wanted:
        msg = (
            f"The model was made of {count(wanted, 'column')}, but {table.source} has "
            f"{count(n_columns, 'column')} of numbers, and the model does not know their names. "
            f"Pass a file with those columns only."
        )
        raise InvalidInputError(msg)
    return prepared


def _fitted_key(estimator: Any, preprocessing: Preprocessing | None) -> str | None:
    """Return the matrix of a file of several that a model was made of, if that is known."""
    if preprocessing is None:
        has_names = hasattr(estimator, "feature_names_in_")
    else:
        has_names = not isinstance(preprocessing.features, int)
    named = "X" if has_names else None  # the only matrix whose columns have names
    return named if preprocessing is None else preprocessing.key or named


def _tell_far(
    estimator: Any, prepared: Prepared, Y: FloatArray, notes: dict[str, Any], console: Console
) -> None:
    from isofold.extension.out_of_range import find_outside

    far = find_outside(estimator, prepared.X, Y, limit=notes.get("far_limit"))
    _tell_placed(len(prepared.X), None if far is None else int(far.sum()), console)


def _tell_placed(n_rows: int, n_far: int | None, console: Console) -> None:
    console.say(f"Placed {count(n_rows, 'row')}.")
    if n_far:
        lie, guess = (
            ("lies", "Its position is a guess")
            if n_far == 1
            else ("lie", "Their positions are guesses")
        )
        console.warn(
            f"{n_far:,} of {count(n_rows, 'row')} {lie} far from all rows that the map was made "
            f"of. {guess}."
        )
    elif n_far is not None:
        console.say("None lies far from the rows that the map was made of.")
