"""How true a map is, in three figures and their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray
from isofold.cli.console import Console
from isofold.exceptions import InvalidInputError
from isofold.neighbors.duplicates import find_distinct
from isofold.quality import Scorecard, continuity, trustworthiness
from isofold.quality.distances import compare
from isofold.quality.neighborhoods import neighborhoods_of

__all__ = ["Scores", "best_scale_error", "measure", "scores_of", "tell_scores"]

NEIGHBORS = 12
"""Size of a neighborhood."""

MOST_EXACT, SAMPLED = 5000, 2000
"""Rows up to which all are measured, and how many of more."""

# Lower limits, the best first, and what each means.
_TRUSTWORTHINESS = (
    (0.9995, "all neighbors on the map are neighbors in the data"),
    (0.99, "nearly all neighbors on the map are neighbors in the data"),
    (0.95, "most neighbors on the map are neighbors in the data"),
    (0.85, "some neighbors on the map are not neighbors in the data"),
    (-np.inf, "many neighbors on the map are far apart in the data"),
)
_CONTINUITY = (
    (0.9995, "all neighbors in the data stay together on the map"),
    (0.99, "nearly all neighbors in the data stay together on the map"),
    (0.95, "most neighbors in the data stay together on the map"),
    (0.85, "some neighbors in the data are torn apart on the map"),
    (-np.inf, "many neighbors in the data are torn apart on the map"),
)
_LENGTHS = (
    (-0.02, "distances between neighbors are true: you can measure them on the map"),
    (-0.10, "distances between neighbors are nearly true"),
    (-0.25, "distances between neighbors are only approximately true"),
    (-np.inf, "distances between neighbors are not true: do not measure them"),
)


@dataclass(frozen=True)
class Scores:
    """Three figures of a map; NaN where there are too few distinct rows.

    Attributes
    ----------
    trustworthiness, continuity : float
        As in `isofold.quality`.
    length_error : float
        Median relative error of the distances between neighbors.
    scaled_length_error : float
        The same at the scale that suits the map best, for methods whose maps have no unit.
    """

    trustworthiness: float
    continuity: float
    length_error: float
    scaled_length_error: float = float("nan")


def measure(X: FloatArray, Y: FloatArray, *, seed: int, jobs: int) -> Scores:
    """Measure a map, at a sample of its rows if there are many."""
    k = min(NEIGHBORS, (len(X) - 1) // 2)
    if k < 1:
        return Scores(np.nan, np.nan, np.nan)
    n_samples = None if len(X) <= MOST_EXACT else SAMPLED
    how: dict[str, Any] = {"n_samples": n_samples, "random_state": seed, "n_jobs": jobs}
    try:
        ratios = neighborhoods_of(compare(X, Y, metric="euclidean", **how), k).ratio
    except InvalidInputError:
        # All neighbors are copies: keep one sample of each.
        distinct = find_distinct(X).sample_of_node
        if len(distinct) == len(X):
            raise
        return measure(X[distinct], Y[distinct], seed=seed, jobs=jobs)
    ratios = np.sort(ratios[np.isfinite(ratios)])
    return Scores(
        float(trustworthiness(X, Y, n_neighbors=k, **how)),
        float(continuity(X, Y, n_neighbors=k, **how)),
        float(np.median(np.abs(ratios - 1.0))) if len(ratios) else np.nan,
        best_scale_error(ratios),
    )


def best_scale_error(ratios: FloatArray) -> float:
    """Return the least median of |s ratio - 1| over all scales s.

    Some half of the ratios lies within the median error, and it is an interval: between its ends
    a and b the best scale is 2/(a + b), with the error (b - a)/(b + a). So all halves are tried.
    """
    if not len(ratios):
        return float("nan")
    half = len(ratios) // 2 + 1
    low, high = ratios[: len(ratios) - half + 1], ratios[half - 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(high > 0, (high - low) / (high + low), 1.0)
    return float(errors.min())


def scores_of(card: Scorecard) -> Scores:
    """Return the three figures of a scorecard."""
    return Scores(
        float(card["trustworthiness"]),
        float(card["continuity"]),
        float(card["length_error_median"]),
    )


def tell_scores(console: Console, scores: Scores) -> None:
    """Say how true a map is."""
    if not np.isfinite(scores.length_error):
        console.note("There are too few distinct rows to measure how true the map is.")
        return
    rows = [
        ("neighbor distances off by", percent(scores.length_error),
         _verdict(_LENGTHS, -scores.length_error)),
        ("trustworthiness", f"{scores.trustworthiness:.3f}",
         _verdict(_TRUSTWORTHINESS, scores.trustworthiness)),
        ("continuity", f"{scores.continuity:.3f}", _verdict(_CONTINUITY, scores.continuity)),
    ]  # fmt: skip
    console.head("How true is the map?")
    console.table(rows, right=(1,))


def _verdict(limits: tuple[tuple[float, str], ...], value: float) -> str:
    return next(text for limit, text in limits if value >= limit)
