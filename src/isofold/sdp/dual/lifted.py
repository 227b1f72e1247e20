"""The bound that multipliers (w, Λ) prove with orthonormal blocks, free rows and any constraints.

S = C + A*(w) − Λ from a primal method is positive semidefinite up to a small ε only. It is lifted
to S + tR ⪰ 0 with R = P_B + Σ A_e over the positive semidefinite forms with an upper bound, which
is the slack of known multipliers: Λ is lowered by t on the rows of blocks (their part of the
trace is known), w is raised by t. Rows that neither touches need not be lifted if S is positive
definite there. Where a bound τ on the trace is known, S ⪰ −ε gives D(w, Λ) − ε·τ as well. The
better of the two is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import BoolArray, FloatArray, Matrix
from isofold.sdp.certificate import probe_slack
from isofold.sdp.dual.spectrum import Floor, proved_floor
from isofold.sdp.forms import Forms, is_sparse
from isofold.sdp.program import Program

__all__ = ["LiftedBound", "lifted_bound", "positive_forms", "with_translation_gauge"]

LIFTS = 30
"""Values of t tried, each 4 times the last: 18 decades."""

ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LiftedBound:
    """Multipliers, the bound that they prove, and the evidence.

    Parameters
    ----------
    multipliers : ndarray of shape (n_forms,)
        The lifted w.
    block_multipliers : sparse array of shape (size, size) or None
        The lifted Λ.
    value : float
        The bound, −∞ if none was found.
    shift : float
        The ε that is paid by a bound on the trace, zero if the multipliers paid for it.
    floor : Floor
        What is known of the smallest eigenvalue before the lift.
    rounding : float
        The part of the bound that rounding alone may have cost.
    """

    multipliers: FloatArray
    block_multipliers: Matrix | None
    value: float
    shift: float
    floor: Floor
    rounding: float


def lifted_bound(
    program: Program, multipliers: FloatArray, block_multipliers: Matrix | None
) -> LiftedBound:
    """Return a valid bound on the minimum from any multipliers."""
    program = with_translation_gauge(program)
    w = program.envelope.admissible(multipliers)
    slack = program.slack(w, block_multipliers)
    floor = proved_floor(slack, program.gauge)
    trace = 0.0 if block_multipliers is None else float(block_multipliers.diagonal().sum())
    value = program.dual_value(w, trace)
    nothing = LiftedBound(w, block_multipliers, -np.inf, max(-floor.value, 0.0), floor, 0.0)
    if not np.isfinite(value):
        return nothing
    if floor.value >= 0.0:
        return replace(nothing, value=value, shift=0.0)
    choices = [nothing]
    if program.trace_bound is not None and np.isfinite(floor.value):
        bound = value + floor.value * program.trace_bound
        rounding = floor.margin * program.trace_bound
        choices.append(replace(nothing, value=bound, rounding=rounding))
    if not isinstance(slack, LinearOperator):
        lifted = _lifted(program, slack, w, block_multipliers, nothing)
        if lifted is not None:
            choices.append(lifted)
    return max(choices, key=lambda choice: choice.value)


def with_translation_gauge(program: Program) -> Program:
    """Return the program with the common translation of all free rows as its gauge, if it is one.

    It is one if neither the cost nor any form sees it, as when the free rows are the translations
    of patches. Centering the free rows then changes nothing, and the slack has an exact null
    vector that no lift can move.
    """
    free = np.ones(program.size)
    for first, length in program.blocks:
        free[first : first + length] = 0.0
    if program.gauge is not None or not len(program.blocks) or not np.any(free):
        return program
    gauge = free / np.linalg.norm(free)
    column = gauge[:, None]
    image = np.abs(program.cost @ column).max()
    matrix = isinstance(program.cost, LinearOperator)
    size = 1.0 if matrix else float(abs(program.cost).max())
    squares = program.forms.squares()
    factors = np.abs(squares.factors @ column).max(initial=0.0)
    if image <= program.size * ULP * size and factors <= program.size * ULP:
        return replace(program, gauge=gauge)
    return program


def positive_forms(forms: Forms) -> BoolArray:
    """Return which forms are sums of squares with positive signs, and so positive semidefinite."""
    squares = forms.squares()
    n_negative = np.bincount(squares.owner, squares.signs < 0.0, minlength=squares.n_forms)
    return np.asarray(n_negative == 0)


def _lifted(
    program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None, known: LiftedBound
) -> LiftedBound | None:
    """Return the bound for the least t tried with S + tR proved positive semidefinite."""
    usable = np.isfinite(program.envelope.upper) & positive_forms(program.forms)
    raised = usable.astype(np.float64)
    rows = np.zeros(program.size)
    for first, length in program.blocks:
        rows[first : first + length] = 1.0
    unit = sp.csr_array(sp.diags_array(rows))
    lift = program.forms.adjoint(raised) + unit
    lift = sp.csr_array(lift) if is_sparse(lift) else np.asarray(lift)
    size = float(abs(S).max()) or 1.0
    t = max(-known.floor.value if np.isfinite(known.floor.value) else 0.0, ULP * size)
    for _ in range(LIFTS):
        moved = S + t * lift
        probe = probe_slack(moved, gauge=program.gauge, shift=0.0)
        if probe.is_positive:
            # Positive by more than the rounding of the test itself.
            room = 2.0 * probe.margin
            sure = probe_slack(moved, gauge=program.gauge, shift=-room)
            if sure.is_positive and sure.margin <= room:
                higher = w + t * raised
                lower = None if blocks is None else sp.csr_array(blocks - t * unit)
                trace = 0.0 if lower is None else float(lower.diagonal().sum())
                value = program.dual_value(higher, trace)
                price = float(raised @ np.where(raised > 0.0, program.envelope.upper, 0.0))
                rounding = 4.0 * known.floor.margin * (float(rows.sum()) + abs(price))
                return replace(
                    known,
                    multipliers=higher,
                    block_multipliers=lower,
                    value=value,
                    shift=0.0,
                    rounding=rounding,
                )
        t *= 4.0
    return None
