"""The neighbor graph: nodes are distinct points, edges are lengths to be kept.

Two graphs are offered. The *union* joins two points if either is among the k nearest of the
other. It is connected most often, but where dense data lie beside sparse data a sparse point
reaches across a gap into the dense part, and one such bridge folds the embedding. The
*mutual* graph asks both, which removes the bridges; the components it leaves behind are joined
by those edges of the union's minimum spanning tree that lead from one to another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._findings import setting
from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_choice, check_n_neighbors, check_points, check_positive
from isofold.exceptions import InvalidInputError
from isofold.neighbors import _edges
from isofold.neighbors.directed import (
    DirectedEdges,
    contract,
    edges_from_lists,
    edges_of,
    no_directed_edges,
    pair_keys,
)
from isofold.neighbors.duplicates import Distinct, find_distinct, from_labels
from isofold.neighbors.precomputed import check_distances, check_lengths, nearest_in_rows
from isofold.neighbors.search.build import METRICS, build_search
from isofold.neighbors.spanning import component_labels, spanning_forest_of

DEFAULT_N_NEIGHBORS = 12
KINDS = ("union", "mutual")


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """An undirected graph of lengths between distinct points.

    Attributes
    ----------
    n_nodes : int
        Number of distinct points.
    edges : ndarray of shape (n_edges, 2)
        Node pairs i < j, each once, in lexicographic order.
    lengths : ndarray of shape (n_edges,)
        Their lengths, all positive.
    node_of_sample : ndarray of shape (n_samples,)
        The node at which a sample sits; copies of a sample share one.
    sample_of_node : ndarray of shape (n_nodes,)
        The first sample of a node.
    is_bridge : ndarray of shape (n_edges,)
        Whether an edge was added afterwards to join components.
    """

    n_nodes: int
    edges: IntArray
    lengths: FloatArray
    node_of_sample: IntArray
    sample_of_node: IntArray
    is_bridge: BoolArray

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def n_samples(self) -> int:
        """Number of samples, copies included."""
        return len(self.node_of_sample)

    @property
    def bridges(self) -> IntArray:
        """Edges that were added to join components, shape (n_bridges, 2)."""
        return self.edges[self.is_bridge]

    @cached_property
    def degrees(self) -> IntArray:
        """Number of edges at every node."""
        return np.bincount(self.edges.ravel(), minlength=self.n_nodes)

    @cached_property
    def adjacency(self) -> sp.csr_array:
        """Lengths as a symmetric sparse matrix."""
        return symmetric_matrix(self.n_nodes, self.edges, self.lengths)

    def with_bridges(self, edges: IntArray, lengths: FloatArray) -> NeighborGraph:
        """Return a graph with further edges, recorded as bridges.

        Parameters
        ----------
        edges : ndarray of shape (n_bridges, 2)
            Node pairs in any order. Pairs that the graph has already are left as they are.
        lengths : ndarray of shape (n_bridges,)
            Their lengths.

        Returns
        -------
        NeighborGraph
            The joined graph; this one stays as it is.

        Raises
        ------
        InvalidInputError
            If a bridge is a loop, leads to no node, or has no positive finite length.
        """
        bridges = np.sort(np.asarray(edges, dtype=np.intp).reshape(-1, 2), axis=1)
        bridge_lengths = np.asarray(lengths, dtype=self.lengths.dtype)
        _check_bridges(bridges, bridge_lengths, self.n_nodes)
        return self._joined(bridges, bridge_lengths, np.ones(len(bridges), dtype=bool))

    def with_edges_of(self, other: NeighborGraph) -> NeighborGraph:
        """Return a graph with the edges of another one of the same nodes, too.

        Parameters
        ----------
        other : NeighborGraph
            The other graph. Edges that this one has already are left as they are.

        Returns
        -------
        NeighborGraph
            The joined graph; this one stays as it is.
        """
        return self._joined(other.edges, other.lengths.astype(self.lengths.dtype), other.is_bridge)

    def _joined(self, edges: IntArray, lengths: FloatArray, is_bridge: BoolArray) -> NeighborGraph:
        keys = pair_keys(np.concatenate([self.edges, edges]), self.n_nodes)
        # The first occurrence of a key is the edge that was there before.
        _, first = np.unique(keys, return_index=True)
        return replace(
            self,
            edges=np.concatenate([self.edges, edges])[first],
            lengths=np.concatenate([self.lengths, lengths])[first],
            is_bridge=np.concatenate([self.is_bridge, is_bridge])[first],
        )


@stage("neighbor graph")
def build_graph(
    X: Any,
    *,
    n_neighbors: int | None = None,
    radius: float | None = None,
    kind: str = "union",
    metric: str = "euclidean",
    method: str = "auto",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Build the neighbor graph of points, of distances, or from a sparse matrix of lengths.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points. With ``metric="precomputed"``: a dense matrix of distances, or a sparse
        one that holds the lengths of a ready graph, as from
        ``sklearn.neighbors.kneighbors_graph(mode="distance")``.
    n_neighbors : int or None, default=None
        Neighbors of a point, copies not counted. 12 if neither this nor `radius` is given.
    radius : float or None, default=None
        Join all points up to this distance instead.
    kind : {"union", "mutual"}, default="union"
        Whether one of two points or both must list the other; "mutual" is completed by edges
        of the union's minimum spanning tree. It makes no difference to a radius.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    method : {"auto", "fast", "kd_tree", "brute", "lists", "hnsw"}, default="auto"
        How to search among points, see `build_search`.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NeighborGraph
        The graph, connected or not. Copies of a sample become one node.

    Raises
    ------
    InvalidInputError
        If the input cannot be used or there are not enough distinct points.

    Examples
    --------
    >>> import numpy as np
    >>> graph = build_graph(np.array([[0.0], [1.0], [1.0], [3.0]]), n_neighbors=1)
    >>> graph.edges
    array([[0, 1],
           [1, 2]])
    >>> graph.lengths
    array([1., 2.])
    >>> graph.node_of_sample
    array([0, 1, 1, 2])
    """
    check_choice(kind, KINDS, name="kind")
    check_choice(metric, METRICS, name="metric")
    _check_size(n_neighbors, radius)
    if metric == "precomputed" and sp.issparse(X):
        n_nodes, tails, heads, lengths = check_lengths(X)
        refuse_size(n_neighbors, radius)
        every = np.arange(n_nodes)
        return assemble(Distinct(every, every), DirectedEdges(tails, heads, lengths), kind=kind)
    if metric == "precomputed":
        distances, distinct = distances_between_nodes(check_distances(X))
        directed = _directed_edges_of_distances(distances, n_neighbors, radius)
    else:
        points = check_points(X)
        distinct = find_distinct(points)
        distinct_points = points if not distinct.has_copies else points[distinct.sample_of_node]
        directed = _directed_edges_of_points(
            distinct_points, n_neighbors, radius, method=method, n_jobs=n_jobs
        )
    return assemble(distinct, directed, kind=kind)


