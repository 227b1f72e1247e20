"""Strays: small groups of nodes that hang on the rest by edges far too long for the place.

Outliers have neighbors like all other points, but those do not have *them*: the edge that joins
an outlier to the data is long beside the other edges at its inner end.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.neighbors.graph import NeighborGraph
from isofold.neighbors.spanning import component_labels

__all__ = ["find_outliers", "find_settled"]

LONG = 2.5
"""An edge is long if it exceeds the mean edge at one of its ends by this factor: in a sheet of
uniform points the longest mutual edge of a node is below twice its mean."""

FEW, LONGISH = 5.0, 1.3
"""A node with fewer edges than the median node has, by this factor, hangs by a thread, which is cut
if it exceeds the mean edge at one of its ends by the second."""

SMALL_SHARE, THIN = 0.005, 3.0
"""Share of the nodes from which on a group is part of the data in any case, and mean edge over that
of all from which on a smaller one is but a cloud of outliers."""


WIDER, FAR_WIDER, HOPS = 1.6, 3.5, 3
"""Mean edge over that of the neighbors, and over that typical within some hops, up to which a node
is amid its own kind. Sheets ten times denser on one side have edges three times as long on the
other."""


def find_settled(graph: NeighborGraph) -> BoolArray:
    """Return which nodes are amid their own kind: fit to be the center of a patch.

    Parameters
    ----------
    graph : NeighborGraph
        A mutual graph, completed by edges that join its pieces.

    Returns
    -------
    ndarray of bool of shape (n_nodes,)
        True where edges are about as long as those around.
    """
    spacing = _mean_edges(graph)
    links = graph.adjacency.copy()
    links.data = np.ones_like(links.data, dtype=np.float64)
    degrees = np.maximum(graph.degrees, 1)
    around = (links @ spacing) / degrees
    # Means of 1/length, since those of length would be ruled by the outliers.
    density = 1.0 / np.maximum(spacing, np.finfo(np.float64).tiny)
    for _ in range(HOPS):
        density = (links @ density) / degrees
    is_settled = (spacing <= WIDER * around) & (spacing * density <= FAR_WIDER)
    return np.asarray(is_settled)


def find_outliers(graph: NeighborGraph, *, least: int) -> BoolArray:
    """Return which nodes are strays.

    Parameters
    ----------
    graph : NeighborGraph
        A mutual graph, completed by edges that join its pieces.
    least : int
        Groups of fewer nodes are strays.

    Returns
    -------
    ndarray of bool of shape (n_nodes,)
        True for nodes in groups that only long edges, or few, or none connect to the rest: groups
        of fewer than `least` nodes, and larger ones, up to a share of 0.005, that are thin beside
        the rest.
    """
    n, ends, lengths, spacing = graph.n_nodes, graph.edges, graph.lengths, _mean_edges(graph)
    is_cut = lengths > LONG * np.minimum(spacing[ends[:, 0]], spacing[ends[:, 1]])
    # What hangs on the rest by a thread, and a longish one, is cut as well.
    few = np.median(graph.degrees) / FEW
    longish = lengths > LONGISH * np.minimum(spacing[ends[:, 0]], spacing[ends[:, 1]])
    is_cut |= longish & (graph.degrees[ends] <= few).any(axis=1)
    labels = component_labels(n, ends[~is_cut])
    sizes = np.bincount(labels)
    inner = labels[ends[~is_cut, 0]]
    count = np.maximum(np.bincount(inner, minlength=len(sizes)), 1)
    own_spacing = np.bincount(inner, lengths[~is_cut], minlength=len(sizes)) / count
    is_thin = own_spacing > THIN * np.median(spacing)
    is_stray = (sizes < least) | (is_thin & (sizes < SMALL_SHARE * n))
    if is_stray.all():
        return np.zeros(n, dtype=bool)
    return np.asarray(is_stray[labels])


def _mean_edges(graph: NeighborGraph) -> FloatArray:
    """Return the mean length of the edges at every node."""
    both = np.concatenate([graph.lengths, graph.lengths])
    total = np.bincount(graph.edges.T.ravel(), both, minlength=graph.n_nodes)
    return total / np.maximum(graph.degrees, 1)
