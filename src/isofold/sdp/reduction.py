"""From the last iterate to the solution: back to the user's points, signs and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isofold._progress.stages import interrupted
from isofold._typing import FloatArray
from isofold.sdp.certificate import Certificate
from isofold.sdp.preflight.findings import Findings
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.protocol import Iterate

__all__ = ["INTERRUPTED", "infeasible_solution", "lift_solution", "restated"]

INTERRUPTED = "interrupted by the user"
"""Why a solver ended early if Ctrl-C asked for it."""


def lift_solution(
    problem: GramSDP,
    program: Program,
    iterate: Iterate,
    certificate: Certificate,
    *,
    tol: float,
    reason: str,
    findings: Findings,
    seconds: float,
) -> SDPSolution:
    """Return the solution in the user's points and in the sense of the user's objective."""
    coordinates, rank = _principal_axes(iterate.Y, tol=tol)
    if program.basis is not None:
        coordinates = program.basis @ coordinates
    status = iterate.status or Status.ITERATION_LIMIT
    if status is Status.INFEASIBLE:
        reason = "the multipliers prove it (Farkas' lemma)"
    if status is Status.CERTIFIED and not certificate.is_exact:
        status = Status.INEXACT_CERTIFICATE
    certificate = _in_users_sense(certificate, problem.sign)
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
        seconds=seconds,
        certificate=certificate,
        warnings=findings.warnings,
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
    certificate = replace(
        solution.certificate,
        primal=primal,
        dual=dual,
        posed_bound=dual,
        gap=gap,
        max_violation=violation,
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


def infeasible_solution(problem: GramSDP, findings: Findings, seconds: float) -> SDPSolution:
    """Return the answer to a problem whose constraints contradict each other."""
    worst = problem.sign * np.inf
    return SDPSolution(
        coordinates=np.zeros((problem.n_points, 1)),
        status=Status.INFEASIBLE,
        message=Status.INFEASIBLE.value.format(reason=findings.infeasible),
        primal=worst,
        dual=worst,
        gap=np.inf,
        min_dual_eigenvalue=0.0,
        max_violation=np.inf,
        rank=0,
        n_iter=0,
        seconds=seconds,
        certificate=None,
        warnings=findings.warnings,
    )


def _message(status: Status, certificate: Certificate, rank: int, reason: str) -> str:
    """Return the status in words, with the numbers seen."""
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


def _principal_axes(Y: FloatArray, *, tol: float) -> tuple[FloatArray, int]:
    """Rotate Y into its principal axes; count eigenvalues of YYᵀ that tol can tell from zero."""
    values, axes = np.linalg.eigh(Y.T @ Y)
    values, axes = values[::-1], axes[:, ::-1]
    total = float(np.maximum(values, 0.0).sum())
    return np.ascontiguousarray(Y @ axes), int(np.sum(values > tol * total))


def _in_users_sense(certificate: Certificate, sign: float) -> Certificate:
    if sign > 0:
        return certificate
    return replace(
        certificate,
        primal=-certificate.primal,
        dual=-certificate.dual,
        posed_bound=-certificate.posed_bound,
    )
