"""What the inner solvers have in common: options, phases, iterates, and the protocol they follow.

Each shape of problem has its own inner solver, a generator of iterates. The one loop around them
lives in `low_rank`: it watches the clock, reports progress, and keeps the last iterate when the
user interrupts. Hence a generator yields often, and only what it would be content to return. An
inner solver has no state of its own: all that a run remembers lives in its generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from isofold._typing import FloatArray
from isofold.sdp.certificate import Certificate
from isofold.sdp.envelope import Envelope
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import Status

__all__ = ["InnerSolver", "Iterate", "Options", "Phase", "Start"]


class Phase(Enum):
    """What a solver is doing; the value is its name in logs and messages."""

    NEWTON = "Newton's method"
    TRUST_REGION = "trust region"
    MULTIPLIER_STEP = "multiplier step"
    AUGMENTED_LAGRANGIAN = "augmented Lagrangian"
    INTERIOR_POINT = "interior point"
    CONIC_SOLVER = "conic solver"
    ESCAPE = "escape from a saddle"
    CERTIFICATE = "certificate"


@dataclass(frozen=True)
class Options:
    """The options of `LowRankSDP`, checked, with what is automatic decided.

    Parameters
    ----------
    tol : float
        Relative duality gap to reach.
    violation_tol : float
        Violation of hard constraints to reach: the median relative error of lengths for
        equalities, the largest relative error of bounds for inequalities.
    rank : int
        Columns of Y at the start.
    max_rank : int
        Columns up to which the rank may grow.
    penalty : float
        The weight ν of hard equalities, in units of 1/λ₂ of the unit Laplacian.
    max_iter : int
        Outer iterations.
    seed : int
        Where all random numbers of a run begin.
    rules : SolverRules
        The numbers by which solvers decide.
    """

    tol: float
    violation_tol: float
    rank: int
    max_rank: int
    penalty: float
    max_iter: int
    seed: int
    rules: SolverRules = RULES


@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin, as far as it is given.

    Parameters
    ----------
    Y : ndarray of shape (size, k) or None
        Coordinates in the basis of the program.
    multipliers : ndarray of shape (n_forms,) or None
        Dual variables.
    """

    Y: FloatArray | None = None
    multipliers: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point that a solver would be content to return if it were stopped now.

    Parameters
    ----------
    Y : ndarray of shape (size, rank)
        The coordinates.
    multipliers : ndarray of shape (n_forms,)
        The current dual variables, not yet repaired.
    objective : float
        The primal value of the program.
    residual : float
        The norm of the gradient, relative to the scale of the problem.
    phase : Phase
        What the solver is doing.
    n_iter : int
        Iterations so far.
    certificate : Certificate or None
        If one has been computed for just this point, in the sense of the minimum.
    envelope : Envelope or None
        The functions of the forms that were minimized, if they are not those of the program.
    status : Status or None
        Set on the last iterate only.
    """

    Y: FloatArray
    multipliers: FloatArray
    objective: float
    residual: float
    phase: Phase
    n_iter: int
    certificate: Certificate | None = None
    envelope: Envelope | None = None
    status: Status | None = None


class InnerSolver(Protocol):
    """A solver for one shape of problem, without state.

    Attributes
    ----------
    task : str
        What it does, as users who wait for it would say.
    """

    task: str

    def accepts(self, program: Program) -> bool:
        """Tell whether a program has the shape that this solver is for."""
        ...

    def iterates(self, program: Program, options: Options, start: Start) -> Iterator[Iterate]:
        """Yield better and better iterates; the last has a status."""
        ...

    def certify(self, program: Program, options: Options, iterate: Iterate) -> Certificate:
        """Return the certificate, by `dual.certify`, of an iterate that has none yet."""
        ...
