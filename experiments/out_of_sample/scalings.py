"""Which scaling: maps that are stretched along their axes, along others, and not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample.cases import (
    GOOSES,
    RIVALS,
    Fit,
    embed,
    quartiles,
    random_split,
    rms,
    spread,
)
from isofold._typing import FloatArray
from isofold.datasets import Dataset, swiss_roll

__all__ = ["MAPS", "scalings"]

N_POINTS, N_TRAIN, N_RUNS = 2000, 1800, 10
ANGLE = 0.6
NOISE = 0.3
"""Standard deviation, about a quarter of the distance of neighbors."""


def turned(Y: FloatArray, angle: float = ANGLE) -> FloatArray:
    """Return the map turned by some radians."""
    cos, sin = np.cos(angle), np.sin(angle)
    return Y @ np.array([[cos, sin], [-sin, cos]])


def normalized(Y: FloatArray) -> FloatArray:
    """Return the map with unit variance along both axes."""
    return Y / Y.std(axis=0)


MAPS: Mapping[str, Callable[[Dataset], FloatArray]] = {
    "true sheet": lambda roll: roll.truth,
    "true sheet, turned": lambda roll: turned(roll.truth),
    "unit variance": lambda roll: normalized(roll.truth),
    "unit variance, turned": lambda roll: turned(normalized(roll.truth)),
    "LTSA": lambda roll: embed(peers.ltsa(12), roll.X, unit_covariance=True),
}
METHODS: dict[str, Fit] = {**GOOSES, **RIVALS}


def scalings(folder: Path, size: Size = FULL) -> None:
    """Place 200 points on known maps of 1,800, without noise and with it."""
    n_points = size.points(N_POINTS)
    n_train = N_TRAIN * n_points // N_POINTS
    rows: list[Row] = []
    for noise in (0.0, NOISE):
        for title, make in MAPS.items():
            errors: dict[str, list[float]] = {name: [] for name in METHODS}
            for seed in range(size.repeats(N_RUNS)):
                roll = swiss_roll(n_points, noise=noise, random_state=seed)
                train, test = random_split(n_points, n_train, seed=seed)
                Y = make(roll)
                for name, fit in METHODS.items():
                    placed = fit(roll.X[train], Y[train]).transform(roll.X[test])
                    errors[name].append(100 * rms(placed, Y[test]) / spread(Y))
            say(f"{title}, noise {noise}")
            medians = {name: quartiles(found) for name, found in errors.items()}
            rows.append({"noise": noise, "map": title, **medians})
    write_table(rows, folder / "scalings")
