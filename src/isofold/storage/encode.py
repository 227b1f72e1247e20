"""A fitted model as JSON and arrays.

Plain values stand for themselves; all others are tables with a "type". Objects are numbered, and
one refers only to others before it: so what is shared is stored once, and there are no cycles.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from isofold._findings import warn_user
from isofold.exceptions import InvalidInputError
from isofold.storage.arrays import dtype_name
from isofold.storage.external import (
    is_estimator,
    is_fitted,
    name_of_estimator,
    random_state_parts,
    sparse_parts,
)
from isofold.storage.registry import kind_of
from isofold.storage.searches import SEARCHES, fields_of_search
from isofold.storage.validation import matches, type_hints

__all__ = ["DEEPEST", "EXTERNAL", "MOST_OBJECTS", "Encoder", "is_key"]

EXTERNAL = "scikit-learn"
"""The kind of estimators that are not ours."""

PLAIN = (str, int, float, bool, type(None))
"""What keys of tables and entries of sets may be."""

LONGEST_NUMBER, LONGEST_KEY = 10_000, 63
"""Bits of a whole number: Python reads and writes up to 4,300 digits. As keys of a table long ones
could be chosen such that every lookup compares all of them."""

DEEPEST = 40
"""Levels of lists in lists, and of objects in objects. Models have five."""

MOST_OBJECTS = 200_000
"""Objects of a model. Those with a model for every patch have ten a patch."""

JOBLIB = (
    "joblib.dump keeps the model with all that it holds; load such files only from people you trust"
)


class Encoder:
    """Collects the objects and arrays of a model.

    Attributes
    ----------
    objects : list of dict
        The objects, each after those that it refers to.
    arrays : list of ndarray
        The arrays, in the order in which they are met.
    """

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        # Everything with a number is kept alive: another object could have its id otherwise.
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()

    def encode(self, value: Any, where: str, *, is_parameter: bool = False, depth: int = 0) -> Any:
        """Return what stands for a value in JSON."""
        if depth > DEEPEST:
            msg = f"{where} is nested in more than {DEEPEST} lists, or holds itself. Flatten it."
            raise InvalidInputError(msg)
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if value.bit_length() <= LONGEST_NUMBER else refuse(where, value)
        if type(value) is float:
            return value if math.isfinite(value) else {"type": "float", "value": repr(value)}
        if type(value) in (list, tuple, dict, set, frozenset):
            return self._container(value, where, is_parameter=is_parameter, depth=depth + 1)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value, where, is_parameter=is_parameter, depth=depth + 1)
        return self._thing(value, where, is_parameter=is_parameter)

    def _container(self, value: Any, where: str, *, is_parameter: bool, depth: int) -> Any:
        def inner(entry: Any, key: Any) -> Any:
            return self.encode(entry, f"{where}[{key!r}]", is_parameter=is_parameter, depth=depth)

        kind = type(value).__name__
        if isinstance(value, dict | set | frozenset):
            unsuitable = [key for key in value if type(key) not in PLAIN or not is_key(key)]
            if unsuitable:
                refuse(f"A key of {where}", unsuitable[0])
        if isinstance(value, dict):
            items = [[inner(key, key), inner(entry, key)] for key, entry in value.items()]
            return {"type": kind, "items": items}
        if isinstance(value, set | frozenset):
            # Sorted, so that one model has one file.
            items = sorted((inner(entry, entry) for entry in value), key=repr)
            return {"type": kind, "items": items}
        items = [inner(entry, number) for number, entry in enumerate(value)]
        return items if kind == "list" else {"type": kind, "items": items}

    def _scalar(self, value: np.generic, where: str) -> dict[str, Any]:
        name = dtype_name(value.dtype)
        if name is None:
            refuse(where, value)
        return {"type": "scalar", "dtype": name, "bytes": value.tobytes().hex()}

    def _array(
        self, value: np.ndarray[Any, Any], where: str, *, is_parameter: bool, depth: int
    ) -> dict[str, Any]:
        if value.dtype.kind == "O":
            items = [
                self.encode(entry, f"{where}[{number}]", is_parameter=is_parameter, depth=depth)
                for number, entry in enumerate(value.ravel().tolist())
            ]
            return {"type": "objects", "shape": list(value.shape), "items": items}
        if dtype_name(value.dtype) is None:
            refuse(where, value)
        if id(value) not in self._numbers:
            self._numbers[id(value)] = (value, len(self.arrays))
            self.arrays.append(value)
        return {"type": "array", "number": self._numbers[id(value)][1]}

    def _thing(self, value: Any, where: str, *, is_parameter: bool) -> dict[str, Any]:
        if isinstance(value, np.dtype):
            name = dtype_name(value)
            if name is None:
                refuse(where, value)
            return {"type": "dtype", "name": name}
        if sp.issparse(value):
            how, arrays = sparse_parts(value)
            return {"type": "sparse", **how, "arrays": [self.encode(a, where) for a in arrays]}
        if type(value) is np.random.RandomState:
            parts = random_state_parts(value)
            if parts is None:
                refuse(where, value)
            return {"type": "random state", "parts": [self.encode(p, where) for p in parts]}
        if isinstance(value, Enum) and kind_of(value):
            return {"type": "enum", "kind": kind_of(value), "name": value.name}
        return {
            "type": "object",
            "number": self._number_of(value, where, is_parameter=is_parameter),
        }

    def _number_of(self, value: Any, where: str, *, is_parameter: bool) -> int:
        """Return the number of an object, after storing it if it was not met before."""
        if id(value) in self._numbers:
            return self._numbers[id(value)][1]
        if id(value) in self._open:
            msg = f"{where} leads back to itself, and a model file cannot hold cycles. {JOBLIB}."
            raise InvalidInputError(msg)
        self._open.add(id(value))
        kind, state = self._state_of(value, where, is_parameter=is_parameter)
        parameters = value.get_params(deep=False) if is_estimator(value) else ()
        stored = {
            name: self.encode(entry, f"{where}.{name}", is_parameter=name in parameters)
            for name, entry in state.items()
        }
        self._open.remove(id(value))
        if len(self.objects) >= MOST_OBJECTS:
            msg = f"The model has more than {MOST_OBJECTS} parts, too many for a file. {JOBLIB}."
            raise InvalidInputError(msg)
        entry: dict[str, Any] = {"kind": kind, "fields": stored}
        if kind == EXTERNAL:
            entry["class"] = name_of_estimator(value)
        self.objects.append(entry)
        self._numbers[id(value)] = (value, len(self.objects) - 1)
        return len(self.objects) - 1

    def _state_of(
        self, value: Any, where: str, *, is_parameter: bool
    ) -> tuple[str, dict[str, Any]]:
        """Return the kind of an object, and its fields."""
        kind = kind_of(value)
        if kind is None:
            return EXTERNAL, _external_state(value, where, is_parameter=is_parameter)
        if kind in SEARCHES:
            return kind, fields_of_search(value)
        if is_dataclass(value):
            state = {each.name: getattr(value, each.name) for each in fields(value)}
            _check_types(value, state, where)
            return kind, state
        caches = {
            name for name in vars(value) if isinstance(vars(type(value)).get(name), cached_property)
        }
        state = {name: entry for name, entry in vars(value).items() if name not in caches}
        return kind, _without_estimators(value, state, where) if kind == "OutOfSample" else state


def is_key(value: Any) -> bool:
    """Return whether a value may be a key of a table, or an entry of a set."""
    is_short = not isinstance(value, int) or value.bit_length() <= LONGEST_KEY
    return isinstance(value, PLAIN) and is_short


def _external_state(value: Any, where: str, *, is_parameter: bool) -> dict[str, Any]:
    """Return the parameters of an estimator of scikit-learn."""
    if not is_estimator(value) or name_of_estimator(value) is None:
        refuse(where, value)
    if is_fitted(value) and not is_parameter:
        msg = (
            f"{where} is a fitted {type(value).__name__} of another library, which a model file "
            f"cannot hold. Use an estimator of isofold instead; or {JOBLIB}."
        )
        raise InvalidInputError(msg)
    parameters: dict[str, Any] = value.get_params(deep=False)
    if parameters.get("memory") is not None:
        msg = f"{where}.memory names a cache on this machine. Set it to None before saving."
        raise InvalidInputError(msg)
    return parameters


def _without_estimators(model: Any, state: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of an `OutOfSample` that `transform` needs.

    Its fitted estimator is not among them, unless it is ours. One that is neither ours nor
    scikit-learn's is not kept at all.
    """
    state = dict(state)
    if "estimator_" in state and kind_of(state["estimator_"]) is None:
        state["estimator_"] = None
    given = state["estimator"]
    is_kept = given is None or kind_of(given) is not None or name_of_estimator(given) is not None
    # Whether X holds distances is read off the estimator.
    if not is_kept and model._sees_points:
        state["estimator"] = None
        msg = (
            f"{where}.estimator is a {type(given).__name__}, which a model file cannot hold. The "
            f"saved model places new points in the same way, but cannot be fitted again."
        )
        warn_user(msg, UserWarning)
    return state


def _check_types(value: Any, state: dict[str, Any], where: str) -> None:
    """Refuse now what `load` would refuse later."""
    cls: Any = type(value)
    hints = type_hints(cls)
    for name, entry in state.items():
        if not matches(entry, hints[name]):
            refuse(f"{where}.{name}", entry)


def refuse(where: str, value: Any) -> NoReturn:
    """Raise the error for a value that cannot be stored."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind.startswith("isofold."):
        msg = (
            f"{where} is a {kind}, which isofold.storage.registry does not list. This is an error "
            f"of isofold, not of the model: please report it. Until then, {JOBLIB}."
        )
        raise InvalidInputError(msg)
    if isinstance(value, np.ndarray | np.generic):
        kind = f"array of {value.dtype}"
    what = "function" if callable(value) and not is_estimator(value) else f"value of type {kind}"
    msg = (
        f"{where} is a {what}, and a model file holds numbers, text and what isofold is made of, "
        f"so that loading it cannot run code. Use a named option instead; or {JOBLIB}."
    )
    raise InvalidInputError(msg)
