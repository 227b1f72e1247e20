"""The short scorecard: how true a map is, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._cluster import sharing
from isofold._typing import FloatArray
from isofold._validation import check_count
from isofold.exceptions import InvalidInputError
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.graph import distances_between_nodes
from isofold.quality import ranks
from isofold.quality.distances import Comparison, compare
from isofold.quality.isometry import median_error_of
from isofold.quality.neighborhoods import neighborhoods_of, shown_neighborhoods_of
from isofold.quality.score import ROUNDING, RowSample, Score, level_margin

__all__ = ["MapSummary", "best_scale_error", "scaled_error_score", "summary"]


@dataclass(frozen=True)
class MapSummary:
    """How true a map is; NaN where a figure is not known.

    Attributes
    ----------
    trustworthiness, continuity : float
        As in `isofold.quality`; 1 is best.
    length_error : float
        Median relative error of the distances between neighbors; 0 is best.
    scaled_length_error : float
        The same at the scale that suits the map best, for methods whose maps have no unit.
    shown_length_error, scaled_shown_length_error : float
        The same two over the neighbors on the map: how wrong the distances are that one reads off
        it between points that lie side by side.
    neighbor_error : float
        Fraction of the nearest neighbors that are not among the nearest on the map; 0 is best.
    """

    trustworthiness: float
    continuity: float
    length_error: float
    scaled_length_error: float = float("nan")
    # Files of models from before these were measured have none of them.
    shown_length_error: float = float("nan")
    scaled_shown_length_error: float = float("nan")
    neighbor_error: float = float("nan")


@sharing()
def summary(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> MapSummary:
    """Measure in one comparison whether neighbors and their distances are kept.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points before, or their distances with ``metric="precomputed"``.
    Y : array-like of shape (n_points, n_components)
        The points after.
    n_neighbors : int, default=12
        Size of a neighborhood, lowered to below half of the number of points.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    n_samples : int or None, default=None
        At how many random points to measure; None means all.
    random_state : int, RandomState or None, default=None
        Source of the draw.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    MapSummary
        The figures. Of two points only lengths are known, of one nothing. Where all neighbors of
        all points are copies of them, copies are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import summary
    >>> line = np.arange(20.0)[:, None]
    >>> summary(line, 1.5 * line, n_neighbors=4)  # doctest: +NORMALIZE_WHITESPACE
    MapSummary(trustworthiness=1.0, continuity=1.0, length_error=0.5, scaled_length_error=0.0,
               shown_length_error=0.5, scaled_shown_length_error=0.0, neighbor_error=0.0)
    """
    n_points = len(Y)
    most = check_count(n_neighbors, name="n_neighbors")
    if n_points < 2:
        return MapSummary(np.nan, np.nan, np.nan)
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = min(most, (n_points - 1) // 2)
    try:
        near = neighborhoods_of(comparison, max(1, k))
    except InvalidInputError:
        kept = _one_of_each(X, metric)
        if len(kept) == n_points:
            raise
        rows = np.asarray(X)[np.ix_(kept, kept)] if metric == "precomputed" else np.asarray(X)[kept]
        return summary(
            rows,
            np.asarray(Y)[kept],
            n_neighbors=n_neighbors,
            metric=metric,
            n_samples=n_samples,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    shown = shown_neighborhoods_of(comparison, max(1, k))
    trust, continuity, lost = _rank_figures(comparison, k)
    return MapSummary(
        trustworthiness=trust,
        continuity=continuity,
        neighbor_error=lost,
        length_error=float(median_error_of(near)),
        scaled_length_error=best_scale_error(near.ratio),
        shown_length_error=float(median_error_of(shown)),
        scaled_shown_length_error=best_scale_error(shown.ratio),
    )


def _rank_figures(comparison: Comparison, k: int) -> tuple[float, float, float]:
    """Return trustworthiness, continuity and neighbors lost; NaN for neighborhoods of nobody."""
    if not k:
        return np.nan, np.nan, np.nan
    before, after = ranks.excess_ranks(comparison, k)
    sample = comparison.sample
    return (
        float(ranks.intrusion_score(before, sample)),
        float(ranks.intrusion_score(after, sample)),
        float(ranks.loss_score(after, sample)),
    )


def best_scale_error(ratios: FloatArray) -> float:
    """Return the least median of |s ratio - 1| over all scales s.

    Some half of the ratios lies within the median error, and it is an interval: between its ends
    a and b the best scale is 2/(a + b), with the error (b - a)/(b + a). So all halves are tried.

    Parameters
    ----------
    ratios : ndarray
        Embedded over original lengths, in any order and shape; what is not finite is left out.

    Returns
    -------
    float
        The error; NaN if no ratio is finite.

    Examples
    --------
    >>> import numpy as np
    >>> best_scale_error(np.array([2.0, 2.0, 5.0]))
    0.0
    """
    return _best_scale(ratios, 0.5)[1]


def scaled_error_score(ratios: FloatArray, sample: RowSample) -> Score:
    """Score that is the least median over all scales, of several ratios per point."""
    scale, value = _best_scale(ratios, 0.5)
    if sample.exact:
        return Score(value, sample=sample)
    # As for a quantile: the level is uncertain, and the error grows with the level.
    kept = np.isfinite(ratios)
    with np.errstate(invalid="ignore"):
        inside = kept & (np.abs(scale * ratios - 1.0) <= value * (1 + ROUNDING))
    margin = level_margin(inside, kept, 0.5, sample)
    low = _best_scale(ratios, 0.5 - margin)[1] if margin < 0.5 else 0.0
    high = _best_scale(ratios, 0.5 + margin)[1] if margin < 0.5 else 1.0
    return Score(value, interval=(low, high), sample=sample)


def _best_scale(ratios: FloatArray, level: float) -> tuple[float, float]:
    """Return the scale at which the errors of a fraction of ratios are least, and their bound."""
    ratios = np.sort(ratios[np.isfinite(ratios)])
    if not len(ratios):
        return 1.0, float("nan")
    count = min(len(ratios), int(len(ratios) * level) + 1)
    low, high = ratios[: len(ratios) - count + 1], ratios[count - 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(high > 0, (high - low) / (high + low), 1.0)
    best = int(errors.argmin())
    total = float(low[best] + high[best])
    return (2.0 / total if total > 0 else 1.0), float(errors[best])


def _one_of_each(X: Any, metric: str) -> Any:
    """Return one sample at every distinct point."""
    if metric == "precomputed":
        return distances_between_nodes(np.asarray(X))[1].sample_of_node
    return find_distinct(np.asarray(X)).sample_of_node
