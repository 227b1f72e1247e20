"""Pieces in one frame: each is moved as a whole so that distances between them mean something.

Between pieces only straight lines across the gaps are known. They and the embedded distances within
pieces make a small graph of landmarks, whose path lengths classical scaling lays out; every piece
is then moved rigidly onto its landmarks, and outward where it would lie on another one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray
from isofold.alignment.clearance import clearing_push
from isofold.alignment.piece import Piece
from isofold.linalg import coordinates_from_gram, gram_from_distances, procrustes

__all__ = ["arrange"]

N_LANDMARKS = 400
"""Landmarks of all pieces together: classical scaling of so many takes milliseconds."""

MANY_PIECES = 50
"""Pieces beyond which each is laid out by a single landmark, without turning it."""

N_BORDER = 1000
"""Points of a piece among which the nearest to other pieces is sought."""


def arrange(
    pieces: list[Piece], bridges: IntArray, lengths: FloatArray, n_nodes: int
) -> list[Piece]:
    """Move pieces into one frame.

    Parameters
    ----------
    pieces : list of Piece
        The pieces, each in a frame of its own.
    bridges : ndarray of int of shape (n_bridges, 2)
        Pairs of nodes of different pieces that connect all of them.
    lengths : ndarray of shape (n_bridges,)
        Their distances in the data.
    n_nodes : int
        Number of nodes of all pieces.

    Returns
    -------
    list of Piece
        The pieces, moved; shapes are as they were.
    """
    owner, place = np.empty(n_nodes, dtype=np.intp), np.empty(n_nodes, dtype=np.intp)
    for number, piece in enumerate(pieces):
        owner[piece.nodes], place[piece.nodes] = number, np.arange(len(piece.nodes))
    ends = np.unique(bridges)
    marks = [
        _landmarks(piece, place[ends[owner[ends] == number]], N_LANDMARKS // len(pieces))
        for number, piece in enumerate(pieces)
    ]
    begin = np.concatenate([[0], np.cumsum([len(m) for m in marks])])
    at = np.array([begin[owner[e]] + np.searchsorted(marks[owner[e]], place[e]) for e in ends])
    graph = _landmark_graph(pieces, marks, at[np.searchsorted(ends, bridges)], lengths)
    # Of many pieces each is but a point: the first landmark stands for it.
    is_laid = [mark if len(pieces) <= MANY_PIECES else mark[:1] for mark in marks]
    sources = np.concatenate(
        [b + np.arange(len(laid)) for b, laid in zip(begin[:-1], is_laid, strict=True)]
    )
    paths = dijkstra(graph, directed=False, indices=sources)[:, sources]
    width = pieces[0].embedding.shape[1]
    squares = (paths**2 + paths.T**2) / 2
    layout = coordinates_from_gram(gram_from_distances(squares), width).coordinates
    parts = np.split(layout, np.cumsum([len(laid) for laid in is_laid])[:-1])
    moved = [
        _moved_onto(piece, laid, part)
        for piece, laid, part in zip(pieces, is_laid, parts, strict=True)
    ]
    gaps = np.full(len(pieces), np.inf)
    for end in bridges.T:
        np.minimum.at(gaps, owner[end], lengths)
    return _kept_apart(moved, gaps)


def _landmark_graph(
    pieces: list[Piece], marks: list[IntArray], bridges: IntArray, lengths: FloatArray
) -> sp.csr_array:
    """Return distances of landmarks on the maps of their pieces, and across bridges."""
    blocks = [
        cdist(piece.embedding[mark], piece.embedding[mark])
        for piece, mark in zip(pieces, marks, strict=True)
    ]
    within = sp.coo_array(sp.block_diag(blocks))
    size = within.shape[0]
    rows = np.concatenate([within.row, bridges[:, 0]])
    columns = np.concatenate([within.col, bridges[:, 1]])
    # A stored zero would be a missing edge.
    values = np.maximum(np.concatenate([within.data, lengths]), np.finfo(np.float64).tiny)
    return sp.csr_array((values, (rows, columns)), shape=(size, size))


def _kept_apart(pieces: list[Piece], gaps: FloatArray) -> list[Piece]:
    """Push pieces outward, one after the other, until none is nearer than in the data.

    Sheets that face each other in the data have no place side by side in fewer dimensions without
    lying on top of each other.
    """
    placed = [pieces[0]]
    for piece, gap in zip(pieces[1:], gaps[1:], strict=True):
        others = np.concatenate([_some(other.embedding) for other in placed])
        tree, own = KDTree(others), _some(piece.embedding)
        way = own.mean(axis=0) - others.mean(axis=0)
        placed.append(_shifted(piece, clearing_push(tree, own, way, gap)))
    return placed


def _some(points: FloatArray) -> FloatArray:
    """Return up to a thousand points, evenly spaced in their order."""
    step = max(1, len(points) // N_BORDER)
    return points[::step]


def _landmarks(piece: Piece, needed: IntArray, most: int) -> IntArray:
    """Return the ends of bridges and evenly spaced further nodes of a piece, ascending."""
    n = len(piece.nodes)
    spread = np.linspace(0, n - 1, max(1, min(n, most))).astype(np.intp)
    return np.union1d(needed, spread)


def _shifted(piece: Piece, by: FloatArray) -> Piece:
    alignment = replace(piece.alignment, translations=piece.alignment.translations + by)
    return replace(piece, embedding=piece.embedding + by, alignment=alignment)


def _moved_onto(piece: Piece, marks: IntArray, layout: FloatArray) -> Piece:
    """Return a piece moved rigidly onto the layout of its landmarks."""
    motion = procrustes(piece.embedding[marks], layout).transform
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
