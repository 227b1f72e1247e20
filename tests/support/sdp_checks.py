"""What every answer to a `GramSDP` must satisfy, recomputed with loops and dense algebra.

Nothing of the package's own operators, envelopes or probes is used: only the data of the problem
and what the solver reports.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from isofold.sdp import DenseSDP, LowRankSDP, Status
from isofold.sdp.solvers.conic import ConicSDP

SOLVER_TOL = 1e-6
SOLVERS = [
    LowRankSDP(tol=SOLVER_TOL, violation_tol=SOLVER_TOL, random_state=0),
    ConicSDP(solver="clarabel", tol=SOLVER_TOL),
    ConicSDP(solver="scs", tol=SOLVER_TOL),
    DenseSDP(tol=SOLVER_TOL),
]

# Sums of a few hundred products of numbers near their largest term: some hundred roundings.
ROUNDING = 1e-13


def solver_name(solver):
    if isinstance(solver, DenseSDP):
        return "dense"
    return getattr(solver, "solver", "low rank")


def takes(solver, problem):
    """Tell whether a problem is of the kind that a solver is for: `DenseSDP` takes equalities."""
    if not isinstance(solver, DenseSDP) or problem.constraints is None:
        return True
    return bool(np.all(problem.constraints.lower == problem.constraints.upper))


def dense(matrix):
    return np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, dtype=float)


def form_matrices(problem):
    """Return every A_e as a dense matrix."""
    if problem.constraints is None:
        return []
    forms, n = problem.constraints.forms, problem.n_points
    if hasattr(forms, "pairs"):
        matrices = []
        for i, j in forms.pairs:
            A = np.zeros((n, n))
            A[i, i] = A[j, j] = 1.0
            A[i, j] = A[j, i] = -1.0
            matrices.append(A)
        return matrices
    matrices = [np.zeros((n, n)) for _ in range(forms.n_forms)]
    factors = dense(forms.factors)
    for k, owner in enumerate(forms.owner):
        matrices[owner] += forms.signs[k] * np.outer(factors[k], factors[k])
    return matrices


def cost_matrix(problem):
    """Return C of the minimum; an operator is applied to unit vectors."""
    objective = problem.objective
    if problem.has_operator:
        objective = np.column_stack([objective @ unit for unit in np.eye(problem.n_points)])
    return -dense(objective) if problem.maximize else dense(objective)


def allowed_directions(problem):
    """Return an orthonormal basis of the columns that Y may have."""
    n = problem.n_points
    basis = np.eye(n) if problem.basis is None else scipy.linalg.orth(dense(problem.basis))
    if not problem.centered:
        return basis
    mean = np.ones((1, n)) @ basis
    # A basis that is centered already loses nothing.
    return basis if np.linalg.norm(mean) < 1e-9 * n else basis @ scipy.linalg.null_space(mean)


def interval_price(w, lower, upper):
    """Return h*(w), what a multiplier pays for the bound that it leans on."""
    if w == 0.0:
        return 0.0
    return w * (upper if w > 0 else lower)


def interval_cost(g, lower, upper, penalty, center):
    """Return ψ(g) = max over w of w·g − h*(w) − (w − w̄)²/(2ν) by its three candidates."""
    candidates = {0.0}
    if np.isfinite(upper):
        candidates.add(max(0.0, center + penalty * (g - upper)))
    if np.isfinite(lower):
        candidates.add(min(0.0, center + penalty * (g - lower)))
    return max(
        w * g - interval_price(w, lower, upper) - (w - center) ** 2 / (2 * penalty)
        for w in candidates
    )


class Recomputed:
    """Values, slack and violations of a solution by their definitions, in the minimum's sense."""

    def __init__(self, problem, solution):
        certificate = solution.certificate
        self.problem, self.solution, self.certificate = problem, solution, certificate
        G = solution.coordinates @ solution.coordinates.T
        C, forms = cost_matrix(problem), form_matrices(problem)
        self.values = np.array([np.sum(A * G) for A in forms])
        w = np.asarray(certificate.multipliers, dtype=float)
        assert w.shape == (len(forms),), "one multiplier for every form"
        n = problem.n_points
        blocks = certificate.block_multipliers
        Lambda = np.zeros((n, n)) if blocks is None else dense(blocks)
        S, terms = C - Lambda, np.abs(C) + np.abs(Lambda)
        for weight, A in zip(w, forms, strict=True):
            S, terms = S + weight * A, terms + np.abs(weight * A)
        self.slack_scale = float(terms.sum(axis=1).max())
        self.w, self.S, self.G, self.Lambda = w, S, G, Lambda
        self._bounds()
        self.linear = float(np.sum(C * G))
        self.linear_scale = float(np.sum(np.abs(C) * np.sqrt(np.outer(np.diag(G), np.diag(G)))))
        self.primal = self.linear + sum(
            interval_cost(*numbers)
            for numbers in zip(
                self.values, self.lower, self.upper, self.penalty, self.center, strict=True
            )
            if np.isfinite(numbers[3])
        )
        terms = [
            interval_price(*numbers[:3]) + (numbers[0] - numbers[4]) ** 2 / (2 * numbers[3])
            for numbers in zip(w, self.lower, self.upper, self.penalty, self.center, strict=True)
        ]
        self.dual = float(np.trace(Lambda)) - sum(terms)
        self.dual_scale = float(np.abs(np.diag(Lambda)).sum() + np.abs(terms).sum())

    def _bounds(self):
        constraints, certificate = self.problem.constraints, self.certificate
        m = len(self.values)
        self.lower = np.zeros(0) if constraints is None else constraints.lower
        self.upper = np.zeros(0) if constraints is None else constraints.upper
        hard = np.zeros(0) if constraints is None else constraints.penalty
        outside = np.maximum(np.maximum(self.lower - self.values, self.values - self.upper), 0.0)
        self.violation = np.where(np.isinf(hard), outside, 0.0)
        self.penalty, self.center = hard, np.zeros(m)
        if certificate.is_shifted:
            assert certificate.penalty is not None, "a shifted problem needs its center and penalty"
            assert certificate.center is not None, "a shifted problem needs its center and penalty"
            self.penalty, self.center = certificate.penalty, certificate.center

    @property
    def bound_scale(self):
        bounds = np.concatenate([self.lower, self.upper])
        return float(np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))

    def shift_matrix(self):
        """Return what the reported shift multiplies: block rows, or all if there are no blocks."""
        problem = self.problem
        if not problem.n_blocks:
            return np.eye(problem.n_points)
        diagonal = np.zeros(problem.n_points)
        for first, size in problem.blocks:
            diagonal[first : first + size] = 1.0
        return np.diag(diagonal)

    def shift_price(self):
        """Return the trace that the shift is paid for with."""
        problem = self.problem
        if problem.n_blocks:
            return float(np.trace(self.shift_matrix()))
        return float("nan") if problem.trace_bound is None else problem.trace_bound


