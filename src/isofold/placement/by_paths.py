"""Components in one frame: each is moved as a whole so that distances between them mean something.

Between components only links, straight lines across the gaps, are known. They and the embedded
distances within components make a small graph of landmarks, whose path lengths classical scaling
lays out. Every component is then moved rigidly onto its landmarks, and outward where it would lie
on another one.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray
from isofold.linalg import classical_scaling, procrustes
from isofold.linalg.motions import RigidMotions
from isofold.placement.clearance import clearing_push
from isofold.placement.links import Links

__all__ = ["place_by_paths"]

N_LANDMARKS = 400
"""Landmarks of all components together: classical scaling of so many takes milliseconds."""

MOST_LINKS, FEWER_LINKS = 600, 100
"""Links up to which the ends of all are landmarks, and about how many are taken of more: paths
between all landmarks take as long as the cube of their number."""

MANY_SHAPES = 50
"""Shapes beyond which each is laid out by a single landmark, without rotating it."""

N_BORDER = 1000
"""Points of a shape among which the nearest to other shapes is sought."""


def place_by_paths(shapes: list[FloatArray], links: Links) -> RigidMotions:
    """Return the rigid motions that put linked shapes into one frame."""
    owners, members = links.owners, links.members
    kept = _some_links(owners, links.lengths)
    marks = [
        _landmarks(len(shape), members[kept][owners[kept] == number], N_LANDMARKS // len(shapes))
        for number, shape in enumerate(shapes)
    ]
    begin = np.concatenate([[0], np.cumsum([len(m) for m in marks])])
    ends = np.array(
        [
            [begin[o] + np.searchsorted(marks[o], m) for o, m in zip(*link, strict=True)]
            for link in zip(owners[kept], members[kept], strict=True)
        ]
    )
    graph = _landmark_graph(shapes, marks, ends, links.lengths[kept])
    # Of many shapes each is but a point: the first landmark stands for it.
    laid = [mark if len(shapes) <= MANY_SHAPES else mark[:1] for mark in marks]
    sources = np.concatenate(
        [b + np.arange(len(own)) for b, own in zip(begin[:-1], laid, strict=True)]
    )
    paths = dijkstra(graph, directed=False, indices=sources)[:, sources]
    squares = (paths**2 + paths.T**2) / 2
    layout = classical_scaling(squares, shapes[0].shape[1]).coordinates
    targets = np.split(layout, np.cumsum([len(own) for own in laid])[:-1])
    motions = RigidMotions.stacked(
        procrustes(shape[own], target).transform
        for shape, own, target in zip(shapes, laid, targets, strict=True)
    )
    gaps = np.full(len(shapes), np.inf)
    np.minimum.at(gaps, owners, links.lengths[:, None])
    return _kept_apart(shapes, motions, gaps)


def _some_links(owners: IntArray, lengths: FloatArray) -> IntArray:
    """Return the links whose ends are landmarks: all, or some between every two shapes.

    Where points lie on a grid all links of a gap are equally long, and all points could be ends.
    """
    if len(lengths) <= MOST_LINKS:
        return np.arange(len(lengths))
    _, pair = np.unique(np.sort(owners, axis=1), axis=0, return_inverse=True)
    pair = pair.ravel()
    most = max(1, FEWER_LINKS // int(pair.max() + 1))
    kept = []
    for number in range(int(pair.max()) + 1):
        own = np.flatnonzero(pair == number)
        spread = np.linspace(0, len(own) - 1, min(len(own), most)).astype(np.intp)
        kept.append(np.union1d(own[spread], own[[lengths[own].argmin()]]))
    return np.sort(np.concatenate(kept))


def _landmark_graph(
    shapes: list[FloatArray], marks: list[IntArray], ends: IntArray, lengths: FloatArray
) -> sp.csr_array:
    """Return distances of landmarks within their shapes, and along links."""
    blocks = [cdist(shape[mark], shape[mark]) for shape, mark in zip(shapes, marks, strict=True)]
    within = sp.coo_array(sp.block_diag(blocks))
    size = within.shape[0]
    rows = np.concatenate([within.row, ends[:, 0]])
    columns = np.concatenate([within.col, ends[:, 1]])
    # A stored zero would be a missing edge.
    values = np.maximum(np.concatenate([within.data, lengths]), np.finfo(np.float64).tiny)
    return sp.csr_array((values, (rows, columns)), shape=(size, size))


def _kept_apart(shapes: list[FloatArray], motions: RigidMotions, gaps: FloatArray) -> RigidMotions:
    """Push shapes outward, one after the other, until none is nearer than in the data.

    Sheets that face each other in the data have no room side by side in fewer dimensions without
    lying on top of each other.
    """
    some = motions.apply_each([_some(shape) for shape in shapes])
    translations = motions.translations.copy()
    for number in range(1, len(shapes)):
        others, own = np.concatenate(some[:number]), some[number]
        outward = own.mean(axis=0) - others.mean(axis=0)
        push = clearing_push(KDTree(others), own, outward, gaps[number])
        translations[number] += push
        some[number] = own + push
    return RigidMotions(motions.rotations, translations)


def _some(points: FloatArray) -> FloatArray:
    """Return up to a thousand points, evenly spaced in their order."""
    step = max(1, len(points) // N_BORDER)
    return points[::step]


def _landmarks(n: int, needed: IntArray, most: int) -> IntArray:
    """Return the ends of links and evenly spaced further nodes of a shape, ascending."""
    spread = np.linspace(0, n - 1, max(1, min(n, most))).astype(np.intp)
    return np.union1d(needed, spread)
