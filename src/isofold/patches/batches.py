"""Batches: patches of similar size as arrays, so that all of them are fitted at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.patches.cover import PatchCover, chart_weights

__all__ = ["Batch", "gather_batch", "similar_patches"]

PADDING = 1.25
"""Patches whose sizes differ by no more than this factor are fitted together."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Patches of similar size, padded to the largest by points of no weight."""

    patches: IntArray
    entries: IntArray
    is_member: BoolArray
    radii: FloatArray
    weights: FloatArray
    points: FloatArray
    centers: FloatArray

    @property
    def sizes(self) -> FloatArray:
        """Number of points that count in each patch."""
        return np.asarray(np.count_nonzero(self.weights, axis=1), dtype=np.float64)

    def chosen(self, rows: IntArray, weights: FloatArray) -> Batch:
        """Return some of the patches, with other weights."""
        return Batch(
            patches=self.patches[rows],
            entries=self.entries[rows],
            is_member=self.is_member[rows],
            radii=self.radii[rows],
            weights=weights,
            points=self.points[rows],
            centers=self.centers[rows],
        )

    def mean(self, values: FloatArray) -> FloatArray:
        """Return weighted means over the points of each patch."""
        total = (self.weights[:, None, :] @ values)[:, 0]
        return np.asarray(total / self.weights.sum(axis=1)[:, None])


def similar_patches(
    cover: PatchCover, *, enough: int, n_numbers: Callable[[int], int]
) -> Iterator[IntArray]:
    """Yield patches in groups of similar size and bounded memory.

    Patches of fewer than `enough` points come in groups of their own. A patch of m points takes
    `n_numbers(m)` numbers.
    """
    order = np.argsort(cover.sizes, kind="stable")
    sizes = cover.sizes[order]
    begin = 0
    while begin < len(order):
        limit = PADDING * sizes[begin]
        if sizes[begin] < enough:
            limit = min(limit, enough - 1)
        end = int(np.searchsorted(sizes, limit, side="right"))
        end = begin + block_rows(8 * n_numbers(int(sizes[end - 1])), end - begin)
        yield order[begin:end]
        begin = end


def gather_batch(points: FloatArray, cover: PatchCover, patches: IntArray) -> Batch:
    """Return a group of patches, padded to the largest."""
    sizes = cover.sizes[patches]
    column = np.arange(int(sizes.max()))
    inside = column < sizes[:, None]
    entries = np.where(inside, cover.indptr[patches][:, None] + column, 0)
    centers = points[cover.seeds[patches]].astype(np.float64)
    relative = points[cover.members[entries]] - centers[:, None, :]
    relative[~inside] = 0.0
    return Batch(
        patches=patches,
        entries=entries,
        is_member=inside,
        radii=cover.radii[patches],
        weights=np.where(inside, chart_weights(cover.offsets[entries]), 0.0),
        points=relative,
        centers=centers,
    )
