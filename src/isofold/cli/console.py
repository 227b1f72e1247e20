"""What the commands say, what they write to standard output, and how long work is shown.

All that is said goes to the error stream; results alone go to standard output. On a screen every
line appears at once, wrapped and with some color. Elsewhere lines are held back until the command
has ended well, so that a failed command leaves its one line of error and nothing else in a log.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from isofold.exceptions import InterruptedFitWarning

__all__ = [
    "Console",
    "Watched",
    "aligned",
    "clean",
    "csv_text",
    "current_console",
    "following",
    "put",
    "put_csv",
    "put_json",
    "watched",
]

MOST_COLUMNS = 100
"""Width beyond which lines are hard to read."""

LEAST_ROOM = 20
"""Columns of the narrowest text."""

LONGEST = 1200
"""Characters of a message that are shown: names and labels may be of any length."""

PATIENCE = 2.0
"""Seconds of work that need no bar."""

# Of interest to those who wrote the code, not to those who run it.
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning)


class Console:
    """What is said to the user of one command.

    Attributes
    ----------
    is_quiet : bool
        Whether only warnings and errors are said.
    wants_traceback : bool
        Whether errors show where they happened.
    """

    def __init__(self) -> None:
        self.is_quiet = False
        self.wants_traceback = os.environ.get("ISOFOLD_TRACEBACK", "") not in ("", "0")
        self.is_screen = sys.stderr.isatty()
        self._has_color = (
            self.is_screen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )
        self._held: list[str] = []

    @property
    def shows_progress(self) -> bool:
        """Whether somebody watches who would like to see a bar."""
        return self.is_screen and not self.is_quiet

    def say(self, text: str = "", *, indent: str = "") -> None:
        """Say something that is good to know; nothing makes a blank line."""
        if not self.is_quiet:
            self._tell(indent, text)

    def head(self, text: str) -> None:
        """Say what the next lines are about."""
        if not self.is_quiet:
            self._tell("", text, bold=True)

    def line(self, text: str) -> None:
        """Say a line that is not to be wrapped, such as a command to copy."""
        if not self.is_quiet:
            self._put(clean(text))

    def table(self, rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> None:
        """Say a table whose last column is text, which is wrapped on a narrow screen."""
        width = self._width() if self.is_screen else LONGEST
        starts = aligned([row[:-1] for row in rows], right=right)
        edge = max(map(len, starts)) + 2
        # Beside the other columns, or below them where the text would be too narrow.
        is_beside = width - edge - 2 >= LEAST_ROOM
        later = " " * (edge if is_beside else 2)
        for start, row in zip(starts, rows, strict=True):
            room = max(LEAST_ROOM, width - len(later) - 2)
            wrapped = textwrap.wrap(clean(row[-1]), room, break_on_hyphens=False)
            lines = [later + line for line in wrapped]
            if is_beside:
                lines[:1] = [start.ljust(edge) + "".join(wrapped[:1])]
            else:
                lines.insert(0, start)
            for line in lines:
                self.line(f"  {line}")

    def note(self, text: str) -> None:
        """Say something that the user may not expect."""
        if not self.is_quiet:
            self._tell("note: ", text, color="cyan")

    def warn(self, text: str) -> None:
        """Say what should keep the user from trusting a result."""
        self._tell("warning: ", text, color="yellow")

    def release(self) -> None:
        """Say what was held back: the command has ended well."""
        for line in self._held:
            click.echo(line, err=True)
        self._held.clear()

    def fail(self, text: str) -> None:
        """Say why the command failed, in one line, and forget what was held back."""
        self._held.clear()
        label = click.style("error:", fg="red", bold=True) if self._has_color else "error:"
        with suppress(OSError):  # nobody reads, or the disk is full
            click.echo(f"isofold: {label} {clean(text)}", err=True)

    def _tell(self, start: str, text: str, *, color: str | None = None, bold: bool = False) -> None:
        text = clean(text)
        if self.is_screen:
            later = " " * len(start)
            text = textwrap.fill(
                text,
                self._width(),
                initial_indent=start,
                subsequent_indent=later,
                break_on_hyphens=False,
            )[len(start) :]
        if self._has_color:
            start = click.style(start, fg=color, bold=True) if color else start
            text = click.style(text, bold=True) if bold else text
        self._put(f"{start}{text}")

    def _width(self) -> int:
        return max(LEAST_ROOM, min(MOST_COLUMNS, shutil.get_terminal_size().columns))

    def _put(self, line: str) -> None:
        if self.is_screen:
            click.echo(line, err=True)
        else:
            self._held.append(line)


def current_console() -> Console:
    """Return the console of the command that is running."""
    console = click.get_current_context().find_root().obj
    return console if isinstance(console, Console) else Console()


def clean(text: str) -> str:
    """Return a text as one line without control characters, clipped if it is very long."""
    lead = len(text) - len(text.lstrip(" "))
    shown = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)
    shown = shown.strip() if lead == 0 else " " * lead + shown.strip()
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def aligned(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Return the lines of a table whose columns stand one below the other."""
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    at_right = set(right)
    return [
        "  ".join(
            cell.rjust(width) if column in at_right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def put(lines: Sequence[str]) -> None:
    """Write lines to standard output."""
    for line in lines:
        click.echo(line)


def put_json(value: Any) -> None:
    """Write a value as JSON, with null for NaN and infinity."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def put_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as comma-separated values, with empty cells for NaN and infinity."""
    click.echo(csv_text(rows), nl=False)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as comma-separated values."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _plain(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


@dataclass
class Watched:
    """What was warned of during some work.

    Attributes
    ----------
    notes : tuple of str
        The warnings, each once.
    interruption : str
        What to say if the user ended the work early; else empty.
    """

    notes: tuple[str, ...] = ()
    interruption: str = ""

    @property
    def is_interrupted(self) -> bool:
        """Whether the user ended the work, and got the best that was found until then."""
        return bool(self.interruption)

    @property
    def messages(self) -> tuple[str, ...]:
        """All that was warned of."""
        return (self.interruption, *self.notes) if self.interruption else self.notes


@contextmanager
def watched(console: Console) -> Iterator[Watched]:
    """Follow some work and gather its warnings, without those that a diagnosis holds."""
    from isofold._findings import tells_findings

    seen = Watched()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with following(console):
            yield seen
    notes: dict[str, None] = {}
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if issubclass(warning.category, InterruptedFitWarning):
            seen.interruption = text
        elif not issubclass(warning.category, _FOR_DEVELOPERS) and not tells_findings(
            warning.message
        ):
            notes[text] = None
    seen.notes = tuple(notes)


@contextmanager
def following(console: Console) -> Iterator[None]:
    """Show the progress of what happens inside, if there is somebody to see it."""
    if not console.shows_progress:
        yield
        return
    from isofold._progress.bar import progress_bar
    from isofold._progress.stages import progress

    with ExitStack() as stack:
        bar = stack.enter_context(progress_bar(after=PATIENCE))
        stack.enter_context(progress(bar))
        yield
