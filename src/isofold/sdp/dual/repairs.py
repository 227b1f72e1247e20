"""Repairs of a dual bound: multipliers whose slack is almost positive semidefinite become valid.

A primal method leaves S = C + A*(w) − Λ with eigenvalues a little below zero, and D(w, Λ) is then
no bound. A repair changes the multipliers, or pays a price, until it is one:

    raise    w grows by t on positive forms with an upper bound, Λ falls by t on the rows of
             blocks: the slack becomes S + tR with R = Σ A_e + P_B
    scale    all multipliers are divided by 1 ± t: the slack is a multiple of S ± tC
    trace    if the trace of an optimal G is at most τ, S ⪰ −ε proves D(w, Λ) − ετ
    local    each negative eigenvector is lifted where it lives (`local_repair`)

The best bound counts. Here are the repairs for large programs, proved by the inertia of sparse
factors. `dense_repair` finds the least t of small programs by all eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix
from isofold.sdp.dual.probe import probe_slack
from isofold.sdp.dual.spectrum import Floor, proved_floor
from isofold.sdp.forms import is_sparse, positive_forms
from isofold.sdp.program import Program

__all__ = [
    "Repair",
    "best_repair",
    "block_identity",
    "pay_by_trace",
    "repair_upper_bounds",
    "repair_with_blocks",
    "unpaid",
]

TRIES = 30
"""Values of t tried, each 4 times the last: 18 decades."""

ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Repair:
    """Multipliers (w, Λ) and the price at which they prove a bound.

    Parameters
    ----------
    multipliers : ndarray of shape (n_forms,)
        The repaired w.
    block_multipliers : sparse array of shape (size, size) or None
        The repaired Λ.
    price : float
        What is to be subtracted from D(w, Λ), infinite if nothing is proved.
    shift : float
        The ε that the price is for, zero if the multipliers paid for it.
    rounding : float
        The part of the bound that rounding of the proof alone may have cost.
    is_exact : bool
        Whether the proof is complete.
    """

    multipliers: FloatArray
    block_multipliers: Matrix | None
    price: float
    shift: float = 0.0
    rounding: float = 0.0
    is_exact: bool = True

    def bound(self, program: Program) -> float:
        """Return the bound on the minimum of a program, −∞ if nothing is proved."""
        blocks = self.block_multipliers
        trace = 0.0 if blocks is None else float(blocks.diagonal().sum())
        return program.dual_value(self.multipliers, trace) - self.price


def unpaid(w: FloatArray, blocks: Matrix | None = None, shift: float = 0.0) -> Repair:
    """Return multipliers that prove nothing."""
    return Repair(w, blocks, np.inf, shift)


def best_repair(program: Program, repairs: Iterable[Repair]) -> Repair:
    """Return the repair with the best bound, the first of equals."""
    return max(repairs, key=lambda repair: repair.bound(program))


def pay_by_trace(
    program: Program, w: FloatArray, blocks: Matrix | None, shift: float, rounding: float = 0.0
) -> Repair:
    """Leave the multipliers with S ⪰ −shift and pay with the bound on the trace, if any."""
    if program.trace_bound is None:
        return unpaid(w, blocks)
    return Repair(w, blocks, shift * program.trace_bound, shift, rounding * program.trace_bound)


def repair_upper_bounds(
    program: Program,
    w: FloatArray,
    shift: float,
    floor_of: Callable[[Matrix], float],
    margin: float = 0.0,
) -> Repair:
    """Return the best bound of upper bounds alone, from multipliers with S ⪰ −shift.

    The multipliers are raised to w + shift·ŵ where A*(ŵ) ⪰ I off the gauge: ŵ is a multiple of w
    itself or, if A*(w) is singular, of equal weights. For C = −κI the first divides w by
    1 − shift/κ and costs shift·tr YYᵀ at the optimum. `floor_of` returns a lower bound on the
    smallest eigenvalue of a matrix off the gauge, `margin` is the rounding of that of the slack.
    """
    choices = [unpaid(w, shift=shift)]
    if not np.isfinite(shift):
        return choices[0]
    for direction in (w, positive_forms(program.forms).astype(np.float64)):
        floor = _floor_of_adjoint(program, shift) if direction is w else 0.0
        if floor <= 0.0:
            floor = floor_of(program.forms.adjoint(direction))
        if floor > 0.0:
            unit_price = float(direction @ program.envelope.upper) / floor
            raised = w + (shift / floor) * direction
            choices.append(Repair(raised, None, 0.0, rounding=2.0 * margin * unit_price))
            break
    choices.append(pay_by_trace(program, w, None, shift, 2.0 * margin))
    return best_repair(program, choices)


def _floor_of_adjoint(program: Program, shift: float) -> float:
    """Return a lower bound on A*(w) = S − C from S ⪰ −shift and Gershgorin's bound on −C."""
    if not is_sparse(program.cost):
        return 0.0
    diagonal = np.asarray(program.cost.diagonal())
    others = np.asarray(abs(program.cost).sum(axis=1)).ravel() - np.abs(diagonal)
    return float(np.min(-diagonal - others)) - shift


