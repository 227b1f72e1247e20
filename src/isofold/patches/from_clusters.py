"""Clusters made into patches: disjoint groups of points grown until they overlap.

Clusters with centers grow across their borders: a point x of the cluster around a also joins the
one around b if it is nearly as close to b,

    |x - b|² - |x - a|² ≤ 2τ |a - b|²,

that is, if it is within τ |a - b| of the plane halfway between the two, measured along a - b.
Layers of a roll may be close to each other only in space. So, where a graph is known, the points
that join a cluster must also be connected with it by edges between such points. Clusters without
centers grow along the graph alone, by all neighbors of their points, until they hold enough more.

Patches that ought to overlap but share fewer than r + 1 points (Theorem 1 of the thesis) then get
more: the ends of the edges between them, and neighbors of what they share.

References
----------
Khajehpour Tadavani, P. (2013). Nonlinear Dimensionality Reduction by Manifold Unfolding. PhD
thesis, University of Waterloo, chapter 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._memory import block_rows
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_same_rows
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph, shortest_edges
from isofold.neighbors.spanning import spanning_forest_of
from isofold.patches.cover import PatchCover
from isofold.patches.from_memberships import read_memberships

__all__ = ["cover_from_labels", "cover_from_memberships"]

# Error of stitched Swiss rolls relative to their size, worst of five clusterings, flat charts:
#   τ                                   0.05    0.1     0.15    0.2     0.3
#   20,000 points, 100 clusters         .011    .012    .013    .016    .024
#    1,500 points,  50 clusters         .049    .038    .041    .056    .090
#   10,000 noisy points, 60 clusters    .067    .032    .032    .036    .056
# Narrow overlaps do not hold against noise, wide ones make patches large and bent. Growth along the
# four shortest edges of every point: .018, .042, .030; along all edges .018, .049, .030.
OVERLAP = 0.1
"""τ: half the width of an overlap over the distance of the centers."""

GROWTH = 0.25
"""By which fraction of its points a cluster without a center grows, at least."""

RIM_NEIGHBORS = 4
"""Shortest edges of a point, along which clusters without centers grow: all make wide bent rims."""

REPAIR_ROUNDS = 5
"""How often overlaps are filled: more points in one may start another one that is too small."""


def cover_from_labels(
    points: FloatArray,
    labels: IntArray,
    *,
    n_components: int,
    graph: NeighborGraph | None = None,
    centers: FloatArray | None = None,
) -> PatchCover:
    """Grow disjoint clusters into overlapping patches.

    Examples
    --------
    >>> import numpy as np
    >>> line, labels = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    >>> centers = np.array([[2.5], [8.5]])
    >>> cover = cover_from_labels(line, labels, n_components=1, centers=centers)
    >>> cover.members_of(0), cover.members_of(1)
    (array([0, 1, 2, 3, 4, 5, 6]), array([ 5,  6,  7,  8,  9, 10, 11]))
    """
    r = check_count(n_components, name="n_components")
    n_clusters = _check_clusters(points, labels, graph, centers)
    n = len(points)
    if centers is not None:
        joining, patches = _near_borders(points, labels, centers)
        if graph is not None:
            kept = _connected_with_clusters(graph.adjacency, labels, joining, patches)
            joining, patches = joining[kept], patches[kept]
    elif graph is not None:
        joining, patches = _grown_along(shortest_edges(graph, RIM_NEIGHBORS), labels, n_clusters)
    else:
        msg = (
            "Clusters grow around centers or along a graph, and neither is given. Pass the graph "
            "of the points, or the centers of the clusters."
        )
        raise InvalidInputError(msg)
    # An entry is one number, patch · n + point, and a cover a sorted array of them.
    own = labels.astype(np.int64) * n + np.arange(n)
    entries = np.sort(np.concatenate([own, patches * n + joining]))
    if graph is not None:
        entries = _with_filled_overlaps(entries, graph, labels, least=r + 1)
    return _as_cover(points, entries, n_clusters, centers)


def cover_from_memberships(n_points: int, memberships: Any, points: FloatArray) -> PatchCover:
    """Take patches as they are given.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(4.0)[:, None]
    >>> cover = cover_from_memberships(4, [[0, 1, 2], [2, 3]], line)
    >>> cover.sizes, cover.seeds, cover.radii
    (array([3, 2]), array([1, 2]), array([1., 1.]))
    """
    check_same_rows(len(points), n_points, names=("points", "memberships"))
    patches, members = read_memberships(memberships, n_points)
    n_patches = int(patches[-1]) + 1
    missing = np.flatnonzero(np.bincount(members, minlength=n_points) == 0)
    if len(missing):
        msg = (
            f"{len(missing)} of {n_points} points are in no patch, the first of them point "
            f"{missing[0]}: nothing says where they belong. Add them to a patch, or leave them out."
        )
        raise InvalidInputError(msg)
    return _as_cover(points, np.sort(patches * n_points + members), n_patches, None)


def _check_clusters(
    points: FloatArray,
    labels: IntArray,
    graph: NeighborGraph | None,
    centers: FloatArray | None,
) -> int:
    """Return the number of clusters if everything belongs together."""
    check_same_rows(len(points), len(labels), names=("points", "labels"))
    n_clusters = int(labels.max()) + 1
    if labels.min() < 0 or not np.bincount(labels, minlength=n_clusters).all():
        msg = (
            f"labels run from {labels.min()} to {labels.max()}, but not every one of 0, …, "
            f"{labels.max()} occurs, and each makes a patch. Number them by "
            f"np.unique(labels, return_inverse=True)[1]."
        )
        raise InvalidInputError(msg)
    if centers is not None and centers.shape != (n_clusters, points.shape[1]):
        msg = (
            f"centers has shape {centers.shape}, but {n_clusters} clusters of points with "
            f"{points.shape[1]} columns need {(n_clusters, points.shape[1])}."
        )
        raise InvalidInputError(msg)
    if graph is not None and graph.n_nodes != len(points):
        msg = (
            f"The graph has {graph.n_nodes} nodes, but there are {len(points)} points. Pass the "
            f"points at its nodes, points[graph.sample_of_node], and their labels."
        )
        raise InvalidInputError(msg)
    return n_clusters


def shared_counts(
    members: IntArray, patches: IntArray, n_patches: int
) -> tuple[IntArray, IntArray]:
    """Return the pairs of patches that share points, and how many.

    Examples
    --------
    >>> import numpy as np
    >>> shared_counts(np.array([0, 1, 2, 1, 2, 3]), np.array([0, 0, 0, 1, 1, 1]), 2)
    (array([1]), array([2]))
    """
    n_points = int(members.max(initial=-1)) + 1
    ones = np.ones(len(members), dtype=np.int64)
    holds = sp.csr_array((ones, (patches, members)), shape=(n_patches, n_points))
    shared = sp.coo_array(sp.triu(holds @ holds.T, k=1))
    pairs = shared.row.astype(np.int64) * n_patches + shared.col
    order = np.argsort(pairs)
    return pairs[order], shared.data[order]


def _near_borders(
    points: FloatArray, labels: IntArray, centers: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return points and the further clusters whose centers are nearly as close as their own.

    With y = x - a and v = b - a the rule reads y·v ≥ (½ - τ)|v|². Since y·v ≤ |y||v|, centers at
    distances |v| > |y| / (½ - τ) need not be looked at.
    """
    reach_fraction = 0.5 - OVERLAP
    joining: list[IntArray] = [np.empty(0, dtype=np.int64)]
    patches: list[IntArray] = [np.empty(0, dtype=np.int64)]
    for label, members in enumerate(_members_by_label(labels, len(centers))):
        center = centers[label].astype(np.float64)
        away = centers - center
        squares = (away**2).sum(axis=1)
        # The differences, their squares, and a product with every center at worst.
        step = block_rows(8 * (2 * points.shape[1] + len(centers)), len(members))
        for begin in range(0, len(members), step):
            rows = members[begin : begin + step]
            relative = points[rows] - center
            reach = (relative**2).sum(axis=1).max() / reach_fraction**2
            near = np.flatnonzero((squares > 0.0) & (squares <= reach))
            row, column = np.nonzero(relative @ away[near].T >= reach_fraction * squares[near])
            joining.append(rows[row])
            patches.append(near[column])
    return np.concatenate(joining), np.concatenate(patches)


