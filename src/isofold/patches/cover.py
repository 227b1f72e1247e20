"""The cover: overlapping sets of points, each small enough to be flat or nearly so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["Memberships", "PatchCover"]

MIN_CHART_WEIGHT = 0.05
"""Weight of the outermost points of a patch in its chart: never nothing."""

MIN_STITCH_WEIGHT = 1e-3
"""1 - (d/h)² of the outermost points of a patch in the stitching, before it is squared."""


def chart_weights(offsets: FloatArray) -> FloatArray:
    """Return the weights 1 - (d/h)² of points in charts, from their offsets d/h."""
    return np.asarray(np.maximum(1.0 - offsets**2, MIN_CHART_WEIGHT))


@dataclass(frozen=True, eq=False)
class PatchCover:
    """Overlapping patches of points.

    Attributes
    ----------
    n_points : int
        Number of points, all of which are in some patch.
    indptr : ndarray of shape (n_patches + 1,)
        Patch i holds ``members[indptr[i]:indptr[i + 1]]``.
    members : ndarray of shape (n_entries,)
        The points of the patches.
    offsets : ndarray of shape (n_entries,)
        How far out in its patch a point is: its distance from the seed over the radius h of the
        patch, in [0, 1); zero throughout where patches have no center.
    seeds : ndarray of shape (n_patches,)
        The central point of every patch.
    radii : ndarray of shape (n_patches,)
        The radii h.
    by_overlap : bool
        How misfits are weighed in the stitching: overlaps as a whole, each by the mean over its
        points (the thesis), or point by point around their consensus.
    """

    n_points: int
    indptr: IntArray
    members: IntArray
    offsets: FloatArray
    seeds: IntArray
    radii: FloatArray
    by_overlap: bool = False

    @classmethod
    def whole(cls, points: FloatArray) -> PatchCover:
        """Return a single patch of all points."""
        # In double precision: squares of large numbers overflow in single.
        points = points.astype(np.float64, copy=False)
        distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
        seed = int(distances.argmin())
        radius = float(np.linalg.norm(points - points[seed], axis=1).max()) or 1.0
        return cls(
            n_points=len(points),
            indptr=np.array([0, len(points)]),
            members=np.arange(len(points)),
            offsets=np.zeros(len(points)),
            seeds=np.array([seed]),
            radii=np.array([radius]),
        )

    @property
    def n_patches(self) -> int:
        """Number of patches."""
        return len(self.seeds)

    @property
    def sizes(self) -> IntArray:
        """Number of points in every patch."""
        return np.diff(self.indptr)

    @cached_property
    def patches(self) -> IntArray:
        """The patch of every entry."""
        return np.repeat(np.arange(self.n_patches), self.sizes)

    @property
    def chart_weights(self) -> FloatArray:
        """Weights of the entries in the charts, 1 - (d/h)²."""
        return chart_weights(self.offsets)

    @property
    def stitch_weights(self) -> FloatArray:
        """Weights of the entries in the stitching, (1 - (d/h)²)²: they fade out at the border."""
        return np.asarray(np.maximum(1.0 - self.offsets**2, MIN_STITCH_WEIGHT) ** 2)

    def members_of(self, patch: int) -> IntArray:
        """Return the points of a patch."""
        return self.members[self.indptr[patch] : self.indptr[patch + 1]]

    def thinned(self, steps: IntArray) -> tuple[PatchCover, IntArray]:
        """Return the cover with every n-th point of each patch only, and these entries."""
        within = np.arange(len(self.members)) - np.repeat(self.indptr[:-1], self.sizes)
        chosen = within % np.repeat(steps, self.sizes) == 0
        counts = np.add.reduceat(chosen, self.indptr[:-1])
        cover = replace(
            self,
            indptr=np.concatenate([[0], np.cumsum(counts)]),
            members=self.members[chosen],
            offsets=self.offsets[chosen],
        )
        return cover, np.flatnonzero(chosen)


@dataclass(frozen=True, eq=False)
class Memberships:
    """The patches of every point, the one in which it is most central first.

    Attributes
    ----------
    indptr : ndarray of shape (n_points + 1,)
        Point i is in the entries ``entries[indptr[i]:indptr[i + 1]]`` of the cover.
    entries : ndarray of shape (n_memberships,)
        Entries of the cover.
    patches : ndarray of shape (n_memberships,)
        Their patches.
    weights : ndarray of shape (n_memberships,)
        Their weights in the stitching.
    """

    indptr: IntArray
    entries: IntArray
    patches: IntArray
    weights: FloatArray

    @cached_property
    def points(self) -> IntArray:
        """The point of every membership."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @classmethod
    def strongest(
        cls, cover: PatchCover, most: int | None, is_off: BoolArray | None = None
    ) -> Memberships:
        """Return the patches in which every point is most central."""
        off = np.zeros(len(cover.members), dtype=bool) if is_off is None else is_off
        order = np.lexsort((cover.offsets, off, cover.members))
        counts = np.bincount(cover.members, minlength=cover.n_points)
        if most is not None:
            begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
            rank = np.arange(len(order)) - np.repeat(begin, counts)
            order, counts = order[rank < most], np.minimum(counts, most)
        return cls(
            indptr=np.concatenate([[0], np.cumsum(counts)]),
            entries=order,
            patches=cover.patches[order],
            weights=np.where(off, MIN_STITCH_WEIGHT**2, cover.stitch_weights)[order],
        )
