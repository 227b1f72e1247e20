"""Classical and landmark scaling: coordinates from squared distances.

Landmark scaling (de Silva and Tenenbaum 2004) scales some points, the landmarks, and places all by
their squared distances to these: y = −½ L⁺(δ − δ̄), with L the coordinates of the landmarks, δ the
squared distances of a point to them and δ̄ their mean among the landmarks.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.linalg.centering import double_center
from isofold.linalg.eigen import eigh_extreme
from isofold.linalg.gram import GramFactor, coordinates_from_gram, gram_from_distances

__all__ = ["classical_scaling", "landmark_scaling"]


def classical_scaling(squares: FloatArray, n_components: int | None = None) -> GramFactor:
    """Return coordinates whose squared distances are about the given ones, in principal axes.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([0.0, 1.0, 3.0])
    >>> found = classical_scaling((line[:, None] - line) ** 2, 1).coordinates
    >>> np.abs(np.diff(found[:, 0])).round(12)
    array([1., 2.])
    """
    return coordinates_from_gram(gram_from_distances(squares), n_components)


def landmark_scaling(
    squares: FloatArray, landmarks: IntArray, n_components: int, *, tol: float
) -> FloatArray:
    """Return coordinates of all points by their squared distances to landmarks.

    Row i of `squares` holds the squared distances of landmark i to all points. Axes whose
    eigenvalue is at most `tol` of the largest are left out, so that there may be fewer columns.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([0.0, 1.0, 3.0, 4.0])
    >>> marks = np.array([0, 2])
    >>> squares = (line[marks][:, None] - line) ** 2
    >>> np.abs(np.diff(landmark_scaling(squares, marks, 1, tol=1e-9)[:, 0])).round(12)
    array([1., 2., 1.])
    """
    among = squares[:, landmarks]
    values, vectors = eigh_extreme(-0.5 * double_center((among + among.T) / 2.0), n_components)
    kept = values > tol * max(float(values[0]), 0.0)
    inverse = vectors[:, kept] / np.sqrt(values[kept])
    centered = -0.5 * (squares - among.mean(axis=1, keepdims=True))
    return np.asarray(centered.T @ inverse)
