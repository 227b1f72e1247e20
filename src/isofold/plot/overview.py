"""All figures of a map on one sheet."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from isofold._format import percent
from isofold.assessment.findings import Findings
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

MOST_WARNINGS = 3
"""Warnings that are told."""

NARROW, WIDE = 42, 88
"""Characters of a line beside a patch graph, and without one."""


def overview(source: Any, X: Any = None, *, color: Any = None) -> Any:
    """Draw all figures of a map on one sheet, with the main measures and warnings.

    Parameters
    ----------
    source : Findings, fitted estimator, or array-like of shape (n_points, n_components)
        The map.
    X : array-like or None, default=None
        The data, unless `source` holds findings.
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
    findings = Subject(source, X).findings
    how = {"projection": "3d"} if findings.embedding.shape[1] == 3 else {}
    figure = canvas.load().figure(figsize=(16.0, 8.0), layout="constrained")
    grid = figure.add_gridspec(2, 4)
    embedding(findings, color=color, ax=figure.add_subplot(grid[0, 0], **how)).set_title("map")
    ax = distortion(findings, ax=figure.add_subplot(grid[0, 1], **how))
    ax.set_title("where it is untrue")
    for place, draw in (
        (grid[0, 2], shepard),
        (grid[0, 3], neighbor_curve),
        (grid[1, 0], length_ratios),
        (grid[1, 1], spectrum),
    ):
        draw(findings, ax=figure.add_subplot(place))
    if findings.patches is None:
        _write(figure.add_subplot(grid[1, 2:]), findings, WIDE)
    else:
        patch_graph(findings, ax=figure.add_subplot(grid[1, 2]))
        _write(figure.add_subplot(grid[1, 3]), findings, NARROW)
    figure.suptitle(canvas.plain(findings.words.method))
    return figure


def _write(ax: Any, findings: Findings, width: int) -> None:
    """Write the main measures, what is proved, and what to beware of."""
    ax.set_axis_off()
    card, words = findings.card, findings.words
    lines = [
        card.title,
        "",
        f"trustworthiness {float(card['trustworthiness']):.3f}",
        f"continuity {float(card['continuity']):.3f}",
        f"neighbors kept at all scales {float(card['rnx_area']):.3f}",
        f"median error of lengths {percent(card['length_error_median'])},",
        f"95% of them below {percent(card['length_error_p95'])}",
    ]
    if words.is_certified is not None:
        lines += ["", "proved to be optimal" if words.is_certified else "not proved to be optimal"]
    lines += ["", *(f"! {warning}" for warning in words.warnings[:MOST_WARNINGS])]
    if len(words.warnings) > MOST_WARNINGS:
        lines.append(f"and {len(words.warnings) - MOST_WARNINGS} more")
    text = "\n".join(fill(line, width) for line in lines).replace("$", r"\$")
    ax.text(0.0, 1.0, text, va="top", transform=ax.transAxes)
