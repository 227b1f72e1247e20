"""Embedders as simple as possible, to show what their base class promises and refuses."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.validation import check_random_state

from isofold._base import BaseEmbedder, Fit
from isofold.embedding.embedder import Embedder
from isofold.exceptions import InvalidInputError
from isofold.extension.linear_map import LinearMap
from isofold.linalg import coordinates_from_gram, gram_from_distances, principal_coordinates
from isofold.linalg.rows import row_product


class LinearEmbedder(BaseEmbedder):
    """Principal axes, turned at random so that the seed has something to do."""

    def __init__(self, *, n_components=2, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def _fit(self, X, y):
        if self.n_components > X.shape[1]:
            msg = f"n_components={self.n_components} exceeds n_features={X.shape[1]}."
            raise InvalidInputError(msg)
        result = principal_coordinates(X, self.n_components)
        rng = check_random_state(self.random_state)
        turn = ortho_group.rvs(self.n_components, random_state=rng) if self.n_components > 1 else 1
        linear = LinearMap(np.dot(result.axes, turn), result.mean)
        embedding = linear.transform(X)
        residuals = X - linear.mean - embedding @ linear.axes.T
        return Fit.of(
            embedding,
            map_=linear,
            findings=(),
            graph=kneighbors_graph(X, 1, mode="distance"),
            distortion=np.linalg.norm(residuals, axis=1),
        )


class InvertibleEmbedder(LinearEmbedder):
    def _inverse_transform(self, Y):
        return row_product(Y, self.map_.axes.T) + self.map_.mean


class DistanceEmbedder(Embedder):
    """Classical scaling of distances; new points take the place of the nearest sample."""

    _takes_distances = True

    def __init__(self, *, metric="euclidean", n_jobs=None):
        self.metric = metric
        self.n_jobs = n_jobs

    def _fit(self, X, y):
        if sp.issparse(X):
            distances = distances_along(X)
        else:
            distances = X if not self._sees_points else squareform(pdist(X))
        return Fit.of(
            coordinates_from_gram(gram_from_distances(distances**2), 1).coordinates,
            map_=None,
            findings=(),
            training=X,
            graph=distances,
            distortion=np.zeros(X.shape[0]),
        )

    def _transform(self, X):
        distances = X if not self._sees_points else cdist(X, self.training_)
        if sp.issparse(X):
            # What is not stored is unknown, and unknown is not near.
            distances = np.full(X.shape, np.inf)
            rows, columns = X.tocoo().coords
            distances[rows, columns] = X.tocoo().data
        return self.embedding_[distances.argmin(axis=1)]


def distances_along(graph):
    """Return distances along a graph, and between its components twice the largest of them."""
    lengths = shortest_path(graph, directed=False)
    reached = np.isfinite(lengths)
    return np.where(reached, lengths, 2 * lengths[reached].max())


class ResultEmbedder(Embedder):
    """Returns what it is told, to show what the base class refuses."""

    _takes_distances = True

    def __init__(self, *, fitted=None, transformed=None):
        self.fitted = fitted
        self.transformed = transformed

    def _fit(self, X, y):
        return Fit.of(self.fitted, map_=None, findings=())

    def _transform(self, X):
        return self.transformed


def points(n=30, d=4, seed=0, dtype=np.float64):
    return np.random.RandomState(seed).normal(size=(n, d)).astype(dtype)
