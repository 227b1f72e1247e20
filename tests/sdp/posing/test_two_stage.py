"""The two stages of affine embeddings against the thesis's form, solved by a general solver."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from isofold.sdp import ConicSDP, DenseSDP, GramSDP, LowRankSDP, Status
from isofold.sdp.posing.two_stage import relative_error, stretch
from support.quick import quick_first
from support.sdp_checks import assert_kkt, dense, form_matrices
from support.sdp_problems import complete_edges, squared_lengths

TOL = 1e-7
"""The gap asked for, of either solver."""

VALUE = 1e-5
"""Agreement of values: two gaps, and errors of squares of 1e-7 at prices of some tens."""

SHAPE = 3e-3
"""Agreement of Gram matrices relative to their size: values grow with the square of a distance from
the optimum, so that a gap of 1e-7 leaves 3e-4 of it, at constants of growth of a tenth and more."""

ERROR = 1e-5
"""Least errors are the root of a value, which is known to a part of 1e-7 of a sum of ones."""

NEAR = 1.1
"""How nearly `stretch` promises to meet its budget."""

USED = 0.25
"""Which part of its budget it promises to use at least."""

EXCESS = 1e-3
"""By what part the square of the error may exceed the least one without slack."""


class Instance:
    """Points of the plane, a polynomial kernel of degree two (rank 5), and pairs to keep."""

    def __init__(self, seed, *, n=14, n_pairs=8):
        rng = np.random.default_rng(seed)
        self.X = rng.uniform(-1.5, 1.5, (n, 2))
        self.X -= self.X.mean(axis=0)
        H = np.eye(n) - 1.0 / n
        self.K = H @ (self.X @ self.X.T + 1.0) ** 2 @ H
        values, vectors = scipy.linalg.eigh(self.K)
        self.E = vectors[:, values > 1e-9 * values[-1]]
        everything = complete_edges(n)
        # Fewer than the 15 entries of a map's matrix: some freedom is left to stretch.
        chosen = np.sort(rng.choice(len(everything), n_pairs, replace=False))
        self.pairs = everything[chosen]
        others = np.delete(everything, chosen, axis=0)
        self.objective = np.zeros((n, n))
        for (i, j), square in zip(others, squared_lengths(self.X, others), strict=True):
            weight = 1.0 / (square * len(others))
            self.objective[[i, j], [i, j]] += weight
            self.objective[[i, j], [j, i]] -= weight
        self.n, self.rng = n, rng

    def own_squares(self):
        return squared_lengths(self.X, self.pairs)

    def attainable_squares(self):
        """Return the squares of a map of full rank in feature space."""
        map_ = self.rng.standard_normal((self.E.shape[1], self.E.shape[1]))
        return squared_lengths(self.E @ map_, self.pairs)

    def problem(self, squares, pairs=None):
        return GramSDP.unfolding(
            self.n,
            self.pairs if pairs is None else pairs,
            squares,
            objective=sp.csr_array(self.objective),
            basis=self.E,
        )

    def contradictory(self):
        """Return every kept pair twice, with targets that differ: no map has both."""
        squares = self.attainable_squares()
        apart = self.rng.uniform(1.05, 1.4, len(squares))
        return self.problem(
            np.concatenate([squares, apart * squares]), np.vstack([self.pairs, self.pairs])
        )

    def impossible(self):
        """Return sides 1, 1 and 3 of a triangle beside possible targets: none is least squares.

        The equations themselves have a solution (six points give fewer forms than there are
        unknowns), but it cannot be positive semidefinite.
        """
        sides = np.array([[0, 6], [6, 13], [0, 13]])
        squares = self.attainable_squares()
        size = squares.mean()
        keep = [k for k, pair in enumerate(self.pairs) if tuple(pair) not in set(map(tuple, sides))]
        return self.problem(
            np.concatenate([squares[keep], size * np.array([1.0, 1.0, 9.0])]),
            np.vstack([self.pairs[keep], sides]),
        )


def ratios(problem, G):
    """Return ⟨A_e, G⟩/b_e as an expression of G."""
    return [
        cp.sum(cp.multiply(A, G)) / b
        for A, b in zip(form_matrices(problem), problem.constraints.upper, strict=True)
    ]


def conic(problem, limit=None):
    """Return the least error, or the most stretch with an error of at most `limit`, by cvxpy."""
    basis = dense(problem.basis)
    L = cp.Variable((basis.shape[1], basis.shape[1]), PSD=True)
    errors = cp.hstack(ratios(problem, basis @ L @ basis.T)) - 1.0
    error = cp.norm(errors) / np.sqrt(len(problem.constraints.upper))
    if limit is None:
        program = cp.Problem(cp.Minimize(error))
    else:
        inner = basis.T @ dense(problem.objective) @ basis
        program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(inner, L))), [error <= limit])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=TOL, tol_gap_rel=TOL, tol_feas=TOL)
    return float(program.value)


def vech(matrix):
    """Return the lower half, with entries off the diagonal twice: ⟨M, A⟩ = vech(M)·lower(A)."""
    rows, columns = np.tril_indices(len(matrix))
    return np.where(rows == columns, 1.0, 2.0) * matrix[rows, columns]


def null_space_form(instance, problem):
    """Return A of the thesis: maximize sᵀ(α + Ūβ) with A(β) ⪰ 0, all in entries of A itself.

    ξ_ij is the half of K(e_i − e_j)(e_i − e_j)ᵀK/τ² as a vector; Q = Σ ξξᵀ, α = Q⁺ Σ ξ, Ū a basis
    of the null space of Q, and β is free (equations 2.7 to 2.16).
    """
    K, n = instance.K, instance.n
    xi = np.array(
        [
            vech(K @ A @ K) / b
            for A, b in zip(form_matrices(problem), problem.constraints.upper, strict=True)
        ]
    )
    Q, p = xi.T @ xi, xi.sum(axis=0)
    values, vectors = scipy.linalg.eigh(Q)
    seen = values > 1e-10 * values[-1]
    alpha = vectors[:, seen] @ ((vectors[:, seen].T @ p) / values[seen])
    rows, columns = np.tril_indices(n)
    free = vectors[:, ~seen]
    beta = cp.Variable(free.shape[1])
    entries = alpha + free @ beta
    unit = np.zeros((n * n, len(rows)))
    unit[rows * n + columns, np.arange(len(rows))] = 1.0
    unit[columns * n + rows, np.arange(len(rows))] = 1.0
    A = cp.reshape(unit @ entries, (n, n), order="C")
    s = vech(K @ dense(problem.objective) @ K)
    S = cp.Variable((n, n), PSD=True)
    # A in the null space of K changes nothing. A bound on it keeps the set of optima bounded.
    unseen = np.eye(n) - instance.E @ instance.E.T
    bounded = cp.sum(cp.multiply(unseen, A)) <= np.trace(np.linalg.pinv(K, rcond=1e-9))
    program = cp.Problem(cp.Maximize(s @ free @ beta), [S == A, bounded])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=TOL, tol_gap_rel=TOL, tol_feas=TOL)
    assert program.status == "optimal"
    return A.value


def stretch_of(problem, G):
    return float(np.sum(dense(problem.objective) * G))


@pytest.mark.parametrize("seed", quick_first(range(3)))
@pytest.mark.parametrize("kind", ["own distances", "attainable", "contradictory"])
def test_the_reduced_form_is_the_null_space_form_of_the_thesis(kind, seed):
    instance = Instance(seed)
    if kind == "contradictory":
        problem = instance.contradictory()
    elif kind == "attainable":
        problem = instance.problem(instance.attainable_squares())
    else:
        problem = instance.problem(instance.own_squares())
    result = stretch(problem, slack=0.0, solver=DenseSDP(tol=TOL))
    A = null_space_form(instance, problem)
    G = instance.K @ A @ instance.K
    ours = result.solution.gram
    assert result.weight == np.inf, result.solution.message
    assert result.least_error == pytest.approx(conic(problem), abs=ERROR)
    assert result.error == pytest.approx(result.least_error, abs=ERROR)
    assert stretch_of(problem, ours) == pytest.approx(stretch_of(problem, G), rel=VALUE)
    # The certificate is one of the stretch itself, without any cost of errors.
    assert result.solution.primal == pytest.approx(stretch_of(problem, ours), rel=VALUE)
    assert result.solution.dual >= stretch_of(problem, G) * (1.0 - VALUE)
    np.testing.assert_allclose(ours, G, rtol=0, atol=SHAPE * np.abs(G).max())
    # The same in terms of A: that part of it which the kernel sees.
    pinv = np.linalg.pinv(instance.K, rcond=1e-9, hermitian=True)
    seen = pinv @ instance.K
    expected = seen @ A @ seen.T
    spread = np.linalg.norm(pinv, 2) ** 2 * np.abs(G).max()
    np.testing.assert_allclose(pinv @ ours @ pinv, expected, rtol=0, atol=SHAPE * spread)


@pytest.mark.parametrize("seed", range(3))
def test_without_a_semidefinite_solution_of_the_equations_the_budget_is_the_least_error(seed):
    problem = Instance(seed).impossible()
    result = stretch(problem, slack=0.0, solver=DenseSDP(tol=TOL))
    least = conic(problem)
    assert result.least_error == pytest.approx(least, abs=ERROR)
    assert np.isfinite(result.weight)
    assert result.error**2 <= (1.0 + NEAR**2 * EXCESS) * least**2 + ERROR * least
    reached = stretch_of(problem, result.solution.gram)
    assert reached >= conic(problem, result.error) * (1.0 - VALUE * result.weight)
    # The soft program that was solved last is certified as such.
    assert result.solution.status is Status.CERTIFIED


@pytest.mark.parametrize("slack", [0.01, 0.1])
@pytest.mark.parametrize("kind", ["attainable", "contradictory", "impossible"])
def test_no_points_with_the_same_error_stretch_more(kind, slack):
    instance = Instance(5)
    if kind == "attainable":
        problem = instance.problem(instance.attainable_squares())
    else:
        problem = getattr(instance, kind)()
    result = stretch(problem, slack=slack, solver=DenseSDP(tol=TOL))
    least = conic(problem)
    reached = stretch_of(problem, result.solution.gram)
    assert result.error == pytest.approx(relative_error(problem, result.solution.coordinates))
    assert result.error**2 <= least**2 + (NEAR * slack) ** 2 + ERROR
    # Much of the slack is used, since more stretch is to be had for it.
    assert result.error**2 >= least**2 + (USED * slack) ** 2 - ERROR * least
    most = conic(problem, result.error)
    # The bound on stretch − λ·error² is relative to its terms.
    allowed = 2 * TOL * (reached + result.weight * result.error**2) + VALUE * most
    assert reached == pytest.approx(most, abs=allowed)
    if result.least_error is not None:
        assert result.least_error == pytest.approx(least, abs=ERROR)


def test_more_slack_stretches_more():
    instance = Instance(1)
    problem = instance.problem(instance.attainable_squares())
    reached = [
        stretch_of(problem, stretch(problem, slack=slack, solver=DenseSDP()).solution.gram)
        for slack in (0.0, 0.01, 0.05, 0.2)
    ]
    assert np.all(np.diff(reached) > 0.0)


@pytest.mark.parametrize(
    "solver",
    [LowRankSDP(tol=1e-5, violation_tol=1e-5, random_state=0), ConicSDP(tol=TOL)],
    ids=["low rank", "conic"],
)
def test_other_solvers_solve_the_same_stages(solver):
    instance = Instance(2)
    problem = instance.problem(instance.attainable_squares())
    ours = stretch(problem, slack=0.05, solver=DenseSDP(tol=TOL))
    theirs = stretch(problem, slack=0.05, solver=solver)
    # Errors of 1e-5 in the soft value, which is flat in λ near the one that both choose.
    assert theirs.weight == pytest.approx(ours.weight, rel=1e-2)
    assert stretch_of(problem, theirs.solution.gram) == pytest.approx(
        stretch_of(problem, ours.solution.gram), rel=SHAPE
    )


def test_a_known_least_error_is_believed():
    instance = Instance(3)
    problem = instance.problem(instance.own_squares())
    result = stretch(problem, slack=0.0, solver=DenseSDP(tol=TOL), least_error=0.0)
    assert result.least_error == 0.0
    assert result.weight == np.inf
    assert_kkt(problem, result.solution, TOL)


def test_without_a_basis_a_path_becomes_a_line():
    """Unit steps kept exactly, whatever the weights of the other pairs are."""
    n = 6
    pairs = complete_edges(n)
    steps = pairs[:, 1] - pairs[:, 0] == 1
    objective = np.eye(n) - 1.0 / n
    problem = GramSDP.unfolding(n, pairs[steps], np.ones(n - 1), objective=sp.csr_array(objective))
    result = stretch(problem, slack=0.0, solver=DenseSDP(tol=TOL))
    assert result.weight == np.inf
    assert result.error <= ERROR
    assert stretch_of(problem, result.solution.gram) == pytest.approx(
        n * (n * n - 1) / 12, rel=VALUE
    )


def test_relative_error_by_its_definition():
    instance = Instance(4)
    problem = instance.contradictory()
    Y = instance.E @ instance.rng.standard_normal((5, 3))
    total = 0.0
    for (i, j), square in zip(
        problem.constraints.forms.pairs, problem.constraints.upper, strict=True
    ):
        total += (np.sum((Y[i] - Y[j]) ** 2) / square - 1.0) ** 2
    expected = np.sqrt(total / len(problem.constraints.upper))
    assert relative_error(problem, Y) == pytest.approx(expected, rel=1e-12)


def test_errors_may_count_in_other_units():
    """Relative to one number for all: the mean square of absolute errors over its square."""
    instance = Instance(6)
    problem = instance.contradictory()
    squares = problem.constraints.upper
    units = np.full(len(squares), squares.mean())
    result = stretch(problem, slack=0.0, units=units, solver=DenseSDP(tol=TOL))
    errors = problem.constraints.forms.values(result.solution.coordinates) - squares
    assert result.error == pytest.approx(np.sqrt(np.mean(errors**2)) / squares.mean(), rel=1e-12)
    assert result.error == pytest.approx(
        relative_error(problem, result.solution.coordinates, units), rel=1e-12
    )
    # The least squares of two targets for one pair are their mean.
    half = len(squares) // 2
    values = problem.constraints.forms.values(result.solution.coordinates)[:half]
    mean = (squares[:half] + squares[half:]) / 2
    np.testing.assert_allclose(values, mean, rtol=0, atol=ERROR * mean.max())
    # Relative to their own targets the smaller one counts more.
    result = stretch(problem, slack=0.0, solver=DenseSDP(tol=TOL))
    values = problem.constraints.forms.values(result.solution.coordinates)[:half]
    weights = 1.0 / squares**2
    weighted = weights * squares
    mean = (weighted[:half] + weighted[half:]) / (weights[:half] + weights[half:])
    np.testing.assert_allclose(values, mean, rtol=0, atol=ERROR * mean.max())


def test_nothing_to_stretch_leaves_the_first_stage():
    instance = Instance(7)
    problem = replace(instance.contradictory(), objective=sp.csr_array((14, 14)))
    result = stretch(problem, slack=0.1, solver=DenseSDP(tol=TOL))
    assert result.error == result.least_error == pytest.approx(conic(problem), abs=ERROR)


def test_the_program_itself_is_not_changed():
    instance = Instance(0)
    problem = instance.problem(instance.own_squares())
    before = replace(problem.constraints)
    stretch(problem, slack=0.1, solver=DenseSDP())
    np.testing.assert_array_equal(problem.constraints.penalty, before.penalty)
    assert np.all(np.isinf(problem.constraints.penalty))
