"""The methods that maps are made by: names on the command line, estimators, their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from isofold.exceptions import InvalidInputError

__all__ = ["METHODS", "Method", "errors_in_options", "in_options", "make_estimator"]


@dataclass(frozen=True)
class Method:
    """A method of isofold, as the command line knows it.

    Attributes
    ----------
    estimator : str
        Name of the class in isofold.
    words : str
        What it is, for the screen.
    most_rows : int or None
        Rows beyond which `compare` gives it a sample, since it would not end in minutes.
    needs_label : bool
        Whether it cannot do without labels.
    finds_dimension : bool
        Whether it takes ``--n-components auto``.
    """

    estimator: str
    words: str
    most_rows: int | None = None
    needs_label: bool = False
    finds_dimension: bool = False


METHODS = {
    "auto": Method("Unfold", "the method that suits the data", finds_dimension=True),
    "ipa": Method("IPA", "isometric patch alignment", finds_dimension=True),
    "local-mds": Method("LocalMDS", "local multidimensional scaling"),
    "mvu": Method("MVU", "maximum variance unfolding", most_rows=2000),
    "landmark-mvu": Method("LandmarkMVU", "landmark unfolding", most_rows=5000),
    "fast-mvu": Method("FastMVU", "fast unfolding", most_rows=20_000),
    "colored-mvu": Method("ColoredMVU", "colored unfolding", most_rows=600, needs_label=True),
    "disjoint-mvu": Method("DisjointMVU", "unfolding of separate pieces", most_rows=2000),
    "eat": Method("EAT", "embedding by affine transformations", most_rows=800),
    "tesseramap": Method("TesseraMap", "tessera map", most_rows=10_000),
    "plml": Method("PLML", "piecewise-linear manifold learning"),
}

# Parameters that have an option of their own, or that no text can say.
_OWN_OPTIONS = {
    "n_components": "--n-components",
    "n_neighbors": "--n-neighbors",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "max_seconds": "--max-seconds",
}
_NOT_FROM_TEXT = {"metric", "solver", "terms", "verbose"}


def make_estimator(
    name: str,
    *,
    n_components: int | str = 2,
    n_neighbors: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    jobs: int | None = None,
    settings: dict[str, Any] | None = None,
) -> Any:
    """Return an estimator that is ready to fit, or refuse options that its method does not take."""
    import isofold

    method = METHODS[name]
    if n_components == "auto" and not method.finds_dimension:
        finding = " or ".join(n for n, m in METHODS.items() if m.finds_dimension)
        _refuse(f"--n-components auto needs --method {finding}: {name} wants a number.")
    if max_seconds is not None and name != "auto":
        _refuse(f"--max-seconds is for --method auto: {name} cannot be held to a time.")
    estimator = getattr(isofold, method.estimator)()
    known = estimator.get_params(deep=False)
    _check_settings(name, settings or {}, set(known))
    given = {
        "n_components": n_components,
        "n_neighbors": n_neighbors,
        "max_seconds": max_seconds,
        "random_state": seed,
        "n_jobs": jobs,
        **(settings or {}),
    }
    chosen = {key: value for key, value in given.items() if key in known and value is not None}
    return estimator.set_params(**{**chosen, **(settings or {})})


def in_options(text: str) -> str:
    """Return a sentence that was written for Python with the options of the command line.

    Examples
    --------
    >>> in_options("Try other n_neighbors, angles=True or n_components=3.")
    'Try other --n-neighbors, --set angles=true or --n-components 3.'
    >>> in_options("See bridges_ for these lines.")
    'See bridges_ of the model in Python for these lines.'
    """
    for name, flag in _OWN_OPTIONS.items():
        text = re.sub(rf"\b{name}=", f"{flag} ", text)
        text = re.sub(rf"\b{name}\b", flag, text)
    text = re.sub(r"\b([a-z_]+)=(True|False)\b", lambda m: f"--set {m[1]}={m[2].lower()}", text)
    return re.sub(r"(?<![\w.'])([a-z][a-z_]*_)(?!\w)", r"\1 of the model in Python", text)


@contextmanager
def errors_in_options() -> Iterator[None]:
    """Let errors that were written for Python name the options of the command line."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(in_options(str(error))) from error


def _check_settings(method: str, settings: dict[str, Any], known: set[str]) -> None:
    for name in settings:
        if name in _OWN_OPTIONS:
            _refuse(f"--set {name} has an option of its own: use {_OWN_OPTIONS[name]}.")
        if name not in known or name in _NOT_FROM_TEXT:
            others = sorted(known - _NOT_FROM_TEXT - set(_OWN_OPTIONS))
            told = f"it has {', '.join(others)}" if others else "it has none to set"
            _refuse(f"--set {name}: --method {method} has no such parameter; {told}.")


def _refuse(message: str) -> None:
    raise click.UsageError(message, click.get_current_context(silent=True))
