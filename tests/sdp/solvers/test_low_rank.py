"""The loop around the inner solvers: options, stops, determinism, what comes back."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from isofold.datasets import swiss_roll
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.sdp import Constraints, GramSDP, LowRankSDP, Status
from isofold.sdp.rules import RULES
from isofold.sdp.solvers.protocol import Phase
from support.quick import quick_first


def roll(n=300, *, kind="equal", penalty=None):
    X = swiss_roll(n, width=10.0, turns=1.0, uniform=True, random_state=0).X
    graph = build_graph(X, n_neighbors=8)
    return GramSDP.unfolding(n, graph.edges, graph.lengths**2, kind=kind, penalty=penalty)


def blocks():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12))
    return GramSDP.stitching(sp.csr_array(A @ A.T), [[3 * i, 2] for i in range(4)])


def both():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((6, 6))
    constraints = Constraints.on_pairs(6, [[0, 4], [2, 5]], upper=[3.0, 2.0])
    return GramSDP(6, A @ A.T, constraints=constraints, blocks=[[0, 2], [2, 2]])


PROBLEMS = {
    "equalities": roll(),
    "soft": roll(penalty=1.0),
    "upper bounds": roll(150, kind="at_most"),
    "blocks": blocks(),
    "blocks and bounds": both(),
}
each_inner_solver = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
SOLVED = {}


def solved(problem):
    """Return the solution of one of the problems from seed 3, found once."""
    if id(problem) not in SOLVED:
        SOLVED[id(problem)] = LowRankSDP(random_state=3).solve(problem)
    return SOLVED[id(problem)]


def bound_is_on_its_side(problem, solution):
    """The bound of the certified problem lies beyond its value, up to the rounding floor."""
    excess = (solution.dual - solution.primal) * problem.sign
    return excess <= solution.certificate.rounding_floor + 1e-9 * abs(solution.primal)


@each_inner_solver
def test_the_same_seed_gives_the_same_bytes(problem):
    first, second = solved(problem), LowRankSDP(random_state=3).solve(problem)
    np.testing.assert_array_equal(first.coordinates, second.coordinates)
    assert first.dual == second.dual


@each_inner_solver
def test_a_callback_sees_every_iterate_and_may_stop(problem):
    seen = []

    def stop_at_third(iterate):
        seen.append(iterate)
        return len(seen) == 3

    solution = LowRankSDP(callback=stop_at_third, random_state=0).solve(problem)
    assert [iterate.n_iter for iterate in seen] == sorted(iterate.n_iter for iterate in seen)
    if len(seen) == 3 and solution.status is Status.ITERATION_LIMIT:
        assert "callback" in solution.message
    assert bound_is_on_its_side(problem, solution)


def test_a_budget_ends_its_phase_beside_the_callback():
    seen = []
    solution = LowRankSDP(callback=seen.append, random_state=0).solve(
        PROBLEMS["equalities"], budget={Phase.MULTIPLIER_STEP: 5, Phase.NEWTON: 0}
    )
    assert [iterate.phase for iterate in seen] == 6 * [Phase.MULTIPLIER_STEP]
    assert solution.status is Status.ITERATION_LIMIT
    assert "limit of 5 iterations of the phase 'multiplier step'" in solution.message


@each_inner_solver
def test_an_interrupt_returns_the_last_iterate(problem):
    n_calls = 0

    def interrupt(_iterate):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:
            raise KeyboardInterrupt

    solution = LowRankSDP(callback=interrupt, random_state=0).solve(problem)
    assert np.all(np.isfinite(solution.coordinates))
    assert bound_is_on_its_side(problem, solution)
    if n_calls == 2:
        assert solution.status is Status.ITERATION_LIMIT
        assert "interrupted" in solution.message


def test_an_interrupt_before_the_first_iterate_is_passed_on(monkeypatch):
    def nothing(*_arguments):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(
        "isofold.sdp.solvers.augmented.multiplier_steps.AugmentedSolver.iterates", nothing
    )
    with pytest.raises(KeyboardInterrupt):
        LowRankSDP().solve(roll())


@each_inner_solver
def test_a_time_limit_is_kept_and_said(problem):
    solution = LowRankSDP(tol=1e-14, max_seconds=1e-6, random_state=0).solve(problem)
    assert solution.status in (Status.ITERATION_LIMIT, Status.CERTIFIED)
    if solution.status is Status.ITERATION_LIMIT:
        assert "time limit of 1e-06 s" in solution.message
    assert bound_is_on_its_side(problem, solution)


@each_inner_solver
def test_coordinates_are_in_principal_axes(problem):
    Y = solved(problem).coordinates
    gram = Y.T @ Y
    variances = np.diag(gram)
    assert np.all(np.diff(variances) <= 1e-9 * variances[0])
    np.testing.assert_allclose(gram, np.diag(variances), atol=1e-9 * variances[0])


@pytest.mark.parametrize("scale", quick_first([1e-6, 1e6]))
def test_a_start_is_used_in_any_units(scale):
    """From the solution itself the first step already ends within the tolerance."""
    X = swiss_roll(300, width=10.0, turns=1.0, uniform=True, random_state=0).X * np.sqrt(scale)
    graph = build_graph(X, n_neighbors=8)
    problem = GramSDP.unfolding(300, graph.edges, graph.lengths**2)
    far = LowRankSDP(random_state=0).solve(problem)
    near = LowRankSDP(random_state=0).solve(
        problem, start=far.coordinates, multipliers=far.certificate.multipliers
    )
    assert near.status is Status.CERTIFIED
    assert near.n_iter < far.n_iter


def test_options_can_be_set_and_cloned():
    solver = clone(LowRankSDP(tol=1e-5, rank=4)).set_params(max_iter=7)
    assert solver.get_params()["tol"] == 1e-5
    assert solver.max_iter == 7


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tol", 0.0),
        ("tol", "small"),
        ("violation_tol", -1.0),
        ("penalty", float("inf")),
        ("max_seconds", 0.0),
        ("max_iter", 0),
        ("rank", -2),
        ("max_rank", 2.5),
    ],
)
def test_options_that_make_no_sense(option, value):
    with pytest.raises(InvalidInputError, match=option):
        LowRankSDP(**{option: value}).solve(PROBLEMS["equalities"])


@pytest.mark.parametrize(
    ("what", "value", "match"),
    [
        ("start", np.zeros((3, 2)), "one row is needed for each of the 300"),
        ("start", np.full((300, 2), np.nan), "start"),
        ("multipliers", np.zeros(3), "multipliers has shape"),
    ],
)
def test_starts_that_do_not_fit(what, value, match):
    with pytest.raises(InvalidInputError, match=match):
        LowRankSDP().solve(PROBLEMS["equalities"], **{what: value})


def tree_of_many_lengths(penalty):
    """Return ten points on a tree whose squared lengths span eight decades."""
    rng = np.random.default_rng(2)
    pairs = np.array([(i, rng.integers(0, i)) for i in range(1, 10)])
    return GramSDP.unfolding(10, pairs, 10.0 ** rng.uniform(0, 8, len(pairs)), penalty=penalty)


@pytest.mark.parametrize("penalty", quick_first([1.0, 1e4]))
def test_soft_lengths_of_many_sizes_are_certified_in_few_steps(penalty):
    """Gradients alone creep: 13,050 iterations used to end without a certificate."""
    problem = tree_of_many_lengths(penalty)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter < 2000
    bound_is_on_its_side(problem, solution)


def test_a_small_program_that_does_not_converge_ends(monkeypatch):
    monkeypatch.setattr(LowRankSDP, "_solve_dense", lambda *_: None)
    rules = replace(RULES, first_patience=50)
    solution = LowRankSDP(random_state=0).solve(tree_of_many_lengths(1.0), rules=rules)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.n_iter == 50 * RULES.most_patience
    assert solution.gap > 1e-4
    assert "slow progress" in solution.message
