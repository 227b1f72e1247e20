"""Measures of embedding quality: exact beside scikit-learn, sampled at a million points."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.manifold

from benchmarks.harness import Case
from isofold.datasets import swiss_roll
from isofold.quality import scorecard, trustworthiness

N_NEIGHBORS = 12


def _roll_and_map(n: int) -> tuple[Any, Any, Any]:
    roll = swiss_roll(n, random_state=0)
    # A map with honest errors of both kinds: the true sheet, bent, with noise below its spacing.
    noise = np.random.RandomState(1).standard_normal(roll.truth.shape)
    spacing = np.sqrt(np.prod(np.ptp(roll.truth, axis=0)) / n)
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


CASES = [
    *_trustworthiness_cases(5_000),
    *_trustworthiness_cases(20_000),
    *(_scorecard_case(n) for n in (2_000, 20_000, 200_000, 1_000_000)),
]
