"""Charts as SVG: axes with round ticks, lines, bars, cells; colors come from the page's theme."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from isofold._typing import FloatArray
from isofold.reports.text import markup

__all__ = ["Axis", "Chart", "log_ticks", "round_ticks"]

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 46
"""Room around the plot for numbers and names, in units of the picture."""


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about so many round numbers within a range.

    Examples
    --------
    >>> from isofold.reports.svg import round_ticks
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
    # Plus zero, since nobody wants to read -0.
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
    """A range of numbers, and how to name them.

    Attributes
    ----------
    low, high : float
        The range.
    name : str
        What the numbers are.
    is_log : bool
        Whether equal ratios have equal lengths.
    is_percent : bool
        Whether numbers are shares, shown as percent.
    is_whole : bool
        Whether only whole numbers make sense.
    """

    low: float
    high: float
    name: str
    is_log: bool = False
    is_percent: bool = False
    is_whole: bool = False

    def share(self, values: FloatArray | float) -> FloatArray:
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
        if self.is_log and value >= 1e6:
            return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
        if 1e3 <= abs(value) < 1e6:
            return f"{value:,.0f}"
        return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


@dataclass
class Chart:
    """A picture that is being drawn.

    Attributes
    ----------
    key : str
        Unique in the page; ids begin with it.
    title, description : str
        For those who cannot see it.
    x, y : Axis
        The axes; y grows upward.
    is_square : bool
        Whether both axes have the same length.
    """

    key: str
    title: str
    description: str
    x: Axis
    y: Axis
    is_square: bool = False
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = HEIGHT - TOP - BOTTOM if self.is_square else WIDTH - LEFT - RIGHT
        self.height = HEIGHT - TOP - BOTTOM
        self.left = (WIDTH + LEFT - RIGHT - self.width) / 2 if self.is_square else LEFT

    def across(self, values: FloatArray | float) -> FloatArray:
        """Return positions from the left."""
        return self.left + self.width * self.x.share(values)

    def down(self, values: FloatArray | float) -> FloatArray:
        """Return positions from the top."""
        return TOP + self.height * (1.0 - self.y.share(values))

    def line(self, x: FloatArray, y: FloatArray, kind: str = "curve") -> None:
        """Draw a curve; beyond the axes it is cut at their ends."""
        across = np.clip(self.across(x), self.left, self.left + self.width)
        down = np.clip(self.down(y), TOP, TOP + self.height)
        points = " ".join(f"{a:.1f},{d:.1f}" for a, d in zip(across, down, strict=True))
        self.parts.append(f'<polyline class="{kind}" points="{points}"/>')

    def rectangle(
        self, x: tuple[float, float], y: tuple[float, float], kind: str, opacity: float = 1.0
    ) -> None:
        """Draw a bar or a cell between two numbers on each axis."""
        left, right = (float(self.across(value)) for value in x)
        bottom, top = (float(self.down(value)) for value in y)
        faint = "" if opacity >= 1.0 else f' fill-opacity="{opacity:.2f}"'
        self.parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" '
            f'width="{max(0.5, right - left):.1f}" height="{max(0.0, bottom - top):.1f}"{faint}/>'
        )

    def text(
        self, x: float, y: float, words: str, *, kind: str = "name", anchor: str = "start"
    ) -> None:
        """Write words at a place of the picture."""
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{markup(words)}</text>"
        )

    def svg(self) -> str:
        """Return the picture."""
        title, description = markup(self.title), markup(self.description, 1000)
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="{self.key}-title {self.key}-desc">'
            f'<title id="{self.key}-title">{title}</title>'
            f'<desc id="{self.key}-desc">{description}</desc>'
            f"{self._axes()}{''.join(self.parts)}</svg>"
        )

    def _axes(self) -> str:
        bottom, right = TOP + self.height, self.left + self.width
        parts = []
        for value, words in self.x.ticks():
            at = float(self.across(value))
            parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{bottom}"/>')
            parts.append(
                f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{markup(words)}</text>'
            )
        for value, words in self.y.ticks():
            at = float(self.down(value))
            parts.append(f'<path class="grid" d="M{self.left:.1f} {at:.1f}H{right:.1f}"/>')
            parts.append(
                f'<text x="{self.left - 7:.1f}" y="{at + 4:.1f}" text-anchor="end">'
                f"{markup(words)}</text>"
            )
        middle = self.left + self.width / 2
        parts.append(
            f'<path class="frame" d="M{self.left:.1f} {TOP}V{bottom}H{right:.1f}"/>'
            f'<text class="name" x="{middle:.1f}" y="{bottom + 38}" text-anchor="middle">'
            f"{markup(self.x.name)}</text>"
            f'<text class="name" text-anchor="middle" transform="translate('
            f'{self.left - 44:.1f} {TOP + self.height / 2:.1f}) rotate(-90)">'
            f"{markup(self.y.name)}</text>"
        )
        return "".join(parts)
