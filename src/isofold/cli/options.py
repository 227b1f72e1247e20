"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from isofold.cli.command import option

__all__ = [
    "DimensionType",
    "MemoryType",
    "NameList",
    "chosen",
    "data_options",
    "file_argument",
    "force_option",
    "format_options",
    "output_option",
    "stream_options",
    "work_options",
]

READING = "Reading the file"
WORK = "Work"
LARGE = "Tables larger than memory"

_Chosen = TypeVar("_Chosen")


class DimensionType(click.ParamType):
    """A number of dimensions, or "auto"."""

    name = "dimension"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Return a positive number, or "auto"."""
        if value == "auto":
            return "auto"
        is_number = isinstance(value, int) or (value.isascii() and value.isdigit())
        if not is_number or not 0 < int(value) < 10**6:
            self.fail(f"{value!r} is neither a positive whole number nor auto.", param, ctx)
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
            self.fail(f"{value!r} is not a list of names: {error}.", param, ctx)
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


force_option = option("--force", section="Output", is_flag=True, help="Overwrite existing files.")


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
                help="Column of classes or values to color by. It is not used as a feature.",
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
                help="standard gives all columns the same spread. Use it if units differ.",
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
                help="Array of an npz, h5ad or zarr file. Default for h5ad: X_pca, else X.",
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
                help="What separates fields of a text file, such as ; or tab. Default: detected.",
            ),
            option(
                "--header/--no-header",
                section=READING,
                default=None,
                help="Whether the first line of a text file holds names. Default: detected.",
            ),
        )
    ):
        function = decorate(function)
    return function


class MemoryType(click.ParamType):
    """An amount of memory, such as 500MB, 2GB or 1.5GiB."""

    name = "memory"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the number of bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kmgt]?)(i?)b", value.strip().lower())
        if found is None:
            self.fail(f"{value!r} is not an amount of memory such as 500MB or 2GB.", param, ctx)
        unit = 1024 if found[3] else 1000
        return int(float(found[1]) * unit ** " kmgt".index(found[2] or " "))


def memory_option(function: Any) -> Any:
    """Add the option of tables that are read block by block on this machine."""
    return option(
        "--memory",
        section=LARGE,
        type=MemoryType(),
        metavar="SIZE",
        help="Read the table block by block and stay below this much memory, such as 2GB.",
    )(function)


def stream_options(function: Any) -> Any:
    """Add the options of tables that are read block by block."""
    function = option(
        "--scheduler",
        section=LARGE,
        metavar="ADDRESS",
        help="Work on a Dask scheduler, such as tcp://127.0.0.1:8786. Its workers must see the "
        "files of FILE and OUT under the same names.",
    )(function)
    return memory_option(function)


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


def chosen(kind: type[_Chosen], options: Mapping[str, Any]) -> _Chosen:
    """Return those options of a command that are fields of a class."""
    names = [field.name for field in fields(kind) if field.name in options]  # type: ignore[arg-type]
    return kind(**{name: options[name] for name in names})
