"""NumPy's files: .npy, memory-mapped, and .npz, whose members are measured before they are read."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections import Counter
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from isofold.tables.blocks import choose, refuse_type, table_of
from isofold.tables.sources import Source, refuse_bomb, require_room
from isofold.tables.table import Table
from isofold.tables.text_safety import listed, one_line, quoted, refusal

__all__ = ["read_npy", "read_npz"]

Header = tuple[tuple[int, ...], bool, "np.dtype[Any]"]
COPIES = 3
MOST_MEMBERS = 10_000


def read_npy(source: Source) -> Table:
    """Map a .npy file into memory."""
    with source.path.open("rb") as file:
        shape, fortran, dtype = _header(file, source.name)
        offset = file.tell()
    _refuse_short(shape, dtype, source.size - offset, source.name)
    refuse_type(dtype, source.name)
    if 0 in shape:
        raise refusal(source.name, f"the array has shape {shape}: it is empty.")
    array = np.memmap(
        source.path, dtype, mode="r", offset=offset, shape=shape, order="F" if fortran else "C"
    )
    return table_of(array, source.name)


def _header(file: IO[bytes], source: str) -> Header:
    """Read what an array claims to be, without reading it."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(file)
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        # Version 3 differs only in allowing names of fields that are not Latin-1: no plain array.
        shape, fortran, dtype = readers[version](file)
    except (KeyError, ValueError, TypeError, SyntaxError, RecursionError, OSError, EOFError) as why:
        problem = "the array's header cannot be read: the file is damaged, or not a NumPy array"
        raise refusal(
            source, f"{problem} ({one_line(why)}). Save it again with numpy.save."
        ) from None
    if any(isinstance(side, bool) or side < 0 for side in shape):
        raise refusal(source, f"the array's header is damaged: it claims shape {shape}.")
    return shape, fortran, dtype


def _refuse_short(shape: tuple[int, ...], dtype: np.dtype[Any], there: int, source: str) -> None:
    claimed = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and claimed > there:
        problem = (
            f"the header claims an array of shape {_short(shape)} ({claimed:,} bytes), but only "
            f"{max(0, there):,} bytes follow. The file is cut off: copy or write it again."
        )
        raise refusal(source, problem)


def _short(shape: tuple[int, ...]) -> str:
    return quoted(shape)[1:-1]


def read_npz(source: Source, key: str | None) -> Table:
    """Read the array of features from a .npz file, and columns that have as many rows."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            members = _members(archive, source)
            headers = {
                name: _member_header(archive, info, name, source.name)
                for name, info in members.items()
            }
            chosen = choose({n: h[0] for n, h in headers.items()}, key, source.name)
            wanted = [chosen, *_companions(headers, chosen)]
            _refuse_large([members[name] for name in wanted], source)
            arrays = {name: _member(archive, members[name], source.name) for name in wanted}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        problem = f"the archive is damaged or cut off: {one_line(error)}. Write it again."
        raise refusal(source.name, problem) from None
    except RuntimeError:
        problem = "the archive is locked by a password. Save it without."
        raise refusal(source.name, problem) from None
    features = arrays.pop(chosen)
    others = sorted(set(members) - set(wanted))
    notes = [f"The features are the array {quoted(chosen)}."] if len(members) > 1 else []
    if others:
        notes.append(f"Other arrays are left out: {listed(others)}.")
    return table_of(features, source.name, beside=arrays, notes=tuple(notes))


def _members(archive: zipfile.ZipFile, source: Source) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise refusal(
            source.name, f"the archive has {len(infos):,} members. It is not a set of arrays."
        )
    named = [info for info in infos if info.filename.endswith(".npy")]
    repeated = [name for name, n in Counter(i.filename for i in named).items() if n > 1]
    if repeated:
        problem = f"the archive holds several arrays of the same name: {listed(repeated)}."
        raise refusal(source.name, problem)
    if not named:
        inside = f" It holds {listed(i.filename for i in infos)}." if infos else " It is empty."
        problem = f"the archive holds no array.{inside} Save arrays with numpy.savez."
        raise refusal(source.name, problem)
    return {info.filename.removesuffix(".npy"): info for info in named}


def _member_header(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, source: str
) -> Header:
    within = f"{source}, array {quoted(name)}"
    with archive.open(info) as file:
        shape, fortran, dtype = _header(file, within)
        _refuse_short(shape, dtype, info.file_size - file.tell(), within)
    return shape, fortran, dtype


def _companions(headers: dict[str, Header], chosen: str) -> list[str]:
    """Return the names of arrays that hold one number or text for each row of the chosen one."""
    n_rows = next(iter(headers[chosen][0]), None)
    return [
        name
        for name, (shape, _, dtype) in headers.items()
        if name != chosen and shape in ((n_rows,), (n_rows, 1)) and dtype.kind in "biufUS"
    ]


def _refuse_large(wanted: list[zipfile.ZipInfo], source: Source) -> None:
    unpacked = sum(info.file_size for info in wanted)
    refuse_bomb(min(source.size, sum(i.compress_size for i in wanted)), unpacked, source.name)
    require_room(COPIES * unpacked, source.name)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str) -> npt.NDArray[Any]:
    from numpy.lib import format as npy

    within = f"{source}, array {quoted(info.filename.removesuffix('.npy'))}"
    with archive.open(info) as file:
        _, _, dtype = _header(file, within)
    if dtype.kind not in "US":
        refuse_type(dtype, within)
    try:
        with archive.open(info) as file:
            array = npy.read_array(file, allow_pickle=False)
            file.read()  # to the end, where the checksum is compared
    except ValueError as error:
        problem = f"the array is damaged or cut off: {one_line(error)}. Write it again."
        raise refusal(within, problem) from None
    return array
