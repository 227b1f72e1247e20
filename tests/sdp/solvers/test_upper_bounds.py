"""Bounds from above: known answers, an independent solver, true bounds at every stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph
from isofold.sdp.problem import GramSDP, square_constraints
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.conic import ConicSDP
from isofold.sdp.solvers.protocol import Options, Start
from isofold.sdp.solvers.upper_bounds.path import UpperBoundsSolver
from support.quick import quick_first

TOL = 1e-6
"""The gap asked for; a certified value then differs from the optimum by at most this part of it."""

ROUNDING = 1e-9
"""Sums of some hundred terms, and factors with a condition of 1e5, in double precision."""

CLARABEL = 1e-5
"""Ten times the gap that Clarabel is asked for."""


def _options(program, *, tol=TOL, max_iter=100, max_rank=20, seed=0):
    largest = max(1, program.size - (program.gauge is not None))
    return Options(
        tol=tol,
        violation_tol=1e-6,
        rank=min(8, largest),
        max_rank=min(max_rank, largest),
        penalty=16.0,
        max_iter=max_iter,
        seed=seed,
    )


def _solve(problem, **settings):
    program = Program.of(problem)
    options = _options(program, **settings)
    assert UpperBoundsSolver().accepts(program)
    last = list(UpperBoundsSolver().iterates(program, options, Start()))[-1]
    return last, last.certificate or UpperBoundsSolver().certify(program, options, last)


def _assert_certified(problem, optimum):
    last, certificate = _solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.is_exact
    assert certificate.max_violation == 0.0
    assert certificate.dual <= -optimum * (1.0 - ROUNDING)
    assert certificate.primal >= -optimum * (1.0 + ROUNDING)
    assert certificate.gap <= TOL + certificate.rounding_floor / optimum
    return last


def _roll(n, seed=0):
    graph = build_graph(swiss_roll(n, width=21.0, uniform=True, random_state=seed).X, n_neighbors=6)
    return GramSDP.unfolding(n, graph.edges, graph.lengths**2, kind="at_most")


def test_path_becomes_a_line():
    n = 9
    problem = GramSDP.unfolding(
        n, [[i, i + 1] for i in range(n - 1)], np.ones(n - 1), kind="at_most"
    )
    last = _assert_certified(problem, (n**3 - n) / 12)
    assert last.Y.shape[1] == 1


@pytest.mark.parametrize("n", [3, 4, 7, 20])
def test_cycle_becomes_a_regular_polygon(n):
    problem = GramSDP.unfolding(n, [[i, (i + 1) % n] for i in range(n)], np.ones(n), kind="at_most")
    last = _assert_certified(problem, n / (2.0 * np.sin(np.pi / n)) ** 2)
    assert last.Y.shape[1] == 2


def test_two_triangles_open_flat():
    pairs = [[0, 1], [1, 2], [2, 0], [1, 3], [2, 3]]
    _assert_certified(GramSDP.unfolding(4, pairs, np.ones(5), kind="at_most"), 2.0)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_complete_graph_keeps_its_points(d):
    X = np.random.default_rng(d).standard_normal((12, d))
    first, second = np.triu_indices(12, 1)
    squared = np.sum((X[first] - X[second]) ** 2, axis=1)
    problem = GramSDP.unfolding(12, np.column_stack([first, second]), squared, kind="at_most")
    _assert_certified(problem, float(np.sum((X - X.mean(axis=0)) ** 2)))


def test_scale_of_lengths_and_cost_does_not_matter():
    problem = _roll(60)
    _, plain = _solve(problem)
    constraints = replace(problem.constraints, upper=1e6 * problem.constraints.upper)
    scaled = replace(problem, objective=1e-4 * problem.objective, constraints=constraints)
    _, other = _solve(scaled)
    assert other.primal == pytest.approx(1e2 * plain.primal, rel=2 * TOL)


def test_roll_is_certified_in_few_newton_steps():
    last, certificate = _solve(_roll(200), tol=1e-4)
    assert last.status is Status.CERTIFIED
    assert certificate.gap <= 1e-4
    assert certificate.max_violation == 0.0
    assert last.n_iter < 80


@pytest.mark.parametrize("seed", quick_first(range(4)))
def test_general_cost_agrees_with_clarabel(seed):
    rng = np.random.default_rng(seed)
    problem = _roll(25, seed)
    noise = rng.standard_normal((25, 25))
    cost = np.eye(25) + 0.1 * (noise + noise.T)
    if seed % 2:
        cost = sp.csr_array(np.where(np.abs(cost) > 0.2, cost, 0.0))
    problem = replace(problem, objective=cost)
    _, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert -certificate.primal == pytest.approx(judge.primal, rel=CLARABEL)
    assert -certificate.dual >= judge.primal * (1.0 - CLARABEL)


@pytest.mark.parametrize("seed", range(2))
def test_basis_agrees_with_clarabel(seed):
    rng = np.random.default_rng(seed)
    problem = replace(_roll(40, seed), basis=rng.standard_normal((40, 6)))
    _, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert -certificate.primal == pytest.approx(judge.primal, rel=CLARABEL)


@pytest.mark.parametrize("seed", range(3))
def test_signed_forms_agree_with_clarabel(seed):
    rng = np.random.default_rng(seed)
    factors = np.vstack([np.eye(8), rng.standard_normal((12, 8))])
    signs = np.concatenate([np.ones(8), rng.choice([1.0, -1.0], 12)])
    owner = np.concatenate([np.arange(8), 8 + np.repeat(np.arange(6), 2)])
    constraints = square_constraints(
        factors, upper=rng.uniform(0.5, 2.0, 14), signs=signs, owner=owner
    )
    noise = rng.standard_normal((8, 8))
    problem = GramSDP(8, sp.csr_array(noise + noise.T), constraints=constraints)
    last, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.primal == pytest.approx(judge.primal, rel=CLARABEL)


def test_every_iterate_is_feasible_and_bounded():
    problem = _roll(60)
    program = Program.of(problem)
    options = _options(program)
    optimum = _solve(problem)[1].dual
    for iterate in list(UpperBoundsSolver().iterates(program, options, Start()))[::7]:
        certificate = UpperBoundsSolver().certify(program, options, iterate)
        assert certificate.max_violation == 0.0
        assert certificate.dual <= optimum * (1.0 - TOL)
        assert certificate.primal >= certificate.dual


def test_rank_limit_is_told():
    n = 7
    problem = GramSDP.unfolding(n, [[i, (i + 1) % n] for i in range(n)], np.ones(n), kind="at_most")
    program = Program.of(problem)
    options = replace(_options(program), rank=1, max_rank=1)
    last = list(UpperBoundsSolver().iterates(program, options, Start()))[-1]
    assert last.status is Status.RANK_LIMIT
    assert last.certificate.dual <= -n / (2.0 * np.sin(np.pi / n)) ** 2 * (1.0 - TOL)


def test_iteration_limit_is_told_and_its_bound_is_true():
    last, certificate = _solve(_roll(60), max_iter=2)
    optimum = _solve(_roll(60))[1].primal
    assert last.status is Status.ITERATION_LIMIT
    assert certificate.dual <= optimum <= certificate.primal


def test_cost_without_descent_has_the_origin_as_optimum():
    problem = replace(_roll(30), maximize=False)
    last, certificate = _solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.primal == 0.0
    assert abs(certificate.dual) <= certificate.rounding_floor


def test_same_seed_same_bytes():
    first, second = (_solve(_roll(60))[0].Y for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_zero_bounds_and_operators_are_left_to_others():
    problem = GramSDP.unfolding(3, [[0, 1], [1, 2]], [1.0, 0.0], kind="at_most")
    assert not UpperBoundsSolver().accepts(Program.of(problem))
