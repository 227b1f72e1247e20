"""The same programs by a general conic solver, Clarabel or SCS, through CVXPY: a second opinion.

The Gram matrix itself is the variable, so nothing depends on a rank or a start, and the memory
grows with the fourth (Clarabel) or second power (SCS) of the number of points. Only the point and
the multipliers are taken from the solver. The bound that they prove is computed by
`dual.certify`: what the solver says of its own accuracy is not used.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator

from isofold._dependencies import require
from isofold._memory import require_memory
from isofold._typing import FloatArray
from isofold._validation import check_count
from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.sdp._checks import check_gap
from isofold.sdp.certificate import Certificate
from isofold.sdp.dual.certify import certify_dense
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program
from isofold.sdp.reduction import Reduced
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.conic_model import ConicModel
from isofold.sdp.solvers.protocol import Iterate, Phase
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["ConicSDP"]

SOLVERS = {"clarabel": "CLARABEL", "scs": "SCS"}
"""The solvers by their names here and in CVXPY."""

ACCURACY_ASKED = 1e-2
"""The solver is asked for residuals of this fraction of `tol`: the repair of its multipliers turns
a residual into a gap that is larger by the ratio of the trace to the objective and more."""

CLARABEL_BYTES = 50
"""Memory for each pair of entries of the matrix: the dense Hessian of the cone, its factor and
their indices. Measured: 49 to 50 for sides of 100, 120, 180 and 200 (1.3, 2.7, 13 and 20 GB)."""

SCS_BYTES = 5000
"""Memory for each entry of the matrix. Measured: 4,300 to 4,900 for sides of 400 and 200."""

SCS_MAX_ITERATIONS = 200_000
"""SCS gains a digit in some thousand cheap iterations; the time limit is what should stop it."""

INSTEAD = "Use LowRankSDP, whose memory grows with the number of constraints."


class ConicSDP(BaseEstimator):
    """Solve a `GramSDP` with a general conic solver: for small problems and as a judge.

    Needs the extra ``conic`` (``pip install "isofold[conic]"``).

    Parameters
    ----------
    solver : {"clarabel", "scs"}, default="clarabel"
        An interior-point method, accurate, or a splitting method, for somewhat larger problems.
    tol : float, default=1e-6
        Relative duality gap and relative violation up to which an answer counts as certified.
    max_seconds : float or None, default=None
        Time after which the solver stops. The bound is then what its multipliers prove.
    max_points : int, default=500
        Sizes above are refused: they would take hours.

    See Also
    --------
    LowRankSDP : The engine for problems of any size.

    Examples
    --------
    >>> from isofold.sdp import ConicSDP, GramSDP
    >>> problem = GramSDP.unfolding(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> solution = ConicSDP().solve(problem)
    >>> round(solution.primal, 4), solution.rank, solution.status.name
    (2.0, 1, 'CERTIFIED')
    """

    def __init__(
        self,
        *,
        solver: Literal["clarabel", "scs"] = "clarabel",
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_points: int = 500,
    ) -> None:
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds
        self.max_points = max_points

    def solve(self, problem: GramSDP) -> SDPSolution:
        """Return the solution of a problem with its certificate.

        Parameters
        ----------
        problem : GramSDP
            The problem.

        Returns
        -------
        SDPSolution
            The solver's point and the bound that its multipliers prove.

        Raises
        ------
        InvalidInputError
            If an option makes no sense or the problem is larger than `max_points`.
        MemoryLimitError
            If the solver would need more memory than there is.
        MissingDependencyError
            If CVXPY or the solver is not installed.
        UnboundedProblemError
            If the objective can be improved without end.
        """
        self._check_options()
        # As it was posed, without a gauge of its own or merged points: a second opinion should
        # share as little as possible with the first.
        reduced = Reduced.of(
            problem, translation_gauge=False, merged_points=False, refuse=self._refuse
        )
        if reduced.preflight.contradiction is not None:
            return reduced.infeasible()
        if isinstance(reduced.program.cost, LinearOperator):
            program = replace(reduced.program, cost=_materialized(reduced.program.cost))
            reduced = replace(reduced, program=program)
        if reduced.program.size == 1 and reduced.program.gauge is not None:
            return self._solution(reduced, _single_point(reduced.program), "optimal")
        cvxpy = require("cvxpy", extra="conic", purpose="ConicSDP")
        model = ConicModel.of(cvxpy, reduced.program)
        outcome, n_iter = self._run(cvxpy, model)
        if outcome == "infeasible":
            return reduced.infeasible(
                f"{self.solver} found a proof that the constraints contradict each other"
            )
        if outcome == "unbounded":
            msg = (
                f"{self.solver} found a direction in which the objective improves without end. "
                f"Bound every point by a constraint, or make the objective smaller there."
            )
            raise UnboundedProblemError(msg)
        Y = _nearest_feasible(reduced.program, model.coordinates())
        certificate = certify_dense(reduced.program, Y, *model.multipliers())
        iterate = Iterate(
            Y=Y,
            multipliers=certificate.multipliers,
            objective=certificate.primal,
            residual=0.0,
            phase=Phase.CONIC_SOLVER,
            n_iter=n_iter,
            certificate=certificate,
            status=self._status(reduced.program, Y, certificate, outcome),
        )
        return self._solution(reduced, iterate, outcome)

    def _solution(self, reduced: Reduced, iterate: Iterate, outcome: str) -> SDPSolution:
        reason = f"{self.solver} ended with {outcome.replace('_', ' ')!r}"
        return reduced.solution(iterate, tol=self.tol, reason=reason)

    def _run(self, cvxpy: Any, model: ConicModel) -> tuple[str, int]:
        """Call the solver and return its status and the number of its iterations."""
        accuracy = ACCURACY_ASKED * self.tol
        options: dict[str, Any]
        if self.solver == "clarabel":
            options = {"tol_gap_abs": accuracy, "tol_gap_rel": accuracy, "tol_feas": accuracy}
            if self.max_seconds is not None:
                options["time_limit"] = float(self.max_seconds)
        else:
            options = {"eps_abs": accuracy, "eps_rel": accuracy, "max_iters": SCS_MAX_ITERATIONS}
            if self.max_seconds is not None:
                options["time_limit_secs"] = float(self.max_seconds)
        with warnings.catch_warnings():
            # CVXPY warns of an inaccurate answer; the certificate says how inaccurate it is.
            warnings.simplefilter("ignore")
            try:
                model.problem.solve(solver=SOLVERS[self.solver], **options)
            except cvxpy.error.SolverError as error:
                return f"{self.solver} failed: {error}", 0
        stats = model.problem.solver_stats
        return str(model.problem.status), int(getattr(stats, "num_iters", None) or 0)

    def _status(
        self, program: Program, Y: FloatArray, certificate: Certificate, outcome: str
    ) -> Status:
        envelope = program.envelope
        values = program.forms.values(Y)
        bounds = np.concatenate([envelope.lower, envelope.upper])
        size = float(np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))
        missed = float(envelope.violation(values).max(initial=0.0))
        if certificate.holds(self.tol) and missed <= self.tol * size:
            return Status.CERTIFIED
        return Status.STATIONARY if outcome == "optimal" else Status.ITERATION_LIMIT

    def _check_options(self) -> None:
        if self.solver not in SOLVERS:
            msg = f"solver={self.solver!r} must be one of {sorted(SOLVERS)}."
            raise InvalidInputError(msg)
        check_gap(self.tol)
        if self.max_seconds is not None and not 0.0 < self.max_seconds < np.inf:
            msg = f"max_seconds={self.max_seconds!r} must be a positive number, or None."
            raise InvalidInputError(msg)

    def _refuse(self, program: Program) -> None:
        """Refuse what would not end, would not fit or is not installed, before any work."""
        limit = check_count(self.max_points, name="max_points")
        if program.size > limit:
            msg = (
                f"The Gram matrix has {program.size} rows, but ConicSDP takes at most "
                f"max_points={limit}: a general solver would take hours. {INSTEAD}"
            )
            raise InvalidInputError(msg)
        entries = program.size * (program.size + 1) // 2
        is_dense = self.solver == "clarabel"
        needed = CLARABEL_BYTES * entries**2 if is_dense else SCS_BYTES * entries
        what = f"{self.solver} on a Gram matrix of {program.size} rows"
        require_memory(needed, what=what, instead=INSTEAD)
        require("cvxpy", extra="conic", purpose="ConicSDP")
        require(self.solver, extra="conic", purpose=f"ConicSDP(solver={self.solver!r})")


def _nearest_feasible(program: Program, Y: FloatArray) -> FloatArray:
    """Make blocks exactly orthonormal; shrink points that only have upper bounds to meet them."""
    Y = StiefelProduct(program.blocks, program.size).orthonormalize(Y)
    envelope = program.envelope
    values = program.forms.values(Y)
    only_upper = np.isinf(envelope.lower) & envelope.is_hard & (envelope.upper >= 0.0)
    if len(program.blocks) or not np.all(only_upper):
        return Y
    over = values > envelope.upper
    return np.asarray(Y * np.sqrt(np.min(envelope.upper[over] / values[over], initial=1.0)))


def _single_point(program: Program) -> Iterate:
    """Return the only answer for one centered point, which lies at the origin."""
    Y, w = np.zeros((1, 1)), np.zeros(program.forms.n_forms)
    certificate = certify_dense(program, Y, w, None)
    return Iterate(
        Y=Y,
        multipliers=w,
        objective=certificate.primal,
        residual=0.0,
        phase=Phase.CERTIFICATE,
        n_iter=0,
        certificate=certificate,
        status=Status.CERTIFIED,
    )


def _materialized(operator: LinearOperator) -> FloatArray:
    dense = np.asarray(operator @ np.eye(operator.shape[0]))
    return np.asarray((dense + dense.T) / 2)
