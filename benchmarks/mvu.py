"""Maximum variance unfolding: ours beside CVXPY with Clarabel and SCS, and alone where they end.

All solve the same program, kept lengths on the 12 nearest neighbors of a Swiss roll. Peers are
stopped after ten minutes. Then the family at the size each is for, beside IPA on the same data.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold import IPA, MVU, FastMVU, LandmarkMVU
from isofold.datasets import swiss_roll
from isofold.datasets._dataset import Dataset
from isofold.quality import procrustes_error
from isofold.sdp import Soft
from isofold.sdp.solvers.conic import ConicSDP

PEER_SECONDS = 600.0
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
        "median_projected": model.length_errors_.median,
        "error_vs_truth": procrustes_error(model.embedding_, data.truth),
    }


def _ipa(data: Dataset) -> dict[str, Any]:
    model = IPA(random_state=0).fit(data.X)
    return {"error_vs_truth": procrustes_error(model.embedding_, data.truth)}


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
