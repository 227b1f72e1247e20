"""Minimum spanning trees: of a graph, and of points without their n² distances.

The Euclidean tree grows by Borůvka's rounds: every component takes its shortest edge to
another one, until one component is left. Neighbor lists answer most points. A point whose
whole list lies in its own component has at least the distance d_k of its last neighbor to go;
only if that undercuts the best edge its component knows, is it answered exactly
(`isofold.neighbors.nearest_other`).

The tree of a k-nearest-neighbor graph is *not* the Euclidean tree: two dense clusters may be
connected through far points only, since their own lists never leave them.

References
----------
Borůvka, O. (1926). O jistém problému minimálním. March, W. B., Ram, P. and Gray, A. G.
(2010). Fast Euclidean minimum spanning tree: algorithm, analysis, and applications. KDD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_points
from isofold.neighbors import _edges
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.nearest_other import NearestOtherOfPoints, NearestOtherSearch
from isofold.neighbors.search.protocol import Neighbors

if TYPE_CHECKING:
    from isofold.neighbors.graph import NeighborGraph


# Components of an early round serve later ones as small groups of points close together;
# they hold about so many points.
_GROUP_SIZE = 256


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A minimum spanning tree, or a forest if what it spans is disconnected.

    Attributes
    ----------
    n_nodes : int
        Number of nodes (or samples) spanned.
    edges : ndarray of shape (n_edges, 2)
        Pairs i < j in lexicographic order.
    lengths : ndarray of shape (n_edges,)
        Their lengths; zero between copies of a sample.
    """

    n_nodes: int
    edges: IntArray
    lengths: FloatArray

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    def some(self, chosen: BoolArray) -> SpanningTree:
        """Return the forest of some of the edges."""
        return SpanningTree(self.n_nodes, self.edges[chosen], self.lengths[chosen])


def component_labels(n_nodes: int, edges: IntArray) -> IntArray:
    """Return the connected component of every node, numbered by first node from 0."""
    labels = np.empty(n_nodes, dtype=np.intp)
    _edges.components(np.ascontiguousarray(edges, dtype=np.intp), labels)
    return labels


