"""Every point from its neighbors: the weights of locally linear embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows
from isofold._validation import check_count, check_points, check_units
from isofold.exceptions import InvalidInputError
from isofold.extension.neighborhoods import neighborhoods_of
from isofold.extension.weights import place_weights, rounding_floors, weight_matrix
from isofold.neighbors import build_search

__all__ = ["reconstruction_weights"]


def reconstruction_weights(
    X: Any, *, n_neighbors: int = 12, regularization: float = 1e-2, n_jobs: int | None = None
) -> sp.csr_array:
    """Return the weights of every point over its nearest other points.

    Notes
    -----
    These are the reconstruction weights of Saul and Roweis [1]_ with another regularization: not
    a ridge, which is biased even on flat data, but weights of least norm that reproduce the point
    in the directions in which its neighbors spread. Normal directions, where only noise and
    curvature spread, are damped. The norm of k weights stays below 21/√k.

    From 40 landmarks of a Swiss roll with 2,000 points the weights recover the true coordinates
    with an rms error of 0.028 (ridge of 1e-3: 0.052); with noise of 0.05 in 30 dimensions 0.12
    (0.15). Neighbors across the gap between two layers of a roll spoil all such weights: choose
    `n_neighbors` so that there are none.

    References
    ----------
    .. [1] L. K. Saul and S. T. Roweis, "Think globally, fit locally: unsupervised learning of
       low dimensional manifolds", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(5.0)[:, None]
    >>> (reconstruction_weights(line, n_neighbors=2) @ line).ravel().round(12)
    array([0., 1., 2., 3., 4.])
    """
    points = check_points(X)
    check_units(points, name="X")
    k = min(check_count(n_neighbors, name="n_neighbors"), len(points) - 1)
    if not 0 < regularization <= 1:
        msg = (
            f"regularization={regularization!r} must be a number above 0 and not above 1: it is a "
            f"fraction of the neighbors' largest variance."
        )
        raise InvalidInputError(msg)
    indices = build_search(points, n_jobs=n_jobs).query_self(k).indices
    weights = np.empty(indices.shape)
    # Neighbors, their centered copy, and the two factors of it.
    step = block_rows(4 * 8 * k * points.shape[1], len(points))
    eps = float(np.finfo(points.dtype).eps)
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        near = points[indices[block]].astype(np.float64, copy=False)
        own = points[block].astype(np.float64, copy=False)
        weights[block] = place_weights(
            neighborhoods_of(near - own[:, None, :], np.zeros_like(own)),
            np.full((len(own), k), 1.0 / k),
            n_kept=1,
            thinness=regularization,
            floors=rounding_floors(eps * np.abs(near).max(axis=2)),
        )
    return weight_matrix(weights, indices, len(points))
