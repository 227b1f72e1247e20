r"""New points by barycentric weights over their nearest training points.

The weights that place a new point among its neighbors place its image among theirs:

    y = Σ w_j y_j,   Σ w_j = 1,   Σ w_j x_j ≈ x.

The neighbors' fractions ω_j ∝ d_1/d_j − d_1/d_{k+1} fade to nothing where another point takes the
last rank, and the nearest takes all where the new point meets it. So the map runs through the
training points. Among all weights those nearest to the fractions are taken that reproduce the point
along the q widest axes of its neighbors, q being the number of coordinates of the embedding. If
the embedding is an affine image of flat data, then so is this map, outside of their hull as
well. Thinner axes (curvature and noise) are damped.

A sheet may pass close to itself without being close in the embedding. Neighbors whose image lies
much farther from that of the nearest one than it should are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._parallel import ordered_map
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_points
from isofold.extension.training_points import TrainingPoints, read_training_points
from isofold.extension.way_back import LocalInverse
from isofold.extension.weights import (
    THINNESS,
    apply_weights,
    fading_fractions,
    place_weights,
    rounding_floors,
    untorn,
    weight_matrix,
)

__all__ = ["BarycentricMap", "fit_barycentric"]


@dataclass(frozen=True, eq=False)
class BarycentricMap(LocalInverse):
    """TrainingPoints new points by their neighbors among training points, see `fit_barycentric`.

    Attributes
    ----------
    training : TrainingPoints
        The distinct training points with their images.
    n_neighbors : int
        Neighbors that count.
    n_jobs : int or None
        Threads.
    """

    training: TrainingPoints
    n_neighbors: int
    n_jobs: int | None = None

    def transform(self, X_new: Any) -> FloatArray:
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
        return apply_weights(self.weights(X_new), self.training.images)

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
            one position the first is weighted.
        """
        queries = check_points(X_new, name="X_new", min_samples=1).astype(np.float64, copy=False)
        training = self.training
        n_used = min(self.n_neighbors, training.n_points)
        used = np.empty((len(queries), n_used), dtype=np.int64)
        weights = np.empty(used.shape)
        step = training.rows_at_once(n_used, len(queries))
        blocks = [slice(start, start + step) for start in range(0, len(queries), step)]
        found = ordered_map(
            lambda block: self._place(queries[block], n_used), blocks, n_jobs=self.n_jobs
        )
        for block, (neighbors, placed) in zip(blocks, found, strict=True):
            used[block], weights[block] = neighbors, placed
        return weight_matrix(weights, training.samples[used], len(training.images))

    def _place(self, queries: FloatArray, n_used: int) -> tuple[IntArray, FloatArray]:
        """Return the neighbors that carry points, and their weights."""
        training = self.training
        listed = training.nearest(queries, min(n_used + 1, training.n_points))
        used = listed.indices[:, :n_used]
        near, images = training.around(queries, used), training.images_at(used)
        images = images - images[:, :1]
        floors = rounding_floors(training.rounding[used])
        weights = place_weights(
            near,
            fading_fractions(listed.distances, untorn(near, images, floors)),
            n_kept=images.shape[2],
            thinness=THINNESS,
            floors=floors,
        )
        return used, weights


def fit_barycentric(
    X: Any, Y: Any, *, n_neighbors: int = 12, n_jobs: int | None = None
) -> BarycentricMap:
    """Return the map that places new points by barycentric weights.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points. Equal ones share one image.
    Y : array-like of shape (n, q)
        Their embedding.
    n_neighbors : int, default=12
        Nearest training points that carry a new point; all if there are fewer.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

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
    >>> new_map = fit_barycentric(X, 2 * X)
    >>> new_map.transform([[0.25, 0.5], [1.5, 1.0]]).round(12)
    array([[0.5, 1. ],
           [3. , 2. ]])
    """
    k = check_count(n_neighbors, name="n_neighbors")
    return BarycentricMap(read_training_points(X, Y, n_jobs=n_jobs), k, n_jobs)
