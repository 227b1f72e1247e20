"""Data cut into training and test points, and methods that place both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.harness import Outcome, fit, say
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset
from isofold.linalg import procrustes

__all__ = ["Case", "Placed", "Strip", "align", "describe_sdp", "place", "rms_error", "split"]

N_SLICES = 12
"""Pieces of a strip in each of which its width is measured."""


@dataclass(frozen=True, eq=False)
class Case:
    """Points to learn from and points to place.

    Attributes
    ----------
    data : Dataset
        All points.
    train, test : ndarray of int
        Their rows.
    """

    data: Dataset
    train: IntArray
    test: IntArray

    @property
    def points(self) -> FloatArray:
        """Training points."""
        return self.data.X[self.train]

    @property
    def new_points(self) -> FloatArray:
        """Test points."""
        return self.data.X[self.test]

    @property
    def truth(self) -> FloatArray:
        """True coordinates of the training points."""
        return self.data.truth[self.train]

    @property
    def new_truth(self) -> FloatArray:
        """True coordinates of the test points."""
        return self.data.truth[self.test]


@dataclass(frozen=True, eq=False)
class Placed:
    """A fitted method and where it puts new points.

    Attributes
    ----------
    outcome : Outcome
        The method, fitted to the training points.
    new_places : ndarray of shape (n_test, n_components) or None
        The test points on the map, None if the method has no place for them.
    elapsed, elapsed_new : float
        Seconds by the clock, of the fit and of the new points.
    """

    outcome: Outcome
    new_places: FloatArray | None
    elapsed: float
    elapsed_new: float

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.outcome.name

    @property
    def places(self) -> FloatArray:
        """The training points on the map."""
        return self.outcome.embedding

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.outcome.model


@dataclass(frozen=True)
class Strip:
    """Width of a strip on a map, in slices across its length.

    In each slice the map is regressed on the two true coordinates; the width is the length of the
    slope across times the true width.

    Attributes
    ----------
    narrowest, median, widest : float
        Widths of the slices.
    """

    narrowest: float
    median: float
    widest: float

    @classmethod
    def of(cls, Y: FloatArray, truth: FloatArray) -> Strip:
        """Measure a map whose true coordinates are length and position across."""
        bins = np.array_split(np.argsort(truth[:, 0]), N_SLICES)
        slopes = [_slope_across(Y[rows], truth[rows]) for rows in bins]
        widths = np.array(slopes) * np.ptp(truth[:, 1])
        return cls(float(widths.min()), float(np.median(widths)), float(widths.max()))

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.narrowest:.3g} to {self.widest:.3g})"


def split(data: Dataset, n_train: int, n_test: int, *, seed: int = 0) -> Case:
    """Draw training points and others to test with."""
    order = np.random.RandomState(seed).permutation(len(data.X))
    return Case(data, order[:n_train], order[n_train : n_train + n_test])


def place(name: str, make: Callable[[], Any], case: Case) -> Placed:
    """Fit a method to the training points and let it place the others."""
    begin = time.perf_counter()
    outcome = fit(name, make(), case.points)
    elapsed = time.perf_counter() - begin
    if not hasattr(outcome.model, "transform"):
        return Placed(outcome, None, elapsed, 0.0)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        # What there is to say of the map was said by the fit.
        warnings.simplefilter("ignore")
        new = outcome.model.transform(case.new_points)
    elapsed_new = time.perf_counter() - begin
    say(f"{name}: {elapsed:.1f} s, {len(new)} new points {elapsed_new:.1f} s, by the clock")
    for words in outcome.warnings:
        say(f"  {words}")
    return Placed(outcome, new, elapsed, elapsed_new)


def align(placed: Placed, case: Case) -> tuple[FloatArray, FloatArray]:
    """Return the map moved onto the true coordinates of the training points, and the new points."""
    motion = procrustes(placed.places, case.truth).transform
    new = np.empty((0, 2)) if placed.new_places is None else motion.apply(placed.new_places)
    return motion.apply(placed.places), new


def rms_error(Y: FloatArray, truth: FloatArray) -> float:
    """Return the distance from the true places, relative to their spread, without further motion.

    New points are moved as the training points were, so that an error of the place counts.
    """
    off = np.mean(np.sum((Y - truth) ** 2, axis=1))
    return float(np.sqrt(off / truth.var(axis=0).sum()))


def describe_sdp(models: Iterable[Any]) -> str:
    """Return status, gap and rank of what programs ended with."""
    solutions = (getattr(model, "solution_", None) for model in models)
    found = [one for one in solutions if one is not None]
    return ", ".join(f"{one.status.name}, gap {one.gap:.1g}, rank {one.rank}" for one in found)


def _slope_across(Y: FloatArray, truth: FloatArray) -> float:
    design = np.column_stack((truth, truth[:, 0] ** 2, np.ones(len(truth))))
    slopes = np.linalg.lstsq(design, Y, rcond=None)[0]
    return float(np.linalg.norm(slopes[1]))
