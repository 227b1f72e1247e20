"""The training points as places: distinct, and found again in the same order in every call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_pair
from isofold.neighbors import (
    BruteForceSearch,
    HNSWSearch,
    Neighbors,
    NeighborSearch,
    build_search,
)
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.search.build import METHODS

__all__ = ["Places", "read_places"]

TIE = 1e-9
"""Relative difference of distances below which the search may take either place; it is exact
to 1e-10 in squares."""


HNSW_WIDTH = 32
"""Candidates of an approximate search. It then finds 99 % of ten neighbors among 10,000 digits, and
labels of new ones on a map are as right as with all of them."""


@dataclass(frozen=True, eq=False)
class Places:
    """Distinct training points with an index, and their images.

    Attributes
    ----------
    points : ndarray of shape (n_places, d)
        The distinct training points, in float64.
    images : ndarray of shape (n, q)
        The embedding of all training points.
    samples : ndarray of int of shape (n_places,)
        The first sample at every place; its image is that of the place.
    search : NeighborSearch
        Index over the places.
    rounding : ndarray of shape (n_places,)
        How far the coordinates of a place may be off by rounding.
    """

    points: FloatArray
    images: FloatArray
    samples: IntArray
    search: NeighborSearch
    rounding: FloatArray

    @property
    def n_places(self) -> int:
        """Number of places."""
        return len(self.points)

    @property
    def own_images(self) -> FloatArray:
        """The images of the places, in float64."""
        return self.images_at(np.arange(self.n_places))

    def images_at(self, places: IntArray) -> FloatArray:
        """Return the images of some places, in float64."""
        return self.images[self.samples[places]].astype(np.float64, copy=False)

    def nearest(self, queries: FloatArray, k: int) -> Neighbors:
        """Return the k nearest places of every query in float64, to the bit the same in every call.

        Matrix products round by the shape of the call, and which of several places at the same
        distance comes last may hang on it. Such rows are compared with all places directly.
        Other searches answer every query by itself.
        """
        if not isinstance(self.search, BruteForceSearch):
            return self.search.query(queries, k)
        found = self.search.query(queries, min(k + 1, self.n_places))
        distances, indices = found.distances[:, :k].copy(), found.indices[:, :k].copy()
        if found.indices.shape[1] > k:
            tied = np.flatnonzero(found.distances[:, k] <= distances[:, -1] * (1 + TIE))
            step = block_rows(8 * self.n_places, len(tied))
            for start in range(0, len(tied), step):
                rows = tied[start : start + step]
                exact = nearest_in_rows(cdist(queries[rows], self.points), k)
                distances[rows], indices[rows] = exact
        return Neighbors(distances, indices)


def read_places(X: Any, Y: Any, *, search: str = "auto", n_jobs: int | None = None) -> Places:
    """Return the places of training points with their images."""
    points, images = check_pair(X, Y, min_samples=1)
    samples = find_distinct(points).sample_of_node
    places = points[samples].astype(np.float64, copy=False)
    check_choice(search, METHODS, name="search")
    if search == "hnsw":
        index: NeighborSearch = HNSWSearch(places, width=HNSW_WIDTH, n_jobs=n_jobs)
    else:
        index = build_search(places, method=search, n_jobs=n_jobs)
    rounding = float(np.finfo(points.dtype).eps) * np.abs(places).max(axis=1)
    return Places(places, images.copy(), samples, index, rounding)
