"""k-means: clusters whose points are nearer to their own center than to any other.

Patches need no best possible centers, only even ones. So the centers are found from a sample, by
Lloyd's iteration of faiss or, where that is not installed, of scikit-learn. Then every point goes
to its nearest center by an exact search, in blocks of rows.

References
----------
Lloyd, S. P. (1982). Least squares quantization in PCM. IEEE Trans. Inf. Theory 28(2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from isofold._dependencies import require
from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_points
from isofold.exceptions import InvalidInputError, MissingDependencyError
from isofold.neighbors import build_search
from isofold.neighbors.duplicates import find_distinct

__all__ = ["Clusters", "kmeans"]

SAMPLE_PER_CLUSTER = 128
"""Points of a cluster from which its center is found: right to a tenth of the cluster's width."""

N_ITERATIONS = 20
"""Lloyd's iterations of faiss, which has no other stopping rule."""

MOST_LLOYD_PAIRS = 2 * 10**7
"""Pairs of sample and center up to which scikit-learn iterates over the whole sample: seconds."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Disjoint clusters of points.

    Attributes
    ----------
    labels : ndarray of int of shape (n_points,)
        The cluster of every point; each of 0, …, n_clusters - 1 occurs.
    centers : ndarray of shape (n_clusters, d)
        The centers, in the precision of the points. That of its own cluster is the nearest to a
        point.
    """

    labels: IntArray
    centers: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)


def kmeans(
    points: Any, n_clusters: int, *, random_state: Any, n_jobs: int | None = None
) -> Clusters:
    """Divide points into clusters around centers.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
    >>> clusters = kmeans(points, 2, random_state=0)
    >>> np.round(np.sort(clusters.centers, axis=0), 3).ravel()
    array([0.05, 5.1 ])
    """
    points = check_points(points, min_samples=1)
    n_clusters = check_count(n_clusters, name="n_clusters")
    rng = check_random_state(random_state)
    sample = _training_sample(points, n_clusters, rng)
    middle = sample.mean(axis=0, dtype=np.float64)
    # Near the origin and of size one, single precision suffices.
    unit = float(np.abs(sample - middle).max()) or 1.0
    centers = _train((sample - middle) / unit, n_clusters, seed=int(rng.randint(2**31 - 1)))
    centers = (centers * unit + middle).astype(points.dtype)
    labels = _nearest(points, centers, n_jobs=n_jobs)
    used, labels = np.unique(labels, return_inverse=True)
    return Clusters(labels=labels, centers=centers[used])


def _training_sample(points: FloatArray, n_clusters: int, rng: np.random.RandomState) -> FloatArray:
    """Return enough points to find centers from, at least `n_clusters` of them distinct."""
    sample = _sample(points, SAMPLE_PER_CLUSTER * n_clusters, rng)
    if find_distinct(sample).n_nodes >= n_clusters:
        return sample
    distinct = find_distinct(points)
    if distinct.n_nodes < n_clusters:
        msg = (
            f"{n_clusters} clusters were asked for, but only {distinct.n_nodes} of the "
            f"{len(points)} points differ, and points at the same place cannot be told apart. "
            f"Ask for at most {distinct.n_nodes} clusters."
        )
        raise InvalidInputError(msg)
    # Nearly all points are copies: each place counts once.
    return _sample(points[distinct.sample_of_node], SAMPLE_PER_CLUSTER * n_clusters, rng)


def _sample(points: FloatArray, size: int, rng: np.random.RandomState) -> FloatArray:
    if size >= len(points):
        return points
    return points[np.sort(rng.choice(len(points), size, replace=False))]


def _train(sample: FloatArray, n_clusters: int, *, seed: int) -> FloatArray:
    """Return centers in double precision.

    One thread finds them: sums over several threads differ in their last digits.
    """
    try:
        faiss = require("faiss", extra="approximate", purpose="Fast k-means")
    except MissingDependencyError:
        return _train_with_sklearn(sample, n_clusters, seed)
    model = faiss.Kmeans(
        sample.shape[1],
        n_clusters,
        niter=N_ITERATIONS,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=len(sample),
    )
    with threadpool_limits(limits=1):
        model.train(np.ascontiguousarray(sample, dtype=np.float32))
    return np.asarray(model.centroids, dtype=np.float64)


def _train_with_sklearn(sample: FloatArray, n_clusters: int, seed: int) -> FloatArray:
    # Imported late: it would double the time of ``import isofold``.
    from sklearn.cluster import KMeans, MiniBatchKMeans

    method = KMeans if len(sample) * n_clusters <= MOST_LLOYD_PAIRS else MiniBatchKMeans
    with threadpool_limits(limits=1):
        model = method(n_clusters, n_init=1, random_state=seed).fit(sample)
    return np.asarray(model.cluster_centers_, dtype=np.float64)


def _nearest(points: FloatArray, centers: FloatArray, *, n_jobs: int | None) -> IntArray:
    """Return the nearest center of every point."""
    search = build_search(centers, n_jobs=n_jobs)
    labels = np.empty(len(points), dtype=np.int64)
    # A search of many columns holds the points twice in double precision, and a few candidates.
    step = block_rows(8 * (2 * points.shape[1] + 16), len(points))
    for begin in range(0, len(points), step):
        block = slice(begin, begin + step)
        labels[block] = search.query(points[block], 1).indices[:, 0]
    return labels
