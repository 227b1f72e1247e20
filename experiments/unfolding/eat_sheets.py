"""Sheets unfolded from a few points: the V (Figure 2.2) and the Swiss roll (Figure 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, KernelPCA

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map, show_surface
from experiments.unfolding import paper
from experiments.unfolding.eat_methods import (
    Placed,
    WithWeights,
    beyond_hull,
    n_shortcuts,
    place,
    quartiles,
    roll_with_room,
    sheet_errors,
    spread_split,
)
from experiments.unfolding.tessera_cases import Case
from isofold import EAT
from isofold._typing import FloatArray, IntArray
from isofold.datasets import v_shape as draw_v_shape
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.quality import procrustes_error, variance_loss

__all__ = ["ROLL_METHODS", "across_fold", "fold_rows", "mean_length", "swiss_roll", "v_shape"]

N_DRAWS = 10

V_TRAIN, V_TEST = paper.POINTS["v_shape"]
V_NEIGHBORS = 4
ROLL_TRAIN, ROLL_TEST = paper.POINTS["swiss_roll"]
ROLL_NEIGHBORS, ROLL_TURNS = 5, 1.0
ROLL_DRAWS = range(40, 60)
"""Seeds. Those below 40 were looked at when the automatic width of the kernel was chosen."""

ROLL_NOISES = (0.0, 0.1, 0.3)
"""The last is a tenth of the distance of neighbors."""

RIVAL = "MVU, barycentric"
ROLL_METHODS: Mapping[str, Callable[[FloatArray], Any]] = {
    "EAT": lambda _: EAT(n_neighbors=ROLL_NEIGHBORS, random_state=0),
    "EAT, sigma = mean distance": lambda X: EAT(
        n_neighbors=ROLL_NEIGHBORS, gamma=mean_length(X, ROLL_NEIGHBORS) ** -2, random_state=0
    ),
    RIVAL: lambda _: peers.mvu(ROLL_NEIGHBORS),
    "Isomap, barycentric": lambda _: WithWeights(peers.isomap(ROLL_NEIGHBORS)),
}


def v_shape(folder: Path, size: Size = FULL) -> None:
    """Open a V from 28 points."""
    say(f"thesis: {paper.CLAIMS['v_shape']}")
    rows: list[list[Row]] = []
    n = V_TRAIN + size.points(V_TEST)
    for seed in range(size.repeats(N_DRAWS)):
        case = spread_split(draw_v_shape(n, random_state=seed), V_TRAIN)
        maps = _open_fold(case)
        rows.append(fold_rows(case, maps))
        if seed == 0:
            _draw_fold(case, maps, folder / "eat_v_shape.png")
    write_table([_over_draws(same) for same in zip(*rows, strict=True)], folder / "eat_v_shape")


def swiss_roll(folder: Path, size: Size = FULL) -> None:
    """Unroll 50 points and place 950 others, beside MVU and Isomap, without and with noise."""
    say(f"thesis: {paper.CLAIMS['swiss_roll']}")
    rows: list[Row] = []
    for noise in size.few(ROLL_NOISES):
        errors: dict[str, list[dict[str, float]]] = {name: [] for name in ROLL_METHODS}
        for seed in ROLL_DRAWS[: size.repeats(len(ROLL_DRAWS))]:
            case, maps = _unroll(seed, noise, size.points(ROLL_TEST))
            for each in maps:
                errors[each.name].append(sheet_errors(each, case) | {"seconds": each.seconds})
            if seed == ROLL_DRAWS[0] and noise == 0:
                _draw_roll(case, maps, folder / "eat_swiss_roll.png")
        rows += [{"noise": noise, **_roll_row(name, errors)} for name in errors]
    write_table(rows, folder / "eat_swiss_roll")


def mean_length(X: FloatArray, n_neighbors: int) -> float:
    """Return the mean distance of neighbors, the thesis's width of the kernel."""
    return float(build_graph(X, n_neighbors=n_neighbors).lengths.mean())


def across_fold(case: Case) -> IntArray:
    """Return the neighbors on different wings of a V."""
    edges = build_graph(case.points, n_neighbors=V_NEIGHBORS).edges
    right = case.truth[:, 0] > 0
    return edges[right[edges[:, 0]] != right[edges[:, 1]]]


def fold_rows(case: Case, maps: list[Placed]) -> list[Row]:
    """Return how flat the maps are and how far from the open V."""
    rows: list[Row] = []
    for each in maps:
        truth = _truth_of(each.test, case)
        rows.append(
            {
                "method": each.name,
                "third axis": variance_loss(each.test, 2),
                "error": float(procrustes_error(each.test[:, :2], truth, scale=True)),
            }
        )
    return rows


