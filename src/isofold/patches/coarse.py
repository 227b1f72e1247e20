"""A cover of data that are no sheet: patches of one size, all of them counted, charts by evidence.

Faces, digits and oils fill more dimensions than are asked for, and no ball of them is large enough
for its tangent to stand out. Patches are then as small as a chart allows, rank replaces
distance (in many dimensions all points of a ball are near its border), and charts follow the
curvature only where that makes their lengths truer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.neighbors import NeighborGraph, build_graph, cover_by_balls
from isofold.neighbors.shortcuts import without_shortcuts
from isofold.patches.atlas import n_coefficients
from isofold.patches.charts import ChartFit, fit_charts
from isofold.patches.cover import PatchCover
from isofold.patches.scale import CORE, as_cover

__all__ = ["pruned", "rough_balls"]

FEWEST, PER_DIMENSION, LEAST_FRACTION_OF_POINTS = 24, 4, 1 / 40
"""Points of a patch at least, for each of r + 1 dimensions, and as a fraction of all."""

PER_COEFFICIENT, LEAST_PER_COEFFICIENT, LARGEST_SHARE = 4.0, 2.0, 1 / 4
"""Points for each coefficient of a quadratic chart, as many as a fraction of all allows. With fewer
than two quadratic charts are not tried: 1.2 made lengths of digits three times too long."""

UNION_NEIGHBORS, MOST_PRUNED = 10, 5000
"""Neighbors whose edges complete a mutual graph, and nodes up to which paths along it are looked
for, to tell these edges from short-cuts."""


def rough_size(n_points: int, n_components: int) -> int:
    """Return the size of the patches of a coarse cover."""
    flat = int(max(FEWEST, PER_DIMENSION * (n_components + 1), LEAST_FRACTION_OF_POINTS * n_points))
    q, most = n_coefficients(n_components), LARGEST_SHARE * n_points
    if most < LEAST_PER_COEFFICIENT * q:
        return flat
    return max(flat, int(min(PER_COEFFICIENT * q, most)))


@stage("patches")
def rough_balls(
    points: FloatArray,
    graph: NeighborGraph,
    n_components: int,
    *,
    quadratic: bool,
    n_jobs: int | None,
) -> tuple[PatchCover, ChartFit]:
    """Cover a graph by balls of one size, and fit the charts that keep lengths better."""
    n = graph.n_nodes
    size = min(n, rough_size(n, n_components))
    balls = cover_by_balls(graph, np.full(n, size), core=1.0 if size == n else CORE)
    cover = _by_rank(as_cover(balls, n))
    flat = fit_charts(points, cover, n_components, quadratic=False, n_jobs=n_jobs)
    if not quadratic or size < LEAST_PER_COEFFICIENT * n_coefficients(n_components):
        return cover, flat
    bent = fit_charts(points, cover, n_components, n_jobs=n_jobs)
    pairs = _edges_within(cover, graph)
    is_truer = _length_error(bent, *pairs) < _length_error(flat, *pairs)
    return cover, bent if is_truer else flat


def _by_rank(cover: PatchCover) -> PatchCover:
    """Return the cover with ranks for distances.

    In the plane (d/h)² is the fraction of nearer points, so that weights fall off alike in any
    dimension.
    """
    rank = np.arange(len(cover.members)) - np.repeat(cover.indptr[:-1], cover.sizes)
    return replace(cover, offsets=np.sqrt(rank / np.repeat(cover.sizes, cover.sizes)))


def _edges_within(cover: PatchCover, graph: NeighborGraph) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the edges with both ends in a patch: two entries of the cover, and the length."""
    n, links = cover.n_points, sp.csr_array(sp.triu(graph.adjacency, 1))
    counts = np.diff(links.indptr)[cover.members]
    first = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    entry = links.indptr[:-1][cover.members[first]] + within
    keys = cover.patches * n + cover.members
    order = np.argsort(keys)
    wanted = cover.patches[first] * n + links.indices[entry]
    found = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    second = order[found]
    is_inside = keys[second] == wanted
    return first[is_inside], second[is_inside], links.data[entry[is_inside]]


def _length_error(
    charts: ChartFit, first: IntArray, second: IntArray, lengths: FloatArray
) -> float:
    """Return the median relative error of lengths in charts."""
    u = charts.coordinates
    in_chart = np.linalg.norm(u[first] - u[second], axis=1)
    return float(np.median(np.abs(in_chart / lengths - 1.0))) if len(lengths) else 0.0


def pruned(points: FloatArray, graph: NeighborGraph, *, n_jobs: int | None) -> NeighborGraph:
    """Return a mutual graph with those edges to nearest neighbors that are no short-cuts.

    In many dimensions few neighbors are mutual, and shortest paths along the few are too long.
    """
    n = graph.n_nodes
    if n > MOST_PRUNED or n < 3:
        return graph
    near = build_graph(points, n_neighbors=min(UNION_NEIGHBORS, n - 1), n_jobs=n_jobs)
    return graph.with_edges_of(without_shortcuts(near, graph, n_jobs=n_jobs))
