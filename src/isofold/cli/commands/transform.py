"""Place new rows on a saved map: `isofold transform`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import count, size_of
from isofold.cli.command import command
from isofold.cli.console import Console, current_console, watched
from isofold.cli.options import chosen, file_argument, force_option, format_options, output_option

if TYPE_CHECKING:
    from isofold._typing import FloatArray
    from isofold.tables import Prepared, Table


@command(
    "transform",
    "isofold transform model.iso new.csv -o new-map.csv",
    "isofold transform digits.iso more.parquet -o more.npy --force  # overwrite more.npy",
)
@file_argument("model")
@file_argument("file")
@output_option(
    "-o", "--output", metavar="OUT", required=True,
    text="The coordinates of the rows: .csv, .tsv, .parquet, .npy or .npz.",
)  # fmt: skip
@force_option
@format_options
def transform_command(model: Path, file: Path, **options: Any) -> None:
    """Place new rows on a map that was saved.

    MODEL is a file that isofold embed --model or isofold.save wrote. Columns are found by their
    names, filled and scaled as when the map was made. Every row is placed by itself: which other
    rows are in FILE does not matter.
    """
    from isofold.cli.steps.inputs import ReadOptions, read_file, tell_data
    from isofold.cli.steps.mapping import table_notes
    from isofold.cli.steps.outputs import Outputs
    from isofold.storage import load_with_notes
    from isofold.tables import check_map_rows, write_embedding

    console = current_console()
    Outputs(map=options["output"], force=options["force"]).check(model, file)
    estimator, every = load_with_notes(model)
    notes = table_notes(every)
    prepared = prepare_for(estimator, notes, read_file(file, chosen(ReadOptions, options)))
    check_map_rows(options["output"], prepared.rows)
    tell_data(file, prepared, console)
    with watched(console) as seen:
        Y = estimator.transform(prepared.X)
    for text in seen.messages:
        console.warn(text)
    _tell_far(estimator, prepared, Y, notes, console)
    write_embedding(
        options["output"],
        Y,
        rows=prepared.rows,
        labels=prepared.labels,
        label_name=prepared.preprocessing.label or "label",
        overwrite=options["force"],
    )
    console.say(f"Wrote {options['output']} ({size_of(options['output'])}).")


def prepare_for(
    estimator: Any, notes: dict[str, Any], table: Table, *, label: str | None = None
) -> Prepared:
    """Return the features of a table that a model needs, by its preprocessing or their names."""
    from isofold.exceptions import InvalidInputError
    from isofold.tables import Preprocessing, prepare, preprocess
    from isofold.tables.text_safety import listed, quoted

    if label is not None and label not in table.names:
        msg = f"{table.source}: there is no column {quoted(label)}. It has {listed(table.names)}."
        raise InvalidInputError(msg)
    if "preprocessing" in notes:
        same = Preprocessing.from_json(notes["preprocessing"])
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


def _tell_far(
    estimator: Any, prepared: Prepared, Y: FloatArray, notes: dict[str, Any], console: Console
) -> None:
    from isofold.extension.out_of_range import find_outside

    n_rows = len(prepared.X)
    console.say(f"Placed {count(n_rows, 'row')}.")
    far = find_outside(estimator, prepared.X, Y, limit=notes.get("far_limit"))
    if far is not None and far.any():
        n_far = int(far.sum())
        lie, guess = (
            ("lies", "Its position is a guess")
            if n_far == 1
            else ("lie", "Their positions are guesses")
        )
        console.warn(
            f"{n_far:,} of {count(n_rows, 'row')} {lie} far from all rows that the map was made "
            f"of. {guess}."
        )
    elif far is not None:
        console.say("None lies far from the rows that the map was made of.")
