"""How many neighbors: the curve e(k) of Figure 5.3, and what leave-one-out chooses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample import paper
from experiments.out_of_sample.cases import SCALINGS, Fit, quartiles, random_split, rms
from experiments.pictures import save
from isofold import OutOfSample
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.extension import fit_goose

__all__ = ["FAMILIES", "errors_by_neighbors", "neighbors_curve"]

N_POINTS, N_RUNS = 2000, 10
SPLITS = (1000, 1800)
"""Points to learn from, of all of them."""
NEIGHBORS = range(3, 20)
FAMILIES: Mapping[str, Any] = {
    "GOoSE, thesis": partial(fit_goose, scaling="range", interpolate=False),
    **{f"GOoSE, {name.replace('_', ' ')}": partial(fit_goose, scaling=name) for name in SCALINGS},
}


def neighbors_curve(folder: Path, size: Size = FULL) -> None:
    """Place points of the roll on its true sheet with 3 to 19 neighbors."""
    for source, words in paper.BEST_NEIGHBORS.items():
        say(f"{source}: least error at k = {words}")
    rows: list[Row] = []
    figure, panels = plt.subplots(1, len(SPLITS), figsize=(12, 4), layout="constrained")
    n_points = size.points(N_POINTS)
    for axes, learned in zip(panels, SPLITS, strict=True):
        n_train = learned * n_points // N_POINTS
        curves: dict[str, list[list[float]]] = {name: [] for name in FAMILIES}
        automatic: dict[str, list[tuple[int, float]]] = {name: [] for name in SCALINGS}
        for seed in range(size.repeats(N_RUNS)):
            roll = swiss_roll(n_points, random_state=seed)
            train, test = random_split(n_points, n_train, seed=seed)
            known, new = (roll.X[train], roll.truth[train]), (roll.X[test], roll.truth[test])
            for name, family in FAMILIES.items():
                curves[name].append(errors_by_neighbors(family, known, new))
            for scaling, found in automatic.items():
                found.append(_automatic(scaling, known, new))
        rows += _rows(n_train, curves, automatic)
        _draw(axes, curves, f"{n_train} to learn from, {n_points - n_train} to place")
    save(figure, folder / "neighbors_curve.png")
    write_table(rows, folder / "neighbors_curve")


def errors_by_neighbors(
    family: Any, known: tuple[FloatArray, FloatArray], new: tuple[FloatArray, FloatArray]
) -> list[float]:
    """Return the errors of an extension with each number of neighbors."""
    fits: list[Fit] = [partial(family, n_neighbors=k) for k in NEIGHBORS]
    return [rms(fit(*known).transform(new[0]), new[1]) for fit in fits]


def _automatic(
    scaling: str, known: tuple[FloatArray, FloatArray], new: tuple[FloatArray, FloatArray]
) -> tuple[int, float]:
    model = OutOfSample.from_embedding(*known, n_neighbors="auto", scaling=scaling)
    return model.n_neighbors_, rms(model.transform(new[0]), new[1])


def _rows(
    n_train: int,
    curves: dict[str, list[list[float]]],
    automatic: dict[str, list[tuple[int, float]]],
) -> list[Row]:
    rows = []
    for name, found in curves.items():
        errors = np.array(found)
        middle = np.median(errors, axis=0)
        row: dict[str, Any] = {"to learn from": n_train, "extension": name}
        row["best k"] = NEIGHBORS[int(middle.argmin())]
        row |= {f"e, k = {k}": float(middle[k - NEIGHBORS[0]]) for k in (5, 7, 10, 15, 19)}
        row |= {"e, best k each run": quartiles(errors.min(axis=1))}
        picked = automatic.get(name.removeprefix("GOoSE, ").replace(" ", "_"))
        ks, costs = zip(*picked, strict=True) if picked else ((), ())
        row["auto k"] = f"{min(ks)} to {max(ks)}" if picked else ""
        row["e, auto"] = quartiles(costs) if picked else ""
        row["auto over best"] = quartiles(costs / errors.min(axis=1)) if picked else ""
        rows.append(row)
    return rows


def _draw(axes: Any, curves: dict[str, list[list[float]]], title: str) -> None:
    for name, found in curves.items():
        errors = np.array(found)
        low, middle, high = np.percentile(errors, (25, 50, 75), axis=0)
        line = axes.plot(NEIGHBORS, middle, label=name)[0]
        axes.fill_between(NEIGHBORS, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set(
        xlabel="neighbors", ylabel="e, median and quartiles of ten runs", title=title, yscale="log"
    )
    axes.legend(fontsize=8)
