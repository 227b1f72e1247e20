"""The Swiss roll with a rectangular hole, 700 points of a grid (Figures 5.2 and 5.3)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from experiments import peers
from experiments.harness import FULL, Outcome, Row, Size, fit, write_table
from experiments.ipa_thesis.methods import ours, thesis
from experiments.pictures import save, show_map, show_surface
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset, holed_swiss_roll
from isofold.linalg import procrustes
from isofold.quality import neighbor_error, procrustes_error
from isofold.quality.distances import compare
from isofold.quality.ranks import embedded_ranks, input_ranks, loss_score, rank_error_score

__all__ = [
    "RectangleFit",
    "grid_roll",
    "neighbor_curves",
    "random_roll",
    "rank_curves",
    "rectangle_fit",
    "shape_of_hole",
    "sides",
]

N_POINTS = 700
N_PATCHES = 50
NEIGHBORS = (6, 8, 12)
"""Each peer is shown at the one that loses the fewest of the 10 and 30 nearest neighbors: the
thesis does not tell which it took. MVU is also shown at 4, which its authors took."""
SIZES = range(1, 51)

MEASURES = ("ψ_KNN", "MRRE_X", "MRRE_Y")


@dataclass(frozen=True)
class RectangleFit:
    """How much of a rectangle is left of the border of the hole.

    Attributes
    ----------
    bend : float
        Largest distance of a point from the straight line through its side, relative to the
        length of the side: 0 for a rectangle, 0.2 for a circle (a quarter of it as a side).
    angle : float
        Largest deviation of a corner from 90 degrees, in degrees.
    shortest, longest : float
        Lengths of the sides relative to the true ones.
    error : float
        Distance from the true border after the best rigid motion, relative to its extent.
    """

    bend: float
    angle: float
    shortest: float
    longest: float
    error: float


def grid_roll(size: Size = FULL) -> Dataset:
    """Return the 700 points of the thesis; in a rehearsal only some rows and columns of them."""
    roll = holed_swiss_roll(sampling="grid")
    step = math.ceil(math.sqrt(len(roll.X) / size.points(len(roll.X))))
    column, row = (_rank(coordinate) for coordinate in roll.truth.T)
    kept = (column % step == 0) & (row % step == 0)
    return replace(roll, X=roll.X[kept], truth=roll.truth[kept])


def random_roll(size: Size = FULL) -> Dataset:
    """Return 700 random points, which have no equal distances."""
    return holed_swiss_roll(size.points(N_POINTS), random_state=0)


SAMPLES = {"grid": grid_roll, "random": random_roll}


def sides(truth: FloatArray) -> list[IntArray]:
    """Return the grid nodes along the four sides of the hole, in order around it."""
    column, row = (_rank(coordinate) for coordinate in truth.T)
    node = np.full((column.max() + 1, row.max() + 1), -1)
    node[column, row] = np.arange(len(truth))
    missing = np.argwhere(node < 0)
    (left, bottom), (right, top) = missing.min(axis=0) - 1, missing.max(axis=0) + 1
    along, across = slice(left, right + 1), slice(bottom, top + 1)
    return [node[along, bottom], node[right, across], node[along, top], node[left, across]]


def rectangle_fit(Y: FloatArray, truth: FloatArray) -> RectangleFit:
    """Measure how rectangular the hole is on a map."""
    border = sides(truth)
    lines = [_line(Y[side]) for side in border]
    lengths = [_length(Y[side]) / _length(truth[side]) for side in border]
    corners = [abs(float(lines[i][0] @ lines[i - 1][0])) for i in range(4)]
    around = np.unique(np.concatenate(border))
    return RectangleFit(
        bend=max(off / _length(Y[side]) for (_, off), side in zip(lines, border, strict=True)),
        angle=float(np.degrees(np.arcsin(min(1.0, max(corners))))),
        shortest=min(lengths),
        longest=max(lengths),
        error=float(procrustes_error(Y[around], truth[around])),
    )


def shape_of_hole(folder: Path, size: Size = FULL) -> None:
    """Figure 5.2: the hole on the maps of all methods."""
    roll = grid_roll(size)
    outcomes = _outcomes("grid", size)
    rows = []
    for outcome in outcomes:
        hole = rectangle_fit(outcome.embedding, roll.truth)
        rows.append(
            {
                "method": outcome.name,
                "error of map": float(procrustes_error(outcome.embedding, roll.truth)),
                "error of hole": hole.error,
                "bend of sides": hole.bend,
                "corners off by (°)": hole.angle,
                "side lengths": f"{hole.shortest:.3g} to {hole.longest:.3g}",
                "longest : shortest": hole.longest / hole.shortest,
                "seconds": outcome.seconds,
                "warnings": " ".join(outcome.warnings) or "none",
            }
        )
    write_table(rows, folder / "thesis_hole")
    _draw_maps(roll, outcomes, folder / "thesis_hole.png")


def neighbor_curves(folder: Path, size: Size = FULL) -> None:
    """Figure 5.3: neighbors lost and displaced, for neighborhoods of 1 to 50 points."""
    figure, panels = plt.subplots(
        len(SAMPLES), len(MEASURES), figsize=(13, 7.5), layout="constrained"
    )
    rows: list[Row] = []
    for sample, row in zip(SAMPLES, panels, strict=True):
        data = SAMPLES[sample](size)
        X = data.X
        maps = {outcome.name: outcome.embedding for outcome in _outcomes(sample, size)}
        maps["true sheet"] = data.truth
        measured = {name: rank_curves(X, Y) for name, Y in maps.items()}
        for measure, axes in zip(MEASURES, row, strict=True):
            curves = {name: curve[measure] for name, curve in measured.items()}
            rows += _curve_rows(sample, measure, curves)
            _draw_curves(axes, curves, f"{measure}, {len(X)} {sample} points")
        row[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    write_table(rows, folder / "thesis_neighbors")
    save(figure, folder / "thesis_neighbors.png")


def rank_curves(X: FloatArray, Y: FloatArray) -> dict[str, FloatArray]:
    """Return each measure for all sizes of neighborhoods.

    The same figures as `neighbor_error` and `mean_relative_rank_error` of `isofold.quality`, but
    ranks are counted once and not for every size.
    """
    comparison = compare(X, Y)
    embedded, original = (ranks(comparison, SIZES[-1]) for ranks in (embedded_ranks, input_ranks))
    scores = (
        (measure, np.array([float(score(table[:, :k], comparison.sample)) for k in SIZES]))
        for measure, score, table in (
            ("ψ_KNN", loss_score, embedded),
            ("MRRE_X", rank_error_score, embedded),
            ("MRRE_Y", rank_error_score, original),
        )
    )
    return dict(scores)


def _curve_rows(sample: str, measure: str, curves: dict[str, FloatArray]) -> list[Row]:
    return [
        {
            "points": sample,
            "measure": measure,
            "method": name,
            **{f"k = {k}": curve[k - 1] for k in (1, 5, 10, 20, 30, 40, 50)},
            "mean": float(curve.mean()),
            "IPA lower (of 50)": int((curves["IPA"] < curve).sum()),
        }
        for name, curve in curves.items()
    ]


@cache
def _outcomes(sample: str, size: Size) -> tuple[Outcome, ...]:
    X = SAMPLES[sample](size).X
    n_patches = size.groups(N_PATCHES)
    return (
        fit("IPA", ours(), X),
        fit(f"IPA, {n_patches} k-means patches", thesis(n_patches), X),
        _at_best(X, "MVU", peers.mvu),
        fit("MVU, k = 4", peers.mvu(4), X),
        _at_best(X, "Isomap", peers.isomap),
        fit("t-SNE", peers.tsne(), X),
        _at_best(X, "LLE", peers.lle),
        _at_best(X, "LTSA", peers.ltsa),
    )


def _at_best(X: FloatArray, name: str, method: Callable[[int], Any]) -> Outcome:
    """Return a peer with the number of neighbors that loses the fewest of them."""

    def lost(outcome: Outcome) -> float:
        return sum(float(neighbor_error(X, outcome.embedding, n_neighbors=k)) for k in (10, 30))

    return min((fit(f"{name}, k = {k}", method(k), X) for k in NEIGHBORS), key=lost)


def _rank(values: FloatArray) -> IntArray:
    """Return the number of each node's column or row in the grid."""
    return np.unique(np.round(values, 9), return_inverse=True)[1]


