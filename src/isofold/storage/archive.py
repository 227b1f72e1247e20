"""The container of a model: a zip of one JSON header and NumPy arrays, checked before it is used.

Nothing in a file is trusted: the header may become as large as `isofold.storage.header` allows for
its compressed bytes, and an array as large as it declares and as its compressed bytes can possibly
hold, and all of them as memory allows.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from isofold._files import atomic_file, explained
from isofold._memory import require_memory
from isofold.storage.arrays import StoredArray, dtype_name, raw_bytes, stored_form
from isofold.storage.header import MOST_MEMBERS, check_size, header_text, most_bytes, read_header
from isofold.storage.validation import Flaw, fail, require

__all__ = ["ModelArchive", "open_archive", "write_archive"]

MAGIC = b"PK\x03\x04"
HEADER = "model.json"
LARGEST_RATIO, SLACK = 1033, 1024
"""No deflated byte can stand for more than 1032 bytes, but for a few at the end."""

LEVEL = 1
"""Of compression: the digits of coordinates do not shrink, and level 6 takes twice as long for two
percent."""

EPOCH = (1980, 1, 1, 0, 0, 0)
BLOCK = 2**20


def member_name(number: int) -> str:
    """Return the name of an array in the archive."""
    return f"arrays/{number}.npy"


def write_archive(
    path: Path, header: dict[str, Any], arrays: list[np.ndarray[Any, Any]], *, overwrite: bool
) -> None:
    """Write a header and arrays, all or nothing."""
    with (
        atomic_file(path, overwrite=overwrite) as target,
        explained(path),
        target.open("wb") as file,
    ):
        _write_zip(file, header, arrays)


def _write_zip(file: BinaryIO, header: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        entries = []
        for number, array in enumerate(arrays):
            numbers, axes = stored_form(array)
            name = dtype_name(numbers.dtype) or ""
            stored = StoredArray(np.dtype(name), numbers.shape, tuple(axes), "")
            head, body = stored.head, raw_bytes(numbers)
            checksum = hashlib.sha256(head)
            checksum.update(body)
            size = len(head) + len(body)
            with archive.open(_member(member_name(number), size), "w") as member:
                member.write(head)
                for start in range(0, len(body), BLOCK):
                    member.write(body[start : start + BLOCK])
            shape, digits = list(stored.shape), checksum.hexdigest()
            entries.append({"dtype": name, "shape": shape, "axes": axes, "sha256": digits})
        text = header_text(header | {"arrays": entries})
        archive.writestr(_member(HEADER, len(text)), text)
        check_size(text, archive.getinfo(HEADER).compress_size)


def _member(name: str, size: int) -> zipfile.ZipInfo:
    """Return a member that is the same on every day and machine."""
    member = zipfile.ZipInfo(name, date_time=EPOCH)
    member.file_size = size
    member.compress_type = zipfile.ZIP_DEFLATED
    # That of the archive is not for members with a description of their own.
    member._compresslevel = LEVEL  # type: ignore[attr-defined]
    member.create_system = 3
    member.external_attr = 0o644 << 16
    return member


@contextmanager
def open_archive(path: Path) -> Iterator[ModelArchive]:
    """Open a file and read its header."""
    if not path.is_file():
        what = "It is not a file" if path.exists() else "There is no such file"
        msg = f"{what}. Pass the name under which a model was saved."
        raise Flaw(msg)
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            msg = "It is not a model file of isofold. Pass a file that isofold.save wrote."
            raise Flaw(msg)
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            fail("it ends too early, or its directory is lost", error)
        with archive, readable():
            size = os.fstat(file.fileno()).st_size
            yield ModelArchive(archive, size)


@contextmanager
def readable() -> Iterator[None]:
    """Turn what reading a broken zip raises into a flaw."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        fail(f"it cannot be read ({error})", error)


class ModelArchive:
    """An open file, its header read and its members counted.

    Parameters
    ----------
    archive : ZipFile
        The zip.
    size : int
        Bytes of the file.
    """

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self._archive = archive
        members = archive.infolist()
        self._members = {member.filename: member for member in members}
        require(len(members) <= MOST_MEMBERS, "it has too many members")
        require(len(members) == len(self._members), "two members have one name")
        if HEADER not in self._members:
            msg = "It is a zip file, but not a model file. Pass a file that isofold.save wrote."
            raise Flaw(msg)
        packed = sum(member.compress_size for member in members)
        require(packed <= size, "its members are larger than the file")
        for member in members:
            _check_member(member)
        self.header = self._read_header()

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """Return all arrays that the header declares, compared with their checksums."""
        declared: Any = self.header.get("arrays")
        require(isinstance(declared, list), "its header lists no arrays")
        stored = [StoredArray.from_json(entry) for entry in declared]
        names = {member_name(number) for number in range(len(stored))}
        require(names | {HEADER} == self._members.keys(), "members are missing or unknown")
        for number, array in enumerate(stored):
            size = self._members[member_name(number)].file_size
            require(
                size == len(array.head) + array.n_bytes,
                "an array has another size than its header says",
            )
        require_memory(
            sum(array.n_bytes for array in stored),
            what="The model",
            instead="Load it on a machine with more memory.",
        )
        return [self._read_array(number, array) for number, array in enumerate(stored)]

    def _read_header(self) -> dict[str, Any]:
        member = self._members[HEADER]
        largest = most_bytes(member.compress_size)
        require(member.file_size <= largest, "its header is too large")
        with self._archive.open(member) as file:
            text = file.read(member.file_size + 1)
        require(len(text) == member.file_size, "its header has another size than the zip says")
        return read_header(text, member.compress_size)

    def _read_array(self, number: int, stored: StoredArray) -> np.ndarray[Any, Any]:
        array = stored.empty()
        checksum, body = hashlib.sha256(), raw_bytes(array)
        with self._archive.open(self._members[member_name(number)]) as file:
            head = file.read(len(stored.head))
            require(head == stored.head, "an array is not what the header says")
            checksum.update(head)
            position = 0
            while position < len(body):
                block = file.read(min(BLOCK, len(body) - position))
                require(block, "an array ends too early")
                body[position : position + len(block)] = block
                position += len(block)
            require(not file.read(1), "an array does not end where it should")
        checksum.update(body)
        require(checksum.hexdigest() == stored.checksum, "the checksum of an array is wrong")
        return stored.finished(array)


def _check_member(member: zipfile.ZipInfo) -> None:
    kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    require(member.compress_type in kinds, "a member has an unknown compression")
    require(not member.flag_bits & 0x1, "a member is encrypted")
    most = LARGEST_RATIO * member.compress_size + SLACK
    require(member.file_size <= most, "a member claims to be larger than it can be")
