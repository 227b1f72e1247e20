"""The clusterers that the thesis compares, each with random seeds as there."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from isofold import LDLC, MPPCA, VQPCA, GeodesicKMedoids
from isofold._typing import FloatArray, IntArray
from isofold.neighbors import NeighborGraph
from isofold.neighbors.spanning import component_labels

__all__ = [
    "N_RESTARTS",
    "Clustering",
    "Ready",
    "Setting",
    "cluster",
    "kmeans",
    "ldlc",
    "medoids",
    "mppca",
    "n_astray",
    "single_starts",
    "spread",
    "vqpca",
]

N_RESTARTS = 100
"""Restarts of the thesis."""


@dataclass(frozen=True)
class Setting:
    """What a clusterer is asked for.

    Attributes
    ----------
    n_clusters, n_components, n_neighbors : int
        c, r and k of the thesis.
    n_init : int
        Number of restarts.
    seed : int
        Seed.
    """

    n_clusters: int
    n_components: int
    n_neighbors: int = 8
    n_init: int = N_RESTARTS
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of a method.

    Attributes
    ----------
    name : str
        Name of the method.
    model : estimator
        The fitted clusterer.
    labels : ndarray of int of shape (n_samples,)
        The clusters.
    seconds : float
        Processor time of the fit.
    """

    name: str
    model: Any
    labels: IntArray
    seconds: float


class Ready(BaseEstimator):
    """A clusterer that has done its work: it gives points the labels that they have already.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        All points; those to be clustered are some of them.
    labels : ndarray of int of shape (n_samples,)
        Their clusters.
    """

    def __init__(self, X: FloatArray, labels: IntArray) -> None:
        self.X = X
        self.labels = labels

    def fit_predict(self, X: FloatArray) -> IntArray:
        """Return the labels."""
        return self.predict(X)

    def predict(self, X: FloatArray) -> IntArray:
        """Return the labels."""
        return self.labels[cKDTree(self.X).query(X)[1]]


def cluster(name: str, model: Any, X: FloatArray) -> Clustering:
    """Fit a clusterer and record its processor time."""
    with warnings.catch_warnings():
        # Single starts that are stopped early are part of the comparison.
        warnings.simplefilter("ignore")
        begin = time.process_time()
        labels = model.fit_predict(X)
        seconds = time.process_time() - begin
    return Clustering(name, model, labels, seconds)


def single_starts(
    make: Callable[[Setting], Any], setting: Setting, X: FloatArray
) -> list[Clustering]:
    """Fit every restart by itself, so that all of them can be told apart."""
    seeds = np.random.RandomState(setting.seed).randint(2**31 - 1, size=setting.n_init)
    return [cluster("", make(replace(setting, n_init=1, seed=int(seed))), X) for seed in seeds]


def n_astray(labels: IntArray, graph: NeighborGraph) -> int:
    """Return how many points are not in the largest piece of their cluster."""
    own = labels[graph.sample_of_node]
    within = graph.edges[own[graph.edges[:, 0]] == own[graph.edges[:, 1]]]
    pieces = component_labels(graph.n_nodes, within)
    sizes = np.bincount(pieces)[pieces]
    largest = np.zeros(own.max() + 1, dtype=np.intp)
    np.maximum.at(largest, own, sizes)
    return len(own) - int(largest.sum())


def ldlc(setting: Setting, rho: Any = 0.01) -> LDLC:
    """Return LDLC."""
    return LDLC(rho=rho, n_neighbors=setting.n_neighbors, **_shared(setting))


def medoids(setting: Setting) -> GeodesicKMedoids:
    """Return k-medoids with geodesic distances."""
    return GeodesicKMedoids(n_neighbors=setting.n_neighbors, **_shared(setting))


def vqpca(setting: Setting) -> VQPCA:
    """Return VQPCA."""
    return VQPCA(**_shared(setting))


def mppca(setting: Setting) -> MPPCA:
    """Return the mixture of probabilistic PCA."""
    return MPPCA(**_shared(setting))


def kmeans(setting: Setting) -> KMeans:
    """Return k-means."""
    return KMeans(
        setting.n_clusters, init="random", n_init=setting.n_init, random_state=setting.seed
    )


def _shared(setting: Setting) -> dict[str, Any]:
    return {
        "n_clusters": setting.n_clusters,
        "n_components": setting.n_components,
        "n_init": setting.n_init,
        "init": "random",
        "random_state": setting.seed,
        "n_jobs": 1,
    }


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Return the mean of some values and their range."""
    table = np.fromiter(values, float)
    mean, low, high = (f"{value:.{digits}g}" for value in (table.mean(), table.min(), table.max()))
    return mean if low == high else f"{mean} ({low} to {high})"
