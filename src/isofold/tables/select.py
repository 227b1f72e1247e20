"""Which columns of a table are features: requested by name, or found by what they hold."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from isofold.tables.table import Table
from isofold.tables.text_safety import listed, quoted, refusal

__all__ = ["Finder", "Selection", "is_id_name", "select"]

MOST_REASONS = 2
ID_NAMES = re.compile(
    r"(row[ _]?)?(id|index)|row([ _]?(number|names?))?|unnamed: \d+|__index_level_\d+__"
)


@dataclass(frozen=True)
class Selection:
    """Columns by their position in `Table.names`.

    Attributes
    ----------
    features : tuple of int
        Columns of numbers that may be features.
    requested : frozenset of int
        Those that were requested by name, whatever they hold.
    label : int or None
        The label column.
    notes : tuple of str
        What was left out, and why.
    """

    features: tuple[int, ...]
    requested: frozenset[int]
    label: int | None
    notes: tuple[str, ...]


def select(
    table: Table,
    *,
    columns: Sequence[str] | None,
    exclude: Sequence[str],
    label: str | None,
) -> Selection:
    """Choose features and label by name, or take all columns of numbers."""
    names = table.names
    finder = Finder(table)
    label_position = None if label is None else finder.find(label)
    left_out = {p for pattern in exclude for p in finder.resolve(pattern)}
    if columns is None:
        wanted: Iterable[int] = range(table.n_wide or len(names))
    else:
        wanted = dict.fromkeys(p for pattern in columns for p in finder.resolve(pattern))
    wanted = [p for p in wanted if p not in left_out and p != label_position]
    exact = (finder.exact(pattern) for pattern in columns or ())
    requested = frozenset(p for p in exact if p is not None)
    texts = [p for p in wanted if _is_text(table, p)]
    _refuse_requested_text(table, [p for p in texts if p in requested])
    features = tuple(p for p in wanted if not _is_text(table, p))
    notes = (f"Left out (text or dates): {listed(names[p] for p in texts)}.",)
    if not features:
        problem = "no column of numbers is left to make a map of."
        # What was seen while reading often tells why: separators in numbers, nested columns.
        why = " ".join((*(notes if texts else ()), *table.notes[-MOST_REASONS:]))
        raise refusal(table.source, f"{problem} {why}".strip())
    return Selection(features, requested, label_position, notes if texts else ())


def _is_text(table: Table, position: int) -> bool:
    return position >= table.n_wide and table.columns[position - table.n_wide].kind == "text"


def _refuse_requested_text(table: Table, positions: list[int]) -> None:
    if positions:
        column = table.column(positions[0])
        example = next((value for value in column.values if value is not None), "")
        problem = (
            f"column {quoted(column.name)} holds text, such as {quoted(example)}, but features "
            f"are numbers. Leave it out, or pass it as --label."
        )
        raise refusal(table.source, problem)


class Finder:
    """Finds columns of a table by what a user wrote.

    Parameters
    ----------
    table : Table
        The table.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = table.names
        self.positions = {name: position for position, name in enumerate(self.names)}

    def exact(self, pattern: str) -> int | None:
        """Return the column of that name, or None."""
        if pattern not in self.positions and not self.table.has_names and pattern.isdecimal():
            pattern = f"column{pattern}"
        return self.positions.get(pattern)

    def find(self, pattern: str) -> int:
        """Return the column of that name, or an error with names that are close."""
        position = self.exact(pattern)
        if position is None:
            raise refusal(self.table.source, self._unknown(pattern))
        return position

    def resolve(self, pattern: str) -> list[int]:
        """Return the columns that a name, a pattern (pixel*) or a range (first:last) means."""
        position = self.exact(pattern)
        if position is not None:
            return [position]
        first, colon, last = pattern.partition(":")
        start, end = self.exact(first), self.exact(last)
        if colon and start is not None and end is not None:
            return list(range(min(start, end), max(start, end) + 1))
        fitting = []
        if any(sign in pattern for sign in "*?["):
            fitting = [p for p, name in enumerate(self.names) if fnmatchcase(name, pattern)]
        return fitting or [self.find(pattern)]

    def _unknown(self, pattern: str) -> str:
        lower = {name.lower(): name for name in reversed(self.names)}
        close = difflib.get_close_matches(pattern.lower()[:100], list(lower)[:5000], n=3)
        hint = f" Did you mean {listed(lower[name] for name in close)}?" if close else ""
        return (
            f"there is no column {quoted(pattern)}.{hint} There are {listed(self.names, most=12)}."
        )


def is_id_name(name: str) -> bool:
    """Return whether a name says that a column only numbers the rows."""
    return ID_NAMES.fullmatch(name.strip().lower()) is not None
