"""The method of a command: what the user chose, and the estimator that does it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import click

from isofold._findings import SHELL
from isofold.embedding.catalog import BY_SHELL_NAME

if TYPE_CHECKING:
    from isofold._typing import SeenMetric

__all__ = ["FitOptions", "make_estimator", "read_value"]

# Parameters that have no value that can be typed.
_NOT_FROM_TEXT = {"kernel", "solver", "terms", "verbose"}

LONGEST_VALUE = 60
"""Characters of a wrong value that are shown."""


@dataclass(frozen=True)
class FitOptions:
    """How a map is made; options that are not given are left to the method.

    Attributes
    ----------
    method : str
        Its name on the command line.
    settings : tuple of str
        Further parameters, each as ``name=value``.
    strict : bool
        Whether a doubtful map has an exit code of its own.
    """

    method: str = "auto"
    n_components: int | str = 2
    n_neighbors: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    jobs: int = 1
    settings: tuple[str, ...] = ()
    strict: bool = False

    @property
    def needs_label(self) -> bool:
        """Whether the method cannot do without labels."""
        return BY_SHELL_NAME[self.method].needs_label


def make_estimator(options: FitOptions, *, metric: SeenMetric = "euclidean") -> Any:
    """Return an estimator that is ready to fit, or refuse options that its method does not take."""
    import isofold

    name, method = options.method, BY_SHELL_NAME[options.method]
    if options.n_components == "auto" and not method.finds_dimension:
        finding = " or ".join(n for n, m in BY_SHELL_NAME.items() if m.finds_dimension)
        _refuse(f"--n-components auto needs --method {finding}: {name} needs a number.")
    if options.max_seconds is not None and name != "auto":
        _refuse(f"--max-seconds is for --method auto: {name} has no time limit.")
    estimator = getattr(isofold, method.name)()
    known = set(estimator.get_params(deep=False))
    settings = _read_settings(options.settings)
    _check_settings(name, settings, known)
    # Methods that do not take distances take a kernel.
    pairs = "metric" if "metric" in known else "kernel"
    given = {
        pairs: None if metric == "euclidean" else metric,
        "n_components": options.n_components,
        "n_neighbors": options.n_neighbors,
        "max_seconds": options.max_seconds,
        "random_state": options.seed,
        "n_jobs": options.jobs,
    }
    chosen = {key: value for key, value in given.items() if key in known and value is not None}
    return estimator.set_params(**chosen, **_as_objects(settings))


def _as_objects(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the objects that words and numbers of the shell stand for."""
    from isofold.neighbors.resolve import named_graph
    from isofold.sdp import Soft

    made = dict(settings)
    if "graph" in made:
        made["graph"] = named_graph(made["graph"])
    if isinstance(made.get("links"), int):
        made["links"], made["n_links"] = "closest", made["links"]
    lengths = made.get("lengths")
    if isinstance(lengths, int | float) and not isinstance(lengths, bool):
        made["lengths"] = Soft(float(lengths))
    return made


def _read_settings(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return what ``--set name=value`` says."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, typed = pair.partition("=")
        if not equals or not name.isidentifier():
            _refuse(f"--set {pair!r} is not of the form name=value.")
        if name in settings:
            _refuse(f"--set {name} is given twice.")
        settings[name] = read_value(typed, f"--set {name}")
    return settings


def read_value(typed: str, option: str) -> Any:
    """Return a value as it is typed behind an option: a word, or JSON."""
    try:
        return json.loads(typed, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        if re.fullmatch(r"[A-Za-z_][\w-]*", typed) and typed not in ("NaN", "Infinity"):
            return typed
        clipped = typed if len(typed) <= LONGEST_VALUE else f"{typed[: LONGEST_VALUE - 1]}…"
        _refuse(
            f"{option}={clipped}: the value is neither a word nor a JSON value such as 12, "
            f'0.5, true, null or "a text".'
        )


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)


def _check_settings(method: str, settings: dict[str, Any], known: set[str]) -> None:
    own_options = dict(SHELL.options)
    for name in settings:
        if name in own_options:
            _refuse(f"--set {name} has an option of its own: use {own_options[name]}.")
        if name not in known or name in _NOT_FROM_TEXT:
            others = sorted(known - _NOT_FROM_TEXT - set(own_options))
            there = f"it has {', '.join(others)}" if others else "it has none to set"
            _refuse(f"--set {name}: --method {method} has no such parameter; {there}.")


def _refuse(message: str) -> NoReturn:
    raise click.UsageError(message, click.get_current_context(silent=True))
