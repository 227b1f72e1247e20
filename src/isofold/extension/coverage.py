"""What a map covers: rows far from all samples it was made of are placed, but as a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from isofold._base import BaseEmbedder
from isofold._typing import BoolArray, FloatArray
from isofold.extension.extended_map import ExtendedMap
from isofold.extension.patch_map import PatchMap
from isofold.neighbors import NeighborSearch, build_search

__all__ = ["Coverage", "CoverageRules"]


@dataclass(frozen=True)
class CoverageRules:
    """When a row is far from a map.

    Attributes
    ----------
    n_neighbors, most : int and float
        A row is far from the samples if the nearest one is farther than so many times its own
        n-th neighbor. A ball of that radius holds some 40 samples of a plane, 10 at a corner: of
        10^8 rows of a holed roll with 20,000 samples none was taken for far by mistake.
    """

    n_neighbors: int = 10
    most: float = 2.0


RULES = CoverageRules()


@dataclass(frozen=True, eq=False)
class Coverage:
    """Places rows, and tells which of them are far from the map.

    Attributes
    ----------
    model : BaseEmbedder
        The fitted model.
    search : NeighborSearch or None
        Finds the nearest sample; None if the charts of the map tell what they know, or if samples
        are compared by another metric, where no row counts as far.
    reach : ndarray of shape (n_samples,)
        The usual distance from every sample, or node of the charts, to its neighbors.
    rules : CoverageRules
        When a row is far.
    """

    model: BaseEmbedder
    search: NeighborSearch | None
    reach: FloatArray
    rules: CoverageRules = RULES

    @classmethod
    def of(cls, model: BaseEmbedder, samples: FloatArray, rules: CoverageRules = RULES) -> Self:
        """Return what a model covers that was fitted to these samples."""
        charts = _charts(model)
        if charts is not None:
            return cls(model, None, charts.latest.reaches, rules)
        if not model._is_of_points:
            return cls(model, None, np.zeros(0), rules)
        points = samples.astype(np.float64)
        search = build_search(points, method="fast", n_jobs=1)
        k = min(rules.n_neighbors + 1, len(points))
        farthest = search.query(points, k).distances[:, -1]
        # Copies have neighbors at no distance, and none must be far for that.
        return cls(model, search, np.maximum(farthest, np.median(farthest) / rules.most), rules)

    @property
    def spacing(self) -> float:
        """How far from a sample a row may be, as a rule."""
        return self.rules.most * float(np.median(self.reach)) if len(self.reach) else 0.0

    def place(self, X: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the images of rows, and which rows are far."""
        charts = _charts(self.model)
        if charts is not None:
            jobs = getattr(self.model, "n_jobs", None)
            placed = charts.place(np.ascontiguousarray(X), n_jobs=jobs)
            is_far = placed.mapped.is_off | (placed.remoteness > self.rules.most)
            return placed.mapped.images, is_far
        images = self.model.transform(X)
        if self.search is None:
            return images, np.zeros(len(X), dtype=bool)
        near = self.search.query(X.astype(np.float64), 1)
        limits = self.rules.most * self.reach[near.indices[:, 0]]
        return images, near.distances[:, 0] > limits


def _charts(model: Any) -> ExtendedMap | None:
    """Return the charts behind a model of points, if it has any."""
    own_map = getattr(model, "map_", None)
    if isinstance(own_map, PatchMap | ExtendedMap) and model._is_of_points:
        return ExtendedMap.of(own_map)
    return None
