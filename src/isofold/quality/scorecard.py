"""All measures of one embedding, gathered, printed, exported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from isofold._cluster import sharing
from isofold._typing import FloatArray
from isofold._validation import check_count, check_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph, build_graph
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.graph import distances_between_nodes
from isofold.quality import ranks
from isofold.quality.coranking import CoRankingCurve, curve_of
from isofold.quality.distances import Comparison, compare
from isofold.quality.global_ import (
    along_paths,
    check_paths,
    correlation_of,
    pair_moments,
    path_moments,
    rank_moments,
    residual_variance_of,
    stress_of,
)
from isofold.quality.groups import one_nn_of
from isofold.quality.isometry import (
    LocalIsometry,
    isometry_of,
    preservation_of,
    procrustes_measure_of,
    stretch_of,
)
from isofold.quality.neighborhoods import (
    Neighborhoods,
    evidence_of_loss,
    neighborhoods_of,
    shown_neighborhoods_of,
)
from isofold.quality.score import CONFIDENCE, RowSample, Score, draw_rows
from isofold.quality.summary import MapSummary, best_scale_error
from isofold.quality.triplets import count_triplets, triplets_of
from isofold.quality.truth import procrustes_error, spectrum

if TYPE_CHECKING:
    import pandas as pd

MAX_PAIRS = 25 * 10**7
"""Distances looked at with n_samples="auto": exact up to 15,811 points, which takes a minute."""
MAX_PATHS = 2 * 10**7
"""Shortest paths, which cost fifty times more each: exact up to 4,472 points."""
SLOW_COLUMNS = 100
"""Columns whose distances take as long as everything else that is done with them."""
MIN_ROWS = 200
MIN_SOURCES = 32


@dataclass(frozen=True, eq=False)
class Entry:
    """One line of a scorecard.

    Parameters
    ----------
    name : str
        Name of the measure.
    score : Score
        Its value.
    best : str
        The value of a perfect map, empty if there is none.
    meaning : str
        What it says, in brief.
    """

    name: str
    score: Score
    best: str
    meaning: str


@dataclass(frozen=True, eq=False)
class Scorecard(Mapping[str, Score]):
    """Quality of one embedding; a mapping from the name of a measure to its :class:`Score`.

    Parameters
    ----------
    entries : tuple of Entry
        The measures in order.
    n_points, n_components, n_neighbors : int
        What was scored, and how large neighborhoods were.
    curve : CoRankingCurve
        Neighborhood preservation at every scale.
    isometry : LocalIsometry
        Distribution of length ratios; ``isometry.per_point`` is the distortion of every point.
    sample : RowSample
        The points at which the measures of ranks and of all pairs were evaluated.
    spectrum : ndarray of shape (n_components,)
        Fraction of the embedding's variance along its principal axes.
    near : Neighborhoods
        The nearest in the data of all points, with their lengths before and after.
    """

    entries: tuple[Entry, ...]
    n_points: int
    n_components: int
    n_neighbors: int
    curve: CoRankingCurve = field(repr=False)
    isometry: LocalIsometry = field(repr=False)
    sample: RowSample = field(repr=False)
    spectrum: FloatArray = field(repr=False)
    near: Neighborhoods = field(repr=False)

    def __getitem__(self, name: str) -> Score:
        for entry in self.entries:
            if entry.name == name:
                return entry.score
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (entry.name for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def title(self) -> str:
        """What was scored, in one line."""
        sampled = len(self.sample.indices)
        how = "all points" if self.sample.exact else f"{sampled:,} sampled points"
        size = f"{self.n_points:,} points in {self.n_components}-D"
        return f"{size}, {self.n_neighbors} neighbors, {how}"

    @property
    def summary(self) -> MapSummary:
        """The short scorecard, see :func:`~isofold.quality.summary`."""
        return MapSummary(
            trustworthiness=float(self["trustworthiness"]),
            continuity=float(self["continuity"]),
            length_error=float(self["length_error_median"]),
            scaled_length_error=float(self["length_error_scaled"]),
            shown_length_error=float(self["shown_length_error_median"]),
            scaled_shown_length_error=float(self["shown_length_error_scaled"]),
            neighbor_error=float(self["neighbor_error"]),
        )

    def __str__(self) -> str:
        cells = [("measure", "value", f"{CONFIDENCE:.0%} interval", "best", "what it says")]
        cells += [
            (entry.name, _number(entry.score), _interval(entry.score), entry.best, entry.meaning)
            for entry in self.entries
        ]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = []
        for name, value, interval, best, meaning in cells:
            figures = (
                f"{name:<{widths[0]}}  {value:>{widths[1]}}  {interval:>{widths[2]}}"
                f"  {best:>{widths[3]}}"
            )
            lines.append(f"{figures}  {meaning}")
        rule = "-" * max(len(line) for line in lines)
        return "\n".join([self.title, rule, lines[0], rule, *lines[1:]])

    def to_pandas(self) -> pd.DataFrame:
        """Return the scorecard as a data frame, one row a measure (needs pandas)."""
        from isofold._dependencies import require

        pandas = require("pandas", extra="pandas", purpose="Scorecard.to_pandas")
        rows = [
            {
                "measure": entry.name,
                "value": float(entry.score),
                "low": entry.score.interval[0],
                "high": entry.score.interval[1],
                "exact": entry.score.exact,
                "best": entry.best,
                "meaning": entry.meaning,
            }
            for entry in self.entries
        ]
        return pandas.DataFrame(rows).set_index("measure")

    def to_html(self) -> str:
        """Return the scorecard as an HTML table."""
        header = ("measure", "value", f"{CONFIDENCE:.0%} interval", "best", "what it says")
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>"
            f"<th scope='row'>{escape(entry.name)}</th><td>{_number(entry.score)}</td>"
            f"<td>{_interval(entry.score)}</td><td>{entry.best}</td>"
            f"<td>{escape(entry.meaning)}</td></tr>"
            for entry in self.entries
        )
        return (
            f"<table class='isofold-scorecard'><caption>{escape(self.title)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


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
    everywhere = compare(X, Y, metric=metric, n_jobs=n_jobs)
    n_points = everywhere.sample.n_points
    k = ranks.check_half_neighbors(n_neighbors, n_points)
    n_rows, n_sources = _budget(n_samples, everywhere)
    # Shortest paths need the neighbors of all points, so lengths of neighbors are always exact,
    # and where they are wrong is where the sample looks first.
    near, shown = neighborhoods_of(everywhere, k), shown_neighborhoods_of(everywhere, k)
    isometry = isometry_of(near)
    suspicion = evidence_of_loss(near, shown) if (n_sources or n_points) < n_points else None
    comparison = replace(
        everywhere, sample=draw_rows(n_points, n_rows, random_state, evidence=suspicion)
    )
    sources = draw_rows(n_points, n_sources, random_state, evidence=suspicion)
    graph = _graph_of(X, near, metric=metric, n_jobs=n_jobs)
    curve = curve_of(comparison)
    entries = [
        *_rank_entries(comparison, k),
        *_curve_entries(curve),
        *_length_entries(isometry, near, shown),
        *_global_entries(comparison, k),
        *_path_entries(replace(comparison, sample=sources), graph),
    ]
    if everywhere.input.points is not None:
        measure = procrustes_measure_of(
            everywhere.input.points, everywhere.embedded_points, near, n_jobs=n_jobs
        )
        entries.append(Entry("procrustes_measure", measure, "0", "misfit of rigid neighborhoods"))
    if labels is not None:
        error = one_nn_of(everywhere, labels)
        entries.append(Entry("one_nn_error", error, "0", "nearest point has another label"))
    if truth is not None:
        entries += _truth_entries(Y, truth)
    return Scorecard(
        entries=tuple(entries),
        n_points=n_points,
        n_components=comparison.embedded_points.shape[1],
        n_neighbors=k,
        curve=curve,
        isometry=isometry,
        sample=comparison.sample,
        spectrum=spectrum(comparison.embedded_points),
        near=near,
    )


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
    n, k = near.indices.shape
    if (near.before == 0).any():
        # Copies fill the lists, where a graph wants k other points, if there are so many.
        k = min(k, _n_distinct(X, metric) - 1)
        return build_graph(X, n_neighbors=k, metric=metric, n_jobs=n_jobs)
    lengths = csr_array(
        (near.before.ravel(), near.indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
    return build_graph(lengths, metric="precomputed")


def _n_distinct(X: Any, metric: str) -> int:
    if metric == "precomputed":
        return distances_between_nodes(np.asarray(X))[1].n_nodes
    return find_distinct(check_points(X)).n_nodes


def _rank_entries(comparison: Comparison, k: int) -> Iterator[Entry]:
    embedded, original = ranks.embedded_ranks(comparison, k), ranks.input_ranks(comparison, k)
    for name, measure, table, best, meaning in (
        (
            "trustworthiness",
            ranks.intrusion_score,
            original,
            "1",
            "near on the map, near in the data",
        ),
        ("continuity", ranks.intrusion_score, embedded, "1", "near in data, near on map"),
        ("neighbor_error", ranks.loss_score, embedded, "0", "fraction of neighbors lost"),
        ("mrre_input", ranks.rank_error_score, embedded, "0", "rank error of true neighbors"),
        ("mrre_embedding", ranks.rank_error_score, original, "0", "rank error of shown neighbors"),
    ):
        yield Entry(name, measure(table, comparison.sample), best, meaning)


def _curve_entries(curve: CoRankingCurve) -> Iterator[Entry]:
    for size, kept in curve.kept_at:
        meaning = f"fraction of the {size} nearest that are still among the {size} nearest"
        yield Entry(f"kept_{size}", kept, "1", meaning)
    yield Entry("rnx_area", curve.area, "1", "neighbors kept at all scales, above chance")


def _length_entries(
    isometry: LocalIsometry, near: Neighborhoods, shown: Neighborhoods
) -> Iterator[Entry]:
    yield Entry("length_ratio", isometry.ratio, "1", "median embedded/original neighbor length")
    yield Entry(
        "length_error_median", isometry.median, "0", "median |ratio - 1| of neighbors in the data"
    )
    yield Entry("length_error_p95", isometry.p95, "0", "95% of neighbor lengths are better")
    yield Entry("length_error_worst", isometry.worst, "0", "worst neighbor length")
    scaled = Score(best_scale_error(near.ratio), sample=near.sample)
    yield Entry("length_error_scaled", scaled, "0", "the same median, best scale allowed")
    yield Entry(
        "shown_length_error_median",
        isometry_of(shown).median,
        "0",
        "median |ratio - 1| of neighbors on the map",
    )
    scaled = Score(best_scale_error(shown.ratio), sample=shown.sample)
    yield Entry("shown_length_error_scaled", scaled, "0", "the same, best scale allowed")
    preserved = preservation_of(near)
    yield Entry("preservation_error", preserved, "0", "squared-length error of neighbors")


def _global_entries(comparison: Comparison, k: int) -> Iterator[Entry]:
    moments, sample = pair_moments(comparison), comparison.sample
    stretched = stretch_of(comparison, k)
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


def _truth_entries(Y: Any, truth: Any) -> Iterator[Entry]:
    error, scaled = procrustes_error(Y, truth), procrustes_error(Y, truth, scale=True)
    yield Entry("procrustes_error", error, "0", "distance from the true coordinates")
    yield Entry("procrustes_error_scaled", scaled, "0", "the same, best scale allowed")


def _number(value: float) -> str:
    return f"{float(value):.6g}"


def _interval(score: Score) -> str:
    if score.exact:
        return "exact"
    return f"[{score.interval[0]:.6g}, {score.interval[1]:.6g}]"
