"""Arrays as members of a file: which there may be, and their bytes in NumPy's own format.

The header of an ``.npy`` member is written here and compared as a whole when it is read, so that
nothing in a file is ever parsed as Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from isofold.storage.validation import fail, require

__all__ = ["StoredArray", "dtype_name", "read_dtype", "stored_form"]

KINDS_AND_SIZES = {
    "b": (1,),
    "i": (1, 2, 4, 8),
    "u": (1, 2, 4, 8),
    "f": (2, 4, 8),
    "c": (8, 16),
}
LONGEST_TEXT = 2**20
LONGEST_SIDE = 2**48
MOST_AXES = 32
LAST_CHARACTER = 0x10FFFF

DTYPE_NAME = re.compile(r"[<>|]([biufcUS])([0-9]{1,8})")


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """Return the name of a type of numbers or text, or None if it cannot be stored."""
    name = dtype.str
    return name if dtype.fields is None and dtype.subdtype is None and _is_known(name) else None


def _is_known(name: str) -> bool:
    match = DTYPE_NAME.fullmatch(name)
    if match is None:
        return False
    kind, size = match[1], int(match[2])
    return size <= LONGEST_TEXT if kind in "US" else size in KINDS_AND_SIZES[kind]


def read_dtype(name: Any) -> np.dtype[Any]:
    """Return the type that a name in a file means."""
    require(
        isinstance(name, str) and _is_known(name), f"arrays of type {name!r:.40} are not supported"
    )
    dtype = np.dtype(name)
    require(dtype.str == name, f"arrays of type {name!r:.40} are not supported")
    return dtype


def stored_form(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Return an array in the order of its memory, and the axes that bring it back.

    Last digits of products depend on the order of axes in memory. So it is kept.
    """
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    if array.flags.c_contiguous:
        order = list(range(array.ndim))
    back = [order.index(axis) for axis in range(array.ndim)]
    return np.require(array.transpose(order), requirements="C"), back


@dataclass(frozen=True)
class StoredArray:
    """An array as the header of a file declares it.

    Attributes
    ----------
    dtype : dtype
        Its type.
    shape : tuple of int
        Its shape as it is stored.
    axes : tuple of int
        Its axes, as ``transpose`` takes them, after it was read.
    checksum : str
        SHA-256 of the member, in hexadecimal digits.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    checksum: str

    @classmethod
    def from_json(cls, entry: Any) -> StoredArray:
        """Read what a header says about an array."""
        require(
            isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "axes", "sha256"},
            "the description of an array is incomplete",
        )
        shape, axes, checksum = entry["shape"], entry["axes"], entry["sha256"]
        sides = isinstance(shape, list) and len(shape) <= MOST_AXES
        require(
            sides and all(type(side) is int and 0 <= side <= LONGEST_SIDE for side in shape),
            "an array has an invalid shape",
        )
        require(
            isinstance(axes, list)
            and all(type(axis) is int for axis in axes)
            and sorted(axes) == list(range(len(shape))),
            "the axes of an array are not a permutation",
        )
        require(isinstance(checksum, str) and len(checksum) == 64, "an array has no checksum")
        return cls(read_dtype(entry["dtype"]), tuple(shape), tuple(axes), checksum)

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the numbers alone."""
        return self.dtype.itemsize * prod(self.shape)

    @property
    def head(self) -> bytes:
        """The bytes before the numbers, as NumPy's format 1.0 has them."""
        table = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': {self.shape}, }}"
        pad = -(len(table) + 11) % 64
        text = (table + " " * pad + "\n").encode("ascii")
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

    def empty(self) -> np.ndarray[Any, Any]:
        """Return memory for the numbers."""
        return np.empty(self.shape, dtype=self.dtype)

    def finished(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an array that was read, checked, with its axes in place."""
        if self.dtype.kind == "b" and array.size:
            # NumPy counts the ones of such an array before it writes as many entries.
            require(array.view(np.uint8).max() <= 1, "an array of booleans holds other values")
        if self.dtype.kind == "U" and array.size and self.dtype.itemsize:
            codes = np.ascontiguousarray(array).view(f"{self.dtype.str[0]}u4")
            if codes.max(initial=0) > LAST_CHARACTER:
                fail("a text holds invalid characters")
        # Compiled code takes the order of bytes of its machine only.
        native = array.astype(self.dtype.newbyteorder("="), copy=False)
        return native.transpose(self.axes)


def raw_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the memory of a C-ordered array as bytes."""
    content: Any = array.reshape(-1).view(np.uint8) if array.nbytes else b""
    return memoryview(content)
