"""Anybody's map: t-SNE of digits, which tears neighborhoods apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample.cases import GOOSES, Fit, folds
from experiments.pictures import save, show_map
from isofold._typing import FloatArray, IntArray
from isofold.datasets import load_mnist
from isofold.extension import fit_barycentric, fit_kernel_ridge
from isofold.linalg import principal_coordinates

__all__ = ["AVERAGES", "OfNeighbors", "agreement", "tsne"]

N_TRAIN, N_NEW, N_FOLDS = 3000, 6000, 10
N_AXES = 50


@dataclass(frozen=True, eq=False)
class OfNeighbors:
    """Places a point at some average of the images of its neighbors: what there is without GOoSE.

    Attributes
    ----------
    points, images : ndarray
        The training points and their map.
    n_neighbors : int
        Neighbors that count.
    average : callable
        Takes the images of the neighbors and an axis.
    """

    points: FloatArray
    images: FloatArray
    n_neighbors: int
    average: Callable[..., FloatArray]

    def transform(self, X_new: FloatArray) -> FloatArray:
        """Return the images of new points."""
        near = cKDTree(self.points).query(X_new, range(1, self.n_neighbors + 1))[1]
        return self.average(self.images[near], axis=1)


AVERAGES: Mapping[str, Fit] = {
    "place of the nearest": partial(OfNeighbors, n_neighbors=1, average=np.mean),
    "mean of 10": partial(OfNeighbors, n_neighbors=10, average=np.mean),
    "median of 10": partial(OfNeighbors, n_neighbors=10, average=np.median),
}
METHODS: Mapping[str, Fit] = {
    **AVERAGES,
    "kernel ridge, auto": fit_kernel_ridge,
    "barycentric": fit_barycentric,
    **GOOSES,
}


def tsne(folder: Path, size: Size = FULL) -> None:
    """Place digits on a map of 3,000: new ones by their labels, held-out ones by their places."""
    mnist = load_mnist()
    n_train, n_new = size.points(N_TRAIN), size.points(N_NEW)
    rows = np.random.RandomState(0).permutation(len(mnist.X))[: n_train + n_new]
    raw, labels = mnist.X[rows].astype(np.float64) / 255, mnist.labels[rows]
    principal = principal_coordinates(raw[:n_train], N_AXES)
    X = (raw - raw[:n_train].mean(axis=0)) @ principal.axes
    known, new = X[:n_train], X[n_train:]
    Y = np.asarray(peers.tsne().fit_transform(known), dtype=np.float64)
    say("t-SNE is there")
    spacing = float(np.median(cKDTree(Y).query(Y, 2)[0][:, 1]))
    table: list[Row] = []
    panels = {}
    for name, fit in METHODS.items():
        placed = fit(known, Y).transform(new)
        panels[name] = placed
        right = agreement(Y, labels[:n_train], placed, labels[n_train:])
        missed = _missed(fit, known, Y) / spacing
        table.append(
            {
                "extension": name,
                "label of the next on the map is right": right,
                "held out, missed by (median)": float(np.median(missed)),
                "within 5 steps": float(np.mean(missed < 5)),
                "beyond 50 steps": float(np.mean(missed > 50)),
            }
        )
    write_table(table, folder / "tsne")
    _draw(folder / "tsne.png", Y, labels, panels)


def agreement(Y: FloatArray, labels: IntArray, placed: FloatArray, new_labels: IntArray) -> float:
    """Return how often the nearest training image on the map has the label of the new one."""
    return float(np.mean(labels[cKDTree(Y).query(placed)[1]] == new_labels))


def _missed(fit: Fit, X: FloatArray, Y: FloatArray) -> FloatArray:
    """Return how far from its own place on the map each point goes if it is left out."""
    placed = np.empty_like(Y)
    for train, test in folds(len(X), N_FOLDS, seed=0):
        placed[test] = fit(X[train], Y[train]).transform(X[test])
    return np.linalg.norm(placed - Y, axis=1)


def _draw(path: Path, Y: FloatArray, labels: IntArray, panels: Mapping[str, FloatArray]) -> None:
    shown = ("mean of 10", "place of the nearest", "GOoSE, least squares")
    figure, all_axes = plt.subplots(1, 4, figsize=(18, 4.6), layout="constrained")
    n_train = len(Y)
    show_map(all_axes[0], Y, labels[:n_train], f"t-SNE of {n_train:,} digits", cmap="tab10")
    for axes, name in zip(all_axes[1:], shown, strict=True):
        new = panels[name]
        show_map(axes, new, labels[n_train:], f"{len(new):,} new: {name}", cmap="tab10", s=2)
    save(figure, path)
