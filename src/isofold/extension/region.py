"""The region that training points sample: which new points lie outside of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold._validation import check_fraction
from isofold.extension.training_points import TIE, TrainingPoints
from isofold.neighbors.search.protocol import drop_own

__all__ = ["SampledRegion"]


@dataclass(frozen=True, eq=False)
class SampledRegion:
    """How far apart training points are, at every one of them.

    A point is as remote as the mean distance of its k nearest training points, over the mean of
    what these have among themselves. Inside, that is about one, whatever the density.

    Attributes
    ----------
    training : TrainingPoints
        The training points.
    n_neighbors : int
        Neighbors k.
    spacings : ndarray of shape (n_points,)
        The mean distance of every training point from its k nearest others.
    remoteness : ndarray of shape (n_points,)
        How remote the training points are, ascending.
    """

    training: TrainingPoints
    n_neighbors: int
    spacings: FloatArray
    remoteness: FloatArray

    @classmethod
    def around(cls, training: TrainingPoints, n_neighbors: int) -> SampledRegion:
        """Measure the region around training points.

        Parameters
        ----------
        training : TrainingPoints
            The training points.
        n_neighbors : int
            Neighbors that are looked at; all if there are fewer.

        Returns
        -------
        SampledRegion
            The region.
        """
        k = max(1, min(n_neighbors, training.n_points - 1))
        if training.n_points == 1:
            return cls(training, k, np.zeros(1), np.ones(1))
        n_listed = min(k + 1, training.n_points - 1)
        near = training.nearest(training.points, n_listed + 1)
        near = drop_own(near, np.arange(training.n_points))
        lengths, others = near.distances[:, :k], near.indices[:, :k]
        spacings = lengths.mean(axis=1)
        # As if it were new: a point does not count among the neighbors of its neighbors, and the
        # next one is listed instead.
        is_listed = lengths <= lengths[others, -1] * (1.0 + TIE)
        further = (near.distances[others, -1] - lengths) / k
        without = spacings[others] + np.where(is_listed, further, 0.0)
        remoteness = spacings / without.mean(axis=1)
        return cls(training, k, spacings, np.sort(remoteness))

    def remoteness_of(self, queries: FloatArray) -> FloatArray:
        """Return how remote points are: about one inside, more outside.

        Parameters
        ----------
        queries : ndarray of shape (n_new, d)
            The points.

        Returns
        -------
        ndarray of shape (n_new,)
            Ratios; that of a training point counts its own distance of zero.
        """
        near = self.training.nearest(queries, min(self.n_neighbors, self.training.n_points))
        usual = self.spacings[near.indices].mean(axis=1)
        lengths = near.distances.mean(axis=1)
        beyond = np.where(lengths > 0, np.inf, 0.0)
        return np.divide(lengths, usual, out=beyond, where=usual > 0)

    def is_outside(self, queries: FloatArray, *, level: float) -> BoolArray:
        """Return which points are more remote than all but a fraction of the training points.

        Parameters
        ----------
        queries : ndarray of shape (n_new, d)
            The points.
        level : float
            The fraction, which is also that of new points inside that count as outside by mistake.

        Returns
        -------
        ndarray of bool of shape (n_new,)
            Whether a point lies outside.
        """
        level = check_fraction(level, name="level")
        limit = np.quantile(self.remoteness, 1.0 - level, method="higher")
        outside: BoolArray = self.remoteness_of(queries) > limit
        return outside
