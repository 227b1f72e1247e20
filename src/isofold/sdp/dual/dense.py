"""Certificates by dense algebra: the bound that given multipliers prove, repaired where needed.

Multipliers (w, Λ) from a general solver leave a slack S = C + A*(w) − Λ whose lowest eigenvalues
lie a little below zero. It is mended by the least t ≥ 0 with S + tR ⪰ 0 off the gauge, where R is
one of three matrices that is itself the slack of known multipliers:

    R = Σ A_e + P_B   raises w by t where an upper bound pays for it, and lowers Λ by t;
    R = C             divides all multipliers by 1 + t;
    R = I             costs t·τ where the trace of an optimal G is at most τ.

The best of the three bounds is reported. Rows that are free (translations) need no R of their own:
S need only be positive definite there, apart from directions that neither C nor any form sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from isofold._typing import FloatArray, Matrix
from isofold.sdp.certificate import Certificate, relative_gap, spectrum_off_gauge
from isofold.sdp.dual.lifted import positive_forms
from isofold.sdp.forms import is_sparse, to_dense
from isofold.sdp.program import Program

__all__ = ["certify_dense", "reflect_off_gauge"]

EPS = float(np.finfo(np.float64).eps)

EIGENVALUE_ULPS = 4.0
"""LAPACK's symmetric eigenvalues are right to a small multiple of side·u·‖S‖; so is this test."""

NULL_ULPS = 64.0
"""Eigenvalues below so many times side·u·‖R‖ are those of an exact null vector after rounding."""


@dataclass(frozen=True, eq=False)
class _Dual:
    """Multipliers, the shift that is still needed and the bound that they then prove."""

    multipliers: FloatArray
    block_multipliers: Matrix | None
    shift: float
    bound: float


def reflect_off_gauge(rows: Matrix, gauge: FloatArray | None) -> Matrix:
    """Return rows·N with N an orthonormal basis of the complement of a unit vector.

    N is a Householder reflection without the column that it maps the gauge to. A difference of two
    unit vectors stays sparse under it unless it touches that one coordinate.
    """
    if gauge is None:
        return rows
    pivot = int(np.argmin(np.abs(gauge)))
    normal = gauge.copy()
    normal[pivot] += 1.0 if gauge[pivot] >= 0.0 else -1.0
    keep = np.arange(len(gauge)) != pivot
    along = np.asarray(rows @ normal) * (2.0 / float(normal @ normal))
    if not is_sparse(rows):
        return np.asarray(rows[:, keep] - np.outer(along, normal[keep]))
    correction = sp.csr_array(along[:, None]) @ sp.csr_array(normal[None, keep])
    return sp.csr_array(sp.csr_array(rows)[:, keep] - correction)


def certify_dense(
    program: Program, Y: FloatArray, multipliers: FloatArray, block_multipliers: Matrix | None
) -> Certificate:
    """Return the best bound that multipliers prove, by dense algebra: for small programs."""
    w = program.envelope.admissible(multipliers)
    slack = program.slack(w, block_multipliers)
    spectrum = spectrum_off_gauge(slack, program.gauge)
    error = _eigenvalue_error(program, w, block_multipliers)
    candidates = [
        _shifted(program, slack, w, block_multipliers),
        _scaled(program, slack, w, block_multipliers, 1.0),
        _scaled(program, slack, w, block_multipliers, -1.0),
        _traced(program, slack, w, block_multipliers),
    ]
    dual = max(candidates, key=lambda candidate: candidate.bound)
    primal = program.primal_value(Y)
    values = program.forms.values(Y)
    terms = float(np.linalg.norm(to_dense(program.cost), 2) * np.sum(Y * Y))
    terms += float(np.sum(np.abs(w * values)))
    return Certificate(
        multipliers=dual.multipliers,
        block_multipliers=dual.block_multipliers,
        primal=primal,
        dual=dual.bound,
        gap=relative_gap(primal, dual.bound) if np.isfinite(dual.bound) else np.inf,
        min_eigenvalue=float(spectrum.min(initial=np.inf)) if len(spectrum) else 0.0,
        eigenvalue_error=error,
        shift=dual.shift,
        max_violation=float(program.envelope.violation(values).max(initial=0.0)),
        rounding_floor=EIGENVALUE_ULPS * program.size * EPS * terms,
        is_exact=True,
        posed_bound=dual.bound,
    )


def _shifted(program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None) -> _Dual:
    """Raise the multipliers of positive forms bounded above, lower those of blocks, by one t."""
    usable = np.isfinite(program.envelope.upper) & positive_forms(program.forms)
    raised = usable.astype(np.float64)
    unit = _block_identity(program)
    lift = to_dense(program.forms.adjoint(raised)) + to_dense(unit)
    t = _least_multiple(program, S, lift, _eigenvalue_error(program, w, blocks))
    if t is None:
        return _Dual(w, blocks, 0.0, -np.inf)
    w = w + t * raised
    blocks = None if blocks is None else sp.csr_array(blocks - t * unit)
    return _Dual(w, blocks, 0.0, program.dual_value(w, _trace(blocks)))


def _scaled(
    program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None, sign: float
) -> _Dual:
    """Divide all multipliers by one number, which brings the slack nearer to the cost or farther.

    S ± tC = (1 ± t)C + A*(w) − Λ is positive semidefinite if ±C is so and t is large enough.
    """
    room = _eigenvalue_error(program, w, blocks)
    t = _least_multiple(program, S, sign * to_dense(program.cost), room)
    if t is None or 1.0 + sign * t <= 0.0:
        return _Dual(w, blocks, 0.0, -np.inf)
    w = w / (1.0 + sign * t)
    blocks = None if blocks is None else sp.csr_array(blocks / (1.0 + sign * t))
    return _Dual(w, blocks, 0.0, program.dual_value(w, _trace(blocks)))


def _traced(program: Program, S: Matrix, w: FloatArray, blocks: Matrix | None) -> _Dual:
    """Leave the multipliers and pay for their negative eigenvalue with the bound on the trace."""
    if program.trace_bound is None:
        return _Dual(w, blocks, 0.0, -np.inf)
    error = _eigenvalue_error(program, w, blocks)
    t = _least_multiple(program, S, np.eye(program.size), error) or 0.0
    bound = program.dual_value(w, _trace(blocks)) - t * program.trace_bound
    return _Dual(w, blocks, t, bound)


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
    seen = to_dense(_block_identity(program))
    for part in (cost @ cost, to_dense(squares.T @ squares)):
        seen = seen + part / max(1e-300, float(np.abs(part).max(initial=0.0)))
    basis = reflect_off_gauge(np.eye(program.size), program.gauge)
    if basis.shape[1] == 0:
        return np.asarray(basis)
    values, vectors = scipy.linalg.eigh(basis.T @ seen @ basis)
    nothing = NULL_ULPS * len(values) * EPS * float(np.abs(values).max())
    return np.asarray(basis @ vectors[:, values > nothing])


def _block_identity(program: Program) -> Matrix:
    """Return the diagonal matrix with ones on rows that belong to an orthonormal block."""
    diagonal = np.zeros(program.size)
    for first, size in program.blocks:
        diagonal[first : first + size] = 1.0
    return sp.diags_array(diagonal, format="csr")


def _trace(matrix: Matrix | None) -> float:
    return 0.0 if matrix is None else float(matrix.diagonal().sum())
