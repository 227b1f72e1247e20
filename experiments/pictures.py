"""Pictures of maps: points in equal axes, beside each other, or with images at their places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from isofold._typing import FloatArray, IntArray

__all__ = ["save", "show_map", "show_surface", "spread_out", "thumbnails"]

DOTS_PER_INCH = 130
THUMBNAIL = 26.0
"""Height of an image on a map, in points."""


def show_map(axes: Axes, Y: FloatArray, color: Any, title: str, **options: Any) -> Any:
    """Draw points of a map in equal axes, without numbers: only shape and scale matter."""
    points = axes.scatter(*Y[:, :2].T, c=color, **{"s": 5, "linewidths": 0, **options})
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(title, fontsize=9)
    axes.set(xticks=[], yticks=[])
    return points


def show_surface(axes: Any, X: FloatArray, color: Any, title: str, **options: Any) -> None:
    """Draw points in space."""
    axes.scatter(*X.T, c=color, **{"s": 4, "linewidths": 0, **options})
    axes.set_title(title, fontsize=9)
    axes.set_box_aspect(np.ptp(X, axis=0), zoom=1.25)
    axes.set(xticks=[], yticks=[], zticks=[])


def thumbnails(
    axes: Axes,
    Y: FloatArray,
    images: FloatArray,
    *,
    n_across: int,
    color: Sequence[Any] | None = None,
) -> None:
    """Draw images at points of the map that are well spread, framed in their colors."""
    for i in spread_out(Y, n_across):
        picture = OffsetImage(images[i], cmap="gray", zoom=THUMBNAIL / max(images[i].shape))
        frame = {"edgecolor": "0.3" if color is None else color[i], "linewidth": 1.0}
        box = AnnotationBbox(picture, (Y[i, 0], Y[i, 1]), pad=0.08, bboxprops=frame)
        axes.add_artist(box)


def spread_out(Y: FloatArray, n_across: int) -> IntArray:
    """Return points no two of which are in one square, the nearest to the middle of each."""
    low, high = Y[:, :2].min(axis=0), Y[:, :2].max(axis=0)
    place = (Y[:, :2] - low) / ((high - low).max() / n_across)
    square = np.floor(place)
    off_center = ((place - square - 0.5) ** 2).sum(axis=1)
    order = np.argsort(off_center)
    _, first = np.unique(square[order], axis=0, return_index=True)
    return order[first]


def save(figure: Figure, path: Path) -> None:
    """Write a picture and forget it."""
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)
