"""The data file of a command: read, prepared, and told about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import count
from isofold.cli.console.console import Console

if TYPE_CHECKING:
    from isofold.tables import Prepared, Table

__all__ = ["prepare_table", "read_data", "read_file", "tell_data", "tell_unlabeled"]


def read_file(path: Path, options: Mapping[str, Any]) -> Table:
    """Read a file as the options say."""
    from isofold.tables import read_table

    sign = options.get("delimiter")
    return read_table(
        path,
        key=options.get("key"),
        encoding=options.get("encoding") or "utf-8",
        header=options.get("header"),
        delimiter="\t" if sign in ("tab", "\\t") else sign,
    )


def prepare_table(table: Table, options: Mapping[str, Any]) -> Prepared:
    """Choose, fill and scale the columns of a table as the options say."""
    from isofold.tables import prepare

    return prepare(
        table,
        columns=options.get("columns"),
        exclude=options.get("exclude") or (),
        label=options.get("label"),
        missing=options.get("missing") or "drop",
        scale=options.get("scale") or "none",
    )


def read_data(path: Path, options: Mapping[str, Any], console: Console) -> Prepared:
    """Read and prepare the data of a command, and say what was read."""
    prepared = prepare_table(read_file(path, options), options)
    tell_data(path, prepared, console, label=options.get("label"))
    return prepared


def tell_unlabeled(labels: Any, console: Console) -> None:
    """Say how many rows have no label, where each label is taken for a class."""
    n_empty = sum(isinstance(label, str) and label == "" for label in labels)
    if n_empty:
        have, they = ("has", "counts") if n_empty == 1 else ("have", "count")
        console.note(
            f"{count(n_empty, 'row')} {have} no label, and {they} as a class without name."
        )


def tell_data(
    path: Path, prepared: Prepared, console: Console, *, label: str | None = None
) -> None:
    """Say what was read."""
    from isofold.tables.text_safety import listed, quoted

    names = prepared.recipe.features
    told = "" if isinstance(names, int) else f": {listed(names)}"
    left_out = prepared.n_rows - len(prepared.X)
    rows = count(prepared.n_rows, "row") + (
        f", {len(prepared.X):,} of them used" if left_out else ""
    )
    labels = "" if label is None else f"; labels: {quoted(label)}"
    console.say(f"Read {path.name}: {rows}; {count(prepared.X.shape[1], 'column')}{told}{labels}.")
    for note in prepared.notes:
        console.note(note)
