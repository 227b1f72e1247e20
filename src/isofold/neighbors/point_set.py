"""Points with their graph, and where they stand in the set that they were taken from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors.graph import NeighborGraph, subgraph

__all__ = ["PointSet"]


@dataclass(frozen=True, eq=False)
class PointSet:
    """The points at the nodes of a graph, and their indices in the set they were taken from.

    Attributes
    ----------
    points : ndarray of shape (n_nodes, n_features)
        The points at the nodes.
    graph : NeighborGraph
        Their graph.
    samples : ndarray of int of shape (n_nodes,)
        Indices of the nodes in the set from which all restrictions began.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> points = np.array([[0.0], [1.0], [3.0], [6.0]])
    >>> whole = PointSet.whole(points, build_graph(points, n_neighbors=1))
    >>> part = whole.restrict(np.array([1, 2, 3])).restrict(np.array([1, 2]))
    >>> part.samples
    array([2, 3])
    >>> part.graph.edges
    array([[0, 1]])
    """

    points: FloatArray
    graph: NeighborGraph
    samples: IntArray

    @classmethod
    def whole(cls, points: FloatArray, graph: NeighborGraph) -> PointSet:
        """Return the set of all nodes of a graph, each with its own number."""
        return cls(points, graph, np.arange(graph.n_nodes))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes

    def restrict(self, nodes: IntArray) -> PointSet:
        """Return the set of some nodes, renumbered.

        Parameters
        ----------
        nodes : ndarray of int
            The nodes to keep, ascending.

        Returns
        -------
        PointSet
            Their points, the edges between them, and their indices in the first set.
        """
        return PointSet(self.points[nodes], subgraph(self.graph, nodes), self.samples[nodes])
