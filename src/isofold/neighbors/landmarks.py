"""Landmarks that lie apart: each next one is farthest from those before (maxmin)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray

__all__ = ["spread_landmarks"]


def spread_landmarks(points: FloatArray, n_landmarks: int, first: int) -> IntArray:
    """Return points that are far from each other: each next one farthest from all before.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        The points.
    n_landmarks : int
        How many, at most: copies of a landmark are none.
    first : int
        The first one.

    Returns
    -------
    ndarray of int of shape (n_landmarks,)
        Their numbers, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import spread_landmarks
    >>> spread_landmarks(np.array([[0.0], [1.0], [5.0], [9.0]]), 3, first=0)
    array([0, 2, 3])
    """
    chosen = [first]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < min(n_landmarks, len(points)):
        squared = cdist(points, points[chosen[-1]][None], "sqeuclidean")[:, 0]
        np.minimum(nearest, squared, out=nearest)
        following = int(nearest.argmax())
        if nearest[following] == 0.0:
            break
        chosen.append(following)
    return np.sort(np.array(chosen, dtype=np.intp))
