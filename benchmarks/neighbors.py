"""Neighbor search and spanning tree beside SciPy, at the sizes that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import Case
from isofold.neighbors import euclidean_spanning_tree, kneighbors

K = 10


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


CASES = [
    *_neighbor_cases(1_000_000, 3),
    *_neighbor_cases(20_000, 100),
    Case("spanning tree of 2,000 points", "SciPy, dense", lambda: _cube(2_000), _dense_tree),
    Case("spanning tree of 2,000 points", "isofold", lambda: _cube(2_000), _isofold_tree),
    Case("spanning tree of 20,000 points", "SciPy, dense", lambda: _cube(20_000), _dense_tree),
    Case("spanning tree of 20,000 points", "isofold", lambda: _cube(20_000), _isofold_tree),
    Case("spanning tree of 200,000 points", "isofold", lambda: _cube(200_000), _isofold_tree),
]
