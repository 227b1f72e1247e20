"""Points of the Swiss roll at chosen places of its sheet, beyond its rim and beside it."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray

__all__ = ["on_roll"]

FIRST, LAST = 1.5 * np.pi, 4.5 * np.pi
"""Angles between which `isofold.datasets.swiss_roll` winds."""
MARGIN = 1.0
"""Radians by which the roll is continued at both ends."""
N_GRID = 200_001


def on_roll(flat: FloatArray, *, off: float = 0.0) -> FloatArray:
    """Return the points with given arc length and height, `off` away from the sheet.

    Parameters
    ----------
    flat : ndarray of shape (n, 2)
        Arc length from the inner edge, and height.
    off : float, default=0.0
        Distance from the sheet along its normal.
    """
    grid = np.linspace(FIRST - MARGIN, LAST + MARGIN, N_GRID)
    angle = np.interp(flat[:, 0] + _length(np.array(FIRST)), _length(grid), grid)
    cos, sin = np.cos(angle), np.sin(angle)
    tangent = np.column_stack((cos - angle * sin, sin + angle * cos))
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    spiral = angle[:, None] * np.column_stack((cos, sin))
    spiral += off * np.column_stack((tangent[:, 1], -tangent[:, 0]))
    return np.column_stack((spiral[:, 0], flat[:, 1], spiral[:, 1]))


def _length(angle: FloatArray) -> FloatArray:
    return np.asarray(angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
