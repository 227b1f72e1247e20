"""Scores that know how sure they are.

Every measure of this room is built from one value (or one vector of moments) per point. Over all
points it is exact. Over m points drawn without replacement from n it is an estimate: a mean has
the standard error s √((1 − m/n)/m), a smooth function of means the jackknife's, a quantile
Woodruff's inverted interval of a proportion. The interval is stated at 99 %: per-point losses are
skewed (few points carry most of the loss), and a nominal 99 % keeps the real coverage above 95 %.

A loss that only few points suffer may escape the sample altogether, and with it any spread. A
share p of affected points is missed with probability (1 − m/n)^(pn), so up to
p = ln(1 − 0.99)/(n ln(1 − m/n)) ≈ 4.6/m of them must be allowed for, each as far off as the
farthest point seen (or, if all points seen are alike, as far as the measure's bounds permit).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit
from sklearn.utils import check_random_state

from isofold._errors import InvalidInputError
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count

CONFIDENCE = 0.99
MIN_SAMPLED = 8
"""Fewer rows give a spread too uncertain to build an interval on."""


@dataclass(frozen=True)
class RowSample:
    """The points at which a measure is evaluated: all of them, or a random draw."""

    indices: IntArray
    n_points: int

    @property
    def exact(self) -> bool:
        """Whether every point is included."""
        return len(self.indices) == self.n_points

    @property
    def unsampled_share(self) -> float:
        """Finite-population correction 1 − m/n."""
        return 1.0 - len(self.indices) / self.n_points

    @property
    def unseen_share(self) -> float:
        """Largest share of points that the sample can have missed entirely."""
        return float(np.log(1 - CONFIDENCE) / (self.n_points * np.log(self.unsampled_share)))


def draw_rows(n_points: int, n_samples: int | None, random_state: Any = None) -> RowSample:
    """Draw the rows at which a measure is evaluated.

    Parameters
    ----------
    n_points : int
        Number of points.
    n_samples : int or None
        How many to draw without replacement; None, or at least `n_points`, takes all.
    random_state : int, RandomState or None
        Source of the draw.

    Returns
    -------
    RowSample
        The drawn rows in ascending order.
    """
    if n_samples is None:
        return RowSample(np.arange(n_points), n_points)
    m = check_count(n_samples, name="n_samples", minimum=MIN_SAMPLED)
    if m >= n_points:
        return RowSample(np.arange(n_points), n_points)
    drawn = check_random_state(random_state).choice(n_points, m, replace=False)
    return RowSample(np.sort(drawn), n_points)


class Score(float):
    """A number with its origin: a plain float that also carries interval and per-point values.

    Attributes
    ----------
    interval : tuple of float
        Where the exact value lies with 99 % confidence; both ends equal the value if it is exact.
    n_sampled, n_points : int
        How many points were evaluated, and how many there are.
    rows : ndarray of shape (n_sampled,) or None
        Which points were evaluated.
    per_point : ndarray of shape (n_sampled,) or None
        The measure at each of them, where it has a per-point form.

    Examples
    --------
    >>> from isofold.quality import Score
    >>> Score(0.25) + 0.5
    0.75
    """

    interval: tuple[float, float]
    n_sampled: int | None
    n_points: int | None
    rows: IntArray | None
    per_point: FloatArray | None

    def __new__(
        cls,
        value: float,
        *,
        interval: tuple[float, float] | None = None,
        sample: RowSample | None = None,
        per_point: FloatArray | None = None,
    ) -> Score:
        """Make a score; without `interval` it is exact."""
        score = super().__new__(cls, value)
        score.interval = (float(value), float(value)) if interval is None else interval
        score.n_points = None if sample is None else sample.n_points
        score.n_sampled = None if sample is None else len(sample.indices)
        score.rows = None if sample is None else sample.indices
        score.per_point = per_point
        return score

    @property
    def exact(self) -> bool:
        """Whether the value was computed from all points."""
        return self.n_sampled == self.n_points

    def __repr__(self) -> str:
        if self.exact:
            return f"Score({float(self):.6g})"
        low, high = self.interval
        return (
            f"Score({float(self):.6g}, {CONFIDENCE:.0%} interval [{low:.6g}, {high:.6g}], "
            f"{self.n_sampled} of {self.n_points} points)"
        )

    def __str__(self) -> str:
        return float.__repr__(self)


def mean_score(
    values: FloatArray, sample: RowSample, *, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> Score:
    """Score that is the mean of one value per point.

    Parameters
    ----------
    values : ndarray of shape (n_sampled,)
        The value at each evaluated point.
    sample : RowSample
        Which points they are.
    bounds : tuple of float
        Where the exact score must lie whatever the data.

    Returns
    -------
    Score
        Mean, interval and the per-point values.
    """
    value = float(np.mean(values))
    if sample.exact:
        return Score(value, sample=sample, per_point=values)
    spread = float(np.std(values, ddof=1))
    half = _t_quantile(len(values)) * spread * np.sqrt(sample.unsampled_share / len(values))
    farthest = float(np.abs(values - np.median(values)).max())
    if farthest == 0 and np.isfinite(bounds).all():
        farthest = bounds[1] - bounds[0]
    half = max(half, sample.unseen_share * farthest)
    return Score(value, interval=_clip(value, half, bounds), sample=sample, per_point=values)


def moment_score(
    moments: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    sample: RowSample,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    per_point: FloatArray | None = None,
) -> Score:
    """Score that is a smooth function of the means of several per-point moments.

    Parameters
    ----------
    moments : ndarray of shape (n_sampled, n_moments)
        The moments at each evaluated point.
    statistic : callable
        Maps mean moments, shape (..., n_moments), to the score, shape (...).
    sample : RowSample
        Which points they are.
    bounds : tuple of float
        Where the exact score must lie whatever the data.
    per_point : ndarray of shape (n_sampled,), optional
        A per-point form to carry along.

    Returns
    -------
    Score
        The statistic with the jackknife's interval.
    """
    m = len(moments)
    mean = moments.mean(axis=0)
    value = float(np.clip(statistic(mean), *bounds))
    if sample.exact:
        return Score(value, sample=sample, per_point=per_point)
    left_out = statistic((m * mean - moments) / (m - 1))
    variance = (m - 1) / m * float(np.sum((left_out - left_out.mean()) ** 2))
    half = _t_quantile(m) * np.sqrt(variance * sample.unsampled_share)
    return Score(value, interval=_clip(value, half, bounds), sample=sample, per_point=per_point)


def quantile_score(values: FloatArray, level: float, sample: RowSample) -> Score:
    """Score that is a quantile of several values per point, NaN marking values left out.

    Parameters
    ----------
    values : ndarray of shape (n_sampled, n_values)
        The values at each evaluated point.
    level : float
        Between 0 and 1; level 1 is the maximum, of which a sample gives only a lower bound.
    sample : RowSample
        Which points they are.

    Returns
    -------
    Score
        The quantile with Woodruff's interval.
    """
    kept = np.isfinite(values)
    value = float(np.quantile(values[kept], level))
    if sample.exact:
        return Score(value, sample=sample)
    if level >= 1.0:
        return Score(value, interval=(value, np.inf), sample=sample)
    # The share of values below the quantile is a ratio of two per-point sums; its linearized
    # residual gives the standard error with the points as the sampled units.
    counts = kept.sum(axis=1)
    residual = ((values <= value) & kept).sum(axis=1) - level * counts
    m = len(values)
    error = np.std(residual, ddof=1) / counts.mean() * np.sqrt(sample.unsampled_share / m)
    shares = np.clip([level - _t_quantile(m) * error, level + _t_quantile(m) * error], 0.0, 1.0)
    low, high = np.quantile(values[kept], shares)
    return Score(value, interval=(float(low), float(high)), sample=sample)


def _t_quantile(n_sampled: int) -> float:
    return float(stdtrit(n_sampled - 1, 0.5 + CONFIDENCE / 2))


def _clip(value: float, half: float, bounds: tuple[float, float]) -> tuple[float, float]:
    if not np.isfinite(half):
        msg = "The interval of a sampled score is not finite; evaluate more points."
        raise InvalidInputError(msg)
    return float(max(bounds[0], value - half)), float(min(bounds[1], value + half))
