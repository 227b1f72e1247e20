"""How true the lengths of a graph's edges are on a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from isofold._typing import FloatArray
from isofold.neighbors.graph import NeighborGraph
from isofold.neighbors.levina_bickel import inverse_dimensions


@dataclass(frozen=True)
class LengthErrors:
    """Relative errors | |y_i - y_j| / d_ij - 1 | of the edges of a graph.

    Attributes
    ----------
    median, p99, largest : float
        Their median, their 99 % quantile and the largest; zero if there are no edges.
    """

    median: float
    p99: float
    largest: float

    @classmethod
    def of(cls, errors: FloatArray) -> Self:
        """Return the summary of the errors of all edges."""
        if len(errors) == 0:
            return cls(0.0, 0.0, 0.0)
        median, p99 = np.quantile(errors, [0.5, 0.99])
        return cls(float(median), float(p99), float(errors.max()))


def edge_errors(Y: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return the relative length error of every edge.

    Parameters
    ----------
    Y : ndarray of shape (n_nodes, n_components)
        The map of the nodes.
    graph : NeighborGraph
        The graph with the lengths that are to be true.

    Returns
    -------
    ndarray of shape (n_edges,)
        | |y_i - y_j| / d_ij - 1 |.
    """
    first, second = graph.edges.T
    on_map = np.linalg.norm(Y[first] - Y[second], axis=1)
    errors: FloatArray = np.abs(on_map / graph.lengths - 1.0)
    return errors


def scaled_edge_errors(embedding: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return `edge_errors` in the unit of the embedding in which the median edge is true."""
    if not graph.n_edges:
        return np.zeros(0)
    steps = np.diff(embedding[graph.edges].astype(np.float64), axis=1)[:, 0]
    unit = float(np.median(np.linalg.norm(steps, axis=1) / graph.lengths))
    return edge_errors(embedding / unit, graph) if unit > 0.0 else np.ones(graph.n_edges)


def mean_at_nodes(errors: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return the mean error of the edges at every node, bridges not counted.

    Parameters
    ----------
    errors : ndarray of shape (n_edges,)
        One number an edge.
    graph : NeighborGraph
        The graph.

    Returns
    -------
    ndarray of shape (n_nodes,)
        The means; zero at a node without edges.
    """
    kept = ~graph.is_bridge
    ends, errors = graph.edges[kept], errors[kept]
    total = np.bincount(ends.T.ravel(), np.concatenate([errors, errors]), minlength=graph.n_nodes)
    n_edges = np.bincount(ends.ravel(), minlength=graph.n_nodes)
    means: FloatArray = total / np.maximum(n_edges, 1)
    return means


def dimension_of_lengths(graph: NeighborGraph) -> int:
    """Return the intrinsic dimension that the lengths of a graph suggest, at least 1.

    Parameters
    ----------
    graph : NeighborGraph
        The graph; it may come from points or from distances.

    Returns
    -------
    int
        The Levina-Bickel estimate, with the shortest edges at every node in place of its
        nearest neighbors.
    """
    degrees = graph.degrees
    # In a union of neighbor lists some nodes are listed by many: all are asked for the same number.
    k = max(2, int(np.quantile(degrees, 0.1)))
    asked = np.flatnonzero(degrees >= k)
    if len(asked) == 0:
        return 1
    row = np.repeat(np.arange(graph.n_nodes), np.diff(graph.adjacency.indptr))
    lengths = graph.adjacency.data[np.lexsort((graph.adjacency.data, row))]
    nearest = graph.adjacency.indptr[asked][:, None] + np.arange(k)
    inverse = float(inverse_dimensions(lengths[nearest]).mean())
    return max(1, round(1.0 / inverse)) if inverse * graph.n_nodes > 1.0 else graph.n_nodes
