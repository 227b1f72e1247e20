"""The enhanced neighborhood graph (ENG): several links between near components.

A single bridge leaves two components free to rotate about it. ENG adds links while their
directions stay within as many dimensions as the neighborhoods of the data: with d the
intrinsic dimension, σ the singular values of a centered neighborhood of k points in R^D and
Δ (l × D) the differences along the l shortest links,

    η = mean over points of (σ_1 + … + σ_d) / (σ_1 + … + σ_min(D,k)),
    η(l) = the same fraction for the singular values of Δ,

links are added as long as η(l) >= η. Three points that the source leaves open or misprints
are settled here: the differences are taken in input space (D columns, not d); d + 1 links
are kept even if they fail the test, or nothing would ever be joined; and a point may be the
end of several links, as the l shortest pairs demand.

References
----------
Fan, M. et al. (2018), as described in Costa, J., Maximum variance unfolding on disjoint
manifolds, MSc thesis, Lisbon, section 2.3.2, equations 2.54 to 2.57.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count
from isofold.neighbors.components import Components, connected_components
from isofold.neighbors.dimension import levina_bickel_dimension, local_singular_values
from isofold.neighbors.graph import DEFAULT_N_NEIGHBORS, NeighborGraph, points_of_nodes
from isofold.neighbors.nearest_other import NearestOtherOfPoints
from isofold.neighbors.search.build import build_search, choose_method, make_search
from isofold.neighbors.search.protocol import NeighborSearch

# Shortest pairs looked up at first, doubled as long as links are still wanted, and the
# length of the neighbor lists they come from, doubled as long as they are too short.
_FIRST_PAIRS = 32
_FIRST_LIST = 8


def enhance(
    X: Any,
    graph: NeighborGraph,
    *,
    n_neighbors: int = DEFAULT_N_NEIGHBORS,
    dimension: int | None = None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Return a connected graph, with several links where the given one is disconnected.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The points of the graph.
    graph : NeighborGraph
        The graph of these points.
    n_neighbors : int, default=12
        Size k of the neighborhoods whose directions are compared, lowered to what the number
        of distinct points allows.
    dimension : int or None, default=None
        Intrinsic dimension d; by default the rounded Levina-Bickel estimate.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NeighborGraph
        The graph with every link recorded in `is_bridge`; the same object if it was
        connected. Two joined components share at least d + 1 links, or as many as the
        smaller of them has nodes.

    Raises
    ------
    InvalidInputError
        If `X` does not hold the samples of the graph.

    Notes
    -----
    If the data have no more columns than d, every fraction is 1 and as many links are added as
    the smaller component has nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import build_graph
    >>> square = np.random.RandomState(0).rand(60, 2) @ [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> points = np.concatenate([square, square + [3.0, 0.0, 0.0]])
    >>> joined = enhance(points, build_graph(points, n_neighbors=6))
    >>> len(joined.bridges) >= 3
    True
    """
    points = points_of_nodes(X, graph).astype(np.float64, copy=False)
    k = min(check_count(n_neighbors, name="n_neighbors", minimum=2), len(points) - 1)
    if dimension is not None:
        check_count(dimension, name="dimension")
    if connected_components(graph).n_components == 1:
        return graph
    if dimension is None:
        dimension = levina_bickel_dimension(points, n_jobs=n_jobs).rounded
    d = min(dimension, points.shape[1])
    fraction = _neighborhood_fraction(points, k, d, n_jobs=n_jobs)
    source = NearestOtherOfPoints(points, n_jobs=n_jobs)
    while (components := connected_components(graph)).n_components > 1:
        members = components.members()
        links = [
            _links(points, members[p], members[q], fraction=fraction, d=d, n_jobs=n_jobs)
            for p, q in _closest_pairs(source, components)
        ]
        edges = np.concatenate([pair_edges for pair_edges, _ in links])
        lengths = np.concatenate([pair_lengths for _, pair_lengths in links])
        graph = graph.with_bridges(edges, lengths)
    return graph


def _neighborhood_fraction(points: FloatArray, k: int, d: int, *, n_jobs: int | None) -> float:
    """Return η, the mean fraction of the d leading singular values (equations 2.54 and 2.55)."""
    neighbors = build_search(points, n_jobs=n_jobs).query_self(k).indices
    fractions = [
        _leading_fraction(values, d) for values in local_singular_values(points, neighbors)
    ]
    return float(np.concatenate(fractions).mean())


def _leading_fraction(values: FloatArray, d: int) -> FloatArray:
    """Return the fraction of the d leading values in every row's sum, 1 if there is nothing."""
    leading, total = values[..., :d].sum(axis=-1), values.sum(axis=-1)
    fraction: FloatArray = np.divide(leading, total, out=np.ones_like(total), where=total > 0)
    return fraction


def _closest_pairs(source: NearestOtherOfPoints, components: Components) -> IntArray:
    """Return every component with its closest one, each pair once, shape (n_pairs, 2)."""
    labels = components.labels
    asking = source.promising(labels, labels, np.arange(len(labels)))
    distances, nearest = source.nearest_foreign(labels, asking)
    order = np.lexsort((distances, labels[asking]))
    first = np.searchsorted(labels[asking[order]], np.arange(components.n_components))
    closest = labels[nearest[order[first]]]
    pairs = np.stack([np.arange(components.n_components), closest], axis=1)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _links(
    points: FloatArray,
    larger: IntArray,
    smaller: IntArray,
    *,
    fraction: float,
    d: int,
    n_jobs: int | None,
) -> tuple[IntArray, FloatArray]:
    """Return the shortest links between two components while their directions allow."""
    there = points[larger]
    search = make_search(there, method=choose_method(there), n_jobs=n_jobs)
    most = len(smaller)
    least = min(d + 1, most)
    n_known, n_links = 0, least
    while True:
        if n_links > n_known:
            n_known = min(max(_FIRST_PAIRS, 2 * n_links), most)
            heads, tails, lengths = _shortest_pairs(search, points[smaller], n_known)
            differences = there[heads] - points[smaller[tails]]
        values = np.linalg.svd(differences[:n_links], compute_uv=False)
        if _leading_fraction(values, d) < fraction:
            n_links = max(least, n_links - 1)
            break
        if n_links == most:
            break
        n_links += 1
    edges = np.stack([larger[heads[:n_links]], smaller[tails[:n_links]]], axis=1)
    return edges, lengths[:n_links]


def _shortest_pairs(
    search: NeighborSearch, points: FloatArray, n_pairs: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the shortest pairs (indexed point, given point, length), ascending.

    Points whose list is shorter than the worst pair kept may take part in further pairs; only
    they are asked for longer lists.
    """
    heads, tails = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    lengths = np.empty(0)
    pending, k = np.arange(len(points)), min(_FIRST_LIST, search.n_points)
    while len(pending):
        found = search.query(points[pending], k)
        settled = ~np.isin(tails, pending)
        heads = np.concatenate([heads[settled], found.indices.ravel()])
        tails = np.concatenate([tails[settled], np.repeat(pending, k)])
        lengths = np.concatenate([lengths[settled], found.distances.ravel()])
        order = np.lexsort((heads, tails, lengths))[:n_pairs]
        heads, tails, lengths = heads[order], tails[order], lengths[order]
        if k == search.n_points:
            break
        limit = lengths[-1] if len(lengths) == n_pairs else np.inf
        pending = pending[found.distances[:, -1] < limit]
        k = min(2 * k, search.n_points)
    return heads, tails, lengths
