"""Repairs of a dual bound by dense algebra: the least change that all eigenvalues allow.

Multipliers (w, Λ) from a general solver leave a slack S = C + A*(w) − Λ whose lowest eigenvalues
lie a little below zero. It is mended by the least t ≥ 0 with S + tR ⪰ 0 off the gauge, where R is
one of three matrices that is itself the slack of known multipliers:

    R = Σ A_e + P_B   raises w by t where an upper bound pays for it, and lowers Λ by t;
    R = C             divides all multipliers by 1 + t;
    R = I             costs t·τ where the trace of an optimal G is at most τ.

The best of the three bounds counts. Rows that are free (translations) need no R of their own:
S need only be positive definite there, apart from directions that neither C nor any form sees.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from isofold._typing import FloatArray, Matrix
from isofold.sdp.dual.probe import spectrum_off_gauge
from isofold.sdp.dual.repairs import (
    Repair,
    best_repair,
    block_identity,
    pay_by_trace,
    unpaid,
)
from isofold.sdp.dual.spectrum import LowestEigenvalue
from isofold.sdp.forms import to_dense
from isofold.sdp.program import Program, reflect_off_gauge

__all__ = ["EIGENVALUE_ULPS", "repair_densely"]

EPS = float(np.finfo(np.float64).eps)

EIGENVALUE_ULPS = 4.0
"""LAPACK's symmetric eigenvalues are right to a small multiple of side·u·‖S‖; so is this test."""

NULL_ULPS = 64.0
"""Eigenvalues below so many times side·u·‖R‖ are those of an exact null vector after rounding."""


def repair_densely(
    program: Program, multipliers: FloatArray, blocks: Matrix | None
) -> tuple[Repair, LowestEigenvalue]:
    """Return the best bound that multipliers prove, by all eigenvalues: for small programs."""
    w = program.envelope.admissible(multipliers)
    slack = program.slack(w, blocks)
    spectrum = spectrum_off_gauge(slack, program.gauge)
    error = _eigenvalue_error(program, w, blocks)
    repairs = [
        _raised(program, slack, w, blocks, error),
        _scaled(program, slack, w, blocks, error),
        _scaled(program, slack, w, blocks, error, sign=-1.0),
        _traced(program, slack, w, blocks, error),
    ]
    lowest = float(spectrum.min(initial=np.inf)) if len(spectrum) else 0.0
    return best_repair(program, repairs), LowestEigenvalue(lowest, error)


def _raised(
    program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None, room: float
) -> Repair:
    """Raise the multipliers of positive forms bounded above, lower those of blocks, by one t."""
    raised, unit = program.raisable.astype(np.float64), block_identity(program)
    lift = to_dense(program.forms.adjoint(raised)) + to_dense(unit)
    t = _least_multiple(program, S, lift, room)
    if t is None:
        return unpaid(w, blocks)
    return Repair(w + t * raised, None if blocks is None else sp.csr_array(blocks - t * unit), 0.0)


def _scaled(
    program: Program,
    S: Matrix,
    w: FloatArray,
    blocks: Matrix | None,
    room: float,
    *,
    sign: float = 1.0,
) -> Repair:
    """Divide all multipliers by one number, which brings the slack nearer to the cost or farther.

    S ± tC = (1 ± t)C + A*(w) − Λ is positive semidefinite if ±C is so and t is large enough.
    """
    t = _least_multiple(program, S, sign * to_dense(program.cost), room)
    if t is None or 1.0 + sign * t <= 0.0:
        return unpaid(w, blocks)
    scale = 1.0 + sign * t
    return Repair(w / scale, None if blocks is None else sp.csr_array(blocks / scale), 0.0)


def _traced(
    program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None, room: float
) -> Repair:
    """Leave the multipliers and pay for their negative eigenvalue with the bound on the trace."""
    if program.trace_bound is None:
        return unpaid(w, blocks)
    t = _least_multiple(program, S, np.eye(program.size), room) or 0.0
    return pay_by_trace(program, w, blocks, t)


def _least_multiple(program: Program, S: Matrix, R: FloatArray, room: float) -> float | None:
    """Return the least t ≥ 0 with S + tR ⪰ 0 off the gauge, with room for rounding, or None.

    With R = V₁DV₁ᵀ ⪰ 0 and V₀ its null space, S₀₀ = V₀ᵀSV₀ must be positive definite; then
    t = −λ_min of D^(−1/2)(S₁₁ − S₁₀S₀₀⁻¹S₀₁)D^(−1/2), the Schur complement of S₀₀.
    """
    seen = _seen_directions(program)
    S, R = seen.T @ to_dense(S) @ seen, seen.T @ R @ seen
    if S.shape[0] == 0:
        return 0.0
    values, vectors = scipy.linalg.eigh((R + R.T) / 2)
    nothing = NULL_ULPS * len(values) * EPS * max(1e-300, float(np.abs(values).max()))
    if values[0] < -nothing:
        return None
    outer = values > nothing
    inner, V = vectors[:, ~outer], vectors[:, outer] / np.sqrt(values[outer])
    complement = V.T @ S @ V
    if inner.shape[1]:
        free = inner.T @ S @ inner
        if scipy.linalg.eigvalsh(free)[0] <= room:
            return None
        mixed = inner.T @ S @ V
        complement = complement - mixed.T @ scipy.linalg.solve(free, mixed, assume_a="pos")
    if not outer.any():
        return 0.0
    lowest = float(scipy.linalg.eigvalsh((complement + complement.T) / 2)[0])
    t = max(0.0, -lowest + room / float(values[outer].min()))
    # An S₀₀ that is almost singular spoils its Schur complement: the answer itself is tested.
    return t if scipy.linalg.eigvalsh(S + t * R)[0] >= -(1.0 + t) * room else None


def _eigenvalue_error(program: Program, w: FloatArray, blocks: Matrix | None) -> float:
    """Return the rounding of the slack's eigenvalues: its terms may be larger than their sum."""
    terms = np.abs(to_dense(program.cost)) + np.abs(to_dense(program.forms.adjoint(np.abs(w))))
    if blocks is not None:
        terms = terms + np.abs(to_dense(blocks))
    return EIGENVALUE_ULPS * program.size * EPS * float(terms.sum(axis=1).max())


def _seen_directions(program: Program) -> FloatArray:
    """Return an orthonormal basis of what the cost, a form or a block can see, off the gauge.

    In all other directions, such as a common translation of free rows, every slack is zero.
    """
    cost = to_dense(program.cost)
    squares = program.forms.squares().factors
    # Cost and forms have units of their own: neither may hide what only the other one sees.
    seen = to_dense(block_identity(program))
    for part in (cost @ cost, to_dense(squares.T @ squares)):
        seen = seen + part / max(1e-300, float(np.abs(part).max(initial=0.0)))
    basis = reflect_off_gauge(np.eye(program.size), program.gauge)
    if basis.shape[1] == 0:
        return np.asarray(basis)
    values, vectors = scipy.linalg.eigh(basis.T @ seen @ basis)
    nothing = NULL_ULPS * len(values) * EPS * float(np.abs(values).max())
    return np.asarray(basis @ vectors[:, values > nothing])
