"""Which cluster a point goes to: the cheapest of those whose medoids are within reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.clustering.subspaces import TIE

__all__ = ["CheapestClusters", "reachable"]

SLACK = 1.0 + 1e-9
"""Limits are widened by this much, so that rounding excludes no path of exactly that length."""


@dataclass(eq=False)
class CheapestClusters:
    """The cheapest cluster of every point among those offered so far, of equals the first.

    Attributes
    ----------
    labels : ndarray of int
        The clusters; -1 before any was offered.
    costs, squares, distances : ndarray
        What it costs, the squared distance from its subspace, and the distance from its medoid.
    """

    labels: IntArray
    costs: FloatArray
    squares: FloatArray
    distances: FloatArray

    @classmethod
    def none(cls, n: int) -> CheapestClusters:
        """Return n points to which no cluster was offered."""
        return cls(np.full(n, -1, dtype=np.intp), np.full(n, np.inf), np.zeros(n), np.zeros(n))

    def offer(
        self,
        cluster: int,
        rows: IntArray,
        squares: FloatArray,
        distances: FloatArray,
        *,
        rho: float,
    ) -> None:
        """Offer a cluster to some points."""
        costs = (1.0 - rho) * squares + rho * distances**2
        # Path lengths alone are compared exactly: then the path to a medoid leads through its
        # nodes.
        is_cheaper = costs < self.costs[rows] * (1.0 if rho == 1.0 else 1.0 - TIE)
        rows = rows[is_cheaper]
        self.labels[rows], self.costs[rows] = cluster, costs[is_cheaper]
        self.squares[rows], self.distances[rows] = squares[is_cheaper], distances[is_cheaper]


def reachable(costs: FloatArray, distances: FloatArray, rho: float) -> FloatArray:
    """Return the longest path to a medoid that can cost no more than what points cost now."""
    # Tiny costs lose digits, but no point is out of reach of its own medoid.
    lengths: FloatArray = np.maximum(np.sqrt(costs) / np.sqrt(rho), distances) * SLACK
    return lengths
