"""Where extensions fail: sparse regions, the rim and beyond it, holes, points off the sheet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

from experiments.harness import FULL, Row, Size, write_table
from experiments.out_of_sample.cases import GOOSES, RIVALS, Fit, outside_hull
from experiments.out_of_sample.rolled import on_roll
from experiments.pictures import save
from isofold import OutOfSample
from isofold._typing import BoolArray, FloatArray
from isofold.datasets import holed_swiss_roll, swiss_roll

__all__ = ["alarm_row", "border", "steps_beyond"]

N_TRAIN, N_NEW, N_DRAWS = 1500, 1500, 5
WIDTH, HOLE = 21.0, (0.25, 0.45)
STEPS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Distances beyond the rim or off the sheet, in mean distances of points."""
OFF_STEPS = (0.25, 0.5, 1.0, 2.0)
METHODS: Mapping[str, Fit] = {**GOOSES, **RIVALS}


def border(folder: Path, size: Size = FULL) -> None:
    """Measure errors by sparsity and beyond the rim, and which points count as outside."""
    n_train, seeds = size.points(N_TRAIN), range(size.repeats(N_DRAWS))
    sparse = [_sparsity_errors(seed, n_train) for seed in seeds]
    beyond = [_errors_beyond(seed, n_train) for seed in seeds]
    rows: list[Row] = [
        {"extension": name, **_medians(sparse, name), **_medians(beyond, name)} for name in METHODS
    ]
    write_table(rows, folder / "border")
    alarms = [alarm_row(seed, n_train) for seed in seeds]
    write_table(
        [
            {"points": key, **{k: f"{100 * np.mean([a[key][k] for a in alarms]):.1f} %" for k in v}}
            for key, v in alarms[0].items()
        ],
        folder / "outside",
    )
    _draw(folder / "outside.png", n_train)


def steps_beyond(truth: FloatArray, spacing: float, rng: Any) -> dict[float, FloatArray]:
    """Return flat places beyond the straight edges, so many steps away from them."""
    length, height = truth.max(axis=0)
    along = rng.uniform(0.1 * length, 0.9 * length, 300)
    return {step: np.column_stack((along, np.full(300, height + step * spacing))) for step in STEPS}


def alarm_row(seed: int, n_train: int = N_TRAIN) -> dict[str, dict[str, float]]:
    """Return fractions of points that `OutOfSample.is_outside` marks, at two levels."""
    rng = np.random.RandomState(seed)
    model, _, groups = _regions(seed, n_train, rng)
    alarms: dict[str, dict[str, float]] = {}
    for name, points in groups.items():
        alarms[name] = {
            f"flagged, level {level}": float(model.is_outside(points, level=level).mean())
            for level in (0.01, 0.05)
        }
    return alarms


def _sparsity_errors(seed: int, n_train: int) -> dict[str, dict[str, float]]:
    """Return errors in steps for quarters of the new points by density, and beyond the hull."""
    roll = swiss_roll(n_train + N_NEW, random_state=seed)
    X, new = roll.X[:n_train], roll.X[n_train:]
    flat, new_flat = roll.truth[:n_train], roll.truth[n_train:]
    spacing = _spacing(flat)
    near = cKDTree(X).query(new, 10)[0].mean(axis=1)
    outside = outside_hull(flat, new_flat)
    edges = np.quantile(near[~outside], (0.25, 0.75))
    groups: dict[str, BoolArray] = {
        "dense quarter": ~outside & (near <= edges[0]),
        "sparse quarter": ~outside & (near >= edges[1]),
        "outside the hull": outside,
    }
    errors: dict[str, dict[str, float]] = {}
    for name, fit in METHODS.items():
        missed = np.sum((fit(X, flat).transform(new) - new_flat) ** 2, axis=1)
        errors[name] = {
            key: float(np.sqrt(missed[rows].mean())) / spacing for key, rows in groups.items()
        }
    return errors


def _errors_beyond(seed: int, n_train: int) -> dict[str, dict[str, float]]:
    """Return errors in steps at places beyond the rim."""
    rng = np.random.RandomState(seed)
    roll = swiss_roll(n_train, width=WIDTH, uniform=True, random_state=seed)
    spacing = _spacing(roll.truth)
    errors: dict[str, dict[str, float]] = {}
    for name, fit in METHODS.items():
        extension = fit(roll.X, roll.truth)
        errors[name] = {}
        for step, flat in steps_beyond(roll.truth, spacing, rng).items():
            missed = np.sum((extension.transform(on_roll(flat)) - flat) ** 2, axis=1)
            errors[name][f"{step:g} steps beyond"] = float(np.sqrt(missed.mean())) / spacing
    return errors


def _regions(
    seed: int, n_train: int, rng: np.random.RandomState
) -> tuple[OutOfSample, FloatArray, dict[str, FloatArray]]:
    """Return a map of a roll with a hole, its sheet, and groups of points around it."""
    data = holed_swiss_roll(n_train + N_NEW, width=WIDTH, hole=HOLE, random_state=seed)
    X, flat = data.X[:n_train], data.truth[:n_train]
    model = OutOfSample.from_embedding(X, flat)
    spacing = _spacing(flat, hole=HOLE)
    extent = flat.max(axis=0)
    hole = extent * np.array(HOLE)
    inside = (rng.uniform(-0.5, 0.5, (3000, 2)) * hole, extent / 2)
    depth = (hole / 2 - np.abs(inside[0])).min(axis=1) / spacing
    groups = {"held out": data.X[n_train:]}
    for low, high in ((0.0, 1.0), (1.0, 2.0), (2.0, 99.0)):
        rows = (depth >= low) & (depth < high)
        words = f"over {low:g}" if high > 9 else f"{low:g} to {high:g}"
        if rows.any():
            groups[f"in the hole, {words} steps deep"] = on_roll(inside[0][rows] + inside[1])
    for step in OFF_STEPS:
        groups[f"off the sheet, {step:g} steps"] = on_roll(data.truth[n_train:], off=step * spacing)
    for step, beyond in steps_beyond(flat, spacing, rng).items():
        groups[f"beyond the rim, {step:g} steps"] = on_roll(beyond)
    return model, flat, groups


def _spacing(flat: FloatArray, *, hole: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the side of the square of sheet that a point stands for."""
    area = np.prod(np.ptp(flat, axis=0)) * (1 - np.prod(hole))
    return float(np.sqrt(area / len(flat)))


def _medians(draws: list[dict[str, dict[str, float]]], name: str) -> dict[str, float]:
    return {key: float(np.median([draw[name][key] for draw in draws])) for key in draws[0][name]}


def _draw(path: Path, n_train: int) -> None:
    """Draw where one map says that points lie outside, on the sheet and around it."""
    rng = np.random.RandomState(0)
    model, flat, _ = _regions(0, n_train, rng)
    low, high = flat.min(axis=0) - 5, flat.max(axis=0) + 5
    mesh = np.stack(
        np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 90))
    )
    places = mesh.reshape(2, -1).T
    figure, axes = plt.subplots(figsize=(12, 4.5), layout="constrained")
    flagged = model.is_outside(on_roll(places)).reshape(mesh.shape[1:])
    axes.contourf(*mesh, flagged, levels=(0.5, 1.5), colors=("tab:orange",), alpha=0.4)
    axes.scatter(*flat.T, s=3, c="k", linewidths=0)
    axes.set_title("training points; flagged as outside (level 0.01): shaded", fontsize=9)
    axes.set_aspect("equal")
    save(figure, path)
