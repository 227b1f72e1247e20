"""More rows later: a sheet in steps, by ``IPA.partial_fit``, beside one fit to all of it.

A rolled sheet, 21 wide and some 90 long, is cut across. One half is fitted (not timed), the other
one is added in strips of equal numbers of points, from the cut to the far end (timed). *Error*:
Procrustes error of all points, relative to their extent; *worst* that of five rolls, the other
figures are medians. *Noise* in units of the roll, whose layers are 6.3 apart. *Tear*: how far apart
the maps of two steps put the same points at the worst seam, in units of the reach
(``diagnosis_["seam"]``). *Estimated*: what the model itself says of its error. *Place*: seconds of
the processor that the final model takes for all points.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold import IPA
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import procrustes_error

SEEDS = range(5)

Task = list[tuple[Any, FloatArray, FloatArray]]
"""For every roll: the model, all points and their true coordinates, both along the roll."""


def prepare(n: int, noise: float, *, is_fitted: bool) -> Task:
    """Return rolls, with a model of their first halves or one that is not fitted."""
    task = []
    for seed in SEEDS:
        roll = swiss_roll(n, width=21.0, uniform=True, noise=noise, random_state=seed)
        order = np.argsort(roll.truth[:, 0])
        X, truth = roll.X[order], roll.truth[order]
        model = IPA(random_state=0, n_jobs=1)
        task.append((_fit(model, X[: n // 2]) if is_fitted else model, X, truth))
    return task


def fit_all(task: Task) -> dict[str, Any]:
    """Fit all points at once."""
    for model, X, _ in task:
        _fit(model, X)
    return _figures(task)


def add_half(n_steps: int, task: Task) -> dict[str, Any]:
    """Add the second halves in steps."""
    for model, X, _ in task:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulMapWarning)
            for strip in np.array_split(X[len(X) // 2 :], n_steps):
                model.partial_fit(strip)
    return _figures(task)


def _fit(model: Any, X: FloatArray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        return model.fit(X)


def _figures(task: Task) -> dict[str, Any]:
    errors = [procrustes_error(model.embedding_, truth) for model, _, truth in task]
    tears = [model.diagnosis_["seam"].value for model, *_ in task if "seam" in model.diagnosis_]
    start = time.process_time()
    for model, X, _ in task:
        model.transform(X)
    return {
        "error": _rounded(float(np.median(errors))),
        "worst": _rounded(max(errors)),
        "estimated": _rounded(float(np.median([model.estimated_error_ for model, *_ in task]))),
        "tear": _rounded(float(np.median(tears))) if tears else "none",
        "doubtful": sum(not model.diagnosis_.is_sound for model, *_ in task),
        "place": round((time.process_time() - start) / len(task), 3),
    }


def _rounded(figure: float) -> float:
    return float(f"{figure:.3g}")


CASES = [
    case
    for n in (1000, 2000, 8000)
    for noise in (0.0, 0.3)
    for case in (
        Case(
            f"roll, n = {n:,}, noise {noise:g}",
            "isofold, one fit",
            partial(prepare, n, noise, is_fitted=False),
            fit_all,
        ),
        *(
            Case(
                f"roll, n = {n:,}, noise {noise:g}",
                f"isofold, half in {n_steps} step{'s' if n_steps > 1 else ''}",
                partial(prepare, n, noise, is_fitted=True),
                partial(add_half, n_steps),
            )
            for n_steps in (1, 4, 16)
        ),
    )
]
