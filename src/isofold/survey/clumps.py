"""Clumps: groups of nodes that few edges join, none of them a manifold.

The union graph of a sample is contracted to random cells, and cut in two again and again where the
normalized cut is least (Shi and Malik 2000). The cut through the middle of an even cloud of n nodes
in d dimensions crosses about k n^((d-1)/d) edges. Groups whose cut crosses far fewer are clumps.
Dense spots on a sheet are not: the sparse nodes around a spot all have neighbors in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import NeighborGraph, balls_around, nearest_source, subgraph
from isofold.neighbors.levina_bickel import inverse_dimensions
from isofold.neighbors.near_points import NearPoints
from isofold.survey.fullness import fullness

__all__ = ["Clumps", "find_clumps"]

N_NEIGHBORS, N_CELLS, MOST_NODES = 12, 200, 2000

LEAST_NODES, LEAST_FRACTION = 15, 0.03
"""Smallest number and fraction of nodes of a clump."""

MOST_CROSSING = 0.08
"""Edges that cross a cut over those through the middle of an even cloud."""

LONGER = 1.2
"""Mean edge across a cut over that on its sides, from which on it lies in a valley."""

MOST_DIMENSIONS = 10.0

LEAST_FULLNESS = 0.6
"""Fullness from which on a clump is no manifold."""


@dataclass(frozen=True)
class Clumps:
    """Groups of nodes.

    Attributes
    ----------
    fractions : tuple of float
        Their fractions of the nodes, descending.
    shapeless : float
        Fraction of the nodes in groups that are no manifold.
    """

    fractions: tuple[float, ...] = (1.0,)
    shapeless: float = 0.0


def find_clumps(
    points: FloatArray, rng: np.random.RandomState, near: NearPoints | None = None
) -> Clumps:
    """Return the clumps of some points, of which the nearest others may be known."""
    if len(points) > MOST_NODES:
        points = points[np.sort(rng.choice(len(points), MOST_NODES, replace=False))]
        near = None
    if len(points) < 2 * LEAST_NODES:
        return Clumps()
    near = NearPoints.of(points, N_NEIGHBORS) if near is None else near
    graph = near.graph(N_NEIGHBORS, kind="union")
    groups = _split_all(graph, _dimension(graph), rng)
    shapeless = sum(len(g) for g in groups if _is_shapeless(points, graph, g, rng))
    fractions = tuple(sorted((len(g) / graph.n_nodes for g in groups), reverse=True))
    return Clumps(fractions, shapeless / graph.n_nodes)


def _split_all(
    graph: NeighborGraph, dimension: float, rng: np.random.RandomState
) -> list[IntArray]:
    """Cut the graph until no group has a sparse cut."""
    sources = np.sort(rng.choice(graph.n_nodes, min(N_CELLS, graph.n_nodes), replace=False))
    near = nearest_source(graph, sources).sources
    # Pieces without a source are too small to matter, and go with the first.
    cell = np.searchsorted(sources, np.maximum(near, sources[0]))
    sizes = np.bincount(cell, minlength=len(sources))
    first, second = cell[graph.edges.T]
    crossings, lengths = np.zeros((2, len(sources), len(sources)))
    np.add.at(crossings, (first, second), 1.0)
    np.add.at(lengths, (first, second), graph.lengths)
    crossings, lengths = crossings + crossings.T, lengths + lengths.T
    open_groups: list[IntArray] = [np.arange(len(sources))]
    closed: list[IntArray] = []
    while open_groups:
        group = open_groups.pop()
        own = np.ix_(group, group)
        parts = _split(crossings[own], sizes[group], graph.n_nodes, dimension)
        if parts is None or not _is_valley(crossings[own], lengths[own], parts):
            closed.append(np.flatnonzero(np.isin(cell, group)))
        else:
            open_groups += [group[parts], group[~parts]]
    return closed


def _split(
    crossings: FloatArray, sizes: IntArray, n_nodes: int, dimension: float
) -> BoolArray | None:
    """Return the sparsest cut along the second eigenvector, or None if it is not sparse."""
    degrees = np.maximum(crossings.sum(axis=1), 1.0)
    root = np.sqrt(degrees)
    _, vectors = np.linalg.eigh(crossings / np.outer(root, root))
    if vectors.shape[1] < 2:
        return None
    # Components that no edge joins share the largest eigenvalue; every mix of their vectors
    # separates them.
    order = np.argsort(vectors[:, -2] / root, kind="stable")
    ordered = crossings[np.ix_(order, order)]
    inside = np.cumsum(np.cumsum(ordered, axis=0), axis=1).diagonal()[:-1]
    cut = np.cumsum(ordered.sum(axis=1))[:-1] - inside
    left = np.cumsum(sizes[order])[:-1]
    smaller = np.minimum(left, sizes.sum() - left)
    expected = N_NEIGHBORS * np.maximum(smaller, 1) ** (1.0 - 1.0 / dimension)
    is_large = smaller >= max(LEAST_NODES, LEAST_FRACTION * n_nodes)
    crossing = np.where(is_large, cut / expected, np.inf)
    best = int(crossing.argmin()) if len(crossing) else 0
    if not len(crossing) or crossing[best] > MOST_CROSSING:
        return None
    parts = np.zeros(len(sizes), dtype=bool)
    parts[order[: best + 1]] = True
    return parts


def _is_valley(crossings: FloatArray, lengths: FloatArray, parts: BoolArray) -> bool:
    """Return whether edges across a cut are longer than those on both sides of it."""
    across = np.ix_(parts, ~parts)
    if not crossings[across].any():
        return True
    sides = [np.ix_(side, side) for side in (parts, ~parts)]
    inside = np.mean([lengths[side].sum() / max(crossings[side].sum(), 1.0) for side in sides])
    return bool(lengths[across].sum() / crossings[across].sum() > LONGER * inside)


def _dimension(graph: NeighborGraph) -> float:
    """Return the Levina-Bickel dimension, at least 1 and at most what sparse cuts can show."""
    seeds = np.linspace(0, graph.n_nodes - 1, min(graph.n_nodes, 300)).astype(np.intp)
    balls = balls_around(graph, seeds, np.full(len(seeds), 2 * N_NEIGHBORS))
    full = balls.sizes == 2 * N_NEIGHBORS
    distances = balls.distances[np.repeat(full, balls.sizes)].reshape(-1, 2 * N_NEIGHBORS)
    if not len(distances):
        return 1.0
    inverse = inverse_dimensions(distances[:, 1:]).mean()
    return float(np.clip(1.0 / max(inverse, 1e-3), 1.0, MOST_DIMENSIONS))


def _is_shapeless(
    points: FloatArray, graph: NeighborGraph, group: IntArray, rng: np.random.RandomState
) -> bool:
    return fullness(points[group], subgraph(graph, group), rng) > LEAST_FULLNESS
