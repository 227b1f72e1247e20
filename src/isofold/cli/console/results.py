"""Results for people and for machines, on standard output."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click

__all__ = ["put", "put_csv", "put_json"]


def put(lines: Sequence[str]) -> None:
    """Write lines to standard output."""
    for line in lines:
        click.echo(line)


def put_json(value: Any) -> None:
    """Write a value as JSON, with null for numbers that are none."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def put_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as comma-separated values, with empty cells for numbers that are none."""
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
