"""How far a shape has to be pushed until it is clear of others."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from isofold._typing import FloatArray

__all__ = ["NEAR_ENOUGH", "clearing_push"]

NEAR_ENOUGH, MOST_PUSHES = 0.05, 200
"""Fraction of the gap that may be missing, and steps in which a shape is pushed."""


def clearing_push(others: KDTree, own: FloatArray, direction: FloatArray, gap: float) -> FloatArray:
    """Return the vector in a direction that takes points as far from others as the gap asks."""
    size = float(np.linalg.norm(direction))
    away: FloatArray = direction / size if size > 0.0 else np.eye(len(direction))[0]
    shift = 0.0
    # Each step makes up for what is missing between the two nearest points, at least.
    for _ in range(MOST_PUSHES):
        missing = gap - float(np.min(others.query(own + shift * away)[0]))
        if missing <= NEAR_ENOUGH * gap:
            break
        shift += missing
    return shift * away
