"""Flat clusters in one piece: LDLC beside affinity propagation, k-means and its companions.

A Swiss roll is cut into clusters of dimension two; one start of each method unless it says more.
Errors are squared distances from the flats of the clusters, in the mean; *in pieces* counts
clusters that are not connected along the graph of 8 neighbors. Then LDLC alone, from a thousand to
a hundred thousand points.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.cluster import AffinityPropagation, KMeans

from benchmarks.harness import Case
from isofold import LDLC, MPPCA, VQPCA, GeodesicKMedoids
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph
from isofold.quality import nonlocal_clusters, reconstruction_error

SIZES = (1_000, 3_162, 10_000, 31_623, 100_000)


def _roll(n: int) -> FloatArray:
    return swiss_roll(n, random_state=0).X


def _cluster(model: Any, X: FloatArray) -> dict[str, Any]:
    """Fit a clusterer; what is told of its clusters takes little of the time."""
    with warnings.catch_warnings():
        # Affinity propagation may not have converged: the figures show what it found.
        warnings.simplefilter("ignore")
        labels = model.fit_predict(X)
    return {
        "clusters": len(np.unique(labels)),
        "error": float(reconstruction_error(X, labels, n_components=2)),
        "in_pieces": len(nonlocal_clusters(labels, build_graph(X, n_neighbors=8))),
    }


def _by_affinity(X: FloatArray) -> dict[str, Any]:
    # The least similarity as preference gives about twenty clusters; the median over fifty.
    least = -np.square(X[:, None] - X[None]).sum(axis=2).max()
    model = AffinityPropagation(damping=0.9, preference=least, max_iter=1000, random_state=0)
    return _cluster(model, X)


CASES = [
    Case("20 clusters, n = 2,000", name, partial(_roll, 2_000), run, repeats=3)
    for name, run in (
        (
            "isofold LDLC",
            partial(_cluster, LDLC(n_clusters=20, rho=0.01, n_init=1, random_state=0)),
        ),
        (
            "isofold LDLC, rho auto, 3 starts",
            partial(_cluster, LDLC(n_clusters=20, random_state=0)),
        ),
        ("isofold VQPCA", partial(_cluster, VQPCA(n_clusters=20, n_init=1, random_state=0))),
        (
            "isofold GeodesicKMedoids",
            partial(_cluster, GeodesicKMedoids(n_clusters=20, n_init=1, random_state=0)),
        ),
        ("isofold MPPCA", partial(_cluster, MPPCA(n_clusters=20, n_init=1, random_state=0))),
        ("scikit-learn AffinityPropagation", _by_affinity),
        ("scikit-learn KMeans", partial(_cluster, KMeans(20, n_init=1, random_state=0))),
    )
]
CASES += [
    Case(
        "50 clusters, more and more points",
        f"isofold LDLC, n = {n:,}",
        partial(_roll, n),
        partial(_cluster, LDLC(n_clusters=50, rho=0.01, n_init=1, random_state=0)),
    )
    for n in SIZES
]
CASES += [
    Case("200 clusters, n = 100,000", name, partial(_roll, 100_000), partial(_cluster, model))
    for name, model in (
        ("isofold LDLC", LDLC(n_clusters=200, rho=0.01, n_init=1, random_state=0)),
        ("isofold GeodesicKMedoids", GeodesicKMedoids(n_clusters=200, n_init=1, random_state=0)),
        ("scikit-learn KMeans", KMeans(200, n_init=1, random_state=0)),
    )
]
