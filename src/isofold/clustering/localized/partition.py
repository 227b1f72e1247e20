"""What the engine of LDLC is given, and what it returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.clustering.subspaces import AffineSubspaces, fit_subspaces, members_of
from isofold.exceptions import InvalidInputError
from isofold.neighbors import GraphPaths, NeighborGraph, RememberedPaths

__all__ = ["LocalizedProblem", "Partition", "medoids_near_centers"]


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
        Dimension r of their flats.
    rho : float
        The share ρ of the geodesic part.
    max_iter : int
        The most rounds of the outer loop.
    rows : dict or None, default=None
        Rows of geodesic distances that restarts share, if they are to be remembered.
    """

    points: FloatArray
    weights: FloatArray
    graph: NeighborGraph | None
    n_clusters: int
    n_components: int
    rho: float
    max_iter: int
    rows: dict[int, FloatArray] | None = None

    def paths(self) -> GraphPaths:
        """Return the shortest paths of the graph, for one thread."""
        if self.graph is None:
            msg = "Without a graph there are no paths."
            raise InvalidInputError(msg)
        return (
            GraphPaths(self.graph) if self.rows is None else RememberedPaths(self.graph, self.rows)
        )

    def flats(self, labels: IntArray) -> AffineSubspaces:
        """Return the best flats of clusters, eq. 4.14."""
        return fit_subspaces(
            self.points,
            labels,
            self.n_components,
            n_clusters=self.n_clusters,
            weights=self.weights,
        )

    def costs(self, squares: FloatArray, distances: FloatArray) -> FloatArray:
        """Return what points cost, from distances to flats, squared, and to medoids, eq. 4.12."""
        return (1.0 - self.rho) * squares + self.rho * distances**2

    def with_rho(self, rho: float) -> LocalizedProblem:
        """Return the problem with another share of the geodesic part."""
        return replace(self, rho=rho)


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters, their flats and medoids.

    Attributes
    ----------
    labels : ndarray of int of shape (n_nodes,)
        The cluster of every node: the cheapest one for these flats and medoids, but for strays.
    medoids : ndarray of int of shape (n_clusters,)
        Medoids.
    subspaces : AffineSubspaces
        Flats.
    squares : ndarray of shape (n_nodes,)
        Squared distance of every node from its flat.
    distances : ndarray of shape (n_nodes,)
        Geodesic distance of every node from its medoid; zeros if ρ is 0.
    path : ndarray
        ψ after every step, from the first flats on; the last one after strays were moved, if any.
    n_iter : int
        Rounds of the outer loop.
    strays : ndarray of int
        Nodes that were moved afterwards for clusters to be connected; flats and medoids followed.
    """

    labels: IntArray
    medoids: IntArray
    subspaces: AffineSubspaces
    squares: FloatArray
    distances: FloatArray
    path: FloatArray
    n_iter: int
    strays: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def objective(self) -> float:
        """The value of ψ with these labels, flats and medoids."""
        return float(self.path[-1])

    def reconstruction_error(self, weights: FloatArray) -> float:
        """Return the sum of squared distances from flats, eq. 4.7."""
        return float(weights @ self.squares)


def medoids_near_centers(points: FloatArray, partition: Partition) -> IntArray:
    """Return the member of every cluster that is nearest to its mean by straight distance."""
    centers = partition.subspaces.centers
    return np.array(list(_nearest_members(points, partition.labels, centers)), dtype=np.intp)


def _nearest_members(points: FloatArray, labels: IntArray, centers: FloatArray) -> Iterator[int]:
    for center, members in zip(centers, members_of(labels, len(centers)), strict=True):
        offsets = points[members] - center
        yield int(members[np.argmin(np.einsum("ij,ij->i", offsets, offsets))])