def _connected_with_clusters(
    adjacency: sp.csr_array, labels: IntArray, joining: IntArray, patches: IntArray
) -> BoolArray:
    """Return which points that would join a cluster are connected with it through each other."""
    kept = np.zeros(len(joining), dtype=bool)
    position_of = np.full(len(labels), -1, dtype=np.int64)
    for label, entries in enumerate(_members_by_label(patches, int(labels.max()) + 1)):
        nodes, n_nodes = joining[entries], len(entries)
        position_of[nodes] = np.arange(n_nodes)
        rows, ends = _edges_at(adjacency, nodes)
        # All points of the cluster are one more node, since they need not be connected.
        positions = np.where(labels[ends] == label, n_nodes, position_of[ends])
        inside = positions >= 0
        links = sp.coo_array(
            (np.ones(int(inside.sum())), (rows[inside], positions[inside])),
            shape=(n_nodes + 1, n_nodes + 1),
        )
        component = connected_components(links, directed=False)[1]
        kept[entries] = component[:-1] == component[-1]
        position_of[nodes] = -1
    return kept


def _grown_along(
    adjacency: sp.csr_array, labels: IntArray, n_clusters: int
) -> tuple[IntArray, IntArray]:
    """Return the points that join clusters by one ring of neighbors after the other."""
    joining, patches = [], []
    is_inside = np.zeros(len(labels), dtype=bool)
    for label, members in enumerate(_members_by_label(labels, n_clusters)):
        rim, rings, n_joined = members, [], 0
        is_inside[members] = True
        while len(rim) and n_joined < GROWTH * len(members):
            ends = _edges_at(adjacency, rim)[1]
            rim = np.unique(ends[~is_inside[ends]])
            is_inside[rim] = True
            rings.append(rim)
            n_joined += len(rim)
        joined = np.concatenate(rings)
        is_inside[members] = is_inside[joined] = False
        joining.append(joined)
        patches.append(np.full(len(joined), label))
    return np.concatenate(joining), np.concatenate(patches)


