"""Files to be written: refused before any work if they cannot be, and whole or not there at all."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from isofold.exceptions import InvalidInputError

try:
    import fcntl
except ImportError:  # Windows, where what a killed process has left stays
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "UnwritableError",
    "atomic_file",
    "check_path",
    "check_store",
    "disk_explained",
    "explained",
    "finish_file",
    "is_store",
    "read_path",
    "refuse_input",
    "refuse_path",
]

LONGEST_NAME, LONGEST_SHOWN = 50, 160
PERMISSION = "overwrite=True"
PREFIX = ".isofold-"

ZARR_ARRAY, ZARR_GROUP, ZARR_NODE = ".zarray", ".zgroup", "zarr.json"
"""Files that make a folder a Zarr store: an array, a group, and either of them since version 3."""


class UnwritableError(InvalidInputError):
    """The system refused to write a file, such as on a full disk; what was asked for is right."""


def check_path(
    path: str | os.PathLike[str], *, overwrite: bool, permission: str = PERMISSION
) -> Path:
    """Refuse a file that could not be written at the end of a long work, before it starts."""
    target = read_path(path)
    status = _status(target)
    if status is not None and stat.S_ISDIR(status.st_mode):
        refuse_path(target, "this is a folder. Add the name of a file")
    if status is not None and not stat.S_ISREG(status.st_mode):
        refuse_path(target, "this is a device or a pipe, not a file. Name a file")
    if status is not None and not overwrite:
        text = f"the file exists and is not overwritten. Use {permission} to replace it"
        refuse_path(target, text)
    _check_folder_of(target)
    return target


def check_store(
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    inputs: Iterable[str | os.PathLike[str]] = (),
    permission: str = PERMISSION,
) -> Path:
    """Refuse a Zarr array that could not be written; nothing but such an array is replaced."""
    target = read_path(path)
    status = _status(target)
    refuse_input(target, inputs)
    if status is not None and not _is_zarr_array(target):
        text = "there is something else of this name, and only a Zarr array is replaced by another"
        refuse_path(target, f"{text}. Choose another name")
    if status is not None and not overwrite:
        text = f"the array exists and is not overwritten. Use {permission} to replace it"
        refuse_path(target, text)
    _check_folder_of(target)
    return target


def refuse_input(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to write over what is read, into a store that is read, or over what holds it."""
    above = Path(os.path.realpath(target)).parents
    for source in map(Path, inputs):
        if _is_same(target, source):
            refuse_path(target, "this is the input file. Write to another one")
        if is_store(source) and any(_is_same(folder, source) for folder in above):
            refuse_path(target, "this is inside the input. Write to another folder")
        if any(_is_same(target, folder) for folder in Path(os.path.realpath(source)).parents):
            refuse_path(target, "this folder holds the input. Write to another one")


def _is_same(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return False


def is_store(folder: Path) -> bool:
    """Return whether a folder is a Zarr store: an array or a group."""
    return any((folder / name).exists() for name in (ZARR_ARRAY, ZARR_GROUP, ZARR_NODE))


def _is_zarr_array(folder: Path) -> bool:
    """Return whether a folder is a Zarr array, and not a group or anything else."""
    if (folder / ZARR_GROUP).exists():
        return False
    try:
        node = json.loads((folder / ZARR_NODE).read_bytes())
    except FileNotFoundError:
        return (folder / ZARR_ARRAY).is_file()
    except (OSError, ValueError):
        return False
    return isinstance(node, dict) and node.get("node_type") == "array"


def _status(target: Path) -> os.stat_result | None:
    """Return the status of a file, or None if there is none; refuse a path that cannot be used."""
    try:
        return target.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        refuse_path(target, f"this path cannot be used: {getattr(error, 'strerror', error)}")


def _check_folder_of(target: Path) -> None:
    """Refuse a path whose folder is absent or may not be written to."""
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        refuse_path(target, f"there is no folder {_shown(folder)!r}. Make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        text = f"nothing may be written to the folder {_shown(folder)!r}. Choose another"
        refuse_path(target, text)


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], *, overwrite: bool, permission: str = PERMISSION
) -> Iterator[Path]:
    """Give a temporary file to write to, which becomes the wanted one when all went well.

    It lies in the same folder and has the same ending. If anything goes wrong, Ctrl-C included,
    it is removed and a file that was there before stays as it was. What a killed process has left
    there is removed by the next one that writes the same file.
    """
    target = check_path(path, overwrite=overwrite, permission=permission)
    final = Path(os.path.realpath(target))  # a link stays a link
    _remove_abandoned(final)
    with _own_file(final, target) as temporary:
        yield temporary
        _finish(temporary, final, target, overwrite=overwrite, permission=permission)


