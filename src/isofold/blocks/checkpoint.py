"""Checkpoints: a folder in which a long run keeps its finished work, so that it can be continued.

Every file in it is written whole or not at all. What a run has to know to continue is in
`state.json`: the files that it reads, the options that matter, and the outputs that are finished.
Summaries of blocks are numbers and arrays, which are kept as NumPy writes them, without pickle. A
run holds a lock while it lives, which ends with its process, however that ends.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from isofold._files import atomic_file, disk_explained, fcntl, refuse_path
from isofold.blocks.protocol import Block
from isofold.exceptions import InvalidInputError

__all__ = [
    "Checkpoint",
    "Fingerprint",
    "PassMemory",
    "from_arrays",
    "to_arrays",
    "was_written",
]

FORMAT = 1
STATE, LOCK = "state.json", "lock"
BLOCK_FILE = re.compile(r"(\d{15})-(\d{15})\.npz")
MOST_NAMED = 3
"""Differences from an earlier run that are named."""

S = TypeVar("S")


@dataclass(frozen=True)
class Fingerprint:
    """What a run depends on; one that differs in any of it cannot be continued.

    Attributes
    ----------
    version : str
        Version of isofold.
    files : tuple of (str, int, int) tuples
        Names, sizes and times (nanoseconds) of the files that are read, in their order.
    options : tuple of (str, str) pairs
        Names and values of the options that matter.
    """

    version: str
    files: tuple[tuple[str, int, int], ...]
    options: tuple[tuple[str, str], ...]

    def differences(self, other: Fingerprint) -> list[str]:
        """Return what has changed since another run."""
        found = []
        if self.version != other.version:
            found.append(f"isofold was {other.version} and is {self.version}")
        now, then = ({name: rest for name, *rest in each.files} for each in (self, other))
        for name in {**now, **then}:
            if name not in then:
                found.append(f"{name} is new")
            elif name not in now:
                found.append(f"{name} is no longer read")
            elif now[name] != then[name]:
                found.append(f"{name} was changed")
        given, before = dict(self.options), dict(other.options)
        found += [
            f"{name} was {before.get(name, 'not given')} and is {given.get(name, 'not given')}"
            for name in {**given, **before}
            if given.get(name) != before.get(name)
        ]
        if not found and self != other:
            found.append("the order of the files is another")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "version": self.version,
            "files": [list(file) for file in self.files],
            "options": dict(self.options),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return it from JSON values."""
        files = tuple((str(n), int(size), int(time)) for n, size, time in value["files"])
        options = tuple((str(k), str(v)) for k, v in value["options"].items())
        return cls(str(value["version"]), files, options)


