"""What the experiments share: extensions by name, the thesis's protocol, a fixed map."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.extension import PointMap, fit_barycentric, fit_goose, fit_kernel_ridge
from isofold.linalg import procrustes

__all__ = [
    "GOOSES",
    "GOOSE_NEIGHBORS",
    "RIVALS",
    "SCALINGS",
    "Embedding",
    "Fit",
    "embed",
    "folds",
    "mean_and_sd",
    "move_onto",
    "outside_hull",
    "quartiles",
    "random_split",
    "rms",
    "spread",
    "yang",
]

Fit = Callable[[FloatArray, FloatArray], PointMap]
"""Takes points and their map."""

SCALINGS = ("range", "isotropic", "least_squares")
GOOSE_NEIGHBORS = 10
YANG_WIDTH, YANG_RIDGE = 10.0, 1e-4


def yang(width: float = YANG_WIDTH) -> Fit:
    """Return Yang's kernel ridge regression with a Gaussian of some width."""
    return partial(fit_kernel_ridge, gamma=width**-2, ridge=YANG_RIDGE)


@dataclass(frozen=True)
class Embedding:
    """A method that embeds points.

    Attributes
    ----------
    make : callable
        Returns the estimator.
    is_normalized : bool
        Whether its coordinates are eigenvectors of length one.
    """

    make: Callable[[], Any]
    is_normalized: bool = False


GOOSES: Mapping[str, Fit] = {
    "GOoSE, thesis": partial(
        fit_goose, n_neighbors=GOOSE_NEIGHBORS, scaling="range", interpolate=False
    ),
    **{
        f"GOoSE, {name.replace('_', ' ')}": partial(
            fit_goose, n_neighbors=GOOSE_NEIGHBORS, scaling=name
        )
        for name in SCALINGS
    },
}
"""The thesis's map has plain means of the neighbors; isofold's passes through training points."""

RIVALS: Mapping[str, Fit] = {"Yang": yang(), "barycentric": fit_barycentric}


def folds(n: int, n_folds: int, *, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the rows to learn from and those to place, each row placed once."""
    for test in np.array_split(np.random.RandomState(seed).permutation(n), n_folds):
        yield np.setdiff1d(np.arange(n), test), np.sort(test)


def random_split(n: int, n_train: int, *, seed: int) -> tuple[IntArray, IntArray]:
    """Return rows to learn from and the others."""
    order = np.random.RandomState(seed).permutation(n)
    return np.sort(order[:n_train]), np.sort(order[n_train:])


def embed(model: Any, X: FloatArray, *, unit_covariance: bool = False) -> FloatArray:
    """Return a map; what the method warns of is not the subject here.

    Eigenvectors of length one shrink when points are added. Scaled to unit covariance, maps of
    some points and of all have the same unit.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = np.asarray(model.fit_transform(X))
    return Y * np.sqrt(len(Y)) if unit_covariance else Y


def move_onto(alone: FloatArray, among_all: FloatArray, placed: FloatArray) -> FloatArray:
    """Return placed points after the motion of the map of some points onto the map of all."""
    return procrustes(alone, among_all).transform.apply(placed)


def rms(placed: FloatArray, expected: FloatArray) -> float:
    """Return the root mean squared distance (equation 5.13), without any motion."""
    return float(np.sqrt(np.mean(np.sum((placed - expected) ** 2, axis=1))))


def spread(Y: FloatArray) -> float:
    """Return the root mean squared distance from the mean."""
    return float(np.sqrt(Y.var(axis=0).sum()))


def outside_hull(flat: FloatArray, new: FloatArray) -> BoolArray:
    """Return which new points lie outside of the convex hull of others, on the flat sheet."""
    return Delaunay(flat).find_simplex(new) < 0


def mean_and_sd(values: Any) -> str:
    """Return mean and standard deviation, as the thesis prints them."""
    values = np.asarray(values)
    return f"{values.mean():.3g} ± {values.std():.2g}"


def quartiles(values: Any) -> str:
    """Return the median of some values and their quartiles."""
    low, middle, high = np.percentile(values, (25, 50, 75))
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"
