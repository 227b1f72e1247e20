"""TesseraMap: embedding by affine transformations of rigid tesserae, for many thousand points.

Data are cut into tesserae, disjoint near-flat clusters C_ℓ with local coordinates P_ℓ. Kept rigid,
they are placed by rotations R_ℓ and translations t_ℓ, Y = US (U of blocks [P_ℓ 1], S stacking
(R_ℓ; t_ℓ)), so that the Gram matrix lies on a small face, G = UBUᵀ with B = SSᵀ:

    max ⟨M, B⟩     B ⪰ 0, R_ℓR_ℓᵀ = I, distances of links between neighboring tesserae kept

A kernel of full rank does not change these training points; Ω = K⁺Y then maps new ones. One of
low rank confines them to its span: U becomes KK⁺U. Links that rigid tesserae cannot all keep are
kept in the least-squares sense.

References
----------
Khajehpour Tadavani, P. (2013). Nonlinear dimensionality reduction by manifold unfolding. PhD
thesis, University of Waterloo, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from isofold._base import Fit
from isofold._findings import Finding, parameter, setting
from isofold._typing import Auto, Clusterer, FloatArray, IntArray, Kernel, Metric
from isofold._validation import check_count, check_seed, check_units
from isofold.embedding.affine.base import (
    KernelEmbedder,
    find_kernel,
    find_kernel_map,
    fitted_map,
    preservation,
    usual_length,
)
from isofold.embedding.affine.pairs import short
from isofold.embedding.affine.seams import choose_links
from isofold.embedding.affine.span import KernelSpan
from isofold.embedding.affine.tessera_labels import tessera_labels
from isofold.embedding.affine.tessera_program import (
    NOTHING,
    pose_tesserae,
    principal_poses,
    refuse_many,
    stretch_on_map,
)
from isofold.embedding.mvu.base import (
    Unfolded,
    describe,
    find_bridges,
    find_uncertified,
    make_solver,
)
from isofold.exceptions import InvalidInputError
from isofold.extension import (
    CorrectedMap,
    KernelMap,
    fit_barycentric,
    fit_kernel_regression,
)
from isofold.linalg import deterministic_signs, principal_coordinates
from isofold.neighbors import (
    Bridged,
    NeighborGraph,
    build_graph,
    mean_at_nodes,
    resolve_graph,
    spread_landmarks,
)
from isofold.patches.choices import Cover
from isofold.patches.tesserae import Tesserae, cut_tesserae
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP
from isofold.sdp.posing.two_stage import Stretched, stretch

__all__ = ["TesseraMap"]

DEFAULT_NEIGHBORS = 8
"""Neighbors among which links between tesserae are sought."""

SLACK, THICKNESSES = 0.02, 3.0
"""Root mean square of the relative errors of links' squared lengths beyond the least possible: on
rolls a tenth of it bends them, and ten times of it tears them apart. Links shorter than this
many thicknesses of tesserae count as being that long: flat tesserae cannot meet more closely than
they are bent, however close the points at their rims."""

ENOUGH = 1e-4
"""Relative duality gap of the default solver: finer ones change no map."""

MOST_EXACT, LANDMARKS = 2000, 600
"""Distinct samples up to which the kernel of all is inverted, and landmarks for more samples."""

REGRESSION_WIDTH = 4.0
"""Width of their kernel in units of the mean distance between neighboring landmarks."""

CONFINED = 1e-3
"""Fraction of the variance outside the span of a kernel from which tesserae are placed again within
it."""

BENT = 0.1
"""Fraction of squared distances off the axes of tesserae from which they are not flat."""

TORN = 0.2
"""Relative error of links' squared lengths from which tesserae do not fit together."""

CUT = 0.2
"""Fraction of the variance beyond the map from which it shows a projection only."""


