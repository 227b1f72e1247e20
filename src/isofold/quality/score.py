"""Scores that know how sure they are.

Most measures of this room are built from one value (or one vector of moments) per point. Over all
points they are exact. Over m points drawn without replacement from n they are estimates: a mean
has the standard error s √((1 − m/n)/m), a smooth function of means that of its linearization, a
quantile Woodruff's inverted interval of a proportion, all stated at 99 %.

The danger is a loss that few points suffer, a tear or a misplaced group: it may escape the sample
altogether, and with it any spread. A fraction p of affected points is missed with probability
(1 − m/n)^(pn), so up to p = ln(1 − 0.99)/(n ln(1 − m/n)) ≈ 4.6/m of them must be allowed for.
Without further knowledge each may be as bad as the measure permits, which makes the interval of a
small sample wide. With *evidence* of how suspicious every point is, the most suspicious ones are
evaluated for certain, the next ones tell how bad an unseen point can be, and only the rest is left
to chance. `scorecard` has such evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_seed

CONFIDENCE = 0.99
MIN_SAMPLED = 16
"""Fewer rows give a spread too uncertain to build an interval on."""

# Two methods of summing the same values differ by no more than this, relative to the largest.
ROUNDING = 1e-12

# Strata of a sample with evidence: left to chance, suspicious, most suspicious.
CHANCE, BORDER, CERTAIN = range(3)


@dataclass(frozen=True, eq=False)
class RowSample:
    """The points at which a measure is evaluated: all of them, or a draw.

    Parameters
    ----------
    indices : ndarray of shape (n_sampled,)
        The points, ascending.
    n_points : int
        How many there are.
    stratum : ndarray of shape (n_sampled,), optional
        With evidence: whether a point was drawn by chance or taken as suspicious.
    """

    indices: IntArray
    n_points: int
    stratum: IntArray | None = None

    @property
    def exact(self) -> bool:
        """Whether every point is included."""
        return len(self.indices) == self.n_points

    @property
    def by_chance(self) -> BoolArray:
        """Which of the points were drawn by chance."""
        if self.stratum is None:
            return np.ones(len(self.indices), dtype=bool)
        return self.stratum == CHANCE

    @property
    def n_by_chance(self) -> int:
        """How many points were drawn by chance."""
        return int(np.count_nonzero(self.by_chance))

    @property
    def n_eligible(self) -> int:
        """From how many points they were drawn."""
        return self.n_points - len(self.indices) + self.n_by_chance

    @property
    def unsampled_fraction(self) -> float:
        """Finite-population correction 1 − m/n of the draw."""
        return 1.0 - self.n_by_chance / self.n_eligible

    @property
    def unseen_fraction(self) -> float:
        """Largest fraction of all points that the draw can have missed entirely."""
        return float(np.log(1 - CONFIDENCE) / (self.n_points * np.log(self.unsampled_fraction)))

    @property
    def weights(self) -> FloatArray:
        """Fraction of all points that each evaluated one stands for."""
        drawn = self.by_chance
        return np.where(drawn, self.n_eligible / max(1, self.n_by_chance), 1.0) / self.n_points

    def mean(self, values: FloatArray) -> FloatArray:
        """Estimate the mean over all points from values at the evaluated ones."""
        if self.stratum is None:
            return np.asarray(values.mean(axis=0))
        return np.asarray(self.weights @ values)


def draw_rows(
    n_points: int,
    n_samples: int | None,
    random_state: Any = None,
    *,
    evidence: FloatArray | None = None,
) -> RowSample:
    """Draw the rows at which a measure is evaluated."""
    if n_samples is not None:
        n_samples = check_count(n_samples, name="n_samples")
    if n_samples is None or n_samples >= n_points:
        return RowSample(np.arange(n_points), n_points)
    m = check_count(n_samples, name="n_samples", minimum=min(MIN_SAMPLED, n_points))
    random = check_seed(random_state)
    if evidence is None:
        return RowSample(np.sort(random.choice(n_points, m, replace=False)), n_points)
    by_suspicion = np.argsort(-evidence, kind="stable")
    suspects, others = by_suspicion[: m // 2], np.sort(by_suspicion[m // 2 :])
    drawn = random.choice(others, m - len(suspects), replace=False)
    stratum = np.repeat([CERTAIN, BORDER, CHANCE], [m // 4, len(suspects) - m // 4, len(drawn)])
    indices = np.concatenate([suspects, drawn])
    order = np.argsort(indices)
    return RowSample(indices[order], n_points, stratum[order])


class Score(float):
    """A number with its origin: a plain float that also carries interval and per-point values.

    Attributes
    ----------
    interval : tuple of float
        Where the exact value lies with 99 % confidence; both ends equal the value if it is exact.
    n_sampled, n_points : int or None
        How many points were evaluated, and how many there are; None if points do not come in.
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
    """Score that is the mean of one value per point."""
    value = float(sample.mean(values))
    if sample.exact:
        return Score(value, sample=sample, per_point=values)
    low, high = _margins(values, sample, bounds)
    interval = (max(bounds[0], value - low), min(bounds[1], value + high))
    return Score(value, interval=interval, sample=sample, per_point=values)


