"""Certificates of multiplier steps: bounds for the step's own problem and for the posed one.

A step minimizes a smooth problem with penalties centered at multipliers w̄. Its own multipliers,
repaired until the slack is positive semidefinite, bound that *shifted* problem by
−Σ h*(w) − Σ (w − w̄)²/(2ν) and the posed one by −Σ h*(w). Where every constraint is met to the
tolerance the posed one counts.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray
from isofold.linalg.ldl import FactorCache
from isofold.sdp.certificate import DENSE_SIDE, Certificate, relative_gap
from isofold.sdp.dual.dense import certify_dense
from isofold.sdp.dual.local_repair import RepairedDual, repair
from isofold.sdp.dual.spectrum import proved_floor
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.protocol import Iterate

__all__ = ["certified_origin", "certify_step", "shift_is_small"]

ROUNDINGS = 64.0
"""Roundings in a sum of products over pairs, with room: errors cancel rather than add up."""

REPAIR_SHARE = 0.03
"""The share of the tolerated gap that the repair may leave to scaling."""


def certify_step(program: Program, iterate: Iterate, tol: float, cache: FactorCache) -> Certificate:
    """Return a valid bound for the step's problem, and for the posed one if that is close."""
    envelope = iterate.envelope or program.envelope
    step = program.with_envelope(envelope)
    values = program.forms.values(iterate.Y)
    if not program.has_cost and np.all(program.envelope.is_hard):
        # Any feasible point is optimal, with the value zero: no multipliers prove that.
        repaired = RepairedDual(np.zeros(len(values)), 0.0, 0.0, 0.0, 0.0, is_exact=True)
    else:
        w = iterate.multipliers
        repaired = _best_repair(step, iterate.Y, w, tol, cache)
    w, price = repaired.multipliers, repaired.trace_price
    primal, dual = step.primal_value(iterate.Y), step.dual_value(w) - price
    posed_primal, posed_dual = program.primal_value(iterate.Y), program.dual_value(w) - price
    violation = program.envelope.violation(values)
    # Where every constraint is met to the tolerance the bound of the posed problem counts.
    is_shifted = bool(np.any(program.envelope.is_hard)) and (
        float(violation.max(initial=0.0)) > tol * program.envelope.length_unit
        or relative_gap(posed_primal, posed_dual) > tol
    )
    if not is_shifted:
        primal, dual = posed_primal, posed_dual
    terms = float(np.abs(w * values).sum()) + abs(primal)
    return Certificate(
        multipliers=w,
        block_multipliers=None,
        primal=primal,
        dual=dual,
        gap=relative_gap(primal, dual),
        min_eigenvalue=repaired.min_eigenvalue,
        eigenvalue_error=repaired.eigenvalue_error,
        shift=repaired.shift,
        max_violation=float(violation.max(initial=0.0)),
        rounding_floor=ROUNDINGS * float(np.finfo(float).eps) * terms,
        is_exact=repaired.is_exact,
        is_shifted=is_shifted,
        center=envelope.center if is_shifted else None,
        penalty=envelope.penalty if is_shifted else None,
        posed_bound=posed_dual,
    )


def _best_repair(
    program: Program, Y: FloatArray, w: FloatArray, tol: float, cache: FactorCache
) -> RepairedDual:
    """Return feasible multipliers: by local repair, or for small programs by dense algebra."""
    choices = []
    local = repair(program, w, tol=REPAIR_SHARE * tol, cache=cache)
    if local is not None:
        choices.append(local)
    if program.size <= DENSE_SIDE and not isinstance(program.cost, LinearOperator):
        dense = certify_dense(program, Y, w, None)
        if np.isfinite(dense.dual):
            bound = program.trace_bound or 0.0
            choices.append(
                RepairedDual(
                    multipliers=dense.multipliers,
                    trace_price=dense.shift * bound,
                    min_eigenvalue=dense.min_eigenvalue,
                    eigenvalue_error=dense.eigenvalue_error,
                    shift=dense.shift,
                    is_exact=True,
                )
            )
    nothing = RepairedDual(w, np.inf, -np.inf, np.inf, np.inf, is_exact=True)
    return max(
        choices,
        key=lambda choice: program.dual_value(choice.multipliers) - choice.trace_price,
        default=nothing,
    )


def shift_is_small(program: Program, iterate: Iterate, tol: float) -> bool:
    """Tell whether the penalties of bounds add next to nothing to the value of the step's problem.

    Where a bound is met exactly, or is inactive with w̄ = 0, ψ is zero. Elsewhere it is −w̄²/(2ν),
    however large w̄ was: beside that any gap looks small. Equalities are what shifting is for.
    """
    if iterate.envelope is None or iterate.certificate is None:
        return True
    bounds = program.envelope.is_hard & ~program.envelope.is_equality
    if not iterate.certificate.is_shifted or not np.any(bounds):
        return True
    shifted = iterate.envelope.part(bounds)
    values = program.forms.values(iterate.Y)[bounds]
    return abs(shifted.total(values)) <= tol * abs(program.primal_value(iterate.Y))


def certified_origin(program: Program, rank: int) -> Iterate:
    """Return the origin, the only point there is or one that no direction improves."""
    Y = np.zeros((program.size, rank))
    values = np.zeros(program.forms.n_forms)
    smooth = program.envelope.augmented(values, np.ones_like(values))
    w = np.where(program.envelope.is_hard, 0.0, smooth.multipliers(values))
    primal, dual = program.primal_value(Y), program.dual_value(w)
    floor = proved_floor(program.cost, program.gauge)
    certificate = Certificate(
        multipliers=w,
        block_multipliers=None,
        primal=primal,
        dual=dual,
        gap=relative_gap(primal, dual),
        min_eigenvalue=floor.estimate,
        eigenvalue_error=floor.estimate - floor.value,
        shift=0.0,
        max_violation=float(program.envelope.violation(values).max(initial=0.0)),
        rounding_floor=ROUNDINGS * float(np.finfo(float).eps) * abs(primal),
        is_exact=floor.is_exact,
        posed_bound=dual,
    )
    return Iterate(
        Y=Y,
        multipliers=w,
        objective=primal,
        residual=0.0,
        stage="nothing to move",
        n_iter=0,
        certificate=certificate,
        status=Status.CERTIFIED,
    )