class TesseraMap(KernelEmbedder):
    """Unfold the data by rigid tesserae, and map new samples by a kernel.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map, and the most dimensions of a tessera.
    n_neighbors : int or None, default=None
        Neighbors among which links between tesserae are sought; 8 by default.
    cover : {"affinity", "kmeans", "ldlc"}, Cover, clusterer or None, default="affinity"
        How the data are cut. "affinity": affinity propagation with median preference, which finds
        the number of tesserae itself (on a sample of 800 if there are more); for the other methods
        it is the root of the number of samples, at most 100. ``Cover.clusters("kmeans", 30)`` asks
        for a number. A clusterer of scikit-learn's kind is cloned. ``Cover.labels(...)`` holds a
        label for each sample. None: every sample is a tessera of its own. Clusters that are not
        connected along the neighbors are taken apart, except given labels.
    n_links : int or None, default=None
        Distances that are kept between two neighboring tesserae, of near pairs along their seam:
        r + 1 by default, r² at most. Fewer leave hinges, more lock tesserae together.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. The method then works with points that have these distances.
    kernel : {"rbf", "poly", "linear", "precomputed"}, callable or ObjectKernel, default="rbf"
        The kernel in whose feature space the map is linear, see `EAT`.
    gamma : "auto" or float, default="auto"
        γ of the kernel; "auto" as in `EAT`.
    solver : DenseSDP, LowRankSDP, ConicSDP or None, default=None
        Solver; the dense interior point by default.
    random_state : int, RandomState or None, default=None
        Seed of the clustering and the choice of landmarks.
    n_jobs : int or None, default=None
        Threads. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    labels_ : ndarray of int of shape (n_samples,)
        The tessera of every sample.
    tesserae_ : Tesserae
        The tesserae of the distinct samples.
    links_ : ndarray of int of shape (n_links, 2)
        Pairs of samples whose distances hold tesserae together.
    link_error_ : float
        Root mean square of the errors of the links' squared lengths, relative to these, or to the
        thickness of tesserae if they are shorter, before the projection to `n_components`.
    graph_, bridges_ : NeighborGraph, ndarray
        The neighbors, and edges that were added because these had several components.
    preservation_error_ : float
        Mean of (‖y_i - y_j‖²/‖x_i - x_j‖² - 1)² over neighbors, on the map; distances far below
        the median count as a twentieth of it.
    stretch_ : float
        Mean of ‖y_i - y_j‖²/‖x_i - x_j‖² over other pairs of different tesserae, on the map.
    map_ : KernelMap or CorrectedMap
        The map behind `transform`.
    kernel_rank_ratio_ : float or None
        Rank of the centered kernel over the number of distinct samples; None with landmarks.
    gamma_ : float
        The γ that was used.
    solution_ : SDPSolution
        The solution over the poses of the tesserae, with its certificate; translations are in
        units of `unit_`.
    unit_ : float
        Mean distance of neighbors, links to outliers left out.
    weight_ : float
        λ: no other poses with links as true stretch more.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the lengths to neighbors at every sample.
    spectrum_, discarded_variance_ratio_ : ndarray, float
        Variances along all axes of the solution, and the fraction beyond `n_components`.

    See Also
    --------
    EAT : The same for single points, with pairs of the user's choice.
    IPA : Faster, for overlapping patches; it does not stretch.

    Notes
    -----
    `transform` returns `embedding_` for training samples (to rounding). With up to 2,000 distinct
    samples these are confined to the span of the kernel, which a kernel of low rank bends a little;
    beyond, the map is a kernel regression on 600 landmarks, corrected by what it leaves at the
    neighbors of a new sample.

    Examples
    --------
    >>> from isofold import TesseraMap
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(1500, width=21.0, uniform=True, random_state=0)
    >>> tessera = TesseraMap(random_state=0).fit(roll.X[:1000])
    >>> Y = tessera.transform(roll.X[1000:])
    >>> bool(procrustes_error(Y, roll.truth[1000:]) < 0.1)
    True
    """

    # Tesserae are flat clusters of points.
    _takes_kernel: ClassVar[bool] = False

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = None,
        cover: Literal["affinity", "kmeans", "ldlc"] | Clusterer | Cover | None = "affinity",
        n_links: int | None = None,
        metric: Metric = "euclidean",
        kernel: Kernel = "rbf",
        gamma: float | Auto = "auto",
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.cover = cover
        self.n_links = n_links
        self.metric = metric
        self.kernel = kernel
        self.gamma = gamma
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _solver(self, graph: NeighborGraph, r: int, rng: np.random.RandomState) -> Any:
        """Return the user's solver, or one of our own."""
        given = DenseSDP(tol=ENOUGH) if self.solver is None else self.solver
        return make_solver(given, graph, r, rng)

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        r = check_count(self.n_components, name="n_components")
        rng = check_seed(self.random_state)
        n_links = _check_links(self.n_links, r)
        # Step 1: neighbors, in one component.
        graph = self._neighbors(X)
        points = X[graph.sample_of_node].astype(np.float64)
        # In units of the usual length of edges numbers are of the size of rotations.
        unit = usual_length(graph.lengths)
        near = replace(graph, lengths=graph.lengths.astype(np.float64) / unit)
        scaled = points / unit
        # Step 2: disjoint tesserae, each with at most r axes.
        tesserae = cut_tesserae(scaled, self._labels(points, graph, rng), r)
        links = choose_links(scaled, near, tesserae.labels, n_links)
        refuse_many(tesserae, links)
        # Steps 3 to 6: the program over the poses B. A kernel of full rank leaves it aside.
        units = np.maximum(links.lengths, THICKNESSES * tesserae.thickness) ** 2
        solver = self._solver(graph, r, rng)
        problem = pose_tesserae(scaled, tesserae, near, links, n_jobs=self.n_jobs)
        result = stretch(problem, slack=SLACK, solver=solver, units=units)
        span, kernel_map = self._span(points, graph)
        if span is not None and _bends(span, tesserae, result):
            # The face of a kernel of low rank: U becomes KK⁺U.
            problem = pose_tesserae(scaled, tesserae, near, links, functions=span.functions)
            result = stretch(problem, slack=SLACK, solver=solver, units=units)
        # Step 7: Y = U·B^½, centered, in principal axes; and the map for new samples.
        poses, Y, spectrum = _principal(tesserae, result.solution.coordinates, span, unit, r)
        unfolded = describe(Y, graph, r)
        leading = unfolded.coordinates
        new_map: KernelMap | CorrectedMap
        if span is not None and kernel_map is not None:
            new_map = fitted_map(kernel_map, span, leading)
            stretched = stretch_on_map(points, tesserae.labels, graph, leading)
        else:
            new_map = self._regression(points, leading, rng)
            stretched = float(np.vdot(poses[:, :r], problem.objective @ poses[:, :r]))
        link_error = float(np.sqrt(preservation(Y / unit, links.pairs, links.lengths, units)))
        discarded = float(spectrum[r:].sum() / spectrum.sum())
        is_faithful = unfolded.lengths.median <= BENT
        return Fit.of(
            leading[graph.node_of_sample],
            map_=new_map,
            findings=(
                *find_bridges(graph),
                *find_uncertified(result.solution),
                *_find_tesserae(tesserae, link_error, discarded),
                *(() if span is None else find_kernel_map(new_map, leading, points)),
                *find_kernel(span, n_kept=len(links.pairs), is_faithful=is_faithful),
            ),
            stretch=stretched,
            kernel_rank_ratio=None if span is None else span.rank / len(points),
            link_error=link_error,
            spectrum=unit**2 * spectrum,
            discarded_variance_ratio=discarded,
            unit=unit,
            gamma=new_map.kernel.gamma,
            links=graph.sample_of_node[links.pairs],
            **_description(graph, unfolded, tesserae.scaled(unit), result),
        )

    def _span(
        self, points: FloatArray, graph: NeighborGraph
    ) -> tuple[KernelSpan, KernelMap] | tuple[None, None]:
        """Return the functions of the kernel and their map, unless there are too many points."""
        if len(points) > MOST_EXACT:
            return None, None
        return next(self._spans(points, graph.lengths.astype(np.float64)))

    def _labels(
        self, points: FloatArray, graph: NeighborGraph, rng: np.random.RandomState
    ) -> IntArray:
        return tessera_labels(
            self.cover,
            points,
            graph,
            n_components=self.n_components,
            random_state=rng,
            n_jobs=self.n_jobs,
        )

    def _neighbors(self, X: FloatArray) -> NeighborGraph:
        """Return the connected graph of the neighbors of distinct samples."""
        check_units(X, name="X")
        graph = resolve_graph(
            X,
            Bridged(),
            n_neighbors=self.n_neighbors,
            default=DEFAULT_NEIGHBORS,
            n_jobs=self.n_jobs,
        )
        if graph.n_nodes < 2:
            msg = (
                f"All {len(X)} samples are the same, so that there are no distances. Pass at least "
                f"two different samples."
            )
            raise InvalidInputError(msg)
        return graph

    def _regression(
        self, points: FloatArray, Y: FloatArray, rng: np.random.RandomState
    ) -> CorrectedMap:
        """Return the regression on landmarks, corrected by its residuals."""
        chosen = spread_landmarks(points, LANDMARKS, int(rng.randint(len(points))))
        marks = points[chosen]
        near = build_graph(marks, n_neighbors=DEFAULT_NEIGHBORS, n_jobs=self.n_jobs)
        kernel = self._kernel_function(marks - marks.mean(axis=0), near.lengths, REGRESSION_WIDTH)
        trend = fit_kernel_regression(points, Y, chosen, kernel, n_jobs=self.n_jobs)
        neighbors = fit_barycentric(points, Y, n_jobs=self.n_jobs)
        return CorrectedMap(trend, neighbors, Y - trend.transform(points))


