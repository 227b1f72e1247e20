"""What the engine of LDLC is given, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.clustering.subspaces import AffineSubspaces, fit_subspaces, members_of
from isofold.exceptions import InvalidInputError
from isofold.neighbors import GraphPaths, NeighborGraph, RememberedPaths

__all__ = ["LocalizedProblem", "Partition", "PathMemory", "medoids_near_centers"]

PathMemory: TypeAlias = dict[int, FloatArray]
"""Rows of geodesic distances by source, which restarts share and fill."""


@dataclass(frozen=True, eq=False)
class LocalizedProblem:
    """What is to be divided into clusters.

    Attributes
    ----------
    points : ndarray of shape (n_nodes, d)
        Distinct points in float64.
    weights : ndarray of shape (n_nodes,)
        How often each counts.
    graph : NeighborGraph or None
        The graph of the points; None if ρ is 0.
    n_clusters : int
        Number of clusters c.
    n_components : int
        Dimension r of their subspaces.
    rho : float
        The weight ρ of the geodesic part.
    max_iter : int
        The most rounds of the outer loop.
    """

    points: FloatArray
    weights: FloatArray
    graph: NeighborGraph | None
    n_clusters: int
    n_components: int
    rho: float
    max_iter: int

    def paths(self, memory: PathMemory | None = None) -> GraphPaths:
        """Return the shortest paths of the graph, for one thread."""
        if self.graph is None:
            msg = "Without a graph there are no paths."
            raise InvalidInputError(msg)
        return GraphPaths(self.graph) if memory is None else RememberedPaths(self.graph, memory)

    def subspaces(self, labels: IntArray) -> AffineSubspaces:
        """Return the best subspaces of clusters, eq. 4.14."""
        return fit_subspaces(
            self.points,
            labels,
            self.n_components,
            n_clusters=self.n_clusters,
            weights=self.weights,
        )

    def costs(self, squares: FloatArray, distances: FloatArray) -> FloatArray:
        """Return what points cost, from squared distances and distances to medoids, eq. 4.12."""
        return (1.0 - self.rho) * squares + self.rho * distances**2

    def with_rho(self, rho: float) -> LocalizedProblem:
        """Return the problem with another weight of the geodesic part."""
        return replace(self, rho=rho)


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters, their subspaces and medoids.

    Attributes
    ----------
    labels : ndarray of int of shape (n_nodes,)
        The cluster of every node: the cheapest one for these subspaces and medoids, but for
        absorbed ones.
    medoids : ndarray of int of shape (n_clusters,)
        Medoids.
    subspaces : AffineSubspaces
        Subspaces.
    squares : ndarray of shape (n_nodes,)
        Squared distance of every node from its subspace.
    distances : ndarray of shape (n_nodes,)
        Geodesic distance of every node from its medoid; zeros if ρ is 0.
    path : ndarray
        ψ after every step, from the first subspaces on; the last one after nodes were absorbed, if
        any.
    n_iter : int
        Rounds of the outer loop.
    absorbed : ndarray of int
        Nodes that were moved afterwards for clusters to be connected. Subspaces and medoids were
        fitted again.
    """

    labels: IntArray
    medoids: IntArray
    subspaces: AffineSubspaces
    squares: FloatArray
    distances: FloatArray
    path: FloatArray
    n_iter: int
    absorbed: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def objective(self) -> float:
        """The value of ψ with these labels, subspaces and medoids."""
        return float(self.path[-1])

    def reconstruction_error(self, weights: FloatArray) -> float:
        """Return the sum of squared distances from subspaces, eq. 4.7."""
        return float(weights @ self.squares)


def medoids_near_centers(points: FloatArray, partition: Partition) -> IntArray:
    """Return the member of every cluster that is nearest to its mean by straight distance."""
    centers = partition.subspaces.centers
    return np.array(list(_nearest_members(points, partition.labels, centers)), dtype=np.intp)


def _nearest_members(points: FloatArray, labels: IntArray, centers: FloatArray) -> Iterator[int]:
    for center, members in zip(centers, members_of(labels, len(centers)), strict=True):
        offsets = points[members] - center
        yield int(members[np.argmin(np.einsum("ij,ij->i", offsets, offsets))])