def spanning_forest_of(n_nodes: int, edges: IntArray, lengths: FloatArray) -> IntArray:
    """Return which edges form the minimum spanning forest, ascending.

    No pair may occur twice. Of equal lengths the edge listed first wins, so that the forest
    is unique.
    """
    order = np.argsort(lengths, kind="stable")
    # Ranks instead of lengths: distinct, and they lead back to the edges.
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    weights = sp.csr_array((ranks, (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    forest = csgraph.minimum_spanning_tree(weights)
    return np.sort(order[forest.data.astype(np.intp) - 1])


def graph_spanning_tree(graph: NeighborGraph) -> SpanningTree:
    """Return the minimum spanning tree (or forest) of a neighbor graph.

    Parameters
    ----------
    graph : NeighborGraph
        Any graph.

    Returns
    -------
    SpanningTree
        Over the nodes of the graph.
    """
    chosen = spanning_forest_of(graph.n_nodes, graph.edges, graph.lengths)
    return SpanningTree(graph.n_nodes, graph.edges[chosen], graph.lengths[chosen])


def euclidean_spanning_tree(
    X: Any, *, n_neighbors: int = 16, n_jobs: int | None = None
) -> SpanningTree:
    """Return the exact minimum spanning tree of points under Euclidean distance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points.
    n_neighbors : int, default=16
        Length of the neighbor lists. It changes the time, never the tree.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    SpanningTree
        Over the samples; copies hang on the first sample of their node by edges of length
        zero.

    Raises
    ------
    InvalidInputError
        If the points cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> euclidean_spanning_tree(np.array([[0.0], [5.0], [1.0]])).edges
    array([[0, 2],
           [1, 2]])
    """
    points = check_points(X)
    n_neighbors = check_count(n_neighbors, name="n_neighbors")
    distinct = find_distinct(points)
    distinct_points = points[distinct.sample_of_node].astype(np.float64, copy=False)
    source = NearestOtherOfPoints(distinct_points, n_jobs=n_jobs)
    lists = source.lists(n_neighbors) if distinct.n_nodes > 1 else None
    edges, lengths = join_components(source, np.arange(distinct.n_nodes), lists=lists)
    return _tree_of_samples(distinct, edges, lengths.astype(points.dtype))


def tree_of_places(
    distinct_points: FloatArray, lists: Neighbors | None, *, n_jobs: int | None = None
) -> SpanningTree:
    """Return the exact minimum spanning tree of distinct points whose neighbors are known."""
    source = NearestOtherOfPoints(distinct_points, n_jobs=n_jobs)
    edges, lengths = join_components(source, np.arange(len(distinct_points)), lists=lists)
    return SpanningTree(len(distinct_points), edges, lengths)


def join_components(
    source: NearestOtherSearch, labels: IntArray, *, lists: Neighbors | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the minimum spanning tree of components, as edges between their closest points."""
    state = _Rounds(source, labels, lists)
    while state.n_components > 1:
        state.join_once()
    edges = np.concatenate([np.empty((0, 2), dtype=np.intp), *state.edges])
    lengths = np.concatenate([np.empty(0), *state.lengths])
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return edges[order], lengths[order]


class _Rounds:
    """The state of Borůvka's rounds.

    For every node either its nearest node of another component is known (`candidate`, at distance
    `bound`), or `bound` is only a lower bound of that distance. Both stay true as components
    grow, since the set of these nodes shrinks; a candidate that has been joined leaves its
    distance behind as the lower bound.
    """

    def __init__(
        self, source: NearestOtherSearch, labels: IntArray, lists: Neighbors | None
    ) -> None:
        self.source = source
        self.labels = labels
        self.groups = labels
        self.lists = lists
        self.bound = np.zeros(source.n_points)
        self.candidate = np.full(source.n_points, -1, dtype=np.intp)
        self.column = np.zeros(source.n_points, dtype=np.intp)
        self.edges: list[IntArray] = []
        self.lengths: list[FloatArray] = []

    @property
    def n_components(self) -> int:
        """Number of components left."""
        return int(self.labels.max()) + 1

    def join_once(self) -> None:
        """Let every component take one shortest edge, as far as no cycle closes.

        Only edges of equal length can close one, and dropping any of them leaves the tree
        minimal. That needs *one* edge a component: of several equally short ones the second
        may be longer than a path through the component that the first leads to.
        """
        chosen = self._shortest_ways_out()
        ends = np.sort(np.stack([chosen, self.candidate[chosen]], axis=1), axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        order = order[np.unique(self.labels[chosen[order]], return_index=True)[1]]
        ends, lengths = ends[order], self.bound[chosen[order]]
        components = np.sort(self.labels[ends], axis=1)
        keys = components[:, 0] * self.n_components + components[:, 1]
        # Two components may have chosen each other.
        once = np.unique(keys, return_index=True)[1]
        kept = once[spanning_forest_of(self.n_components, components[once], lengths[once])]
        self.edges.append(ends[kept])
        self.lengths.append(lengths[kept])
        self.labels = component_labels(self.n_components, components[kept])[self.labels]

    def _shortest_ways_out(self) -> IntArray:
        """Return the nodes from which shortest edges of components leave.

        The largest component is not searched and may stay without: one edge of every other
        component is enough for a round, and most points need no search then.
        """
        self._read_lists()
        if self.n_components * _GROUP_SIZE >= self.source.n_points:
            self.groups = self.labels
        known = self._known()
        best = self._best(known)
        open_nodes = np.flatnonzero(~known & (self.bound < best[self.labels]))
        largest = int(np.bincount(self.labels).argmax())
        in_largest = self.labels[open_nodes] == largest
        queries = open_nodes[~in_largest]
        if len(queries):
            queries = self.source.promising(self.labels, self.groups, queries)
            found = self.source.nearest_foreign(self.labels, queries)
            self.bound[queries], self.candidate[queries] = found
            known[queries] = True
            best = self._best(known)
        if in_largest.any():
            best[largest] = -1.0
        return np.flatnonzero(known & (self.bound == best[self.labels]))

    def _known(self) -> BoolArray:
        """Return which candidates are still in another component."""
        known: BoolArray = (self.candidate >= 0) & (self.labels[self.candidate] != self.labels)
        return known

    def _best(self, known: BoolArray) -> FloatArray:
        """Return the shortest known edge out of every component."""
        best = np.full(self.n_components, np.inf)
        np.minimum.at(best, self.labels[known], self.bound[known])
        return best

    def _read_lists(self) -> None:
        """Move candidates that have been joined on to the next of another component in the list."""
        if self.lists is None:
            return
        n_listed = self.lists.indices.shape[1]
        stale = np.flatnonzero(~self._known() & (self.column < n_listed))
        while len(stale):
            # What has become kin stays kin, so that a list is read only once.
            others = self.lists.indices[stale, self.column[stale]]
            self.bound[stale] = self.lists.distances[stale, self.column[stale]]
            self.candidate[stale] = others
            stale = stale[self.labels[others] == self.labels[stale]]
            self.candidate[stale] = -1
            self.column[stale] += 1
            stale = stale[self.column[stale] < n_listed]


def _tree_of_samples(distinct: Distinct, edges: IntArray, lengths: FloatArray) -> SpanningTree:
    """Return a tree of nodes as a tree of samples."""
    first = distinct.sample_of_node[distinct.node_of_sample]
    copies = np.flatnonzero(first != np.arange(distinct.n_samples))
    all_edges = np.concatenate(
        [distinct.sample_of_node[edges], np.stack([first[copies], copies], axis=1)]
    )
    all_lengths = np.concatenate([lengths, np.zeros(len(copies), dtype=lengths.dtype)])
    order = np.lexsort((all_edges[:, 1], all_edges[:, 0]))
    return SpanningTree(distinct.n_samples, all_edges[order], all_lengths[order])
