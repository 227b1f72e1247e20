"""Graphs and sheets whose unfolding is known, for tests of MVU and what lies below it."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from isofold.exceptions import DoubtfulMapWarning
from isofold.neighbors import NeighborGraph


def sparse_graph(n, edges, lengths):
    """Return a graph of lengths as a user would give it: a sparse matrix, each edge once."""
    first, second = np.asarray(edges).T
    return sp.csr_array((np.broadcast_to(lengths, len(first)), (first, second)), shape=(n, n))


def neighbor_graph(n, edges, lengths, is_bridge=None):
    """Return the `NeighborGraph` of edges (i < j, in order) between samples that all differ."""
    edges = np.asarray(edges, dtype=np.intp).reshape(-1, 2)
    every = np.arange(n)
    return NeighborGraph(
        n_nodes=n,
        edges=edges,
        lengths=np.array(np.broadcast_to(np.asarray(lengths, dtype=float), len(edges))),
        node_of_sample=every,
        sample_of_node=every,
        is_bridge=np.zeros(len(edges), dtype=bool) if is_bridge is None else np.array(is_bridge),
    )


def grid(n_rows, n_columns, step=(1.0, 1.0)):
    """Return the nodes of a flat grid."""
    rows, columns = np.mgrid[:n_rows, :n_columns]
    return np.column_stack([step[0] * columns.ravel(), step[1] * rows.ravel()])


def bent_grid(n_rows, n_columns, angle=0.3):
    """Return a grid of unit chords along a cylinder, and the flat grid that it was.

    Four nodes of a mesh lie in a plane, a unit square: all distances up to its diagonal are those
    of the flat grid.
    """
    turn = angle * np.arange(n_columns)
    radius = 0.5 / np.sin(angle / 2)
    columns = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    flat = grid(n_rows, n_columns)
    return np.column_stack([columns[flat[:, 0].astype(int)], flat[:, 1]]), flat


def variance(points):
    """Return the trace of the centered Gram matrix."""
    return float(((points - points.mean(axis=0)) ** 2).sum())


def fit_quietly(model, X):
    """Fit a model whose doubts are not what is tested."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)
