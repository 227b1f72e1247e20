"""Penalties of soft distances in natural units, so that one number suits all sizes and scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import FloatArray, Matrix
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES
from isofold.sdp.solvers.start import multiplier_scale

__all__ = ["natural_penalty"]

MOST_STEPS = 300
"""Steps of inverse iteration: enough unless two scales differ by less than five per cent."""


def natural_penalty(
    n_points: int, pairs: Any, squared_distances: Any, *, objective: Matrix | None = None
) -> FloatArray:
    """Return the penalties ν_e of soft distances that are one in natural units.

    Lengths are in units of their mean square, weights 1/max(d², 0.05) make relative errors alike,
    and the size is that of multipliers: the least uniform weight that balances the objective, which
    for variance is 1/λ₂ of the unit Laplacian.

    Examples
    --------
    >>> from isofold.sdp.posing.natural_units import natural_penalty
    >>> natural_penalty(2, [[0, 1]], [1.0])
    array([0.5])
    """
    squared = np.asarray(squared_distances, dtype=np.float64)
    if len(squared) == 0:
        return np.empty(0)
    unit = float(squared.mean()) or 1.0
    program = Program.of(GramSDP.unfolding(n_points, pairs, squared / unit, objective=objective))
    # A fixed seed, and steps until it has settled: what is posed must depend neither on how it is
    # solved nor on the order of the points.
    scale = multiplier_scale(program, np.random.default_rng(0), n_steps=MOST_STEPS)
    return np.asarray(scale / np.maximum(squared / unit, RULES.short_length) / unit)
