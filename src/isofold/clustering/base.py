"""What all clusterers of this room share: validate, cluster, then predict row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from isofold._base import one_fit
from isofold._findings import emit, setting
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_seed, check_units
from isofold.exceptions import InvalidInputError
from isofold.similarity.comparison import PairComparison
from isofold.similarity.intake import Intake, read_first, read_more

__all__ = ["BaseClusterer"]


class BaseClusterer(ClusterMixin, BaseEstimator, ABC):
    """Base class of clusterers that fit a subspace to every cluster.

    A subclass provides ``_fit_clusters(X, rng)``, which returns the labels and sets the other
    fitted attributes, and ``_predict(X)``, which maps each row by itself and gives the training
    points their labels. `X` is a finite array of float32 or float64 that must not be written to.
    """

    n_clusters: int
    n_components: int
    metric: Any
    kernel: Any
    random_state: Any

    @abstractmethod
    def _fit_clusters(self, X: FloatArray, rng: np.random.RandomState) -> IntArray:
        """Return the labels and set the fitted attributes of the method."""

    @abstractmethod
    def _predict(self, X: FloatArray) -> IntArray:
        """Return the clusters of new points, each from its own row alone."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Divide the points into clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        self
            The fitted clusterer.
        """
        with one_fit(self):
            comparison = PairComparison.read(self.metric, self.kernel)
            self.intake_, X = read_first(self, X, comparison, takes_distances=False, min_samples=2)
            emit(self.intake_.findings())
            check_units(X, name="X")
            self.labels_ = self._fit_clusters(X, check_seed(self.random_state))
        return self

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of every point, each row by itself.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New or old points. The points of `fit` get their `labels_`.

        Returns
        -------
        ndarray of int of shape (n_new,)
            Numbers of clusters.
        """
        X = self._read(X)
        # Small ones do no harm: the points of `fit` set the unit.
        check_units(X, name="X", tiny=False)
        return self._predict(X)

    def _read(self, X: Any) -> FloatArray:
        """Return new samples as points."""
        check_is_fitted(self, "labels_")
        # Models of older files keep no intake.
        known = getattr(self, "intake_", None) or Intake(
            PairComparison.read(self.metric, self.kernel)
        )
        return np.asarray(read_more(self, X, known))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = None
        is_distances, is_kernel = (
            isinstance(given, str) and given == "precomputed"
            for given in (self.metric, self.kernel)
        )
        tags.input_tags.pairwise = is_distances or is_kernel
        tags.input_tags.positive_only = is_distances
        tags.input_tags.allow_nan = isinstance(self.metric, str) and self.metric == "nan_euclidean"
        return tags

    def _check_n_clusters(self, n_distinct: int) -> int:
        """Return the number of clusters, which no point need share."""
        n_clusters = check_count(self.n_clusters, name="n_clusters")
        if n_clusters > n_distinct:
            msg = (
                f"n_clusters={n_clusters}, but only {n_distinct} of the points differ, so that "
                f"some clusters would stay empty. Pass at most n_clusters={n_distinct}."
            )
            raise InvalidInputError(msg)
        return n_clusters

    def _check_n_components(self, n_features: int) -> int:
        """Return the dimension of the subspaces, at most that of the data."""
        r = check_count(self.n_components, name="n_components", minimum=0)
        if r > n_features:
            msg = (
                f"{setting('n_components', r)}, but X has {n_features} feature(s), and no subspace "
                f"has more dimensions than the data. Pass at most "
                f"{setting('n_components', n_features)}."
            )
            raise InvalidInputError(msg)
        return r
