"""Measures of embedding quality: exact beside scikit-learn, sampled at a million points."""

from __future__ import annotations

import atexit
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import sklearn.manifold
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

from benchmarks.harness import Case
from isofold import read_blocks
from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph
from isofold.quality import block_scorecard, scorecard, trustworthiness

N_NEIGHBORS = 12
PART = 10**6
"""Rows of a file."""


def _roll_and_map(n: int, *, seed: int = 0, n_points: int | None = None) -> tuple[Any, Any, Any]:
    """Return a roll, its map and the truth; of a roll of more points if they are given."""
    roll = swiss_roll(n, random_state=seed)
    # A map with honest errors of both kinds: the true sheet, bent, with noise below its spacing.
    noise = np.random.RandomState(seed + 1).standard_normal(roll.truth.shape)
    spacing = np.sqrt(np.prod(np.ptp(roll.truth, axis=0)) / (n_points or n))
    return roll.X, roll.truth + 0.02 * roll.truth[:, ::-1] + 0.2 * spacing * noise, roll.truth


def _scikit_trustworthiness(data: Any) -> dict[str, float]:
    return {"value": sklearn.manifold.trustworthiness(data[0], data[1], n_neighbors=N_NEIGHBORS)}


def _isofold_trustworthiness(data: Any, n_jobs: int) -> dict[str, float]:
    return {
        "value": float(trustworthiness(data[0], data[1], n_neighbors=N_NEIGHBORS, n_jobs=n_jobs))
    }


def _scorecard(data: Any, **options: Any) -> dict[str, float]:
    X, Y, truth = data
    card = scorecard(
        X, Y, truth=truth, n_neighbors=N_NEIGHBORS, random_state=0, n_jobs=-1, **options
    )
    return {name: float(score) for name, score in card.items()}


def _block_scorecard(data: Any) -> dict[str, float]:
    card = block_scorecard(data[0], data[1], n_neighbors=N_NEIGHBORS, n_jobs=-1)
    return {name: float(score) for name, score in card.items()}


def _files_of_roll(n: int) -> tuple[Any, Any]:
    """Write a roll and its map to files, part by part, and return them as row blocks."""
    folder = Path(mkdtemp(prefix="isofold-benchmark-"))
    atexit.register(rmtree, folder)
    tables = [], []
    for number, start in enumerate(range(0, n, PART)):
        rows = min(PART, n - start)
        X, Y, _ = _roll_and_map(rows, seed=number, n_points=n)
        for table, name, kind in zip(tables, "XY", (X, Y), strict=True):
            table.append(folder / f"{name}{number}.npy")
            np.save(table[-1], kind)
    return read_blocks(tables[0]), read_blocks(tables[1])


def _trustworthiness_cases(n: int) -> list[Case]:
    task = f"exact trustworthiness, n = {n:,}, 3-D to 2-D, k = {N_NEIGHBORS}"
    return [
        Case(task, "scikit-learn", lambda: _roll_and_map(n), _scikit_trustworthiness),
        Case(
            task,
            "isofold, one thread",
            lambda: _roll_and_map(n),
            lambda d: _isofold_trustworthiness(d, 1),
        ),
        Case(
            task,
            "isofold, all threads",
            lambda: _roll_and_map(n),
            lambda d: _isofold_trustworthiness(d, -1),
        ),
    ]


def _sorted_rows_and_paths(data: Any, n_rows: int, n_sources: int) -> dict[str, float]:
    """Sort the distances of some rows before and after, and follow paths: what no way spares."""
    X, Y, _ = data
    total = 0.0
    for row in np.linspace(0, len(X) - 1, n_rows).astype(np.intp):
        for points in (X, Y):
            total += np.sort(cdist(points[row : row + 1], points, "sqeuclidean"))[0, 1]
    graph = build_graph(X, n_neighbors=N_NEIGHBORS, n_jobs=-1).adjacency
    for source in np.linspace(0, len(X) - 1, n_sources).astype(np.intp):
        total += dijkstra(graph, indices=source).max()
    return {"sum": total}


def _scorecard_cases(n: int, *, n_rows: int, n_sources: int, is_exact: bool = False) -> list[Case]:
    task = f"full scorecard, n = {n:,}" + (", all at all points" if is_exact else "")
    options = {"n_samples": None} if is_exact else {}
    return [
        Case(
            task,
            f"SciPy: {n_rows:,} rows sorted, {n_sources:,} sources",
            lambda: _roll_and_map(n),
            lambda data: _sorted_rows_and_paths(data, n_rows, n_sources),
        ),
        Case(
            task,
            "isofold, auto" if not is_exact else "isofold, exact",
            lambda: _roll_and_map(n),
            lambda data: _scorecard(data, **options),
        ),
    ]


def _in_columns(n: int, d: int) -> tuple[Any, Any, Any]:
    """Return the same in many columns, with a little noise in all of them."""
    X, Y, truth = _roll_and_map(n)
    rng = np.random.RandomState(5)
    axes = np.linalg.qr(rng.standard_normal((d, 3)))[0]
    return X @ axes.T + 0.05 * rng.standard_normal((n, d)), Y, truth


def _columns_case(n: int, d: int) -> Case:
    task = f"full scorecard, n = {n:,}, {d}-D to 2-D"
    return Case(task, "isofold, auto", lambda: _in_columns(n, d), _scorecard)


def _block_case(n: int) -> Case:
    task = f"scorecard by blocks, n = {n:,}, 3-D to 2-D, .npy files"
    return Case(task, "isofold, 1,000 rows", lambda: _files_of_roll(n), _block_scorecard)


CASES = [
    *_trustworthiness_cases(5_000),
    *_trustworthiness_cases(20_000),
    *_scorecard_cases(2_000, n_rows=2_000, n_sources=2_000),
    *_scorecard_cases(12_000, n_rows=12_000, n_sources=12_000, is_exact=True),
    *_scorecard_cases(20_000, n_rows=12_500, n_sources=1_000),
    *_scorecard_cases(200_000, n_rows=1_250, n_sources=100),
    *_scorecard_cases(1_000_000, n_rows=250, n_sources=32),
    _columns_case(12_000, 64),
    _columns_case(20_000, 784),
    *(_block_case(n) for n in (10**6, 10**7)),
]