def points_of_nodes(X: Any, graph: NeighborGraph) -> FloatArray:
    """Return the points at the nodes of a graph that was built from `X`."""
    points = check_points(X)
    check_same_samples(points, graph)
    return points[graph.sample_of_node]


def check_same_samples(samples: FloatArray, graph: NeighborGraph) -> None:
    """Refuse samples that cannot be those of the graph."""
    if samples.shape[0] != graph.n_samples:
        msg = (
            f"X has {samples.shape[0]} rows, but the graph was built from {graph.n_samples} "
            f"samples. Pass the same samples."
        )
        raise InvalidInputError(msg)


def symmetric_matrix(n_nodes: int, edges: IntArray, values: FloatArray) -> sp.csr_array:
    """Return a sparse matrix with a value at (i, j) and (j, i) for every edge."""
    starts = np.empty(n_nodes + 1, dtype=np.intp)
    columns, both = np.empty(2 * len(edges), dtype=np.intp), np.empty(2 * len(edges), values.dtype)
    edges, values = np.ascontiguousarray(edges), np.ascontiguousarray(values)
    _edges.symmetric(edges, values, starts, columns, both)
    matrix = sp.csr_array((both, columns, starts), shape=(n_nodes, n_nodes))
    matrix.sort_indices()
    return matrix