def _open_fold(case: Case) -> list[Placed]:
    """Return maps of the test points in three dimensions; PCA and KPCA see all points."""
    X, new, everything = case.points, case.new_points, case.data.X

    def eat(**options: Any) -> EAT:
        return EAT(n_components=3, n_neighbors=V_NEIGHBORS, random_state=0, **options)

    straddling = across_fold(case)
    width = mean_length(everything, V_NEIGHBORS)
    return [
        place("EAT, linear, fold free", eat(kernel="linear"), X, new, free=straddling),
        place("EAT, linear", eat(kernel="linear"), X, new),
        place("EAT, RBF", eat(), X, new),
        place("PCA of all", PCA(3), everything, everything),
        place("RBF KPCA of all", KernelPCA(3, kernel="rbf"), everything, everything),
        place(
            "RBF KPCA of all, narrow",
            KernelPCA(3, kernel="rbf", gamma=width**-2),
            everything,
            everything,
        ),
    ]


def _truth_of(points: FloatArray, case: Case) -> FloatArray:
    """Return true coordinates of all points or of the test points, as many as there are."""
    return case.data.truth if len(points) == len(case.data.X) else case.new_truth


def _unroll(seed: int, noise: float, n_test: int) -> tuple[Case, list[Placed]]:
    """Return a draw of the roll and the maps of all methods."""
    roll = roll_with_room(
        ROLL_TRAIN + n_test, n_train=ROLL_TRAIN, turns=ROLL_TURNS, seed=seed, noise=noise
    )
    case = spread_split(roll, ROLL_TRAIN)
    graph = build_graph(case.points, n_neighbors=ROLL_NEIGHBORS)
    shortcuts = n_shortcuts(case.points, case.truth, graph.edges)
    say(f"noise {noise}, draw {seed}: {shortcuts} short-cuts in {graph.n_edges} pairs")
    return case, [
        place(name, make(case.points), case.points, case.new_points)
        for name, make in ROLL_METHODS.items()
    ]


def _over_draws(same: tuple[Row, ...]) -> Row:
    return {
        "method": same[0]["method"],
        **{
            f"{key}, {word}": float(of([row[key] for row in same]))
            for key in ("third axis", "error")
            for word, of in (("median", np.median), ("largest", np.max))
        },
    }


def _roll_row(name: str, errors: Mapping[str, list[dict[str, float]]]) -> Row:
    row: dict[str, Any] = {"method": name}
    for key in ("training", "test", "border"):
        row[key] = quartiles(100 * one[key] for one in errors[name])
    for key in ("test", "border"):
        pairs = zip(errors[name], errors[RIVAL], strict=True)
        better = sum(own[key] < other[key] for own, other in pairs)
        row[f"better than MVU, {key}"] = "" if name == RIVAL else f"{better} of {len(errors[name])}"
    return row | {"seconds": quartiles(one["seconds"] for one in errors[name])}


def _draw_fold(case: Case, maps: list[Placed], path: Path) -> None:
    figure = plt.figure(figsize=(17, 3), layout="constrained")
    panels = [("the V", case.data.X), *((each.name, each.test) for each in maps)]
    for number, (title, points) in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number, projection="3d")
        truth = _truth_of(points, case)
        axes.scatter(*points.T, c=truth[:, 0], s=3, linewidths=0)
        # A cube: what is flat must look flat, not be blown up.
        middle, half = (
            (points.min(axis=0) + points.max(axis=0)) / 2,
            np.ptp(points, axis=0).max() / 2,
        )
        limits = np.column_stack((middle - half, middle + half))
        axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2], xticks=[], yticks=[], zticks=[])
        axes.set_title(title, fontsize=9)
    save(figure, path)


def _draw_roll(case: Case, maps: list[Placed], path: Path) -> None:
    figure = plt.figure(figsize=(15, 5), layout="constrained")
    columns = len(maps) + 1
    axes = figure.add_subplot(2, columns, (1, columns + 1), projection="3d")
    show_surface(axes, case.data.X, case.data.truth[:, 0], "the roll")
    axes.scatter(*case.points.T, c="k", s=12)
    rim = beyond_hull(case)
    for column, each in enumerate(maps, start=2):
        motion = procrustes(each.train, case.truth).transform
        above = figure.add_subplot(2, columns, column)
        show_map(above, motion.apply(each.train), case.truth[:, 0], each.name, s=12)
        below = figure.add_subplot(2, columns, columns + column)
        new = motion.apply(each.test)
        show_map(below, new, case.new_truth[:, 0], "test points; border with rings", s=6)
        below.scatter(*new[rim].T, s=12, facecolors="none", edgecolors="0.4", linewidths=0.4)
        low, high = case.data.truth.min(axis=0), case.data.truth.max(axis=0)
        below.add_patch(plt.Rectangle(low, *(high - low), fill=False, edgecolor="r", linewidth=0.6))
    save(figure, path)
