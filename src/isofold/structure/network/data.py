"""What is known of a sensor network: ranges, anchors, and how far radios reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.spatial import cKDTree

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.structure.given import Anchors
from isofold.structure.groups import read_points_of
from isofold.structure.problem import StructureProblem

__all__ = ["SensorNetwork", "pairs_without_range"]

CONTRADICTORY = 0.5
"""Relative difference from their mean from which on ranges of one pair are no noise."""


@dataclass(frozen=True, eq=False)
class SensorNetwork:
    """Nodes, ranges between some of them, and anchors, whose positions are known.

    Make one by `SensorNetwork.of`, or a benchmark by `make_network`.

    Attributes
    ----------
    n_nodes : int
        Number of nodes, anchors included.
    pairs : ndarray of int of shape (n_ranges, 2)
        Pairs of nodes with a range, each once, the smaller number first, in order.
    ranges : ndarray of shape (n_ranges,)
        Their measured distances.
    anchors : Anchors
        The nodes with known positions, and these.
    radius : float or None
        How far radios reach: nodes without a range are at least so far apart. None if not known.
    positions : ndarray of shape (n_nodes, n_components) or None
        Where the nodes truly are, if that is known.

    Examples
    --------
    >>> from isofold.structure.network import SensorNetwork
    >>> SensorNetwork.of(3, [[0, 1], [2, 1]], [1.0, 2.0]).pairs
    array([[0, 1],
           [1, 2]])
    """

    n_nodes: int
    pairs: IntArray
    ranges: FloatArray
    anchors: Anchors = field(default_factory=Anchors)
    radius: float | None = None
    positions: FloatArray | None = None

    @classmethod
    def of(
        cls,
        n_nodes: int,
        pairs: Any,
        ranges: Any,
        *,
        anchors: Any = (),
        anchor_positions: Any = (),
        radius: float | None = None,
    ) -> Self:
        """Return a network, checked.

        Parameters
        ----------
        n_nodes : int
            Number of nodes, anchors included.
        pairs : array-like of int of shape (n_ranges, 2)
            Pairs of nodes in any order. A pair may come twice, as radios measure both ways: the
            mean of its ranges counts.
        ranges : array-like of shape (n_ranges,)
            Their measured distances.
        anchors : array-like of int of shape (n_anchors,), default=()
            Nodes with known positions.
        anchor_positions : array-like of shape (n_anchors, n_components), default=()
            Their positions.
        radius : float or None, default=None
            How far radios reach, if every pair within it has a range.

        Returns
        -------
        SensorNetwork
            The network.

        Raises
        ------
        InvalidInputError
            If a range is negative, NaN or infinite, a node is not there, the radius is no length,
            or ranges of one pair differ by more than half of their mean.
        """
        problem = StructureProblem(n_nodes).with_distances(pairs, ranges)
        if np.isinf(problem.bounds.upper).any():
            msg = "A range is infinite. Leave out pairs that were not measured."
            raise InvalidInputError(msg)
        if radius is not None and not (np.isfinite(radius) and radius > 0.0):
            msg = f"radius={radius!r} must be a positive length, or None if it is not known."
            raise InvalidInputError(msg)
        if len(read_points_of(anchors, name="anchors")):
            problem = problem.with_anchors(anchors, anchor_positions)
        one, length = _each_once(problem.bounds.pairs, problem.bounds.upper)
        reach = None if radius is None else float(radius)
        return cls(int(n_nodes), one, length, problem.anchors, reach)

    @property
    def degrees(self) -> IntArray:
        """Number of ranges of each node."""
        return np.bincount(self.pairs.ravel(), minlength=self.n_nodes)

    def problem(self, near: Any = None, *, weights: Any = 1.0) -> StructureProblem:
        """Return the network as a problem of `StructureFromBounds`.

        Parameters
        ----------
        near : array-like of shape (n_nodes, n_components) or None, default=None
            A layout. If radios have a radius, pairs without a range that are nearer in it than
            that become lower bounds; there is no list of all pairs.
        weights : array-like of shape (n_ranges,) or float, default=1.0
            Weights of the squared errors of the ranges.

        Returns
        -------
        StructureProblem
            Ranges as distances, anchors, and lower bounds.
        """
        problem = StructureProblem(self.n_nodes).with_distances(
            self.pairs, self.ranges, weights=weights
        )
        if len(self.anchors):
            problem = problem.with_anchors(self.anchors.points, self.anchors.positions)
        if near is None or self.radius is None:
            return problem
        layout = np.asarray(near, dtype=np.float64)
        apart = pairs_without_range([layout], self.pairs, self.radius)
        return problem.with_bounds(apart, lower=self.radius)


def pairs_without_range(layouts: Sequence[FloatArray], pairs: IntArray, reach: float) -> IntArray:
    """Return the pairs within reach in one of some layouts that have no range, in order."""
    n = len(layouts[0])
    near = [cKDTree(Y).query_pairs(reach, output_type="ndarray") for Y in layouts]
    keys = np.unique(np.concatenate([_keys(np.sort(rows, axis=1), n) for rows in near]))
    # Both are sorted and unique: ranges are found by bisection.
    known = _keys(pairs, n)
    at = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
    is_known = known[at] == keys if len(known) else np.zeros(len(keys), dtype=bool)
    keys = keys[~is_known]
    return np.column_stack([keys // n, keys % n]).astype(np.intp)


def _keys(pairs: IntArray, n: int) -> IntArray:
    return np.asarray(pairs[:, 0] * n + pairs[:, 1])


def _each_once(pairs: IntArray, ranges: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each pair once, the smaller node first, with the mean of its ranges."""
    ordered = np.sort(pairs, axis=1)
    one, which = np.unique(ordered, axis=0, return_inverse=True)
    which = which.ravel()
    counts = np.bincount(which, minlength=len(one))
    mean = np.bincount(which, ranges, minlength=len(one)) / np.maximum(counts, 1)
    apart = np.abs(ranges - mean[which]) > CONTRADICTORY * mean[which]
    if apart.any():
        first, second = ordered[np.argmax(apart)]
        given = ranges[(ordered == ordered[np.argmax(apart)]).all(axis=1)]
        msg = (
            f"Nodes {first} and {second} have the ranges {', '.join(f'{r:g}' for r in given)}, "
            f"which contradict each other: their mean would be wrong. Pass the right one."
        )
        raise InvalidInputError(msg)
    return one.astype(np.intp), mean
