"""The methods beside which IPA is shown, each as an estimator with two components by default."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding

from isofold._typing import FloatArray
from isofold.neighbors import build_graph
from isofold.quality import spectrum
from isofold.sdp import GramSDP, LowRankSDP

__all__ = ["MVU", "isomap", "lle", "ltsa", "mvu", "tsne", "umap"]

SPARE = 6
"""Columns of the unfolding beyond the components of the map."""


class MVU(BaseEstimator):
    """Maximum variance unfolding, the distances of neighbors kept; then principal axes.

    Parameters
    ----------
    n_neighbors : int
        Neighbors in the graph.
    n_components : int, default=2
        Dimension of the map.

    Attributes
    ----------
    solution_ : SDPSolution
        The unfolding with its certificate.
    spectrum_ : ndarray
        Shares of the unfolding's variance along its axes, before the projection.
    """

    def __init__(self, *, n_neighbors: int, n_components: int = 2) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit_transform(self, X: FloatArray) -> FloatArray:
        """Unfold and project."""
        graph = build_graph(X, n_neighbors=self.n_neighbors)
        problem = GramSDP.unfolding(len(X), graph.edges, graph.lengths**2)
        solver = LowRankSDP(rank=self.n_components + SPARE, max_iter=12, random_state=0)
        self.solution_ = solver.solve(problem)
        # The coordinates are already centered and in principal axes.
        self.spectrum_ = spectrum(self.solution_.coordinates)
        return self.solution_.coordinates[:, : self.n_components]


def mvu(n_neighbors: int) -> MVU:
    """Return maximum variance unfolding."""
    return MVU(n_neighbors=n_neighbors)


def isomap(n_neighbors: int, n_components: int = 2) -> Isomap:
    """Return Isomap."""
    return Isomap(n_neighbors=n_neighbors, n_components=n_components)


def lle(n_neighbors: int) -> LocallyLinearEmbedding:
    """Return locally linear embedding."""
    # The dense solver: the sparse one stops where eigenvalues lie close.
    return LocallyLinearEmbedding(n_neighbors=n_neighbors, eigen_solver="dense")


def ltsa(n_neighbors: int) -> LocallyLinearEmbedding:
    """Return local tangent space alignment."""
    return LocallyLinearEmbedding(n_neighbors=n_neighbors, eigen_solver="dense", method="ltsa")


def tsne(perplexity: float = 30.0) -> TSNE:
    """Return t-SNE."""
    return TSNE(perplexity=perplexity, random_state=0)


def umap(n_neighbors: int = 15, n_components: int = 2) -> Any:
    """Return UMAP; raises ImportError without the package umap-learn."""
    from umap import UMAP

    return UMAP(n_neighbors=n_neighbors, n_components=n_components, random_state=0, n_jobs=1)
