"""New points on a map of neighbors: the stress that made the map, against points that stay.

A new point starts at the image of that neighbor which has most of the others near it. Then it
moves to where its neighbors want it, and out of the neighborhoods of strangers, as points of the
map did (`isofold.stress.kept_lengths`); but these stay, so that every row is placed by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from isofold._memory import block_rows
from isofold._parallel import ordered_map
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_points
from isofold.extension.training_points import TrainingPoints
from isofold.extension.way_back import LocalInverse
from isofold.neighbors.search.protocol import pair_distances
from isofold.stress._relax import settle_new, start_new
from isofold.stress.kept_lengths import LengthRules

__all__ = ["StressMap"]

N_STRANGERS = 20
"""Points on the map that are looked at, of which some are strangers."""

N_SWEEPS, N_REFRESHED = 15, 3
"""Sweeps before strangers are looked for again, and how often that is."""

FARTHEST = 1e30
"""Longest length, in the unit of the map: single precision ends soon after."""

LEAST_BLOCK = 256
"""Rows that a thread places at a time, at least."""


@dataclass(frozen=True, eq=False)
class StressMap(LocalInverse):
    """Places new points among the images of their neighbors.

    Attributes
    ----------
    training : TrainingPoints
        The distinct training points with their images.
    unit : float
        The unit in which lengths are kept.
    reach : ndarray of float32 of shape (n_points,)
        How far the own neighbors of every training point are, in this unit.
    n_neighbors : int
        Neighbors whose lengths are kept.
    rules : LengthRules
        How lengths are kept.
    n_jobs : int or None
        Threads.
    """

    training: TrainingPoints
    unit: float
    reach: FloatArray
    n_neighbors: int
    rules: LengthRules
    n_jobs: int | None = None

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points, each placed by itself.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
            The points.

        Returns
        -------
        ndarray of shape (n_new, q)
            Their images, in the precision of the embedding; those of training points are kept.
        """
        queries = check_points(X_new, name="X_new", min_samples=1)
        images = np.empty((len(queries), self._images.shape[1]))
        # Not once more in every process that places points.
        _ = self._tree, self._spacing
        row = 8 * (N_STRANGERS + self.n_neighbors) * queries.shape[1]
        step = max(LEAST_BLOCK, block_rows(row, len(queries)))
        starts = range(0, len(queries), step)
        blocks = (queries[start : start + step] for start in starts)
        with stage("place points", total=len(starts)) as steps:
            found = ordered_map(self._placed, blocks, n_jobs=self.n_jobs, is_pure=True, steps=steps)
            for start, placed in zip(starts, found, strict=True):
                images[start : start + step] = placed
        return (self.unit * images).astype(self.training.images.dtype)

    @cached_property
    def _images(self) -> FloatArray:
        return np.ascontiguousarray(self.training.own_images / self.unit)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._images)

    @cached_property
    def _spacing(self) -> FloatArray:
        """How far as many points lie from every one on the map as have lengths to keep."""
        k = min(self.n_neighbors + 1, len(self._images))
        spacing = np.asarray(self._tree.query(self._images, [k])[0])[:, 0]
        return np.maximum(spacing, np.finfo(np.float32).tiny).astype(np.float32)

    def _placed(self, queries: FloatArray) -> FloatArray:
        """Return the images of some points."""
        n, images = len(queries), self._images
        found = self.training.nearest(queries, min(self.n_neighbors, len(images)))
        indices = found.indices.astype(np.int32)
        lengths = np.minimum(found.distances / self.unit, FARTHEST).astype(np.float32)
        chosen = np.empty(n, dtype=np.int32)
        start_new(images, indices, self._spacing, chosen)
        places = images[chosen]
        # Where a map is crowded, points lie closer than their distances are long.
        scale = np.minimum(1.0, self._spacing[chosen] / self.reach[chosen])[:, None]
        lengths *= scale
        for _ in range(N_REFRESHED):
            near = self._near(places)
            apart = scale * self._apart(queries, near, indices, lengths[:, -1:] / scale)
            settle_new(
                images,
                indices,
                lengths,
                near,
                apart,
                *self.rules.weights,
                self.rules.step,
                N_SWEEPS,
                places,
            )
        is_copy = found.distances[:, 0] == 0.0
        places[is_copy] = images[indices[is_copy, 0]]
        return places

    def _near(self, places: FloatArray) -> IntArray:
        k = min(N_STRANGERS, len(self._images))
        found = self._tree.query(places, k)[1].reshape(len(places), k)
        return np.ascontiguousarray(found, dtype=np.int32)

    def _apart(
        self, queries: FloatArray, near: IntArray, indices: IntArray, own: FloatArray
    ) -> FloatArray:
        """Return how far points near on the map are to be at least; 0 for data neighbors."""
        straight = pair_distances(queries, self.training.points, near.astype(np.intp)) / self.unit
        limit = self.rules.cap * np.maximum(own, self.reach[near])
        is_neighbor = (near[:, :, None] == indices[:, None, :]).any(axis=2)
        return np.where(is_neighbor, 0.0, np.minimum(straight, limit)).astype(np.float32)
