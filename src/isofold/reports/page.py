"""One HTML file of template, style, scripts and data, which may run nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from isofold.exceptions import EmbeddingError

__all__ = ["fill_template", "policy", "read_asset", "read_script"]

SCRIPTS = (
    "decode",
    "format",
    "parts",
    "grid",
    "view",
    "colors",
    "paint",
    "density",
    "overlay",
    "select",
    "legend",
    "layers",
    "panels",
    "wayback",
    "pointer",
    "keys",
    "main",
    "wire",
)
"""Parts of the viewer, in the order in which they need each other."""


@cache
def read_asset(name: str) -> str:
    """Return the text of a file that comes with the package."""
    return files("isofold.reports").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def read_script(names: tuple[str, ...] = SCRIPTS) -> str:
    """Return a viewer as one script, with names of its own."""
    parts = "\n".join(read_asset(f"{name}.js") for name in names)
    return f'"use strict";\n{{\n{parts}}}\n'


def policy(scripts: tuple[str, ...], style: str) -> str:
    """Return a content security policy: these scripts and this style, nothing from elsewhere."""
    allowed = " ".join(f"'{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src '{_digest(style)}'; "
        f"img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def fill_template(template: str, parts: dict[str, str]) -> str:
    """Return a template with its marks replaced, each once and none within what was put in."""

    def part(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in parts:
            msg = f"The template of the page asks for {name!r}, which is missing."
            raise EmbeddingError(msg)
        return parts[name]

    return re.sub(r"\{\{(\w+)\}\}", part, template)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
