"""Landmarks that lie apart: each next one is farthest from those before (maxmin)."""

from __future__ import annotations

from collections.abc import Callable

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
    return farthest_first(
        # One row and n columns take a tenth of the time of n rows and one column.
        lambda at: cdist(points[at][None], points, "sqeuclidean")[0],
        len(points),
        n_landmarks,
        first,
    )


def farthest_first(
    squared_from: Callable[[int], FloatArray], n_points: int, n_landmarks: int, first: int
) -> IntArray:
    """Return landmarks, ascending, from a function that gives squared distances from one point."""
    chosen = [first]
    nearest = np.full(n_points, np.inf)
    while len(chosen) < min(n_landmarks, n_points):
        np.minimum(nearest, squared_from(chosen[-1]), out=nearest)
        following = int(nearest.argmax())
        if nearest[following] <= 0.0:
            break
        chosen.append(following)
    return np.sort(np.array(chosen, dtype=np.intp))
