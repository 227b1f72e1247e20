"""Are large distances in proportion? Stress, Shepard correlation, residual variance.

All three are functions of a few moments of the pairs (distance before, distance after). The
moments are summed point by point, so memory is O(n) and a sample of points gives an interval. That
interval cannot know of a small group of misplaced points that the sample missed; `scorecard` looks
for such groups first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._findings import parameter, warn_user
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_n_neighbors
from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from isofold.neighbors import NeighborGraph, build_graph, connected_components
from isofold.neighbors.geodesic import map_geodesics, near_first
from isofold.quality import _pairs
from isofold.quality.distances import DIRECT_BYTES, PRODUCT_BYTES, Comparison, compare
from isofold.quality.score import RowSample, Score, moment_score

# Columns of a moment table: mean over the other points of 1, a, b, a², b², ab, (a − b)².
COUNT, A, B, AA, BB, AB, GAP = range(7)
N_MOMENTS = 7

# All positive single-precision numbers in 4096 bins an octave.
N_BINS = 2**20

# Relative variance of distances that are equal but for rounding.
EQUAL = 1e-14


def normalized_stress(
    X: Any,
    Y: Any,
    *,
    scale: bool = False,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Relative error of all pairwise distances, √(Σ (d_X − d_Y)² / Σ d_X²); 0 is best.

    Parameters
    ----------
    X, Y, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`.
    scale : bool, default=False
        Allow the embedding the best common factor first; then good to about 1e-8.

    Returns
    -------
    Score
        The stress; its per-point form is the stress of a point's own pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import normalized_stress
    >>> line = np.arange(20.0)[:, None]
    >>> round(normalized_stress(line, 3 * line), 12)
    2.0
    >>> round(normalized_stress(line, 3 * line, scale=True), 6)
    0.0
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    return stress_of(pair_moments(comparison), comparison.sample, scale=scale)


def stress_of(moments: FloatArray, sample: RowSample, *, scale: bool = False) -> Score:
    """Return the normalized stress of a table of moments."""
    require_spread(moments[:, AA], what="X")

    def stress(m: FloatArray) -> FloatArray:
        squared: FloatArray = m[..., GAP]
        if scale:
            explained = m[..., AB] ** 2 / np.maximum(m[..., BB], np.finfo(float).tiny)
            squared = m[..., AA] - explained
        return np.sqrt(np.maximum(squared, 0.0) / m[..., AA])

    safe = np.where(moments[:, AA : AA + 1] > 0, moments, 1.0)
    return moment_score(
        moments, stress, sample, bounds=(0, np.inf), per_point=np.asarray(stress(safe))
    )


def shepard_correlation(
    X: Any,
    Y: Any,
    *,
    method: str = "spearman",
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Correlation of distances before and after, over all pairs (Shepard diagram); 1 is best.

    Parameters
    ----------
    X, Y, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`.
    method : {"spearman", "pearson"}, default="spearman"
        Correlate the ranks of the distances, or the distances themselves.

    Returns
    -------
    Score
        The correlation.

    Notes
    -----
    Ranks of n² distances would not fit in memory. They are read off a histogram in which
    distances equal to a relative 1.2e-4 share their mean rank. The interval of a sample takes the
    ranks as known; its real coverage is some two percent lower.
    """
    if method not in ("spearman", "pearson"):
        msg = f"method={method!r} must be 'spearman' or 'pearson'."
        raise InvalidInputError(msg)
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    moments = pair_moments(comparison) if method == "pearson" else rank_moments(comparison)
    return correlation_of(moments, comparison.sample)


def correlation_of(moments: FloatArray, sample: RowSample) -> Score:
    """Return the correlation in a table of moments."""
    return moment_score(moments, _correlation, sample, bounds=(-1, 1))


