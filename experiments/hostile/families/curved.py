"""Surfaces that are closed, curved or cross themselves, and developable ones that look like them.

Where `truth` is None every map is a failure, unless the inevitable loss is small.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from experiments.draw_tables import log_uniform
from experiments.hostile.surfaces import (
    FINE,
    Surface,
    curved_loss,
    follow,
    inside,
    length_of,
    mean_spacing,
    rectangle,
)
from isofold._typing import BoolArray, FloatArray

__all__ = ["FAMILIES", "trefoil"]

Rng = np.random.RandomState

NARROWEST_SLIT = 1.5
"""Width in spacings from which on a slit differs from the holes of a random sample: along a whole
line of samples none is as wide."""

CLOSED = np.inf
"""Loss of a surface that no flat map can show without a tear or a fold."""


def _slit(width: float, spacing: float) -> str:
    return "slit of less than 1.5 spacings" if width < NARROWEST_SLIT * spacing else ""


def part_cylinder(n: int, rng: Rng) -> Surface:
    """Draw a cylinder open by 10 to 270 degrees."""
    angle, height = np.radians(rng.uniform(90.0, 350.0)), rng.uniform(0.5, 4.0)
    flat, options = rectangle(n, rng, angle, height)
    X = np.column_stack((np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]))
    open_by = 2 * np.pi - angle
    width = 2.0 if open_by >= np.pi else 2 * np.sin(open_by / 2)
    unknown = _slit(width, mean_spacing(n, angle * height))
    # Noise of half the slit's width closes it; of half the radius, it fills the cylinder.
    gap = min(1.0, width)
    options |= {"angle": float(np.degrees(angle)), "height": height}
    return Surface(X, flat, gap=gap, unknown=unknown, options=options)


def tube(n: int, rng: Rng) -> Surface:
    """Draw a closed cylinder."""
    height = rng.uniform(0.8, 12.0)
    flat, options = rectangle(n, rng, height, 2 * np.pi)
    X = np.column_stack((np.cos(flat[:, 1]), np.sin(flat[:, 1]), flat[:, 0]))
    options |= {"height": height}
    return Surface(X, gap=1.0, loss=CLOSED, options=options)


def cone(n: int, rng: Rng) -> Surface:
    """Draw a cone with a slit, or without: then it is closed."""
    steep = np.sin(np.radians(rng.uniform(15.0, 60.0)))
    is_closed, begin = rng.uniform() < 0.25, float(rng.choice([0.0, 0.25]))
    turned = 2 * np.pi * (1.0 if is_closed else rng.uniform(0.3, 0.95))
    radius = np.sqrt(rng.uniform(begin**2, 1.0, n))
    phi = rng.uniform(size=n) * turned
    out = radius * steep
    up = radius * np.sqrt(1 - steep**2)
    X = np.column_stack((out * np.cos(phi), out * np.sin(phi), up))
    options = {"steep": steep, "turned": float(np.degrees(turned)), "begin": begin}
    if is_closed:
        return Surface(X, gap=steep / 2, loss=CLOSED, options=options)
    truth = radius[:, None] * np.column_stack((np.cos(phi * steep), np.sin(phi * steep)))
    open_by = 2 * np.pi - turned
    # The slit is narrower toward the apex; at half the slant height it is as wide as on average.
    width = steep if open_by >= np.pi else steep * np.sin(open_by / 2)
    spacing = mean_spacing(n, steep * turned / 2 * (1 - begin**2))
    return Surface(
        X, truth, gap=min(width, steep / 2), unknown=_slit(width, spacing), options=options
    )


def helical_ramp(n: int, rng: Rng) -> Surface:
    """Draw a ribbon wound about a cylinder with a slit between turns: flat, but nearly closed."""
    turns, height = rng.uniform(1.2, 3.0), rng.uniform(0.5, 2.5)
    length = 2 * np.pi * turns
    flat, options = rectangle(n, rng, length, height)
    spacing = mean_spacing(n, length * height)
    slit = spacing * log_uniform(rng, 0.8, 8.0)
    rise = (height + slit) / (2 * np.pi)
    # Sheared so that upright lines stay upright: unrolled, a parallelogram.
    truth = np.column_stack((flat[:, 0], flat[:, 1] + rise * flat[:, 0]))
    X = np.column_stack((np.cos(truth[:, 0]), np.sin(truth[:, 0]), truth[:, 1]))
    options |= {"turns": turns, "height": height, "slit": slit / spacing}
    return Surface(X, truth, gap=min(1.0, slit), unknown=_slit(slit, spacing), options=options)


def tangent_developable(n: int, rng: Rng) -> Surface:
    """Draw the tangents of a helix: their metric is that of the tangents of a circle as curved."""
    radius, rise = 1.0, rng.uniform(0.2, 2.0)
    speed = np.hypot(radius, rise)
    # Arc length of the helix, and way along its tangents; both are even only nearly.
    turned, reach = np.radians(rng.uniform(60.0, 300.0)), rng.uniform(1.0, 3.0)
    curvature = radius / speed**2
    s = rng.uniform(size=n) * turned / curvature
    v = np.sqrt(rng.uniform(0.2**2, reach**2, n)) / curvature
    t = s / speed
    zero = np.zeros(n)
    helix = np.column_stack((radius * np.cos(t), radius * np.sin(t), rise * t))
    tangent = np.column_stack((-np.sin(t), np.cos(t), zero)) * radius + [0.0, 0.0, rise]
    X = helix + v[:, None] * tangent / speed
    angle = curvature * s
    circle = np.column_stack((np.cos(angle), np.sin(angle))) / curvature
    truth = circle + v[:, None] * np.column_stack((-np.sin(angle), np.cos(angle)))
    options = {"rise": rise, "turned": float(np.degrees(turned)), "reach": reach}
    # The helix turns by more than its plane picture. From a full turn on, layers lie above each
    # other: apart by the rise of a turn, less by the slope of the tangents.
    is_layered = turned / curvature / speed > 1.9 * np.pi
    layers = 2 * np.pi * rise * radius / speed if is_layered else np.inf
    return Surface(X, truth, gap=layers, options=options)


def trefoil(share: float) -> FloatArray:
    """Return a part of a trefoil knot."""
    t = np.linspace(0.0, 2 * np.pi * share, FINE)
    return np.column_stack(
        (np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t))
    )


STRANDS = 1.2
"""Smallest distance between strands of the trefoil, where they cross."""


def knotted_ribbon(n: int, rng: Rng) -> Surface:
    """Draw a trefoil made a ribbon by a fourth dimension, as a closed ring or open."""
    is_closed = bool(rng.randint(2))
    path, width = trefoil(1.0 if is_closed else rng.uniform(0.5, 0.95)), rng.uniform(2.0, 10.0)
    # Sparse ends would open a ring.
    flat, options = rectangle(n, rng, length_of(path), width, density="even" if is_closed else None)
    X = np.column_stack((follow(path, flat[:, 0]), flat[:, 1]))
    options |= {"closed": is_closed, "width": width}
    if is_closed:
        return Surface(X, gap=STRANDS, loss=CLOSED, options=options)
    ends = float(np.linalg.norm(path[0] - path[-1]))
    unknown = _slit(ends, mean_spacing(n, length_of(path) * width))
    return Surface(X, flat, gap=min(STRANDS, ends), unknown=unknown, options=options)


def moebius_strip(n: int, rng: Rng) -> Surface:
    """Draw a Moebius strip."""
    width = rng.uniform(0.2, 0.9)
    # Sparse ends would open it.
    phi, v = rectangle(n, rng, 2 * np.pi, 2 * width, density="even")[0].T
    v = v - width
    out = 1 + v / 2 * np.cos(phi / 2)
    X = np.column_stack((out * np.cos(phi), out * np.sin(phi), v / 2 * np.sin(phi / 2)))
    return Surface(X, gap=1.0, loss=CLOSED, options={"width": width})


def _even_in(
    n: int, rng: Rng, length: float, width: float, area: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return parameters of a patch whose points are even on the surface, by rejection."""
    largest = area(rng.uniform(size=(10_000, 2)) * [length, width]).max()
    return inside(n, rng, length, width, lambda p: rng.uniform(size=len(p)) * largest <= area(p))


