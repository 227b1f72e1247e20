"""How a map was made: the method, its parameters as text and as code, and the versions."""

from __future__ import annotations

import keyword
import platform
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from isofold.assessment.assessment import Origin
from isofold.assessment.models import last_step
from isofold.embedding.catalog import BY_CLASS

__all__ = ["describe_method", "describe_origin"]

LONGEST_VALUE = 120
"""Characters of a parameter that are shown."""

MOST_ENTRIES = 10
"""Entries of a list that are shown."""

PACKAGES = ("isofold", "numpy", "scipy", "scikit-learn")

UNKNOWN = "..."
"""Stands in code for a value that no short code makes."""


def describe_origin(model: Any, *, is_fitted_to_pairs: bool = False) -> Origin:
    """Return how a map was made; its model may have been fitted to other pairs than are shown."""
    outer = last_step(model)
    given = outer.get_params(deep=False) if hasattr(outer, "get_params") else {}
    return Origin(
        method=describe_method(model),
        parameters=tuple((name, _text_of(value)) for name, value in given.items()),
        code=tuple(_code_lines(model, is_fitted_to_pairs=is_fitted_to_pairs)),
        versions=tuple(_versions()),
    )


def describe_method(model: Any) -> str:
    """Return the name of the method that made a map."""
    if model is None:
        return "given coordinates"
    outer = last_step(model)
    name = type(outer).__name__
    if hasattr(outer, "decision_"):
        return f"{name}, which chose {type(outer.estimator_).__name__}"
    # By the parameter: files do not keep fitted estimators of other libraries.
    inner = getattr(outer, "estimator", None)
    return name if inner is None else f"{name} of {type(last_step(inner)).__name__}"


def _text_of(value: Any) -> str:
    """Return a parameter as a short text."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    if isinstance(value, bool | str | Real) or value is None:
        shown = str(value)
    elif _is_array(value):
        return f"{type(value).__name__} of shape {tuple(value.shape)}"
    elif isinstance(value, list | tuple | set | dict) and len(value) > MOST_ENTRIES:
        return f"{type(value).__name__} of {len(value)} entries"
    elif callable(value) and not isinstance(value, BaseEstimator):
        shown = getattr(value, "__name__", type(value).__name__)
    else:
        shown = repr(value)
    line = " ".join(shown.split())
    return line if len(line) <= LONGEST_VALUE else f"{line[: LONGEST_VALUE - 1]}…"


def _is_array(value: Any) -> bool:
    return sp.issparse(value) or (hasattr(value, "shape") and hasattr(value, "dtype"))


def _code_lines(model: Any, *, is_fitted_to_pairs: bool) -> Iterator[str]:
    """Yield the lines of Python that make a map and its page again."""
    names: dict[str, set[str]] = {"isofold": {"report"}}
    made = None if model is None else _code_of(model, names)
    if made is None or made == UNKNOWN:
        yield "from isofold import report"
        yield 'report(X, Y, "report.html")  # Y: the coordinates'
        return
    for module in sorted(names, key=lambda name: (name == "isofold", name)):
        yield f"from {module} import {', '.join(sorted(names[module]))}"
    yield f"model = {_fitting(model, made, is_fitted_to_pairs=is_fitted_to_pairs)}"
    yield 'report(X, model, "report.html")'


def _fitting(model: Any, made: str, *, is_fitted_to_pairs: bool) -> str:
    """Return the call that fits a model again."""
    outer = last_step(model)
    name = type(outer).__name__
    if name == "OutOfSample" and outer.estimator is None:
        arguments = "".join(f", {each}" for each in _arguments(outer, {}))
        return f"OutOfSample.from_embedding(X, Y{arguments})  # Y: the coordinates"
    if name in BY_CLASS and BY_CLASS[name].needs_label:
        return f"{made}.fit(X, y)  # y: the labels"
    if is_fitted_to_pairs:
        return f"{made}.fit(table)  # table: the distances or similarities of all pairs"
    return f"{made}.fit(X)"


def _code_of(value: Any, names: dict[str, set[str]]) -> str:
    """Return code that makes a value, and note the names that it needs by their modules."""
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        text = repr(value)
        return text if len(text) <= LONGEST_VALUE else UNKNOWN
    if isinstance(value, float):
        return repr(value) if np.isfinite(value) else f"float({str(value)!r})"
    if isinstance(value, list | tuple) and len(value) <= MOST_ENTRIES:
        entries = ", ".join(_code_of(each, names) for each in value)
        closing = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{entries}]" if isinstance(value, list) else f"({entries}{closing})"
    cls = type(value)
    is_made_of_parameters = isinstance(value, BaseEstimator) or is_dataclass(value)
    is_named = cls.__name__.isidentifier() and not keyword.iskeyword(cls.__name__)
    if not is_made_of_parameters or not is_named or "<" in cls.__qualname__:
        return UNKNOWN
    names.setdefault(_public_module(cls), set()).add(cls.__name__)
    return f"{cls.__name__}({', '.join(_arguments(value, names))})"


def _arguments(thing: Any, names: dict[str, set[str]]) -> Iterator[str]:
    """Yield the parameters that differ from their defaults, as code."""
    known = signature(type(thing)).parameters
    if isinstance(thing, BaseEstimator):
        given = thing.get_params(deep=False)
    else:
        given = {each.name: getattr(thing, each.name) for each in fields(thing)}
    for name, value in given.items():
        default = known[name].default if name in known else None
        # Arrays have no single truth value, so that texts are compared.
        if name not in known or type(value) is not type(default) or repr(value) != repr(default):
            yield f"{name}={_code_of(value, names)}"


def _public_module(cls: type) -> str:
    """Return the shortest name of a module from which a class can be imported."""
    parts = cls.__module__.split(".")
    modules = [".".join(parts[: i + 1]) for i in range(len(parts))]
    for module in modules:
        if getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    return cls.__module__


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "unknown"
