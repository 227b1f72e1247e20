"""What data look like before a map is made: counts, components, dimension, noise, density, shapes.

Large data are looked at through a sample. Dimension is estimated twice: by the growth of neighbor
distances (Levina and Bickel), which counts noise as dimension, and by a gap in the spectrum of
neighborhoods, which looks past noise but needs to see all directions. Neither decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from isofold._findings import Finding
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.neighbors import (
    Knn,
    Mutual,
    NeighborGraph,
    build_search,
    connected_components,
    dimension_of_lengths,
    find_outliers,
    levina_bickel_dimension,
    resolve_graph,
    subgraph,
)
from isofold.neighbors.dimension import dimension_of_lists, local_singular_values
from isofold.neighbors.near_points import NearPoints
from isofold.survey.shapes import recognize_shapes

__all__ = [
    "Survey",
    "SurveyedPart",
    "survey_graph",
    "survey_neighbors",
    "survey_samples",
    "survey_shapes",
]

MOST_SAMPLES = 5000
"""Samples that are looked at, by default."""

NEIGHBORS = 12
"""Neighbors in the graph, of which only mutual ones are joined."""

GAP_NEIGHBORS, LEAST_GAP, SMALLEST_GAP_DIMENSION = 30, 1.5, 2
"""Size of the neighborhoods whose spectrum is looked at, the ratio of successive standard
deviations that counts as a gap, and the least dimension at which one is believed."""

SPECTRUM_SAMPLE = 500
"""Neighborhoods whose spectrum is looked at."""

LEAST_FOR_SHAPES = 30
"""Fewer points have no shape."""

RANK_SAMPLE = 1000
"""Samples whose rank is counted."""

FEWEST = 4
"""Distinct points from which on a dimension can be estimated."""

MOST_LISTED, LEAST_DIMENSION = 5, 0.5
"""Components whose dimensions are listed, and the least dimension that is worth a note."""


@dataclass(frozen=True, eq=False)
class SurveyedPart:
    """One connected component of the data.

    Attributes
    ----------
    n_samples : int
        Samples in it, of those that were looked at.
    dimension : float
        Levina-Bickel estimate; NaN if there are too few samples.
    gap_dimension : int or None
        Directions before a clear gap in the spectrum of its neighborhoods, if there is one.
    noise : float
        Standard deviation of one direction beyond the gap over that of one before it; NaN without
        a gap.
    """

    n_samples: int
    dimension: float
    gap_dimension: int | None
    noise: float


@dataclass(frozen=True, eq=False)
class Survey:
    """What data look like.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    n_features : int or None
        Number of features; None if distances were given.
    n_looked_at : int
        Samples on which all figures below rest.
    n_copies : int
        Samples that are copies of another.
    n_outliers : int
        Samples that are connected only by edges far longer than those around them.
    rank : int or None
        Directions in which 1,000 samples differ at all; None if distances were given.
    dimension : float
        Levina-Bickel estimate of the intrinsic dimension, NaN if there are too few samples.
    parts : tuple of SurveyedPart
        The connected components, the largest first.
    sampling : float
        95 % over 5 % quantile of the distance to the nearest neighbors: how uneven the density is.
    shapes : tuple of Finding
        Shapes that no flat map can keep, present or not, see `recognize_shapes`.
    """

    n_samples: int
    n_features: int | None
    n_looked_at: int
    n_copies: int
    n_outliers: int
    rank: int | None
    dimension: float
    parts: tuple[SurveyedPart, ...]
    sampling: float
    shapes: tuple[Finding, ...]

    @property
    def raised(self) -> tuple[Finding, ...]:
        """The shapes that were recognized."""
        return tuple(shape for shape in self.shapes if shape.is_raised)

    @property
    def suggested_dimension(self) -> int:
        """The whole number nearest to the estimate, at least 1."""
        return max(1, round(self.dimension)) if np.isfinite(self.dimension) else 1

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What was seen: counts, components, dimension."""
        seen = [self._counts()]
        if self.n_looked_at < self.n_samples:
            seen.append(Finding.of("sampled", n=self.n_looked_at))
        if self.n_copies:
            seen.append(Finding.of("copies", n=self.n_copies))
        if self.n_outliers:
            seen.append(Finding.of("far_samples", n=self.n_outliers))
        if len(self.parts) > 1:
            sizes = tuple(part.n_samples for part in self.parts)
            seen.append(Finding.of("separate", n=len(sizes), sizes=sizes))
        if self.dimension >= LEAST_DIMENSION:
            seen.append(self._dimension())
        gap = self.parts[0].gap_dimension
        if gap is not None and gap < self.suggested_dimension:
            seen.append(Finding.of("spectral_gap", gap=gap, noise=self.parts[0].noise))
        return tuple(seen)

    def _counts(self) -> Finding:
        n, d = self.n_samples, self.n_features
        if d is None:
            return Finding.of("data", form="distances", n=n)
        if self.rank == d:
            return Finding.of("data", n=n, n_features=d)
        return Finding.of("data", form="rank", n=n, n_features=d, rank=self.rank)

    def _dimension(self) -> Finding:
        """Return the dimension, and those of the first components if they differ."""
        large = [p.dimension for p in self.parts[:MOST_LISTED] if p.dimension >= LEAST_DIMENSION]
        if len({f"{dimension:.1f}" for dimension in large}) > 1:
            return Finding.of("dimension", form="parts", value=self.dimension, parts=tuple(large))
        return Finding.of("dimension", value=self.dimension)


