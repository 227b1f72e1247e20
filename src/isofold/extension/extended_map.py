"""A map that was extended: the maps of the steps, of which the oldest that knows a point decides.

A map knows a point that lies on its charts and within reach of one of its nodes. So points that an
older map knows stay where they are, to the last bit, whatever is added later. A point that no map
knows goes where the map with the nearest node puts it.

At the seam, where an older map ends and a newer one begins, the two put the same point at slightly
different places: there the map jumps (`isofold.extension.seam` measures by how much).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.extension.patch_map import MappedPoints, PatchMap

__all__ = ["ExtendedMap", "PlacedPoints"]


@dataclass(frozen=True, eq=False)
class PlacedPoints:
    """Images of points, and whether the charts know them.

    Attributes
    ----------
    mapped : MappedPoints
        What the map says that decides; nodes count within it.
    remoteness : ndarray of shape (n,)
        Distances from the nearest nodes along the charts, in units of their reach.
    """

    mapped: MappedPoints
    remoteness: FloatArray

    @property
    def is_covered(self) -> BoolArray:
        """Which points are on the charts and within reach of a node."""
        return np.asarray(~self.mapped.is_off & (self.remoteness <= 1.0))

    def _take(self, rows: IntArray, other: PlacedPoints, chosen: BoolArray) -> None:
        """Let another map decide about some rows."""
        ours, theirs = self.mapped, other.mapped
        for mine, new in (
            (ours.images, theirs.images),
            (ours.squared_distances, theirs.squared_distances),
            (ours.limits, theirs.limits),
            (ours.nearest, theirs.nearest),
            (ours.gaps, theirs.gaps),
            (self.remoteness, other.remoteness),
        ):
            mine[rows[chosen]] = new[chosen]


@dataclass(frozen=True, eq=False)
class ExtendedMap:
    """Maps in one frame, the oldest first.

    Attributes
    ----------
    maps : tuple of PatchMap
        The map that was fitted, and those of its extensions. Each of these is a stitching of all
        nodes known at its time, moved into the frame of the first.
    waiting : ndarray of shape (n_waiting, n_features)
        Points at and beyond the edge of the charts, which may help to extend them.
    waiting_samples : ndarray of int of shape (n_waiting,)
        Their samples.
    """

    maps: tuple[PatchMap, ...]
    waiting: FloatArray
    waiting_samples: IntArray

    @classmethod
    def of(cls, found: PatchMap | ExtendedMap) -> ExtendedMap:
        """Return any map of charts as one that can be extended."""
        if isinstance(found, ExtendedMap):
            return found
        return cls((found,), np.empty((0, found.n_features)), np.empty(0, dtype=np.intp))

    @property
    def latest(self) -> PatchMap:
        """The last stitching, whose nodes are those of all steps."""
        return self.maps[-1]

    @property
    def estimators(self) -> tuple[Any, ...]:
        """The embedders that are the charts of the last stitching, if there are any."""
        return self.latest.estimators

    def extended(self, newer: PatchMap) -> ExtendedMap:
        """Return these maps with another one, which decides only where they do not."""
        return replace(self, maps=(*self.maps, newer))

    def place(self, points: FloatArray, *, n_jobs: int | None = None) -> PlacedPoints:
        """Map points, each by itself, and tell which of them the charts know."""
        placed = _placed_by(self.maps[0], points, n_jobs)
        for newer in self.maps[1:]:
            rows = np.flatnonzero(~placed.is_covered)
            if len(rows):
                other = _placed_by(newer, points[rows], n_jobs)
                is_nearer = other.mapped.gaps < placed.mapped.gaps[rows]
                placed._take(rows, other, other.is_covered | is_nearer)
        return placed

    def map_points(self, points: FloatArray, *, n_jobs: int | None = None) -> MappedPoints:
        """Map points, each by itself, and measure how far off they are."""
        return self.place(points, n_jobs=n_jobs).mapped

    def transform(self, X: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Return the images of points, each by itself."""
        return self.map_points(X, n_jobs=n_jobs).images

    def distance(self, X: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Return the root mean squared distances of points from the charts near them."""
        return np.sqrt(self.map_points(X, n_jobs=n_jobs).squared_distances)

    def inverse_transform(self, Y: FloatArray, *, n_jobs: int | None = None) -> FloatArray:
        """Map points of the embedding back, each by the oldest map that has a node within reach.

        Lengths on the map are those of the data, so that the reach is the same.
        """
        owners = np.zeros(len(Y), dtype=np.intp)
        nearest = np.full(len(Y), np.inf)
        is_open = np.ones(len(Y), dtype=bool)
        for number, each in enumerate(self.maps):
            near = each.image_search.query(np.ascontiguousarray(Y, dtype=np.float64), 1)
            gaps, nodes = near.distances[:, 0], near.indices[:, 0]
            is_known = gaps <= each.reaches[nodes]
            chosen = is_open & (is_known | (gaps < nearest))
            owners[chosen], nearest[chosen] = number, gaps[chosen]
            is_open &= ~is_known
        points = np.empty((len(Y), self.latest.n_features))
        for number in np.unique(owners):
            rows = np.flatnonzero(owners == number)
            points[rows] = self.maps[number].inverse_transform(Y[rows], n_jobs=n_jobs)
        return points

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the nodes of all steps, as points of the data, and their images."""
        nodes = self.latest.node_points
        return nodes, self.transform(nodes)


def _placed_by(patch_map: PatchMap, points: FloatArray, n_jobs: int | None) -> PlacedPoints:
    """Return where a single map puts points."""
    mapped = patch_map.map_points(points, n_jobs=n_jobs)
    return PlacedPoints(mapped, patch_map.remoteness(mapped))
