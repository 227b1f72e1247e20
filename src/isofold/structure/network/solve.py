"""From a start to a layout: in more dimensions first, where folds come undone, then in d."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold.structure.network.layout import Ranging

__all__ = ["SolveRules", "settle", "solve_layout"]


@dataclass(frozen=True)
class SolveRules:
    """Constants of the descent; lengths are in units of the median range.

    Attributes
    ----------
    n_extra : int
        Dimensions beyond those of the network.
    lift : float
        Standard deviation of the start in them.
    squeezes : tuple of float
        Weights of the squares of the extra coordinates, one stage each.
    stage, last : int
        Iterations of each stage, and of the descent in d dimensions.
    exact : float
        Relative error of ranges below which they count as exact: positions are then computed to
        their last digits.
    """

    n_extra: int = 2
    lift: float = 0.1
    squeezes: tuple[float, ...] = (0.0, 0.03, 0.3, 3.0)
    stage: int = 100
    last: int = 300
    exact: float = 1e-3


RULES = SolveRules()


def solve_layout(
    ranging: Ranging, start: FloatArray, rng: Any, rules: SolveRules = RULES
) -> tuple[FloatArray, float]:
    """Return a layout of little energy from a start, and its energy."""
    n, d = start.shape
    extra = rules.lift * rng.standard_normal((n, rules.n_extra))
    extra[ranging.is_fixed] = 0.0
    Y = np.column_stack([start, extra])
    for squeeze in rules.squeezes:
        columns = np.concatenate([np.zeros(d), np.full(rules.n_extra, squeeze)])
        Y, _ = ranging.descended(Y, rules.stage, squeeze=columns)
    return settle(ranging, np.ascontiguousarray(Y[:, :d]), rules)


def settle(ranging: Ranging, Y: FloatArray, rules: SolveRules = RULES) -> tuple[FloatArray, float]:
    """Return a layout after a descent in its own dimensions, and its energy.

    The pairs without a range that are watched are renewed twice.
    """
    rounds = 1 if ranging.radius is None else 3
    energy = np.inf
    for _ in range(rounds):
        Y, energy = ranging.descended(Y, rules.last // rounds)
    n_ranges = max(len(ranging.ranges.pairs), 1)
    if energy < n_ranges * rules.exact**2:
        for _ in range(3):
            Y, energy = ranging.descended(Y, 10 * rules.last, tol=1e-18)
    return Y, energy
