"""Where a structure begins: landmark scaling of shortest paths through known lengths and bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from isofold._typing import FloatArray, IntArray
from isofold.linalg import procrustes
from isofold.linalg.scaling import landmark_scaling
from isofold.structure.energy import Stretch
from isofold.structure.given import DistanceBounds
from isofold.structure.problem import StructureProblem
from isofold.structure.rules import StructureRules

__all__ = ["Beginning", "begin", "group_lengths", "known_reach", "onto_anchors", "parts_of"]

FEWEST_OF_AXIS = 1e-9
"""Eigenvalue of an axis of the start, relative to the largest, that is only rounding."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """Where points begin, in more columns than the structure has, and what pulls them apart."""

    places: FloatArray
    pull: Stretch


def begin(
    problem: StructureProblem,
    unit: float,
    n_columns: int,
    rng: np.random.Generator,
    rules: StructureRules,
) -> Beginning:
    """Return the start of a part that hangs together, in natural units."""
    n = problem.n_points
    landmarks = rng.choice(n, min(n, rules.landmarks), replace=False)
    paths = dijkstra(known_reach(problem), directed=False, indices=landmarks) / unit
    wanted = min(n_columns, len(landmarks))
    scaled = landmark_scaling(paths**2, landmarks, wanted, tol=FEWEST_OF_AXIS)
    # Paths are longer than straight lines.
    places = rules.jitter * rng.standard_normal((n, n_columns))
    places[:, : scaled.shape[1]] += rules.shrink * scaled
    n_pairs = rules.pairs_per_point * n
    first, second = rng.integers(len(landmarks), size=n_pairs), rng.integers(n, size=n_pairs)
    apart = paths[first, second]
    is_pair = apart > 0.0
    pairs = np.column_stack([landmarks[first], second])[is_pair]
    # All pulls together have the strength of one a point.
    pulls = n / max(int(is_pair.sum()), 1) / apart[is_pair]
    return Beginning(places, Stretch(np.ascontiguousarray(pairs, dtype=np.intp), pulls))


def group_lengths(problem: StructureProblem) -> DistanceBounds:
    """Return the distances inside of rigid groups; a pair in several groups once, by their mean."""
    if not problem.groups:
        return DistanceBounds()
    found = [group.pairs() for group in problem.groups]
    pairs = np.sort(np.concatenate([pairs for pairs, _ in found]), axis=1)
    lengths = np.concatenate([lengths for _, lengths in found])
    keys, which = np.unique(pairs[:, 0] * problem.n_points + pairs[:, 1], return_inverse=True)
    mean = np.bincount(which, lengths) / np.bincount(which)
    once = np.column_stack([keys // problem.n_points, keys % problem.n_points])
    return DistanceBounds(once, mean, mean, np.ones(len(once)))


def known_reach(problem: StructureProblem) -> sp.csr_array:
    """Return how far apart pairs of points can be at most, where that is known."""
    known = group_lengths(problem).joined(problem.bounds).joined(problem.angles)
    pairs, upper = known.pairs, known.upper
    anchors = problem.anchors
    if len(anchors) > 1:
        # Anchors are where they are: each is tied to the first, at its true distance.
        ties = np.column_stack([np.full(len(anchors) - 1, anchors.points[0]), anchors.points[1:]])
        apart = np.linalg.norm(anchors.positions[1:] - anchors.positions[0], axis=1)
        pairs, upper = np.concatenate([pairs, ties]), np.concatenate([upper, apart])
    has_bound = np.isfinite(upper)
    pairs, upper = np.sort(pairs[has_bound], axis=1), upper[has_bound]
    # Of several bounds on one pair the least counts; a length of zero must stay in the graph.
    order = np.lexsort((upper, pairs[:, 1], pairs[:, 0]))
    pairs, upper = pairs[order], np.maximum(upper[order], np.finfo(float).tiny)
    is_first = np.ones(len(pairs), dtype=bool)
    is_first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    rows, columns = pairs[is_first].T
    shape = (problem.n_points, problem.n_points)
    return sp.csr_array((upper[is_first], (rows, columns)), shape=shape)


def parts_of(problem: StructureProblem) -> IntArray:
    """Return the connected part of each point, the largest first."""
    labels = connected_components(known_reach(problem), directed=False)[1]
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[labels])


def onto_anchors(Y: FloatArray, anchors: IntArray, positions: FloatArray) -> FloatArray:
    """Return points moved so that anchors are near their positions, and anchors put onto them."""
    d = positions.shape[1]
    moved = Y.copy()
    fit = procrustes(Y[anchors, :d], positions)
    moved[:, :d] = fit.transform.apply(np.ascontiguousarray(Y[:, :d]))
    moved[anchors] = 0.0
    moved[anchors, :d] = positions
    return moved