def assert_valid_bound(problem, solution):
    """Assert all that must hold of any answer, also one that was stopped early."""
    certificate = solution.certificate
    sign = -1.0 if problem.maximize else 1.0
    seen = Recomputed(problem, solution)
    rounding = ROUNDING * max(1e-300, seen.linear_scale + seen.dual_scale)
    rounding += certificate.rounding_floor
    B = allowed_directions(problem)
    Y = solution.coordinates
    assert np.allclose(B @ (B.T @ Y), Y, rtol=0, atol=1e-9 * (1 + np.abs(Y).max()))
    for first, size in problem.blocks if problem.n_blocks else ():
        block = seen.G[first : first + size, first : first + size]
        np.testing.assert_allclose(block, np.eye(size), rtol=0, atol=1e-9)

    # The values that are stated are those of the definition.
    assert sign * solution.primal == np.float64(sign * certificate.primal)
    assert abs(sign * solution.primal - seen.primal) <= 10 * rounding, "primal value"
    worst = float(seen.violation.max(initial=0.0))
    assert abs(certificate.max_violation - worst) <= ROUNDING * 10 * (1 + seen.bound_scale)
    if not np.isfinite(solution.dual):
        assert sign * solution.dual < 0, "a missing bound lies on the useless side"
        return seen

    # Signs: a multiplier leans only on a bound that is there.
    assert np.all(np.isfinite(seen.upper[seen.w > 0]))
    assert np.all(np.isfinite(seen.lower[seen.w < 0]))

    # The slack, shifted as stated, is positive semidefinite on what Y may be.
    shifted = B.T @ (seen.S + certificate.shift * seen.shift_matrix()) @ B
    spectrum = scipy.linalg.eigvalsh((shifted + shifted.T) / 2) if len(shifted) else np.zeros(1)
    if certificate.is_exact:
        assert spectrum[0] >= -ROUNDING * len(spectrum) * seen.slack_scale, (
            f"the slack has an eigenvalue {spectrum[0]:.3g} (terms {seen.slack_scale:.3g})"
        )
    stated = seen.dual
    if certificate.shift > 0.0:
        stated -= certificate.shift * seen.shift_price()
    assert abs(sign * solution.dual - stated) <= 10 * rounding, "dual value"

    # Weak duality, up to what violated constraints are worth.
    excess = float(np.abs(seen.w) @ seen.violation) if not certificate.is_shifted else 0.0
    assert sign * (solution.primal - solution.dual) >= -(10 * rounding + excess), "weak duality"
    scale = max(abs(solution.primal), abs(solution.dual))
    gap = abs(solution.primal - solution.dual) / scale if scale > 0 else 0.0
    assert abs(solution.gap - gap) <= 1e-12 * (1 + gap)
    return seen


def assert_kkt(problem, solution, tol):
    """Assert that a solution is optimal to a tolerance relative to the terms of its objective.

    With P − D = ⟨S, G⟩ + Σ (ψ + ψ* − w·g), a gap of at most tol makes every one of these terms,
    none of which is negative, at most as large.
    """
    assert solution.status is Status.CERTIFIED, solution.message
    seen = assert_valid_bound(problem, solution)
    certificate = seen.certificate
    scale = max(abs(solution.primal), abs(solution.dual))
    allowed = tol * scale + certificate.rounding_floor
    assert abs(solution.primal - solution.dual) <= allowed, f"gap {solution.gap:.3g}"
    if not certificate.is_shifted:
        assert seen.violation.max(initial=0.0) <= tol * seen.bound_scale
    room = allowed + ROUNDING * (seen.linear_scale + seen.dual_scale)
    room += float(np.abs(seen.w) @ seen.violation)
    assert np.sum(seen.S * seen.G) <= 2 * room, "complementarity of slack and Gram matrix"
    for w, g, lower, upper, penalty in zip(
        seen.w, seen.values, seen.lower, seen.upper, seen.penalty, strict=True
    ):
        if np.isinf(penalty):
            assert abs(interval_price(w, lower, upper) - w * g) <= 2 * room, "complementarity"
    return seen
