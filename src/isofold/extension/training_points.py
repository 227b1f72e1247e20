"""The distinct training points, found again in the same order in every call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_pair
from isofold.extension.neighborhoods import Neighborhoods, find_neighborhoods
from isofold.neighbors import HNSWSearch, Neighbors, NeighborSearch, build_search
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.search.build import METHODS

__all__ = ["TrainingPoints", "read_training_points"]

TIE = 1e-9
"""Relative difference of distances that is none."""


MOST_ROWS = 4096
"""Points placed at a time at most, so that what is computed of them stays in the cache."""

HNSW_WIDTH = 32
"""Candidates of an approximate search. It then finds 99 % of ten neighbors among 10,000 digits, and
labels of new ones on a map are as right as with all of them."""


@dataclass(frozen=True, eq=False)
class TrainingPoints:
    """Distinct training points with an index, and their images.

    Attributes
    ----------
    points : ndarray of shape (n_points, d)
        The distinct training points, in float64.
    images : ndarray of shape (n, q)
        The embedding of all training points.
    samples : ndarray of int of shape (n_points,)
        The first of the samples that are equal; its image is that of the point.
    search : NeighborSearch
        Index over the points.
    rounding : ndarray of shape (n_points,)
        How far the coordinates of a point may be off by rounding.
    """

    points: FloatArray
    images: FloatArray
    samples: IntArray
    search: NeighborSearch
    rounding: FloatArray

    @property
    def n_points(self) -> int:
        """Number of distinct training points."""
        return len(self.points)

    @property
    def own_images(self) -> FloatArray:
        """The images of the distinct points, in float64."""
        return self.images_at(np.arange(self.n_points))

    def images_at(self, points: IntArray) -> FloatArray:
        """Return the images of some points, by their numbers, in float64."""
        return self.images[self.samples[points]].astype(np.float64, copy=False)

    def nearest(self, queries: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query, each answered by itself."""
        return self.search.query(queries, k)

    def around(self, queries: FloatArray, used: IntArray) -> Neighborhoods:
        """Return the neighborhoods of queries, of which `used` lists the points, nearest first."""
        return find_neighborhoods(self.points, used, queries)

    def rows_at_once(self, k: int, n_rows: int) -> int:
        """Return how many points are placed at a time by k neighbors each."""
        d = self.points.shape[1]
        # Neighborhoods have a few copies, and the search has some of the points.
        return min(MOST_ROWS, block_rows(8 * (6 * k * min(d, k) + 4 * d), n_rows))


def read_training_points(
    X: Any, Y: Any, *, search: str = "auto", n_jobs: int | None = None
) -> TrainingPoints:
    """Return distinct training points with their images."""
    points, images = check_pair(X, Y, min_samples=1)
    samples = find_distinct(points).sample_of_node
    distinct = points[samples].astype(np.float64, copy=False)
    check_choice(search, METHODS, name="search")
    if search == "hnsw":
        index: NeighborSearch = HNSWSearch(distinct, width=HNSW_WIDTH, n_jobs=n_jobs)
    else:
        index = build_search(distinct, method=search, n_jobs=n_jobs)
    rounding = float(np.finfo(points.dtype).eps) * np.abs(distinct).max(axis=1)
    return TrainingPoints(distinct, images.copy(), samples, index, rounding)
