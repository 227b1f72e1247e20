"""Fragments absorbed: the last points that keep clusters from being connected.

On real data these are nearly always a handful of single points that a subspace picks up from
elsewhere. To raise ρ for their sake bends all clusters. To split them off (thesis, section 4.4)
makes clusters of one point. So they go to the cluster with which they have most edges, and
subspaces and medoids are fitted again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isofold.clustering.connectivity import absorb_fragments
from isofold.clustering.localized.medoids import Division, Medoids, MedoidSearch
from isofold.clustering.localized.partition import LocalizedProblem, Partition, PathMemory
from isofold.neighbors import NeighborGraph

__all__ = ["connected_partition"]

LARGEST_ABSORBED_FRACTION = 0.05
"""Fraction of the points that may be absorbed; with more, clusters are not nearly connected."""


def connected_partition(
    problem: LocalizedProblem,
    graph: NeighborGraph,
    partition: Partition,
    rng: np.random.RandomState,
    memory: PathMemory | None = None,
) -> Partition | None:
    """Return a partition with its fragments absorbed, unless they are too many."""
    labels = absorb_fragments(partition.labels, graph)
    moved = labels != partition.labels
    if not moved.any():
        return partition
    if problem.weights[moved].sum() > LARGEST_ABSORBED_FRACTION * problem.weights.sum():
        return None
    division = Division(labels, problem.n_clusters)
    subspaces = problem.subspaces(labels)
    paths = problem.paths(memory)
    search = MedoidSearch(graph, paths, problem.points, problem.weights)
    changed = np.union1d(labels[moved], partition.labels[moved])
    distances = partition.distances.copy()
    for cluster in changed:
        medoid = int(partition.medoids[cluster])
        (row,) = division.rows(paths, np.array([medoid]), np.array([cluster]))
        distances[division.members(cluster)] = row
    medoids = Medoids(nodes=partition.medoids, distances=distances)
    medoids = search.thorough(division, medoids, changed, rng)
    squares = subspaces.own_squared_distances(problem.points, labels)
    objective = problem.weights @ problem.costs(squares, medoids.distances)
    return replace(
        partition,
        labels=labels,
        medoids=medoids.nodes,
        subspaces=subspaces,
        squares=squares,
        distances=medoids.distances,
        path=np.append(partition.path, objective),
        absorbed=np.flatnonzero(moved),
    )
