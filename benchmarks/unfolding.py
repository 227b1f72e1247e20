"""Maximum variance unfolding with kept distances: multiplier steps up to 50,000 points.

The default form of the engine: hard equalities by multiplier steps, stopped when the median error
of lengths and the certified gap are at most 1e-3. Figures tell what is certified (`gap`), how the
bound on the posed problem agrees (`consistency`), and lengths before and after the projection to
the dimension of the sheet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold.datasets import half_globe, holed_swiss_roll, swiss_roll
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.sdp import GramSDP, LowRankSDP, Status


@dataclass(frozen=True)
class Sheet:
    """Points, their true coordinates (or None), and the problem that unfolds them."""

    truth: Any
    problem: GramSDP
    n_components: int


def _sheet(X: Any, truth: Any, n_components: int) -> Sheet:
    graph = build_graph(X, n_neighbors=12 if n_components == 2 else 16)
    problem = GramSDP.unfolding(len(X), graph.edges, graph.lengths**2)
    return Sheet(truth, problem, n_components)


def _roll(n: int, seed: int = 0, noise: float = 0.0) -> Sheet:
    data = swiss_roll(n, width=21.0, uniform=True, noise=noise, random_state=seed)
    return _sheet(data.X, data.truth, 2)


def _holed(n: int) -> Sheet:
    data = holed_swiss_roll(n, random_state=0)
    return _sheet(data.X, data.truth, 2)


def _globe(n: int) -> Sheet:
    return _sheet(half_globe(n, random_state=0).X, None, 2)


def _thick_roll(n: int) -> Sheet:
    """Return a roll of three intrinsic dimensions in four, thin enough for neighbors to be near."""
    rng = np.random.default_rng(0)
    roll = swiss_roll(n, width=10.0, uniform=True, random_state=0)
    depth = rng.uniform(0.0, 5.0, (n, 1))
    return _sheet(np.hstack([roll.X, depth]), np.hstack([roll.truth, depth]), 3)


def _length_errors(problem: GramSDP, Y: Any) -> Any:
    assert problem.constraints is not None  # noqa: S101 - for the type checker
    return np.abs(np.sqrt(problem.forms.values(Y) / problem.constraints.upper) - 1.0)


def _unfold(sheet: Sheet) -> dict[str, float]:
    solver = LowRankSDP(rank=sheet.n_components + 6, random_state=0, max_iter=12)
    solution = solver.solve(sheet.problem)
    Y, certificate = solution.coordinates, solution.certificate
    assert certificate is not None  # noqa: S101 - for the type checker
    projected = np.ascontiguousarray(Y[:, : sheet.n_components])
    errors = _length_errors(sheet.problem, Y)
    figures = {
        "certified": float(solution.status is Status.CERTIFIED),
        "gap": solution.gap,
        "consistency": certificate.posed_bound / float(np.sum(Y * Y)) - 1.0,
        "median_length_error": float(np.median(errors)),
        "p99_length_error": float(np.quantile(errors, 0.99)),
        "median_projected": float(np.median(_length_errors(sheet.problem, projected))),
        "iterations": float(solution.n_iter),
        "solver_seconds": solution.seconds,
    }
    if sheet.truth is not None:
        figures["error_vs_truth"] = _error(projected, sheet.truth)
    return figures


def _error(Y: Any, truth: Any) -> float:
    """Return the distance to the true coordinates after the best rigid motion, relative."""
    moved = procrustes(Y, truth).transform.apply(Y)
    return float(np.linalg.norm(moved - truth) / np.linalg.norm(truth - truth.mean(axis=0)))


def _case(task: str, prepare: Callable[[], Sheet]) -> Case:
    return Case(task, "isofold", prepare, _unfold)


CASES = [
    _case("roll, n = 2,000", lambda: _roll(2_000)),
    _case("roll, n = 2,000, seed 1", lambda: _roll(2_000, seed=1)),
    _case("roll, n = 2,000, seed 2", lambda: _roll(2_000, seed=2)),
    _case("roll with a hole, n = 2,000", lambda: _holed(2_000)),
    _case("roll, n = 2,000, noise 0.05", lambda: _roll(2_000, noise=0.05)),
    _case("roll, n = 2,000, noise 0.2", lambda: _roll(2_000, noise=0.2)),
    _case("half globe, n = 2,000", lambda: _globe(2_000)),
    _case("roll of three dimensions, n = 2,000", lambda: _thick_roll(2_000)),
    _case("roll, n = 10,000", lambda: _roll(10_000)),
    _case("roll, n = 50,000", lambda: _roll(50_000)),
]
