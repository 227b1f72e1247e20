"""Which new rows lie far from all rows that a map was made of, so that their places are guesses."""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.extension.region import SampledRegion
from isofold.extension.training_points import read_places
from isofold.neighbors import build_search

__all__ = ["far_limit", "far_rows"]

LOOKED_AT = 2000
"""Training rows whose distances from the sheet are looked at."""

QUANTILE, FACTOR = 0.99, 2.0
"""New rows are off the sheet from this factor of this quantile of the training rows on."""

LEVEL, NEIGHBORS = 0.001, 10
"""Share of the training rows that are remote, and the neighbors by which that is judged."""

MOST_PLACES = 20_000
"""Training rows that tell where on the map there are any."""


def far_limit(model: Any, X: FloatArray, *, seed: int) -> float | None:
    """Return from which distance on a row is off the sheet, if the method knows such distances."""
    worker = getattr(model, "estimator_", model)
    if not hasattr(worker, "distance_to_manifold"):
        return None
    rows = np.random.default_rng(seed).permutation(len(X))[:LOOKED_AT]
    usual = float(np.quantile(worker.distance_to_manifold(X[rows]), QUANTILE))
    k = min(NEIGHBORS + 1, len(X))
    spacing = float(np.median(build_search(X).query(X[rows], k).distances[:, -1]))
    return max(FACTOR * usual, spacing)


def far_rows(model: Any, X: FloatArray, Y: FloatArray, limit: float | None) -> BoolArray | None:
    """Return which rows are far from the data of a model; None where nobody knows."""
    if hasattr(model, "is_outside"):
        return np.asarray(model.is_outside(X, level=LEVEL))
    worker = getattr(model, "estimator_", model)
    if hasattr(worker, "distance_to_manifold"):
        if limit is None:
            return None
        # Off the sheet, or on its plane but beyond its edge.
        is_off = np.asarray(worker.distance_to_manifold(X) > limit)
        return is_off | _is_beyond(model.embedding_, Y)
    places = getattr(getattr(worker, "extension_", None), "places", None)
    if places is None:
        return None
    region = SampledRegion.around(places, NEIGHBORS)
    return region.is_outside(X.astype(np.float64), level=LEVEL)


def _is_beyond(embedding: FloatArray, Y: FloatArray) -> BoolArray:
    """Return which places of a map lie where it has no rows."""
    step = -(-len(embedding) // MOST_PLACES)
    known = embedding[::step].astype(np.float64)
    region = SampledRegion.around(read_places(known, known), NEIGHBORS)
    return region.is_outside(Y.astype(np.float64), level=LEVEL)