def shortest_edges(graph: NeighborGraph, n_edges: int) -> sp.csr_array:
    """Return the adjacency matrix of the edges that are among the shortest at one of their ends.

    Parameters
    ----------
    graph : NeighborGraph
        Any graph.
    n_edges : int
        How many edges of a node count as its shortest.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        Their lengths.
    """
    ends, lengths = graph.edges.ravel(), np.repeat(graph.lengths, 2)
    order = np.lexsort((lengths, ends))
    begins = np.cumsum(graph.degrees) - graph.degrees
    ranks = np.empty(len(ends), dtype=np.intp)
    ranks[order] = np.arange(len(ends)) - np.repeat(begins, graph.degrees)
    is_short = (ranks.reshape(-1, 2) < n_edges).any(axis=1)
    return symmetric_matrix(graph.n_nodes, graph.edges[is_short], graph.lengths[is_short])


def subgraph(graph: NeighborGraph, nodes: IntArray) -> NeighborGraph:
    """Return the graph of some nodes, renumbered; its samples are these nodes.

    Parameters
    ----------
    graph : NeighborGraph
        Any graph.
    nodes : ndarray of int
        The nodes to keep, ascending.

    Returns
    -------
    NeighborGraph
        Their graph.
    """
    number = np.full(graph.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    edges = number[graph.edges]
    inside = (edges >= 0).all(axis=1)
    every = np.arange(len(nodes))
    return replace(
        graph,
        n_nodes=len(nodes),
        edges=edges[inside],
        lengths=graph.lengths[inside],
        node_of_sample=every,
        sample_of_node=every,
        is_bridge=graph.is_bridge[inside],
    )


def merge_unresolved(graph: NeighborGraph) -> NeighborGraph:
    """Return a graph in which nodes are one whose distance is lost beside the longest edge.

    A map that holds the longest edge has coordinates that round by more than such a distance; in
    a program its square would be zero, or its inverse infinite.
    """
    lengths = graph.lengths
    is_lost = lengths < lengths.max(initial=0.0) * np.finfo(np.float64).eps
    if not is_lost.any():
        return graph
    tails, heads = graph.edges.T
    distinct, directed = contract(
        Distinct(graph.node_of_sample, graph.sample_of_node),
        DirectedEdges(tails, heads, np.where(is_lost, 0.0, lengths).astype(lengths.dtype)),
    )
    n_nodes = distinct.n_nodes
    edges, kept, _ = edges_of(directed, n_nodes)
    # An edge is a bridge if all that became this edge are.
    ends = distinct.node_of_sample[graph.sample_of_node][graph.edges[~graph.is_bridge]]
    plain = pair_keys(np.sort(ends, axis=1), n_nodes)
    return NeighborGraph(
        n_nodes=n_nodes,
        edges=edges,
        lengths=kept,
        node_of_sample=distinct.node_of_sample,
        sample_of_node=distinct.sample_of_node,
        is_bridge=~np.isin(pair_keys(edges, n_nodes), plain),
    )


def distances_between_nodes(distances: FloatArray) -> tuple[FloatArray, Distinct]:
    """Merge samples at distance zero, and return the least distance of every two nodes."""
    zeros = np.argwhere(distances == 0)
    distinct = from_labels(component_labels(len(distances), zeros))
    return least_distances(distances, distinct), distinct


def least_distances(distances: FloatArray, distinct: Distinct) -> FloatArray:
    """Return the least distance between the samples of every two nodes."""
    if not distinct.has_copies:
        return distances
    indptr, samples = distinct.samples_by_node()
    rows = np.minimum.reduceat(distances[samples], indptr[:-1], axis=0)
    least: FloatArray = np.minimum.reduceat(rows[:, samples], indptr[:-1], axis=1)
    return least


def _directed_edges_of_points(
    distinct_points: FloatArray,
    n_neighbors: int | None,
    radius: float | None,
    *,
    method: str,
    n_jobs: int | None,
) -> DirectedEdges:
    """Return the edges from every distinct point to its neighbors."""
    if len(distinct_points) == 1:
        return no_directed_edges(distinct_points)
    search = build_search(distinct_points, method=method, n_jobs=n_jobs)
    if radius is not None:
        found = search.query_radius(distinct_points, radius)
        tails = np.repeat(np.arange(len(distinct_points)), np.diff(found.indptr))
        return DirectedEdges(tails, found.indices, found.distances)
    near = search.query_self(_check_k(n_neighbors, len(distinct_points)))
    return edges_from_lists(near.distances, near.indices)


def _directed_edges_of_distances(
    distances: FloatArray, n_neighbors: int | None, radius: float | None
) -> DirectedEdges:
    """Return the edges from every node to its neighbors in a distance matrix."""
    if len(distances) == 1:
        return no_directed_edges(distances)
    if radius is not None:
        tails, heads = np.nonzero(distances <= radius)
        return DirectedEdges(tails, heads, distances[tails, heads])
    k = _check_k(n_neighbors, len(distances))
    return edges_from_lists(*nearest_in_rows(distances, k, own=np.arange(len(distances))))


def assemble(distinct: Distinct, directed: DirectedEdges, *, kind: str) -> NeighborGraph:
    """Contract what has no length, make directed edges undirected and keep those of the kind."""
    distinct, directed = contract(distinct, directed)
    n_nodes = distinct.n_nodes
    edges, lengths, is_mutual = edges_of(directed, n_nodes)
    if kind == "mutual" and not is_mutual.all():
        components = component_labels(n_nodes, edges[is_mutual])
        forest = spanning_forest_of(n_nodes, edges, lengths)
        joins = forest[components[edges[forest, 0]] != components[edges[forest, 1]]]
        keep = is_mutual.copy()
        keep[joins] = True
        edges, lengths = edges[keep], lengths[keep]
    return NeighborGraph(
        n_nodes=n_nodes,
        edges=edges,
        lengths=lengths,
        node_of_sample=distinct.node_of_sample,
        sample_of_node=distinct.sample_of_node,
        is_bridge=np.zeros(len(edges), dtype=bool),
    )


def _check_size(n_neighbors: int | None, radius: float | None) -> None:
    """Refuse two definitions of a neighborhood at once, and a radius that is none."""
    if radius is None:
        return
    if n_neighbors is not None:
        msg = (
            f"{setting('n_neighbors', n_neighbors)} and radius={radius} both define the "
            f"neighborhood. Pass one of them."
        )
        raise InvalidInputError(msg)
    check_positive(radius, name="radius")


def refuse_size(n_neighbors: int | None, radius: float | None) -> None:
    """Refuse a neighborhood for a graph that is ready."""
    if n_neighbors is not None or radius is not None:
        msg = (
            "A given graph or sparse matrix of lengths is a ready graph, so that n_neighbors or "
            "a radius cannot change it. Leave them out, or pass points or dense distances."
        )
        raise InvalidInputError(msg)


def _check_k(n_neighbors: int | None, n_nodes: int) -> int:
    """Return the number of neighbors if there are enough distinct points for it."""
    k = DEFAULT_N_NEIGHBORS if n_neighbors is None else n_neighbors
    return check_n_neighbors(k, n_nodes, what="distinct points")


def _check_bridges(bridges: IntArray, lengths: FloatArray, n_nodes: int) -> None:
    """Refuse bridges that are not edges."""
    if len(bridges) != len(lengths):
        msg = f"{len(bridges)} bridges have {len(lengths)} lengths. Pass one length a bridge."
        raise InvalidInputError(msg)
    if len(bridges) and (bridges.min() < 0 or bridges.max() >= n_nodes):
        msg = f"A bridge leads to node {bridges.max()}, but nodes are 0 to {n_nodes - 1}."
        raise InvalidInputError(msg)
    if (bridges[:, 0] == bridges[:, 1]).any() or not ((lengths > 0) & (lengths < np.inf)).all():
        msg = "A bridge must join two different nodes and have a positive, finite length."
        raise InvalidInputError(msg)
