"""Samples as local methods see them: a graph, paths along it, straight lengths of chosen pairs.

Whether `X` holds points, all distances or some of them ends here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg import classical_scaling, principal_coordinates
from isofold.neighbors import (
    Bridged,
    GraphChoice,
    Knn,
    Mutual,
    NeighborGraph,
    Neighbors,
    NeighborSearch,
    all_pairs_geodesics,
    build_search,
    connect,
    connected_components,
    geodesic_distances,
    resolve_graph,
)
from isofold.neighbors.graph import check_same_samples
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.shortcuts import without_shortcuts

__all__ = ["CoreSamples", "LocalSamples", "PathLengths"]

GUIDE_NEIGHBORS = 12
"""Mutual neighbors along which short-cuts are found."""

MANY_SAMPLES, MANY_FEATURES, KEPT_VARIANCE = 10_000, 100, 0.95
"""Samples and features from which neighbors are sought among the leading axes with this fraction of
the variance, at most as many as the features named here. Lengths are measured in all of them."""


@dataclass(frozen=True, eq=False)
class PathLengths:
    """Lengths of shortest paths along a graph.

    Attributes
    ----------
    unit : float
        The longest of them.
    lengths : ndarray of float32
        All of them in this unit, so that single precision holds them whatever their size.
    """

    unit: float
    lengths: FloatArray

    @classmethod
    def between(cls, lengths: FloatArray) -> PathLengths:
        """Return the paths between nodes, from the lengths of shortest paths."""
        unit = float(lengths.max()) or 1.0
        # Shortest paths are symmetric up to rounding only.
        return cls(unit, np.ascontiguousarray(np.minimum(lengths, lengths.T) / unit, np.float32))


@dataclass(frozen=True, eq=False)
class LocalSamples:
    """Samples with their neighbor graph.

    Attributes
    ----------
    X : ndarray or csr_array
        Points, distances, or known distances.
    metric : str
        "euclidean" or "precomputed".
    n_neighbors : int
        Neighbors in the graph.
    n_jobs : int or None
        Threads.
    ready, ready_guide : NeighborGraph or None
        Graphs that are there already: of neighbors, and of mutual neighbors.
    """

    X: Any
    metric: str
    n_neighbors: int
    n_jobs: int | None
    ready: NeighborGraph | None = None
    ready_guide: NeighborGraph | None = None

    def __post_init__(self) -> None:
        for graph in (self.ready, self.ready_guide):
            if graph is not None:
                check_same_samples(self.X, graph)

    @cached_property
    def graph(self) -> NeighborGraph:
        """The graph of nearest neighbors, joined by bridges if it falls into components."""
        n, d = self.X.shape
        if self.ready is not None:
            return connect(self.X, self.ready, metric=self.metric, n_jobs=self.n_jobs)
        if self.is_sparse:
            return self._ready_graph()
        if self.metric == "precomputed" or n < MANY_SAMPLES or d <= MANY_FEATURES:
            return self._graph_of(self.X, Bridged(), self.n_neighbors)
        leading = principal_coordinates(self.X, MANY_FEATURES)
        held = np.cumsum(leading.variances) / leading.total_variance
        n_axes = min(MANY_FEATURES, int(np.searchsorted(held, KEPT_VARIANCE)) + 1)
        seen = np.ascontiguousarray(leading.coordinates[:, :n_axes])
        graph = self._graph_of(seen, Bridged(), self.n_neighbors)
        return replace(graph, lengths=self._lengths_of(graph).astype(graph.lengths.dtype))

    @cached_property
    def paths(self) -> PathLengths:
        """The paths between all nodes along the graph without its short-cuts."""
        graph = self.graph
        if not self.is_sparse and graph.n_nodes > GUIDE_NEIGHBORS:
            guide = self.ready_guide or self._graph_of(self.X, Mutual(), GUIDE_NEIGHBORS)
            # In several components it would lead around where there is no need to.
            if connected_components(guide).n_components == 1:
                kept = without_shortcuts(graph, guide, n_jobs=self.n_jobs)
                if connected_components(kept).n_components == 1:
                    graph = kept
        return PathLengths.between(all_pairs_geodesics(graph, n_jobs=self.n_jobs))

    def straight_layout(self, n_components: int) -> FloatArray | None:
        """Return classical scaling of the straight distances; None if only some are known."""
        if self.is_sparse:
            return None
        rows = self.graph.sample_of_node
        if self.metric == "euclidean":
            points = self.X[rows].astype(np.float64)
            return principal_coordinates(points, min(n_components, *points.shape)).coordinates
        distances = self.X[np.ix_(rows, rows)].astype(np.float64)
        unit = float(distances.max()) or 1.0
        squares = ((distances + distances.T) / (2.0 * unit)) ** 2
        return unit * classical_scaling(squares, min(n_components, len(rows))).coordinates

    @property
    def is_sparse(self) -> bool:
        """Whether only some distances are known."""
        return bool(sp.issparse(self.X))

    def core(self, chosen: IntArray) -> CoreSamples:
        """Return some nodes, among which all others are to be placed."""
        rows = self.graph.sample_of_node[chosen]
        if self.is_sparse:
            paths = geodesic_distances(self.graph, chosen, n_jobs=self.n_jobs)
            return CoreSamples(self, chosen, None, PathLengths.between(paths[:, chosen]), paths)
        X = self.X[np.ix_(rows, rows)] if self.metric == "precomputed" else self.X[rows]
        inner = replace(self, X=X)
        return CoreSamples(self, chosen, inner, inner.paths, None)

    def _ready_graph(self) -> NeighborGraph:
        graph = resolve_graph(self.X, Knn(), metric=self.metric, n_jobs=self.n_jobs)
        n_found = connected_components(graph).n_components
        if n_found > 1:
            msg = (
                f"The graph of known distances falls into {n_found} components, and nothing tells "
                f"how far they are from each other. Store some distances between them, or pass all "
                f"distances as a dense matrix."
            )
            raise InvalidInputError(msg)
        return graph

    def _lengths_of(self, graph: NeighborGraph) -> FloatArray:
        """Return the lengths of edges between points."""
        first, second = graph.sample_of_node[graph.edges].T
        lengths = np.empty(graph.n_edges)
        step = block_rows(4 * self.X.shape[1] * 8, graph.n_edges)
        for start in range(0, graph.n_edges, step):
            block = slice(start, start + step)
            apart = self.X[first[block]].astype(np.float64) - self.X[second[block]]
            lengths[block] = np.linalg.norm(apart, axis=1)
        return lengths

    def _graph_of(self, X: Any, kind: GraphChoice, n_neighbors: int) -> NeighborGraph:
        return resolve_graph(
            X, kind, n_neighbors=n_neighbors, metric=self.metric, n_jobs=self.n_jobs
        )


@dataclass(frozen=True, eq=False)
class CoreSamples:
    """Some of the nodes, and how all others lie to them.

    Attributes
    ----------
    samples : LocalSamples
        All samples.
    chosen : ndarray of int
        The nodes of the core.
    inner : LocalSamples or None
        They as samples of their own; None if only some distances are known.
    paths : PathLengths
        The paths between them.
    all_paths : ndarray of shape (n_core, n_nodes) or None
        The lengths of paths to all nodes, where only some distances are known.
    """

    samples: LocalSamples
    chosen: IntArray
    inner: LocalSamples | None
    paths: PathLengths
    all_paths: FloatArray | None

    @property
    def data(self) -> Any:
        """Their points or distances; None if only some distances are known."""
        return None if self.inner is None else self.inner.X

    def straight_layout(self, n_components: int) -> FloatArray | None:
        """Return classical scaling of their straight distances; None if only some are known."""
        return None if self.inner is None else self.inner.straight_layout(n_components)

    def rows_of(self, nodes: IntArray) -> Any:
        """Return what tells where nodes are: their points, or their distances to the core."""
        graph, X = self.samples.graph, self.samples.X
        if self.all_paths is not None:
            return np.ascontiguousarray(self.all_paths[:, nodes].T)
        rows = graph.sample_of_node[nodes]
        if self.samples.metric != "precomputed":
            return X[rows]
        return X[np.ix_(rows, graph.sample_of_node[self.chosen])]

    def paths_of(self, rows: Any, n_nearest: int) -> tuple[FloatArray, FloatArray]:
        """Return the paths from nodes to the core over the nearest of it, and a reach of theirs.

        `rows` is what `rows_of` returned. The reach is the distance of the last of as many points
        of the core as a node has neighbors. Both are in the unit of the paths within the core.
        """
        n_neighbors = min(self.samples.n_neighbors, len(self.chosen))
        k = max(min(n_nearest, len(self.chosen)), n_neighbors)
        if self.samples.metric == "precomputed":
            near = Neighbors(*nearest_in_rows(rows, k))
        else:
            near = self._search.query(rows, k)
        straight = (near.distances / self.paths.unit).astype(np.float32)
        reach = straight[:, n_neighbors - 1].astype(np.float64)
        if self.all_paths is not None:
            return (rows / self.paths.unit).astype(np.float32), reach
        over = straight[:, :1] + self.paths.lengths[near.indices[:, 0]]
        for rank in range(1, min(n_nearest, k)):
            path = straight[:, rank, None] + self.paths.lengths[near.indices[:, rank]]
            np.minimum(over, path, out=over)
        # To the nearest the straight line is shorter than a path over another.
        np.put_along_axis(over, near.indices, straight, axis=1)
        return over, reach

    @cached_property
    def _search(self) -> NeighborSearch:
        return build_search(self.data, n_jobs=self.samples.n_jobs)
