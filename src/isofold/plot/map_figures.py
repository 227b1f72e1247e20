"""Figures of the map itself: its points, where distances are wrong, and neighbors of a point."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count
from isofold.assessment.assessment import NearPairs
from isofold.assessment.subjects import Subject
from isofold.exceptions import InvalidInputError
from isofold.plot import canvas
from isofold.plot.colors import Classes, Numbers, read_color
from isofold.plot.palette import ACCENT, BAD, CLASSES_LIGHT, MARKS, OTHERS, class_color

__all__ = ["distortion", "embedding", "neighbors_of"]

MANY = 50_000
"""Points from which on their density is shown."""

CELLS = 240
"""Cells of a density along its longer side."""

LEAST_DISTORTION, USUAL = 0.01, 98.0
"""The largest distortion shown is at least this, so that rounding does not look like an error, and
such a percentile, so that one bad point does not hide all others."""


def embedding(
    source: Any, X: Any = None, *, color: Any = None, axes: Any = None, ax: Any = None
) -> Any:
    """Draw the map. A length is the same in all directions, since lengths are the point of it.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data; only to measure the distortion, if `color` asks for it.
    color : array-like of shape (n_points,), "distortion" or None, default=None
        Classes (texts or few whole numbers) or numbers; or the errors of
        distances around each point.
    axes : sequence of int or None, default=None
        Which coordinates to show, up to three. By default all, or the first two if there are more
        than three.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Notes
    -----
    Of more than 50,000 points the density is shown, or the mean of the numbers in small cells.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import embedding
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = embedding(square, color=["left" if x < 0.5 else "right" for x in square[:, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left', 'right']
    """
    subject = Subject(source, X)
    if isinstance(color, str):
        if color != "distortion":
            msg = (
                f'color={color!r} is not known. Pass a column with one value a point, "distortion" '
                f"or None."
            )
            raise InvalidInputError(msg)
        return _draw_distortion(subject, axes, ax)
    Y, shown = _coordinates(subject.embedding, axes)
    look = None if color is None else read_color(color, len(Y))
    ax = canvas.new_axes(ax, dimension=Y.shape[1])
    _frame(ax, Y, shown, subject)
    if isinstance(look, Classes):
        _draw_classes(ax, Y, look)
    elif isinstance(look, Numbers):
        _draw_numbers(ax, Y, look.values, title=look.title)
    else:
        _draw_alike(ax, Y)
    return ax


def distortion(source: Any, X: Any = None, *, axes: Any = None, ax: Any = None) -> Any:
    """Draw the map, colored by how wrong distances are around every point.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, by which the distortion is measured; without them it is the model's
        ``distortion_``.
    axes : sequence of int or None, default=None
        Which coordinates to show.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import distortion
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = distortion(square, square)
    >>> float(ax.collections[0].get_array().max())
    0.0
    """
    return _draw_distortion(Subject(source, X), axes, ax)


def neighbors_of(source: Any, point: int, X: Any = None, *, ax: Any = None) -> Any:
    """Draw one point of the map with lines to its true neighbors, and their distances.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    point : int
        The number of the point.
    X : array-like or None, default=None
        The data, unless `source` is an assessment.
    ax : matplotlib Axes or None, default=None
        Where to draw; by default a new figure, in which distances are drawn beside the map.

    Returns
    -------
    matplotlib Axes
        The axes of the map around the point.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import neighbors_of
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = neighbors_of(square, 3, square)
    >>> len(ax.collections[1].get_segments())
    12
    """
    subject = Subject(source, X)
    known = subject.assessment
    number = check_count(point, name="point", minimum=0)
    if number >= len(known.embedding):
        msg = f"point={number}, but the map has {len(known.embedding):,} points."
        raise InvalidInputError(msg)
    Y, shown = _coordinates(known.embedding, None, most=2)
    if ax is None:
        figure = canvas.load().figure(figsize=(8.5, 4.5), layout="constrained")
        ax, beside = figure.subplots(1, 2, width_ratios=(2.0, 1.0))
        _draw_distances(beside, known.near, number)
    ax = canvas.new_axes(ax)
    positions, partners = _flat(Y), known.near.indices[number]
    ax.scatter(
        *positions.T, s=_area(len(Y)), color=OTHERS, alpha=0.5, linewidths=0, rasterized=True
    )
    lines = canvas.load("matplotlib.collections").LineCollection(
        [(positions[number], positions[partner]) for partner in partners],
        color=ACCENT,
        linewidths=1.2,
    )
    ax.add_collection(lines)
    ax.scatter(*positions[partners].T, s=28, color=ACCENT, zorder=3)
    ax.scatter(*positions[number], s=60, color=BAD, marker="D", zorder=4)
    _frame(ax, _around(Y[[number, *partners]], Y), shown, subject)
    ax.set_title(f"point {number} and its {len(partners)} true neighbors", fontsize="medium")
    return ax


def _around(near: FloatArray, positions: FloatArray) -> FloatArray:
    """Return corners of what to show of a map: the near points and as much again around them."""
    reach = float(np.ptp(near, axis=0).max()) or 0.1 * canvas.extent_of(positions[:, 0])
    corners = np.stack([near.min(axis=0) - 0.5 * reach, near.max(axis=0) + 0.5 * reach])
    return np.asarray(np.clip(corners, positions.min(axis=0), positions.max(axis=0)))


def _draw_distances(beside: Any, near: NearPairs, number: int) -> None:
    """Draw the distances of a point to its neighbors, in the data and on the map."""
    rows = np.arange(near.indices.shape[1])
    before, after = near.before[number], near.after[number]
    beside.hlines(rows, before, after, color=OTHERS, linewidth=1.5)
    beside.plot(before, rows, "|", color="C7", markersize=9, markeredgewidth=2, label="in the data")
    beside.plot(after, rows, "o", color=ACCENT, markersize=5, label="on the map")
    beside.set_yticks(rows, [str(neighbor) for neighbor in near.indices[number]])
    beside.tick_params(labelsize="small")
    beside.invert_yaxis()
    beside.set_xlim(left=0.0)
    beside.set_xlabel("distance")
    beside.set_ylabel("neighbor")
    beside.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
        fontsize="small",
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.0,
    )


def _draw_distortion(subject: Subject, axes: Any, ax: Any) -> Any:
    Y, shown = _coordinates(subject.embedding, axes)
    values = subject.distortion
    ax = canvas.new_axes(ax, dimension=Y.shape[1])
    _frame(ax, Y, shown, subject)
    largest = max(LEAST_DISTORTION, float(np.percentile(values, USUAL)))
    bar = _draw_numbers(ax, Y, values, limits=(0.0, largest))
    canvas.in_percent(bar, "length error")
    return ax


def _coordinates(Y: FloatArray, axes: Any, *, most: int = 3) -> tuple[FloatArray, IntArray]:
    """Return the coordinates to show, and which they are."""
    n_components = Y.shape[1]
    if axes is None:
        shown = np.arange(n_components if n_components <= most else 2)
    else:
        shown = np.atleast_1d(np.asarray(axes))
        fits = shown.ndim == 1 and 1 <= len(shown) <= most and shown.dtype.kind in "iu"
        if not fits or shown.min() < 0 or shown.max() >= n_components:
            msg = (
                f"axes={axes!r} must name one to {most} of the {n_components} coordinates of the "
                f"map, counted from 0."
            )
            raise InvalidInputError(msg)
    return np.asarray(Y[:, shown], dtype=np.float64), shown


def _flat(Y: FloatArray) -> FloatArray:
    """Return positions to draw at; points on a line are spread across it."""
    return Y if Y.shape[1] > 1 else np.column_stack([Y[:, 0], canvas.spread(len(Y))])


def _area(n_points: int) -> float:
    """Return the area of a mark: many points are small."""
    return float(np.clip(12_000.0 / max(n_points, 1), 1.5, 30.0))


def _marks(n_points: int) -> dict[str, Any]:
    return {"s": _area(n_points), "linewidths": 0, "rasterized": n_points > MANY // 10}


def _draw_alike(ax: Any, Y: FloatArray) -> None:
    if len(Y) > MANY and Y.shape[1] == 2:
        cells = _cells(ax, Y, norm=canvas.load("matplotlib.colors").LogNorm())
        canvas.color_bar(ax, cells, label="points in a cell")
        return
    color = class_color(0, dark=canvas.is_dark(ax))
    ax.scatter(*_flat(Y).T, color=color, alpha=0.8, **_marks(len(Y)))


def _draw_classes(ax: Any, Y: FloatArray, look: Classes) -> None:
    positions, dark = _flat(Y), canvas.is_dark(ax)
    for code in (-1, *range(len(look.names))):
        own = look.codes == code
        if not own.any():
            continue
        color = OTHERS if code < 0 else class_color(code, dark=dark)
        mark = "." if code < 0 else MARKS[code // len(CLASSES_LIGHT)]
        name = "others" if code < 0 else canvas.plain(look.names[code])
        ax.scatter(*positions[own].T, color=color, marker=mark, label=name, **_marks(len(Y)))
    handles, names = ax.get_legend_handles_labels()
    if names and names[0] == "others":
        handles, names = [*handles[1:], handles[0]], [*names[1:], names[0]]
    # Otherwise the layout does not see how far names beside a narrow map reach.
    ax.set_anchor("W")
    legend = ax.legend(
        handles,
        names,
        title=canvas.plain(look.title) or None,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        fontsize="small",
        ncols=1 + (len(names) - 1) // 14,
    )
    for handle in legend.legend_handles:
        handle.set_sizes([30.0])


def _draw_numbers(
    ax: Any,
    Y: FloatArray,
    values: FloatArray,
    *,
    title: str = "",
    limits: tuple[float, float] | None = None,
) -> Any:
    """Draw points colored by numbers, gray where there is none; return the color bar."""
    known = np.isfinite(values)
    if not known.any():
        msg = "color holds no finite number. Pass another column."
        raise InvalidInputError(msg)
    low, high = (values[known].min(), values[known].max()) if limits is None else limits
    how = {"cmap": canvas.colormap(), "vmin": low, "vmax": high if high > low else low + 1.0}
    if len(Y) > MANY and Y.shape[1] == 2:
        drawn = _cells(ax, Y[known], values=values[known], **how)
    else:
        # The largest last: what is wrong must not be hidden below what is right.
        order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
        positions = _flat(Y)
        if not known.all():
            ax.scatter(*positions[~known].T, color=OTHERS, alpha=0.5, **_marks(len(Y)))
        drawn = ax.scatter(*positions[order].T, c=values[order], **how, **_marks(len(Y)))
    beyond = "max" if values[known].max() > how["vmax"] else "neither"
    return canvas.color_bar(ax, drawn, extend=beyond, label=canvas.plain(title) or None)


def _cells(ax: Any, Y: FloatArray, *, values: FloatArray | None = None, **how: Any) -> Any:
    """Draw a map of many points in square cells: how many there are, or the mean of values."""
    side = float(np.ptp(Y, axis=0).max()) / CELLS or 1.0
    x, y = Y[:, 0], Y[:, 1]
    edges = [c.min() + side * np.arange(2 + int(np.ptp(c) / side)) for c in (x, y)]
    counts = np.histogram2d(x, y, bins=edges)[0]
    shown = np.ma.masked_equal(counts, 0)
    if values is not None:
        shown = np.histogram2d(x, y, bins=edges, weights=values)[0] / shown
    how.setdefault("cmap", canvas.colormap())
    return ax.pcolormesh(*edges, shown.T, rasterized=True, **how)


def _frame(ax: Any, Y: FloatArray, shown: IntArray, subject: Subject) -> None:
    """Give all axes the same scale, and show it."""
    n_components = subject.embedding.shape[1]
    ax.set_title(subject.method if subject.method != "given coordinates" else "")
    if Y.shape[1] == 3:
        reach = [canvas.extent_of(column) for column in Y.T]
        ax.set_box_aspect(np.maximum(reach, canvas.THINNEST * max(reach)))
        ax.set(xlabel=f"axis {shown[0] + 1}", ylabel=f"axis {shown[1] + 1}")
        ax.set_zlabel(f"axis {shown[2] + 1}")
        ax.locator_params(nbins=4)
    elif Y.shape[1] == 1:
        ax.set_xlim(*_with_margin(Y[:, 0]))
        ax.set_ylim(-1.0, 2.0)
        ax.set_yticks([])
        ax.set_xlabel("position on the map" if n_components == 1 else f"axis {shown[0] + 1}")
    else:
        canvas.frame_map(ax, Y)
        if len(shown) < n_components:
            which = " and ".join(str(number + 1) for number in shown)
            ax.set_xlabel(f"axes {which} of {n_components}", loc="right")


def _with_margin(values: FloatArray) -> tuple[float, float]:
    margin = 0.04 * canvas.extent_of(values)
    return float(values.min()) - margin, float(values.max()) + margin
