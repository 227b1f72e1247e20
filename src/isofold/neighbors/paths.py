"""Shortest paths that end where they no longer matter.

Rows of all n geodesic distances are what makes geodesic clustering slow. Nearly all of their
entries are too long to change anything. If a path to node i matters only up to the length limit_i,
then a path through node u matters only up to max_i (limit_i - d(u, i)). One pass over the graph
finds this *reach* of every node, and Dijkstra's algorithm from any source then stops where it is
exceeded, without missing a path that matters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors._balls import BallSearch
from isofold.neighbors.balls import adjacency_arrays
from isofold.neighbors.graph import NeighborGraph

__all__ = ["GraphPaths", "RememberedPaths"]

MOST_NUMBERS = 2**24
"""Distances that are remembered, at most: 134 MB."""


class GraphPaths:
    """Shortest paths of one graph, with the workspace that all searches share.

    It serves one thread at a time.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> line = build_graph(np.arange(6.0)[:, None], n_neighbors=2)
    >>> limits = np.array([9.0, 0.0, 0.0, 0.0, 1.0, 2.0])
    >>> for nodes, distances in GraphPaths(line).within([3, 5], limits):
    ...     print(nodes, distances)
    [3 4 5 0] [0. 1. 2. 3.]
    [5 4 0] [0. 1. 5.]
    """

    def __init__(self, graph: NeighborGraph) -> None:
        self.n_nodes = graph.n_nodes
        self._search = BallSearch(*adjacency_arrays(graph))

    def within(
        self, sources: IntArray | list[int], limits: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield, for one source after the other, the nodes that are within their limits.

        Parameters
        ----------
        sources : ndarray of int of shape (n_sources,)
            Nodes to start from.
        limits : ndarray of shape (n_nodes,)
            The longest path to each node that matters; negative if none does.

        Yields
        ------
        nodes : ndarray of int of shape (n_reached,)
            The nodes to which the shortest path is no longer than their limit.
        distances : ndarray of shape (n_reached,)
            Lengths of these paths.
        """
        reach = self._search.reach(np.ascontiguousarray(limits, dtype=np.float64))
        for source in sources:
            nodes, distances = self._search.within(int(source), reach)
            is_near = distances <= limits[nodes]
            yield nodes[is_near], distances[is_near]

    def nearer(self, source: int, distances: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the nodes that are nearer to a source than to others.

        Parameters
        ----------
        source : int
            The node to start from.
        distances : ndarray of shape (n_nodes,)
            Distance of every node from the nearest of the others along the graph. A path that does
            not improve on it leads to no node that is nearer.

        Returns
        -------
        nodes : ndarray of int of shape (n_nearer,)
            The nodes.
        lengths : ndarray of shape (n_nearer,)
            Their distances from the source.
        """
        nodes, lengths = self._search.within(int(source), distances)
        is_nearer = lengths < distances[nodes]
        return nodes[is_nearer], lengths[is_nearer]

    def inside(
        self,
        source: int,
        cluster: int,
        *,
        labels: IntArray,
        positions: IntArray,
        sizes: IntArray,
    ) -> FloatArray:
        """Return the distances from a node to all nodes of a cluster.

        Parameters
        ----------
        source, cluster : int
            The node to start from, and the cluster to reach.
        labels, positions : ndarray of int of shape (n_nodes,)
            The cluster of every node, and its position among the nodes of that cluster.
        sizes : ndarray of int of shape (n_clusters,)
            Sizes of the clusters.

        Returns
        -------
        ndarray of shape (``sizes[cluster]``,)
            The distances by position; infinite where no path leads.
        """
        return self._search.inside(source, cluster, labels, positions, sizes[cluster])

    def row(self, source: int) -> FloatArray:
        """Return the distances from a node to all.

        Parameters
        ----------
        source : int
            The node to start from.

        Returns
        -------
        ndarray of shape (n_nodes,)
            Distances; infinite where no path leads.
        """
        row = np.full(self.n_nodes, np.inf)
        nodes, distances = self._search.within(int(source), row)
        row[nodes] = distances
        return row


class RememberedPaths(GraphPaths):
    """Shortest paths of a graph, whose rows of distances are kept for the next search.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    rows : dict
        Rows of distances by source. Several objects in several threads may share it.
    """

    def __init__(self, graph: NeighborGraph, rows: dict[int, FloatArray]) -> None:
        super().__init__(graph)
        self._rows = rows

    def within(
        self, sources: IntArray | list[int], limits: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield, for one source after the other, the nodes that are within their limits."""
        for source in sources:
            row = self.row(source)
            nodes = np.flatnonzero((row <= limits) & np.isfinite(row))
            yield nodes, row[nodes]

    def nearer(self, source: int, distances: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the nodes that are nearer to a source than to others."""
        row = self.row(source)
        nodes = np.flatnonzero(row < distances)
        return nodes, row[nodes]

    def inside(
        self,
        source: int,
        cluster: int,
        *,
        labels: IntArray,
        positions: IntArray,
        sizes: IntArray,
    ) -> FloatArray:
        """Return the distances from a node to all nodes of a cluster."""
        members = np.flatnonzero(labels == cluster)
        distances = np.empty(sizes[cluster])
        distances[positions[members]] = self.row(source)[members]
        return distances

    def row(self, source: int) -> FloatArray:
        """Return the distances from a node to all."""
        found = self._rows.get(int(source))
        if found is None:
            found = super().row(source)
            if (len(self._rows) + 1) * self.n_nodes > MOST_NUMBERS:
                self._rows.clear()
            self._rows[int(source)] = found
        return found
