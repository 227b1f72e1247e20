"""Files of objects that are not rows of numbers: sequences, molecules, graphs, texts, series.

A name's ending tells what a file holds where there is one for it (.fasta, .smi, .graphml). Plain
text (.txt) has one object a line. Of a table, one column of text holds the objects, or, for series,
every row of numbers is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._format import count
from isofold._typing import IntArray
from isofold.exceptions import InvalidInputError
from isofold.tables.features import assemble
from isofold.tables.select import select
from isofold.tables.sources import require_room
from isofold.tables.table import Column, Table
from isofold.tables.text_safety import listed, one_line, quoted, refusal

__all__ = ["Collection", "kind_of", "objects_of_table", "read_collection"]

ENDINGS = {
    ".fasta": "sequences",
    ".fa": "sequences",
    ".faa": "sequences",
    ".fna": "sequences",
    ".smi": "molecules",
    ".smiles": "molecules",
    ".graphml": "graphs",
}
PLAIN = ".txt"
FEWEST = 3
BYTES_A_BYTE = 20
"""Memory that text takes as objects of Python, graphs among them."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Objects of a file, and what is known of them.

    Attributes
    ----------
    kind : str
        One of "strings", "sequences", "molecules", "graphs", "texts", "series".
    objects : tuple
        The objects.
    names : tuple of str
        What they are called.
    rows : ndarray of shape (n_objects,)
        Which objects of the file they are, counted from 0: some cannot be read.
    n_rows : int
        Number of objects in the file.
    columns : tuple of Column
        What else the file tells.
    notes : tuple of str
        Sentences about what was found while reading.
    """

    kind: str
    objects: tuple[Any, ...]
    names: tuple[str, ...]
    rows: IntArray
    n_rows: int
    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()


def kind_of(path: Path) -> str | None:
    """Return the kind of objects that a path holds, None if its name does not tell."""
    if path.is_dir() and next(path.glob("*.graphml"), None) is not None:
        return "graphs"
    return ENDINGS.get(path.suffix.lower())


def read_collection(path: Path, kind: str, *, encoding: str = "utf-8") -> Collection | None:
    """Read a file or folder of objects; return None if it is a table that holds them."""
    shown = quoted(path.name)[1:-1]
    ending = path.suffix.lower()
    own = kind_of(path)
    if own is None and ending != PLAIN and not path.is_dir():
        return None
    if own is not None and own != kind:
        raise refusal(shown, f"this file holds {own}, not {kind}. Leave --object out.")
    files = sorted(path.glob(f"*{'.graphml' if own else PLAIN}")) if path.is_dir() else [path]
    if not files:
        raise refusal(shown, f"this folder has no file whose name ends in {PLAIN} or .graphml.")
    try:
        require_room(BYTES_A_BYTE * sum(file.stat().st_size for file in files), shown)
        if own == "graphs":
            return _read_graphs(files, shown)
        if path.is_dir():
            return _of_items(kind, shown, [(f.stem, _text(f, encoding)) for f in files])
        if own == "sequences":
            return _read_fasta(_text(path, encoding), shown)
        return _of_lines(kind, _text(path, encoding), shown)
    except OSError as error:
        raise refusal(shown, f"it cannot be read: {one_line(error.strerror or error)}.") from None


def objects_of_table(
    table: Table,
    kind: str,
    *,
    columns: tuple[str, ...] | None = None,
    exclude: tuple[str, ...] = (),
    label: str | None = None,
) -> Collection:
    """Return the objects that a column of a table holds, or its rows of numbers as series."""
    if kind == "graphs":
        problem = "graphs are read from .graphml files, or from a folder of them."
        raise refusal(table.source, problem)
    if kind == "series":
        features = select(table, columns=columns, exclude=exclude, label=label).features
        return _series_of_table(table, features)
    texts = [column.name for column in table.columns if column.kind == "text"]
    chosen = columns or (tuple(texts) if len(texts) == 1 else ())
    if len(chosen) != 1 or chosen[0] not in texts:
        there = f"It has {listed(texts)}." if texts else "It has none."
        problem = f"--columns must name the one column of text that holds the {kind}. {there}"
        raise refusal(table.source, problem)
    values = next(column.values for column in table.columns if column.name == chosen[0])
    names = [f"{row + 1}" for row in range(table.n_rows)]
    others = tuple(column for column in table.columns if column.name != chosen[0])
    return _of_items(kind, table.source, list(zip(names, values, strict=True)), others)


def _text(path: Path, encoding: str) -> str:
    """Return the contents of a text file."""
    try:
        return path.read_text(encoding=encoding)
    except (UnicodeDecodeError, LookupError) as error:
        problem = f"it is not text in the encoding {quoted(encoding)}: {one_line(error)}."
        raise refusal(quoted(path.name)[1:-1], f"{problem} Pass --encoding.") from None


def _read_fasta(text: str, shown: str) -> Collection:
    """Return sequences, their identifiers, and the rest of their title lines."""
    parser = require("Bio.SeqIO.FastaIO", extra="objects", purpose="Reading FASTA")
    entries = list(parser.SimpleFastaParser(iter(text.splitlines(keepends=True))))
    titles = [title.split(None, 1) or [""] for title, _ in entries]
    items = [
        (title[0], sequence.upper() or None)
        for title, (_, sequence) in zip(titles, entries, strict=True)
    ]
    described = [title[1].strip() if len(title) > 1 else None for title in titles]
    columns = [_column("description", described)] if any(described) else []
    lengths = np.array([len(sequence) for _, sequence in entries], dtype=float)
    return _of_items("sequences", shown, items, (*columns, Column("length", lengths)))


def _of_lines(kind: str, text: str, shown: str) -> Collection:
    """Return an object for each line that is not empty."""
    lines = [line.strip() for line in text.splitlines()]
    numbered = [(f"{number}", line) for number, line in enumerate(lines, start=1) if line]
    if kind == "molecules":
        # SMILES, then its name; a first line of words is a header.
        parts = [(number, *line.split(None, 1)) for number, line in numbered]
        if parts and parts[0][1].lower() == "smiles":
            parts = parts[1:]
        numbered = [(part[2] if len(part) > 2 else part[0], part[1]) for part in parts]
    return _of_items(kind, shown, numbered)


def _of_items(
    kind: str, shown: str, items: list[tuple[str, Any]], columns: tuple[Column, ...] = ()
) -> Collection:
    """Return what can be read of names and texts, with a note on the others."""
    read = {"molecules": _molecule, "series": _series}.get(kind)
    objects, rows, refused = [], [], []
    for row, (name, text) in enumerate(items):
        made = text if read is None or text is None else read(text)
        if made is None:
            refused.append(name)
        else:
            objects.append(made)
            rows.append(row)
    return _finished(kind, shown, objects, [items[row][0] for row in rows], rows, len(items),
                     columns=columns, refused=refused)  # fmt: skip


def _finished(
    kind: str,
    shown: str,
    objects: Iterable[Any],
    names: Iterable[str],
    rows: Iterable[int],
    n_rows: int,
    *,
    columns: tuple[Column, ...] = (),
    refused: Iterable[str] = (),
) -> Collection:
    """Return a collection, or refuse one of too few objects."""
    found, left_out = tuple(objects), list(refused)
    notes = []
    if left_out:
        n_out = count(len(left_out), kind[:-1] if kind != "series" else kind)
        notes.append(f"Left out {n_out} that could not be read: {listed(left_out)}.")
    if len(found) < FEWEST:
        problem = f"{len(found)} {kind} to make a map of, but at least {FEWEST} are needed."
        raise refusal(shown, " ".join([problem, *notes]))
    where = np.array(list(rows), dtype=np.int64)
    kept = tuple(Column(column.name, column.values[where]) for column in columns)
    return Collection(kind, found, tuple(names), where, n_rows, kept, tuple(notes))


def _molecule(text: str) -> Any:
    """Return a molecule, None if it cannot be read."""
    from isofold.similarity import molecule_graphs

    try:
        return molecule_graphs([text])[0]
    except InvalidInputError:
        return None


def _series(text: str) -> Any:
    """Return a line of numbers, None if it is none."""
    try:
        numbers = np.array([float(part) for part in re.split(r"[\s,;]+", text.strip(" ,;\t"))])
    except ValueError:
        return None
    return numbers if numbers.size and np.isfinite(numbers).all() else None


def _series_of_table(table: Table, positions: tuple[int, ...]) -> Collection:
    """Return every row of numbers as a series; what is missing at its end is not part of it."""
    values = assemble(table, positions)
    known = ~np.isnan(values)
    ends = values.shape[1] - known[:, ::-1].argmax(axis=1)
    lengths = np.where(known.any(axis=1), ends, 0)
    whole = (known.sum(axis=1) == lengths) & (lengths > 0)
    rows = np.flatnonzero(whole)
    objects = [values[row, : lengths[row]].astype(float) for row in rows]
    others = tuple(
        column
        for position, column in enumerate(table.columns, start=table.n_wide)
        if position not in positions
    )
    refused = [f"{row + 1}" for row in np.flatnonzero(~whole)]
    names = [f"{row + 1}" for row in rows]
    return _finished("series", table.source, objects, names, rows.tolist(), table.n_rows,
                     columns=others, refused=refused)  # fmt: skip


def _read_graphs(files: list[Path], shown: str) -> Collection:
    """Return all graphs of some files, named by file and by their identifiers."""
    named = [
        (file.stem if index == 0 and is_only else f"{file.stem} {index + 1}", graph)
        for file in files
        for index, graph, is_only in _graphs_of(file)
    ]
    graphs = [graph for _, graph in named]
    keys = sorted(
        {key for graph in graphs for key in graph.graph if isinstance(key, str)} - DEFAULTS
    )
    columns = tuple(_column(key, [graph.graph.get(key) for graph in graphs]) for key in keys)
    return _finished("graphs", shown, graphs, [name for name, _ in named], range(len(named)),
                     len(named), columns=columns)  # fmt: skip


DEFAULTS = {"node_default", "edge_default"}
"""What NetworkX notes of a file beside the attributes of a graph."""


def _graphs_of(file: Path) -> Iterator[tuple[int, Any, bool]]:
    """Yield the graphs of a file, simple ones, and whether there is only one."""
    networkx = require("networkx", extra="objects", purpose="Reading GraphML")
    reader = require("networkx.readwrite.graphml", extra="objects", purpose="Reading GraphML")
    try:
        found = list(reader.GraphMLReader()(path=file))
    except Exception as error:
        # Damaged files make libraries fail in ways that their authors did not foresee.
        problem = f"the file is damaged, or not GraphML: {one_line(error)}."
        raise refusal(quoted(file.name)[1:-1], problem) from error
    for index, graph in enumerate(found):
        simple = networkx.DiGraph if graph.is_directed() else networkx.Graph
        made = simple(graph) if graph.is_multigraph() else graph
        yield index, made, len(found) == 1


def _column(name: str, values: list[Any]) -> Column:
    """Return values as numbers if all are, else as text."""
    is_number = all(v is None or isinstance(v, int | float) for v in values)
    if is_number:
        return Column(name, np.array([np.nan if v is None else float(v) for v in values]))
    texts: npt.NDArray[Any] = np.empty(len(values), dtype=object)
    texts[:] = [None if value is None else str(value) for value in values]
    return Column(name, texts)
