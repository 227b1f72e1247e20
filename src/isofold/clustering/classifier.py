"""Classification from a few labels: clusters of all points, named by their labelled members.

The points of a class lie near a manifold, which a few subspaces cover. Clusters near subspaces are
found from all points, labelled or not. The labelled ones then only have to name the clusters. This
works as well as clusters keep to one class, for which they had better be connected.

References
----------
Khajehpour Tadavani, P. (2013). Nonlinear dimensionality reduction by manifold unfolding. PhD
thesis, University of Waterloo. Section 4.3.3.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from isofold._base import one_fit, read_samples
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_same_rows, check_seed
from isofold.clustering.ldlc import LDLC
from isofold.exceptions import InvalidInputError
from isofold.neighbors.duplicates import find_distinct

__all__ = ["LocalSubspaceClassifier"]

CLUSTERS_PER_CLASS = 4
"""Clusters of LDLC if no clusterer is given: a class has several flat clusters."""

CLASS_RHO = 0.1
"""Fraction of its geodesic part. With 15 % of the labels of iris, digits, wine and olive oils the
rest is right in .924, .916, .892 and .871 of the cases, with the fraction that LDLC finds itself in
.900, .906, .882 and .881: what tells classes apart is locality more than flatness."""

UNLABELED = -1
"""What marks a row without a label, as in scikit-learn's semi-supervised classifiers."""


