"""Random draws of all families: a seed and a number give one data set, and what is known of it.

Draw i is of family ``i % len(FAMILIES)``, so that every family appears equally often.

Can the answer be known? These rules, and those of the families (`Surface.unknown`), use the
geometry of the surface and the sampling only. They were laid down before any map was made.

- *Layers*: a sample whose layer is nearer than half a spacing to another cannot be told from those
  of the other: its neighbors on both are equally near. Neither can it if the noise is half the gap
  or more, where the two bell curves of equal layers run together to one without a dip. The spacing
  is measured at every sample. At rims and by chance it is up to 1.4 times the mean, so that the
  limit is 0.5 to 0.7 mean spacings.
- *Few*: if that holds for less than 5 % of the samples (at a sparse end, say), the answer can be
  known, and these samples are not judged. Else it cannot.
- *Noise*: from F = 0.07 on, noise in the plane alone makes half of the squared error of 0.1 at
  which a map has failed.
- *Outliers* are not judged: nobody knows where they belong.
- *Curved surfaces*: every map is a failure if the inevitable error is one by the rule for all
  errors (above 0.1, or above 0.02 and three times F). Else no verdict is passed on warnings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gamma
from sklearn.neighbors import NearestNeighbors

from experiments.draw_tables import log_uniform, noise_floor
from experiments.hostile.families import FAMILIES
from experiments.hostile.surfaces import Surface
from experiments.ipa_failures.summarize import FLOORS, LARGEST_ERROR, LEAST_ERROR
from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["SIZES", "Draw", "local_spacing", "make_draw"]

SIZES = (150, 8000)
"""Smallest and largest number of points; log-uniform, so that five of six are below 4,000."""

MOST_FEATURES = 50
SHARE_CLEAN, SHARE_UNLIFTED = 0.35, 0.4
"""Shares of draws without noise, and in three dimensions or as many as the surface needs."""

NOISE, HEAVY_NOISE = (0.003, 0.6), (0.003, 0.15)
"""Noise in units of the gap between layers, or of a sixth of the extent if that is less; and the
scale of noise with heavy tails, whose deviation is a multiple of it."""

LAYERS_PER_EXTENT = 6.0

NEAREST_LAYER = 0.5
"""Distance between layers, in spacings, below which nobody can tell them apart."""

NOISE_PER_GAP = 0.5
LARGEST_HIDDEN = 0.05
LARGEST_FLOOR = LARGEST_ERROR / np.sqrt(2)

FAR_OFF = 5.0
"""Standard deviations beyond which noise of heavy tails makes an outlier."""

COUNTED = 6
"""Neighbors from whose distance the spacing at a sample is estimated."""


@dataclass(frozen=True, eq=False)
class Draw:
    """A data set and what is known of it.

    Attributes
    ----------
    seed, number : int
        What it is drawn from.
    family : str
        Name of its family.
    X : ndarray of shape (n_samples, n_features)
        The points.
    truth : ndarray of shape (n_samples, n_components) or None
        True coordinates, or those of the reference map if it is curved.
    n_components : int
        Dimension of the map.
    noise : float
        Standard deviation, or scale of Student noise, in every coordinate.
    floor : float
        F, the error that noise in the plane alone causes.
    loss : float
        Error that no flat map avoids.
    judged : ndarray of bool of shape (n_samples,)
        Samples that have a place which can be known.
    unknown : str
        Why nobody can know the answer; empty if it can be known.
    labels : ndarray of int or None
        Components, if there are several.
    is_placed, is_apart : bool
        As of `Surface`.
    has_outliers : bool
        Whether there may be samples off the surface.
    options : mapping
        The parameters that were drawn.
    """

    seed: int
    number: int
    family: str
    X: FloatArray
    truth: FloatArray | None
    n_components: int
    noise: float
    floor: float
    loss: float
    judged: BoolArray
    unknown: str
    labels: IntArray | None
    is_placed: bool
    is_apart: bool
    has_outliers: bool
    options: Mapping[str, Any]

    @property
    def has_truth(self) -> bool:
        """Whether the inevitable error alone makes no failure, by the rule for all errors."""
        beyond_floor = self.loss > max(LEAST_ERROR, FLOORS * self.floor)
        return not (self.loss > LARGEST_ERROR or beyond_floor)


def make_draw(seed: int, number: int, *, largest: int = SIZES[1]) -> Draw:
    """Return a draw; it depends on its seed and number only, not on the draws before.

    Parameters
    ----------
    seed : int
        Seed of the study.
    number : int
        Number of the draw.
    largest : int, default=8000
        Largest number of points.

    Returns
    -------
    Draw
        The draw.
    """
    rng = np.random.RandomState([seed, number])
    family = list(FAMILIES)[number % len(FAMILIES)]
    n = round(log_uniform(rng, min(SIZES[0], largest), largest))
    surface = FAMILIES[family](n, rng)
    is_heavy = np.isfinite(surface.tails)
    is_clean = rng.uniform() < SHARE_CLEAN and not is_heavy
    limits = HEAVY_NOISE if is_heavy else NOISE
    noise = 0.0 if is_clean else _noise_unit(surface) * log_uniform(rng, *limits)
    X = _lifted(surface.X, rng)
    moved, off = _moved(surface, X.shape, noise, rng)
    is_gross = rng.uniform(size=len(X)) < surface.gross
    X = X + moved
    spread = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    anywhere = rng.normal(size=X.shape) * spread / np.sqrt(X.shape[1])
    X[is_gross] = X.mean(axis=0) + 1.5 * anywhere[is_gross]
    hidden = _hidden(surface, noise)
    judged = ~(off | is_gross)
    # Of heavy tails only what is judged counts.
    floor = _floor(surface, judged, float(np.sqrt((moved[judged] ** 2).mean())))
    unknown = _unknown(surface, noise, hidden, floor)
    return Draw(
        seed,
        number,
        family,
        X,
        surface.truth,
        surface.n_components,
        noise,
        floor,
        surface.loss,
        judged if hidden.mean() >= LARGEST_HIDDEN else judged & ~hidden,
        unknown,
        surface.labels,
        surface.is_placed,
        surface.is_apart,
        bool(surface.gross or np.isfinite(surface.tails)),
        surface.options | ({"tails": surface.tails} if np.isfinite(surface.tails) else {}),
    )


def local_spacing(surface: Surface) -> FloatArray:
    """Return the side of the cell that a sample has at every place, from its near neighbors.

    As many as k neighbors within a distance ρ have k cells in a ball of that radius.
    """
    flat = surface.X if surface.truth is None else surface.truth
    r = surface.n_components
    reach = NearestNeighbors(n_neighbors=COUNTED).fit(flat).kneighbors()[0][:, -1]
    ball = np.pi ** (r / 2) / gamma(r / 2 + 1)
    return np.asarray(reach * (ball / COUNTED) ** (1 / r))


def _hidden(surface: Surface, noise: float) -> BoolArray:
    """Return the samples whose layer cannot be told from another."""
    gap = np.broadcast_to(surface.gap, len(surface.X))
    too_near = gap < NEAREST_LAYER * local_spacing(surface)
    return np.asarray(too_near | (noise >= NOISE_PER_GAP * gap))


def _unknown(surface: Surface, noise: float, hidden: BoolArray, floor: float) -> str:
    """Return why nobody can know the answer, or nothing."""
    if surface.unknown and noise >= surface.unknown_from:
        return surface.unknown
    if hidden.mean() >= LARGEST_HIDDEN:
        by_noise = (noise >= NOISE_PER_GAP * np.asarray(surface.gap)).mean() >= LARGEST_HIDDEN
        return "noise hides the layers" if by_noise else "layers nearer than half a spacing"
    if surface.truth is not None and floor >= LARGEST_FLOOR:
        return "noise alone makes the error"
    return ""


def _floor(surface: Surface, judged: BoolArray, deviation: float) -> float:
    """Return F; without a truth, by the extent of the data."""
    if surface.truth is not None:
        return noise_floor(surface.truth[judged], deviation)
    share = surface.n_components / surface.X.shape[1]
    return noise_floor(surface.X[judged], deviation * float(np.sqrt(share)))


def _noise_unit(surface: Surface) -> float:
    extent = np.sqrt(((surface.X - surface.X.mean(axis=0)) ** 2).sum(axis=1).mean())
    return float(min(np.median(surface.gap), extent / LAYERS_PER_EXTENT))


def _lifted(X: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Turn points into more dimensions, or fill them up to three."""
    least = max(3, X.shape[1])
    is_unlifted = rng.uniform() < SHARE_UNLIFTED
    d = least if is_unlifted else round(log_uniform(rng, least, MOST_FEATURES))
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return np.asarray(X @ turn[: X.shape[1]])


def _moved(
    surface: Surface, shape: tuple[int, int], noise: float, rng: np.random.RandomState
) -> tuple[FloatArray, BoolArray]:
    """Return what noise adds, and which samples it takes far off."""
    n, d = shape
    moved = noise * rng.normal(size=shape)
    if np.isinf(surface.tails):
        return moved, np.zeros(n, dtype=bool)
    # The multivariate distribution: a sample is far off in all its coordinates, or in none.
    stretch = np.sqrt(surface.tails / rng.chisquare(surface.tails, n))
    moved *= stretch[:, None]
    return moved, np.linalg.norm(moved, axis=1) > FAR_OFF * noise * np.sqrt(d)
