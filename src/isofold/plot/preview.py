"""A small picture of a fitted model for notebooks: one SVG, no scripts, nothing loaded."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from isofold._format import count, dimensions, percent
from isofold._typing import FloatArray, IntArray
from isofold.assessment.findings import find_without_data
from isofold.assessment.models import embedding_of
from isofold.assessment.origin import describe_method
from isofold.assessment.proof import find_proof
from isofold.plot.canvas import fit_to_box, round_length, spread
from isofold.plot.palette import CLASSES_LIGHT, sequential_color

__all__ = ["preview"]

MOST_POINTS = 800
"""Points that are drawn: more would not show at this size."""

WIDTH, HEIGHT, MARGIN = 300, 200, 10
"""Size of the picture in pixels, and what is left free around the map."""

STEPS, DARKEST, LIGHTEST = 8, 0.3, 0.92
"""Colors of the distortion, and the range of the scale that shows on light and dark backgrounds."""

LEAST_DISTORTION = 0.01
"""Distortion that is drawn in the last color, at least: rounding must not look like an error."""


def preview(model: Any) -> str:
    """Return a picture of a model's map with a caption, as HTML."""
    Y = np.asarray(embedding_of(model), dtype=np.float64)
    distortion = getattr(model, "distortion_", None)
    if distortion is None or np.shape(distortion) != (len(Y),):
        distortion = None
    else:
        distortion = np.asarray(distortion, dtype=np.float64)
    chosen = np.arange(len(Y))
    if len(Y) > MOST_POINTS:
        chosen = np.sort(np.random.RandomState(0).choice(len(Y), MOST_POINTS, replace=False))
    positions, unit = _positions(Y[chosen])
    colors, legend = _colors(None if distortion is None else distortion[chosen])
    dots = "".join(
        f'<path d="{_dots(positions[colors == step])}" stroke="{color}"/>'
        for step, color in enumerate(legend)
        if (colors == step).any()
    )
    bar = _scale_bar(unit) if Y.shape[1] > 1 else ""
    style = "max-width:100%;height:auto;display:block"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Map of {_size(Y)}" '
        f'style="{style}"><rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="4" '
        f'fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".2"/>'
        f'<g fill="none" stroke-width="{_dot_width(len(chosen))}" stroke-linecap="round">{dots}</g>'
        f"{bar}</svg>"
    )
    caption = "".join(f"<div>{line}</div>" for line in _caption(model, Y, distortion, legend))
    return (
        '<figure class="isofold-preview" style="display:inline-block;margin:0 0 8px;color:inherit">'
        f'{svg}<figcaption style="font-size:12px;line-height:1.4;max-width:{WIDTH}px">{caption}'
        "</figcaption></figure>"
    )


def _positions(Y: FloatArray) -> tuple[FloatArray, float]:
    """Return where points go in the picture, and how many pixels one unit of the map has."""
    flat = Y[:, :2]
    if Y.shape[1] == 1:
        flat = np.column_stack([Y[:, 0], spread(len(Y)) * 0.1 * float(np.ptp(Y[:, 0]))])
    at, unit = fit_to_box(flat, (WIDTH - 2.0 * MARGIN, HEIGHT - 2.0 * MARGIN))
    return at + np.array([0.5 * WIDTH, 0.5 * HEIGHT]), unit


def _colors(distortion: FloatArray | None) -> tuple[IntArray, list[str]]:
    """Return the color of every point, and all colors."""
    if distortion is None:
        return np.zeros(MOST_POINTS, dtype=np.intp), [CLASSES_LIGHT[0]]
    fractions = distortion / _largest(distortion)
    steps = np.clip((fractions * STEPS).astype(np.intp), 0, STEPS - 1)
    levels = np.linspace(DARKEST, LIGHTEST, STEPS)
    return steps, [sequential_color(float(level)) for level in levels]


def _largest(distortion: FloatArray) -> float:
    return max(LEAST_DISTORTION, float(np.percentile(distortion, 98.0)))


def _dots(positions: FloatArray) -> str:
    """Return a path of dots: lines of no length with round ends."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in positions)


def _dot_width(n_points: int) -> float:
    return float(np.clip(round(60.0 / np.sqrt(n_points), 1), 2.4, 6.0))


def _scale_bar(unit: float) -> str:
    if not unit > 0.0:
        return ""
    length = round_length(0.2 * (WIDTH - 2 * MARGIN) / unit)
    left, low, right = MARGIN, HEIGHT - 6, MARGIN + length * unit
    return (
        f'<path d="M{left} {low}H{right:.1f}" stroke="currentColor" stroke-width="1.5"/>'
        f'<text x="{right + 4:.1f}" y="{low + 3}" font-size="9" fill="currentColor">{length:g}'
        f"</text>"
    )


def _size(Y: FloatArray) -> str:
    return f"{count(len(Y), 'point')} in {dimensions(Y.shape[1])}"


def _caption(
    model: Any, Y: FloatArray, distortion: FloatArray | None, legend: list[str]
) -> list[str]:
    """Return the lines below the picture, as HTML."""
    seen = " (first two shown)" if Y.shape[1] > 2 else ""
    lines = [f"<b>{escape(describe_method(model))}</b>: {_size(Y)}{seen}"]
    if distortion is not None:
        swatches = "".join(
            f'<span style="display:inline-block;width:8px;height:8px;background:{color}"></span>'
            for color in legend
        )
        lines.append(
            f"distortion: median {percent(float(np.median(distortion)))} &nbsp; 0 {swatches} "
            f"{percent(_largest(distortion))}"
        )
    proof = find_proof(model)
    n_doubts = len(find_without_data(model, proof).raised)
    remarks = [count(n_doubts, "doubt") if n_doubts else "no doubts"]
    if proof.is_certified is not None:
        remarks.append("certified optimal" if proof.is_certified else "not certified")
    lines.append(", ".join(remarks))
    return lines
