"""Tables larger than memory: when they are read block by block, and what a run depends on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._files import is_store, refuse_path
from isofold._format import bytes_text
from isofold._memory import available_bytes

if TYPE_CHECKING:
    from isofold.blocks.checkpoint import Fingerprint
    from isofold.cli.steps.inputs import ReadOptions
    from isofold.cli.steps.outputs import Outputs

__all__ = [
    "StreamOptions",
    "checkpoint_of",
    "fingerprint_of",
    "refuse_inside",
    "refuse_reading",
    "why_streamed",
]

STREAMABLE = (".parquet", ".pq", ".csv", ".tsv", ".npy")
SIGNS = "*?["
"""Signs of a pattern of names."""


@dataclass(frozen=True)
class StreamOptions:
    """How a table is read block by block.

    Attributes
    ----------
    memory : int or None
        Bytes that the process may take.
    scheduler : str or None
        Address of a Dask scheduler.
    """

    memory: int | None = None
    scheduler: str | None = None


def why_streamed(file: Path, options: StreamOptions) -> str | None:
    """Return why a table is to be read block by block; None if it is read at once."""
    if options.memory is not None:
        return "--memory is given"
    if options.scheduler is not None:
        return "--scheduler is given"
    if file.is_dir():
        return None if is_store(file) else "it is a folder of files"
    if not file.exists():
        return "it is a pattern of names" if any(sign in str(file) for sign in SIGNS) else None
    available = available_bytes()
    size = file.stat().st_size
    is_readable = file.suffix.lower() in STREAMABLE
    if not is_readable or available is None or 2 * size <= available:
        return None
    return (
        f"the file has {bytes_text(size)}, more than half of the {bytes_text(available)} of "
        f"memory that are available"
    )


def refuse_reading(options: ReadOptions) -> None:
    """Refuse ways of reading a file that are not for blocks."""
    given = {
        "--key": options.key is not None,
        "--encoding": options.encoding.lower() not in ("", "utf-8", "utf8"),
        "--delimiter": options.delimiter is not None,
        "--header and --no-header": options.header is not None,
    }
    wrong = [name for name, is_given in given.items() if is_given]
    if wrong:
        msg = (
            f"{wrong[0]} is not for tables that are read block by block: these are .parquet, .csv "
            f"with commas and a first row of names, .tsv, .npy, and .zarr arrays."
        )
        raise click.UsageError(msg, click.get_current_context(silent=True))


def checkpoint_of(outputs: Outputs) -> Path:
    """Return the folder beside the output in which finished work is kept."""
    output = outputs.map or outputs.model or outputs.page
    assert output is not None  # noqa: S101 - commands refuse to write nothing
    final = Path(os.path.realpath(output))  # where a link leads, since files are moved there
    return final.with_name(f"{final.name}.checkpoint")


def refuse_inside(file: Path, outputs: Outputs) -> None:
    """Refuse outputs that would be read as data when the same command is given again."""
    if file.is_dir() and not is_store(file):
        read = Path(os.path.realpath(file))
        for location in () if outputs.map is None else _locations(outputs.map):
            if read in (location, *location.parents):
                refuse_path(
                    outputs.map or location,
                    "this is inside the folder that is read, where it would be taken for data. "
                    "Write to another folder",
                )
    elif not file.exists():
        folder = checkpoint_of(outputs)
        for output in filter(None, (outputs.map, outputs.model, outputs.page)):
            kept = (folder, folder / f"output{output.suffix}")
            if any(_fits(location, file) for location in (*_locations(output), *kept)):
                refuse_path(
                    output,
                    f"it, or what is kept beside it for the time of the run, fits the pattern "
                    f"{file.name} and would be taken for data. Write to another folder",
                )


def _locations(path: Path) -> tuple[Path, Path]:
    """Return where a path is, and where it leads if it is a link."""
    absolute = Path(os.path.abspath(path))
    return Path(os.path.realpath(absolute.parent), absolute.name), Path(os.path.realpath(path))


def _fits(path: Path, pattern: Path) -> bool:
    """Return whether a path is one that a pattern names; ** stands for any number of folders."""
    signs = Path(os.path.abspath(pattern)).parts
    first = next((i for i, part in enumerate(signs) if set(part) & set(SIGNS)), len(signs))
    parts = (*Path(os.path.realpath(Path(*signs[:first]))).parts, *signs[first:])
    return _fit(path.parts, parts)


def _fit(names: tuple[str, ...], signs: tuple[str, ...]) -> bool:
    if not signs:
        return not names
    if signs[0] == "**":
        return any(_fit(names[start:], signs[1:]) for start in range(len(names) + 1))
    return bool(names) and fnmatch(names[0], signs[0]) and _fit(names[1:], signs[1:])


def fingerprint_of(
    stamps: tuple[tuple[str, int, int], ...], options: dict[str, Any]
) -> Fingerprint:
    """Return what a run depends on: files, and options that matter."""
    import isofold
    from isofold.blocks.checkpoint import Fingerprint

    given = tuple((name, str(value)) for name, value in options.items() if value is not None)
    return Fingerprint(isofold.__version__, stamps, given)
