"""Figures of what was measured: distances, neighbors, lengths, variances, patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._format import percent
from isofold._typing import IntArray
from isofold.assessment.subjects import Subject
from isofold.plot import canvas
from isofold.plot.palette import ACCENT, BAD, OTHERS

__all__ = ["length_ratios", "neighbor_curve", "patch_graph", "shepard", "spectrum", "thinned"]

CURVE_POINTS = 400
"""Neighborhood sizes at which a curve is drawn; it may have a million."""

SIMILAR = 1.6
"""Ratio of the two ranges of distances up to which they are drawn to the same scale."""

MOST_BARS = 20
"""Axes whose variances are shown."""

TRUE_TO = 0.1
"""Relative error of a length up to which it counts as true in the figure of ratios."""


def shepard(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw how many pairs of points have which distance in the data and on the map.

    On the diagonal distances are true. Above it pairs were moved apart, as unfolding does with
    those that were near across a gap; below it they were brought together, and information is lost.

    Parameters
    ----------
    source : Findings, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` holds findings.
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
    density = Subject(source, X).findings.shepard
    ax = canvas.new_axes(ax, figsize=(5.5, 4.5))
    counts = np.ma.masked_equal(density.counts.T, 0)
    mesh = ax.pcolormesh(
        density.before_edges,
        density.after_edges,
        counts,
        norm=canvas.load("matplotlib.colors").LogNorm(),
        cmap=canvas.colormap(),
        rasterized=True,
    )
    longest = min(density.before_edges[-1], density.after_edges[-1])
    ax.plot([0.0, longest], [0.0, longest], color=BAD, linewidth=1.2, label="true")
    if 1.0 / SIMILAR < density.before_edges[-1] / density.after_edges[-1] < SIMILAR:
        ax.set_aspect("equal")
    ax.set(xlabel="distance in the data", ylabel="distance on the map")
    many = f"{density.n_pairs:,} pairs"
    ax.figure.colorbar(mesh, ax=ax, label=f"of {many}" + " at random" * density.is_sample)
    ax.legend(loc="upper left", frameon=False, fontsize="small")
    return ax


def neighbor_curve(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw which share of neighbors is kept, above chance, for neighborhoods of all sizes.

    Parameters
    ----------
    source : Findings, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` holds findings.
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
    findings = Subject(source, X).findings
    curve = findings.curve
    ax = canvas.new_axes(ax)
    at = thinned(len(curve.sizes))
    ax.plot(curve.sizes[at], curve.above_chance[at], color=ACCENT)
    ax.fill_between(curve.sizes[at], 0.0, curve.above_chance[at], color=ACCENT, alpha=0.15)
    ax.axvline(findings.card.n_neighbors, color=OTHERS, linewidth=1.0, linestyle=":")
    if len(curve.sizes) > 1:
        ax.set_xscale("log")
    ax.set_ylim(min(-0.02, float(curve.above_chance[at].min())), 1.02)
    ax.set(xlabel="size of the neighborhood", ylabel="neighbors kept, above chance")
    area = float(curve.area)
    canvas.note(ax, f"area {area:.3f}\n1 is perfect, 0 is chance", where="lower left")
    return ax


def length_ratios(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw how much longer or shorter distances between neighbors are on the map.

    Parameters
    ----------
    source : Findings, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` holds findings.
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
    ratios = Subject(source, X).findings.ratios
    ax = canvas.new_axes(ax)
    width = np.diff(ratios.edges)
    ax.bar(
        ratios.edges[:-1],
        ratios.counts / max(1, ratios.counts.sum()),
        width,
        align="edge",
        color=ACCENT,
    )
    last = ratios.edges[-1]
    if last > 1.0:
        ax.axvline(1.0, color=BAD, linewidth=1.2, zorder=0.5)
        ax.axvspan(1.0 - TRUE_TO, 1.0 + TRUE_TO, color=BAD, alpha=0.12, linewidth=0, zorder=0.4)
    ax.set_xlim(0.0, last)
    # Room for words above the bars.
    ax.set_ylim(0.0, 1.3 * float(ratios.counts.max()) / max(1, ratios.counts.sum()))
    ax.set(xlabel="length on the map / length in the data", ylabel="share of neighbor pairs")
    beyond = ratios.counts[-1] / max(1, ratios.counts.sum())
    words = [f"median {ratios.median:.3g}", f"true to 10%: {percent(ratios.within_tenth)}"]
    if beyond > 0.0:
        words.append(f"last bar: {percent(beyond)} are longer")
    canvas.note(ax, "\n".join(words), where="upper right")
    return ax


def spectrum(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw the shares of the variance along axes, those of the map in color.

    Parameters
    ----------
    source : Findings, fitted estimator, or array-like of shape (n_points, n_components)
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
    found = Subject(source, X).spectrum
    ax = canvas.new_axes(ax)
    shares = found.shares[:MOST_BARS]
    numbers = np.arange(1, len(shares) + 1)
    colors = [ACCENT if number <= found.n_components else OTHERS for number in numbers]
    ax.bar(numbers, shares, color=colors)
    ax.yaxis.set_major_formatter(canvas.load("matplotlib.ticker").PercentFormatter(xmax=1.0))
    ax.xaxis.set_major_locator(canvas.load("matplotlib.ticker").MaxNLocator(integer=True))
    ax.set_xlim(0.4, max(len(shares), 5) + 0.6)
    ax.set(xlabel="axis", ylabel="share of the variance")
    held = percent(min(1.0, float(found.shares[: found.n_components].sum())))
    axes = "axis holds" if found.n_components == 1 else f"{found.n_components} axes hold"
    canvas.note(ax, f"{found.source}:\nthe first {axes} {held}", where="upper right")
    return ax


def patch_graph(source: Any, X: Any = None, *, ax: Any = None) -> Any:
    """Draw patches where they lie on the map, joined where they overlap, colored by misfit.

    Parameters
    ----------
    source : Findings or fitted estimator
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
    graph = Subject(source, X).patches
    ax = canvas.new_axes(ax)
    centers = graph.centers[:, :2]
    if centers.shape[1] == 1:
        centers = np.column_stack([centers, np.zeros(len(centers))])
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
    n_links = max(graph.n_links, len(graph.links))
    told = f"{len(graph.sizes):,} patches, {n_links:,} links"
    if n_links > len(graph.links):
        told += f" (the worst {len(graph.links):,} shown)"
    ax.set_title(told, fontsize="medium")
    return ax


def thinned(n_points: int) -> IntArray:
    """Return numbers from 0 to n - 1, all or some hundred of them at even ratios."""
    if n_points <= CURVE_POINTS:
        return np.arange(n_points)
    return np.unique(np.round(np.geomspace(1, n_points, CURVE_POINTS)).astype(np.intp)) - 1
