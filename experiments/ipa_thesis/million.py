"""A million points of the holed Swiss roll (Figure 5.4)."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from experiments.harness import FULL, Outcome, Size, fit, say, write_table
from experiments.ipa_thesis.methods import certificate, ours, thesis
from experiments.pictures import save, show_map
from isofold import IPA
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset, holed_swiss_roll
from isofold.linalg import procrustes
from isofold.quality import procrustes_error

__all__ = ["bridged_clusters", "million_points"]

N_POINTS = 1_000_000
N_PATCHES = (50, 20, 100, 200)
"""The 50 of the thesis; 20 are so few that some clusters hold points of two layers."""
N_DRAWN = 60_000
N_BRIDGED = 10_000
SHARED = 1.15
"""A point is shared by clusters whose centers are at most so many times as far as the nearest."""


def million_points(folder: Path, size: Size = FULL) -> None:
    """Map a million points with the patches of the thesis, with fewer and more, and with ours."""
    roll = holed_swiss_roll(size.points(N_POINTS), random_state=0)
    methods = {"IPA": ours()}
    methods |= {f"IPA, {c} k-means patches": thesis(size.groups(c)) for c in N_PATCHES}
    rows, drawn = [], []
    for name, method in methods.items():
        outcome = fit(name, method, roll.X)
        diagnosis = outcome.model.diagnosis_
        say(f"{name}:\n{diagnosis}\n")
        rows.append(
            {
                "method": name,
                "patches": outcome.model.cover_.n_patches,
                "seconds": outcome.seconds,
                "error": float(procrustes_error(outcome.embedding, roll.truth)),
                "estimated error": outcome.model.estimated_error_,
                "doubts": ", ".join(doubt.code for doubt in diagnosis.raised) or "none",
                "certificate": certificate(outcome.model),
            }
        )
        drawn.append((outcome, rows[-1]["error"], rows[-1]["doubts"]))
    write_table(rows, folder / "thesis_million")
    _draw(roll, drawn, folder / "thesis_million.png")


def bridged_clusters(folder: Path, size: Size = FULL) -> None:
    """Take clusters that hold points of two layers as they are and ask the diagnosis.

    IPA takes clusters apart that its neighbor graph does not hold together. Patches that are
    given as memberships are not touched, as in the thesis.
    """
    roll = holed_swiss_roll(size.points(N_BRIDGED), random_state=0)
    rows = []
    for c in (50, 20):
        clusters = KMeans(size.groups(c), n_init=1, random_state=0).fit(roll.X)
        distances = clusters.transform(roll.X)
        shared = distances <= SHARED * distances.min(axis=1, keepdims=True)
        model = IPA(cover=shared, chart="pca", random_state=0)
        outcome = fit(f"IPA, {c} k-means patches as they are", model, roll.X)
        rows.append(
            {
                "method": outcome.name,
                "patches on two layers": _on_two_layers(clusters.labels_, roll.truth[:, 0]),
                "error": float(procrustes_error(outcome.embedding, roll.truth)),
                "doubts": ", ".join(doubt.code for doubt in model.diagnosis_.raised) or "none",
            }
        )
    write_table(rows, folder / "thesis_bridged")


def _on_two_layers(labels: IntArray, arc: FloatArray) -> int:
    """Count the clusters with a gap along the arc that is as wide as half the roll's spacing."""
    gaps = (np.diff(np.sort(arc[labels == label])).max() for label in np.unique(labels))
    return sum(bool(gap > np.pi) for gap in gaps)


def _draw(roll: Dataset, drawn: list[tuple[Outcome, float, str]], path: Path) -> None:
    chosen = np.random.RandomState(0).permutation(len(roll.X))[:N_DRAWN]
    figure, panels = plt.subplots(
        len(drawn), 1, figsize=(9, 2.6 * len(drawn)), layout="constrained", squeeze=False
    )
    truth = roll.truth[chosen]
    for axes, (outcome, error, doubts) in zip(panels[:, 0], drawn, strict=True):
        Y = outcome.embedding[chosen]
        Y = procrustes(Y, truth).transform.apply(Y)
        title = f"{outcome.name}: {outcome.seconds:.1f} s, error {error:.2g}, doubts: {doubts}"
        show_map(axes, Y, truth[:, 0], title, s=0.6)
    save(figure, path)
