"""Tables that are read block by block: which columns they have, and what is done to their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold._validation import check_finite
from isofold.blocks.columns import CSV, column_types, open_text
from isofold.blocks.files import find_files, read_explained
from isofold.blocks.protocol import Block, RowBlocks
from isofold.blocks.read import read_blocks
from isofold.blocks.summary import TableSummary
from isofold.tables.columnwise import Facts, facts_at, scaled
from isofold.tables.features import find_useful, gap_notes
from isofold.tables.preparation import (
    about_features,
    is_whole_array,
    positions_in,
    refuse_one_point,
)
from isofold.tables.preprocessing import Preprocessing
from isofold.tables.select import Selection
from isofold.tables.sniff import SAMPLE_BYTES, find_layout
from isofold.tables.sources import find_source
from isofold.tables.table import Column, Table
from isofold.tables.text_safety import quoted, refusal

__all__ = ["BlockPreparation", "Streamed", "choose_features", "open_streamed", "rows_of_model"]

EXAMPLES = 50
"""Rows of text that examples are taken from."""

ZARR = ".zarr"
OBJECT = "O"
"""Kind of type that columns of text have."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """A table in files, opened but not read.

    Attributes
    ----------
    name : str
        What the user called it, ready for the screen.
    paths : tuple of Path
        Its files, or its one .zarr folder; absolute, for other machines that see them.
    head : Table
        Its columns, without rows.
    """

    name: str
    paths: tuple[Path, ...]
    head: Table

    @property
    def has_names(self) -> bool:
        """Whether columns are read by name."""
        return self.head.has_names

    def blocks(self, positions: tuple[int, ...], rows: int) -> RowBlocks:
        """Return the blocks of some columns; of files without names, those of all."""
        names = [self.head.names[p] for p in positions] if self.has_names else []
        is_zarr = self.paths[0].suffix.lower() == ZARR
        source: Any = self.paths[0] if is_zarr else list(self.paths)
        return read_blocks(source, columns=names, rows=rows, missing="keep")

    @cached_property
    def stamps(self) -> tuple[tuple[str, int, int], ...]:
        """Names, sizes and times of the files."""
        return tuple(stamp(path) for path in self.paths)

    @property
    def n_bytes(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size, _ in self.stamps)


def stamp(path: Path) -> tuple[str, int, int]:
    """Return the name, size and time of a file, or of all that a folder holds."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    found = [each.stat() for each in files]
    latest = max((each.st_mtime_ns for each in found), default=0)
    return str(path), sum(each.st_size for each in found), latest


def open_streamed(path: Path) -> Streamed:
    """Find the files of a table and look at the columns of the first one."""
    shown = quoted(path.name)[1:-1]
    if path.suffix.lower() == ZARR and path.is_dir():
        paths: tuple[Path, ...] = (path.absolute(),)
        head = _head_of_array(read_blocks(path), shown)
    else:
        paths = tuple(each.absolute() for each in find_files(path))
        head = _head(paths[0])
    return Streamed(shown, paths, replace(head, source=shown))


def _head_of_array(blocks: RowBlocks, source: str) -> Table:
    block = np.empty((0, blocks.n_features), dtype=blocks.dtype)
    return Table((), 0, source, has_names=False, block=block)


def _head(path: Path) -> Table:
    """Return the columns of a file, text with some examples."""
    if path.suffix.lower() == ".npy":
        return _head_of_array(read_blocks(path), path.name)
    with read_explained(path):
        if path.suffix.lower() in CSV:
            _refuse_other_layout(path)
        types = column_types(path)
        batch = _first_batch(path)
    columns = []
    for name in batch.schema.names:
        is_text = types[name].kind == OBJECT
        examples = [str(each) for each in batch.column(name).to_pylist()] if is_text else []
        values = np.array(examples, dtype=object) if is_text else np.empty(0)
        columns.append(Column(name, values))
    return Table(tuple(columns), 0, path.name)


def _first_batch(path: Path) -> Any:
    """Return some rows of a file as a record batch."""
    if path.suffix.lower() in CSV:
        with open_text(path) as reader:
            return reader.read_next_batch().slice(0, EXAMPLES)
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        first = next(file.iter_batches(EXAMPLES), None) if file.metadata.num_rows else None
        return first or pa.RecordBatch.from_pylist([], schema=schema)


def _refuse_other_layout(path: Path) -> None:
    """Refuse a text file that only a reader of whole files would understand."""
    with path.open("rb") as file:
        text = file.read(SAMPLE_BYTES)
    layout = find_layout(text, find_source(path), header=None, delimiter=None)
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    is_plain = layout.delimiter == usual or len(layout.first_row) == 1
    if not is_plain or not layout.has_header:
        seen = "its first row holds no names"
        if not is_plain:
            seen = f"its fields are separated by {quoted(layout.delimiter)}"
        problem = (
            f"{seen}. Read block by block, a .csv file has commas, a .tsv file tabs, and both a "
            f"first row of names. Write it so, or as .parquet."
        )
        raise refusal(quoted(path.name)[1:-1], problem)


