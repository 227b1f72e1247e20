"""A certificate of optimality as data: a bound on the optimum, its proof, and its problem.

Only `isofold.sdp.dual.certify` makes certificates; here they are restated in other signs and
units.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from isofold._typing import FloatArray, Matrix

__all__ = ["Certificate", "relative_gap"]


@dataclass(frozen=True, eq=False)
class Certificate:
    """A valid bound on the optimum and the evidence for it.

    Parameters
    ----------
    multipliers : ndarray of shape (n_forms,)
        The dual variables w, repaired: the slack C + A*(w) − Λ (with C negated if the problem is
        a maximum) is positive semidefinite up to `shift`, on the Gram matrices that there can be:
        centered ones, those of the basis, those in which points at distance zero are one.
    block_multipliers : sparse array of shape (n_points, n_points) or None
        The block-diagonal Λ of orthonormal blocks.
    primal, dual : float
        The value at the returned coordinates and the bound, of the problem that is certified.
    gap : float
        Their difference, relative to the larger of them.
    min_eigenvalue : float
        The smallest eigenvalue of the slack before repair, known to `eigenvalue_error`.
    eigenvalue_error : float
        The accuracy of `min_eigenvalue`.
    shift : float
        The ε by which the slack was shifted; its cost is part of `dual`.
    max_violation : float
        How far the worst hard constraint is missed, in units of the constraints.
    rounding_floor : float
        The part of primal − dual that rounding alone can cause.
    is_exact : bool
        Whether the slack was proved positive semidefinite by a factorization or by all of its
        eigenvalues, rather than estimated by the Lanczos method.
    is_shifted : bool
        Whether the bound belongs to the problem with penalties centered at `center` rather than
        to the problem as it was posed.
    center, penalty : ndarray of shape (n_forms,) or None
        The multipliers w̄ and weights ν of the shifted problem.
    posed_bound : float
        A valid bound on the optimum of the problem as it was posed (infinite if none is known).
    """

    multipliers: FloatArray = field(repr=False)
    block_multipliers: Matrix | None = field(repr=False)
    primal: float
    dual: float
    gap: float
    min_eigenvalue: float
    eigenvalue_error: float
    shift: float
    max_violation: float
    rounding_floor: float
    is_exact: bool
    is_shifted: bool = False
    center: FloatArray | None = field(default=None, repr=False)
    penalty: FloatArray | None = field(default=None, repr=False)
    posed_bound: float = -np.inf

    def holds(self, tol: float) -> bool:
        """Tell whether the gap is at most `tol`, apart from the rounding floor."""
        scale = max(abs(self.primal), abs(self.dual))
        return (
            bool(np.isfinite(scale))
            and abs(self.primal - self.dual) <= tol * scale + self.rounding_floor
        )

    def with_sign(self, sign: float) -> Certificate:
        """Return the certificate of the maximum (sign −1) that a minimum stands for."""
        if sign > 0:
            return self
        return replace(self, primal=-self.primal, dual=-self.dual, posed_bound=-self.posed_bound)

    def restated(
        self, *, primal: float, dual: float, gap: float, max_violation: float
    ) -> Certificate:
        """Return the certificate of the program that a smaller one stands for, with its values."""
        return replace(
            self, primal=primal, dual=dual, posed_bound=dual, gap=gap, max_violation=max_violation
        )


def relative_gap(primal: float, dual: float) -> float:
    """Return |P − D| / max(|P|, |D|), zero if both are zero, infinite if one is not finite."""
    if not (np.isfinite(primal) and np.isfinite(dual)):
        return np.inf
    scale = max(abs(primal), abs(dual))
    return abs(primal - dual) / scale if scale > 0.0 else 0.0
