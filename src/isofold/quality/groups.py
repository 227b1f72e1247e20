"""Groups: whether labels survive, and how pure and flat clusters are.

References
----------
Purity, NMI and reconstruction error: Khajehpour Tadavani (2013), eq. 4.18-4.21.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import IntArray
from isofold._validation import check_count, check_points, check_units
from isofold.clustering.subspaces import fit_subspaces
from isofold.exceptions import InvalidInputError
from isofold.quality.distances import Comparison, euclidean_rows
from isofold.quality.neighborhoods import nearest_in_space
from isofold.quality.score import RowSample, Score, draw_rows, mean_score


def one_nn_error(
    Y: Any,
    labels: Any,
    *,
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Fraction of points whose nearest other point has another label; 0 is best.

    Parameters
    ----------
    Y : array-like of shape (n_points, n_components)
        The embedding.
    labels : array-like of shape (n_points,)
        Class of every point: numbers or text.
    n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`.

    Returns
    -------
    Score
        The leave-one-out error of the 1-nearest-neighbor classifier, with its per-point form.

    Examples
    --------
    >>> from isofold.quality import one_nn_error
    >>> float(one_nn_error([[0.0], [1.0], [10.0], [11.5]], ["a", "a", "b", "c"]))
    0.5
    """
    points = check_points(Y, name="Y")
    check_units(points, name="Y")
    rows = euclidean_rows(points)
    sample = draw_rows(len(points), n_samples, random_state)
    return one_nn_of(Comparison(rows, rows, points, sample, n_jobs), labels)


def one_nn_of(comparison: Comparison, labels: Any) -> Score:
    """1-nearest-neighbor error in the embedding of a prepared comparison."""
    classes = check_labels(labels, comparison.sample.n_points)
    near, _ = nearest_in_space(comparison, comparison.embedding, 1)
    return one_nn_from(near[:, 0], classes, comparison.sample)


def one_nn_from(nearest: IntArray, classes: IntArray, sample: RowSample) -> Score:
    """1-nearest-neighbor error of points whose nearest other one is known."""
    wrong = classes[nearest] != classes[sample.indices]
    return mean_score(wrong.astype(np.float64), sample, bounds=(0, 1))


def purity(clusters: Any, labels: Any) -> float:
    """Fraction of points that carry the most frequent label of their cluster; 1 is best.

    Parameters
    ----------
    clusters, labels : array-like of shape (n_points,)
        Cluster and class of every point.

    Returns
    -------
    float
        At least the fraction of the largest class, whatever the clusters.

    Examples
    --------
    >>> from isofold.quality import purity
    >>> purity([0, 0, 1, 1], ["a", "a", "a", "b"])
    0.75
    """
    clusters = check_labels(clusters, None, name="clusters")
    labels = check_labels(labels, len(clusters))
    n_labels = int(labels.max()) + 1
    pairs, counts = np.unique(clusters * n_labels + labels, return_counts=True)
    most = np.zeros(int(clusters.max()) + 1, dtype=np.intp)
    np.maximum.at(most, pairs // n_labels, counts)
    return float(most.sum() / len(clusters))


def normalized_mutual_information(clusters: Any, labels: Any) -> float:
    """Information that clusters and labels share, 2I/(H + H); 1 is best.

    Parameters
    ----------
    clusters, labels : array-like of shape (n_points,)
        Cluster and class of every point.

    Returns
    -------
    float
        Between 0 and 1.
    """
    from sklearn.metrics import normalized_mutual_info_score

    clusters = check_labels(clusters, None, name="clusters")
    return float(normalized_mutual_info_score(check_labels(labels, len(clusters)), clusters))


def reconstruction_error(X: Any, clusters: Any, *, n_components: int) -> Score:
    """Mean squared distance of points from the best subspace of their cluster; 0 is best.

    φ_rec/n with φ_rec = Σ_l Σ_{i ∈ C_l} ‖x_i − b_l‖² − ‖(x_i − b_l) U_l‖², b_l the mean and U_l
    the first principal axes of cluster l.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points.
    clusters : array-like of shape (n_points,)
        Cluster of every point.
    n_components : int
        Dimension of the subspaces; 0 measures the distance from the cluster means.

    Returns
    -------
    Score
        The mean, with every point's squared distance as its per-point form.
    """
    X = check_points(X, min_samples=1)
    check_units(X, name="X")
    r = check_count(n_components, name="n_components", minimum=0)
    clusters = check_labels(clusters, len(X), name="clusters")
    centered = X - X.mean(axis=0, dtype=np.float64)
    n_clusters = int(clusters.max()) + 1
    subspaces = fit_subspaces(centered, clusters, min(r, X.shape[1]), n_clusters=n_clusters)
    squared = subspaces.own_squared_distances(centered, clusters)
    return Score(float(squared.mean()), sample=draw_rows(len(X), None), per_point=squared)


def check_labels(labels: Any, n_points: int | None, *, name: str = "labels") -> IntArray:
    """Return labels of any kind as class numbers from 0."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) == 0 or (n_points is not None and len(array) != n_points):
        msg = (
            f"{name} has shape {array.shape}, but one entry a point is needed"
            + ("." if n_points is None else f", that is {n_points}.")
            + " Pass a one-dimensional array in the order of the rows."
        )
        raise InvalidInputError(msg)
    n_missing = sum(map(_is_missing, array)) if array.dtype.kind in "fcmMO" else 0
    if n_missing:
        msg = f"{name} has {n_missing} missing entries. Drop these points, or give them a class."
        raise InvalidInputError(msg)
    try:
        return np.asarray(np.unique(array, return_inverse=True)[1])
    except TypeError as error:
        msg = f"{name} mixes kinds of values that cannot be sorted ({error}). Convert them to text."
        raise InvalidInputError(msg) from error


def _is_missing(label: Any) -> bool:
    # None, NaN and NaT; pandas' NA does not compare and is known by its name.
    return label is None or type(label).__name__ == "NAType" or bool(label != label)
