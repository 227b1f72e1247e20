"""Edges that jump from one layer of the data to the next, found by the length of the detour.

In a graph of nearest neighbors (union) sparse rolls have edges across the gap between two layers.
Mutual neighbors have next to none, but few edges. So an edge of the first graph is a short-cut if
the path between its ends along the second is many times as long.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isofold._typing import BoolArray
from isofold.neighbors.geodesic import geodesic_blocks
from isofold.neighbors.graph import NeighborGraph

__all__ = ["find_shortcuts", "without_shortcuts"]

LONGEST_DETOUR = 8.0
"""How many times its length the detour around an honest edge may be. Between the layers of a roll
it is ten times and more; with five, one in ten edges of Olivetti's faces would be cut, which are no
short-cuts."""


def find_shortcuts(
    graph: NeighborGraph, guide: NeighborGraph, *, n_jobs: int | None = None
) -> BoolArray:
    """Return which edges of a graph are short-cuts by the measure of another."""
    is_shortcut = np.zeros(graph.n_edges, dtype=bool)
    first, second = graph.edges.T
    # Beyond this no edge is asked for: the search from every node ends early.
    limit = LONGEST_DETOUR * float(graph.lengths.max(initial=0.0))
    row = 0
    for block in geodesic_blocks(guide, np.arange(guide.n_nodes), limit=limit, n_jobs=n_jobs):
        here = np.flatnonzero((first >= row) & (first < row + len(block)))
        detour = block[first[here] - row, second[here]]
        is_shortcut[here] = detour > LONGEST_DETOUR * graph.lengths[here]
        row += len(block)
    return is_shortcut


def without_shortcuts(
    graph: NeighborGraph, guide: NeighborGraph, *, n_jobs: int | None = None
) -> NeighborGraph:
    """Return a graph without its short-cuts by the measure of another."""
    kept = ~find_shortcuts(graph, guide, n_jobs=n_jobs)
    return replace(
        graph,
        edges=graph.edges[kept],
        lengths=graph.lengths[kept],
        is_bridge=graph.is_bridge[kept],
    )
