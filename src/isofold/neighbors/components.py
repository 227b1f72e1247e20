"""Connected components of a neighbor graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import IntArray
from isofold.neighbors.graph import NeighborGraph
from isofold.neighbors.spanning import component_labels


@dataclass(frozen=True, eq=False)
class Components:
    """The connected components of a graph, the largest first.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,)
        The component of every node. Components of equal size are ordered by first node.
    sizes : ndarray of shape (n_components,)
        Number of nodes in each, descending.
    """

    labels: IntArray
    sizes: IntArray

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.sizes)

    def members(self) -> list[IntArray]:
        """Return the nodes of each component, ascending."""
        by_component = np.argsort(self.labels, kind="stable")
        return np.split(by_component, np.cumsum(self.sizes)[:-1])


def connected_components(graph: NeighborGraph) -> Components:
    """Return the connected components of a graph.

    Parameters
    ----------
    graph : NeighborGraph
        Any graph.

    Returns
    -------
    Components
        Labels of the nodes, by size.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors.graph import build_graph
    >>> graph = build_graph(np.array([[0.0], [1.0], [8.0], [9.0], [9.5]]), n_neighbors=1)
    >>> connected_components(graph).labels
    array([1, 1, 0, 0, 0])
    """
    labels = component_labels(graph.n_nodes, graph.edges)
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Components(labels=rank[labels], sizes=sizes[order])
