"""The k nearest pairs in the input: their lengths before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._errors import InvalidInputError
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_n_neighbors
from isofold.neighbors import kneighbors
from isofold.neighbors.protocol import pair_distances
from isofold.quality.distances import Comparison, nearest
from isofold.quality.score import RowSample


@dataclass(frozen=True)
class Neighborhoods:
    """Every evaluated point with its k nearest in the input.

    Parameters
    ----------
    indices : ndarray of shape (n_sampled, n_neighbors)
        The neighbors, nearest first.
    before, after : ndarray of shape (n_sampled, n_neighbors)
        Lengths of these pairs in the input and in the embedding.
    sample : RowSample
        Which points the rows are.
    """

    indices: IntArray
    before: FloatArray
    after: FloatArray
    sample: RowSample

    @property
    def ratio(self) -> FloatArray:
        """Embedded over original length; NaN where copies of a point have none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.before > 0, self.after / self.before, np.nan)


def neighborhoods_of(comparison: Comparison, n_neighbors: int) -> Neighborhoods:
    """Find the k nearest pairs of the input and measure them before and after.

    Parameters
    ----------
    comparison : Comparison
        The points before and after.
    n_neighbors : int
        Number k of neighbors.

    Returns
    -------
    Neighborhoods
        The pairs with both lengths.
    """
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
    if comparison.sample.exact and comparison.input.points is not None:
        found = kneighbors(comparison.input.points, k, n_jobs=comparison.n_jobs)
        indices, before = found.indices, found.distances.astype(np.float64)
    else:
        # A few rows are cheaper to scan than to index, and any metric has rows.
        parts = list(comparison.map_blocks(lambda block: _scan(comparison, block, k)))
        indices = np.concatenate([near for near, _ in parts])
        before = np.concatenate([lengths for _, lengths in parts])
    if not (before > 0).any():
        msg = (
            f"All {k} nearest neighbors of every evaluated point are copies of it, so no length "
            f"can be compared. Drop repeated rows, or pass a larger n_neighbors."
        )
        raise InvalidInputError(msg)
    Y = comparison.embedded_points
    after = pair_distances(Y[comparison.sample.indices], Y, indices)
    return Neighborhoods(indices, before, after, comparison.sample)


def _scan(comparison: Comparison, rows: IntArray, k: int) -> tuple[IntArray, FloatArray]:
    distances = comparison.input.others(rows)
    indices = np.stack([nearest(row, k) for row in distances])
    return indices, np.sqrt(np.take_along_axis(distances, indices, axis=1))
