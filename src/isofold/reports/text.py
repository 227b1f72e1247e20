"""Untrusted text made safe for HTML, attributes, SVG and JSON within a script element."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from isofold.tables.text_safety import plain

__all__ = ["cut", "json_for_script", "markup"]

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

    Control characters are shown as spaces: XML cannot hold them, and readers do not see them.
    """
    visible = "".join(c if c.isprintable() else " " for c in cut(value, length))
    return escape(visible, quote=True)


def json_for_script(value: Any) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).translate(ESCAPES)
