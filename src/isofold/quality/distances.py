"""Rows of the distance matrix, made when needed and never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.distance import cdist

from isofold._errors import InvalidInputError
from isofold._parallel import ordered_map
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_points, check_same_rows
from isofold.quality.score import RowSample, draw_rows

MAX_DIRECT_FEATURES = 12
"""Up to here coordinate differences are as fast as a matrix product and exact to the last bit."""
CACHE_BYTES = 2 * 2**20
"""Blocks of coordinate differences are limited by memory speed: keep them in cache."""
PRODUCT_BYTES = 48 * 2**20
"""Blocks of matrix products want many rows, so that the data are streamed rarely."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class DistanceRows:
    """Squared distances from some points to all points.

    Parameters
    ----------
    n_points : int
        Number of points.
    block_rows : int
        How many rows to ask for at a time.
    squared : callable
        Maps row indices to an array of shape (len(rows), n_points) that the caller owns.
    points : ndarray of shape (n_points, n_features), optional
        The points themselves, where there are any.
    """

    n_points: int
    block_rows: int
    squared: Callable[[IntArray], FloatArray]
    points: FloatArray | None = None

    def others(self, rows: IntArray) -> FloatArray:
        """Squared distances with the point itself marked −1, so that it always comes first."""
        squared = self.squared(rows)
        squared[np.arange(len(rows)), rows] = -1.0
        return squared


def euclidean_rows(X: FloatArray) -> DistanceRows:
    """Rows of squared Euclidean distances, in double precision whatever the input's."""
    n_points, n_features = X.shape
    if n_features <= MAX_DIRECT_FEATURES:
        points = np.ascontiguousarray(X, dtype=np.float64)
        block_rows = max(1, CACHE_BYTES // (8 * n_points))
        return DistanceRows(
            n_points, block_rows, lambda rows: cdist(points[rows], points, "sqeuclidean"), X
        )
    centered = X.astype(np.float64)
    centered -= _origin(centered)
    norms = np.einsum("ij,ij->i", centered, centered)
    block_rows = max(1, PRODUCT_BYTES // (8 * n_points))
    return DistanceRows(n_points, block_rows, lambda rows: _by_products(centered, norms, rows), X)


def precomputed_rows(D: Any) -> DistanceRows:
    """Rows of a given square matrix of distances."""
    D = check_points(D, name="X")
    if D.shape[0] != D.shape[1] or (D < 0).any():
        msg = (
            f'With metric="precomputed" X must be a square matrix of distances >= 0; got shape '
            f"{D.shape} with smallest entry {D.min():.3g}. Pass distances between all samples, "
            f'or the points themselves with metric="euclidean".'
        )
        raise InvalidInputError(msg)
    block_rows = max(1, CACHE_BYTES // (8 * len(D)))
    return DistanceRows(len(D), block_rows, lambda rows: np.square(D[rows], dtype=np.float64))


def distance_rows(X: Any, *, metric: str) -> DistanceRows:
    """Choose the rows that `metric` means: ``"euclidean"`` or ``"precomputed"``."""
    if metric == "euclidean":
        return euclidean_rows(check_points(X))
    if metric == "precomputed":
        return precomputed_rows(X)
    msg = f"metric={metric!r} is not known here; use 'euclidean' or 'precomputed'."
    raise InvalidInputError(msg)


@dataclass(frozen=True)
class Comparison:
    """Two tables of the same points, and where they are to be compared.

    Parameters
    ----------
    input, embedding : DistanceRows
        Distances between the points before and after.
    embedded_points : ndarray of shape (n_points, n_components)
        The points after.
    sample : RowSample
        The points at which measures are evaluated.
    n_jobs : int or None
        How many threads to use.
    """

    input: DistanceRows
    embedding: DistanceRows
    embedded_points: FloatArray
    sample: RowSample
    n_jobs: int | None

    def map_blocks(self, function: Callable[[IntArray], Result]) -> Iterator[Result]:
        """Apply a function to blocks of evaluated rows in parallel; yield results in order.

        The blocks do not depend on the number of jobs, so neither do the results.
        """
        rows, size = self.sample.indices, min(self.input.block_rows, self.embedding.block_rows)
        blocks = (rows[start : start + size] for start in range(0, len(rows), size))
        return ordered_map(function, blocks, n_jobs=self.n_jobs)


def compare(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Validate two tables of the same points and prepare them for comparison.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points before, or their distances with ``metric="precomputed"``.
    Y : array-like of shape (n_points, n_components)
        The points after.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    n_samples : int, optional
        Evaluate at so many random points instead of at all.
    random_state : int, RandomState or None, default=None
        Source of the draw.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    Comparison
        Distances before and after, and where to look.
    """
    before = distance_rows(X, metric=metric)
    Y = check_points(Y, name="Y")
    after = euclidean_rows(Y)
    check_same_rows(before.n_points, after.n_points)
    sample = draw_rows(len(Y), n_samples, random_state)
    return Comparison(before, after, Y, sample, n_jobs)


def nearest(distances: FloatArray, k: int) -> IntArray:
    """Return the k nearest in one row of :meth:`DistanceRows.others`, ties by index."""
    # The point itself holds −1 and comes first. Everything up to the k-th distance is taken and
    # sorted stably, so that ties are broken by index even across the border.
    within = np.flatnonzero(distances <= np.partition(distances, k)[k])
    return within[np.argsort(distances[within], kind="stable")][1 : k + 1]


def _by_products(centered: FloatArray, norms: FloatArray, rows: IntArray) -> FloatArray:
    # ‖x − y‖² = ‖x‖² − 2x·y + ‖y‖²; centering keeps the cancellation harmless.
    squared = centered[rows] @ centered.T
    squared *= -2.0
    squared += norms
    squared += norms[rows, None]
    return np.maximum(squared, 0.0, out=squared)


def _origin(X: FloatArray) -> FloatArray:
    # Integer data (pixels, counts) have exact ties. Moving them by a whole number keeps the
    # products exact, so that ties stay ties and are broken by index, not by rounding.
    mean = X.mean(axis=0)
    integral = np.array_equal(X[0], np.rint(X[0])) and np.array_equal(X, np.rint(X))
    return np.asarray(np.rint(mean) if integral else mean)
