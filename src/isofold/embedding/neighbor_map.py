"""A map of neighbors on which lengths are true: neighbor embedding, then local stress.

1. Neighbors: t-SNE's divergence with uniform affinities, its repulsion from a particle mesh
   (`isofold.stress.neighbor_embedding`). This decides who is near whom.
2. Lengths: scaled so that the median edge has its length, the map is relaxed by a local stress
   whose weights redescend (`isofold.stress.kept_lengths`). Most lengths become true; those that
   the map cannot have are given up, and strangers are pushed out of neighborhoods.
3. Scale: the one at which the median relative error of lengths is least.

Real data have more dimensions than a map. A method that insists on all lengths then lays strangers
onto each other; one that only asks for neighbors has no lengths. Here phase 1 chooses which
neighbors can be kept, and phase 2 makes their lengths true.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

from isofold._base import Fit
from isofold._findings import Finding, Severity, setting
from isofold._parallel import RowTeam
from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold._validation import (
    check_count,
    check_fraction,
    check_points,
    check_seed,
    check_units,
)
from isofold.embedding.embedder import Embedder
from isofold.exceptions import InvalidInputError
from isofold.extension import DistanceMap, StressMap, TrainingPoints, fit_from_distances
from isofold.linalg import principal_coordinates
from isofold.neighbors import LengthErrors, NeighborGraph, edge_errors, mean_at_nodes
from isofold.neighbors.near_points import NearPoints
from isofold.stress.kept_lengths import LengthRules, keep_lengths, nearest_on_map
from isofold.stress.near_samples import NearSamples, n_kept
from isofold.stress.neighbor_embedding import embed_neighbors

__all__ = ["NeighborMap"]

MOST_COMPONENTS = 3
"""Dimensions in which a mesh is worth while."""

SPREAD, JITTER = 1e-2, 1e-6
"""Standard deviation of the start along its first axis, and of the noise that parts points which
coincide there: neighbors could not."""

N_MEASURED = 2000
"""Samples at which lost neighbors are counted."""

MOST_LOST, LARGEST_ERROR = 0.9, 0.5
"""Fraction of lost neighbors, and median relative length error, from which a map is doubtful."""

MOST_REACH = 100.0
"""Distance of the own neighbors, in units of the median, from which a sample is an outlier that
leaves no room on a page for the others. Tables in mixed units come to 50."""

SCALE_SAMPLE = 20_000
"""Lengths from which the scale of the map is found."""


class NeighborMap(Embedder):
    """Map of real data: the neighbors of t-SNE, with true lengths.

    For data of more dimensions than the map, such as images, cells, texts and tables. Neighbors
    are kept at least as well as by t-SNE and UMAP, and the distances between them are true as far
    as a map of so few dimensions allows. Distances between far samples mean as little as there.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimension of the map.
    n_neighbors : int, default=15
        Neighbors of a sample that attract it; the lengths of the nearest two thirds are kept.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    balance : float, default=0.5
        From 0 (neighbors: a fast t-SNE) to 1 (lengths). More of it makes lengths truer, and loses
        more neighbors.
    init : "pca", array of shape (n_samples, n_components) or embedder, default="pca"
        Where samples start: on their principal axes (of distances: by landmark scaling), at given
        coordinates, or where another embedder puts them. Only the arrangement counts, not its size.
    random_state : int, RandomState or None, default=None
        Seed of the noise (a ten-thousandth of the start) that parts samples which start together.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, in principal axes and in the unit of the data.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the kept lengths at every sample.
    length_errors_ : LengthErrors
        Summary of the relative errors of all kept lengths.
    lost_neighbors_ : float
        Fraction of the neighbors of a sample that are not among as many neighbors on the map.
    graph_ : NeighborGraph
        The graph of the kept lengths.
    map_ : StressMap or DistanceMap
        The map behind `transform`.

    See Also
    --------
    isofold.IPA : Keeps all distances where the data are a sheet of the map's dimension.
    isofold.LocalMDS : Keeps far distances better, for data of few dimensions.
    isofold.Unfold : Decides between them.

    Notes
    -----
    The same bytes for the same seed, whatever the number of threads. `transform` places each row
    by itself, and returns `embedding_` on the training samples.

    Beyond some ten thousand samples of many features, neighbors are found approximately, and
    ranked by their exact distances.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isofold import NeighborMap
    >>> from isofold.quality import trustworthiness
    >>> X = load_digits().data[:400]
    >>> Y = NeighborMap(random_state=0).fit_transform(X)
    >>> bool(trustworthiness(X, Y) > 0.97)
    True
    """

    _takes_distances: ClassVar[bool] = True

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int = 15,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        balance: float = 0.5,
        init: Any = "pca",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.balance = balance
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points, or their distances if ``metric="precomputed"``.
        y : None
            Ignored; there for scikit-learn's pipelines.
        **fit_params
            The following, if there is one.
        near : NearPoints or None, default=None
            These points with their nearest others, at least `n_neighbors` of each, if they were
            found already.

        Returns
        -------
        self
            The fitted embedder.
        """
        return super().fit(X, y, **fit_params)

    def _fit(self, X: Any, y: Any, *, near: NearPoints | None = None) -> Fit:
        p, k = self._check(X)
        balance = check_fraction(self.balance, name="balance", is_closed=True)
        rng = check_seed(self.random_state)
        samples = NearSamples.read(X, self._seen_metric, k, p, self.n_jobs, ready=near)
        start = self._start(X, samples, p, rng)
        rules = LengthRules.balanced(balance, samples.n_nodes)
        if samples.n_nodes > 1:
            points = embed_neighbors(samples.lists, start, n_jobs=self.n_jobs)
            points = points / _scale(points, samples)
            if balance > 0.0:
                points = keep_lengths(points, samples.wanted, rules, n_jobs=self.n_jobs)
            points = points * _best_scale(points, samples)
        else:
            points = np.zeros((1, p))
        points = samples.unit * principal_coordinates(points, p).coordinates
        graph = _graph(samples)
        errors = edge_errors(points, graph)
        lost = _lost_neighbors(points, samples, self.n_jobs)
        embedding = points[samples.distinct.node_of_sample]
        lengths = LengthErrors.of(errors)
        return Fit.of(
            embedding,
            map_=self._map(embedding, samples, rules),
            findings=(
                *_find_components(samples),
                *_find_outliers(samples),
                *_find_kept(lost, lengths),
            ),
            graph=graph,
            length_errors=lengths,
            lost_neighbors=lost,
            distortion=mean_at_nodes(errors, graph)[graph.node_of_sample],
        )

    def _check(self, X: Any) -> tuple[int, int]:
        """Return dimension and number of neighbors, checked."""
        p = check_count(self.n_components, name="n_components")
        if p > MOST_COMPONENTS:
            msg = (
                f"{setting('n_components', p)}, but NeighborMap makes maps of 1, 2 or 3 "
                f"dimensions: its mesh would have too many nodes in more. Use LocalMDS or IPA for "
                f"more dimensions."
            )
            raise InvalidInputError(msg)
        k = check_count(self.n_neighbors, name="n_neighbors")
        entries: FloatArray = X if isinstance(X, np.ndarray) else np.asarray(X.data)
        if entries.size:
            check_units(entries, name="X")
        return p, k

    def _start(
        self, X: Any, samples: NearSamples, p: int, rng: np.random.RandomState
    ) -> FloatArray:
        """Return where nodes start, a hundredth apart."""
        start = samples.start
        if not (isinstance(self.init, str) and self.init == "pca"):
            start = self._given_start(X, p)[samples.distinct.sample_of_node]
        start = start.astype(np.float64) - start.mean(axis=0, dtype=np.float64)
        start = np.pad(start, ((0, 0), (0, p - start.shape[1])))
        width = float(start.std(axis=0).max(initial=0.0))
        start *= SPREAD / width if width > 0.0 else 0.0
        return start + JITTER * rng.standard_normal(start.shape)

    def _given_start(self, X: Any, p: int) -> FloatArray:
        """Return the start that the user gives: an array, or the map of an embedder."""
        if isinstance(self.init, str):
            msg = (
                f"{setting('init', self.init)} must be 'pca', an array of coordinates or an "
                f"embedder with `fit_transform`."
            )
            raise InvalidInputError(msg)
        is_embedder = hasattr(self.init, "fit_transform")
        given = clone(self.init).fit_transform(X) if is_embedder else self.init
        start = check_points(given, name="init", min_samples=1)
        if start.shape != (X.shape[0], p):
            msg = (
                f"init gives coordinates of shape {start.shape}, but {X.shape[0]} samples are "
                f"mapped with {setting('n_components', p)}. Pass coordinates of shape "
                f"{(X.shape[0], p)}, one row a sample."
            )
            raise InvalidInputError(msg)
        return start

    def _map(
        self, embedding: FloatArray, samples: NearSamples, rules: LengthRules
    ) -> StressMap | DistanceMap:
        """Return the map that takes new samples into the embedding."""
        check_units(embedding, name="the map", given="X")
        if samples.search is None:
            return fit_from_distances(embedding)
        points = samples.search.points
        rounding = float(np.finfo(points.dtype).eps) * np.abs(points).max(axis=1)
        training = TrainingPoints(
            points, embedding.copy(), samples.distinct.sample_of_node, samples.search, rounding
        )
        reach, k = samples.wanted.reach, n_kept(self.n_neighbors)
        return StressMap(training, samples.unit, reach, k, rules, self.n_jobs)


