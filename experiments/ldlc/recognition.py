"""Clusters as classes: types of wine (Table 4.1), digits (Table 4.2, Figure 4.10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc import paper
from experiments.ldlc.methods import (
    N_RESTARTS,
    Clustering,
    Ready,
    Setting,
    cluster,
    ldlc,
    mppca,
    spread,
    vqpca,
)
from experiments.pictures import save
from isofold._typing import FloatArray, IntArray
from isofold.clustering import LocalSubspaceClassifier
from isofold.datasets import Dataset, load_mnist
from isofold.quality import normalized_mutual_information, purity, reconstruction_error

__all__ = ["accuracy", "digits", "measure", "mnist_recognition", "wine_type"]

Methods = Mapping[str, Callable[[Setting], Any]]

WINE_METHODS: Methods = {
    "LDLC, rho = 0.01": ldlc,
    "LDLC, rho = 0.1": partial(ldlc, rho=0.1),
    "LDLC, rho = auto": partial(ldlc, rho="auto"),
    "MPPCA": mppca,
    "VQPCA": vqpca,
}
N_TRIALS = 12
LABELED = (0.1, 0.3)
"""Fractions of the wines whose type is given."""

MNIST_METHODS: Methods = {"LDLC, rho = 0.01": ldlc, "MPPCA": mppca, "VQPCA": vqpca}
DIGITS = (0, 3, 6, 9)
N_EACH = 750
N_DRAWS = 3
MNIST_RESTARTS = 10


def wine_type(folder: Path, size: Size = FULL) -> None:
    """Find the three types of wine, twelve times, and classify from a few labels."""
    wine = load_wine()
    X, labels = StandardScaler().fit_transform(wine.data), wine.target
    n_init, seeds = size.repeats(N_RESTARTS), range(size.repeats(N_TRIALS))
    rows: list[Row] = []
    for name, method in WINE_METHODS.items():
        trials = [
            cluster(name, method(Setting(3, 2, n_neighbors=4, n_init=n_init, seed=seed)), X)
            for seed in seeds
        ]
        measured = [measure(X, labels, each, n_components=2) for each in trials]
        best = min(seeds, key=lambda i: _objective(trials[i]))
        rows.append(
            {
                **_summary(name, measured, paper.WINE),
                "purity of the lowest objective": measured[best]["purity"],
                **{
                    f"accuracy, {share:.0%} labelled": spread(
                        accuracy(X, labels, each, share, seed) for seed, each in enumerate(trials)
                    )
                    for share in LABELED
                },
            }
        )
        say(str(rows[-1]))
    write_table(rows, folder / "ldlc_wine_type")


def mnist_recognition(folder: Path, size: Size = FULL) -> None:
    """Find four digits with eight clusters, in several draws of the images."""
    n_draws, n_init = size.repeats(N_DRAWS), size.repeats(MNIST_RESTARTS)
    draws = [digits(DIGITS, size.points(N_EACH), seed) for seed in range(n_draws)]
    setting = Setting(n_clusters=8, n_components=10, n_init=n_init)
    rows: list[Row] = []
    counts: list[IntArray] = []
    for name, method in MNIST_METHODS.items():
        measured = []
        for data in draws:
            found = cluster(name, method(setting), data.X)
            measured.append(measure(data.X, data.labels, found, n_components=10))
            say(f"{name}: {measured[-1]}, {found.seconds:.0f} s")
            if name.startswith("LDLC"):
                counts.append(_counts(found.labels, data.labels))
                errors = 1 - counts[-1].max(axis=1) / counts[-1].sum(axis=1)
                say(f"{counts[-1]}\nerrors of clusters {np.round(np.sort(errors), 4)}")
        rows.append(_summary(name, measured, paper.MNIST))
    write_table(rows, folder / "ldlc_mnist_recognition")
    _draw(counts[0], folder / "ldlc_mnist_recognition.png")


def digits(kinds: Iterable[int], n_each: int, seed: int) -> Dataset:
    """Return some random images of each of some digits, with gray from 0 to 1."""
    mnist = load_mnist()
    rng = np.random.RandomState(seed)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(mnist.labels == kind), n_each, replace=False) for kind in kinds]
    )
    return Dataset(
        "digits", mnist.X[rows] / 255, labels=mnist.labels[rows], image_shape=mnist.image_shape
    )


def measure(
    X: FloatArray, labels: IntArray, found: Clustering, *, n_components: int
) -> dict[str, float]:
    """Return how flat clusters are and how well they keep to one class."""
    return {
        "error": float(reconstruction_error(X, found.labels, n_components=n_components)),
        "purity": purity(found.labels, labels),
        "NMI": normalized_mutual_information(found.labels, labels),
        "seconds": found.seconds,
    }


def accuracy(X: FloatArray, labels: IntArray, found: Clustering, share: float, seed: int) -> float:
    """Return how many unlabelled points get their class if some labels name the clusters."""
    rng = np.random.RandomState(seed)
    hidden = rng.permutation(len(X))[round(share * len(X)) :]
    known = labels.copy()
    known[hidden] = -1
    classifier = LocalSubspaceClassifier(clusterer=Ready(X, found.labels)).fit(X, known)
    return float((classifier.transduction_[hidden] == labels[hidden]).mean())


def _summary(name: str, measured: list[dict[str, float]], printed: paper.Table) -> dict[str, Any]:
    row: dict[str, Any] = {"method": name}
    for key, value in printed[name.split(",")[0]].items():
        row |= {key: spread(each[key] for each in measured), f"{key}, thesis": value}
    return row | {"seconds": spread(each["seconds"] for each in measured)}


def _objective(found: Clustering) -> float:
    """Return what the method minimizes."""
    if hasattr(found.model, "objective_path_"):
        return float(found.model.objective_path_[-1])
    return -float(found.model.log_likelihood_)


def _counts(clusters: IntArray, labels: IntArray) -> IntArray:
    """Return the number of points of every class in every cluster."""
    table = [[np.sum(labels[clusters == one] == kind) for kind in DIGITS] for one in range(8)]
    return np.array(table)


def _draw(counts: IntArray, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    below = np.zeros(len(counts))
    for kind, column in zip(DIGITS, counts.T, strict=True):
        axes.bar(np.arange(1, len(counts) + 1), column, bottom=below, label=f"digit {kind}")
        below += column
    axes.set(xlabel="cluster", ylabel="images", title="LDLC, rho = 0.01")
    axes.legend(frameon=False)
    save(figure, path)
