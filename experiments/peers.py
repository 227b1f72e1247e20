"""The methods beside which IPA is shown, each as an estimator with two components by default."""

from __future__ import annotations

from typing import Any

from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding

from isofold import MVU
from isofold.neighbors import Bridged

__all__ = [
    "densmap",
    "isomap",
    "lle",
    "ltsa",
    "mvu",
    "opentsne",
    "pacmap",
    "phate",
    "trimap",
    "tsne",
    "umap",
]


def mvu(n_neighbors: int) -> MVU:
    """Return maximum variance unfolding; a graph in pieces is bridged."""
    return MVU(n_neighbors=n_neighbors, graph=Bridged(), random_state=0)


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


def densmap() -> Any:
    """Return densMAP, UMAP that also keeps densities; it is in the package umap-learn."""
    return umap().set_params(densmap=True)


def opentsne() -> Any:
    """Return t-SNE of the package openTSNE, which also maps new points."""
    from openTSNE import sklearn

    return sklearn.TSNE(random_state=0, n_jobs=1)


def pacmap(n_components: int = 2) -> Any:
    """Return PaCMAP; raises ImportError without the package of that name."""
    from pacmap import PaCMAP

    return PaCMAP(n_components=n_components, random_state=0)


def trimap() -> Any:
    """Return TriMap, which cannot be given a seed."""
    from trimap import TRIMAP

    return TRIMAP(verbose=False)


def phate() -> Any:
    """Return PHATE."""
    from phate import PHATE

    return PHATE(random_state=0, n_jobs=1, verbose=0)
