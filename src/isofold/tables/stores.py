"""Stores of named arrays, HDF5 files and Zarr folders, behind one interface.

No array is read before its size is known, and no link to another file is followed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold.tables.sources import Source, refuse_bomb, require_room
from isofold.tables.text_safety import one_line, quoted, refusal

__all__ = ["Hdf5Store", "Store", "ZarrStore", "open_hdf5", "open_zarr"]

COPIES = 3
TEXT_BYTES = 64
"""Of a short text as a Python object."""

MOST_SIDES = 32

# Codecs that only undo compression. Others, such as pickle, could run code from the file.
CODECS = {
    "blosc", "bytes", "bz2", "crc32", "crc32c", "delta", "fixedscaleoffset", "gzip", "lz4", "lzma",
    "packbits", "sharding_indexed", "shuffle", "transpose", "vlen-bytes", "vlen-utf8", "zlib",
    "zstd",
}  # fmt: skip


class Store(ABC):
    """A tree of groups and arrays.

    Attributes
    ----------
    root : group
        The top of the tree: a group, or an array that stands alone.
    source : str
        Name of the file, ready for the screen.
    """

    def __init__(self, root: Any, source: str) -> None:
        self.root = root
        self.source = source

    def get(self, group: Any, name: str) -> Any:
        """Return a member of a group by its path, or None if it is not there."""
        for part in name.split("/"):
            if group is None or self.is_array(group):
                return None
            group = self._member(group, part)
        return group

    def names(self, group: Any) -> list[str]:
        """Return the names of a group's members."""
        return [] if group is None or self.is_array(group) else sorted(map(str, group))

    def is_array(self, node: Any) -> bool:
        """Return whether a member is an array."""
        return hasattr(node, "shape")

    def attribute(self, node: Any, name: str) -> Any:
        """Return an attribute of a member, or None if it is not there."""
        value = node.attrs.get(name)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def array(self, node: Any, name: str) -> npt.NDArray[Any]:
        """Read an array whose size is known to fit; text comes as objects."""
        within = f"{self.source}, {quoted(name)}"
        if node is None or not self.is_array(node):
            raise refusal(self.source, f"{quoted(name)} is missing, or is not an array.")
        shape = tuple(map(int, node.shape))
        if len(shape) > MOST_SIDES or any(side < 0 for side in shape):
            raise refusal(within, f"the array claims shape {quoted(shape)}: the file is damaged.")
        self._refuse_external(node, within)
        is_text = node.dtype.hasobject or node.dtype.kind == "T"
        unpacked = math.prod(shape) * (TEXT_BYTES if is_text else max(1, node.dtype.itemsize))
        refuse_bomb(max(1, self._stored_bytes(node)), unpacked, within)
        require_room(COPIES * unpacked, within)
        try:
            return self._read(node)
        except Exception as error:  # whatever a decoder raises on damaged bytes
            problem = f"the array is damaged or cut off: {one_line(error)}. Write the file again."
            raise refusal(within, problem) from None

    @abstractmethod
    def _member(self, group: Any, name: str) -> Any: ...

    @abstractmethod
    def _refuse_external(self, node: Any, within: str) -> None: ...

    @abstractmethod
    def _stored_bytes(self, node: Any) -> int: ...

    @abstractmethod
    def _read(self, node: Any) -> npt.NDArray[Any]: ...


class Hdf5Store(Store):
    """An HDF5 file."""

    def _member(self, group: Any, name: str) -> Any:
        h5py = _h5py(self.source)
        try:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                problem = f"{quoted(name)} is a link to another file, which is not followed."
                raise refusal(self.source, problem)
            return group.get(name)
        except (KeyError, TypeError):
            return None

    def _refuse_external(self, node: Any, within: str) -> None:
        if node.external or node.is_virtual:
            problem = (
                "the numbers are in another file, which is not opened. Copy them into this file."
            )
            raise refusal(within, problem)
        if node.chunks is None and node.size * node.dtype.itemsize > node.file.id.get_filesize():
            problem = f"the array claims {node.size:,} numbers, more than the file can hold."
            raise refusal(within, f"{problem} It is damaged or cut off. Write it again.")
        require_room(math.prod(node.chunks or ()) * node.dtype.itemsize, within)

    def _stored_bytes(self, node: Any) -> int:
        return int(node.id.get_storage_size())

    def _read(self, node: Any) -> npt.NDArray[Any]:
        h5py = _h5py(self.source)
        if h5py.check_string_dtype(node.dtype) is not None:
            texts: npt.NDArray[Any] = node.asstr(errors="replace")[...]
            return texts
        if node.dtype.hasobject:
            msg = "it holds references or lists of any length"
            raise ValueError(msg)
        values: npt.NDArray[Any] = node[...]
        return values


class ZarrStore(Store):
    """A Zarr folder or zip archive."""

    def _member(self, group: Any, name: str) -> Any:
        try:
            return group[name]
        except KeyError:
            return None

    def _refuse_external(self, node: Any, within: str) -> None:
        described = node.metadata.to_dict()
        parts = [described.get("compressor"), *(described.get("filters") or ())]
        parts += described.get("codecs") or ()
        names = [str(p.get("id") or p.get("name")) for p in parts if isinstance(p, dict)]
        unknown = [name for name in names if name.removeprefix("numcodecs.") not in CODECS]
        if unknown:
            problem = (
                f"the array is packed by {quoted(unknown[0])}, which is not among the codecs that "
                f"isofold reads. Save it with blosc, zstd or gzip."
            )
            raise refusal(within, problem)
        require_room(math.prod(node.chunks) * node.dtype.itemsize, within)

    def _stored_bytes(self, node: Any) -> int:
        return int(node.nbytes_stored())

    def _read(self, node: Any) -> npt.NDArray[Any]:
        values = np.asarray(node[...])
        return values.astype(object) if values.dtype.kind == "T" else values


def _h5py(source: str) -> ModuleType:
    return require("h5py", extra="h5ad", purpose=f"Reading {source}")


@contextmanager
def open_hdf5(source: Source) -> Iterator[Store]:
    """Open an HDF5 file for reading."""
    h5py = _h5py(source.name)
    try:
        file = h5py.File(source.path, "r")
    except (OSError, RuntimeError, ValueError) as error:
        problem = (
            f"the file is damaged, cut off or no HDF5 file: {one_line(error)}. Write it again."
        )
        raise refusal(source.name, problem) from None
    with file:
        yield Hdf5Store(file, source.name)


@contextmanager
def open_zarr(source: Source) -> Iterator[Store]:
    """Open a Zarr store for reading, a folder or a zip archive."""
    zarr = require("zarr", extra="zarr", purpose=f"Reading {source.name}")
    if source.size:
        _refuse_zip_bomb(source)
        store = zarr.storage.ZipStore(source.path, mode="r")
    else:
        store = zarr.storage.LocalStore(source.path, read_only=True)
    try:
        root = zarr.open(store=store, mode="r")
    except Exception as error:  # whatever damaged metadata lead to
        reason = one_line(error)
        reason = "nothing describes it" if "StorePath" in reason else reason
        problem = f"the Zarr store is damaged or incomplete: {reason}. Write it again."
        raise refusal(source.name, problem) from None
    try:
        yield ZarrStore(root, source.name)
    finally:
        store.close()


def _refuse_zip_bomb(source: Source) -> None:
    import zipfile

    try:
        with zipfile.ZipFile(Path(source.path)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        problem = f"the archive is damaged or cut off: {one_line(error)}. Write it again."
        raise refusal(source.name, problem) from None
    refuse_bomb(source.size, unpacked, source.name)
