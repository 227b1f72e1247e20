"""Landmarks that carry all other points.

With the weights W that reconstruct every point from others, the points u that are reconstructed
best, given the landmarks l, solve Φ_uu Y_u + Φ_ul Y_l = 0 where Φ = (I - W)ᵀ(I - W).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._memory import require_memory
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor

__all__ = ["spread_from_landmarks"]

ROW_SUM_ERROR = 1e-4
"""Rows of Q add up to one; larger deviations come from a nearly singular matrix."""


def spread_from_landmarks(weights: sp.csr_array, landmarks: IntArray) -> FloatArray:
    """Return Q, by which landmarks carry all points: its rows add up to one."""
    n, m = weights.shape[0], len(landmarks)
    require_memory(
        32 * n * m,
        what=f"{m} landmarks for {n} points",
        instead="Pass a smaller n_landmarks.",
    )
    rest = np.setdiff1d(np.arange(n), landmarks)
    residual = sp.csr_array(sp.eye_array(n, format="csr") - weights)
    Q = np.zeros((n, m))
    Q[landmarks] = np.eye(m)
    if len(rest) == 0:
        return Q
    of_rest, of_landmarks = residual[:, rest], residual[:, landmarks]
    try:
        factor = SymmetricFactor(sp.csr_array(of_rest.T @ of_rest))
        Q[rest] = -factor.solve((of_rest.T @ of_landmarks).toarray())
    except SingularMatrixError:
        Q[rest] = np.nan
    if not np.all(np.abs(Q.sum(axis=1) - 1.0) < ROW_SUM_ERROR):
        msg = (
            f"{m} landmarks do not determine the other {len(rest)} points: their weights reach no "
            f"landmark, or landmarks span too few dimensions. Pass more n_landmarks, or a larger "
            f"n_weights."
        )
        raise InvalidInputError(msg)
    return Q / Q.sum(axis=1, keepdims=True)
