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
from scipy.sparse.csgraph import reverse_cuthill_mckee

from isofold._typing import FloatArray, IntArray
from isofold.neighbors._paths import PathSearch
from isofold.neighbors.graph import NeighborGraph

__all__ = ["GraphPaths", "RememberedPaths"]

MOST_NUMBERS = 2**24
"""Distances that are remembered, at most: 134 MB."""

BUCKET_WIDTH = 0.1
"""Width of the buckets of a search, in median lengths of edges: each holds a few nodes."""


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
        self._order, self._search = path_search(graph)

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
        ordered = np.asarray(limits, dtype=np.float64)[self._order]
        reach = self._search.reach(ordered)
        for source in sources:
            yield self._search.within(int(source), reach, ordered)

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
        limits = distances[self._order]
        nodes, lengths = self._search.within(int(source), limits, limits)
        is_nearer = lengths < distances[nodes]
        return nodes[is_nearer], lengths[is_nearer]

    def to(self, source: int, targets: IntArray) -> FloatArray:
        """Return the distances from a node to some others.

        Parameters
        ----------
        source : int
            The node to start from.
        targets : ndarray of int of shape (n_targets,)
            Different nodes. The search ends when the last of them is reached.

        Returns
        -------
        ndarray of shape (n_targets,)
            The distances; infinite where no path leads.
        """
        found: FloatArray = self._search.to(int(source), targets)
        return found

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
        return self._search.to(int(source), np.arange(self.n_nodes))


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

    def to(self, source: int, targets: IntArray) -> FloatArray:
        """Return the distances from a node to some others."""
        return self.row(source)[targets]

    def row(self, source: int) -> FloatArray:
        """Return the distances from a node to all."""
        found = self._rows.get(int(source))
        if found is None:
            found = super().row(source)
            if (len(self._rows) + 1) * self.n_nodes > MOST_NUMBERS:
                self._rows.clear()
            self._rows[int(source)] = found
        return found


def path_search(graph: NeighborGraph) -> tuple[IntArray, PathSearch]:
    """Return the nodes in an order in which near ones are together, and searches in that order."""
    adjacency = graph.adjacency
    order = reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.int64)
    ordered = adjacency[order][:, order]
    width = BUCKET_WIDTH * float(np.median(graph.lengths)) if graph.n_edges else 1.0
    arrays = (
        ordered.indptr.astype(np.int32, copy=False),
        ordered.indices.astype(np.int32, copy=False),
        ordered.data.astype(np.float64, copy=False),
    )
    return order, PathSearch(*arrays, order, width)
