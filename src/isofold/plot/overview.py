"""All figures of a map on one sheet."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from isofold._format import percent
from isofold.assessment.assessment import Assessment
from isofold.assessment.subjects import Subject
from isofold.plot import canvas
from isofold.plot.map_figures import distortion, embedding
from isofold.plot.measure_figures import (
    length_ratios,
    neighbor_curve,
    patch_graph,
    shepard,
    spectrum,
)

__all__ = ["overview"]

MOST_DOUBTS = 3
"""Doubts that are shown."""

NARROW, WIDE = 42, 88
"""Characters of a line beside a patch graph, and without one."""


def overview(source: Any, X: Any = None, *, color: Any = None) -> Any:
    """Draw all figures of a map on one sheet, with the main measures and warnings.

    Parameters
    ----------
    source : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` is an assessment.
    color : array-like of shape (n_points,) or None, default=None
        Column by which the map is colored.

    Returns
    -------
    matplotlib Figure
        The sheet.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.plot import overview
    >>> square = np.random.RandomState(0).uniform(size=(100, 2))
    >>> figure = overview(square, square)
    >>> len([ax for ax in figure.axes if ax.get_label() != "<colorbar>"])
    7
    """
    known = Subject(source, X).assessment
    how = {"projection": "3d"} if known.embedding.shape[1] == 3 else {}
    figure = canvas.load().figure(figsize=(16.0, 8.0), layout="constrained")
    grid = figure.add_gridspec(2, 4)
    embedding(known, color=color, ax=figure.add_subplot(grid[0, 0], **how)).set_title("map")
    ax = distortion(known, ax=figure.add_subplot(grid[0, 1], **how))
    ax.set_title("where distances are wrong")
    for cell, draw in (
        (grid[0, 2], shepard),
        (grid[0, 3], neighbor_curve),
        (grid[1, 0], length_ratios),
        (grid[1, 1], spectrum),
    ):
        draw(known, ax=figure.add_subplot(cell))
    if known.patches is None:
        _write(figure.add_subplot(grid[1, 2:]), known, WIDE)
    else:
        patch_graph(known, ax=figure.add_subplot(grid[1, 2]))
        _write(figure.add_subplot(grid[1, 3]), known, NARROW)
    figure.suptitle(canvas.plain(known.origin.method))
    return figure


def _write(ax: Any, known: Assessment, width: int) -> None:
    """Write the main measures, what is proved, and what to beware of."""
    ax.set_axis_off()
    card, certified = known.card, known.proof.is_certified
    lines = [
        card.title,
        "",
        f"trustworthiness {float(card['trustworthiness']):.3f}",
        f"continuity {float(card['continuity']):.3f}",
        f"neighbors kept at all scales {float(card['rnx_area']):.3f}",
        f"median error of lengths {percent(card['length_error_median'])},",
        f"95% of them below {percent(card['length_error_p95'])}",
    ]
    if certified is not None:
        lines += ["", "proved to be optimal" if certified else "not proved to be optimal"]
    doubts = known.diagnosis.raised
    lines += ["", *(f"! {doubt.text()}" for doubt in doubts[:MOST_DOUBTS])]
    if len(doubts) > MOST_DOUBTS:
        lines.append(f"and {len(doubts) - MOST_DOUBTS} more")
    # Dollars would start a formula.
    text = "\n".join(fill(line, width) for line in lines).replace("$", r"\$")
    ax.text(0.0, 1.0, text, va="top", transform=ax.transAxes)
