"""How true a finished map is, measured at some of its samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.embedding.unfold.trial import Trial
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.graph import distances_between_nodes
from isofold.quality import MapSummary, best_scale_error, summary
from isofold.quality.distances import compare
from isofold.quality.isometry import isometry_of
from isofold.quality.neighborhoods import neighborhoods_of, shown_neighborhoods_of
from isofold.quality.ranks import intrusion_score, loss_score

__all__ = ["MEASURED_NEIGHBORS", "measure"]

MEASURED, LEAST_MEASURED, MEASURED_NEIGHBORS = 300, 100, 12
"""Samples at which the finished map is measured, at most and at least, and neighbors of each."""

MEASURED_PRODUCTS = 2e9
"""Products of coordinates that measuring takes at most, unless for the fewest samples: all
distances of each sample in some tenths of a second."""

LISTED, LEAST_LISTED = 1000, 20_000
"""Nearest others among which the ranks of neighbors on a sheet are counted, and samples from which
on trees that find them take less time than distances to all samples."""


@stage("quality")
def measure(
    X: Any,
    trial: Trial,
    *,
    metric: str,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> MapSummary:
    """Return how true a map is, measured at some samples; copies count once."""
    if trial.is_exact:
        return MapSummary(1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if sp.issparse(X):
        return MapSummary(np.nan, np.nan, float(trial.embedder.length_errors_.median))
    if metric == "euclidean":
        rows = find_distinct(X).sample_of_node
        X = X if len(rows) == len(X) else X[rows]
    else:
        X, distinct = distances_between_nodes(X)
        rows = distinct.sample_of_node
    n_measured = min(MEASURED, max(LEAST_MEASURED, int(MEASURED_PRODUCTS / X.size)))
    seed, Y = int(rng.randint(2**31 - 1)), trial.embedding[rows]
    if trial.is_sheet and metric == "euclidean" and len(rows) >= LEAST_LISTED:
        found = _by_lists(X, Y, n_measured, seed, n_jobs)
        if found is not None:
            return found
    return summary(
        X,
        Y,
        n_neighbors=MEASURED_NEIGHBORS,
        metric=metric,
        n_samples=n_measured if len(rows) > n_measured else None,
        random_state=seed,
        n_jobs=n_jobs,
    )


def _by_lists(
    X: FloatArray, Y: FloatArray, n_samples: int, seed: int, n_jobs: int | None
) -> MapSummary | None:
    """Return the summary from lists of nearest others, or None if these do not hold all ranks."""
    k = MEASURED_NEIGHBORS
    comparison = compare(X, Y, n_samples=n_samples, random_state=seed, n_jobs=n_jobs)
    near = neighborhoods_of(comparison, LISTED)
    shown = shown_neighborhoods_of(comparison, LISTED)
    before, after = shown.before[:, :k], near.after[:, :k]
    if (before >= near.before[:, -1:]).any() or (after >= shown.after[:, -1:]).any():
        return None
    # A neighbor's rank in the other space is that of its distance there.
    input_ranks = 1 + (near.before[:, None] < before[:, :, None]).sum(axis=2)
    embedded_ranks = 1 + (shown.after[:, None] < after[:, :, None]).sum(axis=2)
    near, shown = (
        replace(
            each, indices=each.indices[:, :k], before=each.before[:, :k], after=each.after[:, :k]
        )
        for each in (near, shown)
    )
    return MapSummary(
        trustworthiness=float(intrusion_score(input_ranks, near.sample)),
        continuity=float(intrusion_score(embedded_ranks, near.sample)),
        neighbor_error=float(loss_score(embedded_ranks, near.sample)),
        length_error=float(isometry_of(near).median),
        scaled_length_error=best_scale_error(near.ratio),
        shown_length_error=float(isometry_of(shown).median),
        scaled_shown_length_error=best_scale_error(shown.ratio),
    )
