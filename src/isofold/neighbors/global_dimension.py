"""Intrinsic dimension of the whole: growth of pair counts, of packings, of spanning trees.

*Correlation*: the fraction of pairs within a distance r grows as r^d. *Packing*: the most points
that are r apart from each other fall as r^-d. *Spanning tree*: the length of the minimum spanning
tree of n points under geodesic distance grows as n^((d-1)/d). All need distances only, of a sample
of the points, and all are too low in many dimensions, where most points are near a border and few
near each other: figures are in the docstrings.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_count, check_points, check_seed
from isofold.neighbors.connect import connect
from isofold.neighbors.dimension import DimensionEstimate, check_distinct
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.geodesic import all_pairs_geodesics
from isofold.neighbors.graph import build_graph, distances_between_nodes
from isofold.neighbors.precomputed import check_distances
from isofold.neighbors.search.build import METRICS

__all__ = ["correlation_dimension", "packing_dimension", "spanning_tree_dimension"]

NEAREST_PAIRS, FARTHEST_PAIRS = 2, 20
"""Pairs are counted at distances within which points have so many neighbors on average: fewer are
left to chance, more see curvature and borders (cube of five dimensions: 4.50, to 50 pairs 4.41)."""

NEAREST_PACKING, FARTHEST_PACKING = 10, 80
"""Packings are counted at the median distances of these neighbors: closer ones end with all points
packed (plane of 2,000 points: 1.72, from the 5th to the 20th neighbor 1.58)."""

PACKINGS = 10
"""Random orders in which points are packed."""

TREE_NEIGHBORS = 8
"""Neighbors in the graph of geodesic distances."""

SMALLEST_TREE, TREE_SIZES, TREES = 4, 5, 5
"""Trees have a quarter of the points to all, in so many sizes, each size but the last drawn so many
times. From an eighth on a cube of five dimensions has 3.4 instead of 4.1."""


def correlation_dimension(
    X: Any, *, metric: str = "euclidean", max_samples: int = 2000, random_state: Any = None
) -> DimensionEstimate:
    """Estimate intrinsic dimension by the growth of the number of close pairs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or their distances if `metric` is "precomputed".
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    max_samples : int, default=2000
        The most points that are compared; of more a random sample is.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    DimensionEstimate
        The slope of log C(r) on log r, C the fraction of pairs within r. Noise counts as dimension
        at its own scale. 2,000 uniform points: 1.95 of 2 dimensions, 2.9 of 3, 4.5 of 5.

    Raises
    ------
    InvalidInputError
        If the data cannot be used or have fewer than four distinct points.

    References
    ----------
    Grassberger, P. and Procaccia, I. (1983). Measuring the strangeness of strange attractors.
    Physica D 9.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.random.RandomState(0).rand(500, 2) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> correlation_dimension(flat).rounded
    2
    """
    distances, ceiling = _sampled(X, metric, max_samples, check_seed(random_state))
    n = len(distances)
    pairs = np.sort(distances[np.triu_indices(n, 1)])
    most = min(FARTHEST_PAIRS * n // 2, len(pairs))
    least = min(NEAREST_PAIRS * n // 2, max(1, most // 4))
    counts = np.unique(np.geomspace(least, most, 10).astype(np.intp))
    return _estimate(_slope(np.log(pairs[counts - 1]), np.log(counts)), ceiling)


def packing_dimension(
    X: Any, *, metric: str = "euclidean", max_samples: int = 2000, random_state: Any = None
) -> DimensionEstimate:
    """Estimate intrinsic dimension by how many points fit beside each other at a distance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or their distances if `metric` is "precomputed".
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    max_samples : int, default=2000
        The most points that are compared; of more a random sample is.
    random_state : int, RandomState or None, default=None
        Seed of the sample and of the orders in which points are packed.

    Returns
    -------
    DimensionEstimate
        Minus the slope of log M(r) between two distances, M the number of points that a greedy
        packing holds, on average over random orders. It does not depend on how densely parts of the
        data were sampled, but is too low: 2,000 uniform points have 1.7 in 2 dimensions, 2.3 in 3,
        3.3 in 5.

    Raises
    ------
    InvalidInputError
        If the data cannot be used or have fewer than four distinct points.

    References
    ----------
    Kégl, B. (2002). Intrinsic dimension estimation using packing numbers. NIPS 15.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.random.RandomState(0).rand(500, 2) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> packing_dimension(flat, random_state=0).rounded
    2
    """
    rng = check_seed(random_state)
    distances, ceiling = _sampled(X, metric, max_samples, rng)
    n = len(distances)
    far = min(FARTHEST_PACKING, n - 1)
    near = min(NEAREST_PACKING, max(1, far // 8))
    radii = np.median(np.partition(distances, (near, far), axis=1)[:, [near, far]], axis=0)
    orders = [rng.permutation(n) for _ in range(PACKINGS)]
    packed = [
        np.mean([np.log(_packing_number(distances, radius, order)) for order in orders])
        for radius in radii
    ]
    return _estimate(-_slope(np.log(radii), np.array(packed)), ceiling)


def spanning_tree_dimension(
    X: Any,
    *,
    metric: str = "euclidean",
    max_samples: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DimensionEstimate:
    """Estimate intrinsic dimension by the growth of geodesic minimum spanning trees.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or their distances if `metric` is "precomputed".
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    max_samples : int, default=2000
        The most points that are compared; of more a random sample is.
    random_state : int, RandomState or None, default=None
        Seed of all samples.
    n_jobs : int or None, default=None
        Processes, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    DimensionEstimate
        1/(1 - a), a the slope of the logarithm of the trees' lengths on that of their numbers of
        points. 2,000 uniform points: 1.9 of 2 dimensions, 2.7 of 3, 4.1 of 5. An error of a is
        multiplied by d²: in many dimensions the estimate is little more than a guess.

    Raises
    ------
    InvalidInputError
        If the data cannot be used or have fewer than four distinct points.

    References
    ----------
    Costa, J. A. and Hero, A. O. (2004). Geodesic entropic graphs for dimension and entropy
    estimation in manifold learning. IEEE Transactions on Signal Processing 52(8).

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.random.RandomState(0).rand(500, 2) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> spanning_tree_dimension(flat, random_state=0).rounded
    2
    """
    rng = check_seed(random_state)
    distances, ceiling = _sampled(X, metric, max_samples, rng)
    n = len(distances)
    graph = build_graph(distances, n_neighbors=min(TREE_NEIGHBORS, n - 1), metric="precomputed")
    # Where the graph has components, trees grow by bridges, as those of distances would.
    graph = connect(distances, graph, metric="precomputed")
    geodesics = np.asarray(all_pairs_geodesics(graph, n_jobs=n_jobs), dtype=np.float64)
    sizes = np.unique(np.geomspace(max(3, n // SMALLEST_TREE), n, TREE_SIZES).astype(np.intp))
    lengths = [_mean_over_draws(geodesics, int(size), rng) for size in sizes]
    growth = _slope(np.log(sizes), np.array(lengths))
    return _estimate(1.0 / max(1.0 - max(growth, 0.0), 1.0 / ceiling), ceiling)


def _sampled(
    X: Any, metric: str, max_samples: int, rng: np.random.RandomState
) -> tuple[FloatArray, int]:
    """Return the distances of a sample of distinct points, and the highest dimension they allow."""
    check_choice(metric, METRICS, name="metric")
    most = check_count(max_samples, name="max_samples", minimum=4)
    if metric == "precomputed":
        matrix, distinct = distances_between_nodes(check_distances(X))
        chosen = _drawn(distinct.n_nodes, most, rng)
        distances = matrix[np.ix_(chosen, chosen)].astype(np.float64)
        ceiling = distinct.n_nodes - 1
    else:
        points = check_points(X)
        distinct = find_distinct(points)
        chosen = distinct.sample_of_node[_drawn(distinct.n_nodes, most, rng)]
        some = points[chosen].astype(np.float64)
        distances = cdist(some, some)
        ceiling = min(points.shape[1], distinct.n_nodes - 1)
    check_distinct(distinct.n_nodes, 1)
    # Distances may underflow to zero between points that differ in their last digits.
    distances = np.maximum(distances, np.finfo(np.float64).tiny)
    np.fill_diagonal(distances, 0.0)
    return distances, ceiling


def _drawn(n: int, most: int, rng: np.random.RandomState) -> IntArray:
    """Return all of n numbers, or a random sample, ascending."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def _slope(x: FloatArray, y: FloatArray) -> float:
    """Return the slope of a regression line; infinite if x does not vary."""
    deviations = x - x.mean()
    spread = float(deviations @ deviations)
    # Rounding of equal distances is no growth.
    if spread <= (np.finfo(np.float64).eps * len(x)) ** 2 * float(x @ x):
        return np.inf if y[-1] >= y[0] else -np.inf
    return float(deviations @ y) / spread


