"""Stitching: certified optima of orthonormal blocks with free rows, judged independently."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.stitching_problems import bent_sheet, holed_roll
from scipy.sparse.linalg import aslinearoperator

from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.sdp import GramSDP, LowRankSDP, Status
from isofold.sdp.solvers.conic import ConicSDP
from support.quick import quick_first

TOL = 1e-6
# What Clarabel is asked for and reaches on programs of this size, with room for its scaling.
CONIC_ACCURACY = 1e-5
# Dense eigenvalues of matrices of side up to 400 are right to some n·u of the norm.
EIGENVALUE_ROUNDING = 1e-12


def solve(problem, **options):
    return LowRankSDP(random_state=0, **options).solve(problem)


def random_symmetric(n, seed):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A + A.T


def random_mixed(seed, n_free=5):
    """Return blocks of sizes 1, 2, 3 with free rows among them and a definite cost."""
    rng = np.random.default_rng(seed)
    blocks, begin = [], 0
    for number, size in enumerate(rng.permutation([1, 2, 3, 2, 1, 3, 1, 2])):
        blocks.append([begin, int(size)])
        begin += int(size) + (number < n_free)
    A = rng.standard_normal((begin, begin + 3))
    return GramSDP.stitching(sp.csr_array(A @ A.T), blocks)


def schur_complement(matrix, blocks):
    """Return the dense matrix with free rows eliminated."""
    inside = np.concatenate([np.arange(first, first + size) for first, size in blocks])
    free = np.setdiff1d(np.arange(len(matrix)), inside)
    cross = matrix[np.ix_(inside, free)]
    return (
        matrix[np.ix_(inside, inside)]
        - cross @ np.linalg.pinv(matrix[np.ix_(free, free)], rcond=1e-10) @ cross.T
    )


def assert_certificate(problem, solution, *, tol=TOL):
    """Recompute primal value, feasibility, slack and bound with dense algebra."""
    C = np.asarray(problem.objective.todense())
    Y, certificate = solution.coordinates, solution.certificate
    rounding = EIGENVALUE_ROUNDING * np.abs(C).sum(axis=1).max()
    rows = int(problem.blocks[:, 1].sum())
    # CY cancels: its rounding is that of the terms of its sums, not of the sums.
    scale = 16 * np.finfo(float).eps * np.sum(np.abs(Y) * (np.abs(C) @ np.abs(Y)))
    assert np.sum(Y * (C @ Y)) == pytest.approx(solution.primal, abs=scale)
    for first, size in problem.blocks:
        block = Y[first : first + size]
        np.testing.assert_allclose(block @ block.T, np.eye(size), atol=1e-12)
    Lambda = np.asarray(certificate.block_multipliers.todense())
    slack = schur_complement(C - Lambda, problem.blocks)
    smallest = np.linalg.eigvalsh(slack)[0]
    assert smallest >= -certificate.shift - rounding
    assert abs(smallest - certificate.min_eigenvalue) <= certificate.eigenvalue_error + rounding
    bound = np.trace(Lambda) - rows * certificate.shift
    assert bound == pytest.approx(solution.dual, rel=1e-9, abs=scale)
    assert solution.dual <= solution.primal + certificate.rounding_floor
    if solution.status is Status.CERTIFIED:
        gap = solution.primal - solution.dual
        assert gap <= tol * abs(solution.primal) + certificate.rounding_floor


@pytest.mark.parametrize(("noise", "seed"), [(0.0, 0), (0.0, 1), (0.05, 0), (0.1, 2), (0.2, 0)])
def test_holed_roll_is_certified_at_rank_two(noise, seed):
    stitch = holed_roll(30_000, 130, noise=noise, seed=seed)
    solution = solve(stitch.problem)
    assert solution.status is Status.CERTIFIED
    assert_certificate(stitch.problem, solution)
    if noise <= 0.1:
        assert solution.rank == 2
        # The charts are flat, so that the sheet is right to the square of patch over radius.
        assert stitch.error(solution.coordinates) < 0.05


def test_thousand_noisy_patches():
    stitch = holed_roll(100_000, 1000, noise=0.1)
    solution = solve(stitch.problem)
    assert solution.status is Status.CERTIFIED
    assert solution.rank == 2
    assert stitch.error(solution.coordinates) < 0.02


def test_three_dimensional_sheet():
    stitch = bent_sheet(20_000, 100, noise=0.02)
    solution = solve(stitch.problem)
    assert solution.status is Status.CERTIFIED
    assert solution.rank == 3
    assert_certificate(stitch.problem, solution)
    assert stitch.error(solution.coordinates) < 0.05


@pytest.mark.parametrize("seed", quick_first(range(4)))
def test_mixed_sizes_agree_with_clarabel(seed):
    problem = random_mixed(seed)
    solution = solve(problem)
    assert solution.status is Status.CERTIFIED
    assert_certificate(problem, solution)
    judge = ConicSDP(solver="clarabel").solve(problem)
    assert solution.primal == pytest.approx(judge.primal, rel=CONIC_ACCURACY)
    # A valid bound of one solver is below every feasible value of the other.
    assert solution.dual <= judge.primal + CONIC_ACCURACY * abs(judge.primal)


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (1, 1), (2, 2), (3, 3)])
def test_rank_grows_where_the_relaxation_is_not_tight(size, seed):
    n = 24
    blocks = [[first, size] for first in range(0, n, size)]
    problem = GramSDP.stitching(sp.csr_array(random_symmetric(n, seed)), blocks)
    solution = solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.rank > size
    assert_certificate(problem, solution)
    judge = ConicSDP(solver="clarabel").solve(problem)
    assert solution.primal == pytest.approx(judge.primal, rel=CONIC_ACCURACY)
    narrow = solve(problem, max_rank=size)
    assert narrow.status is Status.RANK_LIMIT
    assert narrow.rank == size
    assert narrow.primal > solution.primal
    # The bound is that of the relaxation, found on the way, and so the gap is the true one.
    assert narrow.dual == pytest.approx(solution.dual, rel=2 * TOL)
    assert_certificate(problem, narrow)


def test_objective_as_dense_array_or_operator():
    C = random_symmetric(12, 5)
    blocks = [[first, 2] for first in range(0, 12, 2)]
    values = [
        solve(GramSDP.stitching(kind, blocks)).primal
        for kind in (C, sp.csr_array(C), aslinearoperator(C))
    ]
    np.testing.assert_allclose(values, values[0], rtol=2 * TOL)
    with pytest.raises(InvalidInputError, match="joint matrix"):
        solve(GramSDP.stitching(aslinearoperator(sp.eye_array(4000)), [[0, 4000]]))


def test_maximum_is_the_negated_minimum():
    C = sp.csr_array(random_symmetric(12, 6))
    blocks = [[first, 1] for first in range(12)]
    low = solve(GramSDP.stitching(-C, blocks))
    high = solve(GramSDP(n_points=12, objective=C, maximize=True, blocks=blocks))
    assert high.primal == pytest.approx(-low.primal, rel=2 * TOL)
    assert high.dual >= high.primal


def test_permutation_and_rotation_of_patches_change_nothing():
    problem = holed_roll(10_000, 100, noise=0.05).problem
    rng = np.random.default_rng(0)
    n_patches = problem.n_blocks
    rows = (rng.permutation(n_patches)[:, None] * 3 + np.arange(3)).ravel()
    turns = np.zeros((n_patches, 3, 3))
    turns[:, :2, :2] = np.linalg.qr(rng.standard_normal((n_patches, 2, 2)))[0]
    turns[:, 2, 2] = 1.0
    turn = sp.block_diag(list(turns), format="csr")
    moved = sp.csr_array(turn @ problem.objective[rows][:, rows] @ turn.T)
    moved = (moved + moved.T) / 2
    first, second = solve(problem), solve(GramSDP.stitching(moved, problem.blocks))
    assert first.status is second.status is Status.CERTIFIED
    assert second.primal == pytest.approx(first.primal, rel=TOL)


def test_components_are_solved_as_if_alone():
    parts = [holed_roll(10_000, 100, seed=1).problem, bent_sheet(5_000, 40, seed=2).problem]
    joint = sp.csr_array(sp.block_diag([part.objective for part in parts]))
    blocks = np.vstack([parts[0].blocks, parts[1].blocks + np.array([parts[0].n_points, 0])])
    together = solve(GramSDP.stitching(joint, blocks))
    assert together.status is Status.CERTIFIED
    alone = sum(solve(part).primal for part in parts)
    assert together.primal == pytest.approx(alone, rel=2 * TOL)


@pytest.mark.parametrize(
    ("cost", "blocks", "value"),
    [
        ([[2.0]], [[0, 1]], 2.0),
        (np.diag([1.0, 2.0, 3.0]), [[0, 3]], 6.0),
        (np.diag([1.0, 2.0, 3.0, 4.0]), [[0, 3]], 6.0),
        (np.zeros((6, 6)), [[0, 2], [3, 2]], 0.0),
        ([[0.0, 1.0], [1.0, 0.0]], [[0, 1], [1, 1]], -2.0),
        # Three unit vectors that repel each other stand at 120 degrees: 6 cos 120° = −3.
        (np.ones((3, 3)) - np.eye(3), [[0, 1], [1, 1], [2, 1]], -3.0),
        # The free row is best at minus the mean of two equal or opposite unit rows.
        ([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]], [[0, 1], [1, 1]], 0.0),
    ],
)
def test_known_answers(cost, blocks, value):
    problem = GramSDP.stitching(sp.csr_array(np.asarray(cost)), blocks)
    solution = solve(problem)
    assert solution.status is Status.CERTIFIED
    assert solution.primal == pytest.approx(value, abs=1e-6)
    assert_certificate(problem, solution)


def test_start_and_early_stop_give_true_bounds():
    problem = holed_roll(10_000, 100, noise=0.1).problem
    best = solve(problem)
    again = solve(problem, max_iter=20)
    restarted = LowRankSDP(random_state=1).solve(problem, start=best.coordinates)
    assert restarted.status is Status.CERTIFIED
    assert restarted.n_iter <= 3
    assert again.primal == pytest.approx(best.primal, rel=TOL)
    stopped = solve(problem, callback=lambda iterate: iterate.n_iter >= 1)
    assert stopped.status is Status.ITERATION_LIMIT
    assert_certificate(problem, stopped)
    assert stopped.dual <= best.primal <= stopped.primal


def test_same_seed_same_answer():
    problem = holed_roll(10_000, 100, noise=0.1).problem
    np.testing.assert_array_equal(solve(problem).coordinates, solve(problem).coordinates)


@pytest.mark.parametrize("rounding", [0.0, 1e-17, -3e-17])
def test_moments_that_are_zero_but_for_rounding(rounding):
    # Two patches of the same square, centered: the first moments vanish, and what is left of them
    # need not cancel along a translation of both.
    own, cross = np.diag([4.0, 4.0, 4.0]), np.diag([-4.0, -4.0, -4.0])
    own[0, 2] = own[2, 0] = rounding
    matrix = np.block([[own, cross], [cross, np.diag([4.0, 4.0, 4.0])]])
    solution = solve(GramSDP.stitching(sp.csr_array(matrix), [[0, 2], [3, 2]]), max_rank=2)
    assert solution.status is Status.CERTIFIED
    np.testing.assert_allclose(solution.coordinates[:3], solution.coordinates[3:], atol=TOL)


def test_indefinite_free_rows_are_unbounded():
    cost = sp.csr_array(np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(UnboundedProblemError):
        solve(GramSDP.stitching(cost, [[0, 2]]))
