"""The energy of a network: errors of ranges, and nodes that are nearer than radios reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.energy import Intervals, descend
from isofold.structure.network.data import pairs_without_range

__all__ = ["Ranging", "relative_weights", "squared_errors"]

MOST_WEIGHT = 25.0
"""Most that a short range weighs, the median one being 1: very short ones would be all that
counts."""

SKIN = 1.2
"""Pairs without a range are watched up to so many radii: they may come nearer in a descent."""


def relative_weights(ranges: FloatArray, median: float) -> FloatArray:
    """Return weights for errors in proportion to the range: (median / range)², limited."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum((median / ranges) ** 2, MOST_WEIGHT))


@dataclass(frozen=True, eq=False)
class Ranging:
    """Ranges of nodes, in any unit, with what is fixed: the energy of a layout.

    Attributes
    ----------
    n_nodes : int
        Number of nodes.
    ranges : Intervals
        Pairs with ranges, and the weights of their squared errors.
    is_fixed : ndarray of bool of shape (n_nodes,)
        Nodes that stay where they are: anchors.
    radius : float or None
        Pairs without a range are at least so far apart.
    apart_weight : float
        Weight of the squares of what is missing to that.
    """

    n_nodes: int
    ranges: Intervals
    is_fixed: BoolArray
    radius: float | None
    apart_weight: float

    @property
    def scale(self) -> float:
        """How far ranges reach."""
        if self.radius is not None:
            return self.radius
        return float(self.ranges.upper.max(initial=np.finfo(np.float64).eps))

    @property
    def adjacency(self) -> sp.csr_array:
        """The symmetric graph; its values are numbers of ranges, counted from 1."""
        first, second = self.ranges.pairs.T
        number = np.arange(1, len(first) + 1)
        both = (np.concatenate([first, second]), np.concatenate([second, first]))
        shape = (self.n_nodes, self.n_nodes)
        graph = sp.coo_array((np.concatenate([number, number]), both), shape).tocsr()
        graph.sort_indices()
        return graph

    def apart(self, *layouts: FloatArray) -> Intervals:
        """Return the lower bounds of pairs without a range that are near in one of some layouts."""
        pairs: IntArray = np.empty((0, 2), dtype=np.intp)
        if self.radius is not None:
            reach = SKIN * self.radius
            pairs = pairs_without_range(layouts, self.ranges.pairs, reach)
        none = np.full(len(pairs), np.inf)
        lower = np.full(len(pairs), self.radius or 0.0)
        return Intervals(pairs, lower, none, np.full(len(pairs), self.apart_weight))

    def descended(
        self,
        Y: FloatArray,
        iterations: int,
        *,
        squeeze: FloatArray | None = None,
        tol: float = 1e-9,
    ) -> tuple[FloatArray, float]:
        """Return a layout after some iterations of descent, and its energy."""
        terms = [self.ranges, self.apart(Y)]
        fixed = np.flatnonzero(self.is_fixed)
        return descend(terms, Y, iterations, squeeze=squeeze, fixed=fixed, tol=tol)

    def restricted(self, nodes: IntArray, is_free: BoolArray) -> Ranging:
        """Return the ranging of some nodes, of which only the free ones move."""
        number = np.full(self.n_nodes, -1)
        number[nodes] = np.arange(len(nodes))
        pairs = number[self.ranges.pairs]
        kept = (pairs >= 0).all(axis=1)
        own = Intervals(
            np.ascontiguousarray(pairs[kept]),
            self.ranges.lower[kept],
            self.ranges.upper[kept],
            self.ranges.weights[kept],
        )
        is_fixed = self.is_fixed[nodes] | ~is_free[nodes]
        return Ranging(len(nodes), own, is_fixed, self.radius, self.apart_weight)


def squared_errors(terms: Intervals, Y: FloatArray, Z: FloatArray | None = None) -> FloatArray:
    """Return the weighted squared violations of pairs from a node in Y to one in Z (or Y)."""
    first, second = terms.pairs.T
    length = np.linalg.norm(Y[first] - (Y if Z is None else Z)[second], axis=1)
    excess = length - np.clip(length, terms.lower, terms.upper)
    return np.asarray(terms.weights * excess**2)