def _with_filled_overlaps(
    entries: IntArray, graph: NeighborGraph, labels: IntArray, *, least: int
) -> IntArray:
    """Return the cover with at least so many points in the overlaps of neighboring patches."""
    n, c = graph.n_nodes, int(labels.max()) + 1
    edges, pair_of_edge = _edges_between(graph, labels, c)
    wanted = _neighboring(pair_of_edge, c, least=least)
    for _ in range(REPAIR_ROUNDS):
        patches, members = np.divmod(entries, n)
        shared, counts = shared_counts(members, patches, c)
        small = np.union1d(shared[counts < least], np.setdiff1d(wanted, shared))
        new = [entries]
        for pair in small:
            begin, end = np.searchsorted(pair_of_edge, [pair, pair + 1])
            first, second = divmod(int(pair), c)
            points = _overlap(
                graph.adjacency,
                _members_of(entries, first, n),
                _members_of(entries, second, n),
                np.unique(edges[begin:end]),
                least=least,
            )
            new += [first * n + points, second * n + points]
        filled = np.sort(np.concatenate(new))
        is_new = np.append(True, filled[1:] > filled[:-1])
        if is_new.sum() == len(entries):
            break
        entries = filled[is_new]
    return entries


def _edges_between(
    graph: NeighborGraph, labels: IntArray, n_clusters: int
) -> tuple[IntArray, IntArray]:
    """Return the edges between clusters a < b in the order of their pairs a · n_clusters + b."""
    ends = labels[graph.edges].astype(np.int64)
    crossing = np.flatnonzero(ends[:, 0] != ends[:, 1])
    ends = np.sort(ends[crossing], axis=1)
    pairs = ends[:, 0] * n_clusters + ends[:, 1]
    order = np.argsort(pairs, kind="stable")
    return graph.edges[crossing[order]], pairs[order]


