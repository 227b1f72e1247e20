"""Small programs by a dense interior point: tight certificates in a few steps.

The Gram matrix itself is the variable, as for `ConicSDP`; but squares as forms make the Schur
complement cheap, so that a few hundred points and some thousand equalities take seconds, and
nothing beyond SciPy is needed. Soft equalities always have a strictly feasible point, whatever
their weights, and the gap closes; hard ones on a neighbor graph may have none (see `LowRankSDP`).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from isofold._memory import require_memory
from isofold._progress.stages import interrupted, interruptible, stage
from isofold._typing import FloatArray, Matrix
from isofold._validation import check_count
from isofold.exceptions import EarlyInterrupt, InvalidInputError
from isofold.sdp._checks import check_gap
from isofold.sdp.dual.certify import certify_dense, certify_with_blocks
from isofold.sdp.dual.probe import DENSE_SIDE
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program, reflect_off_gauge
from isofold.sdp.reduction import INTERRUPTED, Reduced
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.central_path.path import PathPoint, central_path
from isofold.sdp.solvers.central_path.system import PathSystem, block_forms
from isofold.sdp.solvers.protocol import Iterate, Phase
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["DenseSDP"]

ASKED = 0.1
"""Fraction of `tol` to which the path is followed: the rest is for the repair of the bound."""

WORTH_HAVING = 0.1
"""Relative gap, and relative violation, up to which a point is returned if the user asks for the
end: the path starts at a multiple of the identity, which says nothing of the problem."""

KEPT_EIGENVALUE = 1e-12
"""Eigenvalues of the Gram matrix below this fraction of the largest give no column."""

NOTHING = 1e-12
"""Fraction of the value at G = 0 that counts as rounding if there is no objective: equalities that
can all be met have the value zero, and no relative gap."""

MATRICES = 8
"""Dense matrices of the sides of Gram matrix and Schur complement that are held at once."""


class DenseSDP(BaseEstimator):
    """Solve a small `GramSDP` by a dense primal-dual interior point.

    Parameters
    ----------
    tol : float, default=1e-6
        Relative duality gap, and relative violation of hard constraints, to reach.
    max_iter : int, default=100
        Steps along the central path. Some twenty are usual.

    See Also
    --------
    LowRankSDP : For programs of any size.
    ConicSDP : General solvers, for a second opinion.

    Notes
    -----
    A step costs the cube of the side of the Gram matrix, and of the number of constraints: with
    1,000 of these a second on two cores.

    Examples
    --------
    >>> from isofold.sdp import DenseSDP, GramSDP
    >>> problem = GramSDP.unfolding(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> solution = DenseSDP().solve(problem)
    >>> round(solution.primal, 4), solution.rank, solution.status.name
    (2.0, 1, 'CERTIFIED')
    """

    def __init__(self, *, tol: float = 1e-6, max_iter: int = 100) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def solve(
        self,
        problem: GramSDP,
        *,
        violation_tol: float | None = None,
        rules: SolverRules = RULES,
    ) -> SDPSolution:
        """Return the solution of a problem with its certificate.

        Parameters
        ----------
        problem : GramSDP
            The problem; its constraints may be equalities or bounds, hard or soft.
        violation_tol : float or None, default=None
            How well hard constraints must be met, relative to each. None: as well as `tol`.
        rules : SolverRules, default=RULES
            The numbers by which the engine decides.

        Returns
        -------
        SDPSolution
            The best point found and the bound that its multipliers prove.

        Raises
        ------
        InvalidInputError
            If an option makes no sense, or the objective is an operator.
        MemoryLimitError
            If the matrices would not fit in memory.
        UnboundedProblemError
            If the objective can be improved without end.
        """
        max_iter = check_count(self.max_iter, name="max_iter")
        check_gap(self.tol)
        reduced = Reduced.of(problem, refuse=_refuse_others, rules=rules)
        if reduced.preflight.contradiction is not None:
            return reduced.infeasible()
        # Threads of BLAS wait for each other where matrices are small.
        limit = 1 if reduced.program.size <= rules.few_rows else None
        with threadpool_limits(limits=limit, user_api="blas"), interruptible():
            most_missed = self.tol if violation_tol is None else min(self.tol, violation_tol)
            iterate = self._follow(reduced.program, max_iter, problem.sign, most_missed)
            reason = "iteration limit" if iterate.n_iter >= max_iter else "rounding"
            reason = INTERRUPTED if interrupted() else reason
        return reduced.solution(iterate, tol=self.tol, reason=reason)

    def _follow(self, program: Program, max_iter: int, sign: float, most_missed: float) -> Iterate:
        """Follow the path until the gap is closed, and certify where it ended."""
        system = PathSystem.of(program)
        floor = 0.0 if program.has_cost else NOTHING * system.value_scale
        last: PathPoint | None = None
        n_iter, is_cut = 0, False
        with stage("interior point") as steps:
            for n_iter, last in enumerate(central_path(system)):
                scale = max(abs(last.primal), abs(last.dual), floor / (ASKED * self.tol))
                gap = abs(last.primal - last.dual)
                steps.advance(objective=sign * last.primal)
                if interrupted() and max(gap / (scale or 1.0), last.missed) > WORTH_HAVING:
                    raise EarlyInterrupt
                is_cut = n_iter >= max_iter or interrupted()
                is_met = last.missed <= ASKED * most_missed
                is_closed = gap <= ASKED * self.tol * scale and is_met
                if is_closed or is_cut:
                    break
        Y: FloatArray = np.zeros((program.size, 1))
        w: FloatArray = np.zeros(program.forms.n_forms)
        blocks = None
        if last is not None:
            Y, w = _coordinates(program, last.G), system.given_multipliers(last.multipliers)
            blocks = _block_multipliers(program, last, system)
        zero = None if program.has_cost else (floor, system.value_scale)
        if blocks is not None and zero is None and program.size > DENSE_SIDE:
            certificate = certify_with_blocks(program, Y, w, blocks)
        else:
            certificate = certify_dense(program, Y, w, blocks, zero=zero)
        missed = program.envelope.violation(program.forms.values(Y)) / system.units[: len(w)]
        holds = certificate.holds(self.tol) and float(missed.max(initial=0.0)) <= most_missed
        limit = Status.ITERATION_LIMIT if is_cut else Status.STATIONARY
        return Iterate(
            Y=Y,
            multipliers=certificate.multipliers,
            objective=certificate.primal,
            residual=0.0,
            phase=Phase.INTERIOR_POINT,
            n_iter=n_iter,
            certificate=certificate,
            status=Status.CERTIFIED if holds else limit,
        )


def _refuse_others(program: Program) -> None:
    """Refuse what is not a matrix, and what would not fit in memory."""
    if isinstance(program.cost, LinearOperator):
        msg = "The objective is an operator, and DenseSDP needs a matrix. Use LowRankSDP."
        raise InvalidInputError(msg)
    n_forms = program.forms.n_forms + int(
        np.sum(program.blocks[:, 1] * (program.blocks[:, 1] + 1) // 2)
    )
    require_memory(
        8 * MATRICES * (program.size**2 + n_forms**2),
        what=f"An interior point with {program.size} rows and {n_forms} constraints",
        instead="Use LowRankSDP, whose memory grows with the number of constraints.",
    )


def _coordinates(program: Program, G: FloatArray) -> FloatArray:
    """Return the factor of a Gram matrix off the gauge, with exactly orthonormal blocks."""
    values, vectors = scipy.linalg.eigh(G)
    kept = values > KEPT_EIGENVALUE * max(values[-1], 0.0)
    Y = vectors[:, kept] * np.sqrt(values[kept])
    Y = Y if program.gauge is None else _onto_gauge(Y, program.gauge)
    return program.center(StiefelProduct(program.blocks, program.size).orthonormalize(Y))


def _onto_gauge(Y: FloatArray, gauge: FloatArray) -> FloatArray:
    """Return N Y, the coordinates from those off the gauge; N as in `reflect_off_gauge`."""
    return np.asarray(reflect_off_gauge(np.eye(len(gauge)), gauge) @ Y)


def _block_multipliers(program: Program, point: PathPoint, system: PathSystem) -> Matrix | None:
    """Return Λ from the multipliers of the entries of the blocks, whose slack adds them."""
    if len(program.blocks) == 0:
        return None
    return sp.csr_array(-block_forms(program).adjoint(system.block_multipliers(point.multipliers)))
