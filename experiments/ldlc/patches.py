"""Clusters as tesserae and as patches of IPA: a Swiss roll (Table 4.4) and digits (Table 4.5).

The thesis hands the clusters to TesseraMap. Both methods take them as they are given: arrays of
labels, so that clusters in several pieces stay so.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AffinityPropagation

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc import paper
from experiments.ldlc.methods import (
    N_RESTARTS,
    Clustering,
    Setting,
    cluster,
    kmeans,
    ldlc,
    medoids,
    mppca,
    vqpca,
)
from experiments.ldlc.recognition import digits
from experiments.pictures import save, show_map
from isofold import IPA, TesseraMap
from isofold._typing import FloatArray
from isofold.datasets import Dataset
from isofold.datasets import swiss_roll as make_roll
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.quality import (
    nonlocal_clusters,
    normalized_mutual_information,
    preservation_error,
    procrustes_error,
    purity,
    reconstruction_error,
    stretch,
)
from isofold.sdp import LowRankSDP

__all__ = [
    "affinity_propagation",
    "clusterings",
    "lay_tesserae",
    "map_clusters",
    "mnist_patches",
    "swiss_roll",
]

METHODS: Mapping[str, Callable[[Setting], Any]] = {
    "LDLC": ldlc,
    "k-means": kmeans,
    "geodesic k-medoids": medoids,
    "MPPCA": mppca,
    "VQPCA": vqpca,
}
CHARTS = ("pca", "quadratic")
"""Flat patches as those of the thesis, and those that IPA has by default."""
N_POINTS, N_CLUSTERS = 2000, 20
N_EACH, N_TESSERAE = 1000, 19
MNIST_RESTARTS = 3
N_TRIES, RANGE = 6, 16.0
"""How often, and how far from a guess, the preference of affinity propagation is searched."""
N_NEIGHBORS = 8
"""Neighbors whose distances are to be kept, and along which clusters are to be in one piece."""
NEGLIGIBLE = 0.01
"""Share of the variance below which an axis does not count."""


def swiss_roll(folder: Path, size: Size = FULL) -> None:
    """Unfold a roll from 20 clusters of six methods."""
    data = make_roll(size.points(N_POINTS), random_state=0)
    setting = Setting(size.groups(N_CLUSTERS), 2, n_init=size.repeats(N_RESTARTS))
    rows, maps = [], []
    for found in clusterings(data.X, setting):
        results = [lay_tesserae(data, found, n_components=2)]
        results += [map_clusters(data, found, n_components=2, chart=chart) for chart in CHARTS]
        for row, Y in results:
            row["error of map"] = float(procrustes_error(Y, data.truth))
            rows.append(_beside(row, paper.SWISS_ROLL[found.name]))
            maps.append((f"{found.name}, {row['by']}", row["error of map"], Y))
    write_table(rows, folder / "ldlc_swiss_roll")
    _draw(data, maps, folder / "ldlc_swiss_roll.png")


def mnist_patches(folder: Path, size: Size = FULL) -> None:
    """Map three digits into five dimensions from 19 clusters of six methods."""
    data = digits((3, 6, 9), size.points(3 * N_EACH) // 3, seed=0)
    n_init = size.repeats(MNIST_RESTARTS)
    setting = Setting(size.groups(N_TESSERAE), 5, n_init=n_init)
    rows = []
    for found in clusterings(data.X, setting):
        row, _ = lay_tesserae(data, found, n_components=5)
        row["purity"] = purity(found.labels, data.labels)
        row["NMI"] = normalized_mutual_information(found.labels, data.labels)
        rows.append(_beside(row, paper.MNIST_PATCHES[found.name]))
    write_table(rows, folder / "ldlc_mnist_patches")


def clusterings(X: FloatArray, setting: Setting) -> Iterator[Clustering]:
    """Yield the clusters of all methods; seconds are those of one start."""
    for name, method in METHODS.items():
        found = cluster(name, method(setting), X)
        found = replace(found, seconds=found.seconds / setting.n_init)
        say(f"{name}: {found.seconds:.3f} s a start")
        yield found
    yield affinity_propagation(X, setting.n_clusters)


def affinity_propagation(X: FloatArray, n_clusters: int) -> Clustering:
    """Return clusters of affinity propagation whose preference gives about as many as wanted."""
    # A cluster more shortens squared distances on a surface by about this.
    guess = len(X) * float(X.var(axis=0).sum()) / n_clusters**2
    low, high = guess / RANGE, guess * RANGE
    tried: list[Clustering] = []
    for _ in range(N_TRIES):
        penalty = float(np.sqrt(low * high))
        model = AffinityPropagation(preference=-penalty, damping=0.9, max_iter=500, random_state=0)
        tried.append(cluster("affinity propagation", model, X))
        count = len(np.unique(tried[-1].labels))
        say(f"affinity propagation: {count} clusters in {tried[-1].seconds:.1f} s")
        if count == n_clusters:
            break
        low, high = (penalty, high) if count > n_clusters else (low, penalty)
    return min(tried, key=lambda found: abs(len(np.unique(found.labels)) - n_clusters))


def map_clusters(
    data: Dataset, found: Clustering, *, n_components: int, chart: str
) -> tuple[dict[str, Any], FloatArray]:
    """Unfold the data by IPA from its clusters; return what was measured, and the map."""
    room = LowRankSDP(rank=2 * n_components + 1, max_rank=3 * n_components + 2)
    ipa = IPA(
        n_components=n_components,
        cover=found.labels,
        chart=chart,
        solver=room,
        random_state=0,
        n_jobs=1,
    )
    row, Y = _measure(f"IPA, {chart}", ipa, data, found)
    row["doubts"] = ", ".join(doubt.code for doubt in ipa.diagnosis_.raised) or "none"
    return row, Y


def lay_tesserae(
    data: Dataset, found: Clustering, *, n_components: int
) -> tuple[dict[str, Any], FloatArray]:
    """Unfold the data by TesseraMap from its clusters; return what was measured, and the map."""
    model = TesseraMap(n_components=n_components, cover=found.labels, random_state=0, n_jobs=1)
    row, Y = _measure("TesseraMap", model, data, found)
    row["doubts"] = model.solution_.status.name
    return row, Y


def _measure(
    name: str, model: Any, data: Dataset, found: Clustering
) -> tuple[dict[str, Any], FloatArray]:
    n_components = model.n_components
    with warnings.catch_warnings():
        # What clusters in pieces leave in doubt is what is measured.
        warnings.simplefilter("ignore")
        begin = time.process_time()
        Y = model.fit_transform(data.X)[:, :n_components]
        seconds = time.process_time() - begin
    shares = model.spectrum_ / model.spectrum_.sum()
    graph = build_graph(data.X, n_neighbors=N_NEIGHBORS)
    row = {
        "method": found.name,
        "by": name,
        "clusters": len(np.unique(found.labels)),
        "in pieces": len(nonlocal_clusters(found.labels, graph)),
        "seconds": found.seconds,
        "seconds of the map": seconds,
        "error": float(reconstruction_error(data.X, found.labels, n_components=n_components)),
        "loss": float(shares[n_components:].sum()),
        "rank": int((shares > NEGLIGIBLE).sum()),
        "preservation error": float(preservation_error(data.X, Y, n_neighbors=N_NEIGHBORS)),
        "stretch": float(stretch(data.X, Y, n_neighbors=N_NEIGHBORS)),
    }
    say(str(row))
    return row, Y


def _beside(row: Mapping[str, Any], printed: Mapping[str, float]) -> Row:
    """Return the measures, each with that of the thesis in brackets."""
    return {
        key: f"{value:.3g} ({printed[key]:g})" if key in printed else value
        for key, value in row.items()
    }


def _draw(data: Dataset, maps: list[tuple[str, float, FloatArray]], path: Path) -> None:
    figure, panels = plt.subplots(6, 3, figsize=(13, 16), layout="constrained")
    for axes, (name, error, Y) in zip(panels.flat, maps, strict=True):
        moved = procrustes(Y, data.truth).transform.apply(Y)
        show_map(axes, moved, data.truth[:, 0], f"{name}: error {error:.2g}")
    save(figure, path)
