"""Points that stand for a component: Costa's three strategies (thesis, section 3.1.1).

(a) *extremes*: the outmost points of the q principal directions, up to 2q of them;
(b) *farthest*: 2^q points, each the farthest from those chosen before;
(c) *hull*: the vertices of the convex hull.

All work on the local embedding of one component and return row numbers, ascending and each once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_points
from isofold.exceptions import InvalidInputError
from isofold.linalg import principal_coordinates
from isofold.neighbors import spread_landmarks

__all__ = ["choose_representatives", "extremes", "farthest", "hull"]

LARGEST_HULL_DIMENSION = 6
"""Facets of a hull may grow like n^(q/2): beyond, hulls of some thousand points take too long."""

LARGEST_CUBE = 10
"""Beyond so many dimensions 2^q points would be most of a component: 1,024 are enough."""


def extremes(Y: FloatArray) -> IntArray:
    """Return the outmost points of the principal directions.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.placement.representatives import extremes
    >>> extremes(np.array([[0.0, 0.0], [5.0, 1.0], [5.0, -1.0], [10.0, 0.0]]))
    array([0, 1, 2, 3])
    """
    along = _principal(Y)
    return np.unique(np.concatenate([along.argmin(axis=0), along.argmax(axis=0)]))


def farthest(Y: FloatArray) -> IntArray:
    """Return 2^q points, each as far as possible from those before it."""
    points = check_points(Y, name="Y", min_samples=1).astype(np.float64, copy=False)
    from_mean = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    n_wanted = 2 ** min(points.shape[1], LARGEST_CUBE)
    return spread_landmarks(points, n_wanted, first=int(from_mean.argmax()))


def hull(Y: FloatArray) -> IntArray:
    """Return the vertices of the convex hull."""
    along = _principal(Y)
    n, rank = along.shape
    if rank == 1 or n == 1:
        return np.unique([along[:, 0].argmin(), along[:, 0].argmax()])
    if n <= rank + 1:
        return np.arange(n)
    if rank > LARGEST_HULL_DIMENSION:
        msg = (
            f"The component spans {rank} dimensions. Convex hulls have too many facets beyond "
            f'{LARGEST_HULL_DIMENSION}. Choose representatives by "extremes" or "farthest".'
        )
        raise InvalidInputError(msg)
    try:
        return np.sort(ConvexHull(along).vertices).astype(np.intp)
    except QhullError:
        # Flat up to rounding: points joggled by as little still have the right vertices.
        return np.sort(ConvexHull(along, qhull_options="QJ Pp").vertices).astype(np.intp)


STRATEGIES: dict[str, Callable[[FloatArray], IntArray]] = {
    "extremes": extremes,
    "farthest": farthest,
    "hull": hull,
}


def choose_representatives(Y: FloatArray, strategy: str = "extremes") -> IntArray:
    """Return points that stand for a component.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.placement.representatives import choose_representatives
    >>> choose_representatives(np.array([[0.0], [3.0], [1.0]]), "hull")
    array([0, 1])
    """
    if strategy not in STRATEGIES:
        msg = f"strategy={strategy!r} must be one of {', '.join(map(repr, STRATEGIES))}."
        raise InvalidInputError(msg)
    return STRATEGIES[strategy](Y)


def _principal(Y: FloatArray) -> FloatArray:
    """Return coordinates along the principal directions that points span, at least one."""
    return principal_coordinates(check_points(Y, name="Y", min_samples=1)).coordinates
