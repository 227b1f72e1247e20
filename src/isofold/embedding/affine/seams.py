"""Seams: where tesserae meet, and the links that hold them together there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import NeighborGraph

__all__ = ["SeamLinks", "choose_links"]

MOST_SEAMS = 8
"""Seams of a tessera that have links. On a sheet a tessera has about six neighbors."""


@dataclass(frozen=True, eq=False)
class SeamLinks:
    """Pairs of points in different tesserae whose distances are kept.

    Attributes
    ----------
    pairs : ndarray of shape (n_links, 2)
        The points.
    lengths : ndarray of shape (n_links,)
        Their distances τ.
    """

    pairs: IntArray
    lengths: FloatArray


def choose_links(
    points: FloatArray, graph: NeighborGraph, labels: IntArray, n_links: int
) -> SeamLinks:
    """Return short edges between every two neighboring tesserae, spread along their seam.

    The shortest edges of all often lie side by side, and hold two tesserae like a ball joint. So
    the seam (the edges' midpoints on their first principal axis) is cut into as many equal
    intervals as links are wanted, and the shortest edge of every interval is kept.

    In many dimensions every two tesserae are neighbors. A seam counts if it is among the 8 with the
    most edges at one of its tesserae, or is needed to connect all tesserae.
    """
    sides = np.sort(labels[graph.edges], axis=1)
    between = np.flatnonzero(sides[:, 0] != sides[:, 1])
    if len(between) == 0:
        return SeamLinks(np.empty((0, 2), dtype=np.intp), np.empty(0))
    first, second = sides[between].T
    between = between[np.lexsort((graph.lengths[between], second, first))]
    key = sides[between, 0].astype(np.int64) * (int(labels.max()) + 1) + sides[between, 1]
    seams = np.split(between, np.flatnonzero(key[1:] != key[:-1]) + 1)
    ends = sides[[seam[0] for seam in seams]]
    kept = _widest_seams(ends, np.array([len(seam) for seam in seams]))
    chosen = np.concatenate(
        [_spread(points, graph.edges[seams[s]], n_links, seams[s]) for s in kept]
    )
    return SeamLinks(graph.edges[chosen], graph.lengths[chosen].astype(np.float64))


def _widest_seams(ends: IntArray, n_edges: IntArray) -> IntArray:
    """Return the seams with the most edges at one of their two tesserae, and a spanning forest."""
    both, number = ends.ravel(), np.repeat(np.arange(len(ends)), 2)
    order = np.lexsort((-np.repeat(n_edges, 2), both))
    begins = np.searchsorted(both[order], both[order])
    kept = number[order][np.arange(len(order)) - begins < MOST_SEAMS]
    n_tesserae = int(ends.max()) + 1
    weights = 1.0 / n_edges
    graph = sp.csr_array((weights, (ends[:, 0], ends[:, 1])), shape=(n_tesserae, n_tesserae))
    forest = minimum_spanning_tree(graph).tocoo()
    keys = ends[:, 0].astype(np.int64) * n_tesserae + ends[:, 1]
    held = np.searchsorted(keys, forest.row.astype(np.int64) * n_tesserae + forest.col)
    return np.union1d(kept, held)


def _spread(points: FloatArray, edges: IntArray, n_links: int, seam: IntArray) -> IntArray:
    """Return the shortest edge in each of equal intervals of a seam, given edges by length."""
    if len(seam) <= n_links:
        return seam
    middles = points[edges].mean(axis=1, dtype=np.float64)
    middles -= middles.mean(axis=0)
    along = middles @ np.linalg.svd(middles, full_matrices=False)[2][0]
    along -= along.min()
    extent = float(along.max()) or 1.0
    interval = np.minimum((along / extent * n_links).astype(np.intp), n_links - 1)
    return seam[np.sort(np.unique(interval, return_index=True)[1])]
