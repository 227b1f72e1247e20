"""Objects from JSON and arrays: only listed classes are built, and each is checked on its own.

Nothing here calls what a file names. A class is looked up in the registry, its fields are compared
with its annotations, and what reaches compiled code is checked by `isofold.storage.checks`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np

from isofold.storage import checks, older
from isofold.storage.arrays import read_dtype
from isofold.storage.encode import DEEPEST, EXTERNAL, MOST_OBJECTS, is_key
from isofold.storage.external import make_estimator, make_random_state, make_sparse
from isofold.storage.registry import KINDS, Kind
from isofold.storage.searches import SEARCHES, make_search
from isofold.storage.validation import Flaw, fail, matches, require, type_hints

__all__ = ["Decoder", "UnknownNameError"]

MOST_JOBS = 4096
"""Threads that a model may ask for. Starting a million would bring a machine down."""


MOST_SHARED, OBJECT_BYTES, SPARE_BYTES = 20, 1000, 2**24
"""How much larger than a file all its objects may be together, each with what it holds. Models come
to five times their file; a few lines of a hostile file could refer to one array a million times, or
double an object with every line, so that checking them would never end."""


class UnknownNameError(Flaw):
    """A file names a class or field that this version does not have."""


@dataclass
class _Extent:
    """An object with all that it holds, what is shared counted every time.

    Attributes
    ----------
    n_bytes : int
        Bytes of arrays, and some for every object.
    depth : int
        Objects in objects.
    """

    n_bytes: int = OBJECT_BYTES
    depth: int = 0


class Decoder:
    """Builds the objects of a file, one after the other.

    Parameters
    ----------
    arrays : list of ndarray
        The arrays of the file.
    """

    def __init__(self, arrays: list[np.ndarray[Any, Any]]) -> None:
        self._arrays = arrays
        self._objects: list[Any] = []
        self._extents: list[_Extent] = []
        self._current = _Extent()
        self._bytes_left = 0

    def decode(self, entries: Any, number: Any) -> Any:
        """Build all objects and return the one with a number."""
        require(
            isinstance(entries, list) and len(entries) <= MOST_OBJECTS,
            "its list of objects is missing or too long",
        )
        n_bytes = sum(array.nbytes for array in self._arrays) + OBJECT_BYTES * len(entries)
        self._bytes_left = MOST_SHARED * n_bytes + SPARE_BYTES
        for entry in entries:
            self._objects.append(self._object(entry))
        return self._known(self._objects, number)

    def value(self, entry: Any, depth: int = 0) -> Any:
        """Return the value that an entry stands for."""
        require(depth <= DEEPEST, "values are nested too deeply")
        if entry is None or isinstance(entry, bool | int | float | str):
            return entry
        if isinstance(entry, list):
            return [self.value(each, depth + 1) for each in entry]
        require(
            isinstance(entry, dict) and isinstance(entry.get("type"), str), "an entry has no type"
        )
        reader = READERS.get(entry["type"])
        if reader is None:
            msg = f"It holds a value of a type {entry['type']!r:.40} that is not known here."
            raise UnknownNameError(msg)
        try:
            return reader(self, entry, depth + 1)
        except KeyError as error:
            fail(f"an entry lacks {error}", error)

    def _items(self, entry: dict[str, Any], depth: int) -> list[Any]:
        require(isinstance(entry["items"], list), "a list lacks its entries")
        return [self.value(each, depth) for each in entry["items"]]

    def _hashable(self, entry: dict[str, Any], depth: int) -> list[Any]:
        items = self._items(entry, depth)
        require(all(is_key(item) for item in items), "a set has an invalid entry")
        return items

    def _dict(self, entry: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = self._items(entry, depth)
        require(
            all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
            and all(is_key(key) for key, _ in pairs),
            "a table has invalid keys",
        )
        return dict(pairs)

    def _float(self, entry: dict[str, Any], _depth: int) -> float:
        require(entry["value"] in ("nan", "inf", "-inf"), "a number cannot be read")
        return float(entry["value"])

    def _scalar(self, entry: dict[str, Any], _depth: int) -> Any:
        dtype, text = read_dtype(entry["dtype"]), entry["bytes"]
        require(isinstance(text, str) and len(text) == 2 * dtype.itemsize, "a number is truncated")
        content = bytes.fromhex(text)
        require(
            dtype.kind != "b" or content in (b"\0", b"\1"), "a boolean is neither true nor false"
        )
        return np.frombuffer(content, dtype=dtype)[0] if content else dtype.type()

    def _array(self, entry: dict[str, Any], _depth: int) -> Any:
        array = self._known(self._arrays, entry["number"])
        self._current.n_bytes += array.nbytes
        return array

    def _object_array(self, entry: dict[str, Any], depth: int) -> Any:
        items, shape = self._items(entry, depth), entry["shape"]
        require(
            isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape),
            "a table of values has an invalid shape",
        )
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _sparse(self, entry: dict[str, Any], depth: int) -> Any:
        require(isinstance(entry["arrays"], list), "a sparse matrix has no arrays")
        arrays = [self.value(each, depth) for each in entry["arrays"]]
        require(len(arrays) in (2, 3), "a sparse matrix has no arrays")
        is_array = entry["is_array"] is True
        return make_sparse(entry["format"], arrays, entry["shape"], is_array=is_array)

    def _random_state(self, entry: dict[str, Any], depth: int) -> Any:
        require(isinstance(entry["parts"], list), "a random state is incomplete")
        return make_random_state([self.value(each, depth) for each in entry["parts"]])

    def _dtype(self, entry: dict[str, Any], _depth: int) -> Any:
        return read_dtype(entry["name"])

    def _enum(self, entry: dict[str, Any], _depth: int) -> Any:
        cls: Any = _kind(entry["kind"]).load()
        require(issubclass(cls, Enum), "an enumeration is not one that isofold has")
        if entry["name"] not in cls.__members__:
            msg = f"It says {entry['name']!r:.40}, which is not known here."
            raise UnknownNameError(msg)
        return cls[entry["name"]]

    def _reference(self, entry: dict[str, Any], _depth: int) -> Any:
        made = self._known(self._objects, entry["number"])
        extent = self._extents[entry["number"]]
        self._current.n_bytes += extent.n_bytes
        self._current.depth = max(self._current.depth, extent.depth + 1)
        return made

    def _known(self, things: list[Any], number: Any) -> Any:
        is_one = type(number) is int and 0 <= number < len(things)
        require(is_one, "it refers to an array or object that is missing")
        return things[number]

    def _fields(self, entries: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of an object, if looking at them ends in time."""
        self._current = _Extent()
        stored = {name: self.value(value) for name, value in entries.items()}
        self._extents.append(self._current)
        self._bytes_left -= self._current.n_bytes
        require(self._bytes_left >= 0, "its objects repeat the same content too often")
        require(self._current.depth <= DEEPEST, "its objects are nested too deeply")
        n_jobs = stored.get("n_jobs")
        is_sane = not isinstance(n_jobs, Integral) or abs(int(n_jobs)) <= MOST_JOBS
        require(is_sane, "it asks for too many threads")
        return stored

    def _object(self, entry: Any) -> Any:
        require(
            isinstance(entry, dict)
            and isinstance(entry.get("kind"), str)
            and isinstance(entry.get("fields"), dict),
            "an object is not described",
        )
        name, stored = entry["kind"], self._fields(entry["fields"])
        if name == EXTERNAL:
            require(isinstance(entry.get("class"), str), "an estimator has no name")
            return make_estimator(entry["class"], stored)
        if name in SEARCHES:
            return make_search(name, stored)
        kind = _kind(name)
        stored = {
            kind.renamed.get(each, each): value
            for each, value in stored.items()
            if each not in kind.removed
        }
        cls: Any = kind.load()
        stored = {**kind.added, **stored}
        if kind.migrated:
            stored = getattr(older, f"migrate_{kind.migrated}")(stored)
        made = _dataclass(cls, stored) if is_dataclass(cls) else _estimator(cls, stored)
        if kind.check:
            getattr(checks, f"check_{kind.check}")(made)
        return made


