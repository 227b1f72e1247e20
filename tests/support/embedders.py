"""Embedders as simple as possible, to show what their base class promises and refuses."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.validation import check_random_state

from isofold._base import BaseEmbedder
from isofold.exceptions import InvalidInputError
from isofold.linalg import coordinates_from_gram, gram_from_distances, principal_coordinates
from isofold.linalg.rows import row_product


class LinearEmbedder(BaseEmbedder):
    """Principal axes, turned at random so that the seed has something to do."""

    def __init__(self, *, n_components=2, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def _fit_embedding(self, X):
        if self.n_components > X.shape[1]:
            msg = f"n_components={self.n_components} exceeds n_features={X.shape[1]}."
            raise InvalidInputError(msg)
        result = principal_coordinates(X, self.n_components)
        rng = check_random_state(self.random_state)
        turn = ortho_group.rvs(self.n_components, random_state=rng) if self.n_components > 1 else 1
        self.mean_ = result.mean
        self.axes_ = np.dot(result.axes, turn)
        embedding = row_product(X - self.mean_, self.axes_)
        self.graph_ = kneighbors_graph(X, 1, mode="distance")
        self.distortion_ = np.linalg.norm(X - self.mean_ - embedding @ self.axes_.T, axis=1)
        return embedding

    def _transform(self, X):
        return row_product(X - self.mean_, self.axes_)


class InvertibleEmbedder(LinearEmbedder):
    def _inverse_transform(self, Y):
        return row_product(Y, self.axes_.T) + self.mean_


class DistanceEmbedder(BaseEmbedder):
    """Classical scaling of distances; new points take the place of the nearest sample."""

    def __init__(self, *, metric="euclidean", n_jobs=None):
        self.metric = metric
        self.n_jobs = n_jobs

    def _fit_embedding(self, X):
        self.training_ = X
        if sp.issparse(X):
            distances = distances_along(X)
        else:
            distances = X if self._precomputed else squareform(pdist(X))
        self.graph_ = distances
        self.distortion_ = np.zeros(X.shape[0])
        return coordinates_from_gram(gram_from_distances(distances**2), 1).coordinates

    def _transform(self, X):
        distances = X if self._precomputed else cdist(X, self.training_)
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


class ResultEmbedder(BaseEmbedder):
    """Returns what it is told, to show what the base class refuses."""

    def __init__(self, *, fitted=None, transformed=None):
        self.fitted = fitted
        self.transformed = transformed

    def _fit_embedding(self, X):
        return self.fitted

    def _transform(self, X):
        return self.transformed


def points(n=30, d=4, seed=0, dtype=np.float64):
    return np.random.RandomState(seed).normal(size=(n, d)).astype(dtype)
