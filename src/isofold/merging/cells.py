"""Points cut into cells of about one size, by one of several clusterings."""

from __future__ import annotations

import numpy as np
from sklearn import config_context

from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.clustering.balanced import balanced_clusters, join_small
from isofold.linalg import principal_coordinates
from isofold.merging.rules import RULES, MergingRules
from isofold.neighbors import SpanningTree, euclidean_spanning_tree

__all__ = ["CLUSTERINGS", "compressed", "cut_cells", "tree_clusters"]

CLUSTERINGS = ("balanced", "gmm", "mst")


def compressed(points: FloatArray, rules: MergingRules = RULES) -> FloatArray:
    """Return points in their widest principal axes, if they have many."""
    if points.shape[1] <= rules.most_axes:
        return points
    return principal_coordinates(points, min(rules.most_axes, len(points))).coordinates


@stage("cells")
def cut_cells(
    points: FloatArray,
    size: int,
    *,
    clustering: str,
    least: int,
    seed: int,
    is_quick: bool = False,
    n_jobs: int | None = None,
    rules: MergingRules = RULES,
) -> IntArray:
    """Cut points into cells."""
    n = len(points)
    least = min(n, max(least, (size + 1) // 2))
    n_cells = max(1, n // max(size, least))
    if clustering == "balanced":
        found = balanced_clusters(
            points, n_cells, least=least, is_quick=is_quick, random_state=seed, n_jobs=n_jobs
        )
        return found.labels
    if clustering == "mst":
        return tree_clusters(euclidean_spanning_tree(points, n_jobs=n_jobs), least=least)
    # Imported late: it would lengthen ``import isofold``.
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(min(rules.most_gaussians, n_cells), random_state=seed)
    # Whatever the user has set: these are arrays of NumPy.
    with config_context(array_api_dispatch=False):
        found = mixture.fit_predict(points)
    return join_small(points, np.unique(found, return_inverse=True)[1], least)


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
    """Return the first point of a node's cluster, and shorten the path to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
