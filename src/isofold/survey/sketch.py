"""A sketch of the data: few nodes, cut where edges leap over gaps, with landmarks.

All shapes are recognized on sketches, so that the work does not grow with the data. A graph of many
nodes is contracted to the cells of random nodes along the graph: cells that touch are neighbors.
This keeps the layers of a roll apart, as the graph does, and smooths noise within the cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg.eigen import eigh_extreme
from isofold.neighbors import (
    NeighborGraph,
    find_outliers,
    nearest_source,
    subgraph,
)
from isofold.neighbors.spanning import component_labels, spanning_forest_of

__all__ = ["Landmarks", "SketchedComponent", "place_landmarks", "reduced", "sketch"]

MOST_NODES, N_CELLS = 4000, 3000
"""A graph of more nodes is contracted to so many cells."""

MOST_FEATURES, PCA_SAMPLE = 100, 400
"""Points of more features are described by as many directions of a sample of so many of them."""

LEAST_LENGTH = 1e-6
"""Standard deviation along a direction, over the largest, that rounding may have made."""

LEAPING = 5.0
"""An edge leaps over a gap if it exceeds the mean edge at one of its ends by this factor."""

FEW_SHARED, LOOSE, STEEP = 3, 1.2, 0.5
"""An edge may join two layers if its ends share so few neighbors, it exceeds the mean edge at them
by this factor, and less than this fraction of its squared length lies in the planes of both
ends."""

LEAST_NODES, LEAST_FRACTION, MOST_COMPONENTS = 30, 0.05, 6
"""Components of fewer nodes, or a smaller fraction of them, are not looked at, and at most so many
are."""


@dataclass(frozen=True, eq=False)
class SketchedComponent:
    """A connected component of the data.

    Attributes
    ----------
    graph : NeighborGraph
        Its graph, connected.
    points : ndarray of shape (n_nodes, d) or None
        Points of its nodes, if they are known.
    fraction : float
        Fraction of all nodes that are in it.
    """

    graph: NeighborGraph
    points: FloatArray | None
    fraction: float

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Nodes spread evenly over a component, each the farthest from those before.

    Attributes
    ----------
    nodes : ndarray of int of shape (n_landmarks,)
        The nodes.
    to_nodes : ndarray of shape (n_landmarks, n_nodes)
        Distances along the graph to all nodes.
    """

    nodes: IntArray
    to_nodes: FloatArray

    @property
    def distances(self) -> FloatArray:
        """Distances between the landmarks, symmetric."""
        between = self.to_nodes[:, self.nodes]
        return np.minimum(between, between.T)

    def first(self, n_landmarks: int) -> Landmarks:
        """Return the first landmarks, which are spread evenly, too."""
        return Landmarks(self.nodes[:n_landmarks], self.to_nodes[:n_landmarks])


