"""The dual bound of a program with orthonormal blocks and no other constraints.

For any block-diagonal Λ with C − Λ + εE ⪰ 0 (E is the identity on orthonormal rows, of which there
are R) the optimum is at least tr Λ − εR, since ⟨E, YYᵀ⟩ = R. At a critical point Λ_i =
sym((CY)_i Y_iᵀ) has tr Λ = ⟨C, YYᵀ⟩, so that the gap is εR. The test is one factorization: free
rows are eliminated by it like all others, and a grounded row does not change the signs (see
`joint_matrix`). Below ε = u‖C‖ the entries of C themselves are not known, hence the rounding floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.linalg import eigh_extreme
from isofold.linalg.fronts import FrontalFactor
from isofold.linalg.ldl import SingularMatrixError
from isofold.sdp.joint_matrix import JointMatrix
from isofold.sdp.stiefel import BlockMatrices

__all__ = ["BlockBound", "bound_blocks"]

FRACTIONS = ((0.25, 0.01), (0.75, 0.75))
"""Fractions of the allowed gap and of the rounding floor that the shift ε may cost, tried in turn;
the rest is for the primal side. The second try helps where the gap is all rounding."""


@dataclass(frozen=True, eq=False)
class BlockBound:
    """A valid lower bound on the optimum.

    Parameters
    ----------
    multipliers : tuple of ndarray
        The blocks of Λ.
    dual : float
        The bound tr Λ − εR.
    shift : float
        The shift ε.
    min_eigenvalue : float
        The smallest eigenvalue of the slack on orthonormal rows (free rows eliminated).
    eigenvalue_error : float
        The accuracy of `min_eigenvalue`: rounding of the factors, and ε where it was not computed.
    direction : ndarray of shape (size,) or None
        Its eigenvector, if it was computed: a descent direction for another column of Y.
    """

    multipliers: BlockMatrices
    dual: float
    shift: float
    min_eigenvalue: float
    eigenvalue_error: float
    direction: FloatArray | None = None


@stage("certificate")
def bound_blocks(
    joint: JointMatrix, Y: FloatArray, image: FloatArray, *, tol: float, repair: bool
) -> BlockBound | None:
    """Return the bound of the multipliers at a point."""
    multipliers = joint.manifold.multipliers(Y, image)
    trace, rows = joint.manifold.trace(multipliers), joint.manifold.n_orthonormal_rows
    if abs(trace) <= joint.rounding_floor:
        # All rounding: zero is as good a bound, if C itself is semidefinite, as a misfit is.
        multipliers, trace = tuple(np.zeros_like(block) for block in multipliers), 0.0
    if joint.norm == 0.0:
        return BlockBound(multipliers, 0.0, 0.0, 0.0, 0.0)
    least = 0.0
    for of_gap, of_rounding in FRACTIONS:
        least = (of_gap * tol * abs(trace) + of_rounding * joint.rounding_floor) / rows
        factor = _definite(joint, multipliers, least)
        if factor is not None:
            error = least + factor.error_bound
            return BlockBound(multipliers, trace - least * rows, least, 0.0, error)
    return _repaired(joint, multipliers, trace, least) if repair else None


def _definite(joint: JointMatrix, multipliers: BlockMatrices, shift: float) -> FrontalFactor | None:
    """Return the factors of C − Λ + shift·E if it is positive definite."""
    try:
        factor = joint.factor(multipliers, shift)
    except SingularMatrixError:
        return None
    return factor if factor.n_negative == 0 else None


def _repaired(
    joint: JointMatrix, multipliers: BlockMatrices, trace: float, least: float
) -> BlockBound:
    """Return the bound with the least shift, which is minus the smallest eigenvalue."""
    rows = joint.manifold.n_orthonormal_rows
    shift, factor = least, None
    while factor is None:
        shift *= 10.0
        factor = _definite(joint, multipliers, shift)
    value, direction = _lowest_eigenpair(joint, factor, shift)
    # The eigenvalue is good to many digits, but only a factorization proves that it is the least.
    for slack in (1e-6, 1e-3, 1e-1):
        closer = max(-value, 0.0) * (1.0 + slack) + least
        factor = _definite(joint, multipliers, closer) if closer < shift else None
        if factor is not None:
            shift = closer
            break
    else:
        factor = _definite(joint, multipliers, shift)
    error = abs(shift + value) + (factor.error_bound if factor is not None else 0.0)
    return BlockBound(multipliers, trace - shift * rows, shift, value, error, direction)


def _lowest_eigenpair(
    joint: JointMatrix, factor: FrontalFactor, shift: float
) -> tuple[float, FloatArray]:
    """Return the smallest eigenvalue of the slack's Schur complement, with its vector on all rows.

    The inverse of the Schur complement is the part of (C − Λ + shift·E)⁻¹ on orthonormal rows, so
    that its largest eigenvalue θ gives 1/θ − shift.
    """
    manifold = joint.manifold
    inside = np.setdiff1d(np.arange(manifold.size), manifold.free)

    def solve(x: FloatArray) -> FloatArray:
        right = np.zeros((manifold.size, x.reshape(len(inside), -1).shape[1]))
        right[inside] = x.reshape(len(inside), -1)
        return np.asarray(factor.solve(right)[inside].reshape(x.shape))

    side = len(inside)
    operator = LinearOperator((side, side), matvec=solve, matmat=solve, dtype=np.float64)
    values, vectors = eigh_extreme(operator, 1, which="largest")
    direction = np.zeros(manifold.size)
    direction[inside] = vectors[:, 0]
    return float(1.0 / values[0] - shift), direction
