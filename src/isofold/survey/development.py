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
from isofold.linalg import double_center, procrustes
from isofold.neighbors import balls_around, geodesic_distances
from isofold.survey.sketch import SketchedComponent

__all__ = ["Development", "develop", "hangs_on_thread", "trace"]

LEAST_BALL, MOST_BALL, BALLS = 18, 48, 30
"""A chart holds the component's nodes over 30, within these limits."""

PLANE = 2
"""Dimensions of a chart."""

LEAST_SHARED = 4
"""Nodes that two charts must share to be laid beside each other."""

SPOT, DETOUR = 7, 0.7
"""Nodes of a spot that is taken out of a loop, and the path past it, over the loop's length, from
which on the loop hangs on that spot."""


@dataclass(frozen=True)
class Development:
    """A loop rolled out.

    Attributes
    ----------
    gap : float
        Distance between its ends over its length: 0 around a hole, 1 around a cylinder.
    flatness : float
        Fraction of the charts' variance that lies in their planes, as median.
    length : float
        Length of the loop.
    """

    gap: float
    flatness: float
    length: float


def trace(component: SketchedComponent, nodes: IntArray) -> IntArray:
    """Return the nodes of the shortest paths from each of some nodes to the next, and back."""
    _, before = csgraph.dijkstra(
        component.graph.adjacency, directed=True, indices=nodes, return_predecessors=True
    )
    path: list[int] = []
    for row, target in enumerate(np.roll(nodes, -1)):
        step = [int(target)]
        while step[-1] != nodes[row] and before[row, step[-1]] >= 0:
            step.append(int(before[row, step[-1]]))
        path += step[:0:-1]
    return np.array(path)


def hangs_on_thread(component: SketchedComponent, path: IntArray) -> bool:
    """Return whether a loop is broken by taking out a few nodes.

    A loop around a cylinder leads past any spot on either side. One that an edge across a gap has
    closed does not.
    """
    links = component.graph.adjacency
    length = sum(links[a, b] for a, b in zip(path, np.roll(path, -1), strict=True))
    spots = balls_around(component.graph, path, np.full(len(path), min(SPOT, component.n_nodes)))
    for at, spot in enumerate(np.split(spots.nodes, spots.indptr[1:-1])):
        # The loop outside of the spot, beginning behind its center.
        around = np.roll(path, -at)
        outside = around[~np.isin(around, spot)]
        if len(outside) < LEAST_SHARED:
            return True
        kept = np.delete(np.arange(component.n_nodes), spot)
        ends = np.searchsorted(kept, outside[[0, -1]])
        past = csgraph.dijkstra(
            links[kept][:, kept], directed=True, indices=ends[:1], limit=DETOUR * length
        )
        if not np.isfinite(past[0, ends[1]]):
            return True
    return False


def develop(component: SketchedComponent, path: IntArray) -> Development:
    """Roll a closed path out."""
    size = min(component.n_nodes, int(np.clip(component.n_nodes / BALLS, LEAST_BALL, MOST_BALL)))
    balls = balls_around(component.graph, path, np.full(len(path), size))
    members = [np.sort(ball) for ball in np.split(balls.nodes, balls.indptr[1:-1])]
    reach = 2 * float(balls.radii.max())
    charts, fractions = zip(*(_chart(component, ball, reach) for ball in members), strict=True)
    flatness = float(np.median(fractions))
    centers = [
        chart[np.searchsorted(ball, node)]
        for chart, ball, node in zip(charts, members, path, strict=True)
    ]
    rotation, shift, length = np.eye(PLANE), np.zeros(PLANE), 0.0
    for here in range(len(path)):
        there = (here + 1) % len(path)
        _, own, other = np.intersect1d(
            members[here], members[there], assume_unique=True, return_indices=True
        )
        if len(own) < LEAST_SHARED:
            return Development(0.0, flatness, 0.0)
        step = procrustes(charts[there][other], charts[here][own]).transform
        length += float(np.linalg.norm(step.apply(centers[there][None])[0] - centers[here]))
        # A point of the next chart is moved onto this one, and then with it onto the first.
        shift = step.translation @ rotation + shift
        rotation = step.rotation @ rotation
    gap = float(np.linalg.norm(centers[0] @ rotation + shift - centers[0]))
    return Development(gap / max(length, np.finfo(float).tiny), flatness, length)


def _chart(component: SketchedComponent, ball: IntArray, reach: float) -> tuple[FloatArray, float]:
    """Return flat coordinates of a ball, and the fraction of its variance that they hold."""
    if component.points is not None:
        centered = component.points[ball] - component.points[ball].mean(axis=0)
        left, values, _ = np.linalg.svd(centered, full_matrices=False)
        scaled = left * values
    else:
        # No two nodes of a ball are farther apart than its diameter; but for rounding.
        rows = geodesic_distances(component.graph, ball, limit=reach * (1 + 1e-9))[:, ball]
        gram = -0.5 * double_center(rows**2)
        variances, vectors = np.linalg.eigh(gram)
        values = np.sqrt(np.maximum(variances[::-1], 0.0))
        scaled = vectors[:, ::-1] * values
    coordinates = np.zeros((len(ball), PLANE))
    coordinates[:, : min(PLANE, scaled.shape[1])] = scaled[:, :PLANE]
    variance = float((values**2).sum())
    return coordinates, float((values[:PLANE] ** 2).sum()) / variance if variance else 0.0
