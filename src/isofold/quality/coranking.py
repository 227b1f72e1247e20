"""The co-ranking curve: how many neighbors are kept, at every neighborhood size at once.

Q_NX(K) = 1/(Kn) Σ_i |N_X(i) ∩ N_Y(i)| for K = 1 … n − 2, corrected for chance
R_NX(K) = ((n − 1) Q_NX(K) − K)/(n − 1 − K), summed up by its area over log K,
AUC = Σ_K R_NX(K)/K / Σ_K 1/K. A pair is common to both neighborhoods as soon as K reaches the
larger of its two ranks, so a histogram of that maximum gives the whole curve.

References
----------
Lee and Verleysen (2009); Lee, Peluffo-Ordóñez and Verleysen (2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.quality.distances import Comparison, compare
from isofold.quality.score import Score, mean_score

SIZES = (5, 12, 50)
"""Neighborhoods of which the curve also gives the fraction kept with its interval: the closest, the
usual, and those that make up a region."""


@dataclass(frozen=True, eq=False)
class CoRankingCurve:
    """Neighborhood preservation at every scale.

    Parameters
    ----------
    sizes : ndarray of shape (n_points - 2,)
        Neighborhood sizes K.
    kept : ndarray of shape (n_points - 2,)
        Q_NX(K), the fraction of neighbors kept.
    above_chance : ndarray of shape (n_points - 2,)
        R_NX(K): 1 for a perfect embedding, 0 for a random one.
    area : Score
        Area under R_NX over a logarithmic scale of K, with its per-point form.
    kept_at : tuple of (int, Score) pairs
        Q_NX at K = 5, 12 and 50, as far as these are below half of the number of points, with their
        per-point forms.
    """

    sizes: IntArray
    kept: FloatArray
    above_chance: FloatArray
    area: Score
    kept_at: tuple[tuple[int, Score], ...] = ()


def coranking_curve(
    X: Any,
    Y: Any,
    *,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CoRankingCurve:
    """Co-ranking curve R_NX and the area under it.

    Parameters
    ----------
    X, Y, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`. Time is O(n log n) per evaluated point.

    Returns
    -------
    CoRankingCurve
        The curve over all neighborhood sizes; its ``area`` is one number, 1 at best.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import coranking_curve
    >>> line = np.arange(20.0)[:, None]
    >>> round(coranking_curve(line, -line).area, 12)
    1.0
    """
    return curve_of(
        compare(X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs)
    )


def curve_of(comparison: Comparison) -> CoRankingCurve:
    """Co-ranking curve of a prepared comparison."""
    n = comparison.sample.n_points
    if n < 4:
        msg = f"A co-ranking curve needs at least 4 points; got {n}. Pass more samples."
        raise InvalidInputError(msg)
    sizes = np.arange(1, n - 1)
    # The area is linear in the histogram: a pair whose larger rank is m adds weight[m] = Σ_{K≥m}
    # (n − 1)/(K²(n − 1 − K)) / Σ 1/K to its point, and chance takes away a constant.
    harmonic = np.sum(1.0 / sizes)
    weight = np.zeros(n)
    weight[1:-1] = np.cumsum(((n - 1) / (sizes**2.0 * (n - 1 - sizes)))[::-1])[::-1] / harmonic
    chance = np.sum(1.0 / (n - 1 - sizes)) / harmonic

    sample = comparison.sample
    share_of_row = np.zeros(n)
    share_of_row[sample.indices] = sample.weights

    at = np.array([size for size in SIZES if size < n / 2], dtype=np.intp)

    def of_block(rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        histogram = np.zeros(n)
        areas, kept = np.empty(len(rows)), np.empty((len(rows), len(at)))
        pairs = zip(comparison.input.others(rows), comparison.embedding.others(rows), strict=True)
        for position, (before, after) in enumerate(pairs):
            larger = np.maximum(_all_ranks(before), _all_ranks(after))
            counts = np.bincount(larger, minlength=n)
            histogram += share_of_row[rows[position]] * counts
            areas[position] = weight[larger].sum() - chance
            # The point itself, of rank 0, is no neighbor.
            kept[position] = (np.cumsum(counts[: SIZES[-1] + 1])[at] - 1) / at
        return histogram, areas, kept

    histogram = np.zeros(n)
    areas, kept_at = [], []
    for counts, block_areas, block_kept in comparison.map_blocks(of_block):
        histogram += counts
        areas.append(block_areas)
        kept_at.append(block_kept)
    kept = np.cumsum(histogram[1:-1]) / sizes
    area = mean_score(np.concatenate(areas), sample, bounds=(-1, 1))
    scores = [mean_score(column, sample, bounds=(0, 1)) for column in np.concatenate(kept_at).T]
    return CoRankingCurve(
        sizes,
        kept,
        ((n - 1) * kept - sizes) / (n - 1 - sizes),
        area,
        tuple(zip(at.tolist(), scores, strict=True)),
    )


def _all_ranks(distances: FloatArray) -> IntArray:
    # An unstable sort is three times faster; only rows with ties need the stable one.
    order = np.argsort(distances)
    ordered = distances[order]
    if (ordered[1:] == ordered[:-1]).any():
        order = np.argsort(distances, kind="stable")
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    return ranks
