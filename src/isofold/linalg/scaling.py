"""Classical and landmark scaling: coordinates from squared distances.

Landmark scaling (de Silva and Tenenbaum 2004) scales some points, the landmarks, and places all by
their squared distances to these: y = −½ L⁺(δ − δ̄), with L the coordinates of the landmarks, δ the
squared distances of a point to them and δ̄ their mean among the landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.linalg.centering import KernelCentering, double_center
from isofold.linalg.eigen import deterministic_signs, eigh_extreme
from isofold.linalg.gram import GramFactor, coordinates_from_gram, gram_from_distances
from isofold.linalg.rows import row_product

__all__ = ["PrincipalFrame", "classical_scaling", "landmark_scaling"]

EPS = float(np.finfo(np.float64).eps)

MANY, FEW_AXES = 1000, 64
"""Of more points than this, so many axes are tried first: most distances are those of points in few
dimensions, and all eigenvectors take n³ operations."""


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


@dataclass(frozen=True, eq=False)
class PrincipalFrame:
    """Points with given distances, and the way of new ones into their frame.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_axes)
        The points, in principal axes.
    inverse : ndarray of shape (n, n_axes)
        V Λ^(−1/2): centered products with the points, times this, are coordinates.
    centering : KernelCentering
        Statistics of −½ of the squared distances.
    negative : float
        Fraction of negative eigenvalues in the sum of all magnitudes: what no points can have.
    """

    coordinates: FloatArray
    inverse: FloatArray
    centering: KernelCentering
    negative: float

    @classmethod
    def of(cls, squares: FloatArray, *, least: int = 1) -> PrincipalFrame:
        """Return points with given squared distances, or nearly, with so many axes at least.

        Notes
        -----
        Negative eigenvalues belong to no points. The last of the positive ones, with the same sum,
        are left out with them, so that the sum of all squared distances is true, except as many
        axes as are wanted. Of distances of points both are rounding.

        Examples
        --------
        >>> import numpy as np
        >>> line = np.array([0.0, 1.0, 3.0])
        >>> frame = PrincipalFrame.of((line[:, None] - line) ** 2)
        >>> frame.coordinates.shape
        (3, 1)
        >>> new = frame.place((np.array([[2.0]]) - line) ** 2)
        >>> np.abs(new - frame.coordinates)[:, 0].round(12)
        array([2., 1., 1.])
        """
        values, vectors, negative = _spectrum(gram_from_distances(squares))
        beyond = np.cumsum(values[::-1])[::-1]
        rounding = len(squares) * EPS * float(values[0])
        n_axes = int((beyond > max(negative, rounding)).sum())
        n_axes = max(1, n_axes, min(least, int((values > rounding).sum())))
        roots = np.sqrt(values[:n_axes])
        reciprocals = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
        total = float(values.sum()) + negative
        return cls(
            vectors[:, :n_axes] * roots,
            vectors[:, :n_axes] * reciprocals,
            KernelCentering.from_kernel(-0.5 * squares),
            negative / total if total > 0.0 else 0.0,
        )

    def padded(self, n_axes: int) -> PrincipalFrame:
        """Return the frame with at least so many axes, along which points do not extend."""
        missing = ((0, 0), (0, max(0, n_axes - self.coordinates.shape[1])))
        wide = np.pad(self.coordinates, missing), np.pad(self.inverse, missing)
        return replace(self, coordinates=wide[0], inverse=wide[1])

    def place(self, squares: FloatArray) -> FloatArray:
        """Return new points by their squared distances to the others (Gower 1968), each alone."""
        return row_product(self.centering.apply(-0.5 * squares), self.inverse)


def _spectrum(gram: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the positive eigenvalues with vectors, and the sum of the negative ones, all as sizes.

    Of a large matrix the leading ones, if there are no others.
    """
    n = len(gram)
    if n > MANY:
        values, vectors = _in_range(gram, FEW_AXES)
        # Their sum is the trace, and the sum of their squares is that of all entries.
        rounding = n * EPS * float(values[0])
        squares = float(values @ values)
        # A sum of n² squares is rounded by n units at most, if errors are not all of one sign.
        is_rest_tiny = float(np.vdot(gram, gram)) - squares <= n * EPS * squares
        if is_rest_tiny and abs(float(np.trace(gram)) - float(values.sum())) <= rounding:
            kept = values > rounding
            return values[kept], vectors[:, kept], 0.0
    values, vectors = eigh_extreme(gram, n)
    kept = values > 0.0
    if not kept.any():
        return np.zeros(1), vectors[:, :1], 0.0
    return values[kept], vectors[:, kept], float(-values[~kept].sum())


def _in_range(gram: FloatArray, n_axes: int) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and vectors within the range that some random vectors are mapped to.

    If the matrix has no larger rank, these are all of them (Halko, Martinsson and Tropp 2011). Its
    other eigenvalues, which are rounding, would keep Lanczos' method busy.
    """
    start = np.random.default_rng(0).standard_normal((len(gram), n_axes))
    axes = np.linalg.qr(gram @ np.linalg.qr(gram @ start)[0])[0]
    values, vectors = np.linalg.eigh(axes.T @ (gram @ axes))
    return values[::-1], deterministic_signs(axes @ vectors[:, ::-1])
