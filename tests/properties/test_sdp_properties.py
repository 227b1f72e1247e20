"""What holds for every program: weak duality, and invariance of the optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.sdp import GramSDP, LowRankSDP
from isofold.sdp.solvers.conic import ConicSDP
from support.hypothesis_profiles import examples
from support.sdp_checks import (
    assert_valid_bound,
    cost_matrix,
    form_matrices,
    interval_cost,
    solver_name,
)
from support.sdp_problems import squared_lengths
from support.sdp_random import FAMILIES, neighbor_pairs, rolled_sheet

TOL = 1e-4
SOLVERS = [LowRankSDP(tol=TOL, violation_tol=TOL, random_state=0), ConicSDP(tol=TOL)]

# Coordinates of a known feasible point are rounded, and with them the bounds made from them.
ROUNDING = 1e-11

seeds = st.integers(0, 2**32 - 1)
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=solver_name)
unfoldings = st.sampled_from(["equal", "at_most", "soft"])


def value_at(problem, Y):
    """Return the objective of the minimum at a feasible point, by its definition."""
    G = Y @ Y.T
    total = float(np.sum(cost_matrix(problem) * G))
    for e, A in enumerate(form_matrices(problem)):
        constraints = problem.constraints
        penalty = constraints.penalty[e]
        if np.isfinite(penalty):
            bounds = constraints.lower[e], constraints.upper[e]
            total += interval_cost(float(np.sum(A * G)), *bounds, penalty, 0.0)
    return total


def unfolding(kind, points, pairs, squared):
    penalty = 20.0 * len(points) / squared.mean() if kind == "soft" else None
    kind = "equal" if kind == "soft" else kind
    return GramSDP.unfolding(len(points), pairs, squared, kind=kind, penalty=penalty)


def sheet(seed, n=8):
    """Return points of a curved sheet and a sparse graph on them, which leaves room to unfold."""
    points = rolled_sheet(np.random.default_rng(seed), n)
    points += 0.05 * np.arange(n)[:, None]
    return points, neighbor_pairs(points, 1)


def assert_same_optimum(first, second, *, ratio=1.0):
    """Assert that two answers agree as well as both are certified and constraints are met."""
    scale = max(abs(first.primal), abs(second.primal / ratio))
    allowed = first.gap + second.gap + 4 * TOL
    assert abs(first.primal - second.primal / ratio) <= allowed * scale


@examples(30)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    seed=seeds,
    n=st.integers(3, 12),
    max_iter=st.sampled_from([1, 2, 5, 30]),
    rank=st.one_of(st.none(), st.integers(1, 5)),
)
def test_weak_duality_is_never_violated(family, seed, n, max_iter, rank):
    instance = FAMILIES[family](np.random.default_rng(seed), n)
    problem = instance.problem
    solver = LowRankSDP(tol=TOL, rank=rank, max_iter=max_iter, random_state=seed % 1000)
    solution = solver.solve(problem)
    assert_valid_bound(problem, solution)
    known = value_at(problem, instance.feasible)
    sign = -1.0 if problem.maximize else 1.0
    bound = sign * solution.certificate.posed_bound
    room = solution.certificate.rounding_floor + ROUNDING * (abs(known) + abs(bound))
    assert np.isinf(bound) or known - bound >= -room


@examples(30)
@given(family=st.sampled_from(sorted(FAMILIES)), seed=seeds, n=st.integers(3, 8))
def test_the_judge_never_violates_weak_duality(family, seed, n):
    instance = FAMILIES[family](np.random.default_rng(seed), n)
    solution = ConicSDP(tol=TOL).solve(instance.problem)
    assert_valid_bound(instance.problem, solution)
    known = value_at(instance.problem, instance.feasible)
    sign = -1.0 if instance.problem.maximize else 1.0
    bound = sign * solution.certificate.posed_bound
    assert known - bound >= -ROUNDING * (abs(known) + abs(bound))


@each_solver
@examples(4)
@given(seed=seeds, kind=unfoldings)
def test_the_order_of_points_and_pairs_does_not_matter(solver, seed, kind):
    points, pairs = sheet(seed)
    rng = np.random.default_rng(seed)
    order, shuffle = rng.permutation(len(points)), rng.permutation(len(pairs))
    squared = squared_lengths(points, pairs)
    first = solver.solve(unfolding(kind, points, pairs, squared))
    renamed = np.argsort(order)[pairs][shuffle][:, ::-1]
    second = solver.solve(unfolding(kind, points[order], renamed, squared[shuffle]))
    assert_same_optimum(first, second)


@examples(4)
@given(seed=seeds, kind=unfoldings)
def test_a_moved_start_leads_to_the_same_optimum(seed, kind):
    points, pairs = sheet(seed)
    problem = unfolding(kind, points, pairs, squared_lengths(points, pairs))
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    low_rank = SOLVERS[0]
    first = low_rank.solve(problem, start=points)
    second = low_rank.solve(problem, start=points @ rotation + 5.0)
    assert_same_optimum(first, second)


@each_solver
@examples(4)
@given(seed=seeds, kind=unfoldings, exponent=st.integers(-8, 8))
def test_the_optimum_scales_with_the_squared_distances(solver, seed, kind, exponent):
    points, pairs = sheet(seed)
    squared = squared_lengths(points, pairs)
    ratio = 10.0**exponent
    first = solver.solve(unfolding(kind, points, pairs, squared))
    second = solver.solve(unfolding(kind, points, pairs, ratio * squared))
    assert_same_optimum(first, second, ratio=ratio)


@each_solver
@examples(4)
@given(seed=seeds, kind=st.sampled_from(["equal", "at_most"]))
def test_an_added_constraint_never_raises_a_maximum(solver, seed, kind):
    points, pairs = sheet(seed)
    ends = np.array([[0, len(points) - 1]])
    more = np.vstack([pairs, ends]) if not (pairs == ends).all(axis=1).any() else pairs
    free = solver.solve(unfolding(kind, points, pairs, squared_lengths(points, pairs)))
    bound = solver.solve(unfolding(kind, points, more, squared_lengths(points, more)))
    # Violated constraints may be worth as much as the tolerance of both.
    assert bound.primal <= free.certificate.posed_bound * (1 + 4 * TOL)
