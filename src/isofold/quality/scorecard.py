"""All measures of one embedding, gathered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from isofold._cluster import sharing
from isofold._parallel import side_by_side
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold._validation import check_count, check_points
from isofold.blocks import RowBlocks
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph, build_graph
from isofold.neighbors.directed import edges_from_lists
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.graph import assemble, distances_between_nodes
from isofold.neighbors.search.exact import inverse_of
from isofold.quality import ranks
from isofold.quality.coranking import CoRankingCurve, curve_of
from isofold.quality.distances import Comparison, compare
from isofold.quality.global_ import (
    along_paths,
    check_paths,
    correlation_of,
    path_moments,
    rank_moments,
    residual_variance_of,
    stress_of,
)
from isofold.quality.groups import check_labels, one_nn_from
from isofold.quality.isometry import (
    LocalIsometry,
    isometry_of,
    preservation_of,
    procrustes_measure_of,
    stretch_from,
)
from isofold.quality.neighborhoods import (
    Neighborhoods,
    evidence_of_loss,
    neighborhoods_of,
    shown_neighborhoods_of,
)
from isofold.quality.score import RowSample, draw_rows
from isofold.quality.score_table import Entry, ScoreTable, length_entries, rank_entries
from isofold.quality.sweep import RankSweep, sweep_ranks
from isofold.quality.triplets import count_triplets, triplets_of
from isofold.quality.truth import procrustes_error, spectrum

MAX_PAIRS = 25 * 10**7
"""Distances looked at with n_samples="auto": exact up to 15,811 points, in some ten seconds."""
MAX_PATHS = 2 * 10**7
"""Shortest paths, which cost ten times more each: exact up to 4,472 points."""
SLOW_COLUMNS = 100
"""Columns whose distances take as long as everything else that is done with them."""
MIN_ROWS = 200
MIN_SOURCES = 32


@dataclass(frozen=True, eq=False)
class Scorecard(ScoreTable):
    """Quality of one embedding; a mapping from the name of a measure to its :class:`Score`.

    Parameters
    ----------
    entries : tuple of Entry
        The measures in order.
    n_points, n_components, n_neighbors : int
        What was scored, and how large neighborhoods were.
    isometry : LocalIsometry
        Distribution of length ratios; ``isometry.per_point`` is the distortion of every point.
    sample : KeyedSample
        The points at which the measures of ranks and of all pairs were evaluated.
    near : Neighborhoods
        The nearest in the data of all points, with their lengths before and after.
    curve : CoRankingCurve
        Neighborhood preservation at every scale.
    spectrum : ndarray of shape (n_components,)
        Fraction of the embedding's variance along its principal axes.
    """

    curve: CoRankingCurve = field(repr=False)
    spectrum: FloatArray = field(repr=False)


@sharing()
def scorecard(
    X: Any,
    Y: Any,
    *,
    labels: Any = None,
    truth: Any = None,
    n_neighbors: int = 12,
    n_samples: int | str | None = "auto",
    metric: str = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Scorecard:
    """Gather all measures of how well an embedding keeps distances and neighbors.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points before, or their distances with ``metric="precomputed"``.
    Y : array-like of shape (n_points, n_components)
        The points after.
    labels : array-like of shape (n_points,), optional
        Classes, for the 1-nearest-neighbor error.
    truth : array-like of shape (n_points, n_dimensions), optional
        True coordinates, for the Procrustes error.
    n_neighbors : int, default=12
        Size of a neighborhood, below half of the number of points.
    n_samples : int, "auto" or None, default="auto"
        At how many random points to evaluate what looks at all pairs. None takes all; "auto"
        takes all up to 15,811 points (4,472 for shortest paths) and then fewer, so that time
        stays bounded. What looks only at neighbors is always measured everywhere, and half of
        the sample are the points whose neighborhoods are seen to be torn or invaded.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    random_state : int, RandomState or None, default=None
        Source of the draw.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    Scorecard
        Prints as a table; ``to_pandas()`` and ``to_html()`` export it.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import scorecard
    >>> grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    >>> card = scorecard(grid, grid, n_neighbors=4)
    >>> float(card["trustworthiness"]), float(card["length_error_worst"])
    (1.0, 0.0)
    """
    _refuse_blocks(X, Y)
    everywhere = compare(X, Y, metric=metric, n_jobs=n_jobs)
    n_points = everywhere.sample.n_points
    k = ranks.check_half_neighbors(n_neighbors, n_points)
    n_rows, n_sources = _budget(n_samples, everywhere)
    # Shortest paths need the neighbors of all points, so lengths of neighbors are always exact,
    # and where they are wrong is where the sample looks first.
    near, shown = side_by_side(
        lambda: neighborhoods_of(everywhere, k),
        lambda: shown_neighborhoods_of(everywhere, k),
        n_jobs=n_jobs,
    )

    # The graph takes most room, lengths come next: what takes little is done in between.
    graph, (rows, sources), truths, (isometry, lengths) = side_by_side(
        lambda: _graph_of(X, near, metric=metric, n_jobs=n_jobs),
        lambda: _draw_both(near, shown, (n_rows, n_sources), random_state),
        lambda: [] if truth is None else [*_truth_entries(Y, truth)],
        lambda: _measure_lengths(near, shown),
        n_jobs=n_jobs,
    )
    comparison = replace(everywhere, sample=rows)
    sweep = sweep_ranks(comparison, k)
    curve = curve_of(sweep, comparison.sample)
    entries = [
        *_rank_entries(sweep, comparison.sample),
        *_curve_entries(curve),
        *lengths,
        *_global_entries(comparison, sweep, k),
        *_path_entries(replace(comparison, sample=sources), graph),
    ]
    entries += _rigid_entries(everywhere, near)
    if labels is not None:
        error = one_nn_from(shown.indices[:, 0], check_labels(labels, n_points), near.sample)
        entries.append(Entry("one_nn_error", error, "0", "nearest point has another label"))
    return Scorecard(
        entries=(*entries, *truths),
        n_points=n_points,
        n_components=comparison.embedded_points.shape[1],
        n_neighbors=k,
        curve=curve,
        isometry=isometry,
        sample=comparison.sample,
        spectrum=spectrum(comparison.embedded_points),
        near=near,
    )


def _refuse_blocks(*tables: Any) -> None:
    if any(isinstance(table, RowBlocks) for table in tables):
        msg = (
            "A table in row blocks was given, but this scorecard looks at all rows at once. Use "
            "isofold.quality.block_scorecard(X, Y), which reads block by block."
        )
        raise InvalidInputError(msg)


def _budget(n_samples: int | str | None, everywhere: Comparison) -> tuple[int | None, int | None]:
    """Return at how many points to evaluate, and from how many to follow shortest paths."""
    if isinstance(n_samples, str):
        if n_samples != "auto":
            msg = f"n_samples={n_samples!r} must be a whole number, 'auto', or None for all points."
            raise InvalidInputError(msg)
        n = everywhere.sample.n_points
        width = 1 if everywhere.input.points is None else everywhere.input.points.shape[1]
        rows = MAX_PAIRS // (n * (1 + width // SLOW_COLUMNS))
        return max(MIN_ROWS, rows), max(MIN_SOURCES, MAX_PATHS // n)
    if n_samples is not None:
        check_count(n_samples, name="n_samples")
    return n_samples, n_samples


def _graph_of(X: Any, near: Neighborhoods, *, metric: str, n_jobs: int | None) -> NeighborGraph:
    """Return the union graph of the k nearest neighbors, from what was found already."""
    k = near.indices.shape[1]
    if (near.before == 0).any():
        # Copies fill the lists, where a graph wants k other points, if there are so many.
        k = min(k, _n_distinct(X, metric) - 1)
        return build_graph(X, n_neighbors=k, metric=metric, n_jobs=n_jobs)
    # Near nodes have near numbers: paths then stay in the cache.
    number = inverse_of(near.order)
    with stage("neighbor graph"):
        directed = edges_from_lists(near.before[near.order], number[near.indices[near.order]])
        return assemble(Distinct(number, near.order), directed, kind="union")


def _n_distinct(X: Any, metric: str) -> int:
    if metric == "precomputed":
        return distances_between_nodes(np.asarray(X))[1].n_nodes
    return find_distinct(check_points(X)).n_nodes


def _rank_entries(sweep: RankSweep, sample: RowSample) -> Iterator[Entry]:
    lost = ranks.loss_score(sweep.embedded, sample)
    yield from rank_entries(sweep.embedded, sweep.original, lost, sample)


def _curve_entries(curve: CoRankingCurve) -> Iterator[Entry]:
    for size, kept in curve.kept_at:
        meaning = f"fraction of the {size} nearest that are still among the {size} nearest"
        yield Entry(f"kept_{size}", kept, "1", meaning)
    yield Entry("rnx_area", curve.area, "1", "neighbors kept at all scales, above chance")


def _draw_both(
    near: Neighborhoods, shown: Neighborhoods, sizes: tuple[int | None, int | None], seed: Any
) -> list[RowSample]:
    """Draw the rows at which ranks are taken, and those from which paths are followed."""
    n = near.sample.n_points
    suspicion = evidence_of_loss(near, shown) if (sizes[1] or n) < n else None
    return [draw_rows(n, size, seed, evidence=suspicion) for size in sizes]


def _measure_lengths(
    near: Neighborhoods, shown: Neighborhoods
) -> tuple[LocalIsometry, list[Entry]]:
    isometry = isometry_of(near)
    return isometry, [*length_entries(isometry, near, shown), _preservation_entry(near)]


def _preservation_entry(near: Neighborhoods) -> Entry:
    meaning = "squared-length error of neighbors"
    return Entry("preservation_error", preservation_of(near), "0", meaning)


def _global_entries(comparison: Comparison, sweep: RankSweep, k: int) -> Iterator[Entry]:
    moments, sample = sweep.moments, comparison.sample
    stretched = stretch_from(sweep.ratios, k, sample)
    yield Entry(
        "stretch", stretched, "", "other pairs: mean squared length ratio, above 1 = unfolded"
    )
    yield Entry(
        "stress",
        stress_of(moments, sample),
        "0",
        "straight-line distances: relative error (unfolding raises it)",
    )
    yield Entry(
        "stress_scaled", stress_of(moments, sample, scale=True), "0", "the same, best scale allowed"
    )
    shepard = correlation_of(rank_moments(comparison), sample)
    yield Entry(
        "shepard_correlation",
        shepard,
        "1",
        "straight-line distances: rank correlation (unfolding lowers it)",
    )


def _path_entries(comparison: Comparison, graph: NeighborGraph) -> Iterator[Entry]:
    check_paths(graph)
    moments, triplets = along_paths(comparison, graph, path_moments, count_triplets)
    unexplained = residual_variance_of(moments, comparison.sample)
    meaning = "distances along the data: variance not explained"
    yield Entry("residual_variance", unexplained, "0", meaning)
    meaning = "which of two points is farther along the data: order kept (chance: 0.5)"
    yield Entry("triplet_accuracy", triplets_of(triplets, comparison.sample), "1", meaning)


def _rigid_entries(everywhere: Comparison, near: Neighborhoods) -> Iterator[Entry]:
    before, after = everywhere.input.points, everywhere.embedded_points
    if before is not None:
        measure = procrustes_measure_of(before, after, near, n_jobs=everywhere.n_jobs)
        yield Entry("procrustes_measure", measure, "0", "misfit of rigid neighborhoods")


def _truth_entries(Y: Any, truth: Any) -> Iterator[Entry]:
    error, scaled = procrustes_error(Y, truth), procrustes_error(Y, truth, scale=True)
    yield Entry("procrustes_error", error, "0", "distance from the true coordinates")
    yield Entry("procrustes_error_scaled", scaled, "0", "the same, best scale allowed")
