"""Stitching of patches: certified optima beside general conic solvers, and at large sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Case
from benchmarks.stitching_problems import Stitch, bent_sheet, holed_roll
from isofold.sdp import GramSDP, LowRankSDP, Status
from isofold.sdp.solvers.conic import ConicSDP

CONIC_SECONDS = 120.0


def _low_rank(stitch: Stitch) -> dict[str, float]:
    solution = LowRankSDP(random_state=0).solve(stitch.problem)
    return {**_figures(solution), "error": stitch.error(solution.coordinates)}


def _low_rank_alone(problem: GramSDP) -> dict[str, float]:
    return _figures(LowRankSDP(random_state=0).solve(problem))


def _conic(solver: str) -> Callable[[Any], dict[str, float]]:
    def run(data: Any) -> dict[str, float]:
        problem = _rotations_alone(data.problem) if isinstance(data, Stitch) else data
        return _figures(ConicSDP(solver=solver, max_seconds=CONIC_SECONDS).solve(problem))

    return run


def _rotations_alone(problem: GramSDP) -> GramSDP:
    """Return the problem with its translations eliminated: smaller and easier for peers."""
    assert problem.blocks is not None  # noqa: S101 - for the type checker
    rows = np.concatenate([np.arange(first, first + size) for first, size in problem.blocks])
    free = np.setdiff1d(np.arange(problem.n_points), rows)
    M = problem.objective.toarray()
    Z = M[np.ix_(rows, free)]
    K = M[np.ix_(rows, rows)] - Z @ np.linalg.pinv(M[np.ix_(free, free)], hermitian=True) @ Z.T
    sizes = problem.blocks[:, 1]
    starts = np.cumsum(sizes) - sizes
    return GramSDP.stitching((K + K.T) / 2, np.column_stack([starts, sizes]))


def _figures(solution: Any) -> dict[str, float]:
    floor = solution.certificate.rounding_floor
    return {
        "objective": solution.primal,
        "gap": solution.gap,
        "floor": floor / max(abs(solution.primal), 1e-300),
        "certified": float(solution.status is Status.CERTIFIED),
        "rank": float(solution.rank),
        "solver_seconds": solution.seconds,
    }


def _random_signs(n: int) -> GramSDP:
    """Return random couplings of unit rows: the relaxation of a maximum cut, which is not tight."""
    A = np.random.default_rng(0).standard_normal((n, n))
    return GramSDP.stitching(sp.csr_array(A + A.T), [[row, 1] for row in range(n)])


def _roll_case(n_points: int, n_patches: int, noise: float, overlap: float = 0.15) -> Case:
    return Case(
        f"holed roll, n = {n_points:,}, c = {n_patches:,}, noise {noise:g}",
        "isofold",
        lambda: holed_roll(n_points, n_patches, noise=noise, overlap=overlap),
        _low_rank,
    )


def _beside_conic(task: str, prepare: Callable[[], Any], ours: Callable[[Any], Any]) -> list[Case]:
    return [
        Case(task, "isofold", prepare, ours),
        Case(task, "Clarabel", prepare, _conic("clarabel")),
        Case(task, "SCS", prepare, _conic("scs")),
    ]


CASES = [
    *_beside_conic(
        "holed roll, c = 60, noise 0.2", lambda: holed_roll(12_000, 60, noise=0.2), _low_rank
    ),
    *_beside_conic("random signs, n = 60", lambda: _random_signs(60), _low_rank_alone),
    _roll_case(10_000, 100, 0.0),
    _roll_case(20_000, 100, 0.05),
    _roll_case(100_000, 1_000, 0.0),
    _roll_case(200_000, 1_000, 0.2),
    _roll_case(1_000_000, 3_000, 0.1, overlap=0.2),
    _roll_case(1_000_000, 10_000, 0.0),
    _roll_case(1_000_000, 10_000, 0.05, overlap=0.2),
    _roll_case(5_000_000, 50_000, 0.0),
    Case(
        "sheet of three dimensions in five, c = 1,000, noise 0.02",
        "isofold",
        lambda: bent_sheet(200_000, 1_000, noise=0.02),
        _low_rank,
    ),
]
