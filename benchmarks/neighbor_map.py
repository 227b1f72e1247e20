"""NeighborMap beside UMAP and openTSNE: time, processor time and peak memory at several sizes.

All fits are seeded and the first call of a fresh process, on one thread unless said otherwise.
Subsets of MNIST in raw pixels over 255. Beside the time stands the fraction of 15 neighbors that
are among 15 on the map, at 200 samples, so that nobody is fast by doing nothing; what else maps are
worth is measured in ``experiments/real_data``. UMAP and openTSNE run only where they are installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold import NeighborMap
from isofold._typing import FloatArray, IntArray
from isofold.datasets import load_mnist
from isofold.neighbors import BruteForceSearch
from isofold.neighbors.search.protocol import drop_own

SIZES = (500, 2_000, 10_000, 70_000)
N_NEW = 10_000
NEAREST = 15
N_CHECKED = 200

Embedding = Callable[[FloatArray], FloatArray]


def _digits(n: int) -> FloatArray:
    rows = np.sort(np.random.RandomState(0).permutation(70_000)[:n])
    return (load_mnist().X[rows] / 255.0).astype(np.float32)


def _nearest(X: FloatArray, rows: IntArray) -> IntArray:
    """Return the nearest others of some rows, a few at a time to take no memory of note."""
    search = BruteForceSearch(X)
    parts = np.array_split(rows, 20)
    return np.vstack([drop_own(search.query(X[part], NEAREST + 1), part).indices for part in parts])


def _kept(X: FloatArray, Y: FloatArray) -> float:
    rows = np.sort(np.random.RandomState(1).choice(len(X), N_CHECKED, replace=False))
    both = zip(_nearest(X, rows), _nearest(Y, rows), strict=True)
    return float(np.mean([np.isin(*pair).mean() for pair in both]))


def _measured(embed: Embedding, X: FloatArray) -> dict[str, float]:
    begin, processor = time.perf_counter(), time.process_time()
    Y = embed(X)
    seconds, used = time.perf_counter() - begin, time.process_time() - processor
    return {
        "input_mb": round(X.nbytes / 2**20, 1),
        "fit": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "kept": round(_kept(X, np.asarray(Y, dtype=np.float64)), 3),
    }


def _ours(X: FloatArray, **parameters: Any) -> FloatArray:
    return NeighborMap(random_state=0, **parameters).fit_transform(X)


def _umap(X: FloatArray) -> FloatArray:
    from umap import UMAP

    return np.asarray(UMAP(random_state=0, n_jobs=1).fit_transform(X))


def _open_tsne(X: FloatArray) -> FloatArray:
    from openTSNE import TSNE

    return np.asarray(TSNE(random_state=0, n_jobs=1).fit(X))


METHODS: dict[str, Embedding] = {
    "isofold NeighborMap": _ours,
    "isofold NeighborMap, 2 threads": partial(_ours, n_jobs=2),
    "isofold NeighborMap, balance 0": partial(_ours, balance=0.0),
    "UMAP": _umap,
    "openTSNE": _open_tsne,
}


def _fitted(n: int) -> tuple[NeighborMap, FloatArray]:
    X = _digits(n + N_NEW)
    return NeighborMap(random_state=0).fit(X[:n]), X[n:]


def _transform(data: tuple[NeighborMap, FloatArray]) -> dict[str, float]:
    model, new = data
    begin = time.perf_counter()
    model.transform(new)
    return {"rows_per_second": round(len(new) / (time.perf_counter() - begin))}


def _is_slow(method: str, n: int) -> bool:
    return n > 10_000 if method != "openTSNE" else n > 2_000


CASES = [
    Case(
        f"MNIST, n = {n:,}",
        method,
        partial(_digits, n),
        partial(_measured, embed),
        is_slow=_is_slow(method, n),
    )
    for n in SIZES
    for method, embed in METHODS.items()
]
CASES += [
    Case(
        f"{N_NEW:,} new rows among {n:,} of MNIST",
        "isofold NeighborMap",
        partial(_fitted, n),
        _transform,
        is_slow=n > 10_000,
    )
    for n in (10_000, 60_000)
]
