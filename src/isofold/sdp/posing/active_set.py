"""Maximum variance in a basis under very many upper bounds, of which only violated ones are used.

    max tr G,   G = BZ(BZ)ᵀ,   |y_i - y_j|² ≤ d_ij² for all pairs ij

with an orthonormal centered basis B of m columns. Leaving bounds out can only raise the optimum, so
a bound of the program with some of them is one for all; and shrinking Y until the worst of the
others is met makes it feasible. The gap between the two is rigorous for all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import clone

from isofold._progress.stages import interrupted
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import UnboundedProblemError
from isofold.sdp.certificate import relative_gap
from isofold.sdp.problem import GramSDP, square_constraints
from isofold.sdp.reduction import restated
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.low_rank import LowRankSDP

__all__ = ["maximize_variance"]


def maximize_variance(
    basis: FloatArray,
    pairs: IntArray,
    squared_distances: FloatArray,
    solver: Any,
    *,
    first: BoolArray,
    rules: SolverRules = RULES,
) -> tuple[SDPSolution, BoolArray]:
    """Return the points of largest variance in a basis with no pair farther apart than given."""
    orthonormal = _centered_range(basis)
    tol = rules.active_set_gap if solver.tol is None else solver.tol
    solver = clone(solver).set_params(tol=tol / 3.0)
    used, Z = first.copy(), None
    for number in range(rules.active_set_rounds):
        factors = orthonormal[pairs[used, 0]] - orthonormal[pairs[used, 1]]
        problem = GramSDP(
            n_points=orthonormal.shape[1],
            objective=sp.eye_array(orthonormal.shape[1], format="csr"),
            maximize=True,
            constraints=square_constraints(factors, upper=squared_distances[used]),
        )
        warm = {"start": Z} if isinstance(solver, LowRankSDP) else {}
        try:
            solution = solver.solve(problem, **warm)
        except UnboundedProblemError:
            if used.all():
                raise
            used[:] = True
            continue
        Z = solution.coordinates
        Y = orthonormal @ Z
        excess = _excess(Y, pairs, squared_distances)
        unused = np.flatnonzero(~used & (excess > tol / 3.0))
        if len(unused) == 0 or number == rules.active_set_rounds - 1 or interrupted():
            break
        worst = np.argsort(-excess[unused], kind="stable")[: rules.active_set_added * len(Z)]
        used[unused[worst]] = True
    return _feasible(solution, Y, float(excess.max(initial=0.0)), tol), used


def _feasible(solution: SDPSolution, Y: FloatArray, excess: float, tol: float) -> SDPSolution:
    """Return the solution shrunk until every bound is met, with the gap that is left."""
    shrink = 1.0 / (1.0 + max(excess, 0.0))
    primal, status = solution.primal * shrink, solution.status
    gap = relative_gap(primal, solution.dual)
    if status in (Status.CERTIFIED, Status.ITERATION_LIMIT):
        status = Status.CERTIFIED if gap <= tol else Status.ITERATION_LIMIT
    return restated(
        solution,
        coordinates=Y * np.sqrt(shrink),
        primal=primal,
        dual=solution.dual,
        gap=gap,
        status=status,
        max_violation=0.0,
        reason="bounds that were still violated are met by shrinking",
    )


def _excess(Y: FloatArray, pairs: IntArray, squared: FloatArray) -> FloatArray:
    """Return by how much squared distances exceed their bounds, relatively."""
    differences = Y[pairs[:, 0]] - Y[pairs[:, 1]]
    return np.asarray(np.einsum("ij,ij->i", differences, differences) / squared - 1.0)


def _centered_range(basis: FloatArray) -> FloatArray:
    """Return orthonormal columns that span the centered columns of a basis."""
    centered = basis - basis.mean(axis=0)
    left, singular, _ = scipy.linalg.svd(centered, full_matrices=False)
    # What centering leaves of a constant direction is rounding of the basis itself.
    largest = float(np.abs(basis).max(initial=0.0)) * np.sqrt(basis.size)
    kept = singular > largest * max(basis.shape) * np.finfo(float).eps
    return np.asarray(left[:, kept])