def _neighboring(pair_of_edge: IntArray, n_clusters: int, *, least: int) -> IntArray:
    """Return the pairs of clusters with so many edges, and those it takes to connect all."""
    pairs, n_edges = np.unique(pair_of_edge, return_counts=True)
    ends = np.column_stack(np.divmod(pairs, n_clusters))
    is_wanted = n_edges >= least
    is_wanted[spanning_forest_of(n_clusters, ends, 1.0 / n_edges)] = True
    return pairs[is_wanted]


def _overlap(
    adjacency: sp.csr_array, first: IntArray, second: IntArray, ends: IntArray, *, least: int
) -> IntArray:
    """Return what two patches are to share: more and more neighbors of what they do now."""
    both = np.union1d(first, second)
    shared = np.union1d(np.intersect1d(first, second, assume_unique=True), ends)
    while len(shared) < least:
        near = np.intersect1d(_edges_at(adjacency, shared)[1], both)
        grown = np.union1d(shared, near)
        if len(grown) == len(shared):
            break
        shared = grown
    return shared


def _members_of(entries: IntArray, patch: int, n_points: int) -> IntArray:
    begin, end = np.searchsorted(entries, [patch * n_points, (patch + 1) * n_points])
    return entries[begin:end] - patch * n_points


def _members_by_label(labels: IntArray, n_labels: int) -> list[IntArray]:
    """Return the positions of every label."""
    ends = np.cumsum(np.bincount(labels, minlength=n_labels))
    return np.split(np.argsort(labels, kind="stable"), ends[:-1])


def _edges_at(adjacency: sp.csr_array, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges at nodes: the index in `nodes` where each begins, the node where it ends."""
    block = adjacency[nodes]
    return np.repeat(np.arange(len(nodes)), np.diff(block.indptr)), block.indices


def _as_cover(
    points: FloatArray, entries: IntArray, n_patches: int, centers: FloatArray | None
) -> PatchCover:
    """Return a cover whose seeds are the points nearest the centers or the means of the patches."""
    n = len(points)
    indptr = np.searchsorted(entries, n * np.arange(n_patches + 1))
    members = entries % n
    seeds, radii = np.empty(n_patches, dtype=np.int64), np.empty(n_patches)
    for patch in range(n_patches):
        inside = members[indptr[patch] : indptr[patch + 1]]
        if centers is None:
            total = sum(block.sum(axis=0) for block in _blocks(points, inside))
            center = total / len(inside)
        else:
            center = centers[patch]
        seeds[patch] = inside[_squared_distances(points, inside, center).argmin()]
        radii[patch] = np.sqrt(_squared_distances(points, inside, points[seeds[patch]]).max())
    return PatchCover(
        n_points=n,
        indptr=indptr,
        members=members,
        offsets=np.zeros(len(members)),
        seeds=seeds,
        radii=np.where(radii > 0.0, radii, 1.0),
        by_overlap=True,
    )


def _squared_distances(points: FloatArray, rows: IntArray, origin: FloatArray) -> FloatArray:
    return np.concatenate([((block - origin) ** 2).sum(axis=1) for block in _blocks(points, rows)])


def _blocks(points: FloatArray, rows: IntArray) -> Iterator[FloatArray]:
    """Yield the points of rows, in double precision and not too many at a time."""
    step = block_rows(8 * 3 * points.shape[1], len(rows))
    for begin in range(0, len(rows), step):
        yield points[rows[begin : begin + step]].astype(np.float64)
