"""Charts as SVG: axes with round ticks, lines, bars, cells; colors come from the page's theme."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from isofold._typing import FloatArray
from isofold.assessment.axis import Axis
from isofold.reports.text import markup

__all__ = ["HEIGHT", "WIDTH", "Drawing"]

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 46
"""Room around the plot for numbers and names, in units of the picture."""


@dataclass
class Drawing:
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
        return self.left + self.width * self.x.fraction(values)

    def down(self, values: FloatArray | float) -> FloatArray:
        """Return positions from the top."""
        return TOP + self.height * (1.0 - self.y.fraction(values))

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
        self, x: float, y: float, text: str, *, kind: str = "name", anchor: str = "start"
    ) -> None:
        """Write a text at a point of the picture."""
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{markup(text)}</text>"
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
        for value, text in self.x.ticks():
            at = float(self.across(value))
            parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{bottom}"/>')
            parts.append(
                f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{markup(text)}</text>'
            )
        for value, text in self.y.ticks():
            at = float(self.down(value))
            parts.append(f'<path class="grid" d="M{self.left:.1f} {at:.1f}H{right:.1f}"/>')
            parts.append(
                f'<text x="{self.left - 7:.1f}" y="{at + 4:.1f}" text-anchor="end">'
                f"{markup(text)}</text>"
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
