"""Maximum variance unfolding: ours beside CVXPY with Clarabel and SCS, and alone where they end.

All solve the same program, kept lengths on the 12 nearest neighbors of a Swiss roll. Peers are
stopped after ten minutes. Then the family at the size each is for, beside IPA on the same data.
"""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold import IPA, MVU, FastMVU, LandmarkMVU
from isofold.datasets import swiss_roll
from isofold.datasets._dataset import Dataset
from isofold.quality import procrustes_error
from isofold.sdp import LowRankSDP, Soft
from isofold.sdp.solvers.conic import ConicSDP

PEER_SECONDS = 600.0
GROWTH_SIZES = (2_000, 10_000, 50_000)
NARROW, WIDE = 10.0, 21.0


def _roll(n: int, width: float = WIDE) -> Dataset:
    return swiss_roll(n, width=width, uniform=True, random_state=0)


def _unfold(model: Any, data: Dataset) -> dict[str, Any]:
    """Fit a method of the family and tell what its solution claims and how true the map is."""
    with warnings.catch_warnings():
        # What a peer does not reach in its time is in the figures.
        warnings.simplefilter("ignore")
        model.fit(data.X)
    solution = model.solution_
    return {
        "status": solution.status.name,
        "variance": float(np.sum(model.spectrum_)),
        "gap": solution.gap,
        "median_length_error": model.unprojected_length_errors_.median,
        "largest_length_error": model.unprojected_length_errors_.largest,
        "largest_error_in_median_lengths": _largest_error(model),
        "median_projected": model.length_errors_.median,
        "error_vs_truth": procrustes_error(model.embedding_, data.truth),
    }


def _largest_error(model: Any) -> float:
    """Return the largest error of a length of the solution, in units of the median length."""
    graph, Y = model.graph_, model.solution_.coordinates
    if len(Y) != graph.n_nodes:
        return float("nan")
    lengths = np.linalg.norm(Y[graph.edges[:, 0]] - Y[graph.edges[:, 1]], axis=1)
    return float(np.abs(lengths - graph.lengths).max() / np.median(graph.lengths))


def _ipa(data: Dataset) -> dict[str, Any]:
    model = IPA(random_state=0).fit(data.X)
    return {"error_vs_truth": procrustes_error(model.embedding_, data.truth)}


def _sizes() -> list[Dataset]:
    return [_roll(n) for n in GROWTH_SIZES]


def _growth(sizes: list[Dataset]) -> dict[str, Any]:
    """Fit rolls of growing size and tell the exponent of the seconds between first and last."""
    seconds = []
    for data in sizes:
        start = perf_counter()
        MVU(random_state=0).fit(data.X)
        seconds.append(perf_counter() - start)
    growth = GROWTH_SIZES[-1] / GROWTH_SIZES[0]
    return {
        "exponent": float(np.log(seconds[-1] / seconds[0]) / np.log(growth)),
        **{f"seconds_{n}": s for n, s in zip(GROWTH_SIZES, seconds, strict=True)},
    }


def _peer(solver: str) -> MVU:
    return MVU(solver=ConicSDP(solver=solver, tol=1e-4, max_seconds=PEER_SECONDS), random_state=0)


def _case(task: str, method: str, model: Any, n: int, width: float = WIDE, **more: Any) -> Case:
    return Case(task, method, partial(_roll, n, width), partial(_unfold, model), **more)


CASES = [
    _case(f"kept lengths, n = {n}", method, model, n, NARROW, is_slow=is_slow)
    for n in (100, 200, 400)
    for method, model, is_slow in (
        ("isofold MVU", MVU(random_state=0), False),
        ("CVXPY + SCS", _peer("scs"), True),
        ("CVXPY + Clarabel", _peer("clarabel"), True),
    )
]
CASES += [
    _case(f"kept lengths, n = {n:,}", "isofold MVU", MVU(random_state=0), n)
    for n in (2_000, 10_000, 50_000)
]
CASES += [
    _case(
        "kept lengths, n = 2,000, tol=1e-5",
        "isofold MVU",
        MVU(
            solver=LowRankSDP(rank=8, tol=1e-3, violation_tol=1e-5),
            random_state=0,
        ),
        2_000,
    ),
    Case("kept lengths, growth", "isofold MVU", _sizes, _growth, is_slow=True),
    _case("map of 20,000 points", "isofold LandmarkMVU", LandmarkMVU(random_state=0), 20_000),
    _case("map of 20,000 points", "isofold MVU", MVU(random_state=0), 20_000),
    Case("map of 20,000 points", "isofold IPA", partial(_roll, 20_000), _ipa),
    _case(
        "map of 50,000 points",
        "isofold FastMVU, not refined",
        FastMVU(lengths=Soft(4.0), random_state=0),
        50_000,
    ),
    _case("map of 50,000 points", "isofold FastMVU", FastMVU(random_state=0), 50_000),
    Case("map of 50,000 points", "isofold IPA", partial(_roll, 50_000), _ipa),
]
