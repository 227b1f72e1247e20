"""Files to be written: refused before any work if they cannot be, and whole or not there at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isofold._errors import InvalidInputError
from isofold.cli.files.words import one_line, quoted

__all__ = ["MAP_ENDINGS", "TABLE_ENDINGS", "atomic_file", "check_target"]

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
MAP_ENDINGS = (*TABLE_ENDINGS, ".npy", ".npz")
ALL_ENDINGS = (*MAP_ENDINGS, ".html", ".iso")
LONGEST_NAME = 100


def check_target(
    path: str | os.PathLike[str],
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the one option that every caller has
    *,
    endings: Iterable[str] = ALL_ENDINGS,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Refuse a file that could not be written at the end of a long work, before it starts.

    Parameters
    ----------
    path : str or path-like
        The file.
    overwrite : bool, default=False
        Whether it may exist.
    endings : iterable of str
        What its name may end in.
    inputs : iterable of path-like, default=()
        Files that are read and therefore must not be overwritten.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InvalidInputError
        If the file exists, is a folder or an input, has an unknown ending, or if its folder is
        missing or must not be written to.
    """
    place = Path(path)
    if place.suffix.lower() not in (known := tuple(endings)):
        _refuse(place, f"the name must end in one of {', '.join(known)}")
    _check_place(place, overwrite=overwrite)
    for source in inputs:
        with suppress(OSError):
            if place.exists() and os.path.samefile(place, source):
                _refuse(place, "this is the input file. Write to another one")
    return place


def _check_place(place: Path, *, overwrite: bool) -> None:
    try:
        status = place.stat()
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        _refuse(place, f"this path cannot be used: {one_line(getattr(error, 'strerror', error))}")
    folder = Path(os.path.realpath(place)).parent
    if status is not None and stat.S_ISDIR(status.st_mode):
        _refuse(place, "this is a folder. Add the name of a file")
    if status is not None and not stat.S_ISREG(status.st_mode):
        _refuse(place, "this is a device or a pipe, not a file. Name a file")
    if status is not None and not overwrite:
        _refuse(place, "the file exists and is not overwritten. Pass --force to replace it")
    if not folder.is_dir():
        _refuse(place, f"there is no folder {quoted(folder)}. Make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        _refuse(place, f"nothing may be written to the folder {quoted(folder)}. Choose another")


def _refuse(place: Path, words: str) -> None:
    msg = f"{quoted(place, longest=120)[1:-1]}: {words}."
    raise InvalidInputError(msg)


@contextmanager
def atomic_file(
    path: str | os.PathLike[str],
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the one option that every caller has
) -> Iterator[Path]:
    """Give a temporary file to write to, which becomes the wanted one when all went well.

    It lies in the same folder and has the same ending. If anything goes wrong, Ctrl-C included,
    it is removed and a file that was there before stays as it was.

    Parameters
    ----------
    path : str or path-like
        The file.
    overwrite : bool, default=False
        Whether a file that is there may be replaced.

    Yields
    ------
    Path
        The temporary file, there and empty.

    Raises
    ------
    InvalidInputError
        If the file exists and may not be replaced, or cannot be written.
    """
    place = Path(path)
    _check_place(place, overwrite=overwrite)
    final = Path(os.path.realpath(place))  # a link stays a link
    temporary = final.with_name(f".{secrets.token_hex(6)}-{final.name[-LONGEST_NAME:]}")
    try:
        with _told(place):
            temporary.touch(exist_ok=False)
        yield temporary
        with _told(place):
            _flush(temporary)
            if final.exists():
                temporary.chmod(stat.S_IMODE(final.stat().st_mode))
            _move(temporary, final, place, overwrite=overwrite)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """Say in isofold's words what the system refused."""
    try:
        yield
    except OSError as error:
        words = f"the file cannot be written: {one_line(error.strerror or error)}"
        _refuse(place, words)


def _flush(path: Path) -> None:
    """Wait until the contents are on the disk, so that no crash leaves an empty file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move(temporary: Path, final: Path, place: Path, *, overwrite: bool) -> None:
    if overwrite:
        temporary.replace(final)
        return
    try:
        # Unlike a replacement, a link fails if somebody else wrote the file in the meantime.
        os.link(temporary, final)
    except FileExistsError:
        _refuse(
            place, "the file was written by somebody else meanwhile. Pass --force to replace it"
        )
    except OSError:  # a file system without links
        temporary.replace(final)
    else:
        temporary.unlink()
