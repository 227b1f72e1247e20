"""Rolling a loop out in the plane: whether it comes back to where it began.

Charts along the loop are laid beside each other, each moved onto the one before by the points they
share. Around a hole of a flat sheet the last chart comes to lie on the first. Around a cylinder it
lies one circumference away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import balls_around
from isofold.survey.sketch import Part

__all__ = ["Development", "develop", "hangs_on_thread", "trace"]

LEAST_BALL, MOST_BALL, BALLS = 18, 48, 30
"""A chart holds the part's nodes over 30, within these limits."""

LEAST_SHARED = 4
"""Nodes that two charts must share to be laid beside each other."""


SPOT, DETOUR = 7, 0.7
"""Nodes of a spot that is taken out of a loop, and the way past it, over the loop's length, from
which on the loop hangs on that spot."""


@dataclass(frozen=True)
class Development:
    """A loop rolled out.

    Attributes
    ----------
    gap : float
        Distance between its ends over its length: 0 around a hole, 1 around a cylinder.
    flatness : float
        Share of the charts' variance that lies in their planes, as median.
    length : float
        Length of the loop.
    """

    gap: float
    flatness: float
    length: float


def trace(part: Part, nodes: IntArray) -> IntArray:
    """Return the nodes of the shortest paths from each of some nodes to the next, and back."""
    _, before = csgraph.dijkstra(
        part.graph.adjacency, directed=True, indices=nodes, return_predecessors=True
    )
    path: list[int] = []
    for row, target in enumerate(np.roll(nodes, -1)):
        step = [int(target)]
        while step[-1] != nodes[row] and before[row, step[-1]] >= 0:
            step.append(int(before[row, step[-1]]))
        path += step[:0:-1]
    return np.array(path)


def hangs_on_thread(part: Part, path: IntArray) -> bool:
    """Return whether a loop is broken by taking out a few nodes.

    A loop around a cylinder leads past any spot on either side. One that an edge across a gap has
    closed does not.

    Parameters
    ----------
    part : Part
        The data.
    path : ndarray of int
        The nodes of the loop, in order.

    Returns
    -------
    bool
        True if somewhere the way past a spot is longer than half of the loop.
    """
    steps = np.array(
        [part.graph.adjacency[a, b] for a, b in zip(path, np.roll(path, -1), strict=True)]
    )
    length = float(steps.sum())
    spots = balls_around(part.graph, path, np.full(len(path), min(SPOT, part.n_nodes)))
    links = part.graph.adjacency
    for at, spot in enumerate(np.split(spots.nodes, spots.indptr[1:-1])):
        # Beginning at the spot's center, the first nodes of the loop outside of it, both ways.
        around = np.roll(path, -at)
        outside = around[~np.isin(around, spot)]
        if len(outside) < LEAST_SHARED:
            return True
        is_kept = np.ones(part.n_nodes, dtype=bool)
        is_kept[spot] = False
        kept = np.flatnonzero(is_kept)
        number = np.cumsum(is_kept) - 1
        start, stop = number[outside[0]], number[outside[-1]]
        rest = links[kept][:, kept]
        past = csgraph.dijkstra(rest, directed=True, indices=start, limit=DETOUR * length)[stop]
        if not np.isfinite(past):
            return True
    return False


def develop(part: Part, path: IntArray, *, n_dimensions: int = 2) -> Development:
    """Roll a closed path out.

    Parameters
    ----------
    part : Part
        The data.
    path : ndarray of int
        Nodes in order, each joined to the next and the last to the first.
    n_dimensions : int, default=2
        Dimensions of the charts.

    Returns
    -------
    Development
        What became of it.
    """
    size = min(part.n_nodes, int(np.clip(part.n_nodes / BALLS, LEAST_BALL, MOST_BALL)))
    balls = balls_around(part.graph, path, np.full(len(path), size))
    members = [np.sort(ball) for ball in np.split(balls.nodes, balls.indptr[1:-1])]
    charts, flatness = zip(*(_chart(part, ball, n_dimensions) for ball in members), strict=True)
    turn, shift, length = np.eye(n_dimensions), np.zeros(n_dimensions), 0.0
    at = [int(np.searchsorted(ball, node)) for ball, node in zip(members, path, strict=True)]
    for here in range(len(path)):
        there = (here + 1) % len(path)
        _, own, other = np.intersect1d(
            members[here], members[there], assume_unique=True, return_indices=True
        )
        if len(own) < LEAST_SHARED:
            return Development(0.0, float(np.median(flatness)), 0.0)
        step_turn, step_shift = _motion(charts[there][other], charts[here][own])
        # A place x of the next chart lies at turn (step_turn x + step_shift) + shift.
        shift = turn @ step_shift + shift
        turn = turn @ step_turn
        onto = step_turn @ charts[there][at[there]] + step_shift
        length += float(np.linalg.norm(onto - charts[here][at[here]]))
    start = charts[0][at[0]]
    gap = float(np.linalg.norm(turn @ start + shift - start))
    return Development(gap / max(length, np.finfo(float).tiny), float(np.median(flatness)), length)


def _chart(part: Part, ball: IntArray, n_dimensions: int) -> tuple[FloatArray, float]:
    """Return flat coordinates of a ball, and the share of its variance that they hold."""
    if part.points is not None:
        centered = part.points[ball] - part.points[ball].mean(axis=0)
        left, values, _ = np.linalg.svd(centered, full_matrices=False)
        scaled = left * values
    else:
        rows = csgraph.dijkstra(part.graph.adjacency, directed=True, indices=ball)[:, ball]
        squares = rows**2
        squares -= squares.mean(axis=0)
        squares -= squares.mean(axis=1, keepdims=True)
        variances, vectors = np.linalg.eigh(-0.25 * (squares + squares.T))
        values = np.sqrt(np.maximum(variances[::-1], 0.0))
        scaled = vectors[:, ::-1] * values
    total = float((values**2).sum())
    coordinates = np.zeros((len(ball), n_dimensions))
    n_kept = min(n_dimensions, scaled.shape[1])
    coordinates[:, :n_kept] = scaled[:, :n_kept]
    return coordinates, float((values[:n_kept] ** 2).sum()) / total if total else 0.0


def _motion(moving: FloatArray, fixed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rigid motion, reflections allowed, that lays some places onto others best."""
    center, onto = moving.mean(axis=0), fixed.mean(axis=0)
    left, _, right = np.linalg.svd((fixed - onto).T @ (moving - center))
    turn = left @ right
    return turn, onto - turn @ center