def _ratios(points: FloatArray, samples: NearSamples) -> FloatArray:
    """Return lengths on the map over lengths in the data, of some of those that are kept."""
    rows = samples.wanted.lengths
    step = max(1, len(rows.indices) // SCALE_SAMPLE)
    heads = rows.indices[::step]
    tails = np.searchsorted(rows.indptr, np.arange(0, len(rows.indices), step), side="right") - 1
    on_map = np.linalg.norm(points[heads] - points[tails], axis=1)
    ratios = on_map / rows.values[::step]
    return np.asarray(ratios[ratios > 0.0])


def _scale(points: FloatArray, samples: NearSamples) -> float:
    """Return the median of lengths on the map over those in the data."""
    ratios = _ratios(points, samples)
    return float(np.median(ratios)) if len(ratios) else 1.0


def _best_scale(points: FloatArray, samples: NearSamples) -> float:
    """Return the factor at which the median relative error of lengths is least.

    Half of the ratios lie within the median error: of all halves in a row, the one whose ends a, b
    are nearest in proportion, and the factor is 2/(a + b).
    """
    ratios = np.sort(_ratios(points, samples))
    if not len(ratios):
        return 1.0
    half = len(ratios) // 2 + 1
    low, high = ratios[: len(ratios) - half + 1], ratios[half - 1 :]
    best = int(np.argmin(high / low))
    return float(2.0 / (low[best] + high[best]))


def _graph(samples: NearSamples) -> NeighborGraph:
    """Return the graph of the kept lengths, in the unit of the data."""
    rows = samples.wanted.lengths
    tails = np.repeat(np.arange(samples.n_nodes), np.diff(rows.indptr))
    once = tails < rows.indices
    edges = np.stack([tails[once], rows.indices[once]], axis=1).astype(np.intp)
    return NeighborGraph(
        n_nodes=samples.n_nodes,
        edges=edges,
        lengths=samples.unit * rows.values[once].astype(np.float64),
        node_of_sample=samples.distinct.node_of_sample,
        sample_of_node=samples.distinct.sample_of_node,
        is_bridge=np.zeros(len(edges), dtype=bool),
    )


def _lost_neighbors(points: FloatArray, samples: NearSamples, n_jobs: int | None) -> float:
    """Return the fraction of neighbors that are not neighbors on the map, at some samples."""
    lists = samples.lists
    rows = np.linspace(0, samples.n_nodes - 1, min(samples.n_nodes, N_MEASURED)).astype(np.intp)
    rows = rows[lists.counts[rows] > 0]
    if not len(rows):
        return 0.0
    k = int(lists.counts.max())
    with RowTeam(len(rows), n_jobs) as team:
        near = nearest_on_map(points, points[rows], k, team)
    lost = [_lost_at(row, shown, lists) for row, shown in zip(rows, near, strict=True)]
    return float(np.mean(lost))


def _lost_at(row: int, shown: IntArray, lists: Any) -> float:
    own = lists.indices[lists.indptr[row] : lists.indptr[row + 1]]
    others = shown[shown != row][: len(own)]
    return 1.0 - len(np.intersect1d(own, others)) / len(own)


def _find_components(samples: NearSamples) -> Iterator[Finding]:
    """Yield a finding if the kept lengths leave several components: their places mean nothing."""
    _, labels = connected_components(samples.wanted.lengths.table, directed=False)
    sizes = np.sort(np.bincount(labels[samples.distinct.node_of_sample]))[::-1]
    if len(sizes) > 1:
        yield Finding.of(
            "components",
            Severity.DOUBT,
            form="unplaced",
            value=len(sizes),
            sizes=tuple(sizes.tolist()),
        )


def _find_outliers(samples: NearSamples) -> Iterator[Finding]:
    """Yield a finding if some samples are so far from all others that these cannot be seen."""
    reach = samples.wanted.reach
    is_far = (reach > MOST_REACH)[samples.distinct.node_of_sample]
    if is_far.any():
        numbers = np.flatnonzero(is_far)
        yield Finding(
            "outliers",
            Severity.DOUBT,
            value=float(reach.max()),
            limit=MOST_REACH,
            samples=numbers,
            parameters=(("n", len(numbers)), ("numbers", tuple(numbers.tolist()))),
            form="far",
        )


def _find_kept(lost: float, lengths: LengthErrors) -> Iterator[Finding]:
    """Yield what was kept, and whether that is too little."""
    yield Finding.of("kept", value=1.0 - lost, error=lengths.median)
    is_raised = lost > MOST_LOST
    yield Finding.checked("crowded_map", lost, MOST_LOST, is_raised=is_raised)
    is_untrue = lengths.median > LARGEST_ERROR
    yield Finding.checked("untrue_lengths", lengths.median, LARGEST_ERROR, is_raised=is_untrue)
