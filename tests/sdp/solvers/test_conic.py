"""ConicSDP: what it refuses, what it says, and that its bound is its own work."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone

from isofold.exceptions import (
    InvalidInputError,
    MemoryLimitError,
    MissingDependencyError,
    UnboundedProblemError,
)
from isofold.sdp import Constraints, GramSDP, Status
from isofold.sdp.dual.certify import certify_dense
from isofold.sdp.preflight.inspection import Preflight
from isofold.sdp.program import Program, reflect_off_gauge
from isofold.sdp.solvers.conic import ConicSDP
from support.sdp_checks import assert_kkt, assert_valid_bound
from support.sdp_problems import consistent_patches, cycle, cycle_edges, path, path_edges
from support.sdp_random import strings

each_name = pytest.mark.parametrize("name", ["clarabel", "scs"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "mosek"}, "must be one of"),
        ({"tol": 0.0}, "between 0 and 1"),
        ({"tol": "small"}, "between 0 and 1"),
        ({"max_seconds": -1.0}, "positive"),
        ({"max_points": 0}, "max_points"),
        ({"max_points": 4}, "LowRankSDP"),
    ],
)
def test_options_are_checked(options, words):
    with pytest.raises(InvalidInputError, match=words):
        ConicSDP(**options).solve(path(5).problem)


def test_a_size_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 2**20)
    with pytest.raises(MemoryLimitError, match="LowRankSDP"):
        ConicSDP().solve(path(60).problem)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingDependencyError, match="conic"):
        ConicSDP().solve(path(3).problem)


def test_it_can_be_cloned_and_searched():
    solver = clone(ConicSDP(solver="scs", tol=1e-4))
    assert solver.get_params() == {
        "solver": "scs",
        "tol": 1e-4,
        "max_seconds": None,
        "max_points": 500,
    }


@each_name
def test_contradictions_are_named(name):
    """A side longer than the two others together."""
    problem = GramSDP.unfolding(3, cycle_edges(3), [1.0, 1.0, 9.0])
    solution = ConicSDP(solver=name).solve(problem)
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate is None


@each_name
def test_the_solver_sees_contradictions_and_unboundedness_itself(name, monkeypatch):
    nothing = Preflight()
    monkeypatch.setattr("isofold.sdp.reduction.inspect_program", lambda *_, **__: nothing)
    solver = ConicSDP(solver=name)
    contradiction = GramSDP.unfolding(3, cycle_edges(3), [1.0, 1.0, 9.0])
    assert solver.solve(contradiction).status is Status.INFEASIBLE
    with pytest.raises(UnboundedProblemError, match="without end"):
        solver.solve(GramSDP.unfolding(3, [[0, 1]], [1.0]))


@each_name
def test_a_time_limit_ends_with_a_valid_bound(name):
    problem = strings(np.random.default_rng(0), 40).problem
    solution = ConicSDP(solver=name, tol=1e-9, max_seconds=1e-3).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert name in solution.message
    assert_valid_bound(problem, solution)


@each_name
def test_one_point_and_no_constraints(name):
    solution = ConicSDP(solver=name).solve(GramSDP.unfolding(1, np.empty((0, 2), int), []))
    assert solution.status is Status.CERTIFIED
    assert solution.primal == solution.dual == 0.0
    np.testing.assert_array_equal(solution.coordinates, np.zeros((1, 1)))


def test_an_objective_may_be_an_operator():
    known = cycle(6)
    operator = aslinearoperator(sp.eye_array(6, format="csr"))
    problem = GramSDP.unfolding(6, cycle_edges(6), np.ones(6), objective=operator)
    solution = ConicSDP().solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.primal == pytest.approx(known.value, rel=1e-5)


def test_duplicate_pairs_share_their_multiplier():
    """Both copies of a step count; together they carry what one would."""
    known = path(4)
    edges = np.vstack([path_edges(4), [[1, 0]]])
    problem = GramSDP.unfolding(4, edges, np.ones(4))
    solution = ConicSDP().solve(problem)
    seen = assert_kkt(problem, solution, 1e-6)
    assert seen.w[0] + seen.w[3] == pytest.approx(known.multipliers[0], abs=1e-3)


def test_wrong_multipliers_still_give_a_true_bound():
    """Whatever numbers come in, the bound that goes out holds."""
    rng = np.random.default_rng(3)
    for known in (path(6), path(6, "at_most"), cycle(5, penalty=3.0)):
        program = Program.of(known.problem)
        for _ in range(20):
            w = known.multipliers + rng.standard_normal(len(known.multipliers))
            certificate = certify_dense(program, np.zeros((program.size, 1)), w, None)
            assert -certificate.dual >= known.value * (1 - 1e-12)


def test_wrong_block_multipliers_still_give_a_true_bound():
    known = consistent_patches(4, 2)
    program = Program.of(known.problem)
    rng = np.random.default_rng(4)
    Y = np.zeros((program.size, 1))
    for _ in range(20):
        noise = np.zeros((program.size, program.size))
        for first, size in program.blocks:
            block = rng.standard_normal((size, size))
            noise[first : first + size, first : first + size] = block + block.T
        certificate = certify_dense(program, Y, np.empty(0), sp.csr_array(noise))
        assert certificate.dual <= 1e-12 * abs(program.cost).sum()
        assert np.isfinite(certificate.dual)


def test_a_bound_on_the_trace_pays_for_what_nothing_else_can_mend():
    """Only lower bounds and a maximum: without a trace bound there is no dual point at all."""
    constraints = Constraints.on_pairs(3, path_edges(3), lower=1.0)
    open_problem = GramSDP(
        3, sp.eye_array(3), maximize=True, constraints=constraints, centered=True
    )
    Y, w = np.zeros((3, 1)), np.zeros(2)
    assert certify_dense(Program.of(open_problem), Y, w, None).dual == -np.inf
    bounded = GramSDP(
        3,
        sp.eye_array(3),
        maximize=True,
        constraints=constraints,
        centered=True,
        trace_bound=5.0,
    )
    assert certify_dense(Program.of(bounded), Y, w, None).dual == pytest.approx(-5.0)


def test_the_basis_off_the_gauge_is_orthonormal():
    gauge = np.random.default_rng(0).standard_normal(7)
    gauge /= np.linalg.norm(gauge)
    basis = reflect_off_gauge(np.eye(7), gauge)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(gauge @ basis, 0.0, atol=1e-14)
    np.testing.assert_allclose(reflect_off_gauge(sp.eye_array(7), gauge).todense(), basis)
