"""What the experiments on EAT share: training points, peers that place new points, errors."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import Delaunay
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from experiments.harness import say
from experiments.unfolding.tessera_cases import Case, rms_error
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.datasets import Dataset, swiss_roll
from isofold.extension import fit_barycentric
from isofold.linalg import procrustes

__all__ = [
    "Placed",
    "WithWeights",
    "beyond_hull",
    "n_shortcuts",
    "place",
    "quartiles",
    "roll_with_room",
    "sheet_errors",
    "spread_split",
]

LAYER_GAP = 2 * np.pi
"""Distance between two turns of `isofold.datasets.swiss_roll`."""

INNER_ANGLE = 1.5 * np.pi
"""Angle at which it begins."""

SPACING = 0.4
"""Side of the square of sheet that a training point stands for, as a share of the gap between
turns. The five nearest neighbors of a point are then on its own turn, but for few: 50 points on one
turn have no short-cut in 46 of 50 draws, 102 on one and a half in 10 of 10. With 0.5 ten draws
have 9 and 24 of them."""

SHORTCUT = 1.5
"""True distance over straight distance above which a pair is a short-cut."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A map learned from some points, with other points placed on it.

    Attributes
    ----------
    name : str
        Name of the method.
    model : estimator
        The fitted estimator.
    train, test : ndarray of shape (n, n_components)
        The two sets on the map.
    seconds : float
        Processor time of the fit.
    warnings : tuple of str
        What the method warned of, each once.
    """

    name: str
    model: Any
    train: FloatArray
    test: FloatArray
    seconds: float
    warnings: tuple[str, ...]


class WithWeights(BaseEstimator):
    """A method without a map, with the barycentric weights of new points over their neighbors.

    Parameters
    ----------
    estimator : estimator
        The method.
    n_neighbors : int, default=12
        Neighbors that carry a new point.
    """

    def __init__(self, estimator: Any, *, n_neighbors: int = 12) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors

    def fit_transform(self, X: FloatArray) -> FloatArray:
        """Return the map of the points."""
        self.estimator_ = clone(self.estimator)
        embedding = self.estimator_.fit_transform(X)
        self.map_ = fit_barycentric(X, embedding, n_neighbors=self.n_neighbors)
        return embedding

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the places of new points."""
        return self.map_.transform(X)


def place(name: str, model: Any, X: FloatArray, X_new: FloatArray, **pairs: Any) -> Placed:
    """Learn from some points and place others; `pairs` are keywords of `EAT.fit`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.process_time()
        embedding = model.fit_transform(X, **pairs)
        seconds = time.process_time() - begin
        placed = model.transform(X_new)
    words = tuple(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    say("\n  ".join((f"{name}: {seconds:.2f} s", *words)))
    return Placed(name, model, embedding, placed, seconds, words)


def spread_split(data: Dataset, n_train: int) -> Case:
    """Return well spread training points: those next to the centers of as many clusters."""
    centers = KMeans(n_train, n_init=4, random_state=0).fit(data.X).cluster_centers_
    train = np.unique(pairwise_distances_argmin(centers, data.X))
    return Case(data, train, np.setdiff1d(np.arange(len(data.X)), train))


def roll_with_room(
    n_samples: int, *, n_train: int, turns: float, seed: int, noise: float = 0.0
) -> Dataset:
    """Return a Swiss roll as wide as `n_train` points can cover without short-cuts."""
    ends = INNER_ANGLE + np.array([0.0, 2 * np.pi * turns])
    length = float(np.diff((ends * np.sqrt(1 + ends**2) + np.arcsinh(ends)) / 2)[0])
    width = n_train * (SPACING * LAYER_GAP) ** 2 / length
    return swiss_roll(
        n_samples, width=width, turns=turns, uniform=True, noise=noise, random_state=seed
    )


def n_shortcuts(X: FloatArray, truth: FloatArray, pairs: IntArray) -> int:
    """Return how many pairs are much farther apart on the sheet than in space."""
    straight, along = (
        np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) for points in (X, truth)
    )
    return int(np.sum(along > SHORTCUT * straight))


def beyond_hull(case: Case) -> BoolArray:
    """Return which test points lie outside of the training points, on the true sheet."""
    return Delaunay(case.truth).find_simplex(case.new_truth) < 0


def sheet_errors(placed: Placed, case: Case) -> dict[str, float]:
    """Return rms errors against the true sheet, as shares of its spread.

    The rigid motion is that of the training points, so that test points cannot hide behind it.
    """
    motion = procrustes(placed.train, case.truth).transform
    new, rim = motion.apply(placed.test), beyond_hull(case)
    spread = float(np.sqrt(case.new_truth.var(axis=0).sum()))
    off = np.linalg.norm(new - case.new_truth, axis=1) / spread
    return {
        "training": rms_error(motion.apply(placed.train), case.truth),
        "test": float(np.sqrt(np.mean(off**2))),
        "border": float(np.sqrt(np.mean(off[rim] ** 2))),
    }


def quartiles(values: Iterable[float]) -> str:
    """Return the median of some values and their quartiles."""
    low, middle, high = np.percentile(np.fromiter(values, float), (25, 50, 75))
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"
