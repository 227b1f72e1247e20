"""Random graphs and points, and LDLC as its definition reads: all geodesics, plain loops."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isofold.clustering.localized.descent import LocalizedProblem
from isofold.clustering.localized.seeding import geodesic_seeding, straight_seeding
from isofold.clustering.subspaces import AffineSubspaces
from isofold.neighbors import GraphPaths, build_graph, connected_components

KINDS = (
    "blob",
    "curve",
    "lattice",
    "ring",
    "copies",
    "pieces",
    "far",
    "wide",
    "line",
    "single",
    "whole",
)


def random_graph(rng, n_nodes, n_edges, *, ties):
    """Return a graph, often in pieces; with whole lengths sums are exact and often equal."""
    pairs = rng.randint(n_nodes, size=(n_edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    lengths = rng.randint(1, 4, size=len(pairs)) if ties else 0.1 + rng.rand(len(pairs))
    matrix = sp.coo_array((lengths.astype(float), pairs.T), shape=(n_nodes, n_nodes))
    return build_graph(sp.csr_array(matrix + matrix.T), metric="precomputed")


def connected_graph(rng, n_nodes, *, ties):
    """Return a tree with as many edges again."""
    tree = np.array([(i, rng.randint(i)) for i in range(1, n_nodes)]).reshape(-1, 2)
    more = rng.randint(n_nodes, size=(n_nodes, 2))
    pairs = np.concatenate([tree, more[more[:, 0] != more[:, 1]]])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    lengths = rng.randint(1, 4, size=len(pairs)) if ties else 0.1 + rng.rand(len(pairs))
    matrix = sp.coo_array((lengths.astype(float), pairs.T), shape=(n_nodes, n_nodes))
    return build_graph(sp.csr_array(matrix + matrix.T), metric="precomputed")


def geodesics(graph):
    """Return all distances along a graph."""
    return dijkstra(graph.adjacency, directed=False)


def some_points(kind, seed):
    """Return some dozen points of a kind."""
    rng = np.random.RandomState(seed)
    n, d = rng.randint(8, 50), rng.randint(1, 5)
    cloud = rng.standard_normal((n, d))
    angles = 2 * np.pi * np.arange(n) / n
    side = np.arange(rng.randint(3, 7), dtype=float)
    makers = {
        "blob": lambda: cloud,
        "curve": lambda: np.column_stack([angles, np.sin(2 * angles), 0.1 * cloud[:, 0]]),
        "lattice": lambda: np.stack(np.meshgrid(side, side), -1).reshape(-1, 2),
        "ring": lambda: np.column_stack([np.cos(angles), np.sin(angles)]),
        "copies": lambda: cloud[rng.randint(n, size=2 * n)],
        "pieces": lambda: cloud + 100.0 * rng.randint(3, size=(n, 1)),
        "far": lambda: cloud + 1e6,
        "wide": lambda: rng.standard_normal((n, 70)),
        "line": lambda: np.column_stack([np.sort(rng.rand(n)), np.zeros(n), np.ones(n)]),
        # Many neighbors are equally far, more than a neighbor list holds.
        "whole": lambda: rng.randint(4, size=(n, d + 1)).astype(float),
        "single": lambda: (cloud + 100.0).astype(np.float32),
    }
    return makers[kind]()


def naive_flats(points, labels, n_components, n_clusters, weights):
    """Return the best flats by singular values of all rows, each repeated by its weight."""
    d = points.shape[1]
    centers, bases = np.zeros((n_clusters, d)), np.zeros((n_clusters, d, n_components))
    for cluster in range(n_clusters):
        mine = labels == cluster
        rows = np.repeat(points[mine], weights[mine].astype(int), axis=0)
        centers[cluster] = rows.mean(axis=0)
        _, sizes, axes = np.linalg.svd(rows - centers[cluster], full_matrices=False)
        rank = min(n_components, int((sizes > 1e-6 * (sizes[0] + 1e-12)).sum()))
        bases[cluster, :, :rank] = axes[:rank].T
    return AffineSubspaces(centers, bases)


def naive_squares(points, flats):
    """Return the squared distance of every point from every flat."""
    squares = np.empty((len(points), len(flats.centers)))
    for cluster, (center, basis) in enumerate(zip(flats.centers, flats.bases, strict=True)):
        offsets = points - center
        squares[:, cluster] = ((offsets - offsets @ basis @ basis.T) ** 2).sum(axis=1)
    return squares


def naive_costs(points, distances, medoids, flats, rho):
    """Return what every point costs in every cluster, eq. 4.12."""
    costs = np.zeros((len(points), len(flats.centers)))
    if rho < 1.0:
        costs += (1.0 - rho) * naive_squares(points, flats)
    if rho > 0.0:
        costs += rho * distances[:, medoids] ** 2
    return costs


def naive_medoids(distances, labels, medoids, weights):
    """Return for every cluster its best member, or the medoid it has if that is better."""
    better = medoids.copy()
    for cluster in range(len(medoids)):
        mine = np.flatnonzero(labels == cluster)
        for node in mine:
            now = weights[mine] @ distances[mine, better[cluster]] ** 2
            if weights[mine] @ distances[mine, node] ** 2 < now * (1.0 - 1e-9):
                better[cluster] = node
    return better


def naive_round(problem, distances, labels, medoids):
    """Return flats, medoids, labels and the objective after one round of Algorithm 4."""
    flats = naive_flats(
        problem.points, labels, problem.n_components, problem.n_clusters, problem.weights
    )
    medoids = naive_medoids(distances, labels, medoids, problem.weights)
    costs = naive_costs(problem.points, distances, medoids, flats, problem.rho)
    rows = np.arange(len(labels))
    # Only what is truly cheaper is a reason to change.
    best = costs.argmin(axis=1)
    is_cheaper = costs[rows, best] < costs[rows, labels] * (1.0 - 1e-9)
    labels = np.where(is_cheaper, best, labels)
    return flats, medoids, labels, float(problem.weights @ costs[rows, labels])


def posed(X, *, n_clusters, n_components, rho, n_neighbors=5, max_iter=100):
    """Return a problem with a cluster for every component at least, as the estimators pose it."""
    points = np.asarray(X - X.mean(axis=0, dtype=np.float64))
    n_distinct = len(np.unique(points, axis=0))
    graph = build_graph(points, n_neighbors=max(1, min(n_neighbors, n_distinct - 1)))
    n_components = min(n_components, points.shape[1])
    least = connected_components(graph).n_components if rho > 0.0 else 1
    return LocalizedProblem(
        points=points[graph.sample_of_node],
        weights=np.bincount(graph.node_of_sample).astype(float),
        graph=graph if rho > 0.0 else None,
        n_clusters=max(least, min(n_clusters, graph.n_nodes)),
        n_components=n_components,
        rho=rho,
        max_iter=max_iter,
    )


def seeded(problem, seed, *, given=None):
    """Return seeds of a problem."""
    rng = np.random.RandomState(seed)
    chance = {"init": "k-means++", "n_clusters": problem.n_clusters, "rng": rng}
    if problem.graph is None:
        return straight_seeding(problem.points, problem.weights, given, **chance)
    paths, components = GraphPaths(problem.graph), connected_components(problem.graph)
    return geodesic_seeding(paths, components, problem.weights, given, **chance)


def rounding_of(points, weights):
    """Return by how much sums of squared distances from flats are off.

    Eq. 4.5 takes the difference of squares of the size of the squared diameter, each right to some
    ten eps.
    """
    return 1e-14 * float(weights.sum() * np.ptp(points, axis=0) @ np.ptp(points, axis=0))
