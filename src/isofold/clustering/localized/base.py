"""What LDLC and its two extremes, VQPCA and geodesic k-medoids, share as estimators."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isofold._findings import Finding, Severity, emit
from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_repeats, check_units
from isofold.clustering.base import BaseClusterer
from isofold.clustering.connectivity import count_fragments
from isofold.clustering.localized.assignment import CheapestClusters, reachable
from isofold.clustering.localized.partition import LocalizedProblem, Partition, medoids_near_centers
from isofold.clustering.localized.restarts import (
    best_partition,
    draw_restarts,
    make_memory,
    smallest_connected,
)
from isofold.clustering.localized.seeding import read_seeds, refuse_forgotten
from isofold.clustering.subspaces import AffineSubspaces
from isofold.neighbors import (
    GraphPaths,
    NeighborGraph,
    Neighbors,
    build_graph,
    build_search,
    connected_components,
)
from isofold.neighbors.duplicates import Distinct, find_distinct

__all__ = ["LocalizedClusterer", "LocalizedModel"]

VANISHING = 1e-80
"""Fraction of the largest coordinate below which a coordinate counts as zero."""


@dataclass(frozen=True, eq=False)
class LocalizedModel:
    """Clusters as they are needed to find that of a new point.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Where the origin of `points` is.
    points : ndarray of shape (n_nodes, d)
        The distinct training points; none if ρ is 0.
    graph : NeighborGraph or None
        Their graph; None if ρ is 0.
    partition : Partition
        Clusters, subspaces and medoids of the nodes.
    rho : float
        Weight of the geodesic part.
    n_neighbors : int
        Nodes through which paths lead to a new point.
    """

    mean: FloatArray
    points: FloatArray
    graph: NeighborGraph | None
    partition: Partition
    rho: float
    n_neighbors: int

    def predict(self, X: FloatArray, *, n_jobs: int | None) -> IntArray:
        """Return the cheapest cluster of every point.

        The geodesic distance of a new point leads through the best of its nearest nodes. A point
        at a node has the label of the node.
        """
        labels = np.empty(len(X), dtype=np.intp)
        step = block_rows(8 * (3 * X.shape[1] + 4 * self.n_neighbors + 8), len(X))
        blocks = [slice(begin, begin + step) for begin in range(0, len(X), step)]
        if self.graph is None:
            for block in blocks:
                labels[block] = self.partition.subspaces.nearest(X[block] - self.mean)[0]
            return labels
        search, paths = build_search(self.points, n_jobs=n_jobs), GraphPaths(self.graph)
        for block in blocks:
            points = X[block] - self.mean
            near = search.query(points, self.n_neighbors)
            labels[block] = self._cheapest(points, near, paths)
            # At a node its label: also that of a point which another cluster has absorbed.
            is_node = near.distances[:, 0] == 0.0
            labels[block][is_node] = self.partition.labels[near.indices[is_node, 0]]
        return labels

    def _cheapest(self, points: FloatArray, near: Neighbors, paths: GraphPaths) -> IntArray:
        """Return the cheapest cluster of points with given nearest nodes."""
        subspaces, rho = self.partition.subspaces, self.rho
        lengths = near.distances
        # The cluster of the nearest node bounds the cost, and so the length of paths.
        first = near.indices[:, 0]
        distances = near.distances[:, 0] + self.partition.distances[first]
        squares = subspaces.own_squared_distances(points, self.partition.labels[first])
        most = reachable((1.0 - rho) * squares + rho * distances**2, distances, rho)
        limits = np.full(len(self.points), -1.0)
        np.maximum.at(limits, near.indices, most[:, None] - lengths)
        cheapest = CheapestClusters.none(len(points))
        row = np.full(len(self.points), np.inf)
        reached = paths.within(self.partition.medoids, limits)
        for cluster, (nodes, reached_by) in enumerate(reached):
            row[nodes] = reached_by
            distances = (lengths + row[near.indices]).min(axis=1)
            row[nodes] = np.inf
            rows = np.flatnonzero(distances <= most)
            squares = subspaces.squared_distances_to(points[rows], cluster)
            cheapest.offer(cluster, rows, squares, distances[rows], rho=rho)
        return cheapest.labels


class LocalizedClusterer(BaseClusterer):
    """Clusterers that descend the objective of LDLC for some ρ.

    A subclass provides ``_read_rho()``, which returns ρ or "auto". If it has a parameter
    `n_neighbors`, there is a graph.
    """

    n_init: int
    init: Any
    max_iter: int
    n_jobs: int | None

    @abstractmethod
    def _read_rho(self) -> float | str:
        """Return ρ, or "auto"."""

    def _fit_clusters(self, X: FloatArray, rng: np.random.RandomState) -> IntArray:
        rho = self._read_rho()
        r = self._check_n_components(X.shape[1])
        n_init = check_repeats(self.n_init, name="n_init")
        max_iter = check_count(self.max_iter, name="max_iter")
        mean = X.mean(axis=0, dtype=np.float64)
        points = X - mean
        check_units(points, name="X, less its mean,")
        # Squares of numbers so much smaller than others vanish, and with them their differences.
        sizes = np.abs(points)
        points[sizes < VANISHING * sizes.max()] = 0.0
        del sizes
        distinct = find_distinct(points)
        graph = self._graph_of(points, distinct.n_nodes)
        # The graph merges also points that are closer than numbers can tell.
        nodes: NeighborGraph | Distinct = distinct if graph is None else graph
        problem = LocalizedProblem(
            # Without copies of points no copy of the table.
            points=points if len(points) == nodes.n_nodes else points[nodes.sample_of_node],
            weights=np.bincount(nodes.node_of_sample).astype(np.float64),
            # With ρ = 0 nothing of the graph counts, not even where clusters begin.
            graph=None if rho == 0.0 else graph,
            n_clusters=self._check_n_clusters(nodes.n_nodes),
            n_components=r,
            rho=0.0,
            max_iter=max_iter,
        )
        given = read_seeds(self.init, problem.n_clusters, nodes.node_of_sample)
        problem = self._with_enough_clusters(problem, given)
        is_search = isinstance(rho, str)
        # A search tries about four values.
        n_descents = 4 * n_init if is_search else n_init
        memory = make_memory(problem, n_descents, is_search=is_search) if given is None else None
        restarts = draw_restarts(
            problem, given, init=self.init, n_init=n_init, rng=rng, memory=memory
        )
        if problem.graph is not None and isinstance(rho, str):
            rho, partition = smallest_connected(
                problem, problem.graph, restarts, memory=memory, n_jobs=self.n_jobs
            )
        else:
            rho = float(rho)
            problem_at_rho = problem.with_rho(rho)
            partition = best_partition(problem_at_rho, restarts, memory=memory, n_jobs=self.n_jobs)
        self.model_ = LocalizedModel(
            mean=mean,
            # Subspaces alone need no points.
            points=problem.points[:0] if problem.graph is None else problem.points,
            graph=problem.graph,
            partition=partition,
            rho=rho,
            n_neighbors=min(nodes.n_nodes, getattr(self, "n_neighbors", 1)),
        )
        self._describe(problem, nodes.sample_of_node)
        labels: IntArray = partition.labels[nodes.node_of_sample]
        if graph is not None:
            self.graph_ = graph
            self.nonlocal_clusters_ = np.flatnonzero(count_fragments(labels, graph) > 1)
        return labels

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002 - scikit-learn's signature
        """Return minus the mean squared distance of points from the subspaces of their clusters.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.
        y : None
            Ignored; there for scikit-learn's model selection.

        Returns
        -------
        float
            At most 0, which is best.
        """
        labels = self.predict(X)
        points = self._read(X) - self.model_.mean
        squares = self.model_.partition.subspaces.own_squared_distances(points, labels)
        return -float(squares.mean())

    def _predict(self, X: FloatArray) -> IntArray:
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def _graph_of(self, points: FloatArray, n_distinct: int) -> NeighborGraph | None:
        if not hasattr(self, "n_neighbors"):
            return None
        k = check_count(self.n_neighbors, name="n_neighbors")
        return build_graph(points, n_neighbors=min(k, max(1, n_distinct - 1)), n_jobs=self.n_jobs)

    def _with_enough_clusters(
        self, problem: LocalizedProblem, given: IntArray | None
    ) -> LocalizedProblem:
        """Return the problem with at least one cluster for every component."""
        if problem.graph is None:
            return problem
        components = connected_components(problem.graph)
        count, asked = components.n_components, problem.n_clusters
        if given is not None:
            refuse_forgotten(given, components)
        if count <= asked:
            return problem
        finding = Finding.of(
            "more_clusters",
            Severity.DOUBT,
            n_components=count,
            smallest=int(components.sizes[-1]),
            asked=asked,
        )
        emit((finding,))
        return replace(problem, n_clusters=count)

    def _describe(self, problem: LocalizedProblem, sample_of_node: IntArray) -> None:
        """Set the attributes that tell what was found."""
        model = self.model_
        partition = model.partition
        if model.graph is None:
            medoids = medoids_near_centers(problem.points, partition)
        else:
            medoids = partition.medoids
        self.medoids_ = sample_of_node[medoids]
        subspaces = partition.subspaces
        self.subspaces_ = AffineSubspaces(subspaces.centers + model.mean, subspaces.bases)
        self.reconstruction_error_ = partition.reconstruction_error(problem.weights)
        self.objective_path_ = partition.path
        self.n_iter_ = partition.n_iter
        self.n_clusters_ = problem.n_clusters
