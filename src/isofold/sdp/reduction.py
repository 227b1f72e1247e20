"""Before and after every solver: a problem as its program, and the last iterate as its solution.

`Reduced.of` writes a problem as a minimum in an orthonormal basis (`Program`), looks at it before
any iteration (`preflight`), fixes the common translation of free rows as a gauge and makes points
at distance zero one. `Reduced.solution` takes an iterate back to the points, signs and units of
the user.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from isofold._progress.stages import interrupted
from isofold._typing import FloatArray
from isofold.sdp.certificate import Certificate
from isofold.sdp.preflight.inspection import Preflight, inspect_program
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program, principal_axes
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.protocol import Iterate

__all__ = ["INTERRUPTED", "Reduced", "restated"]

INTERRUPTED = "interrupted by the user"
"""Why a solver ended early if Ctrl-C asked for it."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem with the program that a solver works on, and what leads back to it.

    Parameters
    ----------
    problem : GramSDP
        The problem as it was posed.
    program : Program
        The minimum that stands for it.
    preflight : Preflight
        What was seen of it before any iteration.
    begin : float
        When the work began, by `time.perf_counter`.
    """

    problem: GramSDP
    program: Program
    preflight: Preflight
    begin: float

    @classmethod
    def of(
        cls,
        problem: GramSDP,
        *,
        translation_gauge: bool = True,
        merged_points: bool = True,
        refuse: Callable[[Program], None] | None = None,
        rules: SolverRules = RULES,
    ) -> Reduced:
        """Return a problem as a program; `refuse` may raise an error before anything is computed.

        Raises `UnboundedProblemError` if the objective is seen to improve without end.
        """
        begin = time.perf_counter()
        program = Program.of(problem)
        if translation_gauge:
            program = program.with_translation_gauge()
        if refuse is not None:
            refuse(program)
        preflight = inspect_program(program, rules=rules)
        if merged_points:
            program = program.with_merged_points()
        return cls(problem, program, preflight, begin)

    @property
    def seconds(self) -> float:
        """The time since the work began."""
        return time.perf_counter() - self.begin

    def solution(self, iterate: Iterate, *, tol: float, reason: str) -> SDPSolution:
        """Return a certified iterate as the solution; `reason` says why it ended, if early."""
        certificate = iterate.certificate
        assert certificate is not None, "solvers end with a certificate"  # noqa: S101
        values, axes = principal_axes(iterate.Y)
        # Eigenvalues of YYᵀ that the tolerance can tell from zero.
        rank = int(np.sum(values > tol * float(np.maximum(values, 0.0).sum())))
        coordinates = np.ascontiguousarray(iterate.Y @ axes)
        if self.program.basis is not None:
            coordinates = self.program.basis @ coordinates
        status = iterate.status or Status.ITERATION_LIMIT
        if status is Status.INFEASIBLE:
            reason = "the multipliers prove it (Farkas' lemma)"
        if status is Status.CERTIFIED and not certificate.is_exact:
            status = Status.INEXACT_CERTIFICATE
        certificate = certificate.with_sign(self.problem.sign)
        return SDPSolution(
            coordinates=coordinates,
            status=status,
            message=_message(status, certificate, rank, reason),
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            min_dual_eigenvalue=certificate.min_eigenvalue,
            max_violation=certificate.max_violation,
            rank=rank,
            n_iter=iterate.n_iter,
            seconds=self.seconds,
            certificate=certificate,
            warnings=self.preflight.warnings,
        )

    def infeasible(self, reason: str | None = None) -> SDPSolution:
        """Return the answer to constraints that contradict each other, as the preflight saw."""
        worst = self.problem.sign * np.inf
        reason = self.preflight.contradiction if reason is None else reason
        return SDPSolution(
            coordinates=np.zeros((self.problem.n_points, 1)),
            status=Status.INFEASIBLE,
            message=Status.INFEASIBLE.value.format(reason=reason),
            primal=worst,
            dual=worst,
            gap=np.inf,
            min_dual_eigenvalue=0.0,
            max_violation=np.inf,
            rank=0,
            n_iter=0,
            seconds=self.seconds,
            certificate=None,
            warnings=self.preflight.warnings,
        )


def restated(
    solution: SDPSolution,
    *,
    coordinates: FloatArray,
    primal: float,
    dual: float,
    gap: float,
    status: Status | None = None,
    max_violation: float | None = None,
    reason: str = "iteration limit",
) -> SDPSolution:
    """Return a solution in other terms: those of the program that a smaller one stands for."""
    status = solution.status if status is None else status
    if solution.certificate is None:
        return replace(solution, coordinates=coordinates)
    violation = solution.max_violation if max_violation is None else max_violation
    certificate = solution.certificate.restated(
        primal=primal, dual=dual, gap=gap, max_violation=violation
    )
    return replace(
        solution,
        coordinates=coordinates,
        status=status,
        message=_message(
            status, certificate, solution.rank, INTERRUPTED if interrupted() else reason
        ),
        primal=primal,
        dual=dual,
        gap=gap,
        max_violation=violation,
        certificate=certificate,
    )


def _message(status: Status, certificate: Certificate, rank: int, reason: str) -> str:
    """Return the text of a status, with the numbers seen."""
    return status.value.format(
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        rounding_floor=certificate.rounding_floor,
        max_violation=certificate.max_violation,
        rank=rank,
        reason=reason,
        which=(
            "the problem with penalties centered at the reported multipliers (the posed one is "
            f"bounded by {certificate.posed_bound:.9g})"
            if certificate.is_shifted
            else "the problem as posed"
        ),
    )
