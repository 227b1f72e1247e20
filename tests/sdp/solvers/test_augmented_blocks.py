"""Blocks and constraints together: an independent solver, contradictions, bounds at every stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.mixed import joining, unrolling

from isofold.sdp.dual.farkas import proves_infeasible
from isofold.sdp.problem import Constraints, GramSDP
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.augmented_blocks.lagrangian import Lagrangian
from isofold.sdp.solvers.augmented_blocks.search import AugmentedBlocksSolver
from isofold.sdp.solvers.augmented_blocks.tangent_newton import TangentNewton
from isofold.sdp.solvers.conic import ConicSDP
from isofold.sdp.solvers.protocol import Options, Start
from isofold.sdp.stiefel import StiefelProduct

TOL = 1e-5
"""The gap asked for."""

VIOLATION = 1e-6
"""The relative violation asked for. With multipliers of the size of the cost it changes the value
by no more than a few times that."""

AGREEMENT = 3e-5
"""The gap asked for, that of Clarabel, and what the violation is worth."""

KINDS = {
    "equal": lambda d: {"lower": d, "upper": d},
    "at most": lambda d: {"upper": 0.8 * d},
    "at least": lambda d: {"lower": 1.2 * d},
    "interval": lambda d: {"lower": 0.7 * d, "upper": 0.9 * d},
    "soft": lambda d: {"lower": 0.5 * d, "upper": 0.5 * d, "penalty": 3.0},
}


def _options(program, *, max_iter=100, max_rank=12):
    rank = int(program.blocks[:, 1].max())
    return Options(
        tol=TOL,
        violation_tol=VIOLATION,
        rank=rank,
        max_rank=max(rank, max_rank),
        penalty=16.0,
        max_iter=max_iter,
        seed=0,
    )


def _instance(seed, kind, *, sizes=(2, 2, 3, 1), n_free=4):
    """Return a problem with a Gram matrix of full rank inside, so that it is strictly feasible."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    blocks = np.column_stack([first, sizes])
    n_rows = int(np.sum(sizes))
    n = n_rows + n_free
    noise = rng.standard_normal((n, n))
    cost = noise + noise.T
    cost[n_rows:, n_rows:] = 6.0 * np.eye(n_free) + 0.3 * cost[n_rows:, n_rows:]
    Y = StiefelProduct(blocks, n).random_point(n, rng)
    Y[n_rows:] = rng.standard_normal((n_free, n)) / np.sqrt(n)
    block_of = np.concatenate(
        [np.repeat(np.arange(len(sizes)), sizes), len(sizes) + np.arange(n_free)]
    )
    candidates = [(i, j) for i in range(n) for j in range(i) if block_of[i] != block_of[j]]
    pairs = np.array(candidates)[rng.choice(len(candidates), 6, replace=False)]
    squared = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    constraints = Constraints.on_pairs(n, pairs, **KINDS[kind](squared))
    return GramSDP(n, sp.csr_array(cost), constraints=constraints, blocks=blocks)


def _solve(problem, **settings):
    program = Program.of(problem).with_translation_gauge()
    options = _options(program, **settings)
    last = list(AugmentedBlocksSolver().iterates(program, options, Start()))[-1]
    return last, last.certificate or AugmentedBlocksSolver().certify(program, options, last)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 1)) for seed in range(4)]
)
def test_agrees_with_clarabel(kind, seed):
    problem = _instance(seed, kind)
    last, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.primal == pytest.approx(judge.primal, rel=AGREEMENT)
    assert certificate.dual <= judge.primal + AGREEMENT * abs(judge.primal)
    assert certificate.is_exact


def test_blocks_stay_orthonormal():
    problem = _instance(0, "interval")
    last, _ = _solve(problem)
    for first, size in problem.blocks:
        block = last.Y[first : first + size]
        np.testing.assert_allclose(block @ block.T, np.eye(size), atol=1e-12)


def test_bound_of_every_iterate_is_true():
    problem = _instance(1, "at most")
    program = Program.of(problem).with_translation_gauge()
    optimum = ConicSDP(tol=1e-7).solve(problem).primal
    options = _options(program)
    for iterate in list(AugmentedBlocksSolver().iterates(program, options, Start()))[::5]:
        assert AugmentedBlocksSolver().certify(
            program, options, iterate
        ).dual <= optimum + 1e-6 * abs(optimum)


