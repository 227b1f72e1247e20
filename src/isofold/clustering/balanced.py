r"""Clusters of nearly equal size, none smaller than a given one.

k-means with a least size (Bradley, Bennett and Demiriz) alternates centers with the assignment

    min Σ_i |x_i − c_l(i)|²     such that every cluster has h points or more,

a minimum-cost flow. A solution needs only h·c points told where to go: each of the others is free
and goes to its nearest center. So what is left is to match h places in every cluster with points at
the least total of |x_i − c_l|² − min_m |x_i − c_m|², which SciPy does for sparse candidates.

That takes a second for two thousand points. For more, Lloyd's clusters are taken and those that
are too small join the nearest other one, smallest first.

References
----------
Bradley, P. S., Bennett, K. P. and Demiriz, A. (2000). Constrained k-means clustering. Microsoft
Research, MSR-TR-2000-65. Crouse, D. F. (2016). On implementing 2D rectangular assignment
algorithms. IEEE Trans. Aerosp. Electron. Syst. 52(4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import min_weight_full_bipartite_matching
from sklearn.utils import check_random_state

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_points
from isofold.clustering.kmeans import Clusters
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_search

__all__ = ["balanced_clusters", "cluster_means", "join_small"]

MOST_MATCHED = 2_000
"""Points up to which assignments are minimum-cost flows: half a second, seconds for points with
heavy tails."""

SAMPLE = 32
"""Points of a cluster from which its center is found."""

LLOYD_STEPS, FLOW_STEPS = 8, 10
"""Steps of Lloyd's iteration, after which clusters are even enough, and of the constrained one at
most; it ends where nothing changes, usually after five to ten."""

CANDIDATES, MOST_CANDIDATES = 16, 128
"""Nearest centers that a point may be assigned to, at first and at most."""

TIGHT, MOST_TIGHT = 0.8, 300
"""Fraction of the points from which on nearly all are bound to clusters, and how many are matched
then at most: of 2,000 a matching took minutes."""


def balanced_clusters(
    points: Any,
    n_clusters: int,
    *,
    least: int,
    is_quick: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Clusters:
    """Divide points into clusters of which none is smaller than a given size.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [0.2], [9.0], [0.3], [9.1]])
    >>> clusters = balanced_clusters(points, 2, least=3, random_state=0)
    >>> np.bincount(clusters.labels)
    array([3, 3])
    """
    points = check_points(points, min_samples=1)
    c = check_count(n_clusters, name="n_clusters")
    least = check_count(least, name="least")
    if c * least > len(points):
        msg = (
            f"{c} clusters of {least} points or more need {c * least}, but there are "
            f"{len(points)}. Pass fewer clusters, or a smaller least size."
        )
        raise InvalidInputError(msg)
    if c == 1:
        return Clusters(np.zeros(len(points), dtype=np.intp), points.mean(axis=0, keepdims=True))
    rng = check_random_state(random_state)
    # Near the origin squares lose no digits.
    centered = points - points.mean(axis=0, dtype=np.float64)
    drawn = rng.permutation(len(points))[: c * SAMPLE]
    centers = _lloyd(centered[np.sort(drawn)], centered[drawn[:c]], n_jobs=n_jobs)
    labels = _nearest(centered, centers, n_jobs=n_jobs)
    most = MOST_MATCHED if c * least <= TIGHT * len(points) else MOST_TIGHT
    if not is_quick and len(points) <= most and np.bincount(labels).min() < least:
        labels = _constrained(centered, labels, least)
    labels = join_small(centered, labels, least)
    return Clusters(labels=labels, centers=cluster_means(points, labels).astype(points.dtype))


def cluster_means(points: FloatArray, labels: IntArray) -> FloatArray:
    """Return the mean of every cluster, in float64."""
    sums = [np.bincount(labels, weights=column) for column in points.T]
    means: FloatArray = np.stack(sums, axis=1) / np.bincount(labels)[:, None]
    return means


def join_small(points: FloatArray, labels: IntArray, least: int) -> IntArray:
    """Let clusters below a size join the nearest other one, smallest first."""
    while True:
        sizes = np.bincount(labels)
        small = np.flatnonzero(sizes < least)
        if len(small) == 0 or len(sizes) == 1:
            return labels
        means = cluster_means(points, labels)
        near = build_search(means).query(means[small], 2).indices
        nearest = np.where(near[:, 0] == small, near[:, 1], near[:, 0])
        labels = np.unique(_pairs_joined(small, nearest, sizes)[labels], return_inverse=True)[1]


def _pairs_joined(small: IntArray, nearest: IntArray, sizes: IntArray) -> IntArray:
    """Return new numbers of clusters; each takes part in one join at most."""
    number = np.arange(len(sizes))
    is_joined = np.zeros(len(sizes), dtype=bool)
    for place in np.argsort(sizes[small], kind="stable"):
        one, other = small[place], nearest[place]
        if not is_joined[one] and not is_joined[other]:
            number[one] = other
            is_joined[[one, other]] = True
    return number


def _lloyd(points: FloatArray, centers: FloatArray, *, n_jobs: int | None) -> FloatArray:
    """Return centers after some of Lloyd's steps; those that end up without points are dropped."""
    for _ in range(LLOYD_STEPS):
        centers = cluster_means(points, _nearest(points, centers, n_jobs=n_jobs))
    return centers


def _nearest(points: FloatArray, centers: FloatArray, *, n_jobs: int | None) -> IntArray:
    """Return the nearest center of every point; those that are nobody's are not counted."""
    nearest = build_search(centers, n_jobs=n_jobs).query(points, 1).indices[:, 0]
    labels: IntArray = np.unique(nearest, return_inverse=True)[1]
    return labels


def _constrained(points: FloatArray, labels: IntArray, least: int) -> IntArray:
    """Return clusters after constrained steps, until nothing changes."""
    for _ in range(FLOW_STEPS):
        centers = cluster_means(points, labels)
        found = _assign(points, centers, least)
        if found is None or np.array_equal(found, labels):
            break
        labels = found
    return labels


def _assign(points: FloatArray, centers: FloatArray, least: int) -> IntArray | None:
    """Return the assignment of least cost in which every cluster has its least size.

    None if the nearest centers alone allow no such assignment.
    """
    n, c = len(points), len(centers)
    n_candidates = min(CANDIDATES, c)
    while True:
        near = build_search(centers).query(points, n_candidates)
        squares = near.distances.astype(np.float64) ** 2
        extra = squares - squares[:, :1]
        # Zeros would be missing entries; a constant for every place changes no optimum.
        extra += float(squares.mean()) or 1.0
        place = (near.indices[:, :, None] * least + np.arange(least)).reshape(n, -1)
        point = np.repeat(np.arange(n), n_candidates * least)
        costs = np.repeat(extra, least, axis=1).ravel()
        table = sp.csr_array((costs, (place.ravel(), point)), shape=(c * least, n))
        try:
            places, matched = min_weight_full_bipartite_matching(table)
        except ValueError:
            # The places of some cluster cannot all be filled by points that know of it.
            if n_candidates >= min(c, MOST_CANDIDATES):
                return None
            n_candidates = min(2 * n_candidates, c)
            continue
        labels = near.indices[:, 0].copy()
        labels[matched] = places // least
        return labels