def catenoid(n: int, rng: Rng) -> Surface:
    """Draw a catenoid, whole around or a part; negatively curved."""
    half, is_closed = rng.uniform(0.8, 1.8), bool(rng.randint(2))
    turned = 2 * np.pi if is_closed else rng.uniform(np.pi, 1.6 * np.pi)
    u, v = _even_in(n, rng, turned, 2 * half, lambda p: np.cosh(p[:, 1] - half) ** 2).T
    v = v - half
    X = np.column_stack((np.cosh(v) * np.cos(u), np.cosh(v) * np.sin(u), v))
    loss = CLOSED if is_closed else curved_loss(-(np.cosh(v) ** -4.0), X)
    options = {"half": half, "turned": float(np.degrees(turned))}
    return Surface(X, gap=1.0, loss=loss, options=options)


def helicoid(n: int, rng: Rng) -> Surface:
    """Draw a spiral staircase: the same metric as the catenoid's, with layers above each other."""
    half, turned = rng.uniform(1.0, 1.8), 2 * np.pi * rng.uniform(0.6, 2.0)
    u, v = _even_in(n, rng, turned, 2 * half, lambda p: np.cosh(p[:, 1] - half) ** 2).T
    v = v - half
    X = np.column_stack((np.sinh(v) * np.cos(u), np.sinh(v) * np.sin(u), u))
    # Both arms of the staircase: layers are half a turn apart.
    loss = curved_loss(-(np.cosh(v) ** -4.0), X)
    return Surface(X, gap=np.pi, loss=loss, options={"half": half, "turns": turned / (2 * np.pi)})


