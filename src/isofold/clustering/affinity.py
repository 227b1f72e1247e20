"""Affinity propagation for many points: exemplars from a sample, clusters around them.

Messages between all pairs find exemplars and their number at once (Frey and Dueck 2007). They take
memory and time of the square of the points, so that beyond some hundred a sample finds them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from isofold._typing import FloatArray, IntArray
from isofold.clustering.kmeans import kmeans
from isofold.neighbors import build_search

__all__ = ["affinity_labels"]

MOST_POINTS = 800
"""Points among which exemplars are sought: a second of messages."""

DAMPINGS, MOST_ROUNDS = (0.8, 0.95), 400
"""Dampings that are tried until the messages settle, and rounds of each."""

EQUAL_SIMILARITIES = 1e-12
"""Relative spread of similarities below which they are all the same."""

SEARCH_ROUNDS, GROWTH, COUNT_TOLERANCE = 8, 100.0, 0.1
"""Preferences that are tried to reach a number of clusters, the first interval in units of the
median similarity, and how near the number must come."""


def affinity_labels(
    points: FloatArray,
    *,
    n_clusters: int | None = None,
    random_state: Any,
    n_jobs: int | None = None,
) -> IntArray:
    """Return clusters around exemplars, with the median similarity as everyone's preference.

    Similarity is minus the squared distance, or minus the distance where a sample stands for all.
    """
    rng = check_random_state(random_state)
    n = len(points)
    if n < 3 or n_clusters == 1:
        return np.zeros(n, dtype=np.intp)
    chosen = np.arange(n) if n <= MOST_POINTS else np.sort(rng.permutation(n)[:MOST_POINTS])
    sample = points[chosen].astype(np.float64)
    # Distances make more clusters than their squares: smaller ones, where points abound.
    similarity = -squareform(pdist(sample, "sqeuclidean" if n <= MOST_POINTS else "euclidean"))
    off = similarity[~np.eye(len(sample), dtype=bool)]
    if np.ptp(off) <= EQUAL_SIMILARITIES * np.abs(off).max():
        # Nothing tells one point from another.
        return np.zeros(n, dtype=np.intp)
    preference = float(np.median(off))
    seed = int(rng.randint(2**31 - 1))
    exemplars = _exemplars(similarity, preference, seed)
    if n_clusters is not None:
        exemplars = _search(similarity, preference, seed, n_clusters, exemplars)
    if exemplars is None:
        wanted = max(1, round(np.sqrt(n))) if n_clusters is None else min(n_clusters, n)
        return kmeans(points, wanted, random_state=rng, n_jobs=n_jobs).labels
    search = build_search(points[chosen[exemplars]], n_jobs=n_jobs)
    nearest = search.query(points, 1).indices[:, 0]
    labels: IntArray = np.unique(nearest, return_inverse=True)[1]
    return labels


def _search(
    similarity: FloatArray, preference: float, seed: int, wanted: int, best: IntArray | None
) -> IntArray | None:
    """Return the exemplars whose number is next to the wanted one, by halving preferences."""
    # The more negative the preference, the fewer exemplars there are.
    too_many = best is None or len(best) > wanted
    low, high = (GROWTH * preference, preference) if too_many else (preference, preference / GROWTH)
    for _ in range(SEARCH_ROUNDS):
        if best is not None and abs(len(best) - wanted) <= COUNT_TOLERANCE * wanted:
            break
        middle = -float(np.sqrt(low * high))
        found = _exemplars(similarity, middle, seed)
        if found is None or len(found) > wanted:
            high = middle
        else:
            low = middle
        closer = found is not None and (
            best is None or abs(len(found) - wanted) < abs(len(best) - wanted)
        )
        best = found if closer else best
    return best


def _exemplars(similarity: FloatArray, preference: float, seed: int) -> IntArray | None:
    """Return the exemplars on which the messages settle, None if they do not."""
    from sklearn.cluster import AffinityPropagation

    for damping in DAMPINGS:
        model = AffinityPropagation(
            affinity="precomputed",
            damping=damping,
            max_iter=MOST_ROUNDS,
            preference=preference,
            random_state=seed,
        )
        with warnings.catch_warnings():
            # Whether it settled is looked at below.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(similarity)
        exemplars = np.asarray(model.cluster_centers_indices_, dtype=np.intp)
        if 0 < len(exemplars) < len(similarity) and model.n_iter_ < MOST_ROUNDS:
            return exemplars
    return None
