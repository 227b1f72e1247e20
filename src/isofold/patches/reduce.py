"""Directions that hold nothing but noise, or nothing at all, are left out before any search.

Exact null directions go. So do principal axes along which neighbors differ as much as points that
have nothing to do with each other: half the mean squared difference of neighbors is then the whole
variance along the axis. (Noise of a sheet in many dimensions: above .95 of it; the flattest axis of
sheets and blocks: up to .2.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray
from isofold.neighbors import kneighbors

__all__ = ["Reduction", "find_reduction"]

NULL = 1e-12
"""Variance, relative to the largest, that counts as none: the rounding of a covariance."""

LARGEST_SIDE = 2000
"""Side of the covariance (or Gram) matrix up to which its eigenvectors are worth their time."""

NOISE_SHARE = 0.8
"""Share of the variance along an axis that neighbors have among themselves, if it is all noise."""

LEAST_POINTS, N_POINTS, N_NEIGHBORS = 200, 1000, 12
"""Points from which on neighbors are near enough to tell, points that are compared, and neighbors
of each. Among more points neighbors would be those that happen to have similar noise."""


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
        """Return the projected points, in double precision."""
        return np.ascontiguousarray((points - self.mean) @ self.axes)

    def undo(self, points: FloatArray) -> FloatArray:
        """Return projected points in the original space."""
        return np.asarray(self.mean + points @ self.axes.T)

    def squared_distance(self, points: FloatArray, projected: FloatArray) -> FloatArray:
        """Return the squared distances of points from the kept directions."""
        squares = ((points - self.mean) ** 2).sum(axis=1) - (projected**2).sum(axis=1)
        return np.asarray(np.maximum(squares, 0.0))


def find_reduction(points: FloatArray, n_components: int) -> Reduction | None:
    """Return the projection that loses nothing but noise, or None if all directions count.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        The points.
    n_components : int
        Dimension r of the embedding; at least r + 1 directions are kept.

    Returns
    -------
    Reduction or None
        The projection.
    """
    n, d = points.shape
    if d <= n_components + 1 or min(n, d) > LARGEST_SIDE:
        return None
    mean = points.mean(axis=0, dtype=np.float64)
    values, axes = _spectrum(points - mean)
    kept = max(int((values > NULL * values[0]).sum()), n_components + 1)
    is_kept = np.arange(len(values)) < kept
    if kept > n_components + 1 and n >= LEAST_POINTS:
        is_noise = _local_share(points, axes, values) > NOISE_SHARE
        # The largest axes are kept in any case.
        is_kept &= ~is_noise | (np.arange(len(values)) <= n_components)
    if is_kept.sum() >= d:
        return None
    left_out = float(values[~is_kept].sum())
    return Reduction(mean, np.ascontiguousarray(axes[:, is_kept]), left_out)


def _spectrum(centered: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return variances along the principal axes, largest first, and the axes."""
    n, d = centered.shape
    if d <= n:
        values, axes = np.linalg.eigh(centered.T @ centered / n)
        return np.maximum(values[::-1], 0.0), axes[:, ::-1]
    _, sigma, rows = np.linalg.svd(centered, full_matrices=False)
    return np.asarray(sigma**2 / n), rows.T


def _local_share(points: FloatArray, axes: FloatArray, values: FloatArray) -> FloatArray:
    """Return the share of the variance along each axis that neighbors have among themselves."""
    n = len(points)
    some = points[np.linspace(0, n - 1, min(n, N_POINTS)).astype(np.intp)]
    near = kneighbors(some, N_NEIGHBORS).indices
    total = np.zeros(len(values))
    for neighbor in near.T:
        total += (((some[neighbor] - some) @ axes) ** 2).mean(axis=0)
    tiny = np.finfo(np.float64).tiny
    return np.asarray(total / (2.0 * N_NEIGHBORS * np.maximum(values, tiny)))
