"""A sampled surface with its true coordinates, and what surfaces are made of: paths and densities.

Whatever is bent here is bent along a path of known arc length, so that its truth is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from experiments.draw_tables import log_uniform
from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Surface",
    "arc",
    "bend",
    "curved_loss",
    "drawn_gap",
    "extrude",
    "follow",
    "inside",
    "length_of",
    "mean_spacing",
    "rectangle",
    "rectangles",
    "spiral",
]

Rng = np.random.RandomState

FINE = 20_001
"""Points of a path whose length is measured by its chords: they fall short by less than 1e-6."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Points of a surface without noise.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    truth : ndarray of shape (n_samples, n_components) or None
        Isometric flat coordinates, or None if there are none. Of a surface with `loss`, the
        reference map.
    n_components : int
        Dimension of the surface, which is asked for.
    gap : float or ndarray of shape (n_samples,)
        Distance between parts of the surface that are far from each other along it, at every
        sample if it differs; infinite where there is one layer.
    labels : ndarray of int or None
        The component of every sample, if there are several.
    is_placed : bool
        Whether the truth also says how components lie to each other.
    is_apart : bool
        Whether the sample may rightly be called disconnected.
    loss : float
        Error that intrinsic curvature makes inevitable on a flat map; infinite if the surface is
        closed, crosses itself or has more dimensions.
    unknown : str
        Why nobody can know the answer, by the parameters; empty if it can be.
    unknown_from : float
        Noise from which on this holds.
    tails : float
        Degrees of freedom of Student noise; infinite for Gaussian noise.
    gross : float
        Fraction of the samples that are put anywhere.
    options : mapping
        The parameters that were drawn, for the tables.
    """

    X: FloatArray
    truth: FloatArray | None = None
    n_components: int = 2
    gap: float | FloatArray = np.inf
    labels: IntArray | None = None
    is_placed: bool = True
    is_apart: bool = False
    loss: float = 0.0
    unknown: str = ""
    unknown_from: float = 0.0
    tails: float = np.inf
    gross: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)


# --- Samples of flat domains ---------------------------------------------------------------------


def rectangle(
    n: int, rng: Rng, length: float, width: float, *, density: str | None = None
) -> tuple[FloatArray, dict[str, Any]]:
    """Return points of a rectangle, even, uneven or with sparse ends, and which of these."""
    kind = str(rng.choice(["even", "even", "uneven", "ends"])) if density is None else density
    along, options = rng.uniform(size=n), {"density": kind}
    if kind == "uneven":
        # Most of the points on one side of a line.
        share, at = rng.uniform(0.6, 0.9), rng.uniform(0.3, 0.7)
        dense = rng.uniform(size=n) < share
        along = np.where(dense, along * at, at + along * (1 - at))
    elif kind == "ends":
        # Density falls to zero toward both ends as a power of the distance.
        power = rng.uniform(0.5, 2.0)
        along = rng.beta(1 + power, 1 + power, size=n)
        options["power"] = power
    return np.column_stack((along * length, rng.uniform(size=n) * width)), options


def inside(
    n: int, rng: Rng, length: float, width: float, contains: Callable[[FloatArray], BoolArray]
) -> FloatArray:
    """Return even points of the part of a rectangle where a function is true."""
    found = np.empty((0, 2))
    while len(found) < n:
        points = rng.uniform(size=(4 * n, 2)) * [length, width]
        found = np.concatenate((found, points[contains(points)]))
    return found[:n]


def rectangles(n: int, rng: Rng, boxes: list[tuple[float, float, float, float]]) -> FloatArray:
    """Return even points of the union of boxes (left, right, bottom, top) with corner at 0."""
    right, top = max(box[1] for box in boxes), max(box[3] for box in boxes)

    def contains(p: FloatArray) -> BoolArray:
        x, y = p.T
        hits = [(a <= x) & (x <= b) & (c <= y) & (y <= d) for a, b, c, d in boxes]
        return np.any(hits, axis=0)

    return inside(n, rng, right, top, contains)


def mean_spacing(n: int, content: float, n_components: int = 2) -> float:
    """Return the side of the cell that a sample has on average."""
    return float((content / n) ** (1 / n_components))


# --- Paths, and what is bent along them ----------------------------------------------------------


def length_of(path: FloatArray) -> float:
    """Return the length of a polyline."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def follow(path: FloatArray, s: FloatArray) -> FloatArray:
    """Return the points of a polyline at given lengths from its begin."""
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    at = np.concatenate(([0.0], np.cumsum(steps)))
    return np.column_stack([np.interp(s, at, column) for column in path.T])


def extrude(path: FloatArray, flat: FloatArray) -> FloatArray:
    """Bend flat points along a path by their first coordinate; the others stay straight."""
    return np.column_stack((follow(path, flat[:, 0]), flat[:, 1:]))


def arc(angle: float, length: float) -> FloatArray:
    """Return an arc of a circle of given angle and length."""
    t = np.linspace(0.0, angle, FINE)
    return np.column_stack((np.sin(t), 1 - np.cos(t))) * length / angle


def spiral(turns: float, pitch: float, inner: float) -> FloatArray:
    """Return an Archimedean spiral from an inner radius, with turns a pitch apart."""
    t = np.linspace(0.0, 2 * np.pi * turns, FINE)
    radius = inner + pitch * t / (2 * np.pi)
    return np.column_stack((radius * np.cos(t), radius * np.sin(t)))


def bend(
    flat: FloatArray, rng: Rng, *, may_be_plane: bool = False
) -> tuple[FloatArray, dict[str, Any]]:
    """Bend flat points gently: an arc, an S, or not at all; layers are far from each other."""
    x = flat[:, 0] - flat[:, 0].min()
    length = float(x.max())
    kinds = ["arc", "arc", "s"] + ["plane"] * may_be_plane
    kind = str(rng.choice(kinds))
    options: dict[str, Any] = {"bend": kind}
    if kind == "plane":
        return np.column_stack((flat, np.zeros(len(flat)))), options
    angle = rng.uniform(np.pi / 3, 1.1 * np.pi)
    options["angle"] = float(np.degrees(angle))
    path = arc(angle, length if kind == "arc" else length / 2)
    if kind == "s":
        # The second half is the first, turned by 180 degrees about its end.
        path = np.concatenate((path, (2 * path[-1] - path)[-2::-1]))
    return extrude(path, np.column_stack((x, flat[:, 1:]))), options


def curved_loss(curvature: FloatArray, X: FloatArray) -> float:
    """Return the error that Gaussian curvature K makes inevitable, about: |mean K| · var / 16.

    It is the relative error of all distances along the surface on the flat map of least stress.
    Such maps of dense samples have errors of var / 19 for caps of 20 to 75 degrees, and of var / 12
    for saddles.
    """
    variance = ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    return float(np.abs(curvature.mean()) * variance / 16)


def drawn_gap(rng: Rng, spacing: float, low: float, high: float) -> float:
    """Return a random distance between layers, between bounds in units of the spacing."""
    return spacing * log_uniform(rng, low, high)
