"""What a solver returns: coordinates, values, a status and its message."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from isofold._findings import Finding, Severity
from isofold._typing import FloatArray
from isofold.sdp.certificate import Certificate

__all__ = ["SDPSolution", "Status"]


class Status(Enum):
    """How a solution is to be trusted; the value is the message, filled with what was seen."""

    CERTIFIED = (
        "Certified: the objective {primal:.9g} is within a relative gap of {gap:.2g} of the "
        "optimum of {which} (bound {dual:.9g}, rounding floor {rounding_floor:.2g}); largest "
        "violation {max_violation:.2g}."
    )
    STATIONARY = (
        "A critical point without a certificate: objective {primal:.9g}, bound {dual:.9g}, gap "
        "{gap:.2g}. The rank found may not be optimal. Try a larger tol, a larger rank, or another "
        "start."
    )
    INEXACT_CERTIFICATE = (
        "The bound {dual:.9g} (gap {gap:.2g}) rests on eigenvalues that are estimated, not proved. "
        "Pass the objective as a matrix rather than an operator for a proof."
    )
    RANK_LIMIT = (
        "The relaxation asks for a rank above {rank}: objective {primal:.9g}, bound {dual:.9g}, "
        "gap {gap:.2g}. Raise max_rank, or accept the gap as the price of few dimensions."
    )
    ITERATION_LIMIT = (
        "Stopped early ({reason}): objective {primal:.9g}, bound {dual:.9g}, gap {gap:.2g}, "
        "largest violation {max_violation:.2g}. Allow more iterations or time, or a larger tol."
    )
    INFEASIBLE = (
        "No Gram matrix meets the constraints: {reason}. Make them soft (penalty=...), or correct "
        "the distances."
    )

    def __repr__(self) -> str:
        return f"Status.{self.name}"


@dataclass(frozen=True, eq=False)
class SDPSolution:
    """The answer of a solver to a `GramSDP`.

    Parameters
    ----------
    coordinates : ndarray of shape (n_points, n_columns)
        The points Y with G = YYᵀ, in principal axes, the largest first.
    status : Status
        How the answer is to be trusted.
    message : str
        The text of the status, with the numbers seen.
    primal, dual : float
        The objective at the coordinates and a bound on the optimum, of the problem that
        `certificate` names (infinite, of the useless side, if no bound is known).
    gap : float
        Their relative difference.
    min_dual_eigenvalue : float
        The smallest eigenvalue of the dual slack before it was repaired, see `Certificate`.
    max_violation : float
        How far the worst hard constraint is missed.
    rank : int
        The number of columns of the coordinates that hold more than a fraction `tol` of the trace.
    n_iter : int
        Iterations of the inner solver.
    seconds : float
        Time taken.
    certificate : Certificate or None
        The evidence; None if the problem was found infeasible.
    warnings : tuple of str
        What the solver saw that a user should know, for example that the problem has no strictly
        feasible point.
    """

    coordinates: FloatArray = field(repr=False)
    status: Status
    message: str
    primal: float
    dual: float
    gap: float
    min_dual_eigenvalue: float
    max_violation: float
    rank: int
    n_iter: int
    seconds: float
    certificate: Certificate | None = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def finding(self) -> Finding:
        """The status as a finding: checked if it is certified, else a doubt or a failure."""
        severity = {
            Status.CERTIFIED: Severity.CHECKED,
            Status.INEXACT_CERTIFICATE: Severity.CHECKED,
            Status.INFEASIBLE: Severity.FAILURE,
        }.get(self.status, Severity.DOUBT)
        return Finding.of("not_certified", severity, value=self.gap, message=self.message)

    @property
    def gram(self) -> FloatArray:
        """The Gram matrix YYᵀ, dense: for small problems."""
        return np.asarray(self.coordinates @ self.coordinates.T)
