"""Pieces in one frame: each is moved as a whole so that distances between them mean something.

Between pieces only straight lines across the gaps are known. They and the embedded distances within
pieces make a small graph of landmarks, whose path lengths classical scaling lays out; every piece
is then moved rigidly onto its landmarks, and outward where it would lie on another one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray
from isofold.linalg import SimilarityTransform, classical_scaling, procrustes
from isofold.placement.clearance import clearing_push

if TYPE_CHECKING:
    from isofold.stitching.levels import Piece

__all__ = ["arrange", "arranging_motions"]

N_LANDMARKS = 400
"""Landmarks of all pieces together: classical scaling of so many takes milliseconds."""

MOST_BRIDGES, FEWER_BRIDGES = 600, 100
"""Bridges up to which the ends of all are landmarks, and about how many are taken of more: paths
between all landmarks take as long as the cube of their number."""

MANY_PIECES = 50
"""Pieces beyond which each is laid out by a single landmark, without turning it."""

N_BORDER = 1000
"""Points of a piece among which the nearest to other pieces is sought."""


def arrange(
    pieces: list[Piece], bridges: IntArray, lengths: FloatArray, n_nodes: int
) -> list[Piece]:
    """Move pieces into one frame."""
    motions = arranging_motions(
        [piece.nodes for piece in pieces],
        [piece.embedding for piece in pieces],
        bridges,
        lengths,
        n_nodes,
    )
    return [_moved(piece, motion) for piece, motion in zip(pieces, motions, strict=True)]


def arranging_motions(
    nodes: list[IntArray],
    shapes: list[FloatArray],
    bridges: IntArray,
    lengths: FloatArray,
    n_nodes: int,
) -> list[SimilarityTransform]:
    """Return the rigid motions that put shapes into one frame."""
    owner, place = np.empty(n_nodes, dtype=np.intp), np.empty(n_nodes, dtype=np.intp)
    for number, own in enumerate(nodes):
        owner[own], place[own] = number, np.arange(len(own))
    kept = _some_bridges(owner[bridges], lengths)
    ends = np.unique(bridges[kept])
    marks = [
        _landmarks(len(shape), place[ends[owner[ends] == number]], N_LANDMARKS // len(shapes))
        for number, shape in enumerate(shapes)
    ]
    begin = np.concatenate([[0], np.cumsum([len(m) for m in marks])])
    at = np.array([begin[owner[e]] + np.searchsorted(marks[owner[e]], place[e]) for e in ends])
    graph = _landmark_graph(shapes, marks, at[np.searchsorted(ends, bridges[kept])], lengths[kept])
    # Of many shapes each is but a point: the first landmark stands for it.
    is_laid = [mark if len(shapes) <= MANY_PIECES else mark[:1] for mark in marks]
    sources = np.concatenate(
        [b + np.arange(len(laid)) for b, laid in zip(begin[:-1], is_laid, strict=True)]
    )
    paths = dijkstra(graph, directed=False, indices=sources)[:, sources]
    width = shapes[0].shape[1]
    squares = (paths**2 + paths.T**2) / 2
    layout = classical_scaling(squares, width).coordinates
    parts = np.split(layout, np.cumsum([len(laid) for laid in is_laid])[:-1])
    motions = [
        procrustes(shape[laid], part).transform
        for shape, laid, part in zip(shapes, is_laid, parts, strict=True)
    ]
    gaps = np.full(len(shapes), np.inf)
    for end in bridges.T:
        np.minimum.at(gaps, owner[end], lengths)
    return _kept_apart(shapes, motions, gaps)


def _some_bridges(owners: IntArray, lengths: FloatArray) -> IntArray:
    """Return the bridges whose ends are landmarks: all, or some between every two shapes.

    Where points lie on a grid all bridges of a gap are equally long, and all points could be ends.
    """
    if len(lengths) <= MOST_BRIDGES:
        return np.arange(len(lengths))
    _, pair = np.unique(np.sort(owners, axis=1), axis=0, return_inverse=True)
    pair = pair.ravel()
    share = max(1, FEWER_BRIDGES // int(pair.max() + 1))
    kept = []
    for number in range(int(pair.max()) + 1):
        own = np.flatnonzero(pair == number)
        spread = np.linspace(0, len(own) - 1, min(len(own), share)).astype(np.intp)
        kept.append(np.union1d(own[spread], own[[lengths[own].argmin()]]))
    return np.sort(np.concatenate(kept))


def _landmark_graph(
    shapes: list[FloatArray], marks: list[IntArray], bridges: IntArray, lengths: FloatArray
) -> sp.csr_array:
    """Return distances of landmarks within their shapes, and across bridges."""
    blocks = [cdist(shape[mark], shape[mark]) for shape, mark in zip(shapes, marks, strict=True)]
    within = sp.coo_array(sp.block_diag(blocks))
    size = within.shape[0]
    rows = np.concatenate([within.row, bridges[:, 0]])
    columns = np.concatenate([within.col, bridges[:, 1]])
    # A stored zero would be a missing edge.
    values = np.maximum(np.concatenate([within.data, lengths]), np.finfo(np.float64).tiny)
    return sp.csr_array((values, (rows, columns)), shape=(size, size))


def _kept_apart(
    shapes: list[FloatArray], motions: list[SimilarityTransform], gaps: FloatArray
) -> list[SimilarityTransform]:
    """Push shapes outward, one after the other, until none is nearer than in the data.

    Sheets that face each other in the data have no place side by side in fewer dimensions without
    lying on top of each other.
    """
    some = [motion.apply(_some(shape)) for shape, motion in zip(shapes, motions, strict=True)]
    placed, moved = [motions[0]], [some[0]]
    for own, motion, gap in zip(some[1:], motions[1:], gaps[1:], strict=True):
        others = np.concatenate(moved)
        way = own.mean(axis=0) - others.mean(axis=0)
        push = clearing_push(KDTree(others), own, way, gap)
        placed.append(replace(motion, translation=motion.translation + push))
        moved.append(own + push)
    return placed


def _some(points: FloatArray) -> FloatArray:
    """Return up to a thousand points, evenly spaced in their order."""
    step = max(1, len(points) // N_BORDER)
    return points[::step]


def _landmarks(n: int, needed: IntArray, most: int) -> IntArray:
    """Return the ends of bridges and evenly spaced further nodes of a shape, ascending."""
    spread = np.linspace(0, n - 1, max(1, min(n, most))).astype(np.intp)
    return np.union1d(needed, spread)


def _moved(piece: Piece, motion: SimilarityTransform) -> Piece:
    """Return a piece after a rigid motion."""
    alignment = piece.alignment
    return replace(
        piece,
        embedding=motion.apply(piece.embedding),
        alignment=replace(
            alignment,
            rotations=alignment.rotations @ motion.rotation,
            translations=motion.apply(alignment.translations),
        ),
    )
