"""Whether what a file holds is what it says: flaws of files, and types of fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

__all__ = ["DAMAGED", "Flaw", "fail", "matches", "require", "type_hints"]

DAMAGED = "Get the file again from where it came, or save the model again."


class Flaw(Exception):  # noqa: N818 - not for users, who get a ModelFileError
    """A file cannot be loaded; the message is for the user, and `load` adds the file name."""


def fail(what: str, cause: Exception | None = None) -> NoReturn:
    """Raise the flaw of a file that is damaged or contradicts itself."""
    msg = f"The file is damaged: {what}. {DAMAGED}"
    raise Flaw(msg) from cause


def require(condition: Any, what: str) -> None:
    """Raise a flaw unless a condition holds; `what` is wrong otherwise."""
    if not condition:
        fail(what)


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """Return the annotations of a class, resolved."""
    return typing.get_type_hints(cls)


def matches(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotated type.

    Whole numbers count as numbers, and NumPy's as Python's.
    """
    if hint is Any:
        return True
    if hint is None or hint is types.NoneType:
        return value is None
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(matches(value, choice) for choice in arguments)
    if origin is typing.Literal:
        return value in arguments
    if origin is np.ndarray:
        return _is_array(value, arguments)
    if origin is Callable:
        return callable(value)
    if origin is not None:
        return isinstance(value, origin) and _holds(value, origin, arguments)
    return _is_instance(value, hint)


def _is_array(value: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    (scalar,) = typing.get_args(arguments[1])
    return scalar is Any or issubclass(value.dtype.type, typing.get_origin(scalar) or scalar)


def _holds(value: Any, origin: type, arguments: tuple[Any, ...]) -> bool:
    """Return whether the entries of a container are of their types."""
    if origin is dict:
        return all(matches(k, arguments[0]) and matches(v, arguments[1]) for k, v in value.items())
    if origin is tuple and arguments[-1] is not Ellipsis:
        pairs = zip(value, arguments, strict=False)
        return len(value) == len(arguments) and all(matches(*pair) for pair in pairs)
    if origin in (tuple, list, set, frozenset):
        return all(matches(entry, arguments[0]) for entry in value)
    return True


def _is_instance(value: Any, hint: Any) -> bool:
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if getattr(hint, "_is_protocol", False):
        methods = [name for name in vars(hint) if not name.startswith("_")]
        return all(hasattr(type(value), name) for name in methods)
    return isinstance(value, hint)