def _principal(
    tesserae: Tesserae, poses: FloatArray, span: KernelSpan | None, unit: float, r: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the poses, the points in principal axes, and the variances along these."""
    if span is None:
        poses, spectrum = principal_poses(tesserae, poses, r)
        placed = np.asarray(tesserae.matrix @ poses)
        return poses, unit * deterministic_signs(placed - placed.mean(axis=0)), spectrum
    placed = span.project(np.asarray(tesserae.matrix @ poses))
    Y = unit * principal_coordinates(placed, tol=NOTHING).coordinates
    return poses, Y, np.mean((Y / unit) ** 2, axis=0)


def _bends(span: KernelSpan, tesserae: Tesserae, result: Stretched) -> bool:
    """Return whether the kernel cannot represent the solution, but has functions for another."""
    lost = span.lost(tesserae.matrix @ result.solution.coordinates)
    return lost > CONFINED and span.rank > tesserae.n_rows


def _description(
    graph: NeighborGraph, unfolded: Unfolded, tesserae: Tesserae, result: Stretched
) -> dict[str, Any]:
    """Return the attributes that show how the map came about and how true it is."""
    squared = graph.lengths.astype(np.float64) ** 2
    least = np.maximum(squared, short(graph.lengths) ** 2)
    Y = unfolded.coordinates
    return {
        "solution": result.solution,
        "weight": result.weight,
        "tesserae": tesserae,
        "labels": tesserae.labels[graph.node_of_sample],
        "graph": graph,
        "bridges": graph.sample_of_node[graph.bridges],
        "preservation_error": preservation(Y, graph.edges, graph.lengths, least),
        "distortion": mean_at_nodes(unfolded.errors, graph)[graph.node_of_sample],
    }


def _check_links(n_links: Any, r: int) -> int:
    """Return the links between two tesserae: r + 1 by default, r² at most."""
    if n_links is None:
        return min(r + 1, r * r)
    count = check_count(n_links, name="n_links")
    if count > r * r:
        msg = (
            f"{setting('n_links', count)}, but more than {parameter('n_components')}² = {r * r} "
            f"links lock two tesserae of {r} dimensions together, so that nothing unfolds. Pass at "
            f"most {r * r}."
        )
        raise InvalidInputError(msg)
    return count


def _find_tesserae(tesserae: Tesserae, link_error: float, discarded: float) -> Iterator[Finding]:
    """Yield findings about tesserae that are not flat or do not fit, and about a projection."""
    r = tesserae.local.shape[1]
    if tesserae.residual > BENT:
        yield Finding.checked(
            "bent_tesserae",
            tesserae.residual,
            BENT,
            is_raised=True,
            n=tesserae.n_tesserae,
            dimension=r,
        )
    if link_error > TORN:
        yield Finding.checked("torn_tesserae", link_error, TORN, is_raised=True)
    if discarded > CUT:
        yield Finding.checked("discarded_variance", discarded, CUT, is_raised=True, dimension=r)
