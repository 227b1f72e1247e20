"""What a map covers: rows far from all samples it was made of are placed, but as a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from isofold._base import BaseEmbedder
from isofold._typing import BoolArray, FloatArray
from isofold.extension.patch_map import PatchMap
from isofold.extension.row_map import RowMap
from isofold.neighbors import NeighborSearch, build_search

__all__ = ["Coverage", "CoverageRules"]


@dataclass(frozen=True)
class CoverageRules:
    """When a row is far from a map.

    Attributes
    ----------
    n_neighbors, reach : int and float
        A row is far from the samples if the nearest one is farther than so many times its own
        n-th neighbor. A ball of that radius holds some 40 samples of a plane, 10 at a corner: of
        10^8 rows of a holed roll with 20,000 samples none was taken for far by mistake.
    """

    n_neighbors: int = 10
    reach: float = 2.0


RULES = CoverageRules()


@dataclass(frozen=True, eq=False)
class Coverage:
    """Places rows, and tells which of them are far from the map.

    Attributes
    ----------
    model : BaseEmbedder
        The fitted model.
    search : NeighborSearch or None
        Finds the nearest sample; None if the map finds its nearest node itself, or if samples are
        compared by another metric, where no row counts as far.
    reach : ndarray of shape (n_samples,)
        How far from every sample a row may be.
    """

    model: BaseEmbedder
    search: NeighborSearch | None
    reach: FloatArray

    @classmethod
    def of(cls, model: BaseEmbedder, samples: FloatArray, rules: CoverageRules = RULES) -> Self:
        """Return what a model covers that was fitted to these samples."""
        own_map = _patch_map(model)
        if own_map is not None:
            nodes = own_map.search
            return cls(model, None, _reach(nodes, nodes.points, rules))
        if not model._is_of_points:
            return cls(model, None, np.zeros(0))
        search = build_search(samples.astype(np.float64), method="fast", n_jobs=1)
        return cls(model, search, _reach(search, search.points, rules))

    @property
    def spacing(self) -> float:
        """How far apart samples are, as a rule."""
        return float(np.median(self.reach)) if len(self.reach) else 0.0

    def place(self, X: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the images of rows, and which rows are far."""
        own_map = _patch_map(self.model)
        if own_map is not None:
            jobs = getattr(self.model, "n_jobs", None)
            mapped = own_map.map_points(np.ascontiguousarray(X), n_jobs=jobs)
            is_off = mapped.squared_distances > mapped.limits
            return mapped.images, is_off | (mapped.node_distances > self.reach[mapped.nearest])
        images = RowMap.of(self.model)(X)
        near = self.search.query(X.astype(np.float64), 1) if self.search is not None else None
        if near is None:
            return images, np.zeros(len(X), dtype=bool)
        return images, near.distances[:, 0] > self.reach[near.indices[:, 0]]


def _patch_map(model: Any) -> PatchMap | None:
    """Return the charts behind a model of points, if it has any."""
    own_map = getattr(model, "map_", None)
    is_plain = isinstance(own_map, PatchMap) and model._is_of_points
    return own_map if is_plain else None


def _reach(search: NeighborSearch, points: FloatArray, rules: CoverageRules) -> FloatArray:
    """Return the reach of every sample: a multiple of the distance to one of its neighbors."""
    k = min(rules.n_neighbors + 1, len(points))
    farthest = search.query(points, k).distances[:, -1]
    # Copies have neighbors at no distance, and none must be far for that.
    return rules.reach * np.maximum(farthest, np.median(farthest) / rules.reach)