def moment_score(
    moments: FloatArray,
    statistic: Callable[[FloatArray], FloatArray],
    sample: RowSample,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    per_point: FloatArray | None = None,
) -> Score:
    """Score that is a smooth function of the means of several per-point moments."""
    mean = sample.mean(moments)
    value = float(statistic(mean))
    if not sample.exact:
        # A point's influence is the change per weight when a little is shifted to it; to first
        # order the statistic is a mean of these (the infinitesimal jackknife).
        little = 1.0 / sample.n_points
        influence = (statistic(mean + little * (moments - mean)) - value) / little
        low, high = _margins(influence, sample, (-np.inf, np.inf))
        interval = (max(bounds[0], value - low), min(bounds[1], value + high))
    return Score(
        float(np.clip(value, *bounds)),
        interval=None if sample.exact else interval,
        sample=sample,
        per_point=per_point,
    )


def quantile_scores(
    values: FloatArray, levels: tuple[float, ...], sample: RowSample
) -> tuple[Score, ...]:
    """Scores that are quantiles of several non-negative values per point, NaN marking gaps."""
    kept = np.isfinite(values)
    known = values.ravel() if kept.all() else values[kept]
    found = np.quantile(known, levels).tolist()
    if sample.exact:
        return tuple(Score(value, sample=sample) for value in found)
    return tuple(
        Score(value, interval=_quantile_interval(values, kept, value, level, sample), sample=sample)
        for value, level in zip(found, levels, strict=True)
    )


def _quantile_interval(
    values: FloatArray, kept: BoolArray, value: float, level: float, sample: RowSample
) -> tuple[float, float]:
    if level >= 1.0:
        return value, np.inf
    margin = level_margin((values <= value) & kept, kept, level, sample)
    below, above = level - margin, level + margin
    low = float(np.quantile(values[kept], below)) if below > 0 else 0.0
    return low, float(np.quantile(values[kept], above)) if above < 1 else np.inf


def level_margin(below: BoolArray, kept: BoolArray, level: float, sample: RowSample) -> float:
    """Return by how much the level of a quantile may be off that so many kept values lie below."""
    # The fraction of values below the quantile is a ratio of two per-point sums; its linearized
    # residual gives the standard error with the points as the sampled units.
    counts = kept.sum(axis=1)
    residual = below.sum(axis=1) - level * counts
    m = len(counts)
    error = np.std(residual, ddof=1) / counts.mean() * np.sqrt(sample.unsampled_fraction / m)
    return float(_t_quantile(m) * error)


def _margins(
    values: FloatArray, sample: RowSample, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return how far below and above the estimated mean of one value a point the truth may lie."""
    drawn = values[sample.by_chance]
    error = np.std(drawn, ddof=1) * np.sqrt(sample.unsampled_fraction / len(drawn))
    half = _t_quantile(len(drawn)) * float(error) * sample.n_eligible / sample.n_points
    half += ROUNDING * float(np.abs(values).max())
    below, above = _farthest(values, sample, bounds)
    return max(half, sample.unseen_fraction * below), max(half, sample.unseen_fraction * above)


def _farthest(
    values: FloatArray, sample: RowSample, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return how far below and above the median an unseen value may lie."""
    if sample.stratum is None:
        median = float(np.median(values))
        seen = float(np.abs(values - median).max())
        below, above = median - bounds[0], bounds[1] - median
        return (below if np.isfinite(below) else seen, above if np.isfinite(above) else seen)
    # Whatever is unseen is less suspicious than the border, all of which was looked at.
    like_unseen = values[sample.stratum != CERTAIN]
    far = float(np.abs(like_unseen - np.median(like_unseen)).max())
    return far, far


def _t_quantile(n_sampled: int) -> float:
    return float(stdtrit(n_sampled - 1, 0.5 + CONFIDENCE / 2))