def finish_file(
    made: Path, path: str | os.PathLike[str], *, overwrite: bool, permission: str = PERMISSION
) -> None:
    """Let a file that is whole, on the same file system, become the wanted one."""
    target = check_path(path, overwrite=overwrite, permission=permission)
    final = Path(os.path.realpath(target))
    _finish(made, final, target, overwrite=overwrite, permission=permission)


def _finish(made: Path, final: Path, target: Path, *, overwrite: bool, permission: str) -> None:
    with explained(target):
        _flush(made)
        if final.exists():
            made.chmod(stat.S_IMODE(final.stat().st_mode))
        _move(made, final, target, overwrite=overwrite, permission=permission)


@contextmanager
def _own_file(final: Path, target: Path) -> Iterator[Path]:
    """Make a temporary file that is locked while this process lives, removed if anything fails."""
    lock = None
    try:
        while lock is None:
            token = f"{PREFIX}{secrets.token_hex(6)}"
            temporary = final.with_name(f"{token}-{final.name[-LONGEST_NAME:]}")
            with explained(target):
                lock = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
            if not _is_locked(lock):
                # Another process took it for abandoned before it was locked, and removes it.
                os.close(lock)
                lock = None
        if fcntl is None:
            # Nothing is locked there, and an open file could not be moved.
            os.close(lock)
        yield temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        if lock is not None and fcntl is not None:
            os.close(lock)


def _is_locked(descriptor: int) -> bool:
    """Lock a file of our own until it is closed; tell whether it is still there."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks, where nobody can take it either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    return os.fstat(descriptor).st_nlink > 0


def _remove_abandoned(final: Path) -> None:
    """Remove temporary files of this target whose process was killed: nobody locks them."""
    if fcntl is None:
        return
    own = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{12}}-{re.escape(final.name[-LONGEST_NAME:])}")
    with suppress(OSError), os.scandir(final.parent) as entries:
        for entry in entries:
            if own.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # it is locked, so that its process lives, or not ours
                    _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def refuse_path(
    target: Path, text: str, *, kind: type[InvalidInputError] = InvalidInputError
) -> NoReturn:
    """Raise the error that says why a file cannot be written."""
    msg = f"{repr(_shown(target))[1:-1]}: {text}."
    raise kind(msg)


def read_path(path: object) -> Path:
    """Return the path that a user names, or refuse what names none."""
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        name = None
    if not isinstance(name, str) or not name or "\0" in name:
        msg = f"path={path!r:.80} cannot be used: it is no name of a file. Pass another."
        raise InvalidInputError(msg)
    return Path(name)


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn a refusal of the system into an error of isofold."""
    try:
        yield
    except OSError as error:
        text = f"the file cannot be written: {error.strerror or error}"
        refuse_path(target, text, kind=UnwritableError)


@contextmanager
def disk_explained(path: Path) -> Iterator[None]:
    """Say what a full disk means."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = "the disk is full. Free some space and give the same command again"
        else:
            text = f"the file cannot be written: {error.strerror or error}"
        refuse_path(path, text, kind=UnwritableError)


def _flush(path: Path) -> None:
    """Wait until the contents are on the disk, so that no crash leaves an empty file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move(temporary: Path, final: Path, target: Path, *, overwrite: bool, permission: str) -> None:
    if overwrite:
        temporary.replace(final)
        return
    try:
        # Unlike a replacement, a link fails if somebody else wrote the file in the meantime.
        os.link(temporary, final)
    except FileExistsError:
        text = f"somebody else wrote the file meanwhile. Use {permission} to replace it"
        refuse_path(target, text)
    except OSError:  # a file system without links
        temporary.replace(final)
    else:
        temporary.unlink()
