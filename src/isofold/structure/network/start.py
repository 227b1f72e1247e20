"""Where a network starts from: shortest paths to landmarks, scaled, and fitted to the anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isofold._typing import FloatArray, IntArray
from isofold.linalg import landmark_scaling, procrustes

__all__ = ["start_layout"]

N_LANDMARKS = 100
"""Landmarks of a component: anchors, and other nodes if there are too few."""

FLAT = 1e-9
"""Eigenvalue, relative to the largest, below which landmarks do not extend along an axis."""


def start_layout(
    n_nodes: int,
    pairs: IntArray,
    ranges: FloatArray,
    anchors: IntArray,
    positions: FloatArray,
    n_components: int,
    rng: Any,
) -> FloatArray:
    """Return coordinates of a connected network, near its anchors if it has any.

    With enough anchors the fit is affine: paths are longer than distances, and not equally in all
    directions.
    """
    marks = _landmarks(n_nodes, anchors, rng)
    # Dijkstra needs positive lengths: a range of zero would be no edge.
    lengths = np.maximum(ranges, np.finfo(np.float64).tiny)
    graph = sp.coo_array((lengths, (pairs[:, 0], pairs[:, 1])), (n_nodes, n_nodes)).tocsr()
    paths = dijkstra(graph, directed=False, indices=marks)
    n_axes = min(n_components, len(marks))
    scaled = landmark_scaling(paths**2, marks, n_axes, tol=FLAT)
    Y = np.pad(scaled, ((0, 0), (0, n_components - scaled.shape[1])))
    if not len(anchors):
        return Y
    if len(anchors) >= 3 * (n_components + 1):
        source = np.column_stack([Y[anchors], np.ones(len(anchors))])
        fitted = np.linalg.lstsq(source, positions, rcond=None)[0]
        Y = np.column_stack([Y, np.ones(n_nodes)]) @ fitted
    else:
        scale = len(anchors) > n_components
        Y = procrustes(Y[anchors], positions, scale=scale).transform.apply(Y)
    Y[anchors] = positions
    return Y


def _landmarks(n_nodes: int, anchors: IntArray, rng: Any) -> IntArray:
    """Return anchors drawn at random, and other nodes where there are not enough."""
    others = np.setdiff1d(np.arange(n_nodes), anchors)
    order = np.concatenate([rng.permutation(anchors), rng.permutation(others)])
    n_anchored = min(len(anchors), N_LANDMARKS)
    few = N_LANDMARKS if n_anchored < N_LANDMARKS // 2 else n_anchored
    return np.sort(order[:few]).astype(np.intp)
