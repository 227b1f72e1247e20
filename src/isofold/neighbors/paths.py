"""Shortest paths that end where they no longer matter.

Rows of all n geodesic distances are what makes geodesic clustering slow. Nearly all of their
entries are too long to change anything. If a path to node i matters only up to the length limit_i,
then a path through node u matters only up to max_i (limit_i - d(u, i)). One pass over the graph
finds this *reach* of every node, and Dijkstra's algorithm from any source then stops where it is
exceeded, without missing a path that matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import reverse_cuthill_mckee

from isofold._typing import FloatArray, IntArray
from isofold.neighbors._paths import PathSearch
from isofold.neighbors.graph import NeighborGraph

__all__ = ["GraphPaths", "RememberedPaths"]

MOST_NUMBERS = 2**24
"""Distances that are remembered, at most: 134 MB."""

MOST_AT_ONCE = 2**16
"""Nodes within limits that are found in one call of the kernel, about."""

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
        # Many searches a call: threads would wait for the interpreter after each of them.
        left = np.asarray(sources, dtype=np.int64)
        while len(left):
            indptr, nodes, distances = self._search.within(left, reach, ordered, MOST_AT_ONCE)
            for begin, end in pairwise(indptr.tolist()):
                yield nodes[begin:end], distances[begin:end]
            left = left[len(indptr) - 1 :]

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
        only = np.array([source], dtype=np.int64)
        _, nodes, lengths = self._search.within(only, limits, limits, 0)
        is_nearer = lengths < distances[nodes]
        return nodes[is_nearer], lengths[is_nearer]

    def to(
        self, sources: IntArray, groups: IntArray, *, targets: IntArray, begins: IntArray
    ) -> Iterator[FloatArray]:
        """Yield the distances from one source after the other to the nodes of a group.

        Parameters
        ----------
        sources, groups : ndarray of int of shape (n_sources,)
            Nodes to start from, and the group to reach from each. A search ends with the last node
            of the group.
        targets : ndarray of int
            The nodes of all groups, group by group.
        begins : ndarray of int of shape (n_groups + 1,)
            Group g is ``targets[begins[g]:begins[g + 1]]``.

        Yields
        ------
        ndarray
            The distances; infinite where no path leads.
        """
        found = self._search.to(sources, groups, targets, begins)
        ends = np.cumsum(np.diff(begins)[groups]).tolist()
        for begin, end in pairwise([0, *ends]):
            yield found[begin:end]

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
        every, only = np.arange(self.n_nodes), np.array([source], dtype=np.int64)
        return self._search.to(only, np.zeros(1, int), every, np.array([0, len(every)]))


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

    def to(
        self, sources: IntArray, groups: IntArray, *, targets: IntArray, begins: IntArray
    ) -> Iterator[FloatArray]:
        """Yield the distances from one source after the other to the nodes of a group."""
        for source, group in zip(sources, groups, strict=True):
            yield self.row(int(source))[targets[begins[group] : begins[group + 1]]]

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
