"""What is measured of every map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.quality import one_nn_error, ranks
from isofold.quality.distances import Comparison, compare
from isofold.quality.neighborhoods import nearest_in_space, neighborhoods_of

__all__ = ["Figures", "error_at_best_scale", "label_agreement", "measure"]

N_NEIGHBORS = 12


@dataclass(frozen=True)
class Figures:
    """Figures of one map.

    Attributes
    ----------
    trustworthiness, continuity : float
        Of the 12 nearest neighbors; 1 is best.
    lost : float
        Share of the 12 nearest neighbors that are not among the 12 nearest on the map.
    length_error : float
        Median of |d_Y/d_X − 1| over all pairs of a point and one of its 12 nearest.
    scaled_error : float
        The same after the one factor that makes it least.
    precision_error : float
        The same as `scaled_error`, over all pairs of a point and one of its 12 nearest on the map:
        how true the distances are that a person reads off it.
    """

    trustworthiness: float
    continuity: float
    lost: float
    length_error: float
    scaled_error: float
    precision_error: float


def measure(
    X: FloatArray, Y: FloatArray, *, metric: str = "euclidean", n_samples: int | None = None
) -> Figures:
    """Measure a map of points, or of their distances, at all points or at a sample of them."""
    comparison = compare(X, Y, metric=metric, n_samples=n_samples, random_state=0)
    sample = comparison.sample
    ratio = neighborhoods_of(comparison, N_NEIGHBORS).ratio
    shown = ranks.embedded_ranks(comparison, N_NEIGHBORS)
    return Figures(
        trustworthiness=float(
            ranks.intrusion_score(ranks.input_ranks(comparison, N_NEIGHBORS), sample)
        ),
        continuity=float(ranks.intrusion_score(shown, sample)),
        lost=float(ranks.loss_score(shown, sample)),
        length_error=float(np.nanmedian(np.abs(ratio - 1.0))),
        scaled_error=error_at_best_scale(ratio[np.isfinite(ratio)]),
        precision_error=error_at_best_scale(_ratio_on_map(comparison)),
    )


def label_agreement(Y: FloatArray, labels: IntArray) -> float:
    """Return the fraction of points whose nearest on the map has their label."""
    return 1.0 - float(one_nn_error(Y, labels))


def error_at_best_scale(ratio: FloatArray) -> float:
    """Return the least median of |c ρ − 1| over all c > 0.

    The median is at most e if half of the ρ are between (1 − e)/c and (1 + e)/c. So the least e
    belongs to that half of the sorted ρ whose ends are nearest in proportion q, and
    (1 + e)/(1 − e) = q.
    """
    ratio = np.sort(ratio)
    half = len(ratio) // 2 + 1
    low, high = ratio[: len(ratio) - half + 1], ratio[half - 1 :]
    seen = low > 0
    q = np.min(high[seen] / low[seen], initial=np.inf)
    return float((q - 1.0) / (q + 1.0)) if np.isfinite(q) else 1.0


def _ratio_on_map(comparison: Comparison) -> FloatArray:
    """Return embedded over original length of the nearest pairs on the map, but for copies."""
    rows = comparison.sample.indices
    near, order = nearest_in_space(comparison, comparison.embedding, N_NEIGHBORS)
    before = comparison.input.between(rows, near, order)
    after = comparison.embedding.between(rows, near, order)
    seen = before > 0
    return after[seen] / before[seen]
