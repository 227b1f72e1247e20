"""What a map of neighbors is made of: points, distances or a graph, behind one face.

Copies of a sample are one node, since they have no length between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isofold._findings import setting
from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg import coordinates_from_gram, landmark_scaling, principal_coordinates
from isofold.neighbors import NeighborSearch, build_graph
from isofold.neighbors.duplicates import Distinct
from isofold.neighbors.graph import NeighborGraph, distances_between_nodes
from isofold.neighbors.near_points import NearPoints, no_neighbors
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.search.build import Neighbors
from isofold.stress.kept_lengths import LengthsToKeep
from isofold.stress.near_lists import NearLists

__all__ = ["NearSamples"]

N_AXES = 50
"""Principal axes in which strangers are compared: the rest of a distance is mostly noise."""

AXES_SAMPLE = 10_000
"""Rows from which principal axes are found; all are projected."""

N_LANDMARKS = 200
"""Samples by whose distances others start where there are no coordinates."""

FLAT = 1e-9
"""Axes of landmarks are left out below this part of the widest one."""

KEPT_PART = 2 / 3
"""Part of the neighbors, the nearest ones, whose lengths are kept: the others are near enough to
attract, and too far for a plane to have room for all of them."""

DISCONNECTED_GAP = 1.5
"""Distance between components of a graph at the start, in units of the longest path."""


@dataclass(frozen=True, eq=False)
class NearSamples:
    """Samples with their nearest neighbors.

    Attributes
    ----------
    distinct : Distinct
        Which samples are copies; nodes stand for them.
    lists : NearLists
        The nearest other nodes of every node, in a unit.
    unit : float
        The median distance to the last of the kept neighbors.
    wanted : LengthsToKeep
        Lengths between the nearest of them, in this unit.
    start : ndarray of shape (n_nodes, p)
        The leading axes of the data.
    search : NeighborSearch or None
        Index over the nodes, if they are points.
    """

    distinct: Distinct
    lists: NearLists
    unit: float
    wanted: LengthsToKeep
    start: FloatArray
    search: NeighborSearch | None

    @property
    def n_nodes(self) -> int:
        """Number of distinct samples."""
        return self.distinct.n_nodes

    @classmethod
    def read(
        cls,
        X: Any,
        metric: str,
        k: int,
        p: int,
        n_jobs: int | None,
        *,
        ready: NearPoints | None = None,
    ) -> NearSamples:
        """Return the samples with their k nearest neighbors and a start in p dimensions."""
        if metric != "precomputed":
            if ready is not None:
                _check_ready(X, ready, k)
            # A copy of the points: the map keeps them, and the caller may write to X.
            return cls._of_points(ready or NearPoints.of(X, k, method="fast", n_jobs=n_jobs), k, p)
        if sp.issparse(X):
            return cls._of_graph(build_graph(X, metric="precomputed"), k, p)
        return cls._of_distances(X, k, p)

    @classmethod
    def _of_points(cls, near: NearPoints, k: int, p: int) -> NearSamples:
        axes = _leading_axes(near.search.points)
        lists = _lists_of(near.first(k))
        return cls._gathered(near.distinct, lists, k, axes, axes[:, :p], search=near.search)

    @classmethod
    def _of_distances(cls, X: FloatArray, k: int, p: int) -> NearSamples:
        between, distinct = distances_between_nodes(X)
        n = len(between)
        found = no_neighbors()
        if n > 1:
            found = Neighbors(*nearest_in_rows(between, min(k, n - 1), own=np.arange(n)))
        landmarks = _landmarks(n)
        start = _scaled(between[landmarks].astype(np.float64), landmarks, p)
        nothing = np.empty((n, 0))
        return cls._gathered(distinct, _lists_of(found), k, nothing, start, table=between)

    @classmethod
    def _of_graph(cls, graph: NeighborGraph, k: int, p: int) -> NearSamples:
        table = graph.adjacency
        rows = np.repeat(np.arange(graph.n_nodes), np.diff(table.indptr))
        order = np.lexsort((table.indices, table.data, rows))
        lists = NearLists(
            table.indptr.astype(np.int32), table.indices[order], table.data[order]
        ).nearest(k)
        landmarks = _landmarks(graph.n_nodes)
        paths = dijkstra(table, directed=False, indices=landmarks)
        known = np.isfinite(paths)
        paths[~known] = DISCONNECTED_GAP * paths[known].max(initial=0.0)
        distinct = Distinct(graph.node_of_sample, graph.sample_of_node)
        nothing = np.empty((graph.n_nodes, 0))
        return cls._gathered(distinct, lists, k, nothing, _scaled(paths, landmarks, p))

    @classmethod
    def _gathered(
        cls,
        distinct: Distinct,
        lists: NearLists,
        k: int,
        axes: FloatArray,
        start: FloatArray,
        *,
        table: FloatArray | None = None,
        search: NeighborSearch | None = None,
    ) -> NearSamples:
        """Return the samples in the unit of their kept lengths."""
        kept = lists.nearest(n_kept(k))
        unit = float(np.median(kept.reach)) or 1.0
        kept = kept.in_unit(unit)
        wanted = LengthsToKeep(
            kept.symmetric(),
            kept.reach.astype(np.float32),
            (axes / unit).astype(np.float32),
            table,
            unit,
        )
        return cls(distinct, lists.in_unit(unit), unit, wanted, start, search)


def _check_ready(X: FloatArray, near: NearPoints, k: int) -> None:
    """Refuse neighbors of other samples, or too few."""
    n = near.distinct.n_samples
    if len(X) != n:
        msg = f"X has {len(X)} rows, but near has {n} samples. Pass the same samples."
        raise InvalidInputError(msg)
    found = near.found.indices.shape[1]
    if found < min(k, near.n_nodes - 1):
        msg = f"near has {found} neighbors of a sample. Pass at least {setting('n_neighbors', k)}."
        raise InvalidInputError(msg)


def n_kept(n_neighbors: int) -> int:
    """Return how many of the neighbors have lengths that are kept."""
    return max(1, round(KEPT_PART * n_neighbors))


def _lists_of(found: Neighbors) -> NearLists:
    """Return found neighbors as lists."""
    n, k = found.indices.shape
    indptr = (k * np.arange(n + 1)).astype(np.int32)
    return NearLists(indptr, found.indices.ravel(), found.distances.ravel())


def _leading_axes(points: FloatArray) -> FloatArray:
    """Return points in their leading principal axes, found from some of them."""
    n, d = points.shape
    if d > n:
        # Products of rows are fewer numbers than the rows themselves.
        centered = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
        return coordinates_from_gram(centered @ centered.T, min(n, N_AXES)).coordinates
    some = points[np.linspace(0, n - 1, min(n, AXES_SAMPLE)).astype(np.intp)]
    found = principal_coordinates(some, min(d, N_AXES))
    if len(some) == n:
        return found.coordinates
    axes = np.empty((n, found.axes.shape[1]), dtype=points.dtype)
    step = block_rows(2 * 8 * d, n)
    for start in range(0, n, step):
        block = points[start : start + step]
        axes[start : start + step] = (block - found.mean) @ found.axes
    return axes


def _landmarks(n: int) -> IntArray:
    """Return evenly spaced samples: a choice without chance."""
    return np.linspace(0, n - 1, min(n, N_LANDMARKS)).astype(np.intp)


def _scaled(distances: FloatArray, landmarks: IntArray, p: int) -> FloatArray:
    """Return the start of all samples by their distances to landmarks."""
    unit = float(distances.max(initial=0.0)) or 1.0
    n_axes = min(p, len(landmarks))
    return landmark_scaling((distances / unit) ** 2, landmarks, n_axes, tol=FLAT)
