"""Local multidimensional scaling: a map for data that have more dimensions than it.

    minimize  Σ_ij w_ij (|y_i - y_j| - d_ij)²,   w = (1 - a) ρ [d_ij ≤ R] + a [|y_i - y_j| < R]

with the distances d along a neighbor graph and a radius R that shrinks from most pairs to near
ones. Where data cannot be unfolded, distances must be given up; this method gives up far ones and
keeps near ones, and pushes apart what is near on the map only. It starts from classical scaling of
d (Isomap) or, where that is not stable, of straight distances (principal axes), and no step
depends on chance; see `isofold.stress.local_stress`.

Beyond some thousand points the distances of all pairs do not fit into memory. Then only a sample is
mapped like this. The other points are placed by their neighbors in it, and then moved by all points
of the sample, which stay fixed. Their path lengths lead over their nearest points of the sample.
Rows are processed in blocks, and no matrix has n² entries. In up to three dimensions all points are
then relaxed by the lengths to their own neighbors (`isofold.stress.kept_lengths`), which are far
shorter than those within the sample.

References
----------
Lee, J. A., Lendasse, A., & Verleysen, M. (2004). Nonlinear projection with curvilinear distances:
Isomap versus curvilinear distance analysis. Neurocomputing 57.
Venna, J., & Kaski, S. (2006). Local multidimensional scaling. Neural Networks 19.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.random import sample_without_replacement

from isofold._base import Fit
from isofold._memory import block_rows
from isofold._progress.stages import interruptible, stage
from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold._validation import (
    check_count,
    check_fraction,
    check_repeats,
    check_seed,
)
from isofold.embedding.embedder import Embedder
from isofold.embedding.mvu.base import check_lengths, find_bridges, new_map
from isofold.linalg import classical_scaling, principal_coordinates
from isofold.neighbors import LengthErrors, NeighborGraph, edge_errors, mean_at_nodes
from isofold.stress.kept_lengths import LengthRules, keep_lengths
from isofold.stress.local_stress import LocalRules, reach_of, relax_all, relax_others
from isofold.stress.near_samples import NearSamples
from isofold.stress.samples import CoreSamples, LocalSamples, PathLengths

__all__ = ["LocalMDS"]

MOST_PAIRED = 5000
"""Points up to which all pairs move each other: 100 MB of distances, some ten seconds."""

JITTER = 1e-6
"""Noise at the start where points coincide there, in units of the largest distance: nothing
would move such points apart."""

LEAST_EXPLAINED = 0.95
"""Fraction of the path lengths in their leading axes from which on they are the start: rolled
sheets have .98 and more, faces, digits and oils up to .9 in the plane. Started from straight
distances, maps of subsets of the data are two to three times more alike, and no worse."""

SCALE_SAMPLE = 500
"""Points whose distances show how much longer paths are than straight distances."""

MOST_RELAXED, BALANCE_OF_ALL, NEAR_FRACTION = 3, 0.65, 2 / 3
"""Dimensions up to which all points are relaxed, how (as in NeighborMap), and the fraction of the
neighbors there whose lengths are kept: as many as in the graph. Of 12,000 digits of MNIST in the
plane .81 of 12 neighbors are lost, not .85, and lengths are off by .39 (over neighbors in the data)
and .54 (on the map), not .41 and .75; of a roll with noise .275 are lost, not .273, and lengths are
off by .16 and .22, not .22 and .32."""

NEAREST_CORE, ROWS_AT_WORK = 5, 3
"""Points of the sample over which the path of another point may lead, and arrays held at a time."""


@dataclass(frozen=True, eq=False)
class StressLayout:
    """Points that have moved each other to where their distances are right.

    Attributes
    ----------
    paths : PathLengths
        The distances that were wanted, and their unit.
    reach : ndarray of shape (n,)
        Distance of every point's own neighbors, in this unit.
    points : ndarray of shape (n, r)
        Where they are, in this unit.
    """

    paths: PathLengths
    reach: FloatArray
    points: FloatArray


class LocalMDS(Embedder):
    """Local multidimensional scaling: near distances kept, far ones given up where they must be.

    For data whose dimension exceeds that of the map a little, and for maps of more than three
    dimensions. `IPA` maps true sheets more accurately, and `NeighborMap` keeps more neighbors where
    the data have many dimensions; `Unfold` decides between them.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    n_neighbors : int, default=10
        Neighbors in the graph along which distances are measured.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    balance : float, default=0.12
        Weight of keeping strangers apart on the map, against keeping neighbors together, from 0
        to 1. More of it makes neighborhoods on the map more trustworthy, and lengths less true.
    radius : float, default=0.01
        Fraction of all pairs that still count as near at the end.
    n_epochs : int, default=120
        Sweeps over all pairs, while the radius shrinks.
    random_state : int, RandomState or None, default=None
        Seed of the sample of large data, and of the noise that separates coincident points.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, in principal axes.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative length error of the graph edges at every sample.
    length_errors_ : LengthErrors
        Summary of the relative errors of all edges.
    graph_ : NeighborGraph
        The neighbor graph of all samples.
    bridges_ : ndarray of int of shape (n_bridges, 2)
        Pairs of samples that were joined because the graph had several components.
    core_samples_ : ndarray of int
        The samples of which all pairs moved each other; the others were placed after them, and in
        up to three dimensions all were then moved by their neighbors.
    map_ : GooseMap or DistanceMap
        The map behind `transform`.

    See Also
    --------
    isofold.IPA : Keeps all distances where the data are a sheet of the map's dimension.
    isofold.NeighborMap : Keeps more neighbors of data of many dimensions.
    isofold.quality.scorecard : Measures the map.

    Notes
    -----
    Nothing but the sample of large data is left to chance: for up to 5,000 distinct samples maps
    from different seeds are the same, unless classical scaling maps several samples to one point.
    `transform` maps each row by its neighbors and returns `embedding_` on the training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isofold import LocalMDS
    >>> from isofold.quality import trustworthiness
    >>> X = load_digits().data[:400]
    >>> Y = LocalMDS(random_state=0).fit_transform(X)
    >>> bool(trustworthiness(X, Y) > 0.9)
    True
    """

    _takes_distances: ClassVar[bool] = True

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int = 10,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        balance: float = 0.12,
        radius: float = 0.01,
        n_epochs: int = 120,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.balance = balance
        self.radius = radius
        self.n_epochs = n_epochs
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
            Any of the following.
        graph : NeighborGraph or None, default=None
            A ready graph of these samples, instead of that of `n_neighbors`. Its components are
            joined by bridges.
        guide : NeighborGraph or None, default=None
            A ready graph of mutual neighbors, by which edges of `graph` that are short-cuts are
            found.

        Returns
        -------
        self
            The fitted embedder.
        """
        return super().fit(X, y, **fit_params)

    def _fit(
        self,
        X: FloatArray,
        y: Any,
        *,
        graph: NeighborGraph | None = None,
        guide: NeighborGraph | None = None,
    ) -> Fit:
        r = check_count(self.n_components, name="n_components")
        k = check_count(self.n_neighbors, name="n_neighbors")
        rules = LocalRules(
            balance=check_fraction(self.balance, name="balance"),
            radius=check_fraction(self.radius, name="radius"),
            n_epochs=check_repeats(self.n_epochs, name="n_epochs"),
        )
        rng = check_seed(self.random_state)
        samples = LocalSamples(X, self._seen_metric, k, self.n_jobs, ready=graph, ready_guide=guide)
        graph = samples.graph
        check_lengths(graph)
        if graph.n_nodes <= MOST_PAIRED:
            chosen = np.arange(graph.n_nodes)
            layout = self._lay_out(samples, r, rules, rng)
            positions = layout.paths.unit * layout.points
        else:
            drawn = sample_without_replacement(graph.n_nodes, MOST_PAIRED, random_state=rng)
            chosen = np.sort(drawn).astype(np.intp)
            positions = self._place_all(samples, chosen, r, rules, rng)
            # Of a graph, distances between strangers are not known.
            if r <= MOST_RELAXED and not sp.issparse(X):
                positions = self._relaxed(X, graph, positions)
        positions = principal_coordinates(positions, r).coordinates
        errors = edge_errors(positions, graph)
        embedding = positions[graph.node_of_sample]
        return Fit.of(
            embedding,
            map_=new_map(self, X, embedding),
            findings=find_bridges(graph),
            graph=graph,
            core_samples=graph.sample_of_node[chosen],
            bridges=graph.sample_of_node[graph.bridges],
            length_errors=LengthErrors.of(errors),
            distortion=mean_at_nodes(errors, graph)[graph.node_of_sample],
        )

    def _lay_out(
        self,
        samples: LocalSamples | CoreSamples,
        r: int,
        rules: LocalRules,
        rng: np.random.RandomState,
    ) -> StressLayout:
        """Return where samples move each other."""
        paths = samples.paths
        start = _start(paths.lengths, samples.straight_layout(r), r)
        if len(np.unique(start, axis=0)) < len(start):
            start += JITTER * rng.standard_normal(start.shape)
        reach = reach_of(paths.lengths, self.n_neighbors)
        positions = relax_all(paths.lengths, start, reach, rules, n_jobs=self.n_jobs)
        return StressLayout(paths, reach, positions)

    def _place_all(
        self,
        samples: LocalSamples,
        chosen: IntArray,
        r: int,
        rules: LocalRules,
        rng: np.random.RandomState,
    ) -> FloatArray:
        """Return where all nodes go: a sample first, then all others among it."""
        core = samples.core(chosen)
        layout = self._lay_out(core, r, rules, rng)
        unit, radius = layout.paths.unit, float(rules.radii(layout.paths.lengths)[-1])
        extension = new_map(self, core.data, layout.points * unit)
        positions = np.empty((samples.graph.n_nodes, r))
        positions[chosen] = layout.points
        others = np.setdiff1d(np.arange(len(positions)), chosen)
        step = block_rows(ROWS_AT_WORK * 4 * len(chosen), len(others))
        with interruptible(), stage("place other points", total=len(others)) as steps:
            for start in range(0, len(others), step):
                nodes = others[start : start + step]
                rows = core.rows_of(nodes)
                paths, reach = core.paths_of(rows, NEAREST_CORE)
                positions[nodes] = relax_others(
                    paths,
                    extension.transform(rows) / unit,
                    reach,
                    layout.points,
                    layout.reach,
                    rules,
                    radius=radius,
                    n_jobs=self.n_jobs,
                )
                steps.advance(len(nodes))
        return unit * positions

    def _relaxed(self, X: Any, graph: NeighborGraph, positions: FloatArray) -> FloatArray:
        """Return where nodes go when all are moved by the lengths to their own neighbors."""
        k = round(self.n_neighbors / NEAR_FRACTION)
        near = NearSamples.read(X, self._seen_metric, k, positions.shape[1], self.n_jobs)
        start = positions[graph.node_of_sample[near.distinct.sample_of_node]] / near.unit
        rules = LengthRules.balanced(BALANCE_OF_ALL, near.n_nodes)
        moved = near.unit * keep_lengths(start, near.wanted, rules, n_jobs=self.n_jobs)
        return np.asarray(moved[near.distinct.node_of_sample[graph.sample_of_node]])


def _start(paths: FloatArray, straight: FloatArray | None, r: int) -> FloatArray:
    """Return where points start: classical scaling of the path lengths, or of straight distances.

    The first where it holds nearly all of the path lengths, as on a rolled sheet. Elsewhere its
    axes depend on single edges, and so would the map; straight distances, made as long as the
    paths, do not.
    """
    n = len(paths)
    scaled = classical_scaling(paths.astype(np.float64) ** 2, min(r, n))
    start = scaled.coordinates
    if straight is not None and straight.any() and scaled.explained < LEAST_EXPLAINED:
        some = np.linspace(0, n - 1, min(n, SCALE_SAMPLE)).astype(np.intp)
        lengths = np.linalg.norm(straight[some, None] - straight[some], axis=2)
        # The factor that is best in least squares.
        start = straight * (np.vdot(lengths, paths[np.ix_(some, some)]) / np.vdot(lengths, lengths))
    return np.pad(start, ((0, 0), (0, r - start.shape[1])))
