"""The methods of the tables, by the number of neighbors or by the size of the pieces."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.manifold import SpectralEmbedding

from experiments import peers
from experiments.harness import say
from isofold import PLML
from isofold._typing import FloatArray

__all__ = ["THESIS", "Attempt", "attempt", "kernel_pca", "laplacian", "plml"]

Make = Callable[[int], Any]


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of a method.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components) or None
        The map, None if there is none.
    model : estimator
        The method.
    trouble : tuple of str
        Kinds of warnings and errors.
    """

    embedding: FloatArray | None
    model: Any
    trouble: tuple[str, ...]


def plml(cell_size: int | str = "auto", **options: Any) -> PLML:
    """Return PLML on one core."""
    return PLML(cell_size=cell_size, **{"random_state": 0, "n_jobs": 1, **options})


def laplacian(n_neighbors: int) -> SpectralEmbedding:
    """Return Laplacian eigenmaps."""
    return SpectralEmbedding(affinity="nearest_neighbors", n_neighbors=n_neighbors, random_state=0)


def kernel_pca(X: FloatArray) -> KernelPCA:
    """Return kernel PCA with a Gaussian as wide as the data, since the paper names no width."""
    gamma = 1.0 / (2.0 * X.var(axis=0).sum())
    return KernelPCA(
        n_components=2, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=0
    )


def attempt(model: Any, X: FloatArray) -> Attempt:
    """Fit a method and survive what it does."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            Y = model.fit_transform(X)
        except (ValueError, ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:
            say(f"{model}: {type(error).__name__}: {error}")
            return Attempt(None, model, (type(error).__name__,))
    kinds = tuple(dict.fromkeys(warning.category.__name__ for warning in caught))
    return Attempt(Y if np.isfinite(Y).all() else None, model, kinds)


THESIS: Mapping[str, Make] = {
    "Isomap": peers.isomap,
    "LLE": peers.lle,
    "LTSA": peers.ltsa,
    "PLML": plml,
}
"""Methods of Tables 4.1 and 4.2 that have a k; PCA has none."""
