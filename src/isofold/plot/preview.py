"""A small picture of a fitted model for notebooks: one SVG, no scripts, nothing loaded."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.assessment.models import embedding_of
from isofold.assessment.proof import find_proof
from isofold.assessment.text import describe_method, model_warnings
from isofold.plot.canvas import round_length
from isofold.plot.palette import CLASSES_LIGHT, sequential_color

__all__ = ["preview"]

MOST_POINTS = 800
"""Points that are drawn: more would not show at this size."""

WIDTH, HEIGHT, MARGIN = 300, 200, 10
"""Size of the picture in pixels, and what is left free around the map."""

STEPS, DARKEST, LIGHTEST = 8, 0.3, 0.92
"""Colors of the distortion, and the part of the scale that shows on light and dark grounds."""

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
    places, unit = _places(Y[chosen])
    colors, legend = _colors(None if distortion is None else distortion[chosen])
    dots = "".join(
        f'<path d="{_dots(places[colors == step])}" stroke="{color}"/>'
        for step, color in enumerate(legend)
        if (colors == step).any()
    )
    bar = _scale_bar(unit) if Y.shape[1] > 1 else ""
    style = "max-width:100%;height:auto;display:block"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(_alt(Y))}" '
        f'style="{style}"><rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="4" '
        f'fill="currentColor" fill-opacity=".05" stroke="currentColor" stroke-opacity=".2"/>'
        f'<g fill="none" stroke-width="{_dot_width(len(chosen))}" stroke-linecap="round">{dots}</g>'
        f"{bar}</svg>"
    )
    words = "".join(f"<div>{line}</div>" for line in _caption(model, Y, distortion, legend))
    return (
        '<figure class="isofold-preview" style="display:inline-block;margin:0 0 8px;color:inherit">'
        f'{svg}<figcaption style="font-size:12px;line-height:1.4;max-width:{WIDTH}px">{words}'
        "</figcaption></figure>"
    )


def _places(Y: FloatArray) -> tuple[FloatArray, float]:
    """Return where points go in the picture, and how many pixels one unit of the map has."""
    flat = Y[:, :2]
    if Y.shape[1] == 1:
        # Spread across the line, evenly and always alike.
        across = (np.arange(len(Y)) * 0.5 * (np.sqrt(5.0) - 1.0)) % 1.0
        flat = np.column_stack([Y[:, 0], across * 0.1 * float(np.ptp(Y[:, 0]))])
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN
    extends = high > low
    unit = float(np.min(room[extends] / (high - low)[extends], initial=np.inf))
    unit = unit if np.isfinite(unit) else 0.0
    centered = (flat - 0.5 * (low + high)) * unit
    return np.array([0.5 * WIDTH, 0.5 * HEIGHT]) + centered * [1.0, -1.0], unit


def _colors(distortion: FloatArray | None) -> tuple[IntArray, list[str]]:
    """Return the color of every point, and all colors."""
    if distortion is None:
        return np.zeros(MOST_POINTS, dtype=np.intp), [CLASSES_LIGHT[0]]
    shares = distortion / _largest(distortion)
    steps = np.clip((shares * STEPS).astype(np.intp), 0, STEPS - 1)
    levels = np.linspace(DARKEST, LIGHTEST, STEPS)
    return steps, [sequential_color(float(level)) for level in levels]


def _largest(distortion: FloatArray) -> float:
    return max(LEAST_DISTORTION, float(np.percentile(distortion, 98.0)))


def _dots(places: FloatArray) -> str:
    """Return a path of dots: lines of no length with round ends."""
    return "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)


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


def _alt(Y: FloatArray) -> str:
    return f"Map of {len(Y):,} points in {Y.shape[1]} dimension{'s' * (Y.shape[1] > 1)}"


def _caption(
    model: Any, Y: FloatArray, distortion: FloatArray | None, legend: list[str]
) -> list[str]:
    """Return the lines below the picture, as HTML."""
    dimension = Y.shape[1]
    size = f"{len(Y):,} points in {dimension} dimension{'s' * (dimension > 1)}"
    seen = " (first two shown)" if dimension > 2 else ""
    lines = [f"<b>{escape(describe_method(model))}</b>: {size}{seen}"]
    if distortion is not None:
        swatches = "".join(
            f'<span style="display:inline-block;width:8px;height:8px;background:{color}"></span>'
            for color in legend
        )
        lines.append(
            f"distortion: median {percent(float(np.median(distortion)))} &nbsp; 0 {swatches} "
            f"{percent(_largest(distortion))}"
        )
    n_warnings = len(model_warnings(model))
    told = [f"{n_warnings} warning{'s' * (n_warnings != 1)}" if n_warnings else "no warnings"]
    certified = find_proof(model).is_certified
    if certified is not None:
        told.append("certified optimal" if certified else "not certified")
    lines.append(", ".join(told))
    return lines
