"""Vocabularies: how parameters and attributes are called where a text is read.

A text names a parameter by a placeholder, ``{p.n_neighbors}`` or ``{p.n_neighbors:=12}``, and an
attribute by ``{a.bridges_}``. Python reads ``n_neighbors=12``, the shell ``--n-neighbors 12``.
Findings are rendered when they are read; errors when they are raised, in the vocabulary of whoever
called (`speaking`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

__all__ = [
    "PYTHON",
    "SHELL",
    "Value",
    "Vocabulary",
    "parameter",
    "setting",
    "speaking",
    "spoken",
    "worded",
]


@dataclass(frozen=True)
class Value:
    """A value or an advice that is worded otherwise in the shell than in Python."""

    python: str
    shell: str

    def __repr__(self) -> str:
        return self.python


@dataclass(frozen=True)
class Vocabulary:
    """How parameters and attributes are named."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    other_option: str = ""
    attribute_suffix: str = ""

    def parameter(self, name: str) -> str:
        """Return the name of a parameter."""
        return dict(self.options).get(name, name)

    def setting(self, name: str, value: Any) -> str:
        """Return a parameter with its value, as it is to be typed."""
        options = dict(self.options)
        if isinstance(value, Value) and self.other_option:
            value = value.shell
        if name in options:
            return f"{options[name]} {value}"
        if self.other_option and name.isidentifier():
            text = str(value).lower() if isinstance(value, bool) else value
            return f"{self.other_option} {name}={text}"
        return f"{name}={value!r}"

    def attribute(self, name: str) -> str:
        """Return the name of a fitted attribute."""
        return f"{name}{self.attribute_suffix}"


PYTHON = Vocabulary("python")

SHELL = Vocabulary(
    "shell",
    options=(
        ("n_components", "--n-components"),
        ("n_neighbors", "--n-neighbors"),
        ("random_state", "--seed"),
        ("n_jobs", "--jobs"),
        ("max_seconds", "--max-seconds"),
    ),
    other_option="--set",
    attribute_suffix=" of the model in Python",
)

_SPOKEN: ContextVar[Vocabulary] = ContextVar("vocabulary", default=PYTHON)


@contextmanager
def speaking(vocabulary: Vocabulary) -> Iterator[None]:
    """Let errors that are raised inside name parameters in a vocabulary."""
    before = _SPOKEN.set(vocabulary)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def spoken() -> Vocabulary:
    """Return the vocabulary of whoever called."""
    return _SPOKEN.get()


def parameter(name: str) -> str:
    """Return the name of a parameter for an error message."""
    return _SPOKEN.get().parameter(name)


def setting(name: str, value: Any) -> str:
    """Return a parameter with its value for an error message."""
    return _SPOKEN.get().setting(name, value)


def worded(value: Value) -> str:
    """Return an advice for an error message."""
    return value.python if _SPOKEN.get() == PYTHON else value.shell


class Parameters:
    """The ``p`` of templates: ``{p.angles}`` is a name, ``{p.angles:=True}`` a setting."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __getattr__(self, name: str) -> _Named:
        return _Named(self._vocabulary, name)


class Attributes:
    """The ``a`` of templates: ``{a.bridges_}``."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __getattr__(self, name: str) -> str:
        return self._vocabulary.attribute(name)


@dataclass(frozen=True)
class _Named:
    """A parameter in a template."""

    vocabulary: Vocabulary
    name: str

    def __format__(self, spec: str) -> str:
        if not spec.startswith("="):
            return self.vocabulary.parameter(self.name)
        literals: Mapping[str, Any] = {"True": True, "False": False}
        text = spec[1:]
        value = literals.get(text, _Literal(text))
        return self.vocabulary.setting(self.name, value)


class _Literal(str):
    """A value as a template writes it: shown as it stands, not quoted again."""

    def __repr__(self) -> str:
        return str(self)
