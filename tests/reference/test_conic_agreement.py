"""Agreement of our solvers with Clarabel on random instances of every family."""

import numpy as np
import pytest

from isofold.sdp import DenseSDP, LowRankSDP, Status
from isofold.sdp.solvers.conic import ConicSDP
from support.sdp_checks import SOLVER_TOL, assert_valid_bound, solver_name, takes
from support.sdp_random import FAMILIES

QUICK = 2
"""Seeds of every family that each run looks at; the others are slow tests."""

SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= QUICK)) for seed in range(40)]
PATIENCE = 10.0
"""Seconds after which either solver must give up; all need well under two."""

# A general solver whose own interval is wider than this would agree with anything.
TEETH = 1e-2


def size_of(family, seed):
    """Return 4 to 12 patches, or 6 to 20 points and a few instances of 32."""
    if family == "stitching":
        return 4 + seed % 9
    return 32 if seed % 20 == 19 else 6 + seed % 15


def interval(problem, solution, prices):
    """Return an interval that holds the optimum as posed, recomputed from the multipliers.

    The optimum is convex in the bounds with the optimal multipliers as slopes: a point that misses
    its bounds by v is worth up to Σ|w|v more than a feasible one.
    """
    seen = assert_valid_bound(problem, solution)
    certificate = solution.certificate
    sign = -1.0 if problem.maximize else 1.0
    worth = float(prices @ seen.violation)
    soft = 0.0 if certificate.is_shifted else seen.primal - seen.linear
    floor = certificate.rounding_floor
    return sign * certificate.posed_bound - floor, seen.linear + soft + worth + floor


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_optimum_is_that_of_a_general_solver(family, seed):
    rng = np.random.default_rng(seed)
    problem = FAMILIES[family](rng, size_of(family, seed)).problem
    theirs = ConicSDP(max_seconds=PATIENCE).solve(problem)
    low_rank = LowRankSDP(
        tol=SOLVER_TOL, violation_tol=SOLVER_TOL, max_seconds=PATIENCE, random_state=seed
    )
    # Few instances, the largest among them, are enough for a method without a random start.
    is_dense_too = seed % 4 == 3 or seed == QUICK - 1
    engines = [low_rank, DenseSDP(tol=SOLVER_TOL)] if is_dense_too else [low_rank]
    for engine in engines:
        if takes(engine, problem):
            assert_agreement(problem, theirs, engine.solve(problem), solver_name(engine))


def assert_agreement(problem, theirs, ours, name):
    """Assert that two intervals which hold the optimum meet, and that they are narrow."""
    prices = np.maximum(
        np.abs(theirs.certificate.multipliers), np.abs(ours.certificate.multipliers)
    )
    low, high = interval(problem, theirs, prices)
    assert high - low <= TEETH * max(abs(low), abs(high))
    lowest, highest = interval(problem, ours, prices)
    assert ours.status is Status.CERTIFIED, f"{name}: {ours.message}"
    assert max(low, lowest) <= min(high, highest), (
        f"{name}: [{low}, {high}] and [{lowest}, {highest}] do not meet"
    )