def test_translations_need_no_trace_bound():
    """Rigid pieces joined at one shared point each: the optimum is zero, and so is the bound."""
    rng = np.random.default_rng(3)
    n_pieces, r = 5, 2
    n_rows = n_pieces * r
    n = n_rows + n_pieces
    rows = []
    for i in range(n_pieces):
        for j in range(i):
            row = np.zeros(n)
            row[i * r : i * r + r], row[j * r : j * r + r] = rng.standard_normal((2, r))
            row[n_rows + i], row[n_rows + j] = 1.0, -1.0
            rows.append(row)
    factors = np.array(rows)
    pairs = [[n_rows + i, n_rows + i + 1] for i in range(n_pieces - 1)]
    constraints = Constraints.on_pairs(n, pairs, upper=0.5)
    blocks = [[i * r, r] for i in range(n_pieces)]
    problem = GramSDP(n, sp.csr_array(factors.T @ factors), constraints=constraints, blocks=blocks)
    last, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.primal == pytest.approx(judge.primal, rel=AGREEMENT)


@pytest.mark.parametrize(
    "problem",
    [unrolling(8, two_sided=False), unrolling(8, two_sided=True), joining(8)],
    ids=["strings", "intervals", "equalities"],
)
def test_rigid_pieces_agree_with_clarabel(problem):
    """Pieces of a rolled sheet, flat and rigid, with bounds between points of different pieces."""
    last, certificate = _solve(problem)
    judge = ConicSDP(tol=1e-6).solve(problem)
    assert last.status is Status.CERTIFIED
    assert certificate.primal == pytest.approx(problem.sign * judge.primal, rel=AGREEMENT)


def test_inverse_hessian_inverts_the_hessian():
    """Where the Hessian is positive definite off common rotations, its inverse undoes it."""
    problem = _instance(0, "soft")
    last, _ = _solve(problem)
    program = Program.of(problem)
    manifold = StiefelProduct(program.blocks, program.size)
    Y, objective = last.Y, Lagrangian(program)
    multipliers = manifold.multipliers(Y, objective.gradient(Y))
    inverse, product = TangentNewton(program, manifold).inverse_at(Y), objective.hessian(Y)

    def hessian(V):
        return manifold.project(Y, product(V) - manifold.multiply(multipliers, V))

    V = manifold.project(Y, np.random.default_rng(0).standard_normal(Y.shape))
    image = hessian(V)
    # Along null directions the inverse is arbitrary; their image is zero.
    np.testing.assert_allclose(hessian(inverse(image)), image, atol=1e-5 * np.abs(image).max())


def test_contradictory_bounds_are_proved():
    """Two unit vectors cannot be farther apart than 2."""
    constraints = Constraints.on_pairs(2, [[0, 1]], lower=5.0)
    problem = GramSDP(2, sp.eye_array(2), constraints=constraints, blocks=[[0, 1], [1, 1]])
    last, _ = _solve(problem)
    assert last.status is Status.INFEASIBLE


def test_farkas_sees_a_violated_triangle_inequality():
    """Sides 1, 1 and 3: the largest is longer than the path over the third point."""
    squared = np.array([1.0, 1.0, 9.0])
    problem = GramSDP.unfolding(3, [[0, 1], [1, 2], [0, 2]], squared)
    program = Program.of(problem)
    # (a + b)² ≤ 2a² + 2b²: the weights 2, 2, −1 have a positive semidefinite sum.
    weights = np.array([2.0, 2.0, -1.0])
    assert proves_infeasible(program, weights)
    assert not proves_infeasible(program, -weights)
    possible = replace(program.envelope, lower=squared / [1, 1, 3], upper=squared / [1, 1, 3])
    assert not proves_infeasible(program.with_envelope(possible), weights)


def test_iteration_limit_is_told():
    last, certificate = _solve(_instance(0, "equal"), max_iter=1)
    assert last.status is Status.ITERATION_LIMIT
    assert np.isfinite(certificate.primal)


def test_same_seed_same_bytes():
    first, second = (_solve(_instance(0, "at most"))[0].Y for _ in range(2))
    assert first.tobytes() == second.tobytes()
