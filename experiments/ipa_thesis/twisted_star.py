"""A star of four twisted strips: does the unfolding need a third dimension? (Figure 5.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from experiments import peers
from experiments.harness import FULL, Outcome, Size, fit, write_table
from experiments.ipa_thesis.methods import certificate, first_axes, ours, thesis, with_room
from experiments.pictures import save, show_map, show_surface
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset, star
from isofold.linalg import procrustes
from isofold.quality import procrustes_error

__all__ = ["StripLengths", "arms", "rank_of_star", "strip_lengths"]

N_POINTS = 1000
N_PATCHES = 30


@dataclass(frozen=True)
class StripLengths:
    """Lengths of the four strips on a map, relative to the true ones."""

    shortest: float
    longest: float


def arms(truth: FloatArray) -> list[IntArray]:
    """Return the points on each strip, outside of the central square."""
    x, y = truth.T
    return [np.flatnonzero(side > 0.5) for side in (x, y, -x, -y)]


def strip_lengths(Y: FloatArray, truth: FloatArray) -> StripLengths:
    """Compare the distances of the ends of each strip with the true ones."""
    ratios = []
    for arm in arms(truth):
        reach = np.abs(truth[arm]).max(axis=1)
        inner, outer = arm[reach.argmin()], arm[reach.argmax()]
        ratios.append(
            np.linalg.norm(Y[outer] - Y[inner]) / np.linalg.norm(truth[outer] - truth[inner])
        )
    return StripLengths(float(min(ratios)), float(max(ratios)))


def rank_of_star(folder: Path, size: Size = FULL) -> None:
    """Unfold the star with room to spare and tell how much is beyond the second axis."""
    data = star(size.points(N_POINTS), random_state=0)
    outcomes = list(_outcomes(data, size.groups(N_PATCHES)))
    rows = []
    for outcome in outcomes:
        shares = _shares(outcome)
        lengths = strip_lengths(outcome.embedding, data.truth)
        rows.append(
            {
                "method": outcome.name,
                "third share of variance": float(shares[2]),
                "beyond the second": float(shares[2:].sum()),
                "status": certificate(outcome.model),
                "strip lengths": f"{lengths.shortest:.4f} to {lengths.longest:.4f}",
                "error of map": float(procrustes_error(outcome.embedding, data.truth)),
                "seconds": outcome.seconds,
                "warnings": " ".join(outcome.warnings) or "none",
            }
        )
    write_table(rows, folder / "thesis_star")
    _draw(data, outcomes, folder / "thesis_star.png")


def _outcomes(data: Dataset, n_patches: int) -> Iterator[Outcome]:
    yield first_axes(fit("IPA", ours(solver=with_room(2)), data.X), 2)
    name = f"IPA, {n_patches} k-means patches"
    yield first_axes(fit(name, thesis(n_patches, solver=with_room(2)), data.X), 2)
    for k in (4, 6, 12):
        yield fit(f"MVU, k = {k}", peers.mvu(k), data.X)


def _shares(outcome: Outcome) -> FloatArray:
    variances = outcome.model.spectrum_
    return np.append(variances / variances.sum(), 0.0)


def _draw(data: Dataset, outcomes: list[Outcome], path: Path) -> None:
    figure = plt.figure(figsize=(14, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 1 + len(outcomes), height_ratios=(2, 1))
    color = np.full(len(data.X), "0.6", dtype=object)
    for shade, arm in enumerate(arms(data.truth)):
        color[arm] = f"C{shade}"
    surface = figure.add_subplot(grid[:, 0], projection="3d")
    show_surface(surface, data.X, color, f"data: {len(data.X)} points in 3-D", s=6)
    for column, outcome in enumerate(outcomes, start=1):
        Y = procrustes(outcome.embedding, data.truth).transform.apply(outcome.embedding)
        axes = figure.add_subplot(grid[0, column])
        show_map(axes, Y, color, outcome.name, s=6)
        bars = figure.add_subplot(grid[1, column])
        shares = _shares(outcome)[:6]
        bars.bar(np.arange(1, len(shares) + 1), shares, color="0.4")
        bars.set(ylim=(1e-6, 1), yscale="log", xticks=range(1, 7), xlim=(0.4, 6.6))
        bars.set_xlabel("axis of the unfolding", fontsize=8)
        bars.tick_params(labelsize=7)
        if column == 1:
            bars.set_ylabel("share of variance", fontsize=8)
    save(figure, path)
