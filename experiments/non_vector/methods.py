"""The methods, with their default settings, each with the matrix that it asks for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.manifold import ClassicalMDS, SpectralEmbedding

from experiments.non_vector.cases import Comparison, Similarity
from isofold import (
    EAT,
    IPA,
    MVU,
    KernelLaplacianEigenmaps,
    LocalMDS,
    NeighborMap,
    TwinKernelEmbedding,
)
from isofold._typing import FloatArray, IntArray
from isofold.similarity import ObjectKernel, distances_from_kernel, kernel_from_distances

__all__ = ["METHODS", "Matrices", "Method", "Placed", "on_matrices", "on_objects"]

SEED = 0


@dataclass(frozen=True, eq=False)
class Matrices:
    """What a similarity says of all pairs.

    Attributes
    ----------
    kernel, distances : ndarray of shape (n_objects, n_objects)
        One is given, the other one made of it: d² = k_ii + k_jj − 2k_ij, or k = exp(−d²/2m²) with m
        the median distance.
    seconds : float
        Processor time of the comparison.
    is_kernel : bool
        Whether the similarity is a kernel; else it is a distance.
    """

    kernel: FloatArray
    distances: FloatArray
    seconds: float
    is_kernel: bool

    @staticmethod
    def of(comparison: Comparison) -> Matrices:
        """Compare all objects."""
        begin = time.process_time()
        M = comparison.similarity(comparison.objects)
        seconds = time.process_time() - begin
        if isinstance(comparison.similarity, ObjectKernel):
            return Matrices(M, distances_from_kernel(M), seconds, is_kernel=True)
        return Matrices(np.asarray(kernel_from_distances(M)), M, seconds, is_kernel=False)

    def among(self, rows: IntArray, columns: IntArray, *, by_kernel: bool) -> FloatArray:
        """Return a part of the kernel or of the distances."""
        return (self.kernel if by_kernel else self.distances)[np.ix_(rows, columns)]


@dataclass(frozen=True)
class Method:
    """A method, and what it asks for.

    Attributes
    ----------
    build : callable
        Makes the estimator of the parameters ``kernel=...`` or ``metric=...``.
    only : {"kernel", "metric"} or None
        What it takes if it does not take both, kernels and distances.
    takes_objects : bool
        Whether it takes objects as they are.
    """

    build: Callable[..., Any]
    only: str | None = None
    takes_objects: bool = True

    def by_kernel(self, *, is_kernel: bool) -> bool:
        """Return whether the method gets kernel values, for a similarity that is one or not."""
        return is_kernel if self.only is None else self.only == "kernel"


@dataclass(frozen=True, eq=False)
class Placed:
    """A map, and objects that were placed on it.

    Attributes
    ----------
    embedding : ndarray of shape (n_objects, n_components)
        The map.
    new : ndarray of shape (n_new, n_components) or None
        The places of the others; None if there are none or the method has no `transform`.
    seconds : float
        Processor time of the fit.
    """

    embedding: FloatArray
    new: FloatArray | None
    seconds: float


def _twin(**options: Any) -> Any:
    return TwinKernelEmbedding(random_state=SEED, **options)


def _back_constrained(**options: Any) -> Any:
    return TwinKernelEmbedding(back_constraint="kernel", random_state=SEED, **options)


def _kernel_pca(kernel: str) -> Any:
    return KernelPCA(n_components=2, kernel=kernel, eigen_solver="dense")


def _spectral(kernel: str) -> Any:
    return SpectralEmbedding(affinity=kernel, random_state=SEED)


def _classical_mds(metric: str) -> Any:
    return ClassicalMDS(n_components=2, metric=metric)


def _seeded(build: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **options: build(random_state=SEED, **options)


METHODS: Mapping[str, Method] = {
    "KLE": Method(KernelLaplacianEigenmaps, only="kernel"),
    "TKE": Method(_twin, only="kernel"),
    "TKE, back-constrained": Method(_back_constrained, only="kernel"),
    "MVU": Method(_seeded(MVU)),
    "EAT": Method(_seeded(EAT)),
    "LocalMDS": Method(_seeded(LocalMDS)),
    "NeighborMap": Method(_seeded(NeighborMap)),
    "IPA": Method(_seeded(IPA)),
    "kernel PCA": Method(_kernel_pca, only="kernel", takes_objects=False),
    "spectral embedding": Method(_spectral, only="kernel", takes_objects=False),
    "classical MDS": Method(_classical_mds, only="metric", takes_objects=False),
}


def on_matrices(
    method: Method, matrices: Matrices, rows: IntArray, others: IntArray | None = None
) -> Placed:
    """Fit a method to the matrix of some objects, and place others by their rows."""
    by_kernel = method.by_kernel(is_kernel=matrices.is_kernel)
    model = method.build(**{"kernel" if by_kernel else "metric": "precomputed"})
    inside = matrices.among(rows, rows, by_kernel=by_kernel)
    outside = None
    if others is not None and hasattr(model, "transform"):
        outside = matrices.among(others, rows, by_kernel=by_kernel)
    return _placed(model, inside, outside)


def on_objects(method: Method, similarity: Similarity, objects: Any, others: Any = None) -> Placed:
    """Fit a method to objects as they are, and place others."""
    name = "kernel" if isinstance(similarity, ObjectKernel) else "metric"
    return _placed(method.build(**{name: similarity}), objects, others)


def _placed(model: Any, X: Any, others: Any) -> Placed:
    with warnings.catch_warnings():
        # Doubts are on the page and in `diagnosis_`; the tables say what became of the maps.
        warnings.simplefilter("ignore")
        begin = time.process_time()
        embedding = model.fit_transform(X)
        seconds = time.process_time() - begin
        return Placed(embedding, None if others is None else model.transform(others), seconds)
