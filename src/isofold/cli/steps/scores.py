"""How true a map is, in five figures and their meaning, and what can be read off it."""

from __future__ import annotations

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, SeenMetric
from isofold.assessment.verdict import verdict
from isofold.cli.console import Console
from isofold.quality import MapSummary, summary

__all__ = ["NEIGHBORS", "measure", "tell_scores"]

NEIGHBORS = 12
"""Size of a neighborhood."""

MOST_EXACT, SAMPLED = 5000, 2000
"""Rows up to which all are measured, and how many of more."""

# Lower limits, the best first, and what each means.
_TRUSTWORTHINESS = (
    (0.9995, "all points near on the map are near in the data"),
    (0.99, "nearly all points near on the map are near in the data"),
    (0.95, "most points near on the map are near in the data"),
    (0.85, "some points near on the map are not near in the data"),
    (-np.inf, "many points near on the map are far apart in the data"),
)
_CONTINUITY = (
    (0.9995, "all points near in the data stay near on the map"),
    (0.99, "nearly all points near in the data stay near on the map"),
    (0.95, "most points near in the data stay near on the map"),
    (0.85, "some points near in the data are torn apart on the map"),
    (-np.inf, "many points near in the data are torn apart on the map"),
)
_LENGTHS = (
    (-0.02, "true"),
    (-0.10, "nearly true"),
    (-0.25, "only roughly true"),
    (-np.inf, "not true"),
)


def measure(
    X: FloatArray, Y: FloatArray, *, seed: int, jobs: int, metric: SeenMetric = "euclidean"
) -> MapSummary:
    """Measure a map, at a sample of its rows if there are many; NaN for two distinct rows."""
    n_samples = None if len(X) <= MOST_EXACT else SAMPLED
    found = summary(
        X,
        Y,
        n_neighbors=NEIGHBORS,
        metric=metric,
        n_samples=n_samples,
        random_state=seed,
        n_jobs=jobs,
    )
    is_known = np.isfinite((found.trustworthiness, found.continuity)).all()
    return found if is_known else MapSummary(np.nan, np.nan, np.nan)


def tell_scores(console: Console, scores: MapSummary) -> None:
    """Say how true a map is."""
    if not np.isfinite(scores.length_error):
        console.note("There are too few distinct rows to measure how true the map is.")
        return
    neighbors, shown = (
        _level(_LENGTHS, -error) for error in (scores.length_error, scores.shown_length_error)
    )
    rows = [
        ("neighbor distances off by", percent(scores.length_error),
         f"distances between neighbors in the data are {neighbors}"),
        ("shown distances off by", percent(scores.shown_length_error),
         f"distances between neighbors on the map are {shown}"),
        ("neighbors kept", percent(1.0 - scores.neighbor_error),
         "of the nearest in the data are among the nearest on the map"),
        ("trustworthiness", f"{scores.trustworthiness:.3f}",
         _level(_TRUSTWORTHINESS, scores.trustworthiness)),
        ("continuity", f"{scores.continuity:.3f}", _level(_CONTINUITY, scores.continuity)),
    ]  # fmt: skip
    console.head("How true is the map?")
    console.table(rows, right=(1,))
    console.say(verdict(scores), indent="  ")


def _level(limits: tuple[tuple[float, str], ...], value: float) -> str:
    return next(text for limit, text in limits if value >= limit)
