"""Random data sets, easy and hopeless ones: one seed and one number give one draw.

Sizes, noise and dimensions are log-uniform. Noise goes up to half the distance between layers of
the surface, where nothing can be unfolded any more. Some draws ask for one dimension too few, and
some surfaces are closed or curved, so that no flat map of them is true.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from experiments.draw_tables import log_uniform
from isofold.datasets import SYNTHETIC, Dataset, lift

__all__ = ["SURFACES", "Draw", "Surface", "make_draw"]

SIZES = (200, 50_000)
"""Smallest and largest number of points."""

NOISE = (0.003, 0.5)
"""Smallest and largest standard deviation, in units of the distance between layers."""

MOST_FEATURES = 100

SHARE_CLEAN, SHARE_UNLIFTED, SHARE_UNBALANCED, SHARE_NARROW = 0.3, 0.5, 0.3, 0.05
"""Shares of draws without noise, in their own dimension, with more points on one half, and with
one component too few."""

IMBALANCE = (0.8, 0.95)

Choice = Callable[[np.random.RandomState], dict[str, Any]]


@dataclass(frozen=True)
class Surface:
    """A generator, and how it is drawn.

    Attributes
    ----------
    layers : float
        Distance between neighboring layers, or the diameter where there is one layer.
    weight : float
        How often it is drawn, relative to others.
    has_truth : bool
        Whether a flat map can be true. If not, every map is a failure.
    takes_imbalance : bool
        Whether one half may get more points.
    choose : callable
        Draws the parameters of the generator.
    """

    layers: float
    weight: float = 1.0
    has_truth: bool = True
    takes_imbalance: bool = False
    choose: Choice = lambda _: {}


def _roll(rng: np.random.RandomState) -> dict[str, Any]:
    return {
        "width": log_uniform(rng, 8.0, 60.0),
        "turns": rng.uniform(1.0, 3.0),
        "uniform": bool(rng.randint(2)),
    }


def _holed_roll(rng: np.random.RandomState) -> dict[str, Any]:
    hole = (rng.uniform(0.1, 0.7), rng.uniform(0.1, 0.7))
    return {"width": log_uniform(rng, 8.0, 60.0), "hole": hole}


SURFACES: Mapping[str, Surface] = MappingProxyType(
    {
        "swiss_roll": Surface(2 * np.pi, 4.0, takes_imbalance=True, choose=_roll),
        "holed_swiss_roll": Surface(2 * np.pi, 4.0, takes_imbalance=True, choose=_holed_roll),
        "s_curve": Surface(2.0, 1.5, takes_imbalance=True),
        # Up to 1.9 π the edges come within .3 of each other: few points cannot tell them apart.
        "flat_torus": Surface(
            2.0,
            1.5,
            takes_imbalance=True,
            choose=lambda rng: {"extent": rng.uniform(np.pi, 1.9 * np.pi)},
        ),
        "cone": Surface(2.0),
        "corrugated_sheet": Surface(np.pi, 1.5, takes_imbalance=True),
        "arched_sheet": Surface(1.0, takes_imbalance=True),
        "v_shape": Surface(
            1.0,
            takes_imbalance=True,
            choose=lambda rng: {"angle": rng.uniform(0.2 * np.pi, 0.9 * np.pi)},
        ),
        "rolled_block": Surface(4.0, 1.5),
        "spiral": Surface(2 * np.pi),
        "helix_arc": Surface(1.26),
        # Judged beside the azimuthal map, which up to 80 degrees is near the best.
        "spherical_cap": Surface(0.5, choose=lambda rng: {"angle": rng.uniform(10.0, 80.0)}),
        "half_globe": Surface(1.0, 0.5, has_truth=False),
        "twin_peaks": Surface(1.0, 0.5, has_truth=False),
        "circle": Surface(2.0, 0.5, has_truth=False),
        "cylinder": Surface(2.0, 0.5, has_truth=False),
        "moebius_strip": Surface(1.0, 0.5, has_truth=False),
    }
)
"""The surfaces by the names of their generators."""


@dataclass(frozen=True)
class Draw:
    """One random data set.

    Attributes
    ----------
    number : int
        Its number among those of its seed.
    surface : str
        Name of the generator.
    n_samples, n_features, n_components : int
        Numbers of points, of coordinates, and of components asked for.
    noise : float
        Standard deviation in every coordinate.
    options : mapping
        Further parameters of the generator.
    random_state : int
        Seed of points, turn and noise.
    """

    number: int
    surface: str
    n_samples: int
    n_features: int
    n_components: int
    noise: float
    options: Mapping[str, Any]
    random_state: int

    def dataset(self) -> Dataset:
        """Return the points with their true coordinates."""
        clean = SYNTHETIC[self.surface](
            self.n_samples, random_state=self.random_state, **self.options
        )
        return lift(clean, self.n_features, noise=self.noise, random_state=self.random_state + 1)


def make_draw(seed: int, number: int, *, largest: int = SIZES[1]) -> Draw:
    """Return a draw; it depends on its seed and number only, not on the draws before.

    Parameters
    ----------
    seed : int
        Seed of the study.
    number : int
        Number of the draw.
    largest : int, default=50_000
        Largest number of points.

    Returns
    -------
    Draw
        The draw.
    """
    rng = np.random.RandomState([seed, number])
    names = list(SURFACES)
    weights = np.array([SURFACES[name].weight for name in names])
    name = str(rng.choice(names, p=weights / weights.sum()))
    surface = SURFACES[name]
    n_samples = round(log_uniform(rng, min(SIZES[0], largest), largest))
    options = surface.choose(rng)
    is_unbalanced, imbalance = rng.uniform() < SHARE_UNBALANCED, rng.uniform(*IMBALANCE)
    if surface.takes_imbalance and is_unbalanced:
        options["imbalance"] = imbalance
    is_clean, noise = rng.uniform() < SHARE_CLEAN, surface.layers * log_uniform(rng, *NOISE)
    example = SYNTHETIC[name](8, random_state=0)
    least, r = example.X.shape[1], example.truth.shape[1]
    is_unlifted = rng.uniform() < SHARE_UNLIFTED
    n_features = round(log_uniform(rng, max(least, 3), MOST_FEATURES))
    is_narrow = r > 1 and rng.uniform() < SHARE_NARROW
    return Draw(
        number=number,
        surface=name,
        n_samples=n_samples,
        n_features=least if is_unlifted else n_features,
        n_components=r - 1 if is_narrow else r,
        noise=0.0 if is_clean else noise,
        options=options,
        random_state=rng.randint(2**31 - 2),
    )
