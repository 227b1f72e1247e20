"""The digits 3, 6 and 9 of MNIST, 500 each (Figures 5.9 to 5.11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from experiments import peers
from experiments.harness import FULL, Outcome, Size, fit, say, write_table
from experiments.ipa_thesis.methods import first_axes, ours, thesis, with_room
from experiments.pictures import save, show_map, thumbnails
from isofold._typing import FloatArray
from isofold.datasets import Dataset, load_mnist
from isofold.quality import mean_relative_rank_error, neighbor_error, one_nn_error

__all__ = ["map_of_digits", "three_six_nine"]

DIGITS = (3, 6, 9)
N_EACH = 500
N_PATCHES = 30
COLORS = {3: "C0", 6: "C1", 9: "C2"}
DIMENSIONS = (2, 5, 10)
MOST_BALLS = 5
"""Graph balls in more dimensions take minutes, and 1,500 points are too few for them."""
SIZES = (5, 12, 30, 50)


def three_six_nine() -> Dataset:
    """Return the first 500 images of each digit."""
    mnist = load_mnist()
    rows = np.concatenate([np.flatnonzero(mnist.labels == digit)[:N_EACH] for digit in DIGITS])
    return Dataset(
        "three_six_nine", mnist.X[rows], labels=mnist.labels[rows], image_shape=mnist.image_shape
    )


def map_of_digits(folder: Path, size: Size = FULL) -> None:
    """Map the digits into two dimensions, then into more, beside Isomap, t-SNE and PCA."""
    data = size.part(three_six_nine())
    rows, flat = [], []
    for r in DIMENSIONS:
        for outcome in _outcomes(data.X, r, size.groups(N_PATCHES)):
            if r == 2:
                flat.append(outcome)
            rows.append(_row(data, outcome, r))
    write_table(rows, folder / "thesis_mnist")
    _draw(data, flat, folder / "thesis_mnist.png")


def _outcomes(X: FloatArray, r: int, n_patches: int) -> Iterator[Outcome]:
    if r <= MOST_BALLS:
        yield fit("IPA", ours(n_components=r), X)
    patches = thesis(n_patches, n_components=r, solver=with_room(r))
    yield first_axes(fit(f"IPA, {n_patches} k-means patches", patches, X), r)
    yield fit("Isomap, k = 12", peers.isomap(12, r), X)
    yield fit("PCA", PCA(r, svd_solver="full"), X)
    if r == 2:
        yield fit("t-SNE", peers.tsne(), X)


def _row(data: Dataset, outcome: Outcome, r: int) -> dict[str, object]:
    Y = outcome.embedding
    diagnosis = getattr(outcome.model, "diagnosis_", None)
    if diagnosis is not None:
        say(f"{outcome.name}, r = {r}:\n{diagnosis}\n")
    return {
        "r": r,
        "method": outcome.name,
        **{f"ψ_KNN, k = {k}": float(neighbor_error(data.X, Y, n_neighbors=k)) for k in SIZES},
        "MRRE_X, k = 12": float(mean_relative_rank_error(data.X, Y)),
        "MRRE_Y, k = 12": float(mean_relative_rank_error(data.X, Y, neighbors_of="embedding")),
        "nearest has another digit": float(one_nn_error(Y, data.labels)),
        "seconds": outcome.seconds,
        "doubts": "" if diagnosis is None else ", ".join(doubt.code for doubt in diagnosis.raised),
    }


def _draw(data: Dataset, outcomes: list[Outcome], path: Path) -> None:
    figure, panels = plt.subplots(2, 3, figsize=(17, 11.5), layout="constrained")
    images = data.X.reshape(len(data.X), *(data.image_shape or ()))
    color = np.array([COLORS[int(digit)] for digit in data.labels])
    for axes, outcome in zip(panels.flat, outcomes, strict=False):
        show_map(axes, outcome.embedding, color, outcome.name, s=6)
        thumbnails(axes, outcome.embedding, images, n_across=8, color=color)
    legend = panels.flat[-1]
    legend.axis("off")
    for digit, shade in COLORS.items():
        legend.scatter([], [], c=shade, label=f"digit {digit}")
    legend.legend(loc="center", fontsize=14, frameon=False)
    save(figure, path)
