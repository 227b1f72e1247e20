"""A simple bent sheet, clean, with noise, and sampled unevenly (Figure 5.5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from experiments import peers
from experiments.harness import FULL, Outcome, Size, fit, write_table
from experiments.ipa_thesis.methods import ours, thesis
from experiments.pictures import save, show_map, show_surface
from isofold._typing import FloatArray
from isofold.datasets import Dataset, arched_sheet
from isofold.linalg import procrustes
from isofold.quality import procrustes_error

__all__ = ["CASES", "NOISE", "affine_error", "noise_and_sampling", "noise_floor", "sheet"]

NOISE = float(np.sqrt(0.001))
"""The thesis gives the variance; here it is that of each coordinate."""
CASES: dict[str, dict[str, float]] = {
    "clean": {},
    "noise of variance 0.001": {"noise": NOISE},
    "1350 and 150 points": {"imbalance": 0.9},
}
N_POINTS = 1500
N_PATCHES = 20
FEW_NEIGHBORS, MANY_NEIGHBORS = 6, 12


def sheet(case: str, seed: int = 0, n_samples: int = N_POINTS) -> Dataset:
    """Return 1,500 points of the sheet."""
    return arched_sheet(n_samples, random_state=seed, **CASES[case])


def noise_floor(truth: FloatArray, noise: float) -> float:
    """Return F = σ√r / rms: the error that noise in the plane of the map alone makes."""
    spread = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum() / len(truth))
    return float(noise * np.sqrt(truth.shape[1]) / spread)


def affine_error(Y: FloatArray, truth: FloatArray) -> float:
    """Return the distance from the truth after the best affine map, relative to its extent.

    LLE and LTSA choose their own scales along both axes; this judges the rest of their maps.
    """
    centered, goal = Y - Y.mean(axis=0), truth - truth.mean(axis=0)
    moved = centered @ np.linalg.lstsq(centered, goal)[0]
    return float(np.linalg.norm(moved - goal) / np.linalg.norm(goal))


def noise_and_sampling(folder: Path, size: Size = FULL) -> None:
    """Run all methods on the three samples."""
    rows, maps = [], []
    for case in CASES:
        data = sheet(case, n_samples=size.points(N_POINTS))
        outcomes = list(_outcomes(data.X, size.groups(N_PATCHES)))
        maps.append((case, data, outcomes))
        floor = noise_floor(data.truth, CASES[case].get("noise", 0.0))
        rows += [
            {
                "data": case,
                "method": outcome.name,
                "error": float(procrustes_error(outcome.embedding, data.truth)),
                "best scale": float(procrustes_error(outcome.embedding, data.truth, scale=True)),
                "best affine map": affine_error(outcome.embedding, data.truth),
                "noise floor": floor,
                "seconds": outcome.seconds,
                "warnings": " ".join(outcome.warnings) or "none",
            }
            for outcome in outcomes
        ]
    write_table(rows, folder / "thesis_simple")
    _draw(maps, folder / "thesis_simple.png")


def _outcomes(X: FloatArray, n_patches: int) -> Iterator[Outcome]:
    yield fit("IPA", ours(), X)
    yield fit(f"IPA, {n_patches} k-means patches", thesis(n_patches), X)
    for k in (FEW_NEIGHBORS, MANY_NEIGHBORS):
        yield fit(f"MVU, k = {k}", peers.mvu(k), X)
    yield fit("Isomap, k = 12", peers.isomap(MANY_NEIGHBORS), X)
    yield fit("LTSA, k = 12", peers.ltsa(MANY_NEIGHBORS), X)
    yield fit("LLE, k = 12", peers.lle(MANY_NEIGHBORS), X)


def _draw(maps: list[tuple[str, Dataset, list[Outcome]]], path: Path) -> None:
    columns = 1 + len(maps[0][2])
    figure = plt.figure(figsize=(2.1 * columns, 5.4), layout="constrained")
    grid = figure.add_gridspec(len(maps), columns)
    for row, (case, data, outcomes) in enumerate(maps):
        color = data.truth[:, 0]
        surface = figure.add_subplot(grid[row, 0], projection="3d")
        show_surface(surface, data.X, color, case, s=2)
        for column, outcome in enumerate(outcomes, start=1):
            Y = procrustes(outcome.embedding, data.truth, scale=True).transform.apply(
                outcome.embedding
            )
            error = affine_error(outcome.embedding, data.truth)
            title = f"{outcome.name if row == 0 else ''}\nshape off by {error:.2%}"
            show_map(figure.add_subplot(grid[row, column]), Y, color, title.strip(), s=3)
    save(figure, path)
