"""Joining components by bridges, every one of them recorded.

The distance of two components is that of their closest points. Costa's three strategies:

(a) *largest*: join the largest component to its closest, until one is left. The joined
    component stays the largest, so this is Prim's algorithm on the components.
(b) *closest*: join every component to its l closest.
(c) *nearest*: join every component to its closest, again and again. This is Borůvka's.

Both (a) and (c) therefore end in the minimum spanning tree of the components, and with
distinct distances in the same one: C - 1 bridges of least total length.

References
----------
Costa, J. Maximum variance unfolding on disjoint manifolds. MSc thesis, Lisbon, section 3.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_count
from isofold.exceptions import InvalidInputError
from isofold.neighbors.components import Components, connected_components
from isofold.neighbors.duplicates import Distinct
from isofold.neighbors.graph import (
    NeighborGraph,
    check_same_samples,
    least_distances,
    points_of_nodes,
)
from isofold.neighbors.nearest_other import (
    NearestOtherOfDistances,
    NearestOtherOfPoints,
    NearestOtherSearch,
)
from isofold.neighbors.precomputed import check_distances
from isofold.neighbors.search.build import METRICS
from isofold.neighbors.spanning import join_components

STRATEGIES = ("largest", "closest", "nearest")


def connect(
    X: Any,
    graph: NeighborGraph,
    *,
    strategy: str = "largest",
    n_links: int = 1,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Return a connected graph, with bridges where the given one is disconnected.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The samples of the graph: points, or dense distances if `metric` is "precomputed".
    graph : NeighborGraph
        The graph of these samples.
    strategy : {"largest", "closest", "nearest"}, default="largest"
        Which components to join. "largest" and "nearest" give the minimum spanning tree of
        the components. "closest" joins every component to its `n_links` closest, which may
        form cycles; if components are left, they are joined as by "nearest".
    n_links : int, default=1
        How many others "closest" joins a component to (all others at most). The other
        strategies have no use for it.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NeighborGraph
        The graph with its bridges in `is_bridge`; the same object if it was connected.

    Raises
    ------
    InvalidInputError
        If `X` does not hold the samples of the graph, or is a sparse graph itself: that has
        no distances between its components.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> points = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> connect(points, build_graph(points, n_neighbors=1)).bridges
    array([[1, 2]])
    """
    check_choice(strategy, STRATEGIES, name="strategy")
    n_links = check_count(n_links, name="n_links")
    source = _foreign_search(X, graph, metric=metric, n_jobs=n_jobs)
    components = connected_components(graph)
    if components.n_components == 1:
        return graph
    if strategy != "closest":
        return graph.with_bridges(*join_components(source, components.labels))
    linked = graph.with_bridges(*_closest_links(source, components, n_links))
    labels = connected_components(linked).labels
    return linked.with_bridges(*join_components(source, labels))


def _foreign_search(
    X: Any, graph: NeighborGraph, *, metric: str, n_jobs: int | None
) -> NearestOtherSearch:
    """Return the distances among the nodes of a graph, from its samples."""
    check_choice(metric, METRICS, name="metric")
    if metric == "precomputed" and sp.issparse(X):
        msg = (
            "A sparse precomputed graph holds no distances between its components, so nothing "
            "says which are close. Pass the points or dense distances, or treat the components "
            "one by one."
        )
        raise InvalidInputError(msg)
    if metric == "euclidean":
        return NearestOtherOfPoints(points_of_nodes(X, graph), n_jobs=n_jobs)
    distances = check_distances(X)
    check_same_samples(distances, graph)
    nodes = Distinct(graph.node_of_sample, graph.sample_of_node)
    return NearestOtherOfDistances(least_distances(distances, nodes))


def _closest_links(
    source: NearestOtherSearch, components: Components, n_links: int
) -> tuple[IntArray, FloatArray]:
    """Return the closest points between every component and its `n_links` closest ones."""
    gaps, near_ends, far_ends = _component_gaps(source, components)
    n_links = min(n_links, components.n_components - 1)
    # The diagonal is infinite and sorts last, so that no component is joined to itself.
    closest = np.argsort(gaps, axis=1, kind="stable")[:, :n_links]
    rows = np.repeat(np.arange(components.n_components), n_links)
    columns = closest.ravel()
    edges = np.stack([near_ends[rows, columns], far_ends[rows, columns]], axis=1)
    return edges, gaps[rows, columns]


def _component_gaps(
    source: NearestOtherSearch, components: Components
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the distance of every two components and the nodes at its two ends.

    Every component but the largest is compared with all nodes: at most n²/2 distances, of
    which a block at a time is kept. The diagonal is infinite.
    """
    n_components = components.n_components
    require_memory(
        n_components**2 * 24,
        what=f"The distances between {n_components} components",
        instead='Use strategy="nearest", which does not need them all.',
    )
    gaps = np.full((n_components, n_components), np.inf)
    near_ends = np.zeros((n_components, n_components), dtype=np.intp)
    far_ends = np.zeros_like(near_ends)
    members = components.members()
    for own in range(1, n_components):
        # Larger components come first, and these have not met this one yet.
        others = np.concatenate(members[:own])
        starts = np.cumsum(components.sizes[:own]) - components.sizes[:own]
        step = block_rows(source.n_points * 16, len(members[own]))
        for start in range(0, len(members[own]), step):
            queries = members[own][start : start + step]
            block = source.rows(queries)[:, others]
            nearest_row = block.argmin(axis=0)
            column_gaps = block[nearest_row, np.arange(len(others))]
            order = np.lexsort((column_gaps, components.labels[others]))
            best = order[starts]
            nearer = np.flatnonzero(column_gaps[best] < gaps[own, :own])
            best = best[nearer]
            gaps[own, nearer] = gaps[nearer, own] = column_gaps[best]
            near_ends[own, nearer] = far_ends[nearer, own] = queries[nearest_row[best]]
            far_ends[own, nearer] = near_ends[nearer, own] = others[best]
    return gaps, near_ends, far_ends
