"""Isometric patch alignment (IPA): overlapping patches, each flattened, then fitted together.

    minimize  Σ_x Σ_{i<j ∋ x} w_ij(x) |u_i(x) R_i + t_i - u_j(x) R_j - t_j|²   s.t.  R_i R_iᵀ = I

over rotations R_i (r × p) and translations t_i of patches with charts u_i. With t eliminated it is
a semidefinite program in A = RRᵀ,

    primal   min ⟨K, A⟩     A ⪰ 0, unit blocks on the diagonal
    dual     max tr Λ       K - Λ ⪰ 0, Λ block-diagonal,

whose bound certifies a solution of p = r columns wherever it is met (always, on clean data).

The thesis takes k-means clusters and their principal axes: ``IPA(cover="kmeans", n_patches=50,
chart="pca")``. By default patches are graph balls that find their own size, and charts follow the
curvature to second order, so that nothing needs to be tuned. Data that are not a sheet of this
dimension are then laid out along shortest paths; patches that the user chose are always stitched.

References
----------
Khajehpour Tadavani, P. (2013). Nonlinear Dimensionality Reduction by Manifold Unfolding. PhD
thesis, University of Waterloo, chapter 5.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from isofold._base import Fit, one_fit
from isofold._findings import Diagnosis, Finding, setting
from isofold._progress.stages import interrupted
from isofold._typing import Auto, Clusterer, FloatArray, IntArray, Metric, PairKernel
from isofold._validation import check_count, check_seed, refuse_extreme_units
from isofold.blocks.read import as_blocks
from isofold.embedding.embedder import Embedder
from isofold.embedding.ipa_update import refuse_update, update
from isofold.embedding.streaming import stream_kept
from isofold.exceptions import InvalidInputError
from isofold.extension.patch_map import MappedPoints, assemble
from isofold.extension.placed_outliers import find_placed_outliers
from isofold.neighbors import NeighborGraph, build_graph, levina_bickel_dimension
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.graph import check_same_samples
from isofold.neighbors.point_set import PointSet
from isofold.patches.choices import Cover
from isofold.patches.noise_axes import find_reduction, is_flat
from isofold.sdp import LowRankSDP
from isofold.stitching.components import StitchedMap, project_whole, stitch_components
from isofold.stitching.covers import CoverMaker, read_cover
from isofold.stitching.diagnosis import find_doubts
from isofold.stitching.evidence import estimate_error
from isofold.stitching.levels import StitchingPlan
from isofold.stitching.relaxation import Relaxation, relax_if_loose
from isofold.stitching.rules import RULES
from isofold.stitching.terms import NodeTerms, StitchTerms

__all__ = ["IPA"]

logger = logging.getLogger("isofold")

SAMPLE_SIZES = (20_000, 80_000)
"""Samples from which patches are made; all others are placed by the charts of their neighbors. The
second is drawn only if the map of the first is doubtful."""

HELPED_BY_POINTS = {
    "bending",
    "contraction",
    "error",
    "hinges",
    "layers",
    "misfit",
    "noise",
    "components",
}
BEYOND_HELP = {"closure", "curvature", "projected"}
"""Doubts for which a larger sample is drawn, and those which it would not change."""

MAX_ITER = 30
"""Steps of each stage of the stitching: what needs more is not a sheet of this dimension."""


class IPA(Embedder):
    """Isometric patch alignment: a map on which distances are true.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Dimension r of the map; "auto" takes the intrinsic dimension of the data.
    cover : {"balls", "kmeans", "ldlc"}, clusterer or Cover, default="balls"
        How the data are covered by patches. "balls": balls of a neighbor graph that grow until
        their tangent stands out from the noise. "kmeans", "ldlc" (flat connected clusters, see
        `LDLC`), a scikit-learn clusterer, or ``Cover.labels(...)``: clusters, expanded until they
        overlap. ``Cover.patches(...)``: patches as they are given. Any choice other than "balls" is
        stitched, even if the data are not a sheet.
    n_patches : int or "auto", default="auto"
        Approximate number of patches. "auto" lets balls find their own size, and takes one cluster
        for every 20 points, at most 50. With a number, patches are stitched in any case; balls that
        find their own size are laid out along shortest paths where the data are not a sheet.
    chart : {"quadratic", "pca"} or embedder, default="quadratic"
        How a patch is flattened: along its curvature, by projection on its principal axes, or by a
        clone of an embedder.
    n_neighbors : int, default=12
        Neighbors in the graph; only mutual neighbors are joined.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. The method then works with points that have these distances.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    terms : StitchTerms or None, default=None
        More than fitting patches: a pull for variance, distances and angles of samples that are
        known or bounded. For up to some hundred patches.
    solver : LowRankSDP or None, default=None
        Solver of the stitching; ``LowRankSDP()`` if None.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.
        The diagnosis is then logged at level INFO, else DEBUG, to the logger "isofold"
        (``logging.basicConfig(level="INFO")`` shows it).

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    diagnosis_ : Diagnosis
        What could make the map untrue: findings with figure, limit, text and advice.
    estimated_error_ : float
        Estimated error of the coordinates relative to their extent.
    solution_ : SDPSolution or None
        The stitching of the largest component with its certificate; None if it was not stitched.
    layout_ : {"stitched", "paths", "projection"}
        What was done with the largest component: its patches were stitched, or laid out along
        shortest paths (data that are not a sheet), or it is the projection onto a single patch.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative length error of the graph edges at every sample, or at the nearest sample
        that has edges.
    cover_ : PatchCover
        The patches, over the nodes of `graph_`.
    graph_ : NeighborGraph
        The graph of the samples from which patches were made.
    node_samples_ : ndarray of int
        The samples at the nodes of `graph_`.
    patch_error_ : ndarray of shape (n_patches,)
        How badly every patch fits the map, relative to its extent.
    spectrum_ : ndarray
        Variances along the axes of the space in which patches fit best; more than n_components of
        them if the data do not fit into so few.
    discarded_variance_ratio_ : float
        The fraction of these variances beyond n_components.
    component_ : ndarray of int of shape (n_samples,)
        The connected component of every sample, the largest first.
    bridges_ : ndarray of int of shape (n_bridges, 2)
        Pairs of samples whose straight distance placed one component beside the other.
    outliers_ : ndarray of bool of shape (n_samples,)
        Samples far from the patches around them. They were placed on the map but not used to fit
        it.
    n_components_ : int
        The dimension of the map.
    map_ : PatchMap or ExtendedMap
        The charts and motions behind `transform`; after `partial_fit` those of all steps.

    See Also
    --------
    isofold.quality.scorecard : Measures the map.

    Notes
    -----
    `transform` maps each row by the charts of its nearest nodes, blended continuously; on the
    training samples it returns `embedding_`. `inverse_transform` goes back onto the surface that
    the charts describe, so noise does not come back; where data are too thick for a surface,
    neighbors on the map lead closer to the samples, and are used instead.

    Examples
    --------
    >>> from isofold import IPA
    >>> from isofold.datasets import holed_swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = holed_swiss_roll(1000, random_state=0)
    >>> ipa = IPA(random_state=0)
    >>> Y = ipa.fit_transform(roll.X)
    >>> bool(procrustes_error(Y, roll.truth) < 0.01)
    True
    >>> ipa.diagnosis_.is_sound
    True
    """

    def __init__(
        self,
        *,
        n_components: int | Auto = 2,
        cover: Literal["balls", "kmeans", "ldlc"] | Clusterer | Cover = "balls",
        n_patches: int | Auto = "auto",
        chart: Literal["quadratic", "pca"] | BaseEstimator = "quadratic",
        n_neighbors: int = 12,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        terms: StitchTerms | None = None,
        solver: LowRankSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.cover = cover
        self.n_patches = n_patches
        self.chart = chart
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.terms = terms
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : None
            Ignored; there for scikit-learn's pipelines.
        **fit_params
            The following, if there is one.
        graph : NeighborGraph or None, default=None
            A ready graph of mutual neighbors among these samples, for up to 20,000 samples. It is
            used unless directions of pure noise are left out, which changes the neighbors.

        Returns
        -------
        self
            The fitted embedder.
        """
        return super().fit(X, y, **fit_params)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Extend the map by more points of the same manifold, in the same frame.

        Points near those of earlier fits are placed, and change nothing. Where there are no charts
        yet, new ones are made, moved to the old ones and added. Old samples stay where they are,
        and the old map is never improved; only samples in `outliers_` move if new charts reach
        them.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), RowBlocks or Dask collection
            The new points; a table in blocks is read into memory. Fewer than ``n_components + 3``
            of them in a new region extend nothing yet: they are outliers until more have come.
        y : None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        self
            The embedder. `embedding_`, `component_`, `distortion_` and `outliers_` have the new
            samples after the old ones; other attributes are those of the last stitching, which
            holds the nodes of all calls. Without a fit before, it is that of `fit`.

        Raises
        ------
        InvalidInputError
            If the new points cannot be used, or the map cannot be extended: with another `metric`
            or a `kernel`, with a given cover or with `terms`. The embedder stays as it was.

        Examples
        --------
        >>> import numpy as np
        >>> from isofold import IPA
        >>> from isofold.datasets import swiss_roll
        >>> from isofold.quality import procrustes_error
        >>> roll = swiss_roll(2000, width=21.0, uniform=True, random_state=0)
        >>> order = np.argsort(roll.truth[:, 0])
        >>> X, truth = roll.X[order], roll.truth[order]
        >>> ipa = IPA(random_state=0).fit(X[:1000])
        >>> first = ipa.embedding_
        >>> ipa = ipa.partial_fit(X[1000:])
        >>> bool((ipa.embedding_[:1000] == first).all())
        True
        >>> bool(procrustes_error(ipa.embedding_, truth) < 1e-3)
        True
        """
        if not hasattr(self, "embedding_"):
            return self.fit(X, y)
        with one_fit(self):
            refuse_update(self)
            blocks = as_blocks(X)
            X = X if blocks is None else blocks.to_array()
            points = np.ascontiguousarray(self._validate(X, reset=False))
            fit = update(self, points, check_seed(self.random_state))
            with stream_kept(self):
                self._record(fit, fit.embedding)
            self._warn()
        return self

    def _fit(self, X: FloatArray, y: Any, *, graph: NeighborGraph | None = None) -> Fit:
        return self._fit_sizes(X, SAMPLE_SIZES, graph)

    def _fit_all(self, X: FloatArray, y: Any, *, graph: NeighborGraph | None = None) -> Fit:
        """Make patches from all samples: they are a sample already."""
        return self._fit_sizes(X, (len(X),), graph)

    def _fit_sizes(self, X: FloatArray, sizes: tuple[int, ...], graph: NeighborGraph | None) -> Fit:
        """Make patches from larger and larger samples while doubts are left that these clear."""
        _check_ready(X, graph)
        rng = check_seed(self.random_state)
        refuse_extreme_units(X)
        if self.terms is not None and not isinstance(self.terms, StitchTerms):
            msg = f"terms={self.terms!r} must be a StitchTerms or None."
            raise InvalidInputError(msg)
        for size in sizes:
            fit = self._fit_sample(X, self._sample(len(X), size, rng), rng, graph)
            diagnosis = Diagnosis(fit.findings)
            self._log("%s", diagnosis)
            if not _is_helped_by_points(diagnosis) or interrupted() or len(X) <= size:
                break
            self._log("%d samples leave doubts: %s", size, diagnosis)
        return fit

    def _is_helped_by_samples(self) -> bool:
        return _is_helped_by_points(self.diagnosis_)

    def _fit_sample(
        self,
        X: FloatArray,
        rows: IntArray,
        rng: np.random.RandomState,
        ready: NeighborGraph | None = None,
        *,
        n_components: int | None = None,
    ) -> Fit:
        """Make patches from some samples, and map all samples."""
        sample = X[rows]
        r = self._dimension(sample) if n_components is None else n_components
        least = r if r > RULES.certified_dimension else r - 1
        flat = self._may_stay_flat() and is_flat(sample, least)
        # Directions of pure noise, or of nothing, are left out.
        reduction = None if flat else find_reduction(sample, r)
        points = sample if reduction is None else reduction.apply(sample)
        graph = ready if ready is not None and reduction is None else self._neighbors(points)
        node_rows, points = rows[graph.sample_of_node], points[graph.sample_of_node]
        node_of_row = np.full(len(X), -1)
        node_of_row[rows] = graph.node_of_sample
        cover = read_cover(self.cover, len(X), node_rows)
        plan = self._plan(cover, self._terms(node_of_row), r, rng)
        # Algorithm 5: cover, charts (steps 1 and 2), one program for each component (3 to 9).
        if flat:
            stitched = project_whole(points, graph, r)
        else:
            whole = PointSet.whole(points, graph)
            stitched = stitch_components(whole, plan, n_components=r, n_jobs=self.n_jobs)
        points = points[stitched.used]
        # Steps 10 and 11: every point by its charts, centered, in principal axes.
        patch_map = assemble(points, stitched, reduction)
        mapped = patch_map.map_points(X, n_jobs=self.n_jobs)
        relaxation = relax_if_loose(points, stitched, plan)
        outliers = mapped.is_off
        placed = find_placed_outliers(patch_map, X, mapped, node_rows[stitched.used])
        error = estimate_error(stitched, placed)
        findings = find_doubts(
            points, stitched, relaxation=relaxation, error=error, outlier_fraction=placed.fraction
        )
        if outliers.any() and "outliers" not in Diagnosis(findings).codes:
            note = Finding.of("placed_outliers", n=int(outliers.sum()))
            findings = (*findings, note)
        node_samples = node_rows[stitched.used]
        return Fit.of(
            mapped.images,
            map_=patch_map,
            findings=findings,
            n_components=r,
            node_samples=node_samples,
            outliers=outliers,
            estimated_error=error.total,
            bridges=node_samples[stitched.graph.bridges],
            **_description(stitched, mapped, relaxation, r),
        )

    def _plan(
        self,
        cover: Any,
        terms: Callable[[IntArray], NodeTerms] | None,
        r: int,
        rng: np.random.RandomState,
    ) -> StitchingPlan:
        """Return how components are covered, charted and stitched."""
        solver = self._solver(r, rng)
        covers = CoverMaker(cover, self.n_patches, self.chart, r, rng=rng, n_jobs=self.n_jobs)
        return StitchingPlan(covers, solver, terms, n_jobs=self.n_jobs)

    def _neighbors(self, points: FloatArray) -> NeighborGraph:
        """Return the graph of mutual neighbors."""
        most = max(1, find_distinct(points).n_nodes - 1)
        k = min(check_count(self.n_neighbors, name="n_neighbors"), most)
        return build_graph(points, n_neighbors=k, kind="mutual", n_jobs=self.n_jobs)

    def _transform(self, X: FloatArray) -> FloatArray:
        return self.map_.transform(X, n_jobs=self.n_jobs)

    def _inverse_transform(self, Y: FloatArray) -> FloatArray:
        return self.map_.inverse_transform(Y, n_jobs=self.n_jobs)

    def distance_to_manifold(self, X: Any) -> FloatArray:
        """Return how far points are from the surface that the charts describe.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_new,)
            Root of the mean squared distance from the charts near each point.
        """
        check_is_fitted(self, "embedding_")
        X = self._validate(X, reset=False)
        return self.map_.distance(X, n_jobs=self.n_jobs).astype(X.dtype, copy=False)

    def _sample(self, n: int, size: int, rng: np.random.RandomState) -> IntArray:
        """Return the rows from which patches are made, ascending; those that `terms` name too."""
        if n <= size:
            return np.arange(n)
        # A random permutation would take n numbers; distinct draws take as many as are needed.
        drawn = sample_without_replacement(n, size, random_state=rng)
        if self.terms is None:
            return np.sort(drawn).astype(np.intp)
        return np.union1d(drawn, self.terms.named(n)).astype(np.intp)

    def _may_stay_flat(self) -> bool:
        """Return whether data that need no unfolding may be left as they are.

        In up to three dimensions they are stitched like all others, exactly and patch by patch,
        unless they fill even fewer.
        """
        is_default = isinstance(self.cover, str) and self.cover == "balls"
        is_free = isinstance(self.n_patches, str) and self.terms is None
        return is_default and is_free and isinstance(self.chart, str)

    def _dimension(self, sample: FloatArray) -> int:
        d = sample.shape[1]
        if isinstance(self.n_components, str):
            if self.n_components != "auto":
                requested = setting("n_components", self.n_components)
                msg = f"{requested} must be a whole number or 'auto'."
                raise InvalidInputError(msg)
            return min(d, levina_bickel_dimension(sample, n_jobs=self.n_jobs).rounded)
        r = check_count(self.n_components, name="n_components")
        if r > d:
            msg = (
                f"{setting('n_components', r)}, but X has {d} feature(s): there is nothing to "
                f"unfold into more dimensions than the data have. Pass at most "
                f"{setting('n_components', d)}."
            )
            raise InvalidInputError(msg)
        return r

    def _solver(self, r: int, rng: np.random.RandomState) -> LowRankSDP:
        """Return the solver, held to r columns unless the user says otherwise."""
        if self.solver is not None and not isinstance(self.solver, LowRankSDP):
            msg = f"solver={self.solver!r} must be a LowRankSDP or None."
            raise InvalidInputError(msg)
        solver = LowRankSDP(max_iter=MAX_ITER) if self.solver is None else clone(self.solver)
        if solver.random_state is None:
            solver.random_state = rng.randint(2**31 - 1)
        if solver.max_rank is None:
            solver.max_rank = r
        return solver

    def _terms(self, node_of_row: IntArray) -> Callable[[IntArray], NodeTerms] | None:
        if self.terms is None:
            return None
        terms = self.terms.on_nodes(node_of_row)
        return partial(terms.within, n_nodes=int(node_of_row.max()) + 1)

    def _log(self, message: str, *values: Any) -> None:
        logger.log(logging.INFO if self.verbose else logging.DEBUG, message, *values)


def _is_helped_by_points(diagnosis: Diagnosis) -> bool:
    """Return whether doubts are left that patches from more points may clear."""
    doubts = diagnosis.codes
    is_hopeless = diagnosis["noise"].value > RULES.hopeless or bool(doubts & BEYOND_HELP)
    return not is_hopeless and bool(doubts & HELPED_BY_POINTS)


def _check_ready(X: FloatArray, graph: NeighborGraph | None) -> None:
    """Refuse a ready graph of other samples, or of more than patches are made from."""
    if graph is None:
        return
    check_same_samples(X, graph)
    if len(X) > SAMPLE_SIZES[0]:
        msg = (
            f"X has {len(X)} samples, and patches are made from {SAMPLE_SIZES[0]} of them, so that "
            f"a ready graph of all cannot be used. Leave graph out."
        )
        raise InvalidInputError(msg)


def _description(
    stitched: StitchedMap, mapped: MappedPoints, relaxation: Relaxation | None, r: int
) -> dict[str, Any]:
    """Return the attributes that show how the map came about and how true it is."""
    largest = stitched.components[0]
    spectrum = largest.spectrum if relaxation is None else relaxation.spectrum
    total, beyond = float(spectrum.sum()), float(spectrum[r:].sum())
    return {
        "graph": stitched.graph,
        "cover": stitched.cover,
        "component": stitched.labels[mapped.nearest],
        "distortion": stitched.distortion[mapped.nearest],
        "patch_error": np.concatenate([each.patch_error for each in stitched.components]),
        "solution": largest.alignment.solution,
        "layout": largest.layout,
        "spectrum": spectrum,
        "discarded_variance_ratio": beyond / total if total > 0.0 else 0.0,
    }
