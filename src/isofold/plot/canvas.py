"""Axes, colors and marks that all figures share. matplotlib is loaded when the first is drawn."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np

from isofold._dependencies import require
from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.plot.palette import SEQUENTIAL

__all__ = [
    "caption",
    "color_bar",
    "colormap",
    "extent_of",
    "fit_to_box",
    "frame_map",
    "in_percent",
    "is_dark",
    "load",
    "new_axes",
    "plain",
    "round_length",
    "spread",
]

LONGEST_WORD = 40
"""Characters of a name that are shown."""

CAPTION_WIDTH = 52
"""Characters of a line of a caption."""

DARK = 0.5
"""Lightness of a background below which it is dark."""

THINNEST = 0.25
"""Height of a map over its width, or the other way round, at least: thin ones get room around."""

BAR_WIDTH = 0.2
"""Fraction of the width that a scale bar takes at most."""


def load(module: str = "matplotlib.pyplot") -> Any:
    """Return a module of matplotlib."""
    return require(module, extra="plot", purpose="Drawing a figure")


def new_axes(ax: Any, *, figsize: tuple[float, float] = (6.0, 4.5), dimension: int = 2) -> Any:
    """Return the axes to draw on: the given ones, or those of a new figure."""
    in_space = dimension == 3
    if ax is None:
        how = {"projection": "3d"} if in_space else {}
        return load().subplots(figsize=figsize, subplot_kw=how, layout="constrained")[1]
    if not hasattr(ax, "scatter") or in_space != (getattr(ax, "name", "") == "3d"):
        wanted = 'subplot_kw={"projection": "3d"}' if in_space else "no projection"
        msg = f"ax={ax!r} cannot show this figure. Pass matplotlib axes with {wanted}, or none."
        raise InvalidInputError(msg)
    return ax


def colormap() -> Any:
    """Return the colors of numbers."""
    return load("matplotlib.colors").ListedColormap(list(SEQUENTIAL), name="isofold")


def is_dark(ax: Any) -> bool:
    """Return whether axes have a dark background."""
    red, green, blue = load("matplotlib.colors").to_rgb(ax.get_facecolor())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < DARK)


def plain(text: Any) -> str:
    """Return a name as matplotlib can show it: short, in one line, without formulas."""
    line = "".join(c if c.isprintable() else " " for c in str(text)).strip()
    line = line if len(line) <= LONGEST_WORD else f"{line[: LONGEST_WORD - 1]}…"
    # Dollars would start a formula, and names that start with an underscore are left out.
    line = line.replace("$", r"\$")
    return f" {line}" if line.startswith("_") else line


def round_length(longest: float) -> float:
    """Return the largest of 1, 2, 5, 10, 20, … that is not above a length."""
    power = 10.0 ** np.floor(np.log10(longest))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= longest * 1.0001))


def spread(n_points: int) -> FloatArray:
    """Return heights from 0 to 1 that spread points of a line, evenly and always alike."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    return np.asarray((np.arange(n_points) * golden) % 1.0)


def fit_to_box(points: FloatArray, size: tuple[float, float]) -> tuple[FloatArray, float]:
    """Return points of the plane scaled to a box around zero, down the screen, and the scale."""
    # In halves, since the difference of two large numbers may leave the range.
    low, high = points.min(axis=0) / 2, points.max(axis=0) / 2
    spans = 2 * (high - low)
    extends = spans > 0
    scale = float(np.min(np.asarray(size)[extends] / spans[extends], initial=np.inf))
    scale = scale if np.isfinite(scale) else 0.0
    return 2 * (points / 2 - (low + high) / 2) * scale * [1.0, -1.0], scale


def frame_map(ax: Any, points: FloatArray) -> None:
    """Give a map the same scale in both directions, close around it, and show the scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = high - low
    longer = max(width, height) or 1.0
    width, height = max(width, THINNEST * longer), max(height, THINNEST * longer)
    middle, margin = 0.5 * (low + high), 0.04 * longer
    ax.set_xlim(middle[0] - 0.5 * width - margin, middle[0] + 0.5 * width + margin)
    ax.set_ylim(middle[1] - 0.5 * height - margin, middle[1] + 0.5 * height + margin)
    ax.set_aspect("equal", adjustable="box")
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_alpha(0.25)
    _scale_bar(ax)


def _scale_bar(ax: Any) -> None:
    """Draw how long a round length is on a map, below it on the left."""
    left, right = ax.get_xlim()
    length = round_length(BAR_WIDTH * (right - left))
    below = load("matplotlib.transforms").offset_copy(
        ax.get_xaxis_transform(), fig=ax.figure, y=-9.0, units="points"
    )
    color = ax.xaxis.label.get_color()
    ax.plot([left, left + length], [0.0, 0.0], color=color, transform=below, clip_on=False)
    ax.text(left + length, 0.0, f"  {length:g}", va="center", fontsize="small", transform=below)


def color_bar(ax: Any, drawn: Any, **options: Any) -> Any:
    """Add a color bar that is as high as the map beside it."""
    shrink = 0.7 if ax.name == "3d" else 0.95
    if ax.name != "3d" and ax.get_aspect() == 1.0:
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        room = ax.get_position(original=True)
        width, height = ax.figure.get_size_inches() * (0.85 * room.width, room.height)
        shrink = min(shrink, (high - low) / (right - left) * width / height)
    return ax.figure.colorbar(drawn, ax=ax, shrink=shrink, **options)


def in_percent(bar: Any, label: str) -> None:
    """Label a color bar of fractions."""
    bar.set_label(label)
    bar.formatter = load("matplotlib.ticker").PercentFormatter(xmax=1.0)
    bar.update_ticks()


def caption(ax: Any, text: str) -> None:
    """Write what a figure says above it, in short lines."""
    ax.set_title(fill(text, CAPTION_WIDTH), fontsize="small")


def extent_of(values: FloatArray) -> float:
    """Return how far values reach, and one if they do not."""
    reach = float(np.ptp(values)) if len(values) else 0.0
    return reach if reach > 0.0 else 1.0
