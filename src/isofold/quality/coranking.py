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
from isofold.quality.distances import compare
from isofold.quality.score import RowSample, Score, mean_score
from isofold.quality.sweep import SIZES, RankSweep, sweep_ranks


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
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    return curve_of(sweep_ranks(comparison, 1), comparison.sample)


def curve_of(sweep: RankSweep, sample: RowSample) -> CoRankingCurve:
    """Co-ranking curve of swept ranks."""
    n = sample.n_points
    sizes = np.arange(1, n - 1)
    kept = np.cumsum(sweep.histogram[1:-1]) / (n * sizes)
    at = [size for size in SIZES if size < n / 2]
    scores = [
        mean_score(sweep.kept[:, :size].sum(axis=1) / size, sample, bounds=(0, 1)) for size in at
    ]
    return CoRankingCurve(
        sizes,
        kept,
        ((n - 1) * kept - sizes) / (n - 1 - sizes),
        mean_score(sweep.areas, sample, bounds=(-1, 1)),
        tuple(zip(at, scores, strict=True)),
    )