def _estimate(value: float, ceiling: int) -> DimensionEstimate:
    """Return an estimate between zero and what the data can fill."""
    value = min(max(value, 0.0), float(ceiling))
    return DimensionEstimate(value, max(1, round(value)))


def _packing_number(distances: FloatArray, radius: float, order: IntArray) -> int:
    """Return how many points a greedy packing holds that takes points in a given order."""
    is_free = np.ones(len(distances), dtype=bool)
    n_packed = 0
    for at in order:
        if is_free[at]:
            n_packed += 1
            is_free &= distances[at] >= radius
    return n_packed


def _mean_over_draws(geodesics: FloatArray, size: int, rng: np.random.RandomState) -> float:
    """Return the mean logarithm of the length of the trees of some points."""
    n = len(geodesics)
    if size == n:
        return float(np.log(_tree_length(geodesics)))
    draws = (rng.choice(n, size, replace=False) for _ in range(TREES))
    return float(np.mean([np.log(_tree_length(geodesics[np.ix_(own, own)])) for own in draws]))


def _tree_length(distances: FloatArray) -> float:
    """Return the length of the minimum spanning tree, by Prim's algorithm on all distances."""
    nearest = distances[0].copy()
    is_out = np.ones(len(distances), dtype=bool)
    is_out[0] = False
    total = 0.0
    for _ in range(len(distances) - 1):
        following = int(np.where(is_out, nearest, np.inf).argmin())
        total += float(nearest[following])
        is_out[following] = False
        np.minimum(nearest, distances[following], out=nearest)
    return total
