"""Sheets whose layers come near each other: folds, rolls, waves, creases, parallel sheets.

`Surface.gap` is the distance between layers. Of parallel layers nearer than half a spacing, or than
twice the noise, nobody can tell which sample is on which: see `experiments.hostile.draws`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.draw_tables import log_uniform
from experiments.hostile.surfaces import (
    FINE,
    Surface,
    bend,
    drawn_gap,
    extrude,
    length_of,
    mean_spacing,
    rectangle,
    spiral,
)
from isofold._typing import FloatArray

__all__ = ["FAMILIES"]

Rng = np.random.RandomState


def serpentine(n_layers: int, length: float, gap: float) -> FloatArray:
    """Return a path of straight layers a gap apart, joined by half circles."""
    t = np.linspace(0.0, np.pi, FINE)
    bow = gap / 2 * np.column_stack((np.sin(t), 1 - np.cos(t)))
    parts = []
    for layer in range(n_layers):
        ends = np.array([[0.0, layer * gap], [length, layer * gap]])
        forward = layer % 2 == 0
        parts.append(ends if forward else ends[::-1])
        if layer < n_layers - 1:
            side = bow * [1.0 if forward else -1.0, 1.0]
            parts.append(side[1:] + parts[-1][-1])
    return np.concatenate(parts)


def fold(n: int, rng: Rng) -> Surface:
    """Draw a sheet folded in two, the layers 0.3 to 6 spacings apart."""
    return _folded(n, rng, 2)


def multiple_fold(n: int, rng: Rng) -> Surface:
    """Draw a sheet folded to three to five layers."""
    return _folded(n, rng, rng.randint(3, 6))


def _folded(n: int, rng: Rng, n_layers: int) -> Surface:
    length, width = rng.uniform(3.0, 9.0), rng.uniform(2.0, 6.0)
    spacing = mean_spacing(n, n_layers * length * width)
    gap = drawn_gap(rng, spacing, 0.3, 6.0)
    path = serpentine(n_layers, length, gap)
    flat, options = rectangle(n, rng, length_of(path), width)
    options |= {"layers": n_layers, "gap": gap / spacing}
    return Surface(extrude(path, flat), flat, gap=gap, options=options)


def tight_roll(n: int, rng: Rng) -> Surface:
    """Draw a roll of up to five turns whose innermost one is as narrow as a layer."""
    return _roll(n, rng, turns=rng.uniform(1.5, 5.0), gaps=(0.5, 6.0), inner=rng.uniform(0.5, 1.5))


def marginal_roll(n: int, rng: Rng) -> Surface:
    """Draw a Swiss roll sampled just densely enough, or not."""
    n = max(150, n // 4)
    return _roll(n, rng, turns=rng.uniform(1.2, 3.0), gaps=(0.7, 3.0), inner=rng.uniform(0.5, 2.0))


def sparse_roll(n: int, rng: Rng) -> Surface:
    """Draw a roll whose density falls as a power toward both ends."""
    return _roll(
        n, rng, turns=rng.uniform(1.0, 2.5), gaps=(3.0, 9.0), inner=rng.uniform(0.5, 2.0), ends=True
    )


def _roll(
    n: int, rng: Rng, *, turns: float, gaps: tuple[float, float], inner: float, ends: bool = False
) -> Surface:
    """Return a roll of layers 1 apart, so wide that these are as many spacings as drawn."""
    path = spiral(turns, 1.0, inner)
    length, apart = length_of(path), log_uniform(rng, *gaps)
    # From n = length · width / spacing², but no strip and no beam.
    width = float(np.clip(n / (length * apart**2), 0.3 * length / turns, 1.5 * length))
    flat, options = rectangle(n, rng, length, width, density="ends" if ends else None)
    options |= {"turns": turns, "inner": inner, "gap": 1.0 / mean_spacing(n, length * width)}
    return Surface(extrude(path, flat), flat, gap=1.0, options=options)


def parallel_sheets(n: int, rng: Rng) -> Surface:
    """Draw two equal sheets above each other, bent together and joined nowhere."""
    length, width = rng.uniform(3.0, 8.0), rng.uniform(2.0, 6.0)
    spacing = mean_spacing(n, 2 * length * width)
    gap = drawn_gap(rng, spacing, 0.5, 6.0)
    flat, options = rectangle(n, rng, length, width)
    base, bent = bend(flat, rng, may_be_plane=True)
    # One dimension more keeps both sheets at the same distance everywhere, whatever the bend.
    label = np.arange(n) % 2
    X = np.column_stack((base, gap * label))
    # Beside each other on the truth; where, nobody can say.
    truth = flat + np.outer(label, [1.5 * length, 0.0])
    options |= bent | {"gap": gap / spacing}
    return Surface(X, truth, gap=gap, labels=label, is_placed=False, is_apart=True, options=options)


def chirp(n: int, rng: Rng) -> Surface:
    """Draw a sheet bent along a wave whose wavelength shrinks."""
    first, last = rng.uniform(3.0, 5.0), log_uniform(rng, 0.15, 1.5)
    steep = rng.uniform(0.08, 0.25)
    x = np.linspace(0.0, 10.0, FINE)
    wavelength = first * (last / first) ** (x / 10.0)
    phase = np.concatenate(([0.0], np.cumsum(2 * np.pi / wavelength[1:] * np.diff(x))))
    path = np.column_stack((x, steep * wavelength * np.sin(phase)))
    flat, options = rectangle(n, rng, length_of(path), rng.uniform(4.0, 10.0))
    X = extrude(path, flat)
    options |= {"first": first, "last": last, "steep": steep}
    # Nyquist: a wave shorter than two spacings leaves no trace in a sample. As a gap counts
    # against half a spacing, it is a quarter of the wavelength, about that between two flanks.
    return Surface(X, flat, gap=np.interp(X[:, 0], x, wavelength) / 4, options=options)


def corrugated(n: int, rng: Rng) -> Surface:
    """Draw a corrugated sheet of another profile than a sine."""
    profile = str(rng.choice(["triangles", "trapezoids", "half_circles", "cycloid"]))
    n_waves, height = rng.randint(2, 8), rng.uniform(0.15, 0.8)
    t = np.linspace(0.0, 1.0, 2001)
    if profile == "triangles":
        wave = np.array([[0.0, 0.0], [0.5, height], [1.0, 0.0]])
    elif profile == "trapezoids":
        wave = np.array([[0.0, 0.0], [0.3, 0.0], [0.5, height], [0.8, height], [1.0, 0.0]])
    elif profile == "half_circles":
        bow = 0.25 * np.column_stack((1 - np.cos(np.pi * t), np.sin(np.pi * t)))
        wave = np.concatenate((bow, ([0.5, 0.0] + bow * [1.0, -1.0])[1:]))
    else:
        angle = 2 * np.pi * t
        wave = np.column_stack((angle - np.sin(angle), 1 - np.cos(angle))) / (2 * np.pi)
    steps = np.column_stack((np.arange(n_waves), np.zeros(n_waves)))
    path = np.concatenate([wave[min(k, 1) :] + step for k, step in enumerate(steps)])
    flat, options = rectangle(n, rng, length_of(path), rng.uniform(1.5, 5.0))
    options |= {"profile": profile, "waves": n_waves, "height": height}
    # As for the chirp, by Nyquist.
    return Surface(extrude(path, flat), flat, gap=0.25, options=options)


def creased(n: int, rng: Rng) -> Surface:
    """Draw a sheet with one to six sharp folds, to and fro, at 30 to 150 degrees."""
    angle, n_creases = np.radians(rng.uniform(30.0, 150.0)), rng.randint(1, 7)
    width, options = (
        rng.uniform(1.5, 6.0),
        {"angle": float(np.degrees(angle)), "creases": n_creases},
    )
    across, up = np.sin(angle / 2), np.cos(angle / 2)
    k = np.arange(n_creases + 2)
    path = 2.0 * np.column_stack((k * across, (k % 2) * up))
    flat, density = rectangle(n, rng, 2.0 * (n_creases + 1), width)
    # Facets of side 2 are apart by 0 at the crease and 4 sin(angle / 2) at the other end: their
    # mean distance decides. Samples at the crease itself are near each other on the truth, too.
    gap = 2.0 * across
    spacing = mean_spacing(n, 2.0 * (n_creases + 1) * width)
    # Fewer than four samples across a facet do not tell it from the next.
    unknown = "facets of fewer than four spacings" if spacing > 0.5 else ""
    return Surface(extrude(path, flat), flat, gap=gap, unknown=unknown, options=options | density)


def staircase(n: int, rng: Rng) -> Surface:
    """Draw steps with sharp edges at right angles."""
    n_steps, tread, riser = rng.randint(3, 9), 1.0, rng.uniform(0.4, 1.0)
    k = np.arange(n_steps)
    corners = np.column_stack((np.repeat(k, 2), np.repeat(k, 2))).astype(float)
    corners[1::2, 0] += tread
    path = corners * [tread, riser]
    path = np.vstack((path, path[-1] + np.array([0.0, riser])))
    width = rng.uniform(1.5, 6.0)
    flat, options = rectangle(n, rng, length_of(path), width)
    spacing = mean_spacing(n, length_of(path) * width)
    unknown = "steps of fewer than four spacings" if riser < 4 * spacing else ""
    options |= {"steps": n_steps, "riser": riser}
    # Noise as large as half a riser rounds the stairs off to a ramp.
    return Surface(extrude(path, flat), flat, gap=riser, unknown=unknown, options=options)


def student_noise(n: int, rng: Rng) -> Surface:
    """Draw a roll, a fold or an arc with noise of heavy tails."""
    made, options = _sturdy(n, rng)
    return Surface(
        made.X,
        made.truth,
        gap=made.gap,
        tails=float(rng.choice([2.0, 3.0, 4.0])),
        options=options,
    )


def gross_outliers(n: int, rng: Rng) -> Surface:
    """Draw a roll, a fold or an arc of whose samples a few percent lie anywhere."""
    made, options = _sturdy(n, rng)
    gross = log_uniform(rng, 0.003, 0.05)
    return Surface(made.X, made.truth, gap=made.gap, gross=gross, options=options)


def _sturdy(n: int, rng: Rng) -> tuple[Surface, dict[str, Any]]:
    """Return a sheet that is easy without its noise."""
    kind = str(rng.choice(["roll", "fold", "arc"]))
    if kind == "roll":
        made = _roll(n, rng, turns=rng.uniform(1.0, 2.0), gaps=(4.0, 9.0), inner=1.0)
    elif kind == "fold":
        path = serpentine(2, 4.0, 2.0)
        flat, options = rectangle(n, rng, length_of(path), rng.uniform(2.0, 6.0))
        made = Surface(extrude(path, flat), flat, gap=2.0, options=options)
    else:
        flat, options = rectangle(n, rng, rng.uniform(3.0, 8.0), 4.0)
        X, bent = bend(flat, rng)
        made = Surface(X, flat, options=options | bent)
    return made, {"base": kind, **made.options}


FAMILIES = (
    fold,
    multiple_fold,
    tight_roll,
    marginal_roll,
    sparse_roll,
    parallel_sheets,
    chirp,
    corrugated,
    creased,
    staircase,
    student_noise,
    gross_outliers,
)