@stage("survey")
def survey_samples(
    X: Any,
    *,
    metric: str = "euclidean",
    max_samples: int = MOST_SAMPLES,
    near: NearPoints | None = None,
    graph: NeighborGraph | None = None,
    has_shapes: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Survey:
    """Look at data before any map is made; at shapes, which take most of the time, if wanted.

    Examples
    --------
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.survey import survey_samples
    >>> survey_samples(swiss_roll(800, random_state=0).X, random_state=0).suggested_dimension
    2
    """
    rng = check_random_state(random_state)
    n = X.shape[0]
    given, is_points = X, metric == "euclidean"
    if n > max_samples and not sp.issparse(X):
        rows = np.sort(rng.choice(n, max_samples, replace=False))
        X = X[rows] if is_points else X[np.ix_(rows, rows)]
    if is_points and (near is None or X is not given):
        near = survey_neighbors(X, n_jobs=n_jobs)
    if graph is None or X is not given:
        graph = survey_graph(X, metric=metric, near=near, n_jobs=n_jobs)
    near = _of_nodes(near, graph)
    points = X[graph.sample_of_node].astype(np.float64) if is_points else None
    components = connected_components(graph).members() if graph.n_nodes > 1 else [np.arange(1)]
    samples = np.bincount(graph.node_of_sample, minlength=graph.n_nodes)
    dimension = _dimension(X, graph, np.arange(graph.n_nodes), metric, near)
    parts = tuple(
        _surveyed(
            X[graph.sample_of_node[nodes]] if is_points else None,
            int(samples[nodes].sum()),
            dimension if len(nodes) == graph.n_nodes else _dimension(X, graph, nodes, metric),
            near if len(nodes) == graph.n_nodes else None,
        )
        for nodes in sorted(components, key=len, reverse=True)
    )
    return Survey(
        n_samples=n,
        n_features=given.shape[1] if is_points else None,
        n_looked_at=X.shape[0],
        n_copies=X.shape[0] - graph.n_nodes,
        n_outliers=int(samples[find_outliers(graph, least=2)].sum()) if graph.n_edges else 0,
        rank=None if points is None else _rank(points, X.dtype),
        dimension=dimension,
        parts=parts,
        sampling=_unevenness(graph),
        shapes=survey_shapes(X, graph, metric=metric, near=near, random_state=rng)
        if has_shapes
        else (),
    )


def survey_shapes(
    X: Any,
    graph: NeighborGraph,
    *,
    metric: str = "euclidean",
    near: NearPoints | None = None,
    is_thick: bool = False,
    random_state: Any = None,
) -> tuple[Finding, ...]:
    """Look for shapes that no flat map can keep; few points have none."""
    if graph.n_nodes < LEAST_FOR_SHAPES:
        return ()
    points = X[graph.sample_of_node].astype(np.float64) if metric == "euclidean" else None
    return recognize_shapes(
        points, graph, near=_of_nodes(near, graph), is_thick=is_thick, random_state=random_state
    )


def survey_neighbors(X: FloatArray, *, n_jobs: int | None = None) -> NearPoints:
    """Return points with as many neighbors as the survey looks at."""
    return NearPoints.of(X, GAP_NEIGHBORS - 1, n_jobs=n_jobs)


def survey_graph(
    X: Any,
    *,
    metric: str = "euclidean",
    near: NearPoints | None = None,
    n_jobs: int | None = None,
) -> NeighborGraph:
    """Return the graph by which data are looked at: of mutual neighbors, or of known distances."""
    if near is not None:
        return near.graph(NEIGHBORS, kind="mutual")
    if sp.issparse(X):
        # Known distances are a ready graph.
        return resolve_graph(X, Knn(), metric=metric, n_jobs=n_jobs)
    return resolve_graph(X, Mutual(), n_neighbors=NEIGHBORS, metric=metric, n_jobs=n_jobs)


def _of_nodes(near: NearPoints | None, graph: NeighborGraph) -> NearPoints | None:
    """Return the points if they are the nodes; none of these is two points that cannot be told."""
    return near if near is not None and near.n_nodes == graph.n_nodes else None


def _rank(points: FloatArray, dtype: np.dtype[Any]) -> int:
    """Return the number of directions beyond the rounding of the given numbers."""
    centered = points[nodes_between(len(points), RANK_SAMPLE)] - points.mean(axis=0)
    largest = max(centered.shape) * float(np.finfo(dtype).eps)
    rounding = max(centered.shape) * float(np.finfo(np.float64).eps)
    if largest**2 < rounding:
        return int(np.linalg.matrix_rank(centered, rtol=largest))
    # Numbers of single precision: products are exact enough, and faster.
    few = centered if len(centered) <= centered.shape[1] else centered.T
    squares = np.linalg.eigvalsh(few @ few.T)
    return int((squares > largest**2 * squares[-1]).sum())


def _dimension(
    X: Any,
    graph: NeighborGraph,
    nodes: IntArray,
    metric: str,
    near: NearPoints | None = None,
) -> float:
    """Return the Levina-Bickel estimate of some nodes; NaN if they are too few."""
    if len(nodes) < FEWEST:
        return float("nan")
    if near is not None:
        return dimension_of_lists(near.found.distances, X.shape[1])
    if sp.issparse(X):
        own = graph if len(nodes) == graph.n_nodes else subgraph(graph, nodes)
        value = dimension_of_lengths(own)
        # Lengths that are all the same say nothing about dimension.
        return float(value) if value < own.n_nodes else float("nan")
    rows = graph.sample_of_node[nodes]
    some = X[rows] if metric == "euclidean" else X[np.ix_(rows, rows)]
    return levina_bickel_dimension(some, metric=metric).value


def _surveyed(
    points: FloatArray | None, n_samples: int, dimension: float, ready: NearPoints | None
) -> SurveyedPart:
    if points is None or len(points) <= GAP_NEIGHBORS:
        return SurveyedPart(n_samples, dimension, None, float("nan"))
    points = points.astype(np.float64)
    some = nodes_between(len(points), SPECTRUM_SAMPLE)
    if ready is None:
        near = build_search(points).query(points[some], GAP_NEIGHBORS).indices
    else:
        near = np.column_stack([some, ready.found.indices[some]])
    values = np.concatenate(list(local_singular_values(points, near, by_products=True)))
    # Every neighborhood counts the same, whatever its size.
    values /= np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    spectrum = np.sqrt((values**2).mean(axis=0))
    gap = _gap(spectrum)
    if gap is None:
        return SurveyedPart(n_samples, dimension, None, float("nan"))
    before, beyond = spectrum[:gap], spectrum[gap : min(len(spectrum), points.shape[1])]
    noise = float(np.sqrt((beyond**2).mean() / (before**2).mean()))
    return SurveyedPart(n_samples, dimension, gap, noise)


def _gap(spectrum: FloatArray) -> int | None:
    """Return the number of directions before the widest gap, if it is one."""
    tiny = np.finfo(np.float64).eps * float(spectrum[0])
    # The last directions of a neighborhood are small because its points are few.
    seen = spectrum[: max(2, min(len(spectrum), GAP_NEIGHBORS // 2))]
    ratios = seen[:-1] / np.maximum(seen[1:], tiny)
    if not len(ratios):
        return None
    widest = int(ratios.argmax())
    is_gap = ratios[widest] >= LEAST_GAP and widest + 1 >= SMALLEST_GAP_DIMENSION
    return widest + 1 if is_gap else None


def nodes_between(n: int, count: int) -> IntArray:
    """Return numbers of up to `count` nodes, evenly spread."""
    return np.linspace(0, n - 1, min(n, count)).astype(np.intp)


def _unevenness(graph: NeighborGraph) -> float:
    if not graph.n_edges:
        return 1.0
    nearest = np.full(graph.n_nodes, np.inf)
    np.minimum.at(nearest, graph.edges.ravel(), np.repeat(graph.lengths, 2).astype(np.float64))
    nearest = nearest[np.isfinite(nearest)]
    low, high = np.quantile(nearest, [0.05, 0.95])
    return float(high / low) if low > 0.0 else float("inf")
