"""Compression of many soft pairs into few forms: an identity, not an approximation."""

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.exceptions import InvalidInputError
from isofold.sdp import ConicSDP, Constraints, GramSDP, LowRankSDP, Status, square_constraints
from isofold.sdp.posing.compression import compress
from support.sdp_checks import assert_kkt, dense, form_matrices
from support.sdp_problems import complete_edges, squared_lengths

TOL = 1e-6
# Sums of some hundred squares, of which an eigenbasis is made: squares lose half the digits that
# eigenvalues of 1e-12 of the largest leave out.
IDENTITY = 1e-9


def soft_in_a_basis(seed, *, n=25, m=4, every=1, objective=None, near=np.inf):
    """Return soft unfolding of a curved strip in a basis of smooth functions of mean zero.

    If only near pairs are kept the strip can unfold, and the basis is made orthonormal.
    """
    rng = np.random.RandomState(seed)
    t = np.sort(rng.rand(n))
    points = np.column_stack([np.cos(3 * t), np.sin(3 * t), rng.rand(n)])
    basis = np.column_stack([np.cos(np.pi * k * t) for k in range(1, m)] + [points[:, 2]])
    basis -= basis.mean(axis=0)
    if np.isfinite(near):
        basis = np.linalg.qr(basis)[0]
    pairs = complete_edges(n)[::every]
    pairs = pairs[squared_lengths(points, pairs) <= near]
    squared = squared_lengths(points, pairs)
    penalty = rng.uniform(0.5, 2.0, size=len(pairs))
    return GramSDP.unfolding(n, pairs, squared, penalty=penalty, basis=basis, objective=objective)


def value(problem, G):
    """Return the objective of a maximum with soft equalities, by its definition."""
    total = float(np.sum(dense(problem.objective) * G))
    constraints = problem.constraints
    for e, A in enumerate(form_matrices(problem)):
        error = np.sum(A * G) - constraints.upper[e]
        total -= 0.5 * constraints.penalty[e] * error**2
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("every", [1, 60], ids=["all pairs", "fewer pairs than entries"])
def test_values_differ_by_the_constant(seed, every):
    problem = soft_in_a_basis(seed, every=every)
    small = compress(problem)
    rng = np.random.RandomState(seed)
    for scale in (0.0, 0.1, 1.0, 10.0):
        factor = scale * rng.normal(size=(4, 3))
        Y = problem.basis @ factor
        expected = value(problem, Y @ Y.T)
        found = value(small.problem, factor @ factor.T) - small.constant
        terms = problem.constraints.penalty @ problem.constraints.upper**2 + abs(expected)
        assert abs(found - expected) <= IDENTITY * terms


def test_another_objective():
    objective = np.diag(np.linspace(1, 2, 25))
    problem = soft_in_a_basis(0, objective=sp.csr_array(objective))
    small = compress(problem)
    factor = np.random.RandomState(0).normal(size=(4, 2))
    Y = problem.basis @ factor
    expected = value(problem, Y @ Y.T)
    found = value(small.problem, factor @ factor.T) - small.constant
    assert found == pytest.approx(expected, rel=1e3 * IDENTITY)


def test_size_does_not_depend_on_the_pairs():
    for every in (1, 5):
        problem = compress(soft_in_a_basis(0, every=every)).problem
        assert problem.n_points == 4
        assert problem.forms.n_forms <= 10


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("near", "judge"), [(0.5, LowRankSDP(tol=TOL, random_state=0)), (np.inf, ConicSDP())]
)
def test_optimum_is_the_same(seed, near, judge):
    problem = soft_in_a_basis(seed, near=near)
    small = compress(problem)
    whole = LowRankSDP(tol=TOL, random_state=0).solve(problem)
    part = judge.solve(small.problem)
    assert_kkt(small.problem, part, TOL)
    # A gap is relative to a value that lacks the constant.
    allowed = TOL * (abs(whole.primal) + abs(part.primal)) + IDENTITY * abs(small.constant)
    assert abs(part.primal - small.constant - whole.primal) <= 2 * allowed
    # Lifted it is an answer to the original.
    lifted = small.lift(part)
    G = lifted.coordinates @ lifted.coordinates.T
    rounding = IDENTITY * (problem.constraints.penalty @ problem.constraints.upper**2)
    assert abs(lifted.primal - value(problem, G)) <= rounding
    assert lifted.dual >= whole.primal - rounding
    assert lifted.status is Status.CERTIFIED
    assert lifted.rank == part.rank


def test_only_soft_equalities_of_pairs_in_a_basis():
    soft = soft_in_a_basis(0)
    n, pairs = soft.n_points, complete_edges(soft.n_points)
    identity = sp.eye_array(n, format="csr")
    ones = np.ones(len(pairs))
    squares = square_constraints(np.eye(n), lower=1.0, upper=1.0, penalty=1.0)
    bounds = Constraints.on_pairs(n, pairs, upper=ones, penalty=ones)
    for problem in (
        GramSDP.unfolding(n, pairs, ones, penalty=1.0),
        GramSDP.unfolding(n, pairs, ones, basis=soft.basis),
        GramSDP(n, identity, maximize=True, constraints=bounds, basis=soft.basis),
        GramSDP(n, identity, maximize=True, constraints=squares, basis=soft.basis),
        GramSDP(n, identity, constraints=soft.constraints, basis=soft.basis),
        GramSDP(n, identity, maximize=True, basis=soft.basis),
    ):
        with pytest.raises(InvalidInputError, match="can be compressed"):
            compress(problem)
