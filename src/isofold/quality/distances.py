"""Rows of the distance matrix, made when needed and never all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.distance import cdist

from isofold._parallel import RowTeam, ordered_map
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_points, check_same_rows, check_units
from isofold.neighbors.precomputed import check_distances
from isofold.neighbors.search.build import METRICS
from isofold.quality import _pairs
from isofold.quality.score import RowSample, draw_rows

MAX_DIRECT_FEATURES = 12
"""Up to here coordinate differences are as fast as a matrix product, and exact."""
DIRECT_BYTES = 2**19
"""Blocks of coordinate differences are limited by memory speed: they stay in cache, and below the
size at which the allocator asks the system for fresh pages every time (half of the whole time)."""
PRODUCT_BYTES = 48 * 2**20
"""Blocks of matrix products want many rows, so that the data are streamed rarely."""
TASK_BYTES = 16 * 2**20
"""Small blocks are handed to a thread many at a time, or handing over would cost more than they."""
CANCELLED = 1e-4
"""Below this fraction of ‖x‖² + ‖y‖² a squared distance from products is computed again: it has
lost four digits, and copies of a point would not be at distance zero."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class DistanceRows:
    """Squared distances from some points to all points.

    Parameters
    ----------
    n_points : int
        Number of points.
    block_bytes : int
        How large a block of rows should be.
    squared : callable
        Maps row indices to an array of shape (len(rows), n_points) that the caller owns.
    points : ndarray of shape (n_points, n_features), optional
        The points themselves, where there are any.
    """

    n_points: int
    block_bytes: int
    squared: Callable[[IntArray], FloatArray]
    points: FloatArray | None = None

    def others(self, rows: IntArray) -> FloatArray:
        """Squared distances with the point itself marked −1, so that it always comes first."""
        squared = self.squared(rows)
        squared[np.arange(len(rows)), rows] = -1.0
        return squared

    def between(
        self, rows: IntArray, partners: IntArray, order: IntArray, *, n_jobs: int | None = None
    ) -> FloatArray:
        """Distances of every row to its own partners, done in an order that suits the cache."""
        if self.points is not None:
            lengths = np.empty(partners.shape)
            points = np.ascontiguousarray(self.points)
            with RowTeam(len(rows), n_jobs) as team:
                partners = np.ascontiguousarray(partners)
                team.each(_pairs.lengths, points, rows, partners, order, lengths)
            return lengths
        step = max(1, self.block_bytes // (8 * self.n_points))
        parts = [
            np.take_along_axis(
                self.squared(rows[start : start + step]), partners[start : start + step], 1
            )
            for start in range(0, len(rows), step)
        ]
        return np.sqrt(np.concatenate(parts))


def euclidean_rows(X: FloatArray) -> DistanceRows:
    """Rows of squared Euclidean distances, in double precision whatever the input's."""
    n_points, n_features = X.shape
    if n_features <= MAX_DIRECT_FEATURES:
        points = np.ascontiguousarray(X, dtype=np.float64)
        return DistanceRows(
            n_points, DIRECT_BYTES, lambda rows: cdist(points[rows], points, "sqeuclidean"), X
        )
    # A data point near the mean as origin: differences of round numbers (pixels, counts) stay
    # exact, so that equal distances stay equal.
    centered = X - X.mean(axis=0, dtype=np.float64)
    origin = X[np.argmin(np.einsum("ij,ij->i", centered, centered))]
    np.subtract(X, origin, out=centered, dtype=np.float64)
    norms = np.einsum("ij,ij->i", centered, centered)
    return DistanceRows(
        n_points, PRODUCT_BYTES, lambda rows: _by_products(centered, norms, rows), X
    )


def precomputed_rows(D: Any) -> DistanceRows:
    """Rows of a given square matrix of distances."""
    D = check_distances(D)
    check_units(D, name="X")
    return DistanceRows(
        len(D), DIRECT_BYTES, lambda rows: np.square(D[rows], dtype=np.float64, order="C")
    )


def distance_rows(X: Any, *, metric: str) -> DistanceRows:
    """Choose the rows that `metric` means: ``"euclidean"`` or ``"precomputed"``."""
    check_choice(metric, METRICS, name="metric")
    if metric == "precomputed":
        return precomputed_rows(X)
    X = check_points(X)
    check_units(X, name="X")
    return euclidean_rows(X)


@dataclass(frozen=True, eq=False)
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

    def blocks(self, rows: IntArray) -> list[IntArray]:
        """Cut rows into blocks of which distances are best computed at a time."""
        wanted = max(self.input.block_bytes, self.embedding.block_bytes)
        return self._cut(rows, wanted)

    def map_tasks(
        self, function: Callable[[IntArray], Result], *, n_bytes: int | None = None
    ) -> Iterator[Result]:
        """Apply a pure function to many evaluated rows at a time in parallel, results in order.

        What rows go together does not depend on the number of jobs, so neither do the results.
        """
        tasks = self._cut(self.sample.indices, n_bytes or TASK_BYTES)
        with stage("compare distances", total=len(tasks)) as steps:
            yield from ordered_map(function, tasks, n_jobs=self.n_jobs, is_pure=True, steps=steps)

    def map_blocks(self, function: Callable[[IntArray], Result]) -> Iterator[Result]:
        """Apply a pure function to all blocks of evaluated rows in the same way."""
        for results in self.map_tasks(lambda rows: [*map(function, self.blocks(rows))]):
            yield from results

    def _cut(self, rows: IntArray, n_bytes: int) -> list[IntArray]:
        size = max(1, n_bytes // (8 * self.sample.n_points))
        return [rows[start : start + size] for start in range(0, len(rows), size)]


def compare(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Validate two tables of the same points and prepare them for comparison."""
    before = distance_rows(X, metric=metric)
    Y = check_points(Y, name="Y")
    check_units(Y, name="Y")
    check_same_rows(before.n_points, len(Y))
    sample = draw_rows(len(Y), n_samples, random_state)
    return Comparison(before, euclidean_rows(Y), Y, sample, n_jobs)


def nearest(distances: FloatArray, k: int) -> IntArray:
    """Return the k nearest in one row of :meth:`DistanceRows.others`, ties by index."""
    # The point itself holds −1 and comes first. Everything up to the k-th distance is taken and
    # sorted stably, so that ties are broken by index even across the border.
    within = np.flatnonzero(distances <= np.partition(distances, k)[k])
    return within[np.argsort(distances[within], kind="stable")][1 : k + 1]


def _by_products(centered: FloatArray, norms: FloatArray, rows: IntArray) -> FloatArray:
    # ‖x − y‖² = ‖x‖² − 2x·y + ‖y‖², repaired where the difference has cancelled.
    squared = centered[rows] @ centered.T
    squared *= -2.0
    squared += norms
    squared += norms[rows, None]
    cancelled = squared <= CANCELLED * norms
    n_cancelled = np.count_nonzero(cancelled)
    if n_cancelled > squared.size // 10:
        return cdist(centered[rows], centered, "sqeuclidean")
    if n_cancelled:
        row, column = np.nonzero(cancelled)
        step = max(1, PRODUCT_BYTES // (8 * centered.shape[1]))
        for start in range(0, n_cancelled, step):
            some = slice(start, start + step)
            difference = centered[rows[row[some]]] - centered[column[some]]
            squared[row[some], column[some]] = np.einsum("ij,ij->i", difference, difference)
    return squared
