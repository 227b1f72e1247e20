"""Multiplier steps: derivatives, the dual repair, and what is certified on sheets."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from isofold.datasets import half_globe, holed_swiss_roll, swiss_roll
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.sdp import Constraints, GramSDP, LowRankSDP, Status, square_constraints
from isofold.sdp.dual.local_repair import repair_locally
from isofold.sdp.program import Program
from isofold.sdp.solvers.augmented.lbfgs import evaluate, line_search, minimize

TOL = 1e-3
"""What the default form promises: the gap and the median error of lengths."""

DERIVATIVE_TOL = 1e-6
"""Central differences with step 1e-5 are right to 1e-10 of the third derivative and 1e-11/1e-5 of
rounding; the functions here are of order 1 to 100."""


def unfolding(X, n_neighbors=12, **options):
    graph = build_graph(X, n_neighbors=n_neighbors)
    return GramSDP.unfolding(len(X), graph.edges, graph.lengths**2, **options)


def assert_bound_of_unfolding(problem, solution):
    """Rebuild the slack L_w − I, the value and the bound of equalities from their formulas."""
    certificate, Y = solution.certificate, solution.coordinates
    w, squared = certificate.multipliers, problem.constraints.upper
    first, second = problem.forms.pairs.T
    laplacian = np.zeros((len(Y), len(Y)))
    for i, j, sign in ((first, second, -1), (second, first, -1), (first, first, 1)):
        np.add.at(laplacian, (i, j), sign * w)
    np.add.at(laplacian, (second, second), w)
    # The constant vector is lifted out of the way.
    spectrum = np.linalg.eigvalsh(laplacian - np.eye(len(Y)) + 2.0)
    assert spectrum[0] >= -1e-12 * spectrum[-1]
    missed = np.sum((Y[first] - Y[second]) ** 2, axis=1) - squared
    center = certificate.center if certificate.is_shifted else 0.0
    penalty = certificate.penalty if certificate.is_shifted else problem.constraints.penalty
    primal = np.sum(Y**2) - np.sum(center * missed) - 0.5 * np.sum(penalty * missed**2)
    dual = w @ squared + np.sum((w - center) ** 2 / (2.0 * penalty))
    assert solution.primal == pytest.approx(primal, rel=1e-9)
    assert solution.dual == pytest.approx(dual, rel=1e-9)
    assert certificate.posed_bound == pytest.approx(
        w @ squared if certificate.is_shifted else dual, rel=1e-9
    )
    assert dual >= primal * (1.0 - 1e-12)


def small_program(rng):
    """Soft equalities, bounds and an interval on random pairs, with a random cost."""
    pairs = np.array([[i, j] for i in range(7) for j in range(i)])[rng.permutation(21)[:12]]
    lower = rng.uniform(0.5, 1.5, 12)
    upper = lower + np.repeat([0.0, 0.4, np.inf], 4)
    A = rng.standard_normal((7, 7))
    constraints = Constraints.on_pairs(7, pairs, lower=lower, upper=upper, penalty=2.0)
    problem = GramSDP(7, sp.csr_array(A + A.T), constraints=constraints, centered=True)
    return Program.of(problem)


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_the_derivative(seed):
    rng = np.random.default_rng(seed)
    program = small_program(rng)
    Y = program.center(rng.standard_normal((7, 3)))
    D = program.center(rng.standard_normal((7, 3)))
    step = 1e-5
    ahead = evaluate(program, Y + step * D).objective
    behind = evaluate(program, Y - step * D).objective
    expected = (ahead - behind) / (2 * step)
    found = np.vdot(evaluate(program, Y).gradient, D)
    assert found == pytest.approx(expected, rel=DERIVATIVE_TOL, abs=DERIVATIVE_TOL)


@pytest.mark.parametrize("seed", range(5))
def test_the_line_search_finds_a_stationary_step_of_equalities(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 3))
    problem = unfolding(X, n_neighbors=3, penalty=1.0)
    program = Program.of(problem)
    point = evaluate(program, rng.standard_normal((8, 3)))
    following = line_search(program, point, -point.gradient)
    assert following.objective < point.objective
    slope = np.vdot(following.gradient, point.gradient) / np.vdot(point.gradient, point.gradient)
    # The step solves a cubic in double precision, so the slope vanishes to its rounding.
    assert abs(slope) < 1e-7


def test_descent_without_curvature_goes_on_to_a_bound():
    """Inside of an interval the objective is concave: only the bound ends the step."""
    constraints = Constraints.on_pairs(2, [[0, 1]], lower=1.0, upper=4.0, penalty=10.0)
    problem = GramSDP(2, np.eye(2), maximize=True, constraints=constraints, centered=True)
    program = Program.of(problem)
    point = evaluate(program, np.array([[0.6, 0.0], [-0.6, 0.0]]))
    last = list(minimize(program, point, max_iter=50, residual_tol=1e-10))[-1]
    # −g/2 + 5(g − 4)² is least at g = 4.05.
    np.testing.assert_allclose(last.values, 4.05, rtol=1e-9)


def test_the_repair_is_dual_feasible_and_cheap():
    X = swiss_roll(500, width=10.0, turns=1.0, uniform=True, random_state=0).X
    program = Program.of(unfolding(X))
    w = LowRankSDP(random_state=0).solve(unfolding(X)).certificate.multipliers
    rng = np.random.default_rng(0)
    noisy = w + 0.02 * np.abs(w).mean() * rng.standard_normal(len(w))
    repaired, _ = repair_locally(program, noisy, tol=1e-5)
    slack = program.slack(repaired.multipliers).toarray()
    gauge = program.gauge
    values = np.linalg.eigvalsh(slack + 10.0 * np.outer(gauge, gauge))
    assert values[0] >= -1e-9  # rounding of LAPACK: 500·u·‖S‖
    assert repaired.is_exact
    upper = program.envelope.upper
    floor = np.linalg.eigvalsh(program.slack(noisy).toarray() + 10.0 * np.outer(gauge, gauge))[0]
    raised_everywhere = (
        noisy + -floor / np.linalg.eigvalsh(program.forms.adjoint(np.ones(len(w))).toarray())[1]
    )
    assert repaired.multipliers @ upper < raised_everywhere @ upper


SHEETS = {
    "roll": swiss_roll(600, width=10.0, turns=1.0, uniform=True, random_state=1),
    "noisy": swiss_roll(600, width=10.0, turns=1.0, uniform=True, noise=0.02, random_state=1),
    "hole": holed_swiss_roll(800, random_state=1),
    "globe": half_globe(600, random_state=1),
}


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_are_certified(name):
    """The default form: median length error and certified gap at most 1e-3, the bound valid."""
    problem = unfolding(SHEETS[name].X)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.gap <= TOL
    lengths = np.sqrt(problem.forms.values(solution.coordinates) / problem.constraints.upper)
    assert np.median(np.abs(lengths - 1.0)) <= TOL
    assert_bound_of_unfolding(problem, solution)
    assert solution.certificate.is_shifted
    assert any("flat" in warning for warning in solution.warnings)


def test_a_roll_is_unrolled():
    data = SHEETS["roll"]
    solution = LowRankSDP(random_state=0).solve(unfolding(data.X))
    Y = solution.coordinates[:, :2]
    moved = procrustes(Y, data.truth).transform.apply(Y)
    error = np.linalg.norm(moved - data.truth) / np.linalg.norm(data.truth - data.truth.mean(0))
    # Chords are shorter than arcs by κ²s²/24, below 1e-3 here; the median length error is 1e-3.
    assert error < 0.02


def test_the_soft_form_is_certified_as_posed():
    problem = unfolding(SHEETS["roll"].X, penalty=1.0)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert not solution.certificate.is_shifted
    assert solution.gap <= 1e-4
    assert_bound_of_unfolding(problem, solution)


def test_the_bound_on_the_posed_problem_holds_for_the_truth():
    """The flat sheet itself is feasible with its own lengths: no bound may exclude it."""
    truth = SHEETS["roll"].truth
    problem = unfolding(truth)
    solution = LowRankSDP(random_state=0).solve(problem)
    variance = float(np.sum((truth - truth.mean(axis=0)) ** 2))
    assert solution.certificate.posed_bound >= variance * (1.0 - 1e-9)
    assert solution.primal == pytest.approx(variance, rel=5 * TOL)


def test_an_operator_objective_is_solved_and_marked_inexact():
    X = np.random.default_rng(0).standard_normal((40, 3))
    exact = LowRankSDP(random_state=0).solve(unfolding(X, n_neighbors=6, penalty=1.0))
    problem = unfolding(X, n_neighbors=6, penalty=1.0, objective=aslinearoperator(sp.eye_array(40)))
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.INEXACT_CERTIFICATE
    assert not solution.certificate.is_exact
    # Both gaps are at most 1e-4 of the optimum.
    assert solution.primal == pytest.approx(exact.primal, rel=2e-4)


def test_contradictions_without_triangles_are_proved():
    """Four points pairwise at least 1 apart but all within 0.6 of a fifth: no space holds them."""
    pairs = [[i, j] for i in range(4) for j in range(i)] + [[4, i] for i in range(4)]
    lower = [1.0] * 6 + [0.0] * 4
    upper = [4.0] * 6 + [0.36] * 4
    constraints = Constraints.on_pairs(5, pairs, lower=lower, upper=upper)
    problem = GramSDP(5, np.eye(5), constraints=constraints, centered=True)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.INFEASIBLE
    assert np.all(np.isfinite(solution.coordinates))


def test_a_pure_feasibility_problem_is_certified():
    """Without a cost every feasible point is optimal: the value and its bound are zero."""
    X = np.random.default_rng(0).standard_normal((15, 2))
    graph = build_graph(X, n_neighbors=4)
    squared = graph.lengths**2
    constraints = Constraints.on_pairs(15, graph.edges, lower=0.9 * squared, upper=1.1 * squared)
    problem = GramSDP(15, np.zeros((15, 15)), constraints=constraints, centered=True)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.primal == solution.dual == 0.0
    values = problem.forms.values(solution.coordinates)
    assert np.all(values <= 1.1 * squared * (1.0 + 1e-5))
    assert np.all(values >= 0.9 * squared * (1.0 - 1e-5))


def test_soft_pairs_between_merged_points_keep_their_price():
    """All points are one; a soft pair that should be 2 apart then costs (ν/2)·4² = 8."""
    constraints = Constraints.on_pairs(
        3,
        [[0, 1], [1, 2], [0, 2]],
        lower=[0, 0, 4.0],
        upper=[0, 0, 4.0],
        penalty=[np.inf] * 2 + [1],
    )
    problem = GramSDP(3, np.eye(3), maximize=True, constraints=constraints, centered=True)
    solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.primal == pytest.approx(-8.0)
    assert solution.dual == pytest.approx(-8.0)


def test_old_multipliers_of_inactive_bounds_certify_nothing():
    """A shifted problem is worth −w̄²/(2ν) for every inactive bound; no gap hides behind that."""
    rng = np.random.default_rng(5)
    factors, n = rng.standard_normal((10, 40)), 40
    Y = rng.standard_normal((n, 3))
    values = np.sum((factors @ Y) ** 2, axis=1)
    rows = np.vstack([factors, np.eye(n)])
    owner = np.concatenate([np.arange(10), np.full(n, 10)])
    total = float(np.sum(Y**2))
    A = rng.standard_normal((n, n))
    problem = GramSDP(
        n,
        A + A.T,
        constraints=square_constraints(
            rows,
            owner=owner,
            lower=[*(0.8 * values), 0.0],
            upper=[*(1.2 * values), 1.5 * total],
        ),
    )
    solution = LowRankSDP(tol=1e-4, random_state=0, max_seconds=5.0).solve(problem)
    # Y is feasible, so that no bound may lie above its value.
    assert solution.certificate.posed_bound <= float(np.sum(Y * ((A + A.T) @ Y)))
    # No point within the trace bound is worth less than λ_min·trace.
    least = float(np.linalg.eigvalsh(A + A.T)[0]) * 1.5 * total
    if solution.status is Status.CERTIFIED:
        assert solution.primal >= least * (1.0 + 1e-3)
