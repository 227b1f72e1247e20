"""Axes of charts: a range of numbers, and round numbers to show along it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray

__all__ = ["Axis", "log_ticks", "round_ticks"]


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about so many round numbers within a range.

    Examples
    --------
    >>> from isofold.assessment.axis import round_ticks
    >>> round_ticks(0.0, 9.3)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / count))
    if power == 0.0:
        return [low, high]
    step = next((s * power for s in (1, 2, 5) if span / (s * power) <= count), 10 * power)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # Plus zero, so that -0 is not shown.
    return [number * step + 0.0 for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten within a range, or more where these are fewer than two."""
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    ticks = [10.0**power for power in powers]
    if len(ticks) >= 3:
        return ticks
    lowest = math.floor(math.log10(low))
    fine = [s * 10.0 ** (lowest + p) for p in range(4) for s in (1, 2, 5)]
    return [tick for tick in fine if low <= tick <= high] or [low]


@dataclass(frozen=True)
class Axis:
    """A range of numbers, and how to show them.

    Attributes
    ----------
    low, high : float
        The range.
    name : str
        What the numbers are.
    is_log : bool
        Whether equal ratios have equal lengths.
    is_percent : bool
        Whether numbers are fractions, shown as percent.
    is_whole : bool
        Whether only whole numbers make sense.
    """

    low: float
    high: float
    name: str
    is_log: bool = False
    is_percent: bool = False
    is_whole: bool = False

    def fraction(self, values: FloatArray | float) -> FloatArray:
        """Return where values lie between both ends, from 0 to 1."""
        numbers = np.asarray(values, dtype=np.float64)
        low, high = self.low, self.high
        if self.is_log:
            numbers, low, high = np.log(numbers), math.log(low), math.log(high)
        # Relative to the end first: a difference of large numbers may leave the range.
        span = (high - low) or 1.0
        return (numbers - low) / span

    def ticks(self) -> list[tuple[float, str]]:
        """Return numbers to show, with their texts."""
        values = log_ticks(self.low, self.high) if self.is_log else round_ticks(self.low, self.high)
        if self.is_whole:
            values = [value for value in values if value == round(value)]
        return [(value, self._text(value)) for value in values]

    def _text(self, value: float) -> str:
        if self.is_percent:
            return f"{100 * value:.3g}%"
        if 1e3 <= abs(value) < 1e6:
            return f"{value:,.0f}"
        mantissa, _, exponent = f"{value:.4g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
