"""Charts by any embedder: Isomap, maximum variance unfolding, or what a user brings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.patches.charts import ChartFit, fit_charts
from isofold.patches.cover import PatchCover

__all__ = ["fit_embedders"]


@stage("charts")
def fit_embedders(
    points: FloatArray,
    cover: PatchCover,
    n_components: int,
    embedder: Any,
    rng: np.random.RandomState | None = None,
) -> ChartFit:
    """Embed every patch by a clone of an embedder."""
    flat = fit_charts(points, cover, n_components, quadratic=False)
    coordinates = np.zeros_like(flat.coordinates)
    dimensions, estimators = [], []
    for patch in range(cover.n_patches):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        estimator = clone(embedder)
        if rng is not None and getattr(estimator, "random_state", 0) is None:
            estimator.set_params(random_state=rng.randint(2**31 - 1))
        Y = np.asarray(estimator.fit_transform(points[cover.members_of(patch)]), dtype=np.float64)
        n_members = rows.stop - rows.start
        if Y.ndim != 2 or len(Y) != n_members or not 1 <= Y.shape[1] <= n_components:
            msg = (
                f"chart={embedder!r} returned an array of shape {Y.shape} for a patch of "
                f"{n_members} points, where one row a point and 1 to {n_components} columns "
                f"(n_components) were expected. Set the embedder's own n_components."
            )
            raise InvalidInputError(msg)
        if not np.isfinite(Y).all():
            msg = (
                f"chart={embedder!r} returned NaN or infinite coordinates for a patch of "
                f"{n_members} points. Use larger patches (fewer n_patches) or chart='pca'."
            )
            raise InvalidInputError(msg)
        coordinates[rows, : Y.shape[1]] = Y - Y.mean(axis=0)
        dimensions.append(Y.shape[1])
        estimators.append((estimator, Y.mean(axis=0)))
    return replace(
        flat,
        coordinates=coordinates,
        dimensions=np.array(dimensions, dtype=np.intp),
        estimators=tuple(estimators),
    )
