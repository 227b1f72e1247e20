"""Other methods on the same data: arrays in, coordinates out.

Spectral methods return coordinates of unit variance, whatever the sheet. A linear map puts that
right: the symmetric M with dyᵀ M dy ≈ |dx|² over the edges of a neighbor graph, in the sense of
least squares (three numbers in the plane, and no truth used), and then y ↦ M^½ y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import NearestNeighbors

from isofold._typing import FloatArray

LTSA_NEIGHBORS = 12
ISOMAP_NEIGHBORS = 10

KMEANS_CENTERS, KMEANS_ROUNDS = 1_000, 20


def isomap(X: FloatArray) -> FloatArray:
    """Return Isomap's map."""
    return np.asarray(Isomap(n_neighbors=ISOMAP_NEIGHBORS).fit_transform(X))


def ltsa(X: FloatArray) -> FloatArray:
    """Return the map of local tangent space alignment.

    ARPACK's factorization finds the matrix singular now and then; the dense solver never does,
    but takes memory for n² numbers.
    """
    options = {"n_neighbors": LTSA_NEIGHBORS, "method": "ltsa", "random_state": 0}
    try:
        return np.asarray(LocallyLinearEmbedding(eigen_solver="arpack", **options).fit_transform(X))
    except (RuntimeError, ValueError):
        return np.asarray(LocallyLinearEmbedding(eigen_solver="dense", **options).fit_transform(X))


def ltsa_with_metric_fit(X: FloatArray) -> FloatArray:
    """Return the map of local tangent space alignment, with lengths put right."""
    return metric_fit(X, ltsa(X))


def metric_fit(X: FloatArray, Y: FloatArray, *, n_neighbors: int = LTSA_NEIGHBORS) -> FloatArray:
    """Return the coordinates Y after the linear map that makes their edges as long as those of X.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    Y : ndarray of shape (n, r)
        Their coordinates, right up to a linear map.
    n_neighbors : int, default=12
        Neighbors to which edges go.

    Returns
    -------
    ndarray of shape (n, r)
        The coordinates with true lengths.
    """
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(return_distance=False)
    begin, end = np.repeat(np.arange(len(X)), n_neighbors), near.ravel()
    dx, dy = X[end] - X[begin], Y[end] - Y[begin]
    rows, columns = np.triu_indices(Y.shape[1])
    # Entries off the diagonal of M count twice in dyᵀ M dy.
    products = np.where(rows == columns, 1.0, 2.0) * dy[:, rows] * dy[:, columns]
    # The numbers of Y may be tiny; columns of length one keep the fit well conditioned.
    lengths = np.linalg.norm(products, axis=0)
    entries = np.linalg.lstsq(products / lengths, (dx**2).sum(axis=1), rcond=None)[0] / lengths
    M = np.zeros((Y.shape[1], Y.shape[1]))
    M[rows, columns] = M[columns, rows] = entries
    values, axes = np.linalg.eigh(M)
    return np.asarray(Y @ (axes * np.sqrt(np.maximum(values, 0.0))))


def umap(X: FloatArray) -> FloatArray:
    """Return UMAP's map, on all cores."""
    from umap import UMAP

    return np.asarray(UMAP().fit_transform(X))


def faiss_kmeans(X: Any) -> None:
    """Find 1,000 centers in 20 rounds and give every row of a float32 array to the nearest."""
    import faiss

    kmeans = faiss.Kmeans(X.shape[1], KMEANS_CENTERS, niter=KMEANS_ROUNDS, seed=0)
    kmeans.train(X)
    kmeans.index.search(X, 1)
