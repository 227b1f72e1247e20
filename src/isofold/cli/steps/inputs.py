"""The data file of a command: what is read, how it is prepared, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import count
from isofold.cli.console import Console

if TYPE_CHECKING:
    from isofold.tables import Prepared, Preprocessing, Table

__all__ = [
    "ReadOptions",
    "prepare_table",
    "read_data",
    "read_file",
    "tell_data",
    "tell_read",
    "tell_unlabeled",
    "with_label",
]


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read, and which of its numbers are used.

    Attributes
    ----------
    key, encoding, delimiter, header
        As in `isofold.tables.read_table`; "tab" is a delimiter, too.
    columns, exclude, label, missing, scale
        As in `isofold.tables.prepare`.
    """

    key: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool | None = None
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    label: str | None = None
    missing: str = "drop"
    scale: str = "none"


def read_file(path: Path, options: ReadOptions, *, fitted_key: str | None = None) -> Table:
    """Read a file as the options say, or else the matrix that a model was made of."""
    from isofold.tables import read_table

    is_tab = options.delimiter in ("tab", "\\t")
    return read_table(
        path,
        key=options.key,
        encoding=options.encoding or "utf-8",
        header=options.header,
        delimiter="\t" if is_tab else options.delimiter,
        fitted_key=fitted_key,
    )


def with_label(table: Table, options: ReadOptions) -> tuple[Table, ReadOptions]:
    """Take the label that a file obviously has, with a note, unless the user chose otherwise."""
    from isofold.tables.text_safety import quoted

    label = table.label
    named = (*(options.columns or ()), *options.exclude)
    is_taken = label is not None and any(fnmatchcase(label, pattern) for pattern in named)
    if label is None or is_taken or options.label is not None:
        return table, options
    note = f"Colored by the column {quoted(label)}; --label COLUMN chooses another."
    return replace(table, notes=(*table.notes, note)), replace(options, label=label)


def prepare_table(table: Table, options: ReadOptions) -> Prepared:
    """Choose, fill and scale the columns of a table as the options say."""
    from isofold.tables import prepare

    return prepare(
        table,
        columns=options.columns,
        exclude=options.exclude,
        label=options.label,
        missing=options.missing,
        scale=options.scale,
    )


def read_data(
    path: Path, options: ReadOptions, console: Console, *, finds_label: bool = False
) -> Prepared:
    """Read and prepare the data of a command, and say what was read."""
    table = read_file(path, options)
    if finds_label:
        table, options = with_label(table, options)
    prepared = prepare_table(table, options)
    tell_data(path, prepared, console, label=options.label)
    return prepared


def tell_unlabeled(labels: Any, console: Console) -> None:
    """Say how many rows have no label, where each label is taken for a class."""
    n_empty = sum(isinstance(label, str) and label == "" for label in labels)
    if n_empty:
        have, form = ("has", "forms") if n_empty == 1 else ("have", "form")
        console.note(f"{count(n_empty, 'row')} {have} no label and {form} a class without a name.")


def tell_data(
    path: Path, prepared: Prepared, console: Console, *, label: str | None = None
) -> None:
    """Say what was read."""
    n_rows, n_used = prepared.n_rows, len(prepared.X)
    tell_read(
        path.name, prepared.preprocessing, prepared.notes, console,
        n_rows=n_rows, n_used=n_used, label=label,
    )  # fmt: skip


def tell_read(
    name: str,
    preprocessing: Preprocessing,
    notes: tuple[str, ...],
    console: Console,
    *,
    n_rows: int,
    n_used: int,
    label: str | None = None,
) -> None:
    """Say which rows and columns of a table are used."""
    from isofold.tables.text_safety import listed, quoted

    features = preprocessing.features
    names = "" if isinstance(features, int) else f": {listed(features)}"
    rows = count(n_rows, "row") + (f", {n_used:,} of them used" if n_rows > n_used else "")
    labels = "" if label is None else f"; labels: {quoted(label)}"
    columns = count(preprocessing.n_features, "column")
    console.say(f"Read {name}: {rows}; {columns}{names}{labels}.")
    for note in notes:
        console.note(note)
