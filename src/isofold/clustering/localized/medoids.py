"""Medoids: the node of a cluster from which squared geodesic distances to its nodes sum up least.

    m = argmin_i Σ_j w_j d²(j, i)                                              (thesis, eq. 4.16)

A linear search takes a run of Dijkstra's algorithm for every node of the cluster. Two ways need
far fewer. The root of the mean squared distance, s(i), is the norm of the row of distances from i,
so that |d(i, j) - s(j)| ≤ s(i): a few rows exclude nearly all nodes of a cluster, and the search
stays exact [1]_. In large clusters a sample of rows estimates all sums, and from the least the
search goes on from neighbor to neighbor, until none is better. No medoid is exchanged for a worse
one.

References
----------
.. [1] Newling, J. and Fleuret, F. (2017). A sub-quadratic exact medoid algorithm. AISTATS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.clustering.subspaces import TIE, order_by
from isofold.neighbors import GraphPaths, NeighborGraph

__all__ = ["Division", "MedoidSearch", "Medoids"]

QUICK_CANDIDATES = 2
"""Nodes nearest to the mean that a quick search looks at: flat clusters have their medoid there."""

CLUSTERS_AT_ONCE = 32
"""Clusters whose rows a quick search computes together: some milliseconds outside of Python."""

MOST_EXACT = 256
"""Nodes of a cluster up to which the search is exact: some thirty rows."""

SAMPLE_SIZE = 8
"""Rows from which all sums of a larger cluster are estimated. The mean of so many of its nodes is
off by a third of its standard deviation, from where descent finds the way."""

MOST_ROWS = 64
"""Rows after which the descent in a large cluster ends."""


@dataclass(frozen=True, eq=False)
class Division:
    """Nodes divided into clusters.

    Attributes
    ----------
    labels : ndarray of int of shape (n_nodes,)
        The cluster of every node.
    n_clusters : int
        Number of clusters; none is empty.
    """

    labels: IntArray
    n_clusters: int

    @cached_property
    def sizes(self) -> IntArray:
        """Number of nodes in each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @cached_property
    def begins(self) -> IntArray:
        """Where each cluster begins in `order`, and its end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def order(self) -> IntArray:
        """Nodes by cluster, then by number."""
        return order_by(self.labels, self.n_clusters)

    @cached_property
    def positions(self) -> IntArray:
        """The position of every node among those of its cluster."""
        positions = np.empty(len(self.labels), dtype=np.int64)
        positions[self.order] = np.arange(len(self.labels)) - np.repeat(
            self.begins[:-1], self.sizes
        )
        return positions

    def members(self, cluster: int) -> IntArray:
        """Return the nodes of a cluster, ascending."""
        return self.order[self.begins[cluster] : self.begins[cluster + 1]]

    def rows(self, paths: GraphPaths, nodes: IntArray, clusters: IntArray) -> Iterator[FloatArray]:
        """Yield the geodesic distances from each node to the members of its cluster."""
        return paths.to(nodes, clusters, targets=self.order, begins=self.begins)


@dataclass(frozen=True, eq=False)
class Medoids:
    """Medoids of clusters.

    Attributes
    ----------
    nodes : ndarray of int of shape (n_clusters,)
        The medoids. One that has gone over to another cluster stays where no node of its own
        cluster is better.
    distances : ndarray of shape (n_nodes,)
        Geodesic distance of every node from the medoid of its cluster.
    """

    nodes: IntArray
    distances: FloatArray


class MedoidSearch:
    """Searches for better medoids.

    Parameters
    ----------
    graph : NeighborGraph
        The graph.
    paths : GraphPaths
        Its shortest paths.
    points : ndarray of shape (n_nodes, d)
        The points at the nodes.
    weights : ndarray of shape (n_nodes,)
        How often each node counts.
    """

    def __init__(
        self, graph: NeighborGraph, paths: GraphPaths, points: FloatArray, weights: FloatArray
    ) -> None:
        self._graph = graph
        self._paths = paths
        self._points = points
        self._weights = weights

    def quick(
        self, division: Division, medoids: Medoids, centers: FloatArray, clusters: IntArray
    ) -> Medoids:
        """Compare medoids with the nodes nearest to the means of their clusters."""
        nodes, distances = medoids.nodes.copy(), medoids.distances.copy()
        for begin in range(0, len(clusters), CLUSTERS_AT_ONCE):
            searched = [
                self._rows_of(division, medoids, cluster)
                for cluster in clusters[begin : begin + CLUSTERS_AT_ONCE]
            ]
            candidates = [self._near_mean(rows, centers[rows.cluster]) for rows in searched]
            numbers = np.repeat(np.arange(len(searched)), [len(each) for each in candidates])
            chosen = np.concatenate(candidates)
            own = clusters[begin + numbers]
            found = division.rows(self._paths, chosen, own)
            for number, node, row in zip(numbers, chosen, found, strict=True):
                searched[number].add(int(node), row)
            for rows in searched:
                nodes[rows.cluster], distances[rows.members] = rows.best
        return Medoids(nodes=nodes, distances=distances)

    def _near_mean(self, rows: _Rows, center: FloatArray) -> IntArray:
        """Return the members nearest to the mean whose rows are not known."""
        offsets = self._points[rows.members] - center
        squares = np.einsum("ij,ij->i", offsets, offsets)
        n_candidates = min(QUICK_CANDIDATES, len(squares))
        positions = np.argpartition(squares, n_candidates - 1)[:n_candidates]
        near: IntArray = rows.members[positions[~rows.is_done[positions]]]
        return near

    def _rows_of(self, division: Division, medoids: Medoids, cluster: int) -> _Rows:
        """Return the rows of a cluster, with that of its medoid."""
        members = division.members(cluster)
        rows = _Rows(self._paths, division, int(cluster), self._weights[members])
        rows.add(int(medoids.nodes[cluster]), medoids.distances[members])
        return rows

    def thorough(
        self,
        division: Division,
        medoids: Medoids,
        clusters: IntArray,
        rng: np.random.RandomState,
    ) -> Medoids:
        """Search whole clusters: exactly where they are small, else by a sample."""
        nodes, distances = medoids.nodes.copy(), medoids.distances.copy()
        for cluster in clusters:
            rows = self._rows_of(division, medoids, cluster)
            if len(rows.members) <= MOST_EXACT:
                _search_all(rows)
            else:
                _search_sample(rows, rng)
                _search_neighbors(rows, division, self._graph)
            nodes[cluster], distances[rows.members] = rows.best
        return Medoids(nodes=nodes, distances=distances)


class _Rows:
    """Rows of distances inside one cluster, with the best so far and what they exclude."""

    def __init__(
        self, paths: GraphPaths, division: Division, cluster: int, weights: FloatArray
    ) -> None:
        self.members = division.members(cluster)
        self.cluster = cluster
        self._paths = paths
        self._division = division
        self._weights = weights
        self._total = float(weights.sum())
        self._best_node = -1
        self._best_row: FloatArray = np.empty(0)
        self.best_size = np.inf
        # Lower bounds of s(i), the root of the mean squared distance from member i.
        self.bounds = np.zeros(len(self.members))
        self.is_done = np.zeros(len(self.members), dtype=bool)
        self.n_rows = 0

    @property
    def best(self) -> tuple[int, FloatArray]:
        """The best node and its distances from the members."""
        return self._best_node, self._best_row

    def of(self, nodes: IntArray) -> Iterator[FloatArray]:
        """Yield the distances from one node after the other."""
        clusters = np.full(len(nodes), self.cluster)
        return self._division.rows(self._paths, nodes, clusters)

    def add(self, node: int, row: FloatArray | None = None) -> FloatArray | None:
        """Take a node into account and return its row of distances, unless that was done before."""
        position = self._division.positions[node]
        is_member = self._division.labels[node] == self.cluster
        if is_member and self.is_done[position]:
            return None
        if row is None:
            row = next(self.of(np.array([node])))
        size = float(np.sqrt(self._weights @ row**2 / self._total))
        if size < self.best_size * (1.0 - TIE):
            self.best_size, self._best_node, self._best_row = size, node, row
        self.bounds = np.maximum(self.bounds, np.abs(row - size))
        if is_member:
            self.is_done[position] = True
        self.n_rows += 1
        return row


def _search_all(rows: _Rows) -> None:
    """Compute rows until the bounds exclude every other node."""
    while True:
        bounds = np.where(rows.is_done, np.inf, rows.bounds)
        # The most promising first; of equally promising ones the nearest to the best so far.
        position = int(np.lexsort((rows.best[1], bounds))[0])
        if bounds[position] >= rows.best_size * (1.0 - TIE):
            return
        rows.add(int(rows.members[position]))


def _search_sample(rows: _Rows, rng: np.random.RandomState) -> None:
    """Estimate all sums from a sample of rows, and compute the least."""
    sums = np.zeros(len(rows.members))
    sample = rows.members[rng.choice(len(rows.members), SAMPLE_SIZE, replace=False)]
    for node, row in zip(sample, rows.of(sample), strict=True):
        added = rows.add(int(node), row)
        sums += 0.0 if added is None else added**2
    rows.add(int(rows.members[np.argmin(sums)]))


def _search_neighbors(rows: _Rows, division: Division, graph: NeighborGraph) -> None:
    """Go from the best node to a better neighbor, until there is none."""
    adjacency = graph.adjacency
    while rows.n_rows < MOST_ROWS:
        node = rows.best[0]
        near = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        for neighbor in near[division.labels[near] == rows.cluster]:
            if rows.bounds[division.positions[neighbor]] < rows.best_size:
                rows.add(int(neighbor))
        if rows.best[0] == node:
            return
