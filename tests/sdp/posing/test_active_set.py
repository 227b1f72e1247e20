"""Very many upper bounds, of which only violated ones are used."""

from dataclasses import replace

import numpy as np
import pytest

from isofold.sdp import ConicSDP, GramSDP, LowRankSDP, Status
from isofold.sdp.posing.active_set import maximize_variance
from isofold.sdp.rules import RULES
from support.quick import quick_first
from support.sdp_problems import complete_edges, squared_lengths

TOL = 1e-4
# Shrinking makes the worst bound an equality, up to some roundings.
ROUNDING = 1e-12


def strip(seed, *, n=40, m=5):
    """Return points of an arc, bounds between all that are near, and a basis of waves."""
    rng = np.random.RandomState(seed)
    t = np.sort(rng.rand(n))
    points = np.column_stack([np.cos(3 * t), np.sin(3 * t), 0.5 * rng.rand(n)])
    # The points themselves are in the span, so that the optimum has at least their variance.
    waves = [np.cos(np.pi * k * t) for k in range(1, m - 2)]
    basis = np.column_stack([points, *waves])
    pairs = complete_edges(n)
    squared = squared_lengths(points, pairs)
    near = squared < 0.5
    first = np.zeros(near.sum(), dtype=bool)
    first[::10] = True
    return points, basis, pairs[near], squared[near], first


def variance(Y):
    return float(((Y - Y.mean(axis=0)) ** 2).sum())


def all_at_once(basis, pairs, squared, solver):
    basis = basis - basis.mean(axis=0)
    problem = GramSDP.unfolding(len(basis), pairs, squared, kind="at_most", basis=basis)
    return solver.solve(problem)


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_optimum_is_that_of_all_bounds(seed):
    points, basis, pairs, squared, first = strip(seed)
    solution, used = maximize_variance(
        basis, pairs, squared, LowRankSDP(tol=TOL, random_state=0), first=first
    )
    whole = all_at_once(basis, pairs, squared, LowRankSDP(tol=TOL, random_state=0))
    assert solution.status is Status.CERTIFIED
    assert solution.gap <= TOL
    assert used.shape == first.shape
    assert used[first].all()
    assert len(solution.certificate.multipliers) == used.sum()
    # Each interval [primal, dual] holds the optimum.
    assert solution.dual >= whole.primal * (1 - ROUNDING)
    assert whole.dual >= solution.primal * (1 - ROUNDING)
    assert solution.dual >= variance(points) * (1 - ROUNDING)


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_result_is_feasible(tol):
    _, basis, pairs, squared, first = strip(0)
    solution, _ = maximize_variance(
        basis, pairs, squared, LowRankSDP(tol=tol, random_state=0), first=first
    )
    Y = solution.coordinates
    assert np.all(squared_lengths(Y, pairs) <= squared * (1 + ROUNDING))
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=ROUNDING)
    centered = basis - basis.mean(axis=0)
    residual = Y - centered @ np.linalg.lstsq(centered, Y, rcond=None)[0]
    np.testing.assert_allclose(residual, 0.0, atol=1e-10)
    # What is reported is what it is.
    assert solution.primal == pytest.approx(variance(Y), rel=ROUNDING)
    assert solution.primal == solution.certificate.primal
    assert solution.gap == pytest.approx((solution.dual - solution.primal) / solution.dual)
    assert solution.max_violation == 0.0
    assert solution.certificate.multipliers.shape[0] >= first.sum()
    assert "the problem as posed" in solution.message


def test_few_bounds_are_used():
    _, basis, pairs, squared, _ = strip(0, n=120)
    first = np.zeros(len(pairs), dtype=bool)
    first[::40] = True
    _, used = maximize_variance(
        basis, pairs, squared, LowRankSDP(tol=1e-2, random_state=0), first=first
    )
    assert used.sum() < len(pairs) / 4


def test_default_tolerance():
    _, basis, pairs, squared, first = strip(1)
    solution, _ = maximize_variance(basis, pairs, squared, LowRankSDP(random_state=0), first=first)
    assert solution.status is Status.CERTIFIED
    assert solution.gap <= 3e-3


def test_dependent_columns_of_the_basis_do_not_matter():
    _, basis, pairs, squared, first = strip(0)
    # A constant column spans nothing once centered, and twice a column spans nothing new.
    wide = np.column_stack([np.ones(len(basis)), basis, 2 * basis[:, 0], basis + 3.0])
    one, other = (
        maximize_variance(B, pairs, squared, LowRankSDP(tol=TOL, random_state=0), first=first)[0]
        for B in (basis, wide)
    )
    assert other.primal == pytest.approx(one.primal, rel=2 * TOL)


def test_a_general_solver_agrees():
    _, basis, pairs, squared, first = strip(2, n=20)
    theirs, _ = maximize_variance(basis, pairs, squared, ConicSDP(tol=TOL), first=first)
    ours, _ = maximize_variance(
        basis, pairs, squared, LowRankSDP(tol=TOL, random_state=0), first=first
    )
    assert theirs.status is Status.CERTIFIED
    assert theirs.primal == pytest.approx(ours.primal, rel=2 * TOL)


def test_rounds_that_end_early_leave_a_bound_that_holds():
    once = replace(RULES, active_set_rounds=1)
    _, basis, pairs, squared, first = strip(0)
    stopped, used = maximize_variance(
        basis, pairs, squared, LowRankSDP(tol=TOL, random_state=0), first=first, rules=once
    )
    best = all_at_once(basis, pairs, squared, LowRankSDP(tol=TOL, random_state=0))
    assert len(stopped.certificate.multipliers) == used.sum()
    assert stopped.status is Status.ITERATION_LIMIT
    assert "shrinking" in stopped.message
    assert stopped.primal <= best.dual
    assert stopped.dual >= best.primal
    assert np.all(squared_lengths(stopped.coordinates, pairs) <= squared * (1 + ROUNDING))
