"""Text from files for the screen: names and contents, quoted so that they stay text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from isofold.exceptions import InvalidInputError

__all__ = ["listed", "one_line", "plain", "quoted", "refusal"]

LONGEST_QUOTE = 60
LONGEST_REASON = 160
MOST_NAMES = 6


def _escaped(text: str) -> str:
    # Line ends, terminal codes, marks that reverse the writing direction and half characters
    # (bytes of a file name that are not text) are shown by their number.
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def quoted(content: object, longest: int = LONGEST_QUOTE) -> str:
    """Return contents of a file in quotes: printable, on one line, cut if long."""
    # Cut first: escaping a field of many megabytes would take its time.
    return f"'{_clipped(_escaped(_clipped(str(content), longest)), longest)}'"


def one_line(reason: object) -> str:
    """Return the first line of another library's message, without its final period."""
    lines = str(reason)[: 10 * LONGEST_REASON].strip().splitlines() or [""]
    return _clipped(_escaped(lines[0]).rstrip(" .:"), LONGEST_REASON) or type(reason).__name__


def plain(value: Any) -> str:
    """Return a value as text that can be written as UTF-8."""
    text = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", errors="replace").decode("utf-8")


def listed(names: Iterable[str] | Mapping[str, object], most: int = MOST_NAMES) -> str:
    """Return names as a list for reading, a mapping's remarks in brackets behind them.

    After the first few names comes the number of those that are left out.
    """
    given = list(names)
    shown = [quoted(name) for name in given[:most]]
    if isinstance(names, Mapping):
        shown = [f"{text} ({names[name]})" for text, name in zip(shown, given, strict=False)]
    if len(given) > most:
        shown.append(f"{len(given) - most:,} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def refusal(source: str, problem: str) -> InvalidInputError:
    """Return the error that says what is wrong with a file."""
    return InvalidInputError(f"{source}: {problem}")
