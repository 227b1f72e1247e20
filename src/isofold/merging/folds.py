r"""Distances of means over the folds between planes (intersecting hyperplanes with Isomap).

Two hyperplanes with means m_i, m_j and unit normals n_i, n_j meet in a subspace. The shortest
path from m_i over it to m_j, laid flat, has the length

    √((a_i + a_j)² + s²),    a_i = |n_j·(m_i − m_j)| / √(1 − (n_i·n_j)²),

a_i the distance of m_i from that subspace and s how far the means are apart along it. (The thesis
adds the squares a_i² + a_j² and leaves s out.) Shortest paths over the nearest folds and classical
scaling place the means; cells are moved there as they are, without a rotation.

It needs hyperplanes, d = q + 1. The thesis tried it and gave it up.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isofold._findings import setting
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg import classical_scaling
from isofold.linalg.motions import RigidMotions
from isofold.merging.rules import RULES, MergingRules
from isofold.merging.walk import CellTree
from isofold.neighbors import build_search
from isofold.patches.planes import Planes

__all__ = ["fold_lengths", "place_means"]

PARALLEL = 1e-12
"""Squared sine of the angle below which planes count as parallel."""


def fold_lengths(planes: Planes, pairs: IntArray) -> FloatArray:
    """Return the lengths of the paths between means of hyperplanes over their folds."""
    first, second = pairs.T
    normals = _normals(planes)
    between = planes.means[second] - planes.means[first]
    straight = np.einsum("ij,ij->i", between, between)
    cosines = np.einsum("ij,ij->i", normals[first], normals[second])
    sines = 1.0 - cosines**2
    ahead = np.einsum("ij,ij->i", between, normals[second])
    back = np.einsum("ij,ij->i", between, normals[first])
    # What lies across the fold, of either plane.
    is_fold = sines > PARALLEL
    safe = np.where(is_fold, sines, 1.0)
    across = (ahead**2 + back**2 - 2.0 * cosines * ahead * back) / safe
    along = np.maximum(straight - across, 0.0)
    arms = (np.abs(ahead) + np.abs(back)) / np.sqrt(safe)
    return np.sqrt(np.where(is_fold, arms**2 + along, straight))


def place_means(planes: Planes, tree: CellTree, *, rules: MergingRules = RULES) -> RigidMotions:
    """Place the cells of one tree by shortest paths over folds."""
    d, q = planes.axes.shape[1:]
    if d != q + 1:
        msg = (
            f"{setting('merge', 'isomap')} looks for the folds between hyperplanes, which have one "
            f"dimension less than the data, but {setting('n_components', q)} and X has {d} "
            f"features. Use {setting('merge', 'parallel')}, which takes any dimensions."
        )
        raise InvalidInputError(msg)
    c = planes.n_cells
    unmoved = RigidMotions.identity(c, q)
    if c == 1:
        return unmoved
    near = build_search(planes.means).query(planes.means, min(rules.n_candidates + 1, c)).indices
    pairs = np.stack([np.repeat(np.arange(c), near.shape[1]), near.ravel()], axis=1)
    lengths = fold_lengths(planes, pairs).reshape(near.shape)
    lengths[near == np.arange(c)[:, None]] = np.inf
    shortest = np.argsort(lengths, axis=1, kind="stable")[:, : min(rules.n_folds, c - 1)]
    rows = np.concatenate([np.repeat(np.arange(c), shortest.shape[1]), tree.edges[:, 0]])
    chosen = np.take_along_axis(near, shortest, axis=1).ravel()
    columns = np.concatenate([chosen, tree.edges[:, 1]])
    values = fold_lengths(planes, np.stack([rows, columns], axis=1))
    # A pair may be listed twice: the values are the same, and a sum of them would not be.
    keys = np.unique(rows * c + columns, return_index=True)[1]
    graph = sp.csr_array((values[keys], (rows[keys], columns[keys])), shape=(c, c))
    paths = dijkstra(graph, directed=False)
    layout = classical_scaling((paths**2 + paths.T**2) / 2, q)
    return RigidMotions(unmoved.rotations, layout.coordinates)


def _normals(planes: Planes) -> FloatArray:
    """Return the unit normal of every hyperplane."""
    return np.asarray(np.linalg.svd(planes.axes)[0][:, :, -1])
