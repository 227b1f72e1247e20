"""Directions that hold nothing but noise, or nothing at all, are left out before any search.

Exact null directions go. So do principal axes along which neighbors differ as much as points that
have nothing to do with each other: half the mean squared difference of neighbors is then the whole
variance along the axis. (Noise of a sheet in many dimensions: above .95 of it; the flattest axis of
sheets and blocks: up to .2.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg.rows import row_product
from isofold.neighbors import kneighbors

__all__ = ["Reduction", "find_reduction", "is_flat"]

NULL = 1e-12
"""Variance, relative to the largest, that counts as none: the rounding of a covariance."""

LARGEST_SIDE = 2000
"""Side of the covariance (or Gram) matrix up to which its eigenvectors are worth their time."""

NOISE_SHARE = 0.8
"""Fraction of the variance along an axis that neighbors have among themselves, if it is all
noise."""

LEAST_POINTS, N_POINTS, N_NEIGHBORS = 200, 1000, 12
"""Points from which on neighbors are near enough to tell, points that are compared, and neighbors
of each. Among more points neighbors would be those that happen to have similar noise."""


FLAT_POINTS = 4
"""Points for each of r + 1 dimensions that tell whether all points may fit into r."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """An orthogonal projection of centered points.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        What is subtracted.
    axes : ndarray of shape (n_features, n_kept)
        Orthonormal axes that are kept.
    left_out : float
        Variance in the directions that are not.
    """

    mean: FloatArray
    axes: FloatArray
    left_out: float

    def apply(self, points: FloatArray) -> FloatArray:
        """Return the projected points, each by itself, in double precision."""
        return row_product(points - self.mean, self.axes)

    def undo(self, points: FloatArray) -> FloatArray:
        """Return projected points in the original space, each by itself."""
        return np.asarray(self.mean + row_product(points, self.axes.T))

    def squared_distance(self, points: FloatArray, projected: FloatArray) -> FloatArray:
        """Return the squared distances of points from the kept directions."""
        # In one layout: the order of a sum follows that of the memory.
        squares = (np.ascontiguousarray(points - self.mean) ** 2).sum(axis=1)
        squares -= (projected**2).sum(axis=1)
        return np.asarray(np.maximum(squares, 0.0))


def find_reduction(points: FloatArray, n_components: int) -> Reduction | None:
    """Return the projection that loses nothing but noise, or None if all directions count."""
    n, d = points.shape
    if d <= n_components + 1 or min(n, d) > LARGEST_SIDE:
        return None
    mean = points.mean(axis=0, dtype=np.float64)
    spectrum = _spectrum(points, mean)
    values = spectrum.values
    kept = max(int((values > NULL * values[0]).sum()), n_components + 1)
    is_kept = np.arange(len(values)) < kept
    if kept > n_components + 1 and n >= LEAST_POINTS:
        is_noise = _local_share(points, spectrum) > NOISE_SHARE
        # The largest axes are kept in any case.
        is_kept &= ~is_noise | (np.arange(len(values)) <= n_components)
    if is_kept.sum() >= d:
        return None
    left_out = float(values[~is_kept].sum())
    return Reduction(mean, spectrum.axes(is_kept), left_out)


def is_flat(points: FloatArray, n_components: int) -> bool:
    """Return whether points fill no more than some dimensions: nothing is to be unfolded then."""
    n, d = points.shape
    if d <= n_components:
        return True
    mean = points.mean(axis=0, dtype=np.float64)
    rows = np.linspace(0, n - 1, min(n, FLAT_POINTS * (n_components + 1))).astype(np.intp)
    _, sigma, axes = np.linalg.svd(points[rows] - mean, full_matrices=False)
    rank = int((sigma**2 > NULL * sigma[0] ** 2).sum())
    if rank > n_components:
        return False
    total, inside = 0.0, 0.0
    step = block_rows(24 * d, n)
    for begin in range(0, n, step):
        centered = points[begin : begin + step] - mean
        total += float((centered**2).sum())
        inside += float(((centered @ axes[:rank].T) ** 2).sum())
    return total - inside <= NULL * total


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Principal axes of centered points; those of the Gram matrix if it is the smaller one.

    `vectors` are the axes, or for more features than points the coordinates along them in units of
    their root mean squares, and `centered` the points that make these into axes.
    """

    values: FloatArray
    vectors: FloatArray
    centered: FloatArray
    is_wide: bool

    def axes(self, is_kept: BoolArray) -> FloatArray:
        """Return some of the axes, as columns."""
        chosen = self.vectors[:, is_kept]
        if not self.is_wide:
            return np.ascontiguousarray(chosen)
        # Directions without variance are what is left over by the others.
        return np.linalg.qr(self.centered.T @ chosen)[0]

    def coordinates(self, rows: IntArray) -> FloatArray:
        """Return coordinates of some of the points along all axes."""
        if self.is_wide:
            return np.asarray(self.vectors[rows] * np.sqrt(len(self.vectors) * self.values))
        return np.asarray(self.centered[rows] @ self.vectors)


def _spectrum(points: FloatArray, mean: FloatArray) -> _Spectrum:
    """Return variances along the principal axes, largest first, and the axes."""
    centered = points - mean
    n, d = centered.shape
    is_wide = d > n
    matrix = centered @ centered.T if is_wide else centered.T @ centered
    values, vectors = np.linalg.eigh(matrix / n)
    return _Spectrum(np.maximum(values[::-1], 0.0), vectors[:, ::-1], centered, is_wide)


def _local_share(points: FloatArray, spectrum: _Spectrum) -> FloatArray:
    """Return the fraction of the variance along each axis that neighbors have among themselves."""
    n = len(points)
    rows = np.linspace(0, n - 1, min(n, N_POINTS)).astype(np.intp)
    some = spectrum.coordinates(rows)
    # Distances along the axes are those of the points; fewer axes than features are faster.
    near = kneighbors(some if spectrum.is_wide else points[rows], N_NEIGHBORS).indices
    total = np.zeros(len(spectrum.values))
    for neighbor in near.T:
        total += ((some[neighbor] - some) ** 2).mean(axis=0)
    values = np.maximum(spectrum.values, NULL * spectrum.values[0])
    return np.asarray(total / (2.0 * N_NEIGHBORS * values))
