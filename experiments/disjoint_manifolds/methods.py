"""The methods of the thesis: those of scikit-learn as they come, and ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.decomposition import KernelPCA
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding, SpectralEmbedding

import isofold
from experiments.disjoint_manifolds.cases import Case
from isofold._typing import FloatArray
from isofold.linalg import coordinates_from_gram, gram_from_distances
from isofold.neighbors import Bridged, Enhanced, all_pairs_geodesics, build_graph, enhance
from isofold.sdp import LowRankSDP

__all__ = ["N_NEIGHBORS", "OURS", "PEERS", "IsomapENG", "Method", "disjoint_mvu"]

N_NEIGHBORS = (5, 10, 15)
"""Numbers of neighbors of the thesis."""

LARGEST_TREE_DIMENSION = 3
"""Beyond it t-SNE has no tree to sum forces with."""

IMAGE_RANK, MOST_STEPS = 40, 12
"""The unfolding of images needs up to 28 columns; with the default of q + 6 it is not solved."""


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Attributes
    ----------
    name : str
        Name of the row.
    make : callable
        From the case, the dimension of the map and the number of neighbors to an estimator.
    n_neighbors : tuple of int or None
        Numbers of neighbors to try.
    """

    name: str
    make: Callable[[Case, int, int | None], Any]
    n_neighbors: tuple[int | None, ...] = N_NEIGHBORS


class IsomapENG(BaseEstimator):
    """Isomap on the enhanced neighborhood graph.

    Parameters
    ----------
    n_neighbors : int
        Neighbors in the graph.
    n_components : int, default=2
        Dimension of the map.
    """

    def __init__(self, *, n_neighbors: int, n_components: int = 2) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit_transform(self, X: FloatArray) -> FloatArray:
        """Scale the shortest paths."""
        graph = build_graph(X, n_neighbors=self.n_neighbors)
        graph = enhance(X, graph, n_neighbors=self.n_neighbors)
        gram = gram_from_distances(all_pairs_geodesics(graph) ** 2)
        return coordinates_from_gram(gram, self.n_components).coordinates


def _lle(variant: str) -> Callable[[Case, int, int | None], Any]:
    def make(_case: Case, q: int, k: int | None) -> LocallyLinearEmbedding:
        # The dense solver: the sparse one stops where eigenvalues lie close, and a graph in
        # pieces has a zero for each of them.
        return LocallyLinearEmbedding(
            n_neighbors=k, n_components=q, method=variant, eigen_solver="dense"
        )

    return make


def _laplacian(_case: Case, q: int, k: int | None) -> SpectralEmbedding:
    return SpectralEmbedding(
        n_components=q, affinity="nearest_neighbors", n_neighbors=k, random_state=0
    )


def _tsne(_case: Case, q: int, _k: int | None) -> TSNE:
    how = "barnes_hut" if q <= LARGEST_TREE_DIMENSION else "exact"
    return TSNE(n_components=q, method=how, random_state=0)


def _kernel_pca(case: Case, q: int, _k: int | None) -> KernelPCA:
    # scikit-learn's own width of the kernel, for the columns that images had at first.
    return KernelPCA(
        n_components=q,
        kernel="rbf",
        gamma=1 / case.n_raw_features,
        eigen_solver="arpack",
        random_state=0,
    )


def _mvu(case: Case, q: int, k: int | None, graph: str) -> Any:
    return isofold.MVU(
        n_neighbors=k,
        n_components=q,
        graph=graph,
        solver=_solver(case),
        random_state=0,
        n_jobs=1,
    )


def disjoint_mvu(case: Case, q: int, k: int | None, **options: Any) -> Any:
    """Return MVU-DM on one core, as it comes but for what is given."""
    return isofold.DisjointMVU(
        n_neighbors=k,
        n_components=q,
        solver=_solver(case),
        random_state=0,
        n_jobs=1,
        **options,
    )


def _solver(case: Case) -> LowRankSDP | None:
    """Return a solver with room for the dimensions that unfolded images have, else the default."""
    if case.X.shape[1] <= IMAGE_RANK:
        return None
    return LowRankSDP(rank=IMAGE_RANK, max_iter=MOST_STEPS)


PEERS = (
    Method("Isomap", lambda _case, q, k: Isomap(n_neighbors=k, n_components=q)),
    Method("Isomap+ENG", lambda _case, q, k: IsomapENG(n_neighbors=k, n_components=q)),
    Method("LLE", _lle("standard")),
    Method("HLLE", _lle("hessian")),
    Method("LE", _laplacian),
    Method("LTSA", _lle("ltsa")),
    Method("t-SNE", _tsne, (None,)),
    Method("K-PCA", _kernel_pca, (None,)),
)

OURS = (
    Method("MVU", lambda case, q, k: _mvu(case, q, k, Bridged())),
    Method("MVU+ENG", lambda case, q, k: _mvu(case, q, k, Enhanced())),
    Method("MVU-DM", disjoint_mvu),
)
