"""How true a map is, in three figures and their meaning."""

from __future__ import annotations

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray
from isofold.cli.console import Console
from isofold.quality import MapSummary, summary

__all__ = ["NEIGHBORS", "measure", "tell_scores"]

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


def measure(X: FloatArray, Y: FloatArray, *, seed: int, jobs: int) -> MapSummary:
    """Measure a map, at a sample of its rows if there are many; NaN for two distinct rows."""
    n_samples = None if len(X) <= MOST_EXACT else SAMPLED
    found = summary(
        X, Y, n_neighbors=NEIGHBORS, n_samples=n_samples, random_state=seed, n_jobs=jobs
    )
    is_known = np.isfinite((found.trustworthiness, found.continuity)).all()
    return found if is_known else MapSummary(np.nan, np.nan, np.nan)


def tell_scores(console: Console, scores: MapSummary) -> None:
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
