"""Arc length: the true coordinate of a rolled axis.

A curve c(t) is handed over by the antiderivative of its speed |c'(t)|. For the Archimedean
spiral (t cos t, t sin t) the speed is √(1 + t²) with antiderivative ½(t√(1 + t²) + asinh t).
Where no closed form exists, the speed is interpolated by a Chebyshev polynomial, which is then
integrated exactly; for the analytic curves used here the error is at rounding level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev

from isofold._typing import FloatArray

_N_NODES = 1025
_N_NEWTON_STEPS = 4
"""Linear interpolation between 1,025 nodes is right to about 1e-4; each Newton step squares the
error, so three reach rounding level and one is in reserve."""

_DEGREE = 80
"""Enough for one period of the helix's analytic speed: the error is below 1e-15."""


@dataclass(frozen=True)
class Arc:
    """A segment of a curve and the length along it.

    Attributes
    ----------
    start, stop : float
        Ends of the parameter t.
    antiderivative : callable
        Length along the curve up to t, up to a constant.
    speed : callable
        Its derivative |c'(t)|, positive everywhere.
    """

    start: float
    stop: float
    antiderivative: Callable[[FloatArray], FloatArray]
    speed: Callable[[FloatArray], FloatArray]

    def length(self, t: FloatArray) -> FloatArray:
        """Return the length from `start` to each t."""
        return self.antiderivative(t) - self.antiderivative(np.array(self.start))

    @property
    def total(self) -> float:
        """Length of the whole segment."""
        return float(self.length(np.array(self.stop)))

    @property
    def axis(self) -> tuple[float, float, float]:
        """The parameters at the start, at half of the length and at the end."""
        return self.start, float(self.parameter(np.array(self.total / 2))), self.stop

    def parameter(self, length: FloatArray) -> FloatArray:
        """Return the t at which each length is reached."""
        nodes = np.linspace(self.start, self.stop, _N_NODES)
        t = np.interp(length, self.length(nodes), nodes)
        for _ in range(_N_NEWTON_STEPS):
            t = np.clip(t - (self.length(t) - length) / self.speed(t), self.start, self.stop)
        return t


def archimedean(start: float, stop: float) -> Arc:
    """Return the arc of the spiral (t cos t, t sin t) between two angles."""
    return Arc(
        start,
        stop,
        antiderivative=lambda t: 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)),
        speed=lambda t: np.sqrt(1 + t * t),
    )


def integrated(start: float, stop: float, *, speed: Callable[[FloatArray], FloatArray]) -> Arc:
    """Return the arc of a curve whose length has no closed form.

    The speed may oscillate about once between `start` and `stop`, not more.
    """
    polynomial = Chebyshev.interpolate(speed, _DEGREE, domain=[start, stop])
    return Arc(start, stop, antiderivative=polynomial.integ(), speed=speed)
