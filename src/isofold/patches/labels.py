"""Labels of clusters from whatever names them: k-means, LDLC, a clusterer, or an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from isofold._typing import FloatArray, IntArray
from isofold.clustering.kmeans import kmeans
from isofold.clustering.ldlc import LDLC
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_search

__all__ = ["labels_of"]

MOST_CLUSTERS = 50
"""Clusters of k-means if no number is given: as many as the thesis takes for a million points."""

LEAST_PER_CLUSTER = 20
"""Points a cluster has on average, at least, if no number of clusters is given."""

NOISE = -1
"""How scikit-learn's clusterers label points of no cluster."""


def labels_of(
    cover: Any,
    points: FloatArray,
    *,
    n_patches: int | None,
    random_state: Any,
    n_components: int = 2,
    name: str = "cover",
    n_jobs: int | None = None,
) -> tuple[IntArray, FloatArray | None]:
    """Return the clusters that a name, a clusterer or an array of labels means.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> labels_of(["b", "b", "a"], points, n_patches=None, random_state=0)
    (array([1, 1, 0]), None)
    """
    if isinstance(cover, str):
        if cover not in ("kmeans", "ldlc"):
            msg = (
                f"cover={cover!r} names no clustering. Pass 'kmeans', 'ldlc', a scikit-learn "
                f"clusterer, or an array of labels."
            )
            raise InvalidInputError(msg)
        if n_patches is None:
            n_patches = min(MOST_CLUSTERS, max(1, len(points) // LEAST_PER_CLUSTER))
        if cover == "ldlc":
            cover = LDLC(n_clusters=n_patches, n_components=n_components, n_jobs=n_jobs)
            return _labels_by(cover, points, random_state=random_state, n_jobs=n_jobs)
        clusters = kmeans(points, n_patches, random_state=random_state, n_jobs=n_jobs)
        return clusters.labels, clusters.centers
    if hasattr(cover, "fit_predict") and not isinstance(cover, type):
        return _labels_by(cover, points, random_state=random_state, n_jobs=n_jobs)
    return _given_labels(cover, len(points), name=name), None


def _labels_by(
    clusterer: Any, points: FloatArray, *, random_state: Any, n_jobs: int | None
) -> tuple[IntArray, FloatArray | None]:
    """Return the labels of a fresh copy of a clusterer, and its centers if it keeps any."""
    model = clone(clusterer)
    if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        model.set_params(random_state=seed)
    name = type(clusterer).__name__
    try:
        found = np.asarray(model.fit_predict(points))
    except ValueError as error:
        msg = f"{name} refused the {len(points)} points in {points.shape[1]} dimension(s): {error}"
        raise InvalidInputError(msg) from error
    if found.shape != (len(points),) or found.dtype.kind not in "iu":
        msg = (
            f"{name}.fit_predict returned an array of {found.dtype} of shape {found.shape}, but "
            f"one whole number for each of {len(points)} points is needed. Pass a clusterer."
        )
        raise InvalidInputError(msg)
    is_noise = found == NOISE
    if is_noise.all():
        msg = (
            f"{name} called all {len(points)} points noise, so that there is no cluster to make a "
            f"patch of. Loosen its parameters, for example a larger eps or a smaller min_samples."
        )
        raise InvalidInputError(msg)
    if is_noise.any():
        search = build_search(points[~is_noise], n_jobs=n_jobs)
        nearest = search.query(points[is_noise], 1).indices[:, 0]
        found = found.copy()
        found[is_noise] = found[~is_noise][nearest]
    used, labels = np.unique(found, return_inverse=True)
    centers = getattr(model, "cluster_centers_", None)
    if centers is None or np.shape(centers)[1:] != points.shape[1:] or used[-1] >= len(centers):
        return labels, None
    return labels, np.asarray(centers, dtype=points.dtype)[used]


def _given_labels(cover: Any, n_points: int, *, name: str) -> IntArray:
    """Return labels in an array as the numbers of clusters."""
    advice = (
        "Pass an instance of a clusterer, or an array of one integer or string for each point; the "
        "documentation lists the names that are accepted."
    )
    given = np.asarray(cover)
    if given.ndim != 1 or given.dtype.kind not in "biuUSTO":
        msg = (
            f"{name} is {type(cover).__name__} and reads as an array of {given.dtype} of shape "
            f"{given.shape}, which are no labels. {advice}"
        )
        raise InvalidInputError(msg)
    if len(given) != n_points:
        msg = f"{name} has {len(given)} labels, but there are {n_points} points. {advice}"
        raise InvalidInputError(msg)
    try:
        labels: IntArray = np.unique(given, return_inverse=True)[1]
    except TypeError as error:
        msg = f"The labels in {name} cannot be compared with each other: {error}. {advice}"
        raise InvalidInputError(msg) from error
    return labels
