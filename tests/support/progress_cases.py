"""Small fits of every estimator, for tests of progress and interruption."""

from __future__ import annotations

import warnings

import numpy as np

from isofold import (
    EAT,
    IPA,
    LDLC,
    MPPCA,
    MVU,
    PLML,
    VQPCA,
    ColoredMVU,
    Cover,
    DisjointMVU,
    FastMVU,
    GeodesicKMedoids,
    KernelLaplacianEigenmaps,
    LandmarkMVU,
    LocalMDS,
    LocalSubspaceClassifier,
    NeighborMap,
    OutOfSample,
    TesseraMap,
    TwinKernelEmbedding,
    Unfold,
)
from isofold.sdp import LowRankSDP, Soft


def half_pipe(n, seed=0):
    """Return a sheet, bent to half a pipe."""
    rng = np.random.RandomState(seed)
    angle, along = np.pi * rng.rand(n), 4.0 * rng.rand(n)
    return np.column_stack([np.cos(angle), np.sin(angle), along])


X = half_pipe(160)
SIDE = X[:, 0] > 0

SHORT = LowRankSDP(rank=6, max_iter=2)

EMBEDDERS = {
    "IPA": IPA(random_state=0),
    "MVU": MVU(n_neighbors=8, solver=SHORT, random_state=0),
    "LandmarkMVU": LandmarkMVU(n_landmarks=20, random_state=0),
    "FastMVU": FastMVU(n_functions=5, lengths=Soft(4.0), random_state=0),
    "ColoredMVU": ColoredMVU(n_neighbors=5, solver=SHORT, random_state=0),
    "DisjointMVU": DisjointMVU(n_neighbors=8, solver=SHORT, random_state=0),
    "EAT": EAT(),
    "TesseraMap": TesseraMap(cover=Cover.clusters("kmeans", 12), random_state=0),
    "PLML": PLML(refine=True, random_state=0),
    "LocalMDS": LocalMDS(random_state=0),
    "NeighborMap": NeighborMap(random_state=0),
    "KernelLaplacianEigenmaps": KernelLaplacianEigenmaps(),
    "TwinKernelEmbedding": TwinKernelEmbedding(random_state=0),
    "OutOfSample": OutOfSample(IPA(), n_neighbors="auto", random_state=0),
    "Unfold": Unfold(random_state=0),
}
CLUSTERERS = {
    "LDLC": LDLC(n_clusters=6, random_state=0),
    "VQPCA": VQPCA(n_clusters=6, random_state=0),
    "MPPCA": MPPCA(n_clusters=6, random_state=0),
    "GeodesicKMedoids": GeodesicKMedoids(n_clusters=6, random_state=0),
}
OTHERS = {"LocalSubspaceClassifier": LocalSubspaceClassifier(random_state=0)}

FEW = {"EAT": 60, "ColoredMVU": 80}
"""Samples of methods that would take long."""


def fit(name, estimator, n=None):
    """Fit an estimator to its data; what it warns of is not asked here."""
    rows = slice(0, n or FEW.get(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X[rows], SIDE[rows])


def result_of(estimator):
    """Return what a fit has come to."""
    return estimator.embedding_ if hasattr(estimator, "embedding_") else estimator.labels_


def attributes_of(estimator):
    """Return the names of fitted attributes."""
    return {name for name in vars(estimator) if name.endswith("_")}