@dataclass(frozen=True)
class BlockPreparation:
    """What is done to the rows of a block, each by itself.

    Attributes
    ----------
    columns : tuple of int or None
        Which columns of a block are features; None for all.
    preprocessing : Preprocessing
        What happens to gaps, and what is scaled.
    """

    columns: tuple[int, ...] | None
    preprocessing: Preprocessing

    def __call__(self, block: Block) -> Block:
        """Return a block of features without gaps."""
        rows = block.rows if self.columns is None else block.rows[:, list(self.columns)]
        gaps = np.isnan(rows)
        if gaps.any() and self.preprocessing.missing == "error":
            check_finite(rows, name=block.name)
        kept = None
        if self.preprocessing.missing == "drop" and gaps.any():
            kept = np.flatnonzero(~gaps.any(axis=1))
            rows = rows[kept]
        n_read = None if kept is None else len(block.rows)
        return replace(block, rows=self.of_rows(rows), kept=kept, n_read=n_read)

    def of_rows(self, rows: FloatArray) -> FloatArray:
        """Return rows filled and scaled, in their precision."""
        same = self.preprocessing
        if same.fill is not None:
            rows = np.where(np.isnan(rows), np.array(same.fill, dtype=rows.dtype), rows)
        if same.center is not None and same.scale is not None:
            rows = scaled(rows, np.array(same.center), np.array(same.scale))
        return rows


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a table, chosen.

    Attributes
    ----------
    indices : tuple of int
        Which of the columns that were looked at they are.
    has_gaps_beside : bool
        Whether rows have gaps in other columns, so that they have to be looked at without these.
    preprocessing : Preprocessing
        What is done to them.
    notes : tuple of str
        Sentences for the screen; if there are such gaps, about the columns that are left out.
    """

    indices: tuple[int, ...]
    has_gaps_beside: bool
    preprocessing: Preprocessing
    notes: tuple[str, ...]


def choose_features(
    table: Streamed, selection: Selection, summary: TableSummary, *, missing: str, scale: str
) -> Features:
    """Choose the features of a table by what is known about its columns."""
    head = replace(table.head, n_rows=summary.n_rows)
    facts = _facts(summary)

    def counts(index: int, *, named: bool) -> bool:
        values = summary.sample.points[:, index]
        is_whole = not summary.n_fractions[index]
        return is_whole and (named or len(np.unique(values)) == len(values))

    kept, notes = find_useful(head, selection, facts, counts)
    others = np.delete(summary.n_missing, kept)
    positions = tuple(selection.features[index] for index in kept)
    names = tuple(head.names[p] for p in positions)
    preprocessing = Preprocessing(
        features=len(names) if is_whole_array(head, positions) else names,
        label=None if selection.label is None else head.names[selection.label],
        missing=missing,
        fill=_medians(summary, kept) if missing == "median" else None,
    )
    n_used = summary.sample.n_seen
    has_gaps_beside = missing == "drop" and bool(others.any())
    if has_gaps_beside:
        return Features(tuple(kept), has_gaps_beside, preprocessing, notes)
    gaps = gap_notes(head, names, summary.n_missing[kept], preprocessing, n_used)
    if preprocessing.fill is not None and gaps:
        n = len(summary.sample.rows)
        gaps = (*gaps, f"Medians are those of {n:,} rows, drawn at random.")
    used = facts_at(_used_facts(summary, preprocessing, kept), list(range(len(kept))))
    refuse_one_point(head.source, n_used, used)
    if scale == "standard":
        deviation = np.sqrt(used.variance)
        deviation[deviation == 0] = 1.0
        center, spread = tuple(used.mean.tolist()), tuple(deviation.tolist())
        preprocessing = replace(preprocessing, center=center, scale=spread)
    about = about_features(names, used, scale)
    every = (*head.notes, *selection.notes, *notes, *gaps, *about)
    return Features(tuple(kept), has_gaps_beside, preprocessing, every)


def _facts(summary: TableSummary) -> Facts:
    """Return the facts about all columns in all rows."""
    is_empty = summary.n_missing == summary.n_rows
    low, high = (np.where(is_empty, np.nan, each) for each in (summary.low, summary.high))
    n_missing = summary.n_missing.astype(np.int64)
    return Facts(low, high, np.zeros(len(low)), np.zeros(len(low)), n_missing)


def _medians(summary: TableSummary, kept: list[int]) -> tuple[float, ...]:
    """Return the medians of a sample; the mean of a column whose values it has missed."""
    means = summary.statistics.mean()
    found = []
    for index in kept:
        values = summary.sample.points[:, index].astype(np.float64)
        is_known = not np.isnan(values).all()
        found.append(float(np.nanmedian(values)) if is_known else float(means[index]))
    return tuple(found)


def _used_facts(summary: TableSummary, preprocessing: Preprocessing, kept: list[int]) -> Facts:
    """Return the facts about features in the rows that are used, with what fills gaps."""
    known = summary.statistics
    low, high, mean, deviation = (
        np.asarray(each, dtype=np.float64)[kept]
        for each in (known.low, known.high, known.mean(), known.standard_deviation())
    )
    variance = deviation**2
    if preprocessing.fill is not None:
        fill = np.array(preprocessing.fill)
        fraction = known.n_missing[kept] / known.n_rows
        apart = fill - mean
        mean = mean + fraction * apart
        variance = (1.0 - fraction) * (variance + fraction * apart**2)
    variance = np.where(low == high, 0.0, variance)
    return Facts(low, high, mean, variance, np.zeros(len(kept), dtype=np.int64))


def rows_of_model(
    table: Streamed, preprocessing: Preprocessing
) -> tuple[tuple[int, ...], BlockPreparation]:
    """Return the columns that a map was made of, and what is done to new rows."""
    positions = positions_in(preprocessing, table.head)
    return positions, BlockPreparation(None if table.has_names else positions, preprocessing)
