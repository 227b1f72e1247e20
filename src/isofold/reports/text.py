"""Text of strangers made fit for HTML, attributes, SVG and JSON within a script element."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from isofold.tables.text_safety import plain

__all__ = ["cut", "json_for_script", "markup", "significant"]

SHOWN_LENGTH = 200
"""Characters of a text that are shown on the page; exports keep all."""

# Harmless in JSON, but with a meaning in HTML, or in scripts of old.
ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def cut(value: Any, length: int = SHOWN_LENGTH) -> str:
    """Return the beginning of a text, marked if there is more."""
    text = plain(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def markup(value: Any, length: int = SHOWN_LENGTH) -> str:
    """Return a text, cut and escaped for HTML, its attributes and SVG.

    Control characters are shown as spaces: XML has no way to write them, and no reader sees them.
    """
    visible = "".join(c if c.isprintable() else " " for c in cut(value, length))
    return escape(visible, quote=True)


def json_for_script(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).translate(ESCAPES)


def significant(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that count, without exponent where it can be read.

    Examples
    --------
    >>> from isofold.reports.text import significant
    >>> [significant(v) for v in (0.031416, 1234567, 0.0, 2.5e-9)]
    ['0.0314', '1,234,567', '0', '2.5e-09']
    """
    if value == 0:
        return "0"
    if 1e3 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
