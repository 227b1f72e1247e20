"""Text tables: .csv, .tsv and .txt, plain or packed by gzip."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from isofold.tables.columnar import columns_of
from isofold.tables.encoding import load_utf8
from isofold.tables.sniff import MISSING, TextLayout, find_layout
from isofold.tables.sources import Source
from isofold.tables.table import Column, Table
from isofold.tables.text_safety import one_line, quoted, refusal

__all__ = ["read_text"]

BLOCK, LARGEST_BLOCK = 2**22, 2**28
"""Bytes that are parsed at a time: what the cache of a processor core holds, and where that fails,
since a row may be longer, a file of up to 256 MB as a whole."""

MOST_FOR_THREADS = 5000
"""With more columns, handing each to a thread costs more than reading it."""

WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}([,' \u00a0\u202f.]\d{3})+(\.\d+)?\s*")
SAMPLE = 1000


def read_text(
    source: Source, *, encoding: str, header: bool | None, delimiter: str | None
) -> Table:
    """Read a text table with pyarrow."""
    text = load_utf8(source, encoding)
    layout = find_layout(text, source, header=header, delimiter=delimiter)
    data = _parsed(text, layout, source)
    if data.num_rows == 0:
        problem = "there is a first row, but no data below it. Was the file saved completely?"
        raise refusal(source.name, problem)
    names, notes = _names(layout, data.column_names)
    columns, more = columns_of(data, names, source.name)
    return Table(
        columns=columns,
        n_rows=data.num_rows,
        source=source.name,
        has_names=layout.has_header,
        notes=(*layout.notes, *notes, *more, *_about_separators(columns, source.name)),
    )


def _names(layout: TextLayout, found: list[str]) -> tuple[list[str], tuple[str, ...]]:
    if not layout.has_header:
        return [f"column{i + 1}" for i in range(len(found))], ()
    # Tables saved with their row numbers have no name above them: called as pandas calls it.
    names = [name.strip() or f"unnamed: {i}" for i, name in enumerate(found)]
    nameless = [name for name, given in zip(names, found, strict=True) if not given.strip()]
    if not nameless:
        return names, ()
    return names, (f"Columns without a name are called {', '.join(nameless[:3])} and so on.",)


def _parsed(text: bytes, layout: TextLayout, source: Source) -> Any:
    import pyarrow as pa

    with suppress(pa.ArrowInvalid):
        return _parse(text, layout, BLOCK)
    try:
        return _parse(text, layout, LARGEST_BLOCK)
    except pa.ArrowInvalid as error:
        _refuse_ragged(text, layout, source)
        # A later block of a large file did not fit the types of the first one.
        if "Empty CSV" in str(error):
            raise refusal(source.name, "there is one line only, but a table has rows.") from None
        if "conversion error" not in str(error):
            problem = f"the text cannot be cut into rows and columns: {one_line(error)}."
            raise refusal(source.name, problem) from None
    return _parse(text, layout, LARGEST_BLOCK, as_text=True)


def _parse(
    text: bytes,
    layout: TextLayout,
    block_size: int,
    *,
    as_text: bool = False,
    invalid_row_handler: Any = None,
) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    n_columns = len(layout.first_row)
    # Names repeat in damaged files, so columns get numbers here and their names afterwards.
    threads = n_columns <= MOST_FOR_THREADS and invalid_row_handler is None
    types = dict.fromkeys(_arrow_names(layout), pa.string()) if as_text else None
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(
            use_threads=threads,
            block_size=min(len(text) + 1, block_size),
            autogenerate_column_names=not layout.has_header,
        ),
        parse_options=csv.ParseOptions(
            delimiter=layout.delimiter,
            newlines_in_values=b'"' in text,
            invalid_row_handler=invalid_row_handler,
        ),
        convert_options=csv.ConvertOptions(
            null_values=list(MISSING), strings_can_be_null=True, column_types=types
        ),
    )


def _arrow_names(layout: TextLayout) -> tuple[str, ...]:
    if layout.has_header:
        return layout.first_row
    return tuple(f"f{i}" for i in range(len(layout.first_row)))


def _refuse_ragged(text: bytes, layout: TextLayout, source: Source) -> None:
    """Parse once more, row after row, to find the row that has too few or too many fields."""
    import pyarrow as pa

    bad: list[Any] = []

    def remember(row: Any) -> str:
        bad.append(row)
        return "error"

    with suppress(pa.ArrowInvalid):
        _parse(text, layout, LARGEST_BLOCK, as_text=True, invalid_row_handler=remember)
    if not bad:
        return
    row = bad[0]
    where = f"row {row.number:,}" if row.number is not None else "a row"
    problem = (
        f"{where} (counted from the top) has {row.actual_columns:,} field(s), but "
        f"{row.expected_columns:,} are expected: {quoted(row.text)}. Fields are separated by "
        f"{quoted(layout.delimiter)}; put quotes around text that contains it, or pass --delimiter."
    )
    raise refusal(source.name, problem)


def _about_separators(columns: tuple[Column, ...], name: str) -> tuple[str, ...]:
    """Refuse decimal commas, and note numbers that are text because of their separators."""
    notes = []
    for column in columns:
        if column.kind != "text":
            continue
        sample = [value for value in column.values[:SAMPLE] if value is not None]
        thousands = [value for value in sample if THOUSANDS.fullmatch(value)]
        commas = [value for value in sample if WITH_COMMA.fullmatch(value)]
        if sample and len(thousands) == len(sample):
            notes.append(
                f"Column {quoted(column.name)} is text, because numbers such as "
                f"{quoted(thousands[0])} have separators between thousands. Write them without."
            )
        elif commas and 2 * len(commas) > len(sample):
            problem = (
                f"column {quoted(column.name)} has numbers with a decimal comma, such as "
                f"{quoted(commas[0])}. Write them with a point: in a spreadsheet, save as CSV with "
                f"English number format."
            )
            raise refusal(name, problem)
    return tuple(notes)
