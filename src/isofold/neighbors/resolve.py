"""The graph whose lengths a method keeps, as its user asks for it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._findings import setting
from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_count, check_graph, check_positive
from isofold.exceptions import InvalidInputError
from isofold.neighbors.choices import (
    Bridged,
    Enhanced,
    GraphChoice,
    Knn,
    Lengths,
    Mutual,
    Radius,
)
from isofold.neighbors.connect import connect
from isofold.neighbors.directed import pair_keys
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.enhanced import enhance
from isofold.neighbors.graph import (
    DEFAULT_N_NEIGHBORS,
    NeighborGraph,
    build_graph,
    check_same_samples,
    distances_between_nodes,
    least_distances,
    points_of_nodes,
    refuse_size,
    symmetric_matrix,
)
from isofold.neighbors.search.build import METRICS

NAMED_GRAPHS: dict[str, type[Knn | Mutual | Bridged | Enhanced]] = {
    "knn": Knn,
    "mutual": Mutual,
    "bridged": Bridged,
    "eng": Enhanced,
}


def resolve_graph(
    X: Any,
    graph: GraphChoice | NeighborGraph | Any = None,
    *,
    n_neighbors: int | None = None,
    default: int = DEFAULT_N_NEIGHBORS,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Return the neighbor graph that a user asks for, or the ready one that is given.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples, as in `build_graph`.
    graph : Knn, Mutual, Radius, Bridged, Enhanced, Lengths, NeighborGraph or None, default=None
        What to make, or a ready graph of these samples. `Knn` if None.
    n_neighbors : int or None, default=None
        Neighbors of a point where `graph` does not say how many, lowered to what the number of
        distinct points allows. A ready graph has no use for it, and refuses it.
    default : int, default=12
        Neighbors if neither `graph` nor `n_neighbors` says how many.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NeighborGraph
        The graph; what was added is in its `is_bridge`.

    Raises
    ------
    InvalidInputError
        If the parts cannot be combined.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import Bridged
    >>> points = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> resolve_graph(points, Bridged(1)).bridges
    array([[1, 2]])
    """
    check_choice(metric, METRICS, name="metric")
    choice = _choice_of(graph)
    if isinstance(choice, NeighborGraph | Lengths):
        refuse_size(n_neighbors, None)
        return _ready(X, choice)
    k = None if isinstance(choice, Radius) else choice.n_neighbors
    if n_neighbors is not None:
        if k is not None or isinstance(choice, Radius):
            msg = (
                f"{setting('graph', graph)} keeps the distances to neighbors of its own, and "
                f"{setting('n_neighbors', n_neighbors)} those to so many neighbors. Pass one of "
                f"them."
            )
            raise InvalidInputError(msg)
        k = n_neighbors
    if isinstance(choice, Radius):
        radius = check_positive(choice.radius, name="radius")
        return build_graph(X, radius=radius, metric=metric, n_jobs=n_jobs)
    if not (metric == "precomputed" and sp.issparse(X)):
        k = _lowered(X, default if k is None else k, metric)
    kind = "mutual" if isinstance(choice, Mutual) else "union"
    neighbors = build_graph(X, n_neighbors=k, kind=kind, metric=metric, n_jobs=n_jobs)
    if isinstance(choice, Bridged):
        return connect(X, neighbors, metric=metric, n_jobs=n_jobs)
    if isinstance(choice, Enhanced):
        if metric == "precomputed":
            msg = (
                "An enhanced graph compares the directions of edges, which distances do not have. "
                "Use a bridged one, or pass the points."
            )
            raise InvalidInputError(msg)
        return enhance(X, neighbors, n_neighbors=max(2, k or default), n_jobs=n_jobs)
    return neighbors


def _choice_of(graph: Any) -> GraphChoice | NeighborGraph:
    """Return a choice as it is; refuse what only stands for one, and name it."""
    if graph is None:
        return Knn()
    if isinstance(graph, GraphChoice | NeighborGraph):
        return graph
    instead = "Knn(), Mutual(), Bridged(), Enhanced(), Radius(r) or Lengths(matrix)"
    if isinstance(graph, str) and graph in NAMED_GRAPHS:
        instead = f"{NAMED_GRAPHS[graph].__name__}()"
    elif isinstance(graph, Real) and not isinstance(graph, bool):
        instead = f"Radius({graph})"
    elif sp.issparse(graph):
        instead = "Lengths(matrix)"
    seen = repr(graph) if isinstance(graph, str | Real) else f"a {type(graph).__name__}"
    msg = (
        f"graph is {seen}, but it must be a choice of isofold.neighbors or a ready NeighborGraph. "
        f"Pass isofold.neighbors.{instead}."
    )
    raise InvalidInputError(msg)