def _line(points: FloatArray) -> tuple[FloatArray, float]:
    """Return the direction of the best straight line and the largest distance from it."""
    centered = points - points.mean(axis=0)
    directions = np.linalg.svd(centered, full_matrices=False)[2]
    return directions[0], float(np.abs(centered @ directions[1]).max())


def _length(side: FloatArray) -> float:
    return float(np.linalg.norm(side[-1] - side[0]))


def _draw_maps(roll: Dataset, outcomes: tuple[Outcome, ...], path: Path) -> None:
    figure = plt.figure(figsize=(15, 6.5), layout="constrained")
    grid = figure.add_gridspec(4, 3, width_ratios=(3, 5, 5))
    color = roll.truth[:, 0]
    data = figure.add_subplot(grid[:, 0], projection="3d")
    show_surface(data, roll.X, color, f"data: {len(roll.X)} points of a grid in 3-D", s=9)
    data.view_init(elev=10, azim=-70)
    for place, outcome in enumerate(outcomes):
        axes = figure.add_subplot(grid[place // 2, 1 + place % 2])
        Y = procrustes(outcome.embedding, roll.truth, scale=True).transform.apply(outcome.embedding)
        show_map(axes, Y, color, _title(outcome, roll), s=9)
    save(figure, path)


def _title(outcome: Outcome, roll: Dataset) -> str:
    hole = rectangle_fit(outcome.embedding, roll.truth)
    return f"{outcome.name}: hole bent by {hole.bend:.1%}, corners off by {hole.angle:.1f}°"


def _draw_curves(axes: Axes, curves: dict[str, FloatArray], title: str) -> None:
    for name, curve in curves.items():
        style = {"color": "0.2", "ls": ":"} if name == "true sheet" else {}
        axes.plot(SIZES, curve, label=name, lw=1.4, **style)
    axes.set(title=title, xlabel="size k of neighborhoods", xlim=(1, SIZES[-1]), ylim=(0, None))
