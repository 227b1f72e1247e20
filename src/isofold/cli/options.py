"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from isofold.cli.command import option

__all__ = [
    "DimensionType",
    "NameList",
    "data_options",
    "file_argument",
    "force_option",
    "format_options",
    "output_option",
    "read_settings",
    "work_options",
]

READING = "Reading the file"
WORK = "Work"


class DimensionType(click.ParamType):
    """A number of dimensions, or "auto"."""

    name = "dimension"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return a number from 1 on, or "auto"."""
        if value == "auto":
            return "auto"
        is_number = isinstance(value, int) or (value.isascii() and value.isdigit())
        if not is_number or not 0 < int(value) < 10**6:
            self.fail(f"{value!r} is neither a whole number from 1 on nor auto.", param, ctx)
        return int(value)


class NameList(click.ParamType):
    """Names with commas between; a name with a comma is put in double quotes."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        try:
            names = next(csv.reader([value], skipinitialspace=True, strict=True), [])
        except csv.Error as error:
            self.fail(f"{value!r} is no list of names: {error}.", param, ctx)
        if not names or "" in names:
            self.fail(f"{value!r} has an empty name.", param, ctx)
        return tuple(names)


def file_argument(name: str, **attributes: Any) -> Callable[[Any], Any]:
    """Return a decorator that adds the argument of a file to read."""
    kind = click.Path(dir_okay=True, path_type=Path)
    return click.argument(name, type=kind, metavar=name.upper(), **attributes)


def output_option(*flags: str, metavar: str, text: str, required: bool = False) -> Any:
    """Return a decorator that adds the option of a file to write."""
    return option(
        *flags,
        section="Output",
        type=click.Path(path_type=Path),
        metavar=metavar,
        required=required,
        help=text,
    )


force_option = option(
    "--force", section="Output", is_flag=True, help="Overwrite files that are there already."
)


def data_options(function: Any) -> Any:
    """Add the options that say which numbers of a file are used, and how it is read."""
    function = format_options(function)
    for decorate in reversed(
        (
            option(
                "-c",
                "--columns",
                section=READING,
                type=NameList(),
                metavar="NAMES",
                help="Columns to use, such as a,b,pixel*. Default: all numeric columns.",
            ),
            option(
                "-x",
                "--exclude",
                section=READING,
                type=NameList(),
                default=(),
                metavar="NAMES",
                help="Columns not to use, such as id,date.",
            ),
            option(
                "-l",
                "--label",
                section=READING,
                metavar="COLUMN",
                help="Column of classes or values to color by. It does not take part.",
            ),
            option(
                "--missing",
                section=READING,
                type=click.Choice(["drop", "median", "error"]),
                default="drop",
                show_default=True,
                metavar="HOW",
                help="Rows with missing numbers: drop them, fill in the median, or error.",
            ),
            option(
                "--scale",
                section=READING,
                type=click.Choice(["none", "standard"]),
                default="none",
                show_default=True,
                metavar="HOW",
                help="standard gives all columns the same spread: use it if units differ.",
            ),
        )
    ):
        function = decorate(function)
    return function


def format_options(function: Any) -> Any:
    """Add the options that say how a file is to be read."""
    for decorate in reversed(
        (
            option(
                "--key",
                section=READING,
                metavar="NAME",
                help="Array of an npz, h5ad or zarr file, if it holds several.",
            ),
            option(
                "--encoding",
                section=READING,
                default="utf-8",
                show_default=True,
                metavar="NAME",
                help="Encoding of a text file.",
            ),
            option(
                "--delimiter",
                section=READING,
                metavar="SIGN",
                help="What separates fields of a text file, such as ; or tab. Default: found out.",
            ),
            option(
                "--header/--no-header",
                section=READING,
                default=None,
                help="Whether the first line of a text file holds names. Default: found out.",
            ),
        )
    ):
        function = decorate(function)
    return function


def work_options(function: Any) -> Any:
    """Add the options of seed and processor cores."""
    for decorate in (
        option(
            "--jobs",
            section=WORK,
            type=click.IntRange(min=-1),
            default=1,
            show_default=True,
            metavar="N",
            help="Processor cores to use; -1 for all. Results do not depend on it.",
        ),
        option(
            "--seed",
            section=WORK,
            type=click.IntRange(0, 2**32 - 1),
            default=0,
            show_default=True,
            metavar="N",
            help="Same seed, same data, same result.",
        ),
    ):
        function = decorate(function)
    return function


def read_settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return what ``--set name=value`` says."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier():
            msg = f"--set {pair!r} is not of the form name=value."
            raise click.UsageError(msg, click.get_current_context())
        if name in settings:
            msg = f"--set {name} is given twice."
            raise click.UsageError(msg, click.get_current_context())
        settings[name] = _value(name, text)
    return settings


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        if re.fullmatch(r"[A-Za-z_][\w-]*", text) and text not in ("NaN", "Infinity"):
            return text
    clipped = text if len(text) <= 60 else f"{text[:59]}…"
    msg = (
        f"--set {name}={clipped}: the value is neither a word nor a JSON value such as 12, 0.5, "
        f'true, null or "a text".'
    )
    raise click.UsageError(msg, click.get_current_context())


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)
