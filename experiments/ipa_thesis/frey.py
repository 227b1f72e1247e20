"""Frey faces: spectra of the unfolding (Figure 5.8) and the map with its faces (Figure 5.7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from experiments.harness import FULL, Outcome, Size, fit, say, write_table
from experiments.ipa_thesis.methods import certificate, first_axes, ours, thesis, with_room
from experiments.pictures import save, show_map, thumbnails
from isofold import IPA
from isofold._typing import FloatArray
from isofold.datasets import load_frey_faces
from isofold.quality import continuity, neighbor_error, trustworthiness

__all__ = ["map_of_faces", "spectra"]

N_PATCHES = 30
"""The thesis takes clusters of LDLC, here they are those of k-means."""
DIMENSIONS = range(2, 8)
NEGLIGIBLE = 0.01
"""Share of the variance below which an axis does not count."""


def methods(size: Size) -> dict[str, Callable[[int], IPA]]:
    """Return the IPA of the thesis and ours, by the number of components."""
    c = size.groups(N_PATCHES)
    return {
        f"IPA, {c} k-means patches": lambda r: thesis(c, n_components=r, solver=with_room(r)),
        "IPA": lambda r: ours(n_components=r),
    }


def spectra(folder: Path, size: Size = FULL) -> None:
    """Unfold into r = 2, …, 7 dimensions and tell how many the unfolding needs."""
    X = size.part(load_frey_faces()).X
    rows, outcomes = [], []
    for name, method in methods(size).items():
        for r in size.few(DIMENSIONS):
            outcome = fit(name, method(r), X)
            outcomes.append(outcome)
            rows.append(_row(outcome, r))
    write_table(rows, folder / "thesis_spectra")
    _draw_spectra(outcomes, folder / "thesis_spectra.png")


def map_of_faces(folder: Path, size: Size = FULL) -> None:
    """Map the faces into two dimensions, beside PCA, and draw some of them."""
    faces = size.part(load_frey_faces())
    outcomes = [
        first_axes(fit(name, method(2), faces.X), 2) for name, method in methods(size).items()
    ]
    outcomes.append(fit("PCA", PCA(2, svd_solver="full"), faces.X))
    rows = []
    images = faces.X.reshape(len(faces.X), *(faces.image_shape or ()))
    figure, panels = plt.subplots(1, len(outcomes), figsize=(25, 9.5), layout="constrained")
    for axes, outcome in zip(panels, outcomes, strict=True):
        rows.append(_scores(outcome, faces.X))
        Y = outcome.embedding
        show_map(axes, Y, np.arange(len(Y)), f"{outcome.name}: colors follow the film", s=6)
        thumbnails(axes, Y, images, n_across=13)
    write_table(rows, folder / "thesis_frey")
    save(figure, folder / "thesis_frey.png")


def _scores(outcome: Outcome, X: FloatArray) -> dict[str, Any]:
    diagnosis = getattr(outcome.model, "diagnosis_", None)
    if diagnosis is not None:
        say(f"{outcome.name}:\n{diagnosis}\n")
    Y = outcome.embedding
    return {
        "method": outcome.name,
        "trustworthiness": float(trustworthiness(X, Y)),
        "continuity": float(continuity(X, Y)),
        "ψ_KNN, k = 12": float(neighbor_error(X, Y)),
        "doubts": "" if diagnosis is None else ", ".join(doubt.code for doubt in diagnosis.raised),
        "seconds": outcome.seconds,
    }


def _row(outcome: Outcome, r: int) -> dict[str, Any]:
    shares = outcome.model.spectrum_ / outcome.model.spectrum_.sum()
    return {
        "method": outcome.name,
        "r": r,
        "axes above 1 %": int((shares > NEGLIGIBLE).sum()),
        "share in the first r": float(shares[:r].sum()),
        "cut off": outcome.model.discarded_variance_ratio_,
        "certificate": certificate(outcome.model),
        "doubts": ", ".join(doubt.code for doubt in outcome.model.diagnosis_.raised) or "none",
        "seconds": outcome.seconds,
    }


def _draw_spectra(outcomes: list[Outcome], path: Path) -> None:
    figure, panels = plt.subplots(
        2, len(outcomes) // 2, figsize=(14, 5), layout="constrained", sharex=True, sharey=True
    )
    for axes, outcome in zip(panels.flat, outcomes, strict=True):
        shares = 100 * outcome.model.spectrum_ / outcome.model.spectrum_.sum()
        r = outcome.model.n_components_
        colors = ["C0"] * r + ["0.6"] * (len(shares) - r)
        axes.bar(np.arange(1, len(shares) + 1), shares, color=colors)
        axes.set_title(f"{outcome.name}\nr = {r}: {shares[:r].sum():.0f} % in r axes", fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("variance (%)")
    for axes in panels[-1]:
        axes.set_xlabel("axis")
    save(figure, path)
