"""The charts of a page, drawn as SVG, each with what it says and how to read it."""

from __future__ import annotations

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.assessment.assessment import Assessment
from isofold.assessment.charts import FAIR, POOR, Bars, Cells, Chart, PatchChart, charts_of
from isofold.plot.canvas import fit_to_box
from isofold.reports.svg import HEIGHT, WIDTH, Drawing
from isofold.reports.text import markup

__all__ = ["charts"]

NAMES_WIDTH, NAMES_HEIGHT = 0.35, 0.2
"""Fraction of a chart that the names of its curves take."""

MARGIN, KEY_HEIGHT = 22.0, 24.0
LARGEST_DISC, SMALLEST_DISC = 9.0, 1.8


def charts(assessment: Assessment) -> str:
    """Return all charts of a map as HTML."""
    return "".join(_figure(chart) for chart in charts_of(assessment))


def _figure(chart: Chart | PatchChart) -> str:
    svg = draw_patches(chart) if isinstance(chart, PatchChart) else draw_chart(chart)
    return (
        f'<figure class="chart"><h3>{markup(chart.title)}</h3>{svg}<figcaption>'
        f'<p class="says">{markup(chart.says, 1000)}</p>'
        f"<p>{markup(chart.reading, 1000)}</p></figcaption></figure>"
    )


def draw_chart(chart: Chart) -> str:
    """Return a chart as SVG."""
    drawing = Drawing(
        chart.key, chart.title, chart.says, chart.x, chart.y, is_square=chart.is_square
    )
    if chart.cells is not None:
        _draw_cells(drawing, chart.cells)
    if chart.bars is not None:
        _draw_bars(drawing, chart.bars)
    if chart.focus is not None:
        ends = np.array([chart.y.low, chart.y.high])
        drawing.line(np.full(2, chart.focus), ends, "focus")
    for number, line in enumerate(chart.lines):
        drawing.line(line.x, line.y, "curve second" if number else "curve")
    if chart.lines:
        _name_lines(drawing, chart)
    if chart.truth is not None:
        drawing.line(chart.truth.x, chart.truth.y, "mark")
    left, right = chart.beyond
    height = float(drawing.down(chart.y.high)) + 12
    if left:
        drawing.text(float(drawing.across(chart.x.low)) + 6, height, left)
    if right:
        drawing.text(float(drawing.across(chart.x.high)) - 4, height, right, anchor="end")
    return drawing.svg()


def _draw_bars(drawing: Drawing, bars: Bars) -> None:
    columns = zip(bars.left, bars.right, bars.heights, bars.is_marked, strict=True)
    for left, right, height, is_marked in columns:
        kind = f"bar {bars.mark}" if is_marked else "bar"
        drawing.rectangle((left, right), (0.0, float(height)), kind)


def _name_lines(drawing: Drawing, chart: Chart) -> None:
    """Write names below the left part of curves, or above it where they are low there."""
    left = chart.x.fraction(chart.lines[0].x) < NAMES_WIDTH
    lowest = min(float(line.y[left].min()) for line in chart.lines)
    below = float(drawing.down(chart.y.low)) - 26
    top = below if lowest > NAMES_HEIGHT else float(drawing.down(1.0)) + 14
    for number, line in enumerate(chart.lines):
        kind = "curve-name second" if number else "curve-name"
        drawing.text(drawing.left + 8, top + 16 * number, line.name, kind=kind)


def _draw_cells(drawing: Drawing, cells: Cells) -> None:
    """Draw filled cells; equal ones above each other become one, which keeps the page small."""
    levels = np.zeros(cells.counts.shape, dtype=int)
    filled = cells.counts > 0
    most = np.log1p(float(cells.counts.max()))
    levels[filled] = np.ceil(9.0 * np.log1p(cells.counts[filled]) / most).astype(int)
    for i, column in enumerate(levels):
        borders = np.flatnonzero(np.diff(column)) + 1
        for start, stop in zip([0, *borders], [*borders, len(column)], strict=True):
            if column[start]:
                drawing.rectangle(
                    (cells.x_edges[i], cells.x_edges[i + 1]),
                    (cells.y_edges[start], cells.y_edges[stop]),
                    "heat",
                    0.1 + 0.1 * float(column[start]),
                )


def draw_patches(chart: PatchChart) -> str:
    """Return patches on the map and the links between them as SVG."""
    graph = chart.graph
    room = (WIDTH - 2 * MARGIN, HEIGHT - KEY_HEIGHT - 2 * MARGIN)
    at = fit_to_box(chart.centers, room)[0] + np.array([WIDTH / 2, (HEIGHT - KEY_HEIGHT) / 2])
    link_levels, patch_levels = _levels(graph.link_error), _levels(graph.patch_error)
    parts = []
    # The worst are drawn last.
    for level in range(3):
        chosen = link_levels == level
        if chosen.any():
            ends = at[graph.links[chosen]]
            path = "".join(f"M{a[0]:.1f} {a[1]:.1f}L{b[0]:.1f} {b[1]:.1f}" for a, b in ends)
            parts.append(f'<path class="link e{level}" fill="none" d="{path}"/>')
    for (x, y), radius, level in zip(at, _radii(graph.sizes), patch_levels, strict=True):
        parts.append(f'<circle class="disc e{level}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="patch-title patch-desc">'
        f'<title id="patch-title">{markup(chart.title)}</title>'
        f'<desc id="patch-desc">{markup(chart.says, 1000)}</desc>{"".join(parts)}{_key()}</svg>'
    )


def _levels(errors: FloatArray) -> IntArray:
    """Return how bad errors are: 0, 1 or 2; unknown is bad."""
    known = np.where(np.isfinite(errors), errors, np.inf)
    return np.asarray((known > FAIR).astype(np.intp) + (known > POOR))


def _radii(sizes: IntArray) -> FloatArray:
    """Return radii with areas in proportion to sizes, smaller where there are many patches."""
    largest = min(LARGEST_DISC, max(SMALLEST_DISC, 60.0 / np.sqrt(max(1, len(sizes)))))
    relative = np.sqrt(np.asarray(sizes, dtype=np.float64) / max(1, int(np.max(sizes))))
    return np.maximum(1.2, largest * relative)


def _key() -> str:
    fair, poor = percent(FAIR), percent(POOR)
    y = HEIGHT - 10
    parts = [f'<text class="name" x="8" y="{y}">error</text>']
    for level, text in enumerate((f"below {fair}", f"{fair} to {poor}", f"above {poor}")):
        x = 56 + 134 * level
        parts.append(f'<path class="link e{level}" d="M{x} {y - 4}h28"/>')
        parts.append(f'<text x="{x + 35}" y="{y}">{markup(text)}</text>')
    return "".join(parts)
