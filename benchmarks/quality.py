"""Measures of embedding quality: exact beside scikit-learn, sampled at a million points."""

from __future__ import annotations

import atexit
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import sklearn.manifold

from benchmarks.harness import Case
from isofold import read_blocks
from isofold.datasets import swiss_roll
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


def _scorecard(data: Any) -> dict[str, float]:
    X, Y, truth = data
    card = scorecard(X, Y, truth=truth, n_neighbors=N_NEIGHBORS, random_state=0, n_jobs=-1)
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


def _scorecard_case(n: int) -> Case:
    return Case(f"full scorecard, n = {n:,}", "isofold, auto", lambda: _roll_and_map(n), _scorecard)


def _block_case(n: int) -> Case:
    task = f"scorecard by blocks, n = {n:,}, 3-D to 2-D, .npy files"
    return Case(task, "isofold, 1,000 rows", lambda: _files_of_roll(n), _block_scorecard)


CASES = [
    *_trustworthiness_cases(5_000),
    *_trustworthiness_cases(20_000),
    *(_scorecard_case(n) for n in (2_000, 20_000, 200_000, 1_000_000)),
    *(_block_case(n) for n in (10**6, 10**7)),
]
