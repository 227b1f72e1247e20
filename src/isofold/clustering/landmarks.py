"""Few points that stand for many: at random, near the centers of clusters, or far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from isofold._findings import setting
from isofold._typing import FloatArray, IntArray
from isofold.clustering.kmeans import kmeans
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_search, spread_landmarks

__all__ = ["check_landmarks", "choose_landmarks"]


def choose_landmarks(
    points: FloatArray,
    how: str,
    n_landmarks: int,
    rng: np.random.RandomState,
    *,
    n_jobs: int | None = None,
) -> IntArray:
    """Return the numbers of landmarks, ascending; two centers may have the same nearest point."""
    n = len(points)
    m = min(n_landmarks, n)
    if how == "random":
        return np.sort(rng.choice(n, m, replace=False))
    if how == "kmeans":
        centers = kmeans(points, m, random_state=rng, n_jobs=n_jobs).centers
        return np.unique(build_search(points, n_jobs=n_jobs).query(centers, 1).indices)
    if how == "maxmin":
        return spread_landmarks(points, m, first=int(rng.randint(n)))
    msg = f"{setting('landmarks', how)} must be 'random', 'kmeans', 'maxmin' or numbers of samples."
    raise InvalidInputError(msg)


def check_landmarks(landmarks: Any, n_samples: int) -> IntArray:
    """Return samples that the user chose, as they were given."""
    try:
        samples = column_or_1d(landmarks)
    except (TypeError, ValueError) as error:
        msg = f"landmarks must be 'random', 'kmeans', 'maxmin' or a list of samples: {error}"
        raise InvalidInputError(msg) from error
    if (
        samples.dtype.kind not in "iu"
        or len(samples) == 0
        or not ((samples >= 0) & (samples < n_samples)).all()
    ):
        msg = f"landmarks must be numbers of samples, from 0 to {n_samples - 1}, one at least."
        raise InvalidInputError(msg)
    return np.asarray(samples, dtype=np.intp)