class Checkpoint:
    """The folder of a run, while the run holds its lock.

    Attributes
    ----------
    folder : Path
        The folder.
    is_continued : bool
        Whether an earlier run has left finished work.
    """

    def __init__(self, folder: Path, state: dict[str, Any], *, is_continued: bool) -> None:
        self.folder, self._state, self.is_continued = folder, state, is_continued

    @classmethod
    @contextmanager
    def open(cls, folder: Path, fingerprint: Fingerprint, *, over: bool) -> Iterator[Self]:
        """Continue the run of a folder or begin one; refuse another one's unless it is given up."""
        with _locked(folder):
            known = read_state(folder)
            if known is not None:
                changed = fingerprint.differences(Fingerprint.from_json(known["fingerprint"]))
                if changed and not over:
                    more = len(changed) - MOST_NAMED
                    named = "; ".join(changed[:MOST_NAMED]) + (f"; {more} more" if more > 0 else "")
                    msg = (
                        f"{folder}: an earlier run left finished work here, which cannot be "
                        f"continued, because what it was made of has changed: {named}. Delete the "
                        f"folder, or pass --force to start over."
                    )
                    raise InvalidInputError(msg)
                known = None if changed else known
            if known is None:
                _clear(folder)
                state = {"format": FORMAT, "fingerprint": fingerprint.to_json(), "written": {}}
                _write_json(folder / STATE, state)
            else:
                state = known
            yield cls(folder, state, is_continued=known is not None)

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        return (self.folder / name).exists()

    def keep(self, name: str, value: Any) -> None:
        """Keep a dataclass of numbers and arrays."""
        save_arrays(self.folder / name, to_arrays(value), packed=False)

    def recall(self, name: str, kind: type[S]) -> S | None:
        """Return a dataclass that was kept, or None."""
        arrays = load_arrays(self.folder / name)
        return None if arrays is None else from_arrays(kind, arrays)

    def memory(
        self, name: str, kind: type[S], merge: Callable[[S, S], S], *, packed: bool = False
    ) -> PassMemory:
        """Return the memory of a pass over all blocks."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return PassMemory(folder, kind, merge, packed=packed)

    def forget(self, name: str) -> None:
        """Remove a file or folder, which is needed no more."""
        path = self.folder / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def note_written(self, output: Path, made: Path) -> None:
        """Note that a finished file is about to become an output."""
        self._state["written"][str(output.absolute())] = _identity(made)
        _write_json(self.folder / STATE, self._state)

    def has_written(self, output: Path) -> bool:
        """Return whether an output is there, and an earlier run of this folder wrote it."""
        return _is_written(self._state, output)

    def remove(self) -> None:
        """Remove the folder: the run is finished."""
        _clear(self.folder)
        with suppress(OSError):
            (self.folder / LOCK).unlink()
            try:
                self.folder.rmdir()
            except OSError:  # a worker was still writing: it stays known as a folder of ours
                (self.folder / LOCK).touch()


class PassMemory:
    """Summaries of the blocks of one pass, each in a file with the numbers of its rows as name.

    Parameters
    ----------
    folder : Path
        Where they are.
    kind : type
        Dataclass of the summaries: numbers, arrays, and dataclasses of these.
    merge : callable
        Merges two summaries.
    packed : bool, default=False
        Whether files are compressed.
    """

    def __init__(
        self,
        folder: Path,
        kind: type[Any],
        merge: Callable[[Any, Any], Any],
        *,
        packed: bool = False,
    ) -> None:
        self.folder, self.kind, self.merge, self.packed = folder, kind, merge, packed
        self._ends: dict[int, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process gets, which looks for files itself."""
        return {**vars(self), "_ends": None}

    def recall(self, start: int, stop: int | None) -> Any:
        """Return the merged summary of finished blocks that tile these rows, or None."""
        total, here = None, start
        while here != stop:
            end = self.ends().get(here)
            if end is None or (stop is not None and end > stop):
                return None
            arrays = load_arrays(self.folder / _block_name(here, end))
            if arrays is None:
                return None
            summary = from_arrays(self.kind, arrays)
            total = summary if total is None else self.merge(total, summary)
            here = end
        return total

    def keep(self, block: Block, summary: Any, **images: npt.NDArray[Any]) -> None:
        """Remember the summary of a block, with the images of its rows."""
        path = self.folder / _block_name(block.start, block.stop)
        save_arrays(path, {**to_arrays(summary), **images}, packed=self.packed)
        self.ends()[block.start] = block.stop

    def ends(self) -> dict[int, int]:
        """Return where the finished blocks begin and end, in their order."""
        if self._ends is None:
            found = (BLOCK_FILE.fullmatch(entry.name) for entry in os.scandir(self.folder))
            ranges = sorted((int(f[1]), int(f[2])) for f in found if f is not None)
            self._ends = dict(ranges)
        return self._ends

    def images(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield what was kept of all blocks, in the order of their rows."""
        self._ends = None  # other processes may have finished some
        for start, stop in self.ends().items():
            path = self.folder / _block_name(start, stop)
            arrays = load_arrays(path)
            if arrays is None:
                refuse_path(path, "the file is damaged. Delete it and give the same command again")
            yield arrays


def read_state(folder: Path) -> dict[str, Any] | None:
    """Return what a run has noted in its folder; None if there is none that can be continued."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        Fingerprint.from_json(state["fingerprint"])
        is_known = state["format"] == FORMAT and isinstance(state["written"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return state if is_known else None


def was_written(folder: Path, output: Path) -> bool:
    """Return whether an output is there and the last run of a folder has finished it."""
    state = read_state(folder)
    return state is not None and _is_written(state, output)


def _is_written(state: dict[str, Any], output: Path) -> bool:
    noted = state["written"].get(str(output.absolute()))
    return noted is not None and output.exists() and noted == _identity(output)


def _identity(path: Path) -> list[int]:
    """Return what stays the same when a file or folder gets another name."""
    status = path.stat()
    return [status.st_dev, status.st_ino]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make a folder and hold its lock."""
    lock = None
    while lock is None:
        _refuse_others(folder)
        with disk_explained(folder):
            folder.mkdir(exist_ok=True)
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            msg = (
                f"{folder}: another run is writing the same output now. Wait until it has ended, "
                f"or write to another file."
            )
            raise InvalidInputError(msg) from None
        if os.fstat(lock).st_nlink == 0:  # the other run has ended and removed its folder
            os.close(lock)
            lock = None
    try:
        yield
    finally:
        os.close(lock)


def _refuse_others(folder: Path) -> None:
    """Refuse a folder that holds something, but that no run has made."""
    with suppress(OSError):
        names = set(os.listdir(folder))
        if names and not names & {LOCK, STATE}:
            msg = (
                f"{folder}: finished work would be kept in this folder, but it holds other files. "
                f"Give it another name, or write to another file."
            )
            raise InvalidInputError(msg)


def _clear(folder: Path) -> None:
    """Remove all files of a run but its lock; the state last, since it tells what is left."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name != LOCK]
    for entry in sorted(found, key=lambda each: each.name == STATE):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)


def _block_name(start: int, stop: int) -> str:
    return f"{start:015d}-{stop:015d}.npz"


def _write_json(path: Path, value: Any) -> None:
    with disk_explained(path), atomic_file(path, overwrite=True) as temporary:
        temporary.write_text(json.dumps(value), encoding="utf-8")


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], *, packed: bool) -> None:
    """Write arrays to a file, whole or not at all."""
    buffer = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(buffer, allow_pickle=False, **arrays)
    with disk_explained(path), atomic_file(path, overwrite=True) as temporary:
        temporary.write_bytes(buffer.getbuffer())


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]] | None:
    """Read arrays; None if there is no such file, or only a damaged one."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return None


def to_arrays(value: Any, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
    """Return the numbers and arrays of a dataclass by their names."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for field in fields(value):
        entry = getattr(value, field.name)
        if is_dataclass(entry):
            arrays |= to_arrays(entry, f"{prefix}{field.name}.")
        else:
            arrays[f"{prefix}{field.name}"] = np.asarray(entry)
    return arrays


def from_arrays(kind: type[S], arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> S:
    """Return the dataclass that `to_arrays` was given."""
    made: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            made[name] = from_arrays(hint, arrays, f"{prefix}{name}.")  # type: ignore[arg-type]
        else:
            array = arrays[f"{prefix}{name}"]
            made[name] = hint(array) if hint in (int, float, bool) else array
    return kind(**made)
