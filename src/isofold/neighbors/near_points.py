"""Points with their nearest others: found once, and handed on to all who ask for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.neighbors.directed import edges_from_lists, no_directed_edges
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.graph import NeighborGraph, assemble
from isofold.neighbors.search.build import build_search
from isofold.neighbors.search.protocol import Neighbors, NeighborSearch

__all__ = ["NearPoints", "no_neighbors"]


@dataclass(frozen=True, eq=False)
class NearPoints:
    """Distinct points with their nearest others.

    Attributes
    ----------
    distinct : Distinct
        Which samples are copies; nodes stand for them.
    search : NeighborSearch
        Index over the nodes, with a copy of their points.
    found : Neighbors
        The nearest other nodes of every node.

    Examples
    --------
    >>> import numpy as np
    >>> near = NearPoints.of(np.array([[0.0], [1.0], [1.0], [3.0]]), 2)
    >>> near.first(1).indices.ravel()
    array([1, 0, 1])
    >>> near.graph(1, kind="mutual").node_of_sample
    array([0, 1, 1, 2])
    """

    distinct: Distinct
    search: NeighborSearch
    found: Neighbors

    @classmethod
    @stage("neighbor graph")
    def of(
        cls, X: FloatArray, n_neighbors: int, *, method: str = "auto", n_jobs: int | None = None
    ) -> NearPoints:
        """Return the distinct rows of a table with up to so many neighbors."""
        distinct = find_distinct(X)
        search = build_search(X[distinct.sample_of_node], method=method, n_jobs=n_jobs)
        k = min(n_neighbors, distinct.n_nodes - 1)
        return cls(distinct, search, search.query_self(k) if k else no_neighbors())

    @property
    def n_nodes(self) -> int:
        """Number of distinct points."""
        return self.distinct.n_nodes

    def first(self, n_neighbors: int) -> Neighbors:
        """Return the first so many neighbors of every node, or all if there are fewer."""
        found = self.found
        return Neighbors(found.distances[:, :n_neighbors], found.indices[:, :n_neighbors])

    def graph(self, n_neighbors: int, *, kind: str) -> NeighborGraph:
        """Return the graph of the first neighbors, as `build_graph` does."""
        near = self.first(n_neighbors)
        if self.n_nodes == 1:
            return assemble(self.distinct, no_directed_edges(self.search.points), kind=kind)
        return assemble(self.distinct, edges_from_lists(near.distances, near.indices), kind=kind)


def no_neighbors() -> Neighbors:
    """Return the neighbors of a single node."""
    return Neighbors(np.empty((1, 0)), np.empty((1, 0), dtype=np.intp))
