"""Clusters along a spanning tree: what the tree links closely stays together."""

from __future__ import annotations

import numpy as np

from isofold._typing import IntArray
from isofold.neighbors import SpanningTree

__all__ = ["tree_clusters"]


def tree_clusters(tree: SpanningTree, *, least: int) -> IntArray:
    """Join points along a spanning tree, shortest edge first, until clusters have a size.

    An edge joins two clusters unless both have the least size already. The clusters follow the
    tree, so that they may be chains: the thesis found their planes to be of little use.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import euclidean_spanning_tree
    >>> tree = euclidean_spanning_tree(np.array([[0.0], [1.0], [5.0], [6.5]]))
    >>> tree_clusters(tree, least=2)
    array([0, 0, 1, 1])
    """
    parent = np.arange(tree.n_nodes)
    size = np.ones(tree.n_nodes, dtype=np.intp)
    for first, second in tree.edges[np.argsort(tree.lengths, kind="stable")]:
        one, other = _root(parent, first), _root(parent, second)
        if size[one] < least or size[other] < least:
            low, high = min(one, other), max(one, other)
            parent[high] = low
            size[low] += size[high]
    roots = np.array([_root(parent, node) for node in range(tree.n_nodes)])
    labels: IntArray = np.unique(roots, return_inverse=True)[1]
    return labels


def _root(parent: IntArray, node: int) -> int:
    """Return the first point of a node's cluster, and shorten the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