def reduced(points: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Return points of many features by the main directions of a sample of them."""
    n, d = points.shape
    if d <= MOST_FEATURES:
        return points
    sample = points[rng.choice(n, min(n, PCA_SAMPLE), replace=False)].astype(np.float64)
    sample -= sample.mean(axis=0)
    # Products of rows: directions that are lost in their rounding have no part in distances.
    _, left = eigh_extreme(sample @ sample.T, min(len(sample), MOST_FEATURES))
    axes = sample.T @ left
    lengths = np.linalg.norm(axes, axis=0)
    seen = lengths > LEAST_LENGTH * lengths.max()
    return np.asarray(points @ (axes[:, seen] / lengths[seen]).astype(points.dtype))


def sketch(
    points: FloatArray | None,
    graph: NeighborGraph,
    rng: np.random.RandomState,
    *,
    has_layers: bool = True,
) -> tuple[SketchedComponent, ...]:
    """Return the large parts of a graph, the largest first; single outliers are left out.

    Edges that may join two layers are left out, unless the data are known to have none.
    """
    if graph.n_edges:
        nodes = np.flatnonzero(~find_outliers(graph, least=2))
        points, graph = None if points is None else points[nodes], subgraph(graph, nodes)
    if graph.n_nodes > MOST_NODES:
        points, graph = contract(points, graph, rng)
    labels = component_labels(graph.n_nodes, graph.edges[~leaps(graph)])
    sizes = np.bincount(labels)
    least = max(LEAST_NODES, LEAST_FRACTION * graph.n_nodes)
    large = [c for c in np.argsort(-sizes, kind="stable")[:MOST_COMPONENTS] if sizes[c] >= least]
    return tuple(
        _component(points, graph, np.flatnonzero(labels == c), has_layers=has_layers) for c in large
    )


def _component(
    points: FloatArray | None, graph: NeighborGraph, nodes: IntArray, *, has_layers: bool
) -> SketchedComponent:
    own = subgraph(graph, nodes)
    own = _with_edges(own, ~leaps(own))
    # Without its leaps a component may lose nodes that hang by them alone.
    labels = component_labels(own.n_nodes, own.edges)
    core = np.flatnonzero(labels == np.bincount(labels).argmax())
    at_nodes = None if points is None else points[nodes[core]].astype(np.float64)
    own = subgraph(own, core)
    if at_nodes is not None and has_layers:
        own = _with_edges(own, ~_may_bridge(at_nodes, own))
    return SketchedComponent(own, at_nodes, len(core) / graph.n_nodes)


def _with_edges(graph: NeighborGraph, keep: BoolArray) -> NeighborGraph:
    return replace(
        graph,
        edges=graph.edges[keep],
        lengths=graph.lengths[keep],
        is_bridge=graph.is_bridge[keep],
    )


def _may_bridge(points: FloatArray, graph: NeighborGraph) -> BoolArray:
    """Return the edges that may join two layers, but those that hold the graph together."""
    links = graph.adjacency.astype(bool).astype(np.int32)
    first, second = graph.edges.T
    n_shared = np.asarray((links @ links)[first, second]).ravel()
    is_loose = (n_shared <= FEW_SHARED) & (graph.lengths > LOOSE * _spacing(graph).mean(axis=1))
    is_loose[spanning_forest_of(graph.n_nodes, graph.edges, graph.lengths)] = False
    for edge in np.flatnonzero(is_loose):
        ends = graph.edges[edge]
        along = points[ends[0]] - points[ends[1]]
        in_plane = [_fraction_in_plane(points, links, end, along) for end in ends]
        is_loose[edge] = max(in_plane) < STEEP
    return np.asarray(is_loose)


def _fraction_in_plane(
    points: FloatArray, links: sp.csr_array, node: int, along: FloatArray
) -> float:
    """Return the fraction of a squared length that lies in the plane of a node's neighbors."""
    near = links.indices[links.indptr[node] : links.indptr[node + 1]]
    offsets = points[near] - points[near].mean(axis=0)
    axes = np.linalg.svd(offsets, full_matrices=False)[2][:2]
    return float(((axes @ along) ** 2).sum() / (along @ along))


def leaps(graph: NeighborGraph) -> BoolArray:
    """Return which edges are bridges, or far longer than others at one of their ends."""
    return np.asarray(graph.is_bridge | (graph.lengths > LEAPING * _spacing(graph).min(axis=1)))


def _spacing(graph: NeighborGraph) -> FloatArray:
    """Return the mean edges at the two ends of every edge."""
    both = np.concatenate([graph.lengths, graph.lengths])
    total = np.bincount(graph.edges.T.ravel(), both, minlength=graph.n_nodes)
    return (total / np.maximum(graph.degrees, 1))[graph.edges]


def contract(
    points: FloatArray | None, graph: NeighborGraph, rng: np.random.RandomState
) -> tuple[FloatArray | None, NeighborGraph]:
    """Return the graph of the cells of random nodes, and the points of those nodes."""
    sources = np.sort(rng.choice(graph.n_nodes, N_CELLS, replace=False))
    near = nearest_source(graph, sources)
    reached = near.sources >= 0
    cell = np.searchsorted(sources, np.maximum(near.sources, 0))
    first, second = graph.edges.T
    crosses = reached[first] & reached[second] & (cell[first] != cell[second]) & ~graph.is_bridge
    first, second = first[crosses], second[crosses]
    pairs = np.sort(np.stack([cell[first], cell[second]], axis=1), axis=1)
    lengths = near.distances[first] + graph.lengths[crosses] + near.distances[second]
    # The shortest path between two cells is the first of its pair in this order.
    order = np.lexsort((lengths, pairs[:, 1], pairs[:, 0]))
    pairs, at = np.unique(pairs[order], axis=0, return_index=True)
    lengths = lengths[order][at]
    at_cells = None if points is None else points[sources].astype(np.float64)
    if at_cells is not None:
        lengths = np.linalg.norm(at_cells[pairs[:, 0]] - at_cells[pairs[:, 1]], axis=1)
    every = np.arange(N_CELLS)
    coarse = NeighborGraph(N_CELLS, pairs, lengths, every, every, np.zeros(len(pairs), dtype=bool))
    return at_cells, coarse


def place_landmarks(graph: NeighborGraph, n_landmarks: int) -> Landmarks:
    """Return landmarks of a connected graph; the first is far from most nodes."""
    wanted = min(n_landmarks, graph.n_nodes)
    start = _paths_from(graph, 0)
    nodes, rows = [int(start.argmax())], []
    nearest = np.full(graph.n_nodes, np.inf)
    while True:
        rows.append(_paths_from(graph, nodes[-1]))
        nearest = np.minimum(nearest, rows[-1])
        if len(nodes) == wanted:
            return Landmarks(np.array(nodes), np.array(rows, dtype=np.float64))
        nodes.append(int(nearest.argmax()))


def _paths_from(graph: NeighborGraph, node: int) -> FloatArray:
    """Return the lengths of the shortest paths from a node, without the checks of many calls."""
    lengths: FloatArray = csgraph.dijkstra(graph.adjacency, directed=True, indices=[node])[0]
    return lengths.astype(graph.lengths.dtype, copy=False)