def repair_with_blocks(
    program: Program, multipliers: FloatArray, blocks: Matrix | None
) -> tuple[Repair, Floor]:
    """Return the best bound with orthonormal blocks, free rows and any constraints.

    Beside the repair comes what is known of the smallest eigenvalue of the slack before it.
    """
    w = program.envelope.admissible(multipliers)
    slack = program.slack(w, blocks)
    floor = proved_floor(slack, program.gauge)
    shift = max(-floor.value, 0.0)
    nothing = unpaid(w, blocks, shift)
    free = Repair(w, blocks, 0.0)
    if not np.isfinite(free.bound(program)):
        return nothing, floor
    if floor.value >= 0.0:
        return free, floor
    choices = [nothing]
    if np.isfinite(shift):
        choices.append(pay_by_trace(program, w, blocks, shift, floor.margin))
    if not isinstance(slack, LinearOperator):
        raised = _raise_with_blocks(program, slack, w, blocks, floor)
        choices.extend([] if raised is None else [raised])
    return best_repair(program, choices), floor


def _raise_with_blocks(
    program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None, floor: Floor
) -> Repair | None:
    """Return the repair for the least t tried with S + tR proved positive semidefinite.

    Rows that R does not touch need not be lifted if S is positive definite there.
    """
    raised, unit = program.raisable.astype(np.float64), block_identity(program)
    lift = program.forms.adjoint(raised) + unit
    lift = sp.csr_array(lift) if is_sparse(lift) else np.asarray(lift)
    size = float(abs(S).max()) or 1.0
    t = max(-floor.value if np.isfinite(floor.value) else 0.0, ULP * size)
    for _ in range(TRIES):
        moved = S + t * lift
        probe = probe_slack(moved, gauge=program.gauge, shift=0.0)
        if probe.is_positive:
            # Positive by more than the rounding of the test itself.
            room = 2.0 * probe.margin
            sure = probe_slack(moved, gauge=program.gauge, shift=-room)
            if sure.is_positive and sure.margin <= room:
                lower = None if blocks is None else sp.csr_array(blocks - t * unit)
                price = float(raised @ np.where(raised > 0.0, program.envelope.upper, 0.0))
                n_rows = float(program.orthonormal_rows.sum())
                rounding = 4.0 * floor.margin * (n_rows + abs(price))
                return Repair(w + t * raised, lower, 0.0, rounding=rounding)
        t *= 4.0
    return None


def block_identity(program: Program) -> sp.csr_array:
    """Return P_B: the diagonal matrix with ones on rows that belong to an orthonormal block."""
    rows = program.orthonormal_rows.astype(np.float64)
    return sp.csr_array(sp.diags_array(rows, format="csr"))
