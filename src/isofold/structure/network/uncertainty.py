"""How far noise of the ranges moves each node, to first order.

Near a layout Y the squared errors are a quadratic, with the Gauss–Newton matrix H = Jᵀ W J of the
ranges and of the lower bounds that are active. If weighted errors have variance σ², those of the
coordinates are the diagonal of σ² H⁻¹. It is estimated from solutions u of H u = σ Jᵀ W^½ ε with
normal ε, whose covariance it is. A small multiple of the identity stands for what is known anyway:
no node is lost farther than some radii, so that nodes that nothing holds have a large, finite one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg.ldl import SymmetricFactor
from isofold.structure.network.layout import Ranging
from isofold.structure.polish import pair_jacobian

__all__ = ["standard_errors"]

N_PROBES = 24
"""Solutions that are drawn: an error is known to 10 to 15 % of itself."""

LOST = 3.0
"""Standard deviation, in radii, of a coordinate that nothing holds."""


def standard_errors(ranging: Ranging, Y: FloatArray, noise: float, rng: Any) -> FloatArray:
    """Return for each node the root mean square of how far noise moves it.

    A network without fixed nodes moves as a whole, too; that part is left out.
    """
    n, d = Y.shape
    free = ~ranging.is_fixed
    if not free.any():
        return np.zeros(n)
    parts = [pair_jacobian(term, Y) for term in (ranging.ranges, ranging.apart(Y))]
    jacobian = sp.csc_array(sp.vstack(parts))[:, np.repeat(free, d)]
    prior = np.sqrt(noise) / (LOST * ranging.scale)
    size = jacobian.shape[1]
    factor = SymmetricFactor((jacobian.T @ jacobian + prior**2 * sp.eye_array(size)).tocsc())
    draws = jacobian.T @ rng.standard_normal((jacobian.shape[0], N_PROBES))
    draws += prior * rng.standard_normal((size, N_PROBES))
    moved = factor.solve(np.sqrt(noise) * draws)
    if free.all():
        motions = _motions_of_all(Y)
        moved = moved - motions @ (motions.T @ moved)
    errors = np.zeros(n)
    errors[free] = np.sqrt((moved**2).reshape(-1, d, N_PROBES).sum(axis=1).mean(axis=1))
    return errors


def _motions_of_all(Y: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the shifts and rotations of all nodes."""
    n, d = Y.shape
    centered = Y - Y.mean(axis=0)
    motions = [np.tile(row, n) for row in np.eye(d)]
    for a in range(d):
        for b in range(a + 1, d):
            turn = np.zeros((n, d))
            turn[:, a], turn[:, b] = -centered[:, b], centered[:, a]
            motions.append(turn.ravel())
    left, extents, _ = np.linalg.svd(np.column_stack(motions), full_matrices=False)
    return np.asarray(left[:, extents > 1e-9 * extents[0]])