class LocalSubspaceClassifier(ClassifierMixin, BaseEstimator):
    """Classify points by the labelled members of their cluster.

    Parameters
    ----------
    clusterer : estimator or None, default=None
        What divides the points: anything with `fit_predict` and `predict`. None is
        :class:`~isofold.clustering.ldlc.LDLC` with four clusters for every class, of dimension two
        or less, and ``rho=0.1``.
    random_state : int, RandomState or None, default=None
        Passed to the clusterer if that has a `random_state` and it is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    clusterer_ : estimator
        The fitted clusterer.
    clusters_ : ndarray of int of shape (n_clusters,)
        Numbers of the clusters that have members, ascending: usually 0, 1, ….
    cluster_proba_ : ndarray of shape (n_clusters, n_classes)
        Fractions of the classes among the labelled members of each of `clusters_`. A cluster
        without         any takes over those of the nearest cluster that has some, by the distance
        of the means.
    cluster_labels_ : ndarray of shape (n_clusters,)
        Class of each of `clusters_`: the most frequent one, of equally frequent ones the first of
        `classes_`.
    transduction_ : ndarray of shape (n_samples,)
        Class of every training row: the given one, or that of its cluster.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    With all labels given, `score` on the training rows is the clusters'
    :func:`~isofold.quality.purity`.

    A new point may fall into a cluster that no training point is in, such as an empty component of
    a mixture. It is then given to the cluster with the nearest mean.

    References
    ----------
    Khajehpour Tadavani, P. (2013). Nonlinear dimensionality reduction by manifold unfolding. PhD
    thesis, University of Waterloo. Section 4.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.clustering.classifier import LocalSubspaceClassifier
    >>> from isofold.clustering.mppca import MPPCA
    >>> t = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> cross = np.vstack([t * [1.0, 0.0], t * [0.0, 1.0] + [4.0, 0.0]])
    >>> y = np.full(40, None)
    >>> y[[3, 30]] = "lying", "standing"
    >>> clusterer = MPPCA(n_clusters=2, n_components=1, random_state=0)
    >>> classifier = LocalSubspaceClassifier(clusterer=clusterer).fit(cross, y)
    >>> classifier.predict([[0.5, 0.0], [4.0, 2.0]])
    array(['lying', 'standing'], dtype=object)
    """

    def __init__(self, *, clusterer: Any = None, random_state: Any = None) -> None:
        self.clusterer = clusterer
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Cluster labelled and unlabelled points together and name the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points, labelled or not.
        y : array-like of shape (n_samples,)
            Their classes. Unlabelled rows have -1 among numbers, and None or -1 in an array of
            objects. If -1 and one other number are all there is, these are two classes: a single
            class would leave nothing to learn. Arrays of text have no unlabelled rows.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        InvalidInputError
            If no row has a label, labels are missing otherwise, or the clusterer cannot be used.
        """
        with one_fit(self):
            labels, is_labeled = _read_labels(y)
            X = read_samples(self, X, reset=True)
            check_same_rows(len(X), len(labels), names=("X", "y"))
            self.classes_, codes = _read_classes(labels[is_labeled])
            self.clusterer_ = self._new_clusterer(X, len(self.classes_))
            found = np.asarray(self.clusterer_.fit_predict(X))
            self.clusters_, members = np.unique(found, return_inverse=True)
            self._dtype = X.dtype
            self._centers = _means(X, members, len(self.clusters_))
            self.cluster_proba_ = _class_shares(
                members[is_labeled], codes, (len(self.clusters_), len(self.classes_)), self._centers
            )
            self.cluster_labels_ = self.classes_[self.cluster_proba_.argmax(axis=1)]
            self.transduction_ = self.cluster_labels_[members]
            self.transduction_[is_labeled] = self.classes_[codes]
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of every point.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.

        Returns
        -------
        ndarray of shape (n_new,)
            Class of the cluster of each.
        """
        rows = self._rows_of_clusters(X)
        return self.cluster_labels_[rows]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the fractions of the classes in the cluster of every point.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points.

        Returns
        -------
        ndarray of shape (n_new, n_classes)
            Fractions among the labelled members, in the order of `classes_`.
        """
        rows = self._rows_of_clusters(X)
        return np.asarray(self.cluster_proba_[rows])

    def _rows_of_clusters(self, X: Any) -> IntArray:
        """Return where in `clusters_` the cluster of every point is."""
        check_is_fitted(self, "clusters_")
        # In the precision of `fit`: scikit-learn's k-means knows no other.
        X = read_samples(self, X, reset=False).astype(self._dtype, copy=False)
        found = np.asarray(self.clusterer_.predict(X))
        rows = np.minimum(np.searchsorted(self.clusters_, found), len(self.clusters_) - 1)
        is_unknown = self.clusters_[rows] != found
        rows[is_unknown] = _nearest(X[is_unknown].astype(np.float64), self._centers)
        return rows

    def _new_clusterer(self, X: FloatArray, n_classes: int) -> Any:
        if self.clusterer is None:
            most = find_distinct(X).n_nodes
            clusterer: Any = LDLC(
                n_clusters=min(most, CLUSTERS_PER_CLASS * n_classes),
                n_components=min(2, max(1, X.shape[1] - 1)),
                rho=CLASS_RHO,
            )
        else:
            missing = [
                name
                for name in ("fit_predict", "predict", "get_params")
                if not hasattr(self.clusterer, name)
            ]
            if missing or isinstance(self.clusterer, type):
                kind = "a class" if isinstance(self.clusterer, type) else f"without {missing}"
                msg = (
                    f"clusterer={self.clusterer!r} is {kind}, but an estimator is needed that "
                    f"clusters points (fit_predict) and tells the cluster of new ones (predict). "
                    f"Pass for example LDLC(), MPPCA() or sklearn.cluster.KMeans()."
                )
                raise InvalidInputError(msg)
            clusterer = clone(self.clusterer)
        parameters = clusterer.get_params(deep=False)
        if "random_state" in parameters and parameters["random_state"] is None:
            clusterer.set_params(random_state=self._seed())
        return clusterer

    def _seed(self) -> Any:
        """Return what the clusterer draws from; a whole number, so that it can be read later."""
        if self.random_state is None:
            return None
        return int(check_seed(self.random_state).randint(np.iinfo(np.int32).max))


def _read_labels(y: Any) -> tuple[Any, BoolArray]:
    """Return labels as an array, and which rows have one."""
    if y is None:
        msg = (
            "LocalSubspaceClassifier requires y to be passed, but the target y is None. Pass the "
            "labels, -1 where there is none."
        )
        raise InvalidInputError(msg)
    try:
        labels = _as_numbers(column_or_1d(np.asarray(y), warn=True))
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    if labels.dtype.kind in "US":
        _refuse_text_marks(labels)
        is_labeled = np.ones(len(labels), dtype=np.bool_)
    elif labels.dtype.kind == "O":
        is_labeled = np.array([not _is_mark(label) for label in labels], dtype=np.bool_)
    else:
        is_labeled = np.asarray(labels != UNLABELED)
        if len(np.unique(labels)) == 2:
            is_labeled[:] = True
    if not is_labeled.any():
        msg = (
            f"None of the {len(labels)} rows has a label (-1 and None mark rows without one), so "
            f"that no cluster can be named. Pass at least one label of each class."
        )
        raise InvalidInputError(msg)
    return labels, is_labeled


def _as_numbers(labels: Any) -> Any:
    """Return objects that are all numbers as an array of numbers, other labels as they are."""
    if labels.dtype.kind != "O":
        return labels
    try:
        values = np.array(labels.tolist())
    except ValueError:  # lists of different lengths
        return labels
    return values if values.shape == labels.shape and values.dtype.kind in "biuf" else labels


def _is_mark(label: Any) -> bool:
    return label is None or (isinstance(label, int | np.integer) and label == UNLABELED)


def _refuse_text_marks(labels: Any) -> None:
    """Raise an error for marks that became text, as NumPy makes of a list such as ["a", -1]."""
    is_mark = np.isin(labels, np.array([str(UNLABELED)]).astype(labels.dtype.kind))
    if is_mark.any():
        msg = (
            f"y holds text, and {int(is_mark.sum())} of its {len(labels)} entries are the word "
            f"'-1': the mark of an unlabelled row, turned into text. Pass an array of objects "
            f"(dtype=object) with None where there is no label."
        )
        raise InvalidInputError(msg)


def _read_classes(labels: Any) -> tuple[Any, IntArray]:
    """Return the sorted classes of labelled rows and the class of each by number."""
    labels = _as_numbers(labels)
    try:
        is_bad = ~np.isfinite(labels) if labels.dtype.kind == "f" else labels != labels
        if np.any(is_bad):
            msg = (
                f"Input y contains NaN or infinity, {int(np.sum(is_bad))} in all. Pass -1, or None "
                f"in an array of objects, where there is no label."
            )
            raise InvalidInputError(msg)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        msg = f"y cannot be read as classes: {error}"
        raise InvalidInputError(msg) from error
    return classes, codes


def _means(X: FloatArray, members: IntArray, n_clusters: int) -> FloatArray:
    """Return the mean of every cluster."""
    sums = np.zeros((n_clusters, X.shape[1]))
    np.add.at(sums, members, X)
    return sums / np.bincount(members, minlength=n_clusters)[:, None]


def _class_shares(
    clusters: IntArray, codes: IntArray, shape: tuple[int, int], centers: FloatArray
) -> FloatArray:
    """Return the fractions of the classes in every cluster, from those of its labelled members."""
    counts = np.zeros(shape)
    np.add.at(counts, (clusters, codes), 1.0)
    has_labels = counts.any(axis=1)
    named = np.flatnonzero(has_labels)
    counts[~has_labels] = counts[named[_nearest(centers[~has_labels], centers[named])]]
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _nearest(points: FloatArray, centers: FloatArray) -> IntArray:
    """Return the nearest center of each of a few points, of equally near ones the first."""
    squares = [((centers - point) ** 2).sum(axis=1) for point in points]
    return np.array([row.argmin() for row in squares], dtype=np.intp)
