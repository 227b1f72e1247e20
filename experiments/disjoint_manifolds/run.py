"""Fit methods to the data of the thesis, measure every map, and draw those in the plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from experiments.disjoint_manifolds.cases import CASES, IMAGES, N_POINTS, Case, artificial, images
from experiments.disjoint_manifolds.methods import Method
from experiments.harness import FULL, Outcome, Row, Size, fit, say, write_table
from experiments.pictures import save, show_map
from isofold._typing import BoolArray, FloatArray
from isofold.linalg import principal_coordinates
from isofold.quality import continuity, one_nn_error, procrustes_error, trustworthiness

__all__ = [
    "Trial",
    "attempt",
    "colors",
    "load",
    "measure",
    "run_case",
    "run_cases",
    "scores",
    "shape_error",
    "thinnest",
    "trials",
]

# What methods raise on data that they cannot map; anything else is a mistake of ours.
REFUSALS = (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError)


@dataclass(frozen=True, eq=False)
class Trial:
    """One method with one number of neighbors in one dimension: a map, or why there is none."""

    method: str
    n_neighbors: int | None
    dimension: int
    outcome: Outcome | None
    failure: str = ""


def load(name: str, size: Size = FULL) -> Case:
    """Return a column of the tables by its name."""
    if name in IMAGES:
        return images(name, size)
    return artificial(name, size.points(N_POINTS))


def run_cases(methods: Sequence[Method], title: str, folder: Path, size: Size = FULL) -> None:
    """Run methods on all data sets."""
    if size.most is not None:
        methods = [replace(one, n_neighbors=one.n_neighbors[-1:]) for one in methods]
    for name in size.few(CASES):
        run_case(load(name, size), methods, title, folder)


def run_case(case: Case, methods: Sequence[Method], title: str, folder: Path) -> None:
    """Write the measures of all maps of a case and a picture of those in the plane."""
    done = list(trials(case, methods))
    write_table([measure(case, trial) for trial in done], folder / f"disjoint_{case.name}_{title}")
    _draw(case, done, folder / f"disjoint_{case.name}_{title}.png")


def trials(case: Case, methods: Sequence[Method]) -> Iterator[Trial]:
    """Fit every method with each of its numbers of neighbors, in each dimension, on one core."""
    with threadpool_limits(1):
        for method in methods:
            for q in case.dimensions:
                for k in method.n_neighbors:
                    yield attempt(case, method, q, k)


def measure(case: Case, trial: Trial) -> Row:
    """Return a line of the table: errors in percent, as in the thesis."""
    row: dict[str, Any] = {
        "data": case.name,
        "q": trial.dimension,
        "method": trial.method,
        "k": trial.n_neighbors or "",
    }
    found: dict[str, Any] = dict.fromkeys(
        (
            "error",
            "error in squares",
            "trustworthiness",
            "continuity",
            "shape",
            "thinnest",
            "seconds",
        ),
        "",
    )
    words = ""
    if trial.outcome is not None:
        found |= scores(case, trial.outcome.embedding)
        found["seconds"] = trial.outcome.seconds
        words = " ".join(trial.outcome.warnings)
    return row | found | {"failure": trial.failure, "warnings": words}


def attempt(case: Case, method: Method, q: int, k: int | None) -> Trial:
    """Fit one method, or tell why it cannot be fitted."""
    title = f"{case.name}, {method.name}, k = {k}, q = {q}"
    try:
        outcome = fit(title, method.make(case, q, k), case.X)
    except REFUSALS as refusal:
        say(f"{title}: {refusal}")
        return Trial(method.name, k, q, None, f"{type(refusal).__name__}: {refusal}")
    return Trial(method.name, k, q, outcome)


def scores(case: Case, Y: FloatArray) -> dict[str, float]:
    """Return the measures of a map, in percent but for those of shapes."""
    found = {
        "error": 100 * float(one_nn_error(Y, case.pieces)),
        "trustworthiness": 100 * float(trustworthiness(case.X, Y)),
        "continuity": 100 * float(continuity(case.X, Y)),
    }
    if case.checkerboard is not None:
        found["error in squares"] = 100 * float(one_nn_error(Y, case.checkerboard))
    if case.truth is not None:
        found["thinnest"] = thinnest(case, Y)
        if case.truth.shape[1] == Y.shape[1]:
            found["shape"] = shape_error(case, Y)
    return found


def shape_error(case: Case, Y: FloatArray) -> float:
    """Return the largest error of a piece after its own best rigid motion."""
    return max(float(procrustes_error(Y[part], case.truth[part])) for part in _parts(case))


def thinnest(case: Case, Y: FloatArray) -> float:
    """Return the smallest width of a piece over the length of the map, as standard deviations.

    It is zero if a piece has become a line or a point.
    """
    widths = [principal_coordinates(Y[part], Y.shape[1]).variances[-1] for part in _parts(case)]
    return float(np.sqrt(max(min(widths), 0.0) / principal_coordinates(Y).variances[0]))


def _parts(case: Case) -> list[BoolArray]:
    return [case.pieces == piece for piece in np.unique(case.pieces)]


def colors(case: Case) -> FloatArray:
    """Return a color a piece, light and dark along it, so that folds can be seen."""
    color = plt.get_cmap("tab20" if np.ptp(case.pieces) > 9 else "tab10")(case.pieces % 20)
    if case.truth is not None:
        along = case.truth[:, 0] / np.ptp(case.truth[:, 0])
        color[:, :3] *= (0.45 + 0.55 * (along - along.min()))[:, np.newaxis]
    return color


def _draw(case: Case, done: Sequence[Trial], path: Path) -> None:
    flat = [trial for trial in done if trial.dimension == 2 and trial.outcome is not None]
    n_columns = 3
    n_rows = -(-len(flat) // n_columns)
    figure, panels = plt.subplots(
        n_rows, n_columns, figsize=(12, 3.4 * n_rows), layout="constrained", squeeze=False
    )
    for axes in panels.flat[len(flat) :]:
        axes.axis("off")
    for axes, trial in zip(panels.flat, flat, strict=False):
        name = (
            trial.method
            if trial.n_neighbors is None
            else f"{trial.method}, k = {trial.n_neighbors}"
        )
        show_map(axes, trial.outcome.embedding, colors(case), name)
    save(figure, path)