def saddle(n: int, rng: Rng) -> Surface:
    """Draw a saddle z = a (x² − y²) / 2."""
    a = rng.uniform(0.8, 2.5)
    p = 2 * rng.uniform(size=(n, 2)) - 1
    squares = (p**2).sum(axis=1)
    X = np.column_stack((p, a / 2 * (p[:, 0] ** 2 - p[:, 1] ** 2)))
    curvature = -(a**2) / (1 + a**2 * squares) ** 2
    return Surface(X, gap=0.5, loss=curved_loss(curvature, X), options={"a": a})


def cap(n: int, rng: Rng) -> Surface:
    """Draw a cap of a sphere with a half angle of 8 to 80 degrees, beside its azimuthal map."""
    angle = np.radians(rng.uniform(8.0, 80.0))
    height = rng.uniform(np.cos(angle), 1.0, n)
    phi, polar = rng.uniform(size=n) * 2 * np.pi, np.arccos(height)
    around = np.column_stack((np.cos(phi), np.sin(phi)))
    X = np.column_stack((np.sin(polar)[:, None] * around, height))
    truth = polar[:, None] * around
    loss = curved_loss(np.ones(n), truth)
    return Surface(X, truth, loss=loss, options={"angle": float(np.degrees(angle))})


def sphere(n: int, rng: Rng) -> Surface:
    """Draw a whole ellipsoid of revolution."""
    stretch = rng.uniform(1.0, 2.0)
    X = rng.normal(size=(n, 3))
    X *= [1.0, 1.0, stretch] / np.linalg.norm(X, axis=1, keepdims=True)
    return Surface(X, gap=1.0, loss=CLOSED, options={"stretch": stretch})


def torus(n: int, rng: Rng) -> Surface:
    """Draw a ring torus."""
    radius = rng.uniform(0.2, 0.6)
    a, b = _even_in(n, rng, 2 * np.pi, 2 * np.pi, lambda p: 1 + radius * np.cos(p[:, 1])).T
    out = 1 + radius * np.cos(b)
    X = np.column_stack((out * np.cos(a), out * np.sin(a), radius * np.sin(b)))
    return Surface(X, gap=radius, loss=CLOSED, options={"radius": radius})


def crossing_sheets(n: int, rng: Rng) -> Surface:
    """Draw two planes that cross at 30 to 90 degrees, or a sheet with a fin on it."""
    angle, has_fin = np.radians(rng.uniform(30.0, 90.0)), bool(rng.randint(2))
    p = 2 * rng.uniform(size=(n, 2)) - 1
    second = np.arange(n) % 2 == 1
    if has_fin:
        p[second, 0] = np.abs(p[second, 0])
    X = np.column_stack((p, np.zeros(n)))
    turned = p[second, 0]
    X[second, 0], X[second, 2] = turned * np.cos(angle), turned * np.sin(angle)
    options = {"angle": float(np.degrees(angle)), "fin": has_fin}
    return Surface(X, gap=np.sin(angle) / 2, loss=CLOSED, options=options)


def handle(n: int, rng: Rng) -> Surface:
    """Draw a flat sheet with a handle, half a torus."""
    reach, thick = 1.0, rng.uniform(0.25, 0.45)
    area = 24.0 - 2 * np.pi * thick**2, 2 * np.pi * thick * np.pi * reach
    m = round(n * area[1] / sum(area))
    ends = np.array([[3.0 - reach, 2.0], [3.0 + reach, 2.0]])

    def contains(p: FloatArray) -> BoolArray:
        return np.all([np.linalg.norm(p - end, axis=1) >= thick for end in ends], axis=0)

    flat = inside(n - m, rng, 6.0, 4.0, contains)
    a, b = _even_in(m, rng, np.pi, 2 * np.pi, lambda p: reach + thick * np.cos(p[:, 1])).T
    out = reach + thick * np.cos(b)
    bow = np.column_stack((3.0 + out * np.cos(a), 2.0 + thick * np.sin(b), out * np.sin(a)))
    X = np.concatenate((np.column_stack((flat, np.zeros(n - m))), bow))
    # Fewer than six samples around the handle cannot show that it is a tube.
    thin = 2 * np.pi * thick < 6 * mean_spacing(n, sum(area))
    unknown = "handle of fewer than six spacings around" if thin else ""
    return Surface(X, gap=thick, loss=CLOSED, unknown=unknown, options={"thick": thick})


def blob(n: int, rng: Rng) -> Surface:
    """Draw a Gaussian or a cube of three to ten dimensions: r = 2 is too small."""
    d, is_cube = rng.randint(3, 11), bool(rng.randint(2))
    X = rng.uniform(-1, 1, (n, d)) if is_cube else rng.normal(size=(n, d))
    return Surface(X, loss=CLOSED, options={"dimensions": d, "cube": is_cube})


FAMILIES = (
    part_cylinder,
    tube,
    cone,
    helical_ramp,
    tangent_developable,
    knotted_ribbon,
    moebius_strip,
    catenoid,
    helicoid,
    saddle,
    cap,
    sphere,
    torus,
    crossing_sheets,
    handle,
    blob,
)
