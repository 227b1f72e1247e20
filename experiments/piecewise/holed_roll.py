"""The roll with a rectangular hole (Figure 4.3), which is to keep its size.

The thesis names neither the number of points nor the size of the hole; here they are those of
`isofold.datasets.holed_swiss_roll`, with 2,000 points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments import peers
from experiments.harness import FULL, Outcome, Row, Size, fit, write_table
from experiments.pictures import save, show_map, show_surface
from experiments.piecewise.methods import plml
from isofold import IPA
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset, holed_swiss_roll
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.quality import procrustes_error, trustworthiness

__all__ = ["Hole", "broken_roll", "hole_of"]

N_SAMPLES, N_DRAWS = 2000, 3
N_DIRECTIONS = 36
SEAM = 1.5
"""An edge of the neighbor graph so many times its true length is a seam that does not close."""

METHODS: Mapping[str, Callable[[], Any]] = {
    "Isomap, k = 8": lambda: peers.isomap(8),
    "Isomap, k = 12": lambda: peers.isomap(12),
    "LTSA, k = 12": lambda: peers.ltsa(12),
    "PLML, k = 9": lambda: plml(9),
    "PLML, untouched": plml,
    "PLML, refined": lambda: plml(refine=True),
    "IPA": lambda: IPA(random_state=0, n_jobs=1),
}


@dataclass(frozen=True)
class Hole:
    """A hole on a map, relative to the true one.

    Attributes
    ----------
    area : float
        Its area.
    length, width : float
        Its extents.
    """

    area: float
    length: float
    width: float


def hole_of(Y: FloatArray, truth: FloatArray) -> Hole:
    """Measure the hole on a map that lies upon the true sheet."""
    rim = _rim(truth)
    length, width = np.ptp(Y[rim], axis=0) / np.ptp(truth[rim], axis=0)
    return Hole(_area(Y[rim]) / _area(truth[rim]), float(length), float(width))


def broken_roll(folder: Path, size: Size = FULL) -> None:
    """Unfold the roll and measure the hole."""
    n, seeds = size.points(N_SAMPLES), range(size.repeats(N_DRAWS))
    rolls = [holed_swiss_roll(n, random_state=seed) for seed in seeds]
    fitted = {name: [fit(name, make(), roll.X) for roll in rolls] for name, make in METHODS.items()}
    rows = [_row(name, outcomes, rolls) for name, outcomes in fitted.items()]
    write_table(rows, folder / "broken_roll")
    first = [outcomes[0] for outcomes in fitted.values()]
    _draw(rolls[0], first, folder / "broken_roll.png")


def _row(name: str, outcomes: list[Outcome], rolls: list[Dataset]) -> Row:
    holes, figures = [], []
    for outcome, roll in zip(outcomes, rolls, strict=True):
        Y = _upright(outcome.embedding, roll)
        holes.append(hole_of(Y, roll.truth))
        figures.append(
            (
                float(procrustes_error(outcome.embedding, roll.truth)),
                float(trustworthiness(roll.X, Y)),
                _seams(Y, roll),
            )
        )
    error, trust, seams = np.median(figures, axis=0)
    return {
        "method": name,
        "area of hole": float(np.median([hole.area for hole in holes])),
        "length": float(np.median([hole.length for hole in holes])),
        "width": float(np.median([hole.width for hole in holes])),
        "error of sheet": float(error),
        "T": f"{trust:.4f}",
        "edges stretched": f"{seams:.2%}",
        "seconds": float(np.median([outcome.seconds for outcome in outcomes])),
        "warned": max(len(outcome.warnings) for outcome in outcomes),
    }


def _upright(Y: FloatArray, roll: Dataset) -> FloatArray:
    # A common scale is allowed for, since LTSA has none of its own.
    return procrustes(Y, roll.truth, scale=True).transform.apply(Y)


def _rim(truth: FloatArray) -> IntArray:
    """Return the sample next to the middle of the sheet in each direction, in order around it."""
    middle = (truth.min(axis=0) + truth.max(axis=0)) / 2
    off = truth - middle
    angle = np.arctan2(off[:, 1], off[:, 0])
    sector = np.floor((angle + np.pi) / (2 * np.pi) * N_DIRECTIONS).astype(int) % N_DIRECTIONS
    distance = np.linalg.norm(off, axis=1)
    rim = [np.flatnonzero(sector == s)[np.argmin(distance[sector == s])] for s in np.unique(sector)]
    return np.array(rim)[np.argsort(angle[rim])]


def _area(polygon: FloatArray) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _seams(Y: FloatArray, roll: Dataset) -> float:
    edges = build_graph(roll.truth, n_neighbors=8).edges
    before, after = (
        np.linalg.norm(Z[edges[:, 0]] - Z[edges[:, 1]], axis=1) for Z in (roll.truth, Y)
    )
    return float((after > SEAM * before).mean())


def _draw(roll: Dataset, outcomes: list[Outcome], path: Path) -> None:
    figure = plt.figure(figsize=(16, 5.6), layout="constrained")
    color = roll.truth[:, 0]
    data = figure.add_subplot(2, 4, 1, projection="3d")
    show_surface(data, roll.X, color, "data")
    data.view_init(elev=10, azim=-70)
    for place, outcome in enumerate(outcomes, start=2):
        Y = _upright(outcome.embedding, roll)
        hole = hole_of(Y, roll.truth)
        axes = figure.add_subplot(2, 4, place)
        show_map(axes, Y, color, f"{outcome.name}: hole {hole.area:.2f} of its true area", s=4)
    save(figure, path)
