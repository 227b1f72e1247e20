"""Where a map is torn: neighbors in the data that are far from each other on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._memory import block_rows
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import Neighbors

__all__ = ["Tears", "find_tears", "is_torn"]


@dataclass(frozen=True, eq=False)
class Tears:
    """What a map does to the distances of neighbors.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        Neighbors i < j that were torn apart.
    n_tears : int
        Number of tears: groups of neighboring cells between which they lie.
    distortion : ndarray of shape (n_points,)
        Mean relative error of the distances to neighbors at every point.
    """

    pairs: IntArray
    n_tears: int
    distortion: FloatArray


def find_tears(images: FloatArray, near: Neighbors, labels: IntArray, reach: FloatArray) -> Tears:
    """Compare the distances of neighbors before and after."""
    n, k = near.indices.shape
    distortion = np.empty(n)
    torn = []
    step = block_rows(8 * 3 * k * images.shape[1], n)
    for start in range(0, n, step):
        block = slice(start, start + step)
        others, lengths = near.indices[block], near.distances[block].astype(np.float64)
        steps = images[others] - images[block, None]
        on_map = np.sqrt(np.einsum("ijk,ijk->ij", steps, steps))
        distortion[block] = np.abs(on_map / lengths - 1.0).mean(axis=1)
        own = np.broadcast_to(labels[block, None], others.shape)
        ends = np.stack([own, labels[others]], axis=2)
        row, column = np.nonzero(is_torn(on_map, lengths, ends, reach))
        torn.append(np.stack([row + start, others[row, column]], axis=1))
    directed = np.concatenate(torn)
    pairs = np.unique(np.sort(directed, axis=1), axis=0)
    return Tears(pairs, _n_groups(labels[pairs], near, labels, len(reach)), distortion)


def is_torn(
    on_map: FloatArray, lengths: FloatArray, cells: IntArray, reach: FloatArray
) -> BoolArray:
    """Return which neighbors, in two cells each, are torn apart."""
    differ = cells[..., 0] != cells[..., 1]
    return np.asarray(differ & (on_map - lengths > reach[cells].max(axis=-1)))


def _n_groups(torn: IntArray, near: Neighbors, labels: IntArray, n_cells: int) -> int:
    """Return into how many groups the cells at tears fall.

    Cells belong together if a tear lies between them, or if they are neighbors at one: a cut runs
    along many.
    """
    if not len(torn):
        return 0
    is_at_tear = np.zeros(n_cells, dtype=bool)
    is_at_tear[torn] = True
    points = np.flatnonzero(is_at_tear[labels])
    own = np.repeat(labels[points], near.indices.shape[1])
    other = labels[near.indices[points].ravel()]
    beside = is_at_tear[other]
    rows = np.concatenate([torn[:, 0], own[beside]])
    columns = np.concatenate([torn[:, 1], other[beside]])
    ones = np.ones(len(rows), dtype=bool)
    links = sp.csr_array((ones, (rows, columns)), shape=(n_cells, n_cells))
    groups = connected_components(links, directed=False)[1]
    return len(np.unique(groups[torn]))
