"""Unfolding with distances at most given ones: the low-rank interior point beside conic solvers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph
from isofold.sdp import GramSDP, LowRankSDP
from isofold.sdp.solvers.conic import ConicSDP

GAP = 1e-4
PEER_SECONDS = 120.0


def _roll(n: int) -> GramSDP:
    """Return the unfolding of a roll of arc length about 90 and height 21, in units of its mesh."""
    X = swiss_roll(n, width=21.0, uniform=True, random_state=0).X
    graph = build_graph(X, n_neighbors=6)
    squared = graph.lengths**2
    return GramSDP.unfolding(n, graph.edges, squared / squared.mean(), kind="at_most")


def _figures(problem: GramSDP, solution: Any) -> dict[str, float]:
    """Return the value, and what is left of it when all lengths are shrunk until none is long."""
    Y = solution.coordinates
    assert problem.constraints is not None  # noqa: S101 - for the type checker
    allowed = problem.constraints.upper
    shrink = min(1.0, float(np.min(allowed / problem.forms.values(Y))))
    return {
        "objective": solution.primal,
        "feasible_objective": solution.primal * shrink,
        "bound": solution.dual,
        "gap": solution.gap,
        "violation": solution.max_violation,
    }


def _isofold(problem: GramSDP) -> dict[str, float]:
    return _figures(problem, LowRankSDP(tol=GAP, random_state=0).solve(problem))


def _clarabel(problem: GramSDP) -> dict[str, float]:
    return _figures(problem, ConicSDP(tol=GAP, max_seconds=PEER_SECONDS).solve(problem))


def _scs(problem: GramSDP) -> dict[str, float]:
    solver = ConicSDP(solver="scs", tol=GAP, max_seconds=PEER_SECONDS)
    return _figures(problem, solver.solve(problem))


CASES = [
    Case(f"unfolding with bounds, n = {n:,}", method, partial(_roll, n), run)
    for n, methods in (
        (100, (("Clarabel", _clarabel), ("SCS", _scs), ("isofold", _isofold))),
        (200, (("Clarabel", _clarabel), ("SCS", _scs), ("isofold", _isofold))),
        (400, (("SCS", _scs), ("isofold", _isofold))),
        (2_000, (("isofold", _isofold),)),
    )
    for method, run in methods
]
