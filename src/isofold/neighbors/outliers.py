"""Outliers: small groups of nodes that only edges far longer than others connect to the rest.

Outliers have neighbors like all other points, but those do not have *them*: the edge that joins
an outlier to the data is long beside the other edges at its inner end.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.neighbors.graph import NeighborGraph
from isofold.neighbors.spanning import component_labels

__all__ = ["find_outliers", "find_settled"]

LONG_EDGE = 2.5
"""An edge is long if it exceeds the mean edge at one of its ends by this factor: in a sheet of
uniform points the longest mutual edge of a node is below twice its mean."""

FEW_EDGES, LONGISH_EDGE = 5.0, 1.3
"""A node with fewer edges than the median node has, by this factor, is loosely attached: an edge of
it is cut if it exceeds the mean edge at one of its ends by the second factor."""

LARGEST_OUTLIER_FRACTION, SPARSE = 0.005, 3.0
"""Fraction of the nodes from which on a group is part of the data in any case, and mean edge over
that of all from which on a smaller one is only a cloud of outliers."""

LARGEST_CLOUD_FRACTION, VERY_SPARSE = 0.05, 10.0
"""The same for groups that are very sparse: a hundredth of the density of a sheet, or less."""


WIDER_SPACING, FAR_WIDER_SPACING, HOPS = 1.6, 3.5, 3
"""Mean edge over that of the neighbors, and over that typical within some hops, up to which a node
lies among nodes of its own density. Sheets ten times denser on one side have edges three times as
long on the other."""


def find_settled(graph: NeighborGraph) -> BoolArray:
    """Return which nodes are among nodes of their own density: fit to be the center of a patch.

    Parameters
    ----------
    graph : NeighborGraph
        A mutual graph, completed by edges that join its components.

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
    is_settled = (spacing <= WIDER_SPACING * around) & (spacing * density <= FAR_WIDER_SPACING)
    return np.asarray(is_settled)


def find_outliers(graph: NeighborGraph, *, least: int) -> BoolArray:
    """Return which nodes are outliers.

    Parameters
    ----------
    graph : NeighborGraph
        A mutual graph, completed by edges that join its components.
    least : int
        Groups of fewer nodes are outliers.

    Returns
    -------
    ndarray of bool of shape (n_nodes,)
        True for nodes in groups that only long edges, or few, or none connect to the rest: groups
        of fewer than `least` nodes, and larger ones that are sparse beside the rest: up to a
        fraction of 0.005, or 0.05 if they are very sparse.
    """
    n, ends, lengths, spacing = graph.n_nodes, graph.edges, graph.lengths, _mean_edges(graph)
    is_cut = lengths > LONG_EDGE * np.minimum(spacing[ends[:, 0]], spacing[ends[:, 1]])
    # Nodes with few edges are cut off by edges that are less long.
    few = np.median(graph.degrees) / FEW_EDGES
    longish = lengths > LONGISH_EDGE * np.minimum(spacing[ends[:, 0]], spacing[ends[:, 1]])
    is_cut |= longish & (graph.degrees[ends] <= few).any(axis=1)
    labels = component_labels(n, ends[~is_cut])
    sizes = np.bincount(labels)
    inner = labels[ends[~is_cut, 0]]
    count = np.maximum(np.bincount(inner, minlength=len(sizes)), 1)
    own_spacing = np.bincount(inner, lengths[~is_cut], minlength=len(sizes)) / count
    usual = np.median(spacing)
    is_sparse = (own_spacing > SPARSE * usual) & (sizes < LARGEST_OUTLIER_FRACTION * n)
    is_cloud = (own_spacing > VERY_SPARSE * usual) & (sizes < LARGEST_CLOUD_FRACTION * n)
    is_outlier = (sizes < least) | is_sparse | is_cloud
    if is_outlier.all():
        return np.zeros(n, dtype=bool)
    return np.asarray(is_outlier[labels])


def _mean_edges(graph: NeighborGraph) -> FloatArray:
    """Return the mean length of the edges at every node."""
    both = np.concatenate([graph.lengths, graph.lengths])
    total = np.bincount(graph.edges.T.ravel(), both, minlength=graph.n_nodes)
    return total / np.maximum(graph.degrees, 1)
