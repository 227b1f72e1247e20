"""Outliers: samples off the charts, which are placed on the map but did not help to make it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.extension.patch_map import MappedPoints, PatchMap

__all__ = ["PlacedOutliers", "find_placed_outliers"]

N_AROUND, AROUND, MOST_OUTLIERS = 300, 3.0, 2000
"""Nodes around an outlier that may be its true neighbors, how many times as far as the nearest, and
outliers that are looked at."""


@dataclass(frozen=True, eq=False)
class PlacedOutliers:
    """Samples off the charts, and how sure their images are.

    Attributes
    ----------
    fraction : float
        Fraction of the samples that are outliers.
    displacements : ndarray of shape (n_outliers,)
        How much farther than in the data the most distant of the nodes about as near as the nearest
        is on the map: an outlier between two layers has to be laid on one of them.
    """

    fraction: float
    displacements: FloatArray

    @property
    def mean_square(self) -> float:
        """Mean squared displacement over all samples, outliers or not."""
        return self.fraction * float((self.displacements**2).mean()) if self.fraction else 0.0


def find_placed_outliers(
    patch_map: PatchMap, points: FloatArray, mapped: MappedPoints, node_samples: IntArray
) -> PlacedOutliers:
    """Return the samples off the charts, and how sure their images are."""
    rows = np.flatnonzero(mapped.is_off)
    fraction = len(rows) / len(points)
    rows = rows[:: max(1, len(rows) // MOST_OUTLIERS)]
    given, reduction = points[rows], patch_map.reduction
    block = np.ascontiguousarray(given if reduction is None else reduction.apply(given))
    if not len(rows):
        return PlacedOutliers(fraction, np.zeros(0))
    near = patch_map.search.query(block, min(N_AROUND, patch_map.search.n_points))
    images = mapped.images.astype(np.float64, copy=False)
    on_map = np.linalg.norm(images[node_samples[near.indices]] - images[rows][:, None], axis=2)
    is_around = near.distances <= AROUND * near.distances[:, :1]
    moved = np.where(is_around, on_map - near.distances, 0.0).max(axis=1)
    return PlacedOutliers(fraction, np.maximum(moved, 0.0))
