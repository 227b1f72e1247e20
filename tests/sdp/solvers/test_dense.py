"""The dense interior point: a general solver's optima, valid bounds at every stop, its algebra."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from benchmarks.mixed import unrolling
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone

from isofold.exceptions import InvalidInputError, MemoryLimitError, UnboundedProblemError
from isofold.sdp import (
    ConicSDP,
    Constraints,
    DenseSDP,
    GramSDP,
    LowRankSDP,
    Status,
    square_constraints,
)
from isofold.sdp.forms import to_dense
from isofold.sdp.program import Program, reflect_off_gauge
from isofold.sdp.rules import RULES
from isofold.sdp.solvers.central_path.path import central_path
from isofold.sdp.solvers.central_path.system import PathSystem
from support.quick import quick_first
from support.sdp_checks import assert_kkt, assert_valid_bound, cost_matrix, form_matrices
from support.sdp_equalities import KINDS, blocks_and_links
from support.sdp_problems import (
    centered_gram,
    cycle,
    cycle_edges,
    path,
    path_edges,
    squared_lengths,
)
from support.sdp_random import soft, sparse_pairs

TOL = 1e-6
"""The gap asked for."""

AGREEMENT = 4 * TOL
"""The gaps of two solvers, and what the violations of hard equalities are worth to either: Σ|w|b is
of the size of the optimum."""

ROUNDING = 1e-11
"""Products of three matrices of side up to 20 with condition numbers below 1e3."""

USUAL_STEPS = 14
"""Steps of programs without extreme numbers. Eight to twelve are usual; without the centering of
steps, or without their second-order part, these programs take up to eighteen."""


each_kind = pytest.mark.parametrize("kind", KINDS)


def off_gauge(problem):
    """Return the program as the solver sees it, its system, and the basis off the gauge."""
    program = Program.of(problem).with_translation_gauge()
    return (
        program,
        PathSystem.of(program),
        reflect_off_gauge(np.eye(program.size), program.gauge),
    )


def missed_by(problem, solution):
    """Return by how much a solution misses every hard equality, recomputed."""
    return assert_valid_bound(problem, solution).violation


@pytest.mark.parametrize("seed", quick_first(range(2)))
@each_kind
def test_the_optimum_is_that_of_a_general_solver(kind, seed):
    problem = KINDS[kind](np.random.default_rng(seed))
    ours, theirs = DenseSDP(tol=TOL).solve(problem), ConicSDP(tol=TOL).solve(problem)
    # Gap, feasibility, and a slack that is positive semidefinite by all its eigenvalues.
    assert_kkt(problem, ours, TOL)
    assert not ours.certificate.is_shifted
    assert ours.n_iter <= USUAL_STEPS
    assert ours.primal == pytest.approx(theirs.primal, rel=AGREEMENT)
    # Weak duality against a point that another solver found: values as a minimum.
    sign = problem.sign
    worth = float(np.abs(ours.certificate.multipliers) @ missed_by(problem, theirs))
    floor = ours.certificate.rounding_floor + theirs.certificate.rounding_floor
    assert sign * ours.dual <= sign * theirs.primal + worth + floor


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_do_not_matter(scale):
    """Squares and weights in other units: the same steps, values to rounding of the steps."""
    rng = np.random.default_rng(0)
    pairs = sparse_pairs(rng, 8, 3)
    squared = squared_lengths(rng.standard_normal((8, 7)), pairs)
    for penalty in (None, 5.0):
        unit = DenseSDP(tol=TOL).solve(GramSDP.unfolding(8, pairs, squared, penalty=penalty))
        weight = None if penalty is None else penalty / scale
        other = DenseSDP(tol=TOL).solve(
            GramSDP.unfolding(8, pairs, scale * squared, penalty=weight)
        )
        assert unit.status is other.status is Status.CERTIFIED
        assert other.n_iter == unit.n_iter
        assert other.primal == pytest.approx(scale * unit.primal, rel=TOL)


def test_same_input_same_bytes():
    first, second = (DenseSDP().solve(blocks_and_links(np.random.default_rng(0))) for _ in range(2))
    assert first.coordinates.tobytes() == second.coordinates.tobytes()
    assert first.dual == second.dual


def test_rigid_pieces_stay_rigid():
    problem = blocks_and_links(np.random.default_rng(1))
    gram = DenseSDP().solve(problem).gram
    for first, size in problem.blocks:
        block = gram[first : first + size, first : first + size]
        np.testing.assert_allclose(block, np.eye(size), rtol=0, atol=ROUNDING)


@each_kind
def test_an_iteration_limit_ends_with_a_valid_bound(kind):
    problem = KINDS[kind](np.random.default_rng(0))
    optimum = DenseSDP(tol=TOL).solve(problem)
    for max_iter in (1, 3):
        stopped = DenseSDP(tol=1e-9, max_iter=max_iter).solve(problem)
        assert stopped.status is Status.ITERATION_LIMIT
        assert "iteration limit" in stopped.message
        assert stopped.n_iter == max_iter
        assert_valid_bound(problem, stopped)
        assert np.isfinite(stopped.dual)
        allowed = TOL * abs(optimum.primal)
        assert problem.sign * stopped.dual <= problem.sign * optimum.primal + allowed


@each_kind
def test_every_point_of_the_path_proves_a_bound(kind):
    """Both matrices stay positive definite, and hard equalities are missed less and less."""
    problem = KINDS[kind](np.random.default_rng(1))
    optimum = problem.sign * ConicSDP(tol=TOL).solve(problem).primal
    _, system, _ = off_gauge(problem)
    missed = np.inf
    for step, point in zip(range(12), central_path(system), strict=False):
        assert scipy.linalg.eigvalsh(point.G)[0] > 0.0, step
        assert scipy.linalg.eigvalsh(point.S)[0] > 0.0, step
        np.testing.assert_allclose(point.S, system.slack(point.multipliers), rtol=ROUNDING)
        assert point.dual <= optimum + AGREEMENT * abs(optimum)
        # A step takes a share of every residue away; rounding is relative to terms of the sum.
        size = np.abs(system.values(point.G)).max()
        assert point.missed <= missed * (1 + ROUNDING) + ROUNDING * size
        missed = point.missed


@each_kind
def test_the_system_is_the_program_off_its_gauge(kind):
    """Values, adjoint, slack and Schur complement against the definitions, matrix by matrix."""
    problem = KINDS[kind](np.random.default_rng(2))
    program, system, off = off_gauge(problem)
    lift = off if program.basis is None else program.basis @ off
    rng = np.random.default_rng(3)
    noise, other = rng.standard_normal((2, system.side, system.side))
    G, inverse = noise @ noise.T, other @ other.T
    matrices = [lift.T @ A @ lift for A in form_matrices(problem)]
    for first, size in program.blocks:
        for a in range(first, first + size):
            for b in range(a, first + size):
                entry = np.zeros((program.size, program.size))
                # An entry off the diagonal comes with those on it: (e_a + e_b)(e_a + e_b)ᵀ.
                entry[np.ix_([a, b], [a, b])] = 1.0
                matrices.append(lift.T @ entry @ lift)
    # Forms and targets are divided by the targets, wherever these are not zero.
    matrices = [A / unit for A, unit in zip(matrices, system.units, strict=True)]
    weights = rng.standard_normal(len(matrices))
    close = {"rtol": ROUNDING, "atol": ROUNDING * np.abs(G).max() * np.abs(inverse).max()}
    np.testing.assert_allclose(system.values(G), [np.sum(A * G) for A in matrices], **close)
    total = sum(w * A for w, A in zip(weights, matrices, strict=True))
    np.testing.assert_allclose(to_dense(system.adjoint(weights)), total, **close)
    cost = lift.T @ cost_matrix(problem) @ lift
    np.testing.assert_allclose(system.slack(weights), cost + total, **close)
    schur = [[np.sum(A * (G @ B @ inverse)) for B in matrices] for A in matrices]
    np.testing.assert_allclose(system.schur(G, inverse), schur, **close)
    targets = [] if problem.constraints is None else problem.constraints.upper
    given = (system.targets * system.units)[: system.n_given]
    np.testing.assert_allclose(given, targets, rtol=ROUNDING)
    assert set(np.abs(system.targets)) <= {0.0, 1.0}


def test_the_two_values_differ_by_the_complementarity():
    """P − D = ⟨S, G⟩ + Σ (g_e − b_e − w_e/ν_e)²·ν_e/2 for soft equalities, at any pair."""
    _, system, _ = off_gauge(soft(np.random.default_rng(4), 8).problem)
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((system.side, system.side))
    G, w = noise @ noise.T, rng.standard_normal(len(system.targets))
    values = system.values(G)
    rest = values - system.targets - system.softness * w
    between = np.sum(system.slack(w) * G) + 0.5 * np.sum(rest**2 / system.softness)
    assert system.primal(G, values) - system.dual(w) == pytest.approx(between, rel=ROUNDING)


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"max_iter": 1.5}, {"max_iter": "many"}])
def test_bad_limits(options):
    with pytest.raises(InvalidInputError, match="max_iter"):
        DenseSDP(**options).solve(path(4).problem)


@pytest.mark.parametrize("tol", [0.0, 1.0, -1e-3, np.nan, True, "small", None])
def test_bad_tolerances(tol):
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        DenseSDP(tol=tol).solve(path(4).problem)


BOUNDED = {
    "at most": lambda: unrolling(5, two_sided=False),
    "within": lambda: unrolling(5, two_sided=True),
    "an interval among equalities": lambda: _between([1.0, 1.0, 1.0], [1.0, 2.0, 1.0]),
    "soft intervals": lambda: _between([0.5, 0.9, 0.5], [1.0, 1.2, 1.0], penalty=3.0),
    "no lower bound": lambda: _between([-np.inf, 1.0, 0.5], [1.0, 1.0, 2.0]),
}


def _between(lower, upper, **options):
    constraints = Constraints.on_pairs(4, path_edges(4), lower=lower, upper=upper, **options)
    return GramSDP(4, np.eye(4), maximize=True, constraints=constraints, centered=True)


@pytest.mark.parametrize("kind", BOUNDED)
def test_bounds_have_the_optimum_of_a_general_solver(kind):
    problem = BOUNDED[kind]()
    ours, theirs = DenseSDP(tol=TOL).solve(problem), ConicSDP(tol=TOL).solve(problem)
    assert_kkt(problem, ours, TOL)
    assert ours.primal == pytest.approx(theirs.primal, rel=AGREEMENT)


def test_bounds_are_met_as_well_as_requested():
    problem = unrolling(5, two_sided=True)
    solution = DenseSDP(tol=1e-3).solve(problem, violation_tol=1e-7)
    targets = np.where(np.isfinite(problem.constraints.upper), problem.constraints.upper, 1.0)
    assert solution.status is Status.CERTIFIED
    assert solution.max_violation <= 1e-7 * targets.max()


def test_large_sides_reach_as_far_as_small_ones(monkeypatch):
    """The Lanczos method and the sparse proof, which large programs have."""
    # Rounding ends this path at a gap of a few 1e-6.
    tol = 1e-5
    problem = unrolling(8, two_sided=False)
    whole = DenseSDP(tol=tol).solve(problem)
    monkeypatch.setattr("isofold.sdp.solvers.central_path.path.DENSE_SIDE", 0)
    monkeypatch.setattr("isofold.sdp.solvers.dense.DENSE_SIDE", 0)
    other = DenseSDP(tol=tol).solve(problem)
    assert other.status is Status.CERTIFIED
    assert other.certificate.is_exact
    assert other.primal == pytest.approx(whole.primal, rel=2.0 * tol)
    assert_valid_bound(problem, other)


def test_blocks_with_bounds_are_given_to_the_interior_point_first():
    problem = unrolling(8, two_sided=True)
    first = LowRankSDP(tol=1e-5, random_state=0).solve(problem)
    assert first.status is Status.CERTIFIED
    assert first.primal == DenseSDP(tol=1e-5).solve(problem, violation_tol=1e-6).primal
    # A limit of columns asks for another method, and gets the same optimum.
    narrow = LowRankSDP(tol=1e-5, max_rank=first.rank, random_state=0).solve(problem)
    assert narrow.status is Status.CERTIFIED
    assert narrow.n_iter > first.n_iter
    assert narrow.primal == pytest.approx(first.primal, rel=2e-5)


def test_blocks_with_bounds_for_which_memory_is_short_are_solved_by_few_columns(monkeypatch):
    problem = unrolling(8, two_sided=False)
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 2**16)
    solution = LowRankSDP(tol=1e-4, random_state=0).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter > 50


def test_operators_are_refused():
    operator = aslinearoperator(np.eye(4))
    problem = GramSDP.unfolding(4, path_edges(4), np.ones(3), objective=operator)
    with pytest.raises(InvalidInputError, match="operator"):
        DenseSDP().solve(problem)


def test_unbounded_programs_are_refused():
    with pytest.raises(UnboundedProblemError, match="2 components"):
        DenseSDP().solve(GramSDP.unfolding(4, [[0, 1], [2, 3]], 1.0))


def test_a_size_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 2**20)
    with pytest.raises(MemoryLimitError, match="LowRankSDP"):
        DenseSDP().solve(path(200).problem)


def test_contradictions_are_named():
    solution = DenseSDP().solve(GramSDP.unfolding(3, cycle_edges(3), [1.0, 1.0, 9.0]))
    assert solution.status is Status.INFEASIBLE
    assert solution.certificate is None


def test_it_can_be_cloned_and_searched():
    assert clone(DenseSDP(tol=1e-4, max_iter=7)).get_params() == {"tol": 1e-4, "max_iter": 7}


def test_one_point():
    solution = DenseSDP().solve(GramSDP.unfolding(1, np.empty((0, 2), int), []))
    assert solution.status is Status.CERTIFIED
    assert solution.primal == solution.dual == 0.0


def test_duplicate_pairs_share_their_multiplier():
    known = path(4)
    problem = GramSDP.unfolding(4, np.vstack([path_edges(4), [[1, 0]]]), np.ones(4))
    solution = DenseSDP(tol=TOL).solve(problem)
    seen = assert_kkt(problem, solution, TOL)
    # Near the optimum values grow with the square of a distance from it.
    assert seen.w[0] + seen.w[3] == pytest.approx(known.multipliers[0], abs=3 * np.sqrt(TOL))


def test_soft_contradictions_are_a_compromise():
    """Sides 1, 1 and 3 with equal weights and nothing to maximize: the least squares on a line.

    Squared sides a, a and 4a: the sum of 2(a − 1)² + (4a − 9)² is least at a = 38/18.
    """
    nothing = sp.csr_array((3, 3))
    problem = GramSDP.unfolding(
        3, [[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 9.0], penalty=2.0, objective=nothing
    )
    solution = DenseSDP(tol=TOL).solve(problem)
    a = 38 / 18
    assert_kkt(problem, solution, TOL)
    assert solution.primal == pytest.approx(-(2 * (a - 1) ** 2 + (4 * a - 9) ** 2), rel=TOL)
    expected = centered_gram(np.sqrt(a) * np.array([[-1.0], [0.0], [1.0]]))
    np.testing.assert_allclose(solution.gram, expected, atol=3 * np.sqrt(TOL))


def test_a_distance_of_zero_merges_its_points():
    """Two unit steps with the middle twice: variance 2."""
    solution = DenseSDP(tol=TOL).solve(GramSDP.unfolding(4, path_edges(4), [1.0, 0.0, 1.0]))
    assert solution.status is Status.CERTIFIED
    assert solution.primal == pytest.approx(2.0, rel=AGREEMENT)
    np.testing.assert_array_equal(solution.coordinates[1], solution.coordinates[2])


def test_targets_below_zero_are_met():
    """The least trace with G₀₀ − G₁₁ = −1 is one."""
    constraints = square_constraints(
        np.eye(2), signs=[1.0, -1.0], owner=[0, 0], lower=[-1.0], upper=[-1.0]
    )
    problem = GramSDP(2, np.eye(2), constraints=constraints)
    solution = DenseSDP(tol=TOL).solve(problem)
    assert_kkt(problem, solution, TOL)
    assert solution.primal == pytest.approx(1.0, rel=AGREEMENT)


def test_soft_targets_of_zero():
    """Two steps of squared length g each cost νg²/2, and the variance of a line is 2g: g = 1/ν."""
    problem = GramSDP.unfolding(3, path_edges(3), np.zeros(2), penalty=4.0)
    solution = DenseSDP(tol=TOL).solve(problem)
    assert_kkt(problem, solution, TOL)
    assert solution.primal == pytest.approx(2 * 0.25 - 2 * 2.0 * 0.25**2, rel=AGREEMENT)


@pytest.mark.parametrize("penalty", [1e4, 1e7, 1e10])
def test_heavy_penalties_are_certified_to_the_gap_asked_for(penalty):
    known = cycle(7, penalty=penalty)
    solution = DenseSDP(tol=TOL).solve(known.problem)
    assert solution.status is Status.CERTIFIED
    # Errors of squares are of the size of rounding and of w/ν, and their cost is rounding of ν.
    floor = 7 * penalty * np.finfo(float).eps ** 2 * 1e3
    assert solution.gap <= TOL
    assert solution.primal == pytest.approx(known.value, rel=TOL, abs=floor)
    assert solution.dual == pytest.approx(known.value, rel=TOL)


def test_nothing_to_maximize_and_all_distances_attainable():
    """The first stage of affine embeddings: the optimum is zero, which the path soon comes to."""
    nothing = sp.csr_array((5, 5))
    problem = GramSDP.unfolding(5, path_edges(5), np.ones(4), penalty=2.0, objective=nothing)
    solution = DenseSDP(tol=TOL).solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.n_iter <= USUAL_STEPS
    # At the origin the value is −4.
    assert -TOL <= solution.primal <= 0.0 <= solution.dual <= TOL
    lengths = squared_lengths(solution.coordinates, path_edges(5))
    np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=np.sqrt(TOL))


def test_without_a_start_nothing_is_certified_that_misses_an_equality():
    """No slack is positive definite where a row is seen by nothing: the origin is no answer."""
    constraints = square_constraints(np.array([[1.0, 0.0]]), lower=[1.0], upper=[1.0])
    problem = GramSDP(2, np.diag([1.0, 0.0]), constraints=constraints)
    solution = DenseSDP(tol=TOL).solve(problem)
    assert_valid_bound(problem, solution)
    assert solution.status is not Status.CERTIFIED or solution.max_violation <= TOL


def test_equalities_that_contradict_each_other_are_never_certified():
    """One form with two targets, which is seen only once multipliers grow without end."""
    rows = np.array([[1.0, 0.5], [1.0, 0.5]])
    problem = GramSDP(
        2, np.eye(2), constraints=square_constraints(rows, lower=[1.0, 2.0], upper=[1.0, 2.0])
    )
    solution = DenseSDP(tol=TOL).solve(problem)
    assert solution.status is not Status.CERTIFIED
    assert np.all(np.isfinite(solution.coordinates))


def test_threads_change_nothing_but_time():
    problem = cycle(9).problem
    alone = DenseSDP(tol=TOL).solve(problem)
    together = DenseSDP(tol=TOL).solve(problem, rules=replace(RULES, few_rows=3))
    assert together.status is Status.CERTIFIED
    assert together.primal == pytest.approx(alone.primal, rel=TOL)
