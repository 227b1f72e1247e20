"""The shape of a text table: what separates its fields, and whether its first row holds names."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import islice

from isofold.blocks.columns import MISSING, is_number, seems_data
from isofold.exceptions import InvalidInputError
from isofold.tables.sources import Source
from isofold.tables.text_safety import quoted, refusal

__all__ = ["MISSING", "TextLayout", "find_layout", "is_number"]

DELIMITERS = (",", "\t", ";", "|")
SAMPLE_BYTES = 2**16
SAMPLE_ROWS = 50


@dataclass(frozen=True)
class TextLayout:
    """How a text table is written.

    Attributes
    ----------
    delimiter : str
        What separates fields.
    has_header : bool
        Whether the first row holds the names of the columns.
    first_row : tuple of str
        The fields of the first row.
    notes : tuple of str
        What a user should know about how this was decided.
    """

    delimiter: str
    has_header: bool
    first_row: tuple[str, ...]
    notes: tuple[str, ...]


def find_layout(
    text: bytes, source: Source, *, header: bool | None, delimiter: str | None
) -> TextLayout:
    """Look at the first rows of a text table."""
    if delimiter is None:
        delimiter = "\t" if source.ending.startswith(".tsv") else _sniffed(text, source)
    elif len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii():
        msg = f"The delimiter {quoted(delimiter)} must be one character, such as , or ; or |."
        raise InvalidInputError(msg)
    first = _first_row(text, delimiter, source)
    has_header, notes = (header, ()) if header is not None else _header(first, source.name)
    return TextLayout(delimiter, has_header, first, notes)


def _sniffed(text: bytes, source: Source) -> str:
    """Return the delimiter that cuts the first rows into equally many fields, and most of them."""
    sample = text[:SAMPLE_BYTES].decode("utf-8", errors="ignore").splitlines()
    if len(text) > SAMPLE_BYTES and len(sample) > 1:
        sample.pop()  # its last line is cut in two
    candidates = (*DELIMITERS, " ") if source.ending.startswith(".txt") else DELIMITERS
    counts = {delimiter: _field_counts(sample, delimiter) for delimiter in candidates}
    even = {d: c[0] for d, c in counts.items() if c and c[0] > 1 and len(set(c)) == 1}
    if even:
        return max(even, key=lambda d: even[d])
    most = {d: max(c, default=0) for d, c in counts.items() if d != " "}
    return max(most, key=lambda d: most[d])


def _field_counts(lines: list[str], delimiter: str) -> list[int]:
    reader = csv.reader((line for line in lines if line.strip()), delimiter=delimiter)
    try:
        return [len(row) for row in islice(reader, SAMPLE_ROWS)]
    except csv.Error:
        return []


def _first_row(text: bytes, delimiter: str, source: Source) -> tuple[str, ...]:
    start = len(text) - len(text.lstrip(b"\r\n"))
    end = start
    # Names may contain line ends in quotes: lines are added until the quotes are closed.
    while end < len(text):
        ends = [p for p in (text.find(b"\n", end), text.find(b"\r", end)) if p >= 0]
        end = min(ends, default=len(text)) + 1
        if text.count(b'"', start, end) % 2 == 0:
            break
    try:
        record = text[start:end].decode("utf-8")
        return tuple(next(csv.reader([record.rstrip("\r\n")], delimiter=delimiter), ()))
    except csv.Error:
        problem = (
            "the first row holds a field of more than 131,072 characters: this is not a table."
        )
        raise refusal(source.name, problem) from None


def _header(first: tuple[str, ...], name: str) -> tuple[bool, tuple[str, ...]]:
    """Decide whether the first row holds names: yes, unless all its fields are numbers."""
    filled = [field.strip() for field in first if field.strip() not in MISSING]
    numbers = [field for field in filled if is_number(field)]
    if not filled or len(numbers) < len(filled):
        decimals = [field for field in numbers if re.search(r"\d\.\d", field)]
        if not decimals:
            return True, ()
        note = (
            f"The first row of {name} is taken for the names of the columns, though "
            f"{quoted(decimals[0])} looks like data. If it is data, pass --no-header."
        )
        return True, (note,)
    if not seems_data(first):
        note = (
            f"The first row of {name} counts 0, 1, 2, ...: these are taken for the names of the "
            f"columns. If they are data, pass --no-header."
        )
        return True, (note,)
    note = (
        f"The first row of {name} holds only numbers, so it is data, and the columns are called "
        f"column1, column2, ... If it holds names, pass --header."
    )
    return False, (note,)