READERS = {
    "tuple": lambda decoder, entry, depth: tuple(decoder._items(entry, depth)),
    "dict": Decoder._dict,
    "set": lambda decoder, entry, depth: set(decoder._hashable(entry, depth)),
    "frozenset": lambda decoder, entry, depth: frozenset(decoder._hashable(entry, depth)),
    "float": Decoder._float,
    "scalar": Decoder._scalar,
    "array": Decoder._array,
    "objects": Decoder._object_array,
    "sparse": Decoder._sparse,
    "random state": Decoder._random_state,
    "dtype": Decoder._dtype,
    "enum": Decoder._enum,
    "object": Decoder._reference,
}


def _kind(name: Any) -> Kind:
    if not isinstance(name, str) or name not in KINDS:
        msg = f"It holds a {name!r:.60}, which is not known here."
        raise UnknownNameError(msg)
    return KINDS[name]


def _refuse_unknown(cls: type, names: set[str]) -> None:
    if names:
        msg = f"Its {cls.__name__} has {sorted(names)[0]!r:.60}, which is not known here."
        raise UnknownNameError(msg)


def _dataclass(cls: Any, stored: dict[str, Any]) -> Any:
    """Build a dataclass whose fields are of their types."""
    _refuse_unknown(cls, stored.keys() - {each.name for each in fields(cls)})
    hints = type_hints(cls)
    for name, value in stored.items():
        is_right = matches(value, hints[name])
        wanted = getattr(hints[name], "__name__", hints[name])
        require(is_right, f"{cls.__name__}.{name} is not of type {wanted}")
    try:
        return cls(**stored)
    except TypeError as error:
        fail(f"a {cls.__name__} is incomplete ({error})", error)


def _estimator(cls: Any, stored: dict[str, Any]) -> Any:
    """Build an estimator from its parameters, and set what it learned."""
    require(hasattr(cls, "get_params"), "it names a class that is not an estimator")
    known = signature(cls.__init__).parameters
    made = cls(**{name: value for name, value in stored.items() if name in known})
    learned = {name: value for name, value in stored.items() if name not in known}
    for name, value in learned.items():
        is_fitted_name = name.isidentifier() and (name.endswith("_") or name.startswith("_"))
        if not is_fitted_name or name.startswith("__") or hasattr(cls, name):
            _refuse_unknown(cls, {name})
        setattr(made, name, value)
    return made
