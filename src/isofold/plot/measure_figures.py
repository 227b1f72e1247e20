"""Figures of what was measured: distances, neighbors, lengths, variances, patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold.assessment import charts
from isofold.assessment.charts import Chart
from isofold.assessment.subjects import Subject
from isofold.plot import canvas
from isofold.plot.palette import ACCENT, BAD, OTHERS

__all__ = ["length_ratios", "neighbor_curve", "patch_graph", "shepard", "spectrum"]

TRUE_TO = 0.1
"""Relative error of a length up to which it counts as true in the figure of ratios."""


def shepard(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw how many pairs of points have which distance in the data and on the map.

    On the diagonal distances are true. Above it pairs were moved apart, as unfolding does with
    those that were near across a gap; below it they were brought together, and information is lost.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` is an assessment.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import shepard
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = shepard(square, square)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('distance in the data', 'distance on the map')
    """
    chart = charts.chart_shepard(Subject(source, X).assessment.shepard)
    ax = canvas.new_axes(ax, figsize=(5.5, 4.5))
    if chart.cells is not None:
        mesh = ax.pcolormesh(
            chart.cells.x_edges,
            chart.cells.y_edges,
            np.ma.masked_equal(chart.cells.counts.T, 0),
            norm=canvas.load("matplotlib.colors").LogNorm(),
            cmap=canvas.colormap(),
            rasterized=True,
        )
        ax.figure.colorbar(mesh, ax=ax, label="pairs")
    _draw_axes(ax, chart)
    _draw_truth(ax, chart, label="true")
    if chart.is_square:
        ax.set_aspect("equal")
    ax.legend(loc="lower right", frameon=False, fontsize="small")
    return ax


def neighbor_curve(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw which fraction of neighbors is kept, also above chance, at all sizes of neighborhoods.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` is an assessment.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import neighbor_curve
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = neighbor_curve(square, square)
    >>> bool(np.allclose(ax.lines[0].get_ydata(), 1.0))
    True
    """
    known = Subject(source, X).assessment
    chart = charts.chart_curve(known.curve, known.card.n_neighbors)
    ax = canvas.new_axes(ax)
    for line, color, style in zip(chart.lines, (ACCENT, BAD), ("-", "--"), strict=True):
        ax.plot(line.x, line.y, color=color, linestyle=style, label=line.name)
    ax.axvline(chart.focus, color=OTHERS, linewidth=1.0, linestyle=":")
    _draw_axes(ax, chart)
    ax.legend(frameon=False, fontsize="small")
    return ax


def length_ratios(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw how much longer or shorter distances between neighbors are on the map.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` is an assessment.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import length_ratios
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> ax = length_ratios(square, square)
    >>> [float(bar.get_height()) for bar in ax.containers[0] if bar.get_height() > 0.0]
    [1.0]
    """
    chart = charts.chart_ratios(Subject(source, X).assessment.ratios)
    ax = canvas.new_axes(ax)
    _draw_bars(ax, chart)
    if chart.truth is not None:
        ax.axvspan(1.0 - TRUE_TO, 1.0 + TRUE_TO, color=BAD, alpha=0.12, linewidth=0, zorder=0.4)
    _draw_truth(ax, chart, zorder=0.5)
    return ax


def spectrum(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw the fractions of the variance along axes, those of the map in color.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data; without them only methods that know a spectrum have this figure.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import spectrum
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> len(spectrum(square, square).patches)
    2
    """
    chart = charts.chart_spectrum(Subject(source, X).spectrum)
    ax = canvas.new_axes(ax)
    _draw_bars(ax, chart)
    return ax


def patch_graph(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw patches where they lie on the map, joined where they overlap, colored by misfit.

    Parameters
    ----------
    source : Assessment or fitted estimator
        A map that was made of patches: by IPA, PLML or TesseraMap.
    X : array-like or None, default=None
        The data, which only the links of TesseraMap need.
    ax : matplotlib Axes or None, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from isofold import PLML
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.plot import patch_graph
    >>> plml = PLML(random_state=0).fit(swiss_roll(2000, random_state=0).X)
    >>> ax = patch_graph(plml)
    >>> len(ax.collections[0].get_segments()) == len(plml.tree_)
    True
    """
    chart = charts.chart_patches(Subject(source, X).patches)
    graph, centers = chart.graph, chart.centers
    ax = canvas.new_axes(ax)
    errors = np.concatenate([graph.link_error, graph.patch_error])
    largest = max(0.01, float(np.percentile(errors, 98.0)))
    norm = canvas.load("matplotlib.colors").Normalize(0.0, largest)
    look = {"cmap": canvas.colormap(), "norm": norm}
    # The worst are drawn last.
    order = np.argsort(graph.link_error, kind="stable")
    lines = canvas.load("matplotlib.collections").LineCollection(
        centers[graph.links[order]], array=graph.link_error[order], linewidths=1.2, **look
    )
    ax.add_collection(lines)
    order = np.argsort(graph.patch_error, kind="stable")
    area = graph.sizes / max(1, graph.sizes.max()) * min(30.0, 6000.0 / len(centers))
    ax.scatter(
        *centers[order].T,
        s=np.maximum(area[order], 3.0),
        c=graph.patch_error[order],
        edgecolors="C7",
        linewidths=0.3,
        zorder=3,
        **look,
    )
    beyond = "max" if errors.max(initial=0.0) > largest else "neither"
    canvas.frame_map(ax, centers)
    bar = canvas.color_bar(ax, lines, extend=beyond)
    canvas.in_percent(bar, "misfit")
    canvas.caption(ax, chart.says)
    return ax


def _draw_bars(ax: Any, chart: Chart) -> None:
    """Draw bars with their axes, and what lies beyond these."""
    bars: Any = chart.bars
    marked = {"out": BAD, "rest": OTHERS}[bars.mark]
    colors = [marked if is_marked else ACCENT for is_marked in bars.is_marked]
    ax.bar(bars.left, bars.heights, bars.right - bars.left, align="edge", color=colors)
    _draw_axes(ax, chart)
    for text, at, side in zip(chart.beyond, (0.02, 0.98), ("left", "right"), strict=True):
        if text:
            ax.text(at, 0.98, text, transform=ax.transAxes, va="top", ha=side, fontsize="small")


def _draw_axes(ax: Any, chart: Chart) -> None:
    """Give axes the range, names, numbers and caption of a chart."""
    ax.set(xlabel=chart.x.name, ylabel=chart.y.name)
    canvas.caption(ax, chart.says)
    if chart.x.is_log:
        ax.set_xscale("log")
    ax.set_xlim(chart.x.low, chart.x.high)
    ax.set_ylim(chart.y.low, chart.y.high)
    ticker = canvas.load("matplotlib.ticker")
    if chart.y.is_percent:
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(xmax=1.0))
    if chart.x.is_whole:
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def _draw_truth(ax: Any, chart: Chart, **how: Any) -> None:
    """Draw where distances are true."""
    if chart.truth is not None:
        ax.plot(chart.truth.x, chart.truth.y, color=BAD, linewidth=1.2, **how)
