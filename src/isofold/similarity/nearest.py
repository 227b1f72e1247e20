"""Nearest samples by any metric, without a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.neighbors.search.build import kneighbors
from isofold.neighbors.search.protocol import Neighbors
from isofold.similarity.comparison import ANGULAR, PairComparison

__all__ = ["graph_of_nearest", "nearest_samples"]


def nearest_samples(
    samples: Sequence[Any], comparison: PairComparison, k: int, *, n_jobs: int | None = None
) -> Neighbors:
    """Return the k nearest other samples of every sample.

    One minus a cosine is half of the squared distance of unit vectors, which are searched.
    """
    if isinstance(comparison.metric, str) and comparison.metric in ANGULAR:
        points = np.asarray(samples)
        unit = _unit_vectors(points, comparison)
        found = kneighbors(unit, k, method="fast", n_jobs=n_jobs)
        lengths = comparison.without_rounding(found.distances**2 / 2.0)
        return Neighbors(lengths.astype(points.dtype), found.indices)
    n = len(samples)
    distances, indices = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    step = block_rows(16 * n, n)
    with stage("neighbors", total=n) as steps:
        for start in range(0, n, step):
            own = np.arange(start, min(start + step, n))
            rows = comparison.between(samples[start : start + step], samples)
            distances[own], indices[own] = nearest_in_rows(rows, k, own=own)
            steps.advance(len(own))
    return Neighbors(distances, indices)


def graph_of_nearest(
    samples: Sequence[Any], comparison: PairComparison, k: int, *, n_jobs: int | None = None
) -> sp.csr_array:
    """Return a sparse matrix of the distances to the nearest samples; stored zeros are copies."""
    found = nearest_samples(samples, comparison, k, n_jobs=n_jobs)
    n = len(samples)
    ends = np.arange(0, n * k + 1, k)
    return sp.csr_array((found.distances.ravel(), found.indices.ravel(), ends), shape=(n, n))


def _unit_vectors(points: FloatArray, comparison: PairComparison) -> FloatArray:
    """Return rows of length one whose products are the cosines that a metric means."""
    rows = points.astype(np.float64)
    if comparison.metric == "correlation":
        rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directionless = np.flatnonzero(lengths[:, 0] == 0.0)
    # Such rows have no distances, and are refused.
    comparison.of_points(points[directionless], points[:1])
    return np.asarray(rows / lengths)
