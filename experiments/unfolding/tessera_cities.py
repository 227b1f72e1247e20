"""Cities of Europe, Asia and Africa: 15,000 to learn from, 30,000 to place (Figure 3.4).

No map of a globe keeps all distances. Beside the maps stand two of cartographers, around the middle
of the cities: the view from far away, which is what PCA gives, and Lambert's, which keeps areas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA

from experiments.harness import FULL, Size, write_table
from experiments.pictures import save, show_map
from experiments.unfolding.paper_tessera import TABLE_3_1, printed_time
from experiments.unfolding.tessera_cases import Case, Placed, describe_sdp, place, split
from isofold import FastMVU, TesseraMap
from isofold._typing import FloatArray
from isofold.datasets import Dataset, load_world_cities
from isofold.linalg import procrustes
from isofold.neighbors import Bridged
from isofold.quality import local_isometry
from isofold.sdp import Soft

__all__ = ["Lambert", "arc_error", "cities", "old_world"]

CITIES = "cities"
CONTINENTS = ("Africa", "Asia", "Europe")
MIN_POPULATION = 500
SIGMA = 1.0
N_TESSERAE = 84
N_ARCS = 2000
"""Cities whose distances on the globe are compared with those on the map."""


class Lambert(TransformerMixin, BaseEstimator):
    """Lambert's azimuthal map of equal areas, around the middle of the points."""

    def fit(self, X: FloatArray, y: None = None) -> Lambert:
        """Find the middle."""
        del y
        middle = X.mean(axis=0)
        self.middle_ = middle / np.linalg.norm(middle)
        self.axes_ = np.linalg.svd(self.middle_[None])[2][1:]
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the places of points."""
        return X @ self.axes_.T * np.sqrt(2 / (1 + X @ self.middle_))[:, None]


def by_kmeans(n_clusters: int) -> TesseraMap:
    """Return TesseraMap with clusters of k-means."""
    return TesseraMap(cover=("kmeans", n_clusters), random_state=0)


def _methods(n_tesserae: int) -> Mapping[str, Callable[[], Any]]:
    return {
        "TesseraMap, sigma = 1": lambda: TesseraMap(gamma=SIGMA**-2, random_state=0),
        "TesseraMap": lambda: TesseraMap(random_state=0),
        f"TesseraMap, {n_tesserae} of k-means": lambda: by_kmeans(n_tesserae),
        "Fast MVU, not refined": lambda: FastMVU(
            graph=Bridged(), lengths=Soft(4.0), random_state=0
        ),
        "Lambert": Lambert,
        "PCA": lambda: PCA(2),
    }


def cities(folder: Path, size: Size = FULL) -> None:
    """Map the cities, and measure distances against those on the globe."""
    printed = TABLE_3_1[CITIES]
    case = split(old_world(), size.points(printed.n_train), size.points(printed.n_test))
    methods = _methods(size.groups(N_TESSERAE))
    placed = [place(name, make, case) for name, make in methods.items()]
    write_table([_row(one, case) for one in placed], folder / "tessera_cities")
    _draw(case, placed, folder / "tessera_cities.png")


def old_world() -> Dataset:
    """Return the cities of Europe, Asia and Africa, each place once."""
    world = load_world_cities(min_population=MIN_POPULATION)
    numbers = [world.target_names.index(name) for name in CONTINENTS]
    wanted = np.flatnonzero(np.isin(world.labels, numbers))
    _, first = np.unique(world.truth[wanted], axis=0, return_index=True)
    rows = wanted[np.sort(first)]
    return Dataset(
        "old_world",
        world.X[rows],
        world.truth[rows],
        labels=world.labels[rows],
        target_names=world.target_names,
    )


def arc_error(X: FloatArray, Y: FloatArray) -> float:
    """Return the error of distances on the map against arcs, root of their mean square ratio."""
    rows = np.random.RandomState(0).choice(len(X), min(N_ARCS, len(X)), replace=False)
    arcs = 2 * np.arcsin(np.clip(pdist(X[rows]) / 2, 0, 1))
    lengths = pdist(Y[rows])
    return float(np.sqrt(np.sum((lengths - arcs) ** 2) / np.sum(arcs**2)))


def _row(placed: Placed, case: Case) -> dict[str, Any]:
    labels = getattr(placed.model, "labels_", None)
    sides = {
        "": (case.points, placed.places),
        " of test points": (case.new_points, placed.new_places),
    }
    near = {
        side: local_isometry(*pair, n_samples=min(N_ARCS, len(pair[0])), random_state=0)
        for side, pair in sides.items()
    }
    return {
        "method": placed.name,
        "tesserae": "-" if labels is None else int(labels.max()) + 1,
        **{f"error of arcs{side}": arc_error(*pair) for side, pair in sides.items()},
        **{f"median error of neighbors{side}": float(one.median) for side, one in near.items()},
        **{f"95 %{side}": float(one.p95) for side, one in near.items()},
        "processor seconds": placed.outcome.seconds,
        "seconds": placed.elapsed,
        "thesis": printed_time(CITIES, placed.name),
        "seconds of test points": placed.elapsed_new,
        "solution": describe_sdp([placed.model]) or "-",
    }


def _draw(case: Case, placed: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(
        len(placed), 3, figsize=(16, 5 * len(placed)), layout="constrained", squeeze=False
    )
    upright = Lambert().fit_transform(case.points)
    for row, one in zip(panels, placed, strict=True):
        motion = procrustes(one.places, upright).transform
        Y, new = motion.apply(one.places), motion.apply(one.new_places)
        title = f"{one.name}: {len(Y)} training points, {one.elapsed:.1f} s"
        labels = getattr(one.model, "labels_", None)
        color = case.data.labels[case.train] if labels is None else labels % 20
        show_map(row[0], Y, color, title, s=0.8, cmap="tab20")
        show_map(row[1], Y, case.truth[:, 1], "by latitude", s=0.8)
        title = f"{len(new)} test points, {one.elapsed_new:.1f} s"
        show_map(row[2], new, case.new_truth[:, 1], title, s=0.8)
    save(figure, path)
