"""Curves (one dimension) and blocks (three)."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.draw_tables import log_uniform
from experiments.hostile.families.curved import CLOSED, NARROWEST_SLIT, STRANDS, trefoil
from experiments.hostile.families.layered import serpentine
from experiments.hostile.surfaces import (
    Surface,
    arc,
    extrude,
    follow,
    length_of,
    mean_spacing,
    rectangle,
    spiral,
)
from isofold._typing import FloatArray

__all__ = ["FAMILIES"]

Rng = np.random.RandomState


def _along(
    n: int, rng: Rng, path: FloatArray, density: str | None = None
) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """Return points of a path with their lengths from its begin."""
    flat, options = rectangle(n, rng, length_of(path), 1.0, density=density)
    return follow(path, flat[:, 0]), flat[:, :1], options


def spiral_curve(n: int, rng: Rng) -> Surface:
    """Draw a spiral whose turns are 0.5 to 30 spacings apart."""
    turns, apart = rng.uniform(1.5, 6.0), log_uniform(rng, 0.5, 30.0)
    # A turn of mean radius R has the length 2 π R: the inner radius follows from the gap.
    spacing = 1.0 / apart
    inner = max(0.5, n * spacing / (2 * np.pi * turns) - turns / 2)
    path = spiral(turns, 1.0, inner)
    X, truth, options = _along(n, rng, path)
    options |= {"turns": turns, "gap": n / length_of(path)}
    return Surface(X, truth, 1, gap=1.0, options=options)


def zigzag_curve(n: int, rng: Rng) -> Surface:
    """Draw a polyline with sharp corners of 20 to 140 degrees."""
    angle, n_corners = np.radians(rng.uniform(20.0, 140.0)), rng.randint(1, 10)
    k = np.arange(n_corners + 2)
    path = np.column_stack((k * np.sin(angle / 2), (k % 2) * np.cos(angle / 2), 0.0 * k))
    X, truth, options = _along(n, rng, path)
    options |= {"angle": float(np.degrees(angle)), "corners": n_corners}
    # Mean distance between neighboring legs of length 1, as for a creased sheet.
    return Surface(X, truth, 1, gap=np.sin(angle / 2), options=options)


def trefoil_curve(n: int, rng: Rng) -> Surface:
    """Draw a trefoil knot, closed or open."""
    is_closed = bool(rng.randint(2))
    path = trefoil(1.0 if is_closed else rng.uniform(0.5, 0.97))
    # Sparse ends would open the knot.
    X, truth, options = _along(n, rng, path, "even" if is_closed else None)
    options["closed"] = is_closed
    if is_closed:
        return Surface(X, None, 1, gap=STRANDS, loss=CLOSED, options=options)
    ends = float(np.linalg.norm(path[0] - path[-1]))
    # On a curve a hole of the sample ln n spacings long is nothing unusual.
    least = NARROWEST_SLIT * np.log(n) * length_of(path) / n
    unknown = "open by less than the holes of the sample" if ends < least else ""
    return Surface(X, truth, 1, gap=min(STRANDS, ends), unknown=unknown, options=options)


def bent_block(n: int, rng: Rng) -> Surface:
    """Draw a block bent along one side in the fourth dimension: an arc, a fold or a roll."""
    kind = str(rng.choice(["arc", "fold", "roll"]))
    gap = np.inf
    if kind == "arc":
        path = arc(rng.uniform(np.pi / 3, 1.1 * np.pi), rng.uniform(3.0, 6.0))
    elif kind == "fold":
        gap = rng.uniform(0.5, 2.0)
        path = serpentine(2, 3.0, gap)
    else:
        gap = 2.0
        path = spiral(rng.uniform(1.0, 1.5), gap, 1.0)
    sides = rng.uniform(1.0, 3.0, 2)
    flat, options = rectangle(n, rng, length_of(path), sides[0])
    flat = np.column_stack((flat, rng.uniform(size=n) * sides[1]))
    spacing = mean_spacing(n, length_of(path) * sides.prod(), 3)
    options |= {"bend": kind, "gap": gap / spacing}
    return Surface(extrude(path, flat), flat, 3, gap=gap, options=options)


FAMILIES = (spiral_curve, zigzag_curve, trefoil_curve, bent_block)
