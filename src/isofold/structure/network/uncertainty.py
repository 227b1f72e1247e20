"""How far noise of the ranges moves each node, to first order.

Near a layout Y the squared errors are a quadratic, with the Gauss–Newton matrix H = Jᵀ W J of the
ranges and of the lower bounds that are active. If weighted errors have variance σ², those of the
coordinates are the diagonal of σ² H⁻¹. It is estimated from solutions u of H u = √σ² Jᵀ W^½ ε with
normal ε, whose covariance it is. A small multiple of the identity stands for what is known anyway:
no node is lost farther than some radii, so that nodes that nothing holds have a large, finite one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isofold._typing import FloatArray
from isofold.structure.energy import Intervals
from isofold.structure.network.layout import Ranging

__all__ = ["standard_errors"]

N_PROBES = 24
"""Solutions that are drawn: an error is known to 10 to 15 % of itself."""

LOST = 3.0
"""Standard deviation, in radii, of a coordinate that nothing holds."""


def standard_errors(ranging: Ranging, Y: FloatArray, noise: float, rng: Any) -> FloatArray:
    """Return for each node the root mean square of how far noise moves it."""
    n, d = Y.shape
    free = ~ranging.is_fixed
    if not free.any():
        return np.zeros(n)
    near = ranging.apart(Y)
    is_active = near.lengths(Y) < near.lower
    active = Intervals(
        near.pairs[is_active],
        near.lower[is_active],
        near.upper[is_active],
        near.weights[is_active],
    )
    jacobian = sp.vstack([_jacobian(ranging.ranges, Y), _jacobian(active, Y)]).tocsc()
    jacobian = jacobian[:, np.repeat(free, d)]
    prior = np.sqrt(noise) / (LOST * ranging.scale)
    size = jacobian.shape[1]
    normal = (jacobian.T @ jacobian + prior**2 * sp.eye_array(size)).tocsc()
    factor = splu(
        normal,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    draws = jacobian.T @ rng.standard_normal((jacobian.shape[0], N_PROBES))
    draws += prior * rng.standard_normal((size, N_PROBES))
    moved = factor.solve(np.sqrt(noise) * draws)
    errors = np.zeros(n)
    errors[free] = np.sqrt((moved**2).reshape(-1, d, N_PROBES).sum(axis=1).mean(axis=1))
    return errors


def _jacobian(terms: Intervals, Y: FloatArray) -> sp.csr_array:
    """Return W^½ times the derivatives of the lengths by the coordinates."""
    n, d = Y.shape
    first, second = terms.pairs.T
    steps = Y[first] - Y[second]
    length = np.maximum(np.linalg.norm(steps, axis=1), np.finfo(np.float64).tiny)
    units = steps * (np.sqrt(terms.weights) / length)[:, None]
    rows = np.repeat(np.arange(len(first)), 2 * d)
    columns = np.concatenate([d * first[:, None] + np.arange(d), d * second[:, None] + np.arange(d)], axis=1)
    values = np.concatenate([units, -units], axis=1)
    return sp.csr_array((values.ravel(), (rows, columns.ravel())), (len(first), n * d))
