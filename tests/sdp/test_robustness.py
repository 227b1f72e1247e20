"""Hostile instances: bounds stay valid and words stay true where the data are extreme."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.exceptions import InvalidInputError
from isofold.sdp import Constraints, GramSDP, LowRankSDP, Status, square_constraints
from isofold.sdp.dual.probe import lowest_pairs, probe_slack
from isofold.sdp.dual.spectrum import lowest_modes, proved_floor
from isofold.sdp.solvers.conic import ConicSDP
from support.quick import quick_are, quick_first
from support.sdp_checks import assert_valid_bound
from support.sdp_problems import path_edges, squared_lengths
from support.sdp_random import FAMILIES, centered, neighbor_pairs, rolled_sheet

# The engine's own tolerance for bounds and soft constraints, and the one it has for equalities.
TOL = {"equality": 1e-3, "factors": 1e-3}
DEFAULT_TOL = 1e-4

# Sums of a few thousand products: what two values of one optimum may differ by.
ROUNDING = 1e-9


def sheet(n, seed=0):
    points = centered(rolled_sheet(np.random.default_rng(seed), n))
    pairs = neighbor_pairs(points, 3)
    return points, pairs, squared_lengths(points, pairs)


def rescaled(problem, length, cost):
    """Return the problem with squared lengths and cost in other units."""
    given = problem.constraints
    if given is not None:
        given = replace(
            given,
            lower=given.lower * length,
            upper=given.upper * length,
            penalty=given.penalty * cost / length,
        )
    return replace(problem, objective=problem.objective * cost, constraints=given)


@pytest.mark.parametrize(
    ("length", "cost"),
    quick_are([(1e-6, 1e6)], itertools.product((1e-6, 1e6), repeat=2)),
)
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_units_do_not_matter(family, length, cost):
    problem = FAMILIES[family](np.random.default_rng(5), 12).problem
    solver = LowRankSDP(random_state=0)
    first = solver.solve(problem)
    assert_valid_bound(problem, first)
    room = 2 * TOL.get(family, DEFAULT_TOL) * abs(first.primal)
    # Orthonormal blocks have a unit of length of their own.
    length = 1.0 if problem.n_blocks else length
    second = solver.solve(rescaled(problem, length, cost))
    assert second.status is first.status
    ratio = length * cost
    assert abs(second.certificate.posed_bound / ratio - first.certificate.posed_bound) <= room
    assert abs(second.primal / ratio - first.primal) <= room


def stopped_by_callback(calls):
    counter = itertools.count(1)
    return lambda _: next(counter) >= calls


def interrupted(calls):
    counter = itertools.count(1)

    def callback(_):
        if next(counter) >= calls:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize(
    "options",
    [
        {"max_iter": 1},
        {"max_seconds": 1e-3},
        {"callback": stopped_by_callback(1)},
        {"callback": interrupted(1)},
        {"callback": interrupted(6)},
    ],
    ids=["one iteration", "no time", "stopped", "interrupted", "interrupted later"],
)
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_bound_is_valid_wherever_the_solver_is_stopped(family, options):
    problem = FAMILIES[family](np.random.default_rng(11), 14).problem
    solution = LowRankSDP(random_state=0, **options).solve(problem)
    assert_valid_bound(problem, solution)
    numbers = (solution.primal, solution.dual, solution.gap, solution.certificate.posed_bound)
    assert not np.any(np.isnan(numbers))


@pytest.mark.parametrize(
    "family", quick_are(["equality", "factors", "mixed", "stitching"], sorted(FAMILIES))
)
def test_a_seed_determines_the_answer(family):
    problem = FAMILIES[family](np.random.default_rng(4), 14).problem
    first, second = (LowRankSDP(random_state=3).solve(problem) for _ in range(2))
    assert first.primal == second.primal
    assert first.dual == second.dual
    np.testing.assert_array_equal(first.coordinates, second.coordinates)


@pytest.mark.parametrize("maximize", [False, True])
def test_without_a_cost_every_feasible_point_is_optimal(maximize):
    points, pairs, squared = sheet(40)
    problem = GramSDP(
        len(points),
        sp.csr_array((len(points), len(points))),
        maximize=maximize,
        constraints=Constraints.on_pairs(len(points), pairs, upper=squared),
        centered=True,
    )
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.primal == solution.dual == 0.0


def test_a_positive_semidefinite_cost_is_least_at_the_origin():
    points, pairs, squared = sheet(40)
    cost = np.outer(points[:, 0], points[:, 0]) + np.outer(points[:, 1], points[:, 1])
    constraints = Constraints.on_pairs(len(points), pairs, upper=squared)
    problem = GramSDP(len(points), cost, constraints=constraints, centered=True)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert_valid_bound(problem, solution)
    assert solution.status is Status.CERTIFIED
    assert solution.primal == 0.0


@pytest.mark.parametrize("n", quick_first([60, 420]))
def test_a_path_that_begins_at_the_origin_does_not_underflow(n):
    """For a large barrier the best point of a cost of rank one is the origin itself."""
    _, pairs, squared = sheet(n)
    rng = np.random.default_rng(0)
    vector = sp.csr_array(np.where(rng.random((n, 1)) < 0.1, rng.standard_normal((n, 1)), 0.0))
    problem = GramSDP.unfolding(
        n, pairs, squared, kind="at_most", objective=sp.csr_array(vector @ vector.T)
    )
    solution = LowRankSDP(random_state=0, max_iter=3).solve(problem)
    assert_valid_bound(problem, solution)
    assert np.all(np.isfinite(solution.coordinates))


@pytest.mark.slow
def test_lower_bounds_are_certified_beyond_the_size_of_dense_algebra():
    """The multipliers of a positive definite cost are repaired by making them smaller."""
    instance = FAMILIES["apart"](np.random.default_rng(2), 420)
    solution = LowRankSDP(random_state=0, max_iter=4).solve(instance.problem)
    assert_valid_bound(instance.problem, solution)
    assert np.isfinite(solution.dual)
    assert solution.dual <= np.sum(instance.feasible**2)


def signed_sums(seed, n=20):
    """Return sums of squares with both signs, and a bound on the trace as one more form."""
    rng = np.random.default_rng(seed)
    factors, Y = rng.standard_normal((15, n)), rng.standard_normal((n, 3))
    signs, owner = rng.choice([-1.0, 1.0], 15), np.repeat(np.arange(5), 3)
    values = np.bincount(owner, signs * np.sum((factors @ Y) ** 2, axis=1))
    cost = rng.standard_normal((n, n))
    constraints = square_constraints(
        np.vstack([factors, np.eye(n)]),
        lower=np.append(values, -np.inf),
        upper=np.append(values, 1.5 * np.sum(Y**2)),
        signs=np.append(signs, np.ones(n)),
        owner=np.append(owner, np.full(n, 5)),
    )
    return GramSDP(n, (cost + cost.T) / 2, constraints=constraints)


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_forms_with_negative_signs_do_not_hide_those_that_prove_a_bound(seed):
    problem = signed_sums(seed)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert_valid_bound(problem, solution)
    judge = ConicSDP().solve(problem)
    assert np.isfinite(solution.certificate.posed_bound)
    assert solution.certificate.posed_bound <= judge.primal + ROUNDING * abs(judge.primal)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_lowest_eigenpairs_are_accurate_in_any_unit(scale):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 30))
    A = scale * (A + A.T)
    gauge = np.ones(30) / np.sqrt(30)
    complement = np.eye(30) - np.outer(gauge, gauge)
    expected = np.linalg.eigvalsh(complement @ A @ complement)[0]
    for find in (lowest_modes, lowest_pairs):
        values, vectors = find(A, gauge, 1)
        assert values[0] == pytest.approx(expected, rel=1e-6)
        assert abs(gauge @ vectors[:, 0]) < 1e-6
    floor = proved_floor(A, gauge)
    assert floor.value <= expected
    assert floor.value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("coupling", [0.0, 1.0, 1e3])
def test_the_probe_is_right_however_much_the_gauge_is_coupled(coupling):
    """Beyond the side of dense algebra, where the gauge is split off by a border."""
    n = 450
    rng = np.random.default_rng(0)
    rows = rng.integers(0, n, (2, 3 * n))
    S = sp.csr_array((coupling * np.ones(3 * n), tuple(rows)), shape=(n, n))
    S = sp.csr_array(S + S.T + sp.diags_array(rng.uniform(1.0, 2.0, n)))
    gauge = np.ones(n) / np.sqrt(n)
    complement = np.linalg.svd(gauge[None, :])[2][1:]
    lowest = np.linalg.eigvalsh(complement @ S @ complement.T)[0]
    distance = 1e-9 * abs(S).max()
    above = probe_slack(S, gauge=gauge, shift=-lowest + distance)
    assert above.is_positive
    assert above.margin < distance
    assert not probe_slack(S, gauge=gauge, shift=-lowest - distance).is_positive


@pytest.mark.parametrize("options", [{"rank": 0}, {"max_rank": 0}, {"tol": True}])
def test_options_of_zero_are_not_taken_for_absent(options):
    problem = GramSDP.unfolding(4, path_edges(4), np.ones(3))
    with pytest.raises(InvalidInputError):
        LowRankSDP(**options).solve(problem)


def test_options_may_be_numbers_of_numpy():
    problem = GramSDP.unfolding(4, path_edges(4), np.ones(3))
    options = {"tol": np.float32(1e-3), "max_seconds": np.int64(60), "rank": np.int64(2)}
    assert LowRankSDP(random_state=0, **options).solve(problem).status is Status.CERTIFIED
