"""Fullness: whether neighborhoods are flatter than the data as a whole.

On a manifold a neighborhood lies near few directions, the data at large in more. In a cloud
without such a shape a neighborhood looks like any handful of as many points.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import NeighborGraph, balls_around
from isofold.neighbors.dimension import local_singular_values

__all__ = ["effective_rank", "fullness"]

STRAIGHT = 0.15
"""Fraction of the variance beyond one direction below which points are a straight line."""

NOTABLE = 0.03
"""Fraction of the variance beyond some directions that is large enough to compare."""

N_HANDFULS, HANDFUL = 100, 20
"""Random handfuls of points, and points in each."""

LEAST_HANDFUL = 6
"""Fewer points show nothing."""

SCALES = (16, 6)
"""Neighborhoods hold the nodes over these numbers, from which handfuls are drawn: small ones see
only noise."""


def near_nodes(graph: NeighborGraph, size: int, rng: np.random.RandomState) -> IntArray:
    """Return handfuls of nodes that are near each other along the graph, one a row."""
    seeds = np.linspace(0, graph.n_nodes - 1, min(N_HANDFULS, graph.n_nodes)).astype(np.intp)
    balls = balls_around(graph, seeds, np.full(len(seeds), size))
    nodes = balls.nodes[np.repeat(balls.sizes == size, balls.sizes)].reshape(-1, size)
    m = min(HANDFUL, size)
    chosen = [row[rng.choice(size, m, replace=False)] for row in nodes]
    return np.array(chosen, dtype=np.intp).reshape(-1, m)


def fullness(points: FloatArray, graph: NeighborGraph, rng: np.random.RandomState) -> float:
    """Return the variance beyond the leading directions, near over far."""
    n = graph.n_nodes
    sizes = sorted({min(n // 2, max(HANDFUL, n // scale)) for scale in SCALES})
    m = min(HANDFUL, n // 2)
    if m < LEAST_HANDFUL:
        return 1.0
    handfuls = np.array([rng.choice(n, m, replace=False) for _ in range(N_HANDFULS)])
    far = _beyond(points, handfuls)
    if far[0] < STRAIGHT:
        return 0.0
    is_notable = far > NOTABLE
    ratios = [1.0]
    for size in sizes:
        near = near_nodes(graph, size, rng)
        if len(near):
            ratios.append(float((_beyond(points, near)[is_notable] / far[is_notable]).min()))
    return min(ratios)


def effective_rank(points: FloatArray) -> float:
    """Return (Σλ)² / Σλ² of the variances: the number of directions if all are alike."""
    centered = points - points.mean(axis=0)
    moments = centered.T @ centered
    return float(np.trace(moments) ** 2 / max((moments**2).sum(), np.finfo(float).tiny))


def _beyond(points: FloatArray, members: IntArray) -> FloatArray:
    """Return the mean fraction of variance beyond 1, 2, … directions."""
    values = np.concatenate(list(local_singular_values(points, members, by_products=True))) ** 2
    totals = np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    fractions = (values / totals).mean(axis=0)
    return np.maximum(1.0 - np.cumsum(fractions), 0.0)
