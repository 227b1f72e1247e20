"""The time that a fit may take, and how much of it is left."""

from __future__ import annotations

import time
from dataclasses import dataclass

__all__ = ["FRACTION_OF_TIME", "LEAST_FITTED", "Clock"]

FRACTION_OF_TIME = 0.8
"""Fraction of the remaining time that a fit may take by estimate; estimates are high."""

LATE = 0.5
"""Fraction of all time after which nothing more is tried."""

LEAST_FITTED = 200
"""Samples that are fitted whatever the time."""

SAMPLES_A_SECOND, MANY_FEATURES = 50.0, 500
"""Samples that are surveyed and rehearsed for each second of time, at least as many as are fitted
in any case; with more features than these, proportionally fewer."""

MOST_COUNTED = 10_000
"""Samples beyond which stitching takes hardly longer, since it works on a sample of them: 100,000
on spheres, clouds and noisy rolls take 1 to 5 seconds, in 500 columns 10."""


@dataclass(frozen=True)
class Clock:
    """The time that is left.

    Attributes
    ----------
    seconds : float
        All the time there was.
    begin : float
        When it began.
    """

    seconds: float
    begin: float

    @classmethod
    def started(cls, seconds: float) -> Clock:
        """Return a clock that runs from now on."""
        return cls(seconds, time.perf_counter())

    def left(self) -> float:
        """Return the time that is left."""
        return self.seconds - (time.perf_counter() - self.begin)

    def is_late(self) -> bool:
        """Return whether half of the time has passed."""
        return self.left() < (1.0 - LATE) * self.seconds

    def is_ample(self, n_samples: int, n_features: int) -> bool:
        """Return whether all samples can be stitched without a thought of time."""
        in_time = SAMPLES_A_SECOND * self.left() * min(1.0, MANY_FEATURES / n_features)
        return min(n_samples, MOST_COUNTED) <= in_time

    def most_samples(self, wanted: int, n_features: int) -> int:
        """Return how many samples to look at: as many as wanted, if there is time for them."""
        in_time = SAMPLES_A_SECOND * self.seconds * min(1.0, MANY_FEATURES / n_features)
        return min(wanted, max(LEAST_FITTED, int(in_time)))
