"""Mixed dimensions: one region of the data has more directions than another.

All neighborhoods have the same radius, so that noise counts alike where points are dense and where
they are sparse. Nodes are split by how many directions the neighborhoods around them have, in two
groups (Otsu 1979). A sheet's edge and its middle form such groups as well, so that the groups are
then judged by another figure, which edges do not change: how fast the number of nodes grows with
the radius (Levina and Bickel 2004).

References
----------
Otsu, N. (1979). A threshold selection method from gray-level histograms. IEEE Transactions on
Systems, Man, and Cybernetics 9(1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import balls_around
from isofold.survey.sketch import SketchedComponent

__all__ = ["Mixture", "find_mixture"]

N_SEEDS, LEAST_BALL, MOST_BALL = 400, 14, 150
"""Neighborhoods, nodes that each has at least, and at most."""

COMMON = 0.9
"""Fraction of the neighborhoods that have the least number of nodes within the common radius."""

SMOOTHED = 8
"""Seeds over which directions are averaged."""

LEAST_FRACTION = 0.08
"""Fraction of the nodes in the smaller group."""

LEAST_DIRECTIONS = 0.3
"""Difference of the groups' mean numbers of directions."""


@dataclass(frozen=True)
class Mixture:
    """Two groups of nodes.

    Attributes
    ----------
    lower, upper : float
        Their dimensions; equal if there are no two groups.
    fraction : float
        Fraction of the nodes in the group with fewer directions.
    """

    lower: float = 1.0
    upper: float = 1.0
    fraction: float = 0.0

    @property
    def ratio(self) -> float:
        """Upper over lower dimension."""
        return self.upper / self.lower


def find_mixture(component: SketchedComponent) -> Mixture:
    """Return the dimensions of the two groups of nodes that differ most."""
    if component.points is None or component.n_nodes <= LEAST_BALL:
        return Mixture()
    seeds = np.linspace(0, component.n_nodes - 1, min(N_SEEDS, component.n_nodes)).astype(np.intp)
    size = min(MOST_BALL, component.n_nodes)
    nodes = balls_around(component.graph, seeds, np.full(len(seeds), size)).nodes.reshape(-1, size)
    away = np.array(
        [np.linalg.norm(component.points[row] - component.points[row[0]], axis=1) for row in nodes]
    )
    radius = float(np.quantile(np.sort(away, axis=1)[:, LEAST_BALL], COMMON))
    is_near = away <= radius
    directions = _directions(component.points, nodes, is_near)
    smooth = _smoothed(component.points[seeds], directions)
    is_low = smooth <= _otsu(smooth)
    fraction = float(is_low.mean())
    if not LEAST_FRACTION <= fraction <= 1 - LEAST_FRACTION:
        return Mixture()
    if smooth[~is_low].mean() - smooth[is_low].mean() < LEAST_DIRECTIONS:
        return Mixture()
    lower, upper = (_dimension(away[group], radius) for group in (is_low, ~is_low))
    return Mixture(lower, upper, fraction)


def _directions(points: FloatArray, nodes: IntArray, is_near: BoolArray) -> FloatArray:
    """Return (Σλ)² / Σλ² of the variances of every neighborhood."""
    values = np.empty(len(nodes))
    for row, (members, inside) in enumerate(zip(nodes, is_near, strict=True)):
        near = points[members[inside]]
        spectrum = np.linalg.svd(near - near.mean(axis=0), compute_uv=False) ** 2
        values[row] = spectrum.sum() ** 2 / max((spectrum**2).sum(), np.finfo(float).tiny)
    return values


def _smoothed(points: FloatArray, values: FloatArray) -> FloatArray:
    near = np.argsort(cdist(points, points), axis=1, kind="stable")[:, :SMOOTHED]
    return np.asarray(values[near].mean(axis=1))


def _otsu(values: FloatArray) -> float:
    """Return the value below and above which the means differ most, by their sizes."""
    ordered = np.sort(values)
    count = np.arange(1, len(ordered))
    sums = np.cumsum(ordered)
    gap = (sums[-1] - sums[:-1]) / (len(ordered) - count) - sums[:-1] / count
    return float(ordered[int((count * (len(ordered) - count) * gap**2).argmax())])


def _dimension(away: FloatArray, radius: float) -> float:
    """Return the common dimension of neighborhoods: 1 over the mean of ln(R / r)."""
    inside = away[(away > 0.0) & (away <= radius)]
    mean = float(np.log(radius / inside).mean()) if len(inside) else 1.0
    return 1.0 / max(mean, np.finfo(float).eps)
