"""Connected clusters: what a clustering puts together, but the graph does not, is taken apart.

A clustering by straight distances may put points of two layers of a roll into one cluster. No
chart is true to both. Each fragment, a part that is connected along the graph, becomes a cluster of
its own, and small ones go to the cluster with which they have most edges.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.neighbors.spanning import component_labels

__all__ = ["absorb_fragments", "connected_clusters", "count_fragments"]

LEAST_FRAGMENT = 0.25
"""Split-off fragments below this fraction of the median cluster are no clusters of their own."""


def connected_clusters(
    points: FloatArray,
    labels: IntArray,
    graph: NeighborGraph,
    *,
    n_components: int,
    centers: FloatArray | None = None,
) -> tuple[IntArray, FloatArray | None]:
    """Take apart the clusters that are not connected along the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> line = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> graph = build_graph(line, n_neighbors=1)
    >>> connected_clusters(line, np.array([0, 0, 1, 1, 0, 0]), graph, n_components=1)
    (array([0, 0, 1, 1, 2, 2]), None)
    """
    if graph.n_nodes != len(points):
        msg = (
            f"The graph has {graph.n_nodes} nodes, but there are {len(points)} points. Pass the "
            f"points at its nodes, points[graph.sample_of_node], and their labels."
        )
        raise InvalidInputError(msg)
    fragments = _fragments_of(graph, labels)
    sizes = np.bincount(labels)
    if fragments.max() + 1 == len(sizes):
        return labels, centers
    least = max(n_components + 1, LEAST_FRAGMENT * float(np.median(sizes)))
    absorbed = _absorbed(labels, fragments, graph.edges, least=least)
    fragments = _fragments_of(graph, absorbed)
    label_of, _, is_largest = _describe(fragments, absorbed)
    new_labels = np.where(is_largest, label_of, len(sizes) + np.cumsum(~is_largest) - 1)[fragments]
    if centers is None:
        return new_labels, None
    counts, changed = np.bincount(new_labels), new_labels != labels
    means = [np.bincount(new_labels, column) / counts for column in points.T]
    new_centers = np.column_stack(means).astype(centers.dtype)
    is_same = np.arange(len(counts)) < len(centers)
    is_same[labels[changed]] = is_same[new_labels[changed]] = False
    new_centers[is_same] = centers[is_same[: len(centers)]]
    return new_labels, new_centers


def count_fragments(labels: IntArray, graph: NeighborGraph) -> IntArray:
    """Return into how many fragments every cluster falls along the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> graph = build_graph(np.arange(6.0)[:, None], n_neighbors=2)
    >>> count_fragments(np.array([0, 0, 1, 1, 1, 0]), graph)
    array([2, 1])
    """
    # Vertices are the different pairs of cluster and node, for copies may be in several clusters.
    pairs = np.unique(labels.astype(np.int64) * graph.n_nodes + graph.node_of_sample)
    clusters, nodes = np.divmod(pairs, graph.n_nodes)
    adjacency = graph.adjacency
    degrees = np.diff(adjacency.indptr)[nodes]
    begins = np.repeat(adjacency.indptr[nodes] - np.cumsum(degrees) + degrees, degrees)
    neighbors = adjacency.indices[begins + np.arange(degrees.sum())]
    wanted = np.repeat(clusters, degrees) * graph.n_nodes + neighbors
    found = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    is_inside = pairs[found] == wanted
    ends = np.column_stack([np.repeat(np.arange(len(pairs)), degrees), found])[is_inside]
    fragments = component_labels(len(pairs), ends)
    _, first = np.unique(fragments, return_index=True)
    return np.bincount(clusters[first], minlength=int(labels.max()) + 1)


def absorb_fragments(labels: IntArray, graph: NeighborGraph) -> IntArray:
    """Give all but the largest fragment of every cluster to clusters that they have edges with."""
    fragments = _fragments_of(graph, labels)
    if fragments.max() + 1 == labels.max() + 1:
        return labels
    return _absorbed(labels, fragments, graph.edges, least=np.inf)


def _fragments_of(graph: NeighborGraph, labels: IntArray) -> IntArray:
    """Return the fragment of every point: what edges inside of clusters connect."""
    ends = labels[graph.edges]
    return component_labels(graph.n_nodes, graph.edges[ends[:, 0] == ends[:, 1]])


def _describe(fragments: IntArray, labels: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the label and size of every fragment, and whether it is the largest of its cluster."""
    sizes = np.bincount(fragments)
    label_of = np.empty(len(sizes), dtype=np.int64)
    label_of[fragments] = labels
    order = np.lexsort((-sizes, label_of))
    is_largest = np.zeros(len(sizes), dtype=bool)
    is_largest[order[np.append(True, np.diff(label_of[order]) > 0)]] = True
    return label_of, sizes, is_largest


def _absorbed(labels: IntArray, fragments: IntArray, edges: IntArray, *, least: float) -> IntArray:
    """Return labels with which small fragments belong to the clusters they have most edges with."""
    label_of, sizes, is_largest = _describe(fragments, labels)
    is_small = ~is_largest & (sizes < least)
    n_labels = int(labels.max()) + 1
    ends = fragments[edges]
    ends = np.concatenate([ends, ends[:, ::-1]])
    while True:
        links = ends[is_small[ends[:, 0]] & ~is_small[ends[:, 1]]]
        if not len(links):
            return label_of[fragments]
        keys = links[:, 0] * n_labels + label_of[links[:, 1]]
        pairs, counts = np.unique(keys, return_counts=True)
        moved, clusters = np.divmod(pairs, n_labels)
        # What is written last stays: the cluster with most edges, of equals the first.
        order = np.lexsort((-clusters, counts))
        label_of[moved[order]] = clusters[order]
        is_small[moved] = False