def named_graph(name: Any) -> Any:
    """Return the choice that a word, a number or a sparse matrix stands for, as in the shell."""
    if isinstance(name, str):
        return NAMED_GRAPHS[check_choice(name, NAMED_GRAPHS, name="graph")]()
    if isinstance(name, Real) and not isinstance(name, bool):
        return Radius(float(name))
    return Lengths(name) if sp.issparse(name) else name


def join_shared(X: Any, graph: NeighborGraph, *, metric: str = "euclidean") -> NeighborGraph:
    """Return a graph in which any two neighbors of a node are joined, too.

    With all their distances kept, the angles at every node are kept (Weinberger and Saul 2004).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points of the graph, or dense distances. A sparse graph of lengths does not know the
        distances that would be kept.
    graph : NeighborGraph
        The graph of these samples. Links across gaps (`is_bridge`) are not taken for neighbors.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.

    Returns
    -------
    NeighborGraph
        The graph with further edges.

    Raises
    ------
    InvalidInputError
        If the distances are not known.
    """
    if sp.issparse(X):
        msg = (
            "Angles are kept through the distances of all pairs that share a neighbor, and a "
            "sparse graph of lengths does not hold them. Pass the points or dense distances, or a "
            "graph that has these pairs."
        )
        raise InvalidInputError(msg)
    near = ~graph.is_bridge
    n = graph.n_nodes
    n_pairs = int(np.sum(graph.degrees.astype(np.int64) ** 2)) // 2
    require_memory(
        80 * n_pairs,
        what=f"Up to {n_pairs} pairs of samples that share a neighbor",
        instead="Use fewer neighbors, or leave angles out.",
    )
    ends = graph.edges[near]
    links = symmetric_matrix(n, ends, np.ones(len(ends)))
    shared = sp.coo_array(sp.triu(links @ links, k=1))
    pairs = np.stack([shared.row, shared.col], axis=1).astype(np.intp)
    pairs = pairs[~np.isin(pair_keys(pairs, n), pair_keys(graph.edges, n))]
    lengths = _pair_lengths(X, graph, pairs, metric)
    if len(lengths) and not lengths.min() > 0.0:
        msg = (
            "Samples that share a neighbor are copies in X, but the graph keeps them "
            "apart: X does not belong to it. Pass the samples that the graph was made of."
        )
        raise InvalidInputError(msg)
    keys = pair_keys(np.concatenate([graph.edges, pairs]), n)
    order = np.argsort(keys)
    return NeighborGraph(
        n_nodes=n,
        edges=np.concatenate([graph.edges, pairs])[order],
        lengths=np.concatenate([graph.lengths, lengths.astype(graph.lengths.dtype)])[order],
        node_of_sample=graph.node_of_sample,
        sample_of_node=graph.sample_of_node,
        is_bridge=np.concatenate([graph.is_bridge, np.zeros(len(pairs), dtype=bool)])[order],
    )


def _pair_lengths(X: Any, graph: NeighborGraph, pairs: IntArray, metric: str) -> FloatArray:
    if metric == "precomputed":
        nodes = Distinct(graph.node_of_sample, graph.sample_of_node)
        between = least_distances(np.asarray(X), nodes)
        return np.asarray(between[pairs[:, 0], pairs[:, 1]])
    points = points_of_nodes(X, graph).astype(np.float64, copy=False)
    lengths = np.empty(len(pairs))
    step = block_rows(points.shape[1] * 16, len(pairs))
    for start in range(0, len(pairs), step):
        first, second = pairs[start : start + step].T
        lengths[start : start + step] = np.linalg.norm(points[first] - points[second], axis=1)
    return lengths


def _ready(X: Any, graph: NeighborGraph | Lengths) -> NeighborGraph:
    """Return a graph that the user made, checked against the samples."""
    n_samples = X.shape[0]
    if isinstance(graph, NeighborGraph):
        check_same_samples(X, graph)
        return graph
    lengths = check_graph(graph.matrix, name="graph")
    if lengths.shape != (n_samples, n_samples):
        msg = (
            f"graph has shape {lengths.shape}, but X has {n_samples} samples. Pass the lengths "
            f"between these samples, in a matrix of shape {(n_samples, n_samples)}."
        )
        raise InvalidInputError(msg)
    return build_graph(lengths, metric="precomputed")


def _lowered(X: Any, n_neighbors: Any, metric: str) -> int:
    """Return a number of neighbors that there are enough distinct samples for."""
    k = check_count(n_neighbors, name="n_neighbors")
    if metric == "precomputed":
        most = distances_between_nodes(np.asarray(X))[1].n_nodes
    else:
        most = find_distinct(X).n_nodes
    return max(1, min(k, most - 1))