def residual_variance(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Variance of geodesic distances that the embedding does not explain; 0 is best.

    1 − corr²(d_G, d_Y), d_G the shortest paths in the graph of the `n_neighbors` nearest
    neighbors, d_Y the Euclidean distances in the embedding. Pairs in different components of the
    graph have no path and are left out, with a warning.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`. One shortest-path search per evaluated
        point: sample where there are more than a few thousand.

    Returns
    -------
    Score
        The residual variance. Shortcuts in the graph spoil it: read it beside the other measures.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
    graph = build_graph(X, n_neighbors=k, metric=metric, n_jobs=n_jobs)
    check_paths(graph)
    (moments,) = along_paths(comparison, graph, path_moments)
    return residual_variance_of(moments, comparison.sample)


def residual_variance_of(moments: FloatArray, sample: RowSample) -> Score:
    """Return the residual variance in a table of moments."""

    def unexplained(m: FloatArray) -> FloatArray:
        return 1.0 - _correlation(m) ** 2

    return moment_score(moments, unexplained, sample, bounds=(0, 1))


def check_paths(graph: NeighborGraph) -> None:
    """Refuse a graph of one node; warn if paths do not join all of them."""
    if graph.n_nodes == 1:
        require_spread(np.zeros(1), what="X")
    sizes = connected_components(graph).sizes
    if len(sizes) > 1:
        msg = (
            f"The neighbor graph has {len(sizes)} components (the largest with {sizes[0]} of "
            f"{graph.n_nodes} nodes). Residual variance looks only at pairs inside a component: "
            f"raise {parameter('n_neighbors')}, or score the components one by one."
        )
        warn_user(msg, DisconnectedGraphWarning)


def pair_moments(comparison: Comparison) -> FloatArray:
    """Moments of (d_X, d_Y) over all other points, one row a point, shape (n_sampled, 7)."""

    def of_block(rows: IntArray) -> FloatArray:
        moments = np.empty((len(rows), N_MOMENTS))
        before, after = comparison.input.squared(rows), comparison.embedding.squared(rows)
        _pairs.moments(np.sqrt(before), np.sqrt(after), rows, moments)
        return moments

    return np.concatenate(list(comparison.map_blocks(of_block)))


def rank_moments(comparison: Comparison) -> FloatArray:
    """Moments of the ranks of d_X and d_Y among all evaluated pairs, ranks scaled to (0, 1)."""
    spaces = (comparison.input, comparison.embedding)
    first = comparison.sample.indices[:1]
    units = np.array([float(space.squared(first).max()) for space in spaces])
    for unit, what in zip(units, ("X", "Y"), strict=True):
        require_spread(np.array([unit]), what=what)
    share_of_row = np.zeros(comparison.sample.n_points)
    share_of_row[comparison.sample.indices] = comparison.sample.weights

    def count(rows: IntArray) -> FloatArray:
        counts = np.zeros((len(spaces), N_BINS))
        for block in comparison.blocks(rows):
            for space, unit, bins in zip(spaces, units, counts, strict=True):
                _pairs.count_bins(space.squared(block), unit, share_of_row[block], bins)
        return counts

    histograms = np.zeros((2, N_BINS))
    # Many rows: every task fills two histograms of a million bins.
    for counts in comparison.map_tasks(count, n_bytes=PRODUCT_BYTES):
        histograms += counts
    histograms[:, 0] -= 1.0  # every point's pair with itself
    mean_ranks = np.stack([(np.cumsum(bins) - 0.5 * bins) / bins.sum() for bins in histograms])

    def of_block(rows: IntArray) -> FloatArray:
        moments = np.empty((len(rows), N_MOMENTS))
        before, after = (space.squared(rows) for space in spaces)
        _pairs.rank_moments(before, after, rows, units, mean_ranks, moments)
        return moments

    return np.concatenate(list(comparison.map_blocks(of_block)))


@dataclass(frozen=True, eq=False)
class PathBlock:
    """Some evaluated points, how far all points are along the data and on the map.

    Parameters
    ----------
    rows : ndarray of int of shape (n_rows,)
        The points.
    before : ndarray of shape (n_rows, n_points)
        Lengths of the shortest paths to all points, infinite where there is none.
    after : ndarray of shape (n_rows, n_points)
        Squared distances on the map.
    straight : callable
        Maps row indices to squared straight-line distances before.
    """

    rows: IntArray
    before: FloatArray
    after: FloatArray
    straight: Callable[[IntArray], FloatArray]


def along_paths(
    comparison: Comparison, graph: NeighborGraph, *functions: Callable[[PathBlock], FloatArray]
) -> list[FloatArray]:
    """Apply functions to the same shortest paths, which cost most; return a table of each."""
    rows, nodes = comparison.sample.indices, graph.node_of_sample
    order = near_first(graph, nodes[rows])
    ordered = rows[order]
    is_plain = np.array_equal(nodes, np.arange(graph.n_nodes))
    step = max(1, DIRECT_BYTES // (8 * len(nodes)))

    def of_paths(which: slice, paths: FloatArray) -> list[FloatArray]:
        of_rows = ordered[which]
        found: list[list[FloatArray]] = []
        for start in range(0, len(paths), step):
            some, here = paths[start : start + step], of_rows[start : start + step]
            before = (some if is_plain else some.take(nodes, axis=1)).astype(np.float64, copy=False)
            after = comparison.embedding.squared(here)
            block = PathBlock(here, before, after, comparison.input.squared)
            found.append([function(block) for function in functions])
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    tables = list(map_geodesics(graph, nodes[ordered], of_paths, n_jobs=comparison.n_jobs))
    back = np.argsort(order)
    return [np.concatenate(parts)[back] for parts in zip(*tables, strict=True)]


def path_moments(block: PathBlock) -> FloatArray:
    """Moments of (d_G, d_Y) over the points that a path reaches."""
    moments = np.empty((len(block.rows), N_MOMENTS))
    _pairs.moments(block.before, np.sqrt(block.after), block.rows, moments)
    return moments


def require_spread(values: FloatArray, *, what: str) -> None:
    """Refuse distances that are all zero, of which no ratio or correlation can be taken."""
    if not (values > 0).any():
        msg = (
            f"All points of {what} coincide, so their distances are all 0 and nothing can be "
            f"compared with them. Check for a constant table."
        )
        raise InvalidInputError(msg)


def _correlation(m: FloatArray) -> FloatArray:
    a, b, aa, bb, ab = (m[..., column] / m[..., COUNT] for column in (A, B, AA, BB, AB))
    spread_a, spread_b = aa - a * a, bb - b * b
    if np.any(spread_a <= EQUAL * aa) or np.any(spread_b <= EQUAL * bb):
        msg = (
            "All distances before or after are equal, so they have no correlation. Pass at least "
            "three points that do not form a regular simplex."
        )
        raise InvalidInputError(msg)
    return np.asarray((ab - a * b) / np.sqrt(spread_a * spread_b))
