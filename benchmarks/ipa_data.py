"""Sheets of which everything is known: points, true coordinates, and the noise in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.datasets import SYNTHETIC, Dataset, holed_swiss_roll, lift
from isofold.quality import procrustes_error

LEAST_NOISE, MOST_NOISE = 0.02, 0.2
"""Noise along the first and the last axis where it is not the same in all directions."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Points of a sheet.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The points.
    truth : ndarray of shape (n, r)
        Their true coordinates.
    noise : float
        Standard deviation of the noise along any direction of the sheet.
    judged : ndarray of bool of shape (n,) or None
        The points at which errors count; all if None.
    """

    X: FloatArray
    truth: FloatArray
    noise: float = 0.0
    judged: BoolArray | None = None

    @property
    def floor(self) -> float:
        """The error F = σ√r / rms|y - ȳ| that noise within the sheet makes inevitable."""
        truth = self.truth[self._rows]
        variance = float(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
        return self.noise * float(np.sqrt(truth.shape[1] / variance))

    def error(self, Y: FloatArray) -> float:
        """Return the error of coordinates after the best rigid motion, relative to the extent."""
        return float(procrustes_error(Y[self._rows], self.truth[self._rows]))

    @property
    def _rows(self) -> slice | BoolArray:
        return slice(None) if self.judged is None else self.judged


def roll(n: int, seed: int, *, noise: float = 0.0, imbalance: float | None = None) -> Sheet:
    """Return the roll of the prototypes, whose hole takes 20 % of its length and 40 % of its width.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Seed.
    noise : float, default=0.0
        Standard deviation of the noise.
    imbalance : float or None, default=None
        Share of the points in the inner half.

    Returns
    -------
    Sheet
        The points.
    """
    return _sheet(_roll(n, seed, noise=noise, imbalance=imbalance), noise)


def lifted_roll(n: int, n_features: int, seed: int, *, noise: float | None) -> Sheet:
    """Return the roll in more dimensions.

    Parameters
    ----------
    n : int
        Number of points.
    n_features : int
        Number of dimensions.
    seed : int
        Seed.
    noise : float or None
        Standard deviation of noise that is the same in all directions; None for noise that grows
        tenfold from the first axis to the last.

    Returns
    -------
    Sheet
        The points. The roll is turned at random, so that noise along a direction of the sheet has
        the mean variance of the axes.
    """
    if noise is None:
        profile = np.linspace(LEAST_NOISE, MOST_NOISE, n_features)
    else:
        profile = np.full(n_features, noise)
    lifted = lift(_roll(n, seed), n_features, noise_profile=profile, random_state=seed)
    return _sheet(lifted, float(np.sqrt(np.mean(profile**2))))


def surface(name: str, n: int, seed: int, *, noise: float = 0.0) -> Sheet:
    """Return points of a generator of `isofold.datasets`."""
    return _sheet(SYNTHETIC[name](n, noise=noise, random_state=seed), noise)


def in_units(sheet: Sheet, unit: float) -> Sheet:
    """Return a sheet measured in other units."""
    return replace(sheet, X=unit * sheet.X, truth=unit * sheet.truth, noise=unit * sheet.noise)


def with_outliers(sheet: Sheet, share: float, seed: int) -> Sheet:
    """Return a sheet among points anywhere in its bounding box, on which errors do not count."""
    n = len(sheet.X)
    n_more = round(share * n)
    low, high = sheet.X.min(axis=0), sheet.X.max(axis=0)
    rng = np.random.RandomState(seed)
    return replace(
        sheet,
        X=np.concatenate([sheet.X, rng.uniform(low, high, (n_more, sheet.X.shape[1]))]),
        truth=np.concatenate([sheet.truth, np.zeros((n_more, sheet.truth.shape[1]))]),
        judged=np.arange(n + n_more) < n,
    )


def repeated(sheet: Sheet, times: int) -> Sheet:
    """Return a sheet with each of its points several times, the copies far apart."""
    return replace(sheet, X=np.tile(sheet.X, (times, 1)), truth=np.tile(sheet.truth, (times, 1)))


def _roll(n: int, seed: int, *, noise: float = 0.0, imbalance: float | None = None) -> Dataset:
    return holed_swiss_roll(
        n, width=21.0, hole=(0.2, 0.4), imbalance=imbalance, noise=noise, random_state=seed
    )


def _sheet(dataset: Dataset, noise: float) -> Sheet:
    if dataset.truth is None:
        msg = f"{dataset.name} has no true coordinates to compare with."
        raise ValueError(msg)
    return Sheet(dataset.X, dataset.truth, noise)
