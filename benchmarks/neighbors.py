"""Neighbor search and spanning tree beside other libraries, at the sizes that matter."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import Case
from isofold.datasets import load_mnist
from isofold.linalg import principal_coordinates
from isofold.neighbors import BruteForceSearch, build_search, euclidean_spanning_tree, kneighbors
from isofold.neighbors.search.protocol import drop_own

K = 10
NEAREST = 15
N_CHECKED = 500
N_TRAINING = 60_000
NOISE = 0.05


def _cube(n: int, d: int = 3) -> Any:
    return np.random.RandomState(0).rand(n, d)


def _scipy_neighbors(X: Any) -> dict[str, float]:
    distances, _ = cKDTree(X).query(X, k=K + 1, workers=-1)
    return {"mean_distance": float(distances[:, 1:].mean())}


def _isofold_neighbors(X: Any) -> dict[str, float]:
    return {"mean_distance": float(kneighbors(X, K, n_jobs=-1).distances.mean())}


def _scikit_neighbors(X: Any) -> dict[str, float]:
    distances, _ = NearestNeighbors(n_neighbors=K, n_jobs=-1).fit(X).kneighbors()
    return {"mean_distance": float(distances.mean())}


def _dense_tree(X: Any) -> dict[str, float]:
    return {"total_length": float(minimum_spanning_tree(squareform(pdist(X))).sum())}


def _isofold_tree(X: Any) -> dict[str, float]:
    return {"total_length": float(euclidean_spanning_tree(X, n_jobs=-1).lengths.sum())}


def _neighbor_cases(n: int, d: int) -> list[Case]:
    task = f"exact {K} nearest of {n:,} points in {d}-D"
    return [
        Case(task, method, lambda: _cube(n, d), run)
        for method, run in (
            ("SciPy KD-tree, all workers", _scipy_neighbors),
            ("scikit-learn", _scikit_neighbors),
            ("isofold", _isofold_neighbors),
        )
    ]


def _blends(n: int) -> Any:
    """Return blends of near digits in 50 principal axes, with noise, in single precision."""
    axes = principal_coordinates(load_mnist().X, 50).coordinates
    near = kneighbors(axes, K, method="lists").indices
    rng = np.random.RandomState(0)
    first = rng.randint(len(axes), size=n)
    second = near[first, rng.randint(K, size=n)]
    fraction = rng.rand(n, 1)
    noise = NOISE * axes.std(axis=0) * rng.standard_normal((n, 50))
    return ((1 - fraction) * axes[first] + fraction * axes[second] + noise).astype(np.float32)


def _with_truth(make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """Return points, some of their rows, and the exact neighbors of these."""
    X = make()
    rows = np.sort(np.random.RandomState(1).choice(len(X), N_CHECKED, replace=False))
    exact = drop_own(BruteForceSearch(X).query(X[rows], NEAREST + 1), rows)
    return X, rows, exact.indices


Search = Callable[[Any, int], Any]
"""Takes points and a number of threads; returns about the 15 nearest others of every point."""


def _others(found: Any) -> Any:
    """Return the neighbors without the points themselves."""
    own = np.arange(len(found))
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), NEAREST)


def _isofold(method: str, X: Any, n_threads: int) -> Any:
    return kneighbors(X, NEAREST, method=method, n_jobs=n_threads).indices


def _faiss_lists(kind: str, part: int, X: Any, n_threads: int) -> Any:
    """Probe one of so many lists."""
    import faiss

    faiss.omp_set_num_threads(n_threads)
    n_lists = 4 * int(np.sqrt(len(X)) / 2)
    index = faiss.index_factory(X.shape[1], kind.format(n_lists))
    index.train(X)
    index.add(X)
    if "RFlat" in kind:
        index.k_factor = 2.5
    faiss.ParameterSpace().set_index_parameter(index, "nprobe", n_lists // part)
    return _others(index.search(X, NEAREST + 1)[1])


def _hnswlib(X: Any, n_threads: int) -> Any:
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), ef_construction=100, M=16, random_seed=0)
    index.set_num_threads(n_threads)
    index.add_items(X)
    index.set_ef(64)
    return _others(index.knn_query(X, k=NEAREST + 1)[0].astype(np.int64))


def _usearch(X: Any, n_threads: int) -> Any:
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32")
    index.add(np.arange(len(X)), X, threads=n_threads)
    found = index.search(X, NEAREST + 1, threads=n_threads)
    return _others(np.asarray(found.keys).astype(np.int64))


def _pynndescent(X: Any, n_threads: int) -> Any:
    import pynndescent

    index = pynndescent.NNDescent(
        X, n_neighbors=NEAREST + 1, random_state=np.random.RandomState(0), n_jobs=n_threads
    )
    return _others(index.neighbor_graph[0])


def _time_search(search: Search, data: tuple[Any, Any, Any]) -> dict[str, float]:
    X, rows, exact = data
    start = time.process_time()
    found = search(X, 1)
    seconds = time.process_time() - start
    hits = [np.isin(a, b).mean() for a, b in zip(found[rows], exact, strict=True)]
    return {"processor_seconds": seconds, "recall": float(np.mean(hits))}


def _compare_threads(search: Search, X: Any) -> dict[str, str]:
    once, again, two = search(X, 1), search(X, 1), search(X, 2)
    return {
        "same_again": "yes" if np.array_equal(once, again) else "no",
        "same_with_two_threads": "yes" if np.array_equal(once, two) else "no",
    }


SEARCHES: dict[str, Search] = {
    "isofold, fast": partial(_isofold, "fast"),
    "isofold, hnsw (faiss)": partial(_isofold, "hnsw"),
    "faiss IVF, 1/24 of lists": partial(_faiss_lists, "IVF{},Flat", 24),
    "faiss IVF, 1/72 of lists": partial(_faiss_lists, "IVF{},Flat", 72),
    "faiss PCA, IVF, ranked again": partial(_faiss_lists, "PCA80,IVF{},Flat,RFlat", 24),
    "hnswlib": _hnswlib,
    "usearch": _usearch,
    "PyNNDescent": _pynndescent,
}


def _search_cases(what: str, make: Callable[[], Any], methods: tuple[str, ...]) -> list[Case]:
    return [
        Case(
            f"about {NEAREST} nearest of {what}",
            method,
            partial(_with_truth, make),
            partial(_time_search, SEARCHES[method]),
            is_slow=True,
        )
        for method in methods
    ]


def _thread_cases() -> list[Case]:
    return [
        Case(
            "neighbors of 20,000 digits, 1 and 2 threads",
            method,
            lambda: load_mnist().X[:20_000],
            partial(_compare_threads, search),
            is_slow=True,
        )
        for method, search in SEARCHES.items()
    ]


def _query_new(n_jobs: int, X: Any) -> dict[str, float]:
    search = build_search(X[:N_TRAINING], method="fast", n_jobs=n_jobs)
    new = X[N_TRAINING:]
    start, processor = time.perf_counter(), time.process_time()
    found = search.query(new, NEAREST)
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    exact = BruteForceSearch(X[:N_TRAINING]).query(new[:N_CHECKED], NEAREST)
    hits = [np.isin(a, b).mean() for a, b in zip(found.indices, exact.indices, strict=False)]
    return {
        "rows_per_second": len(new) / seconds,
        "processor_microseconds": 1e6 * used / len(new),
        "recall": float(np.mean(hits)),
    }


ALL = tuple(SEARCHES)
# Principal axes and ranking again are for many columns.
FEW_COLUMNS = tuple(method for method in ALL if "PCA" not in method)
LARGE = ("isofold, fast", "faiss IVF, 1/72 of lists", "PyNNDescent")

CASES = [
    *_neighbor_cases(1_000_000, 3),
    *_neighbor_cases(20_000, 100),
    *_search_cases("70,000 digits in 784-D", lambda: load_mnist().X, ALL),
    *_search_cases("200,000 blends in 50-D", partial(_blends, 200_000), FEW_COLUMNS),
    *_search_cases("1,000,000 blends in 50-D", partial(_blends, 1_000_000), LARGE),
    *_thread_cases(),
    *(
        Case(
            f"{NEAREST} nearest of 100,000 new blends among 60,000 in 50-D",
            f"isofold, fast, {n_jobs} thread(s)",
            partial(_blends, 160_000),
            partial(_query_new, n_jobs),
        )
        for n_jobs in (1, 2)
    ),
    Case("spanning tree of 2,000 points", "SciPy, dense", lambda: _cube(2_000), _dense_tree),
    Case("spanning tree of 2,000 points", "isofold", lambda: _cube(2_000), _isofold_tree),
    Case("spanning tree of 20,000 points", "SciPy, dense", lambda: _cube(20_000), _dense_tree),
    Case("spanning tree of 20,000 points", "isofold", lambda: _cube(20_000), _isofold_tree),
    Case("spanning tree of 200,000 points", "isofold", lambda: _cube(200_000), _isofold_tree),
]
