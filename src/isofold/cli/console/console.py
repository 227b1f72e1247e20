"""What the commands say, all of it on the error stream: results alone go to standard output.

On a screen every line appears at once, wrapped and with some color. Elsewhere lines are held back
until the command has ended well, so that a failed command leaves its one line of error and nothing
else in a log.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import suppress

import click

__all__ = ["Console", "aligned", "clean", "current_console"]

MOST_COLUMNS = 100
"""Width beyond which lines are hard to read."""

LEAST_ROOM = 20
"""Columns of the narrowest text."""

LONGEST = 1200
"""Characters of a message that are shown: names and labels may be of any length."""


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
        """Say a table whose last column is words, which are wrapped on a narrow screen."""
        width = self._width() if self.is_screen else LONGEST
        starts = aligned([row[:-1] for row in rows], right=right)
        edge = max(map(len, starts)) + 2
        # Beside the other columns, or below them where only slips of words would fit.
        is_beside = width - edge - 2 >= LEAST_ROOM
        later = " " * (edge if is_beside else 2)
        for start, row in zip(starts, rows, strict=True):
            room = max(LEAST_ROOM, width - len(later) - 2)
            words = textwrap.wrap(clean(row[-1]), room, break_on_hyphens=False)
            lines = [later + part for part in words]
            if is_beside:
                lines[:1] = [start.ljust(edge) + "".join(words[:1])]
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
        with suppress(OSError):  # nobody reads, or the disk is full: there is no other place for it
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
    """Return a text as one line that no terminal takes for orders, clipped if it is very long."""
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
