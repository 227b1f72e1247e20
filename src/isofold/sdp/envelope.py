"""Constraints l ≤ g ≤ u on numbers, hard, soft or augmented: convex functions of one form.

A hard constraint is the indicator of [l, u]. Its conjugate h*(w) = u·w for w > 0 and l·w for w < 0
is the price of a multiplier w. A soft constraint pays (ν/2)·dist(g, [l, u])², and an augmented
Lagrangian with multiplier w̄ is the same function moved by w̄. All are

    ψ(g) = max_w  w·g − h*(w) − (w − w̄)²/(2ν),      ψ*(w) = h*(w) + (w − w̄)²/(2ν),

with ν = ∞ for a hard constraint. Its derivative is the multiplier where the maximum is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isofold._typing import BoolArray, FloatArray

__all__ = ["Envelope"]


@dataclass(frozen=True, eq=False)
class Envelope:
    """Functions ψ_e of numbers g_e, one for each constraint.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_forms,)
        The interval of each number; infinite where there is no bound.
    penalty : ndarray of shape (n_forms,)
        The weights ν; infinite for hard constraints.
    center : ndarray of shape (n_forms,)
        The multipliers w̄ that the penalty is centered at; zero for a problem as it is posed.
    """

    lower: FloatArray
    upper: FloatArray
    penalty: FloatArray
    center: FloatArray

    @property
    def is_hard(self) -> BoolArray:
        """Which constraints are hard."""
        return np.isinf(self.penalty)

    @property
    def is_equality(self) -> BoolArray:
        """Which intervals are a single number."""
        return np.equal(self.lower, self.upper)

    @property
    def targets(self) -> FloatArray:
        """A finite number of each interval: the upper bound if there is one."""
        finite = np.where(np.isfinite(self.upper), self.upper, self.lower)
        return np.where(np.isfinite(finite), finite, 0.0)

    @property
    def length_unit(self) -> float:
        """The mean magnitude of the bounds, which is the square of a unit of length; 1 if zero."""
        targets = np.abs(self.targets)
        mean = float(targets.mean()) if len(targets) else 0.0
        return mean if mean > 0.0 else 1.0

    def in_units(self, unit: float) -> Envelope:
        """Return the functions of g/unit whose sum is the original one divided by unit."""
        return Envelope(self.lower / unit, self.upper / unit, self.penalty * unit, self.center)

    def part(self, chosen: BoolArray) -> Envelope:
        """Return the functions of the chosen constraints alone."""
        return Envelope(
            self.lower[chosen], self.upper[chosen], self.penalty[chosen], self.center[chosen]
        )

    def augmented(self, center: FloatArray, penalty: FloatArray) -> Envelope:
        """Return the smooth functions in which hard constraints have these w̄ and ν."""
        hard = self.is_hard
        return replace(
            self,
            center=np.where(hard, center, self.center),
            penalty=np.where(hard, penalty, self.penalty),
        )

    @cached_property
    def _only_equalities(self) -> bool:
        """Whether ψ is one quadratic for all g, which saves most of the work."""
        return bool(np.all(self.is_equality))

    def multipliers(self, values: FloatArray) -> FloatArray:
        """Return the derivatives w = ψ'(g); every penalty must be finite."""
        if self._only_equalities:
            return self.center + self.penalty * (values - self.upper)
        above = self.center + self.penalty * (values - self.upper)
        below = self.center + self.penalty * (values - self.lower)
        return np.maximum(above, 0.0) + np.minimum(below, 0.0)

    def curvature(self, values: FloatArray) -> FloatArray:
        """Return ψ''(g): ν where the bound is active, else zero."""
        if self._only_equalities:
            return self.penalty
        above = self.center + self.penalty * (values - self.upper)
        below = self.center + self.penalty * (values - self.lower)
        active = (above > 0.0) | (below < 0.0) | self.is_equality
        return np.where(active, self.penalty, 0.0)

    def total(self, values: FloatArray) -> float:
        """Return Σ ψ_e(g_e); every penalty must be finite."""
        if self._only_equalities:
            excess = values - self.upper
            return float(self.center @ excess) + 0.5 * float((self.penalty * excess) @ excess)
        w = self.multipliers(values)
        return float(w @ values) - self.conjugate_total(w)

    def conjugate_total(self, multipliers: FloatArray) -> float:
        """Return Σ ψ_e*(w_e): infinite if a multiplier leans on a bound that is not there."""
        with np.errstate(invalid="ignore"):
            price = np.where(multipliers > 0, multipliers * self.upper, multipliers * self.lower)
        price = np.where(multipliers == 0, 0.0, price)
        shift = (multipliers - self.center) ** 2 / (2.0 * self.penalty)
        return float(np.sum(price + shift))

    def violation(self, values: FloatArray) -> FloatArray:
        """Return how far each hard number lies outside its interval, zero for soft ones."""
        outside = np.maximum(np.maximum(self.lower - values, values - self.upper), 0.0)
        return np.where(self.is_hard, outside, 0.0)

    def admissible(self, multipliers: FloatArray) -> FloatArray:
        """Return the multipliers with those that lean on an absent bound set to zero."""
        absent = ((multipliers > 0) & np.isinf(self.upper)) | (
            (multipliers < 0) & np.isinf(self.lower)
        )
        return np.where(absent, 0.0, multipliers)
