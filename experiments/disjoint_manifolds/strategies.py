"""How far MVU-DM depends on its representatives, links and global stage."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from threadpoolctl import threadpool_limits

from experiments.disjoint_manifolds.cases import Case
from experiments.disjoint_manifolds.methods import Method, disjoint_mvu
from experiments.disjoint_manifolds.run import Trial, attempt, colors, load, scores
from experiments.harness import FULL, Outcome, Row, Size, write_table
from experiments.pictures import save, show_map
from isofold.quality import shepard_correlation

__all__ = ["compare_strategies", "describe"]

N_NEIGHBORS, DIMENSION = 10, 2

DATA = ("BSC", "SR1", "SR2", "FM", "COIL20")
"""Olivetti is in one piece with ten neighbors."""

# The letters of the thesis: (a), (b), (c) of the representatives, then of the links.
REPRESENTATIVES = {"a": "extremes", "b": "farthest", "c": "hull"}
LINKS: dict[str, dict[str, Any]] = {
    "a": {"links": "largest"},
    "b": {"links": "closest", "n_links": 2},
    "c": {"links": "nearest"},
}
CHOICES = ("aa", "ba", "ca", "ab", "ac")
"""The default, then one other choice at a time."""

MEASURED = (
    "components",
    "links",
    "smallest singular value",
    "largest singular value",
    "mixed",
    "distances",
    "error",
    "error in squares",
    "trustworthiness",
    "continuity",
    "seconds",
)


def compare_strategies(folder: Path, size: Size = FULL) -> None:
    """Write the measures of all strategies on data in pieces, and draw the maps."""
    for name in size.few(DATA):
        _compare(load(name, size), folder, size.few(CHOICES))


def _compare(case: Case, folder: Path, choices: Sequence[str]) -> None:
    rows: list[Row] = []
    drawn = []
    for placement, (first, second) in product(("rigid", "affine"), choices):
        trial = _run(case, placement, first, second)
        title = {"data": case.name, "placement": placement, "representatives": first}
        rows.append({**title, "links by": second, **describe(case, trial)})
        drawn.append(trial)
    write_table(rows, folder / f"disjoint_{case.name}_strategies")
    _draw(case, drawn, folder / f"disjoint_{case.name}_strategies.png")


def describe(case: Case, trial: Trial) -> Row:
    """Return what the global stage did to the components, and the measures of the map."""
    if trial.outcome is None:
        return dict.fromkeys(MEASURED, "") | {"failure": trial.failure}
    values = _measure(case, trial.outcome)
    return dict(zip(MEASURED, values, strict=True)) | {"failure": ""}


def _measure(case: Case, outcome: Outcome) -> tuple[Any, ...]:
    model = outcome.model
    stretch = model.singular_values_
    measured = scores(case, outcome.embedding)
    return (
        len(stretch),
        len(model.bridges_),
        float(stretch.min()),
        float(stretch.max()),
        model.placement_.mixed,
        float(shepard_correlation(case.X, outcome.embedding)),
        measured["error"],
        measured.get("error in squares", ""),
        measured["trustworthiness"],
        measured["continuity"],
        outcome.seconds,
    )


def _run(case: Case, placement: str, first: str, second: str) -> Trial:
    name = f"{placement}, representatives {first}, links {second}"
    make = partial(
        disjoint_mvu, placement=placement, representatives=REPRESENTATIVES[first], **LINKS[second]
    )
    with threadpool_limits(1):
        return attempt(case, Method(name, make), DIMENSION, N_NEIGHBORS)


def _draw(case: Case, drawn: list[Trial], path: Path) -> None:
    figure, panels = plt.subplots(2, len(drawn) // 2, figsize=(18, 7), layout="constrained")
    for axes, trial in zip(panels.flat, drawn, strict=True):
        if trial.outcome is None:
            axes.axis("off")
            continue
        least = float(trial.outcome.model.singular_values_.min())
        title = f"{trial.method}\nsmallest singular value {least:.2g}"
        show_map(axes, trial.outcome.embedding, colors(case), title)
    save(figure, path)
