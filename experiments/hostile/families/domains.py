"""Sheets of other outlines than a rectangle, bent gently: necks, holes, stripes, lattices, ribbons.

Where two parts meet in less than two spacings, only the samples near the neck tell how one is
turned against the other. The surfaces are smooth there, so that without noise they tell it
exactly. Noise σ at a dozen samples with a lever of three spacings makes the angle wrong by σ / (3
√6) a spacing: from 0.3 spacings on by 0.04, which takes the parts 0.02 of the extent off their
places, an error that counts. Along a bridge or a ribbon such errors add up, with levers of one
spacing: there it is 0.1 spacings. On a plane straight distances tell the angle, whatever the
neck.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.draw_tables import log_uniform
from experiments.hostile.surfaces import (
    Surface,
    bend,
    follow,
    inside,
    length_of,
    mean_spacing,
    rectangle,
    rectangles,
    spiral,
)
from isofold._typing import BoolArray, FloatArray

__all__ = ["FAMILIES"]

Rng = np.random.RandomState

WIDEST_HINGE = 2.0
"""Width in spacings below which a neck is a hinge."""

TURNING, ADDED_TURNING = 0.3, 0.1
"""Noise in spacings from which on a hinge, or a row of them, has no certain angle."""

LEAST_APART = 1.5
"""Width in spacings from which on an empty stripe may rightly be called a gap between components;
random samples have holes of this size, but none along a whole line."""


def _bent(
    flat: FloatArray,
    rng: Rng,
    neck: float | None = None,
    spacing: float = 0.0,
    turning: float = TURNING,
    **options: Any,
) -> Surface:
    """Bend a domain; a narrow neck, in spacings, makes the answer unknown from some noise on."""
    X, bent = bend(flat, rng, may_be_plane=neck is not None)
    options |= bent
    unknown, is_apart = "", False
    if neck is not None:
        options["neck"] = neck
        # Of a point nobody can say whether it joins.
        is_apart = neck < 1.0
        if neck < WIDEST_HINGE and bent["bend"] != "plane":
            unknown = "hinge: a neck of less than two spacings, and noise"
    return Surface(
        X, flat, is_apart=is_apart, unknown=unknown, unknown_from=turning * spacing, options=options
    )


def _drawn_neck(rng: Rng) -> float:
    """Return the width of a neck in spacings; a point in one of three cases."""
    return 0.0 if rng.uniform() < 1 / 3 else log_uniform(rng, 0.5, 8.0)


def bow_tie(n: int, rng: Rng) -> Surface:
    """Draw two triangles that meet at a neck or a point."""
    neck = _drawn_neck(rng)
    spacing = mean_spacing(n, 8.0)
    narrow = min(neck * spacing, 2.0)

    def contains(p: FloatArray) -> BoolArray:
        return np.abs(p[:, 1] - 2.0) <= np.maximum(np.abs(p[:, 0] - 2.0), narrow / 2)

    return _bent(inside(n, rng, 4.0, 4.0, contains), rng, neck, spacing)


def disk_chain(n: int, rng: Rng) -> Surface:
    """Draw two to six disks in a zigzag, each joined to the next at a point or a narrow overlap."""
    n_disks, neck = rng.randint(2, 7), _drawn_neck(rng)
    spacing = mean_spacing(n, n_disks * np.pi)
    chord = min(neck * spacing, 1.6)
    step = 2 * np.sqrt(1 - (chord / 2) ** 2)
    slant = np.radians(rng.uniform(0.0, 50.0))
    k = np.arange(n_disks)
    centers = 1.0 + step * np.column_stack((k * np.cos(slant), (k % 2) * np.sin(slant)))

    def contains(p: FloatArray) -> BoolArray:
        return np.any([((p - center) ** 2).sum(axis=1) <= 1 for center in centers], axis=0)

    flat = inside(n, rng, centers[-1, 0] + 1, centers[:, 1].max() + 1, contains)
    return _bent(flat, rng, neck, spacing, disks=n_disks)


def dumbbell(n: int, rng: Rng) -> Surface:
    """Draw two squares joined by a thin bridge."""
    bridge = rng.uniform(0.3, 3.0)
    spacing = mean_spacing(n, 8.0)
    neck = log_uniform(rng, 1.0, 8.0)
    half = min(neck * spacing / 2, 0.9)
    middle = rng.uniform(0.9, 1.1)
    boxes = [
        (0.0, 2.0, 0.0, 2.0),
        (2.0, 2.0 + bridge, middle - half, middle + half),
        (2.0 + bridge, 4.0 + bridge, 0.0, 2.0),
    ]
    return _bent(rectangles(n, rng, boxes), rng, neck, spacing, ADDED_TURNING, bridge=bridge)


def cross(n: int, rng: Rng) -> Surface:
    """Draw a cross, a T or an L of strips."""
    kind, half = str(rng.choice(["cross", "T", "L"])), rng.uniform(0.25, 0.7)
    if kind == "cross":
        boxes = [(0.0, 5.0, 2.0 - half, 2.0 + half), (2.5 - half, 2.5 + half, 0.0, 4.0)]
    elif kind == "T":
        boxes = [(0.0, 5.0, 4.0 - 2 * half, 4.0), (2.5 - half, 2.5 + half, 0.0, 4.0)]
    else:
        boxes = [(0.0, 5.0, 0.0, 2 * half), (0.0, 2 * half, 0.0, 4.0)]
    flat = rectangles(n, rng, boxes)
    spacing = mean_spacing(n, 18 * half - 4 * half**2)
    return _bent(flat, rng, 2 * half / spacing, spacing, ADDED_TURNING, kind=kind)


def holed(n: int, rng: Rng) -> Surface:
    """Draw a sheet with up to eight round holes that keep apart, so that no island is cut off."""
    wanted, centers, radii = rng.randint(3, 9), np.empty((0, 2)), np.empty(0)
    for _ in range(200):
        radius = rng.uniform(0.3, 0.8)
        margin = radius + 0.2
        center = margin + rng.uniform(size=2) * (np.array([6.0, 4.0]) - 2 * margin)
        if len(radii) < wanted and np.all(
            np.linalg.norm(centers - center, axis=1) >= radii + margin
        ):
            centers, radii = np.vstack((centers, center)), np.append(radii, radius)

    def contains(p: FloatArray) -> BoolArray:
        away = np.linalg.norm(p[:, None] - centers, axis=2)
        return np.all(away >= radii, axis=1)

    return _bent(inside(n, rng, 6.0, 4.0, contains), rng, holes=len(radii))


def rim(n: int, rng: Rng) -> Surface:
    """Draw only the rim of a sheet: an annulus or a frame."""
    kind, inner = str(rng.choice(["annulus", "frame"])), rng.uniform(0.5, 0.93)

    def contains(p: FloatArray) -> BoolArray:
        away = np.abs(p - 2.0) / 2.0
        size = np.linalg.norm(away, axis=1) if kind == "annulus" else away.max(axis=1)
        return (inner <= size) & (size <= 1.0)

    area = (4 * np.pi if kind == "annulus" else 16.0) * (1 - inner**2)
    spacing = mean_spacing(n, area)
    width = 2.0 * (1 - inner) / spacing
    flat = inside(n, rng, 4.0, 4.0, contains)
    return _bent(flat, rng, width, spacing, ADDED_TURNING, kind=kind, inner=inner)


def clusters(n: int, rng: Rng) -> Surface:
    """Draw a sheet with three to eight dense clusters and little between them."""
    k, between = rng.randint(3, 9), float(rng.choice([0.0, 0.05, 0.2]))
    centers, sizes = rng.uniform(size=(k, 2)) * [6.0, 4.0], rng.uniform(0.3, 0.9, k)
    flat = np.empty((0, 2))
    while len(flat) < n:
        at = rng.randint(k, size=n)
        points = centers[at] + sizes[at, None] * rng.normal(size=(n, 2))
        loose = rng.uniform(size=n) < between
        points[loose] = rng.uniform(size=(int(loose.sum()), 2)) * [6.0, 4.0]
        flat = np.concatenate((flat, points[((points >= 0) & (points <= [6, 4])).all(axis=1)]))
    made = _bent(flat[:n], rng, clusters=k, between=between)
    # Gaussian clusters have no clear edge: whether they are connected is a matter of opinion.
    return Surface(made.X, made.truth, is_apart=True, options=made.options)


def stripes(n: int, rng: Rng) -> Surface:
    """Draw two to six narrow strips of a sheet."""
    k, along = rng.randint(2, 7), bool(rng.randint(2))
    width = 4.0 / k
    label = rng.randint(k, size=n)
    empty = rng.uniform(0.1, 0.7)
    across = (label + (1 - empty) * rng.uniform(size=n)) * width
    flat = np.column_stack((rng.uniform(size=n) * 6.0, across))
    spacing = mean_spacing(n, 24.0 * (1 - empty))
    # Stripes that follow the bend, or cross it: then the bend must be guessed across the gap.
    flat = flat if along else flat[:, ::-1]
    X, bent = bend(flat, rng)
    gap, strip = empty * width / spacing, (1 - empty) * width / spacing
    unknown = ""
    if gap >= LEAST_APART and strip < WIDEST_HINGE:
        unknown = "hinge: strips of less than two spacings, and noise"
    options = {"strips": k, "gap": gap, "strip": strip, "along": along, **bent}
    return Surface(
        X,
        flat,
        labels=label if gap >= LEAST_APART else None,
        is_apart=gap >= LEAST_APART,
        unknown=unknown,
        unknown_from=ADDED_TURNING * spacing,
        options=options,
    )


def lattice(n: int, rng: Rng) -> Surface:
    """Draw points of a grid: square, hexagonal or stretched, exact or jittered, on a bent sheet."""
    kind, aspect = str(rng.choice(["square", "hexagonal"])), log_uniform(rng, 1.0, 8.0)
    jitter = float(rng.choice([0.0, 0.0, 0.1, 0.3]))
    shape = rng.uniform(0.7, 2.0)
    # Rows are `aspect` steps apart, and the sheet is `shape` times as long as wide.
    n_rows = max(3, round(np.sqrt(n / (shape * aspect))))
    n_columns = max(8, n // n_rows)
    i, j = np.divmod(np.arange(n_rows * n_columns), n_columns)
    x = j + 0.5 * (i % 2) * (kind == "hexagonal")
    y = i * aspect * (np.sqrt(3) / 2 if kind == "hexagonal" else 1.0)
    flat = np.column_stack((x, y)) + jitter * rng.uniform(-1, 1, (len(x), 2))
    flat = flat if rng.randint(2) else flat[:, ::-1]
    made = _bent(flat, rng, kind=kind, aspect=aspect, jitter=jitter)
    # Rows twice as far apart as their points are may rightly be called curves of their own.
    return Surface(made.X, made.truth, is_apart=aspect >= 2.0, options=made.options)


def ribbon(n: int, rng: Rng) -> Surface:
    """Draw a ribbon 30 to 100 times as long as wide, rolled or bent."""
    length = log_uniform(rng, 30.0, 100.0)
    flat, options = rectangle(n, rng, length, 1.0)
    spacing = mean_spacing(n, length)
    neck = 1.0 / spacing
    gap = np.inf
    if rng.randint(2):
        path = spiral(rng.uniform(1.0, 2.5), 1.0, 1.0)
        scale = length / length_of(path)
        X = np.column_stack((follow(path * scale, flat[:, 0]), flat[:, 1]))
        options, gap = options | {"bend": "roll"}, scale
    else:
        X, bent = bend(flat, rng)
        options |= bent
    unknown = ""
    if neck < WIDEST_HINGE:
        unknown = "hinge: a ribbon of less than two spacings, and noise"
    options |= {"length": length, "neck": neck}
    return Surface(
        X, flat, gap=gap, unknown=unknown, unknown_from=ADDED_TURNING * spacing, options=options
    )


FAMILIES = (
    bow_tie,
    disk_chain,
    dumbbell,
    cross,
    holed,
    rim,
    clusters,
    stripes,
    lattice,
    ribbon,
)
