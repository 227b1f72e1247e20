"""A dual spiral with a hole: 350 points to learn from, 5,000 to place (Figures 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, KernelPCA

from experiments import peers
from experiments.harness import FULL, Size, write_table
from experiments.pictures import save, show_map, show_surface
from experiments.unfolding.paper_tessera import SPIRAL_WIDTH, TABLE_3_1
from experiments.unfolding.tessera_cases import (
    Case,
    Placed,
    Strip,
    align,
    describe_sdp,
    place,
    rms_error,
    split,
)
from isofold import TesseraMap
from isofold._typing import FloatArray
from isofold.datasets import dual_spiral as make_spiral
from isofold.quality import procrustes_error

__all__ = ["dual_spiral", "share_in_hole"]

N_NEIGHBORS = 8
"""The thesis has one graph for all methods and does not tell k."""
SIGMA = 0.5
"""The width of the thesis's kernel, on a sheet of which only the width is given."""
HOLE = (0.3, 0.5)
"""Shares of length and width."""
INSIDE = 0.8
"""Share of the hole's sides within which no point should be."""


def tessera(**options: Any) -> TesseraMap:
    """Return TesseraMap with the graph that all methods have."""
    return TesseraMap(n_neighbors=N_NEIGHBORS, random_state=0, **options)


METHODS: Mapping[str, Callable[[], Any]] = {
    "TesseraMap, no clusters, sigma = 0.5": lambda: tessera(cover=None, gamma=SIGMA**-2),
    "TesseraMap, no clusters": lambda: tessera(cover=None),
    "TesseraMap, affinity propagation": tessera,
    "TesseraMap, LDLC": lambda: tessera(cover="ldlc"),
    "MVU": lambda: peers.mvu(N_NEIGHBORS),
    "Isomap": lambda: peers.isomap(N_NEIGHBORS),
    "LTSA": lambda: peers.ltsa(N_NEIGHBORS),
    "LLE": lambda: peers.lle(N_NEIGHBORS),
    "PCA": lambda: PCA(2),
    "kernel PCA": lambda: KernelPCA(2, kernel="rbf", gamma=SIGMA**-2),
}


def dual_spiral(folder: Path, size: Size = FULL) -> None:
    """Unfold the spiral and measure how wide it is."""
    printed = TABLE_3_1["dual spiral"]
    n_train, n_test = size.points(printed.n_train), size.points(printed.n_test)
    data = make_spiral(n_train + n_test, hole=HOLE, random_state=0)
    case = split(data, n_train, n_test)
    placed = [place(name, make, case) for name, make in METHODS.items()]
    write_table([_row(one, case) for one in placed], folder / "tessera_dual_spiral")
    _draw(case, placed, folder / "tessera_dual_spiral.png")


def share_in_hole(Y: FloatArray, truth: FloatArray) -> float:
    """Return the share of the points, moved onto the truth, that are well inside of the hole."""
    low, high = truth.min(axis=0), truth.max(axis=0)
    half = INSIDE * np.array(HOLE) * (high - low) / 2
    return float(np.mean((np.abs(Y - (low + high) / 2) < half).all(axis=1)))


def _row(placed: Placed, case: Case) -> dict[str, Any]:
    Y, new = align(placed, case)
    axes = PCA(2).fit(placed.places)
    name = placed.name.split(",")[0]
    return {
        "method": placed.name,
        "width of slices": str(Strip.of(placed.places, case.truth)),
        "on test points": str(Strip.of(placed.new_places, case.new_truth)),
        "extent across": float(np.ptp(axes.transform(placed.places)[:, 1])),
        "extent, thesis": SPIRAL_WIDTH.get(name, "-"),
        "error": rms_error(Y, case.truth),
        "error of test points": rms_error(new, case.new_truth),
        "error of the shape": float(procrustes_error(placed.places, case.truth, scale=True)),
        "test points in the hole": share_in_hole(new, case.new_truth),
        "seconds": placed.outcome.seconds,
        "solution": describe_sdp([placed.model]) or "-",
    }


def _draw(case: Case, placed: list[Placed], path: Path) -> None:
    figure = plt.figure(figsize=(15, 15), layout="constrained")
    grid = figure.add_gridspec(len(placed), 3, width_ratios=(1, 2, 2))
    for row, one in enumerate(placed):
        Y, new = align(one, case)
        for column, (points, truth, kind) in enumerate(
            ((Y, case.truth, "training"), (new, case.new_truth, "test")), start=1
        ):
            axes = figure.add_subplot(grid[row, column])
            show_map(axes, points, truth[:, 0], f"{one.name}: {len(points)} {kind} points", s=4)
    surface = figure.add_subplot(grid[:3, 0], projection="3d")
    show_surface(surface, case.new_points, case.new_truth[:, 0], "test points", s=1)
    save(figure, path)
