r"""New points by barycentric weights over their nearest training points.

The weights that place a new point among its neighbors place its image among theirs:

    y = Σ w_j y_j,   Σ w_j = 1,   Σ w_j x_j ≈ x.

The neighbors' shares ω_j ∝ d_1/d_j − d_1/d_{k+1} fade to nothing where another point takes the
last place, and the nearest takes all where the new point meets it. So the map runs through the
training points. Among all weights those nearest to the shares are taken that reproduce the point
along the q widest axes of its neighbors, q being the number of coordinates of the embedding. If
the embedding is an affine image of flat data, then so is the extension, outside of their hull as
well. Thinner axes (curvature and noise) are damped.

A sheet may pass close to itself without being close in the embedding. Neighbors whose image lies
much farther from that of the nearest one than it should are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_pair, check_points
from isofold.extension._affine import place_weights, rounding_floors, weight_matrix
from isofold.extension._shares import apply_weights, fading_shares, lengths_of, torn, usual_stretch
from isofold.neighbors import KDTreeSearch, Neighbors, NeighborSearch, build_search
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.protocol import pair_distances, sort_rows

__all__ = ["BarycentricMap", "fit_barycentric"]

THINNESS = 0.1
"""Squared ratio to the q-th width below which further axes are damped. On held-out points of
Swiss rolls 0.01 mostly erred less without noise (by half at best) and a few percent more with."""

TIE = 1e-9
"""Relative difference of distances below which the search may take either place; it is exact
to 1e-10 in squares."""


@dataclass(frozen=True, eq=False)
class BarycentricMap:
    """Places new points by their neighbors among training points, see `fit_barycentric`.

    Attributes
    ----------
    images : ndarray of shape (n, q)
        The embedding.
    places : ndarray of shape (n_places, d)
        The distinct training points.
    samples : ndarray of shape (n_places,)
        The first sample at every place.
    search : NeighborSearch
        Index over the places.
    n_neighbors : int
        Neighbors that count.
    eps : float
        Relative rounding of the coordinates that were given.
    """

    images: FloatArray
    places: FloatArray
    samples: IntArray
    search: NeighborSearch
    n_neighbors: int
    eps: float

    def extend(self, X_new: Any) -> FloatArray:
        """Return the images of new points.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
            The points.

        Returns
        -------
        ndarray of shape (n_new, q)
            Their images, in the precision of the embedding. A training point gets its own.
        """
        return apply_weights(self.weights(X_new), self.images)

    def weights(self, X_new: Any) -> sp.csr_array:
        """Return the weights of new points over the training points.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
            The points.

        Returns
        -------
        csr_array of shape (n_new, n)
            Weights, each row with sum one; negative ones occur. Of several training points at
            one place the first is weighted.
        """
        queries = check_points(X_new, name="X_new", min_samples=1).astype(np.float64, copy=False)
        n_used = min(self.n_neighbors, len(self.places))
        near = self._nearest(queries, min(n_used + 1, len(self.places)))
        used = near.indices[:, :n_used]
        weights = np.empty(used.shape)
        step = block_rows(4 * 8 * n_used * queries.shape[1], len(queries))
        for start in range(0, len(queries), step):
            block = slice(start, start + step)
            weights[block] = self._place(queries[block], near.distances[block], used[block])
        return weight_matrix(weights, self.samples[used], len(self.images))

    def _nearest(self, queries: FloatArray, k: int) -> Neighbors:
        """Return the k nearest places of every query, to the bit the same in every call.

        Matrix products round by the shape of the call, and which of several places at the same
        distance comes last may hang on it. Such rows are compared with all places directly. A
        tree answers every query by itself.
        """
        found = self.search.query(queries, min(k + 1, len(self.places)))
        near = sort_rows(pair_distances(queries, self.places, found.indices), found.indices)
        indices = near.indices[:, :k].copy()
        if near.indices.shape[1] > k and not isinstance(self.search, KDTreeSearch):
            tied = np.flatnonzero(near.distances[:, k] <= near.distances[:, k - 1] * (1 + TIE))
            step = block_rows(8 * len(self.places), len(tied))
            for start in range(0, len(tied), step):
                rows = tied[start : start + step]
                indices[rows] = nearest_in_rows(cdist(queries[rows], self.places), k)[1]
        return sort_rows(pair_distances(queries, self.places, indices), indices)

    def _place(self, queries: FloatArray, distances: FloatArray, used: IntArray) -> FloatArray:
        near = self.places[used]
        # Measured from the nearest place, so that a point far away costs no digits.
        origins = near[:, 0]
        offsets = near - origins[:, None, :]
        images = self._offsets_of_images(used)
        gaps = lengths_of(offsets)
        stretches = np.divide(lengths_of(images), gaps, out=np.zeros_like(gaps), where=gaps > 0)
        return place_weights(
            offsets,
            queries - origins,
            fading_shares(distances, ~torn(stretches, usual_stretch(stretches[:, 1:]))),
            n_kept=self.images.shape[1],
            thinness=THINNESS,
            floors=rounding_floors(near, self.eps),
        )

    def _offsets_of_images(self, used: IntArray) -> FloatArray:
        images = self.images[self.samples[used]].astype(np.float64, copy=False)
        return images - images[:, :1]


def fit_barycentric(
    X: Any, Y: Any, *, n_neighbors: int = 12, n_jobs: int | None = None
) -> BarycentricMap:
    """Return the map that places new points by barycentric weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points. Those at the same place share one image.
    Y : array-like of shape (n, q)
        Their embedding.
    n_neighbors : int, default=12
        Nearest training places that carry a new point; all if there are fewer.
    n_jobs : int or None, default=None
        Threads of the search, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    BarycentricMap
        The map. Its index is built once.

    Raises
    ------
    InvalidInputError
        If the points or the embedding cannot be used.

    Notes
    -----
    A point outside of the data is extrapolated linearly up to twenty standard deviations of its
    neighbors; one farther away is placed as if it were that far, in the same direction. So no
    point leaves the embedding by more than twenty times the size of a neighborhood.

    References
    ----------
    .. [1] L. K. Saul and S. T. Roweis, "Think globally, fit locally: unsupervised learning of
       low dimensional manifolds", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> extension = fit_barycentric(X, 2 * X)
    >>> extension.extend([[0.25, 0.5], [1.5, 1.0]]).round(12)
    array([[0.5, 1. ],
           [3. , 2. ]])
    """
    points, images = check_pair(X, Y, min_samples=1)
    k = check_count(n_neighbors, name="n_neighbors")
    samples = find_distinct(points).sample_of_node
    # A copy, so that later changes of X change nothing.
    places = points[samples].astype(np.float64, copy=False)
    search = build_search(places, n_jobs=n_jobs)
    eps = float(np.finfo(points.dtype).eps)
    return BarycentricMap(images.copy(), places, samples, search, k, eps)
