"""Methods of other libraries, for comparison: scikit-learn's always, others if installed."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isofold._typing import FloatArray

__all__ = ["PEERS", "Peer", "silence"]


@dataclass(frozen=True)
class Peer:
    """A method of another library.

    Attributes
    ----------
    run : callable
        Makes a map of X in so many dimensions, with a seed and a number of threads.
    module, package : str
        What is imported, and what pip calls it.
    most_rows : int or None
        Rows beyond which it gets a sample, since it would not end in minutes or fit in memory.
    """

    run: Callable[[FloatArray, int, int, int], FloatArray]
    module: str = "sklearn"
    package: str = "scikit-learn"
    most_rows: int | None = None

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return find_spec(self.module) is not None


@contextmanager
def silence() -> Iterator[None]:
    """Keep other libraries silent: standard output is for results."""
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _pca(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:  # noqa: ARG001 - one form
    from sklearn.decomposition import PCA

    return PCA(n_components=r, random_state=seed).fit_transform(X)


def _isomap(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:  # noqa: ARG001 - one form
    from sklearn.manifold import Isomap

    k = min(12, len(X) - 1)
    return Isomap(n_components=r, n_neighbors=k, n_jobs=jobs).fit_transform(X)


def _tsne(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(X) - 1) / 3.0)
    how = "barnes_hut" if r < 4 else "exact"
    tsne = TSNE(n_components=r, perplexity=perplexity, method=how, random_state=seed, n_jobs=jobs)
    return tsne.fit_transform(X)


def _mds(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:
    from sklearn.manifold import MDS

    mds = MDS(n_components=r, n_init=1, init="random", random_state=seed, n_jobs=jobs)
    return mds.fit_transform(X)


def _lle(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:
    from sklearn.manifold import LocallyLinearEmbedding

    k = min(12, len(X) - 1)
    lle = LocallyLinearEmbedding(n_components=r, n_neighbors=k, random_state=seed, n_jobs=jobs)
    return lle.fit_transform(X)


def _spectral(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:
    from sklearn.manifold import SpectralEmbedding

    spectral = SpectralEmbedding(
        n_components=r, affinity="nearest_neighbors", random_state=seed, n_jobs=jobs
    )
    return spectral.fit_transform(X)


def _umap(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:  # noqa: ARG001 - one form
    # With a seed it uses one thread in any case.
    return import_module("umap").UMAP(n_components=r, random_state=seed, n_jobs=1).fit_transform(X)


def _pacmap(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:  # noqa: ARG001 - one form
    return import_module("pacmap").PaCMAP(n_components=r, random_state=seed).fit_transform(X)


def _opentsne(X: FloatArray, r: int, seed: int, jobs: int) -> FloatArray:
    import numpy as np

    tsne = import_module("openTSNE").TSNE(n_components=r, random_state=seed, n_jobs=jobs)
    return np.asarray(tsne.fit(X))


PEERS = {
    "pca": Peer(_pca),
    "isomap": Peer(_isomap, most_rows=5000),
    "tsne": Peer(_tsne, most_rows=20_000),
    "mds": Peer(_mds, most_rows=2000),
    "lle": Peer(_lle, most_rows=10_000),
    "spectral": Peer(_spectral, most_rows=10_000),
    "umap": Peer(_umap, "umap", "umap-learn", 100_000),
    "pacmap": Peer(_pacmap, "pacmap", "pacmap", 200_000),
    "opentsne": Peer(_opentsne, "openTSNE", "openTSNE", 100_000),
}
