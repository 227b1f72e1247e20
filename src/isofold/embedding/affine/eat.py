"""Embedding by affine transformations (EAT): one map that keeps some distances, stretches others.

A map that is linear in the feature space of a kernel, Y = KΩ on the training points, is sought by

    e* = min Err(A),   Err = mean over kept pairs of (‖y_i − y_j‖²/τ_ij² − 1)²,      A = ΩΩᵀ ⪰ 0
    max Str(A),        Str = mean over stretched pairs of ‖y_i − y_j‖²/τ_ij²,        Err ≤ e* + s²

With K = EΛEᵀ of rank m all that matters is G = YYᵀ = ELEᵀ, of m(m+1)/2 unknowns instead of the
n(n+1)/2 of A ("reduced features"): the program depends on the kernel only by the span of E, and a
kernel of full rank leaves it aside. Then Ω = K⁺Y, and a new point goes to k̄_x·Ω with its centered
kernel row k̄_x. Principal axes come last.

References
----------
Khajehpour Tadavani, P. and Ghodsi, A. (2010). Learning an affine transformation for non-linear
dimensionality reduction. ECML PKDD, 19-34.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from isofold._base import Fit
from isofold._findings import Finding, setting
from isofold._parallel import n_workers
from isofold._progress.stages import interrupted
from isofold._typing import Auto, FloatArray, IntArray, Kernel, Metric
from isofold._validation import check_count, check_seed
from isofold.embedding.affine.base import (
    KernelEmbedder,
    find_kernel,
    find_kernel_map,
    fitted_map,
    preservation,
)
from isofold.embedding.affine.pairs import DistinctSamples, RequestedPairs, Sides, read_pairs
from isofold.embedding.affine.program import AffineProgram, find_targets
from isofold.embedding.affine.span import KernelSpan
from isofold.embedding.mvu.base import (
    Unfolded,
    describe,
    find_bridges,
    find_loose_graph,
    find_uncertified,
    is_loose,
)
from isofold.exceptions import EarlyInterrupt, InvalidInputError
from isofold.extension import KernelMap
from isofold.neighbors import NeighborGraph, build_graph, connect, mean_at_nodes
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP
from isofold.sdp.posing.two_stage import Stretched

__all__ = ["EAT"]

FEWEST_NEIGHBORS, MOST_NEIGHBORS, SAMPLES_A_NEIGHBOR = 6, 12, 60
"""Neighbors kept by default, at least and at most, and samples for each. Twelve, as in MVU, join
the layers of small samples; with six of a thousand samples the map crumples."""

NOTHING = 1e-6
"""Fraction of the largest variance below which an axis counts as empty."""

MOST_SAMPLES = 3000
"""Most samples that are accepted: a thousand take half a minute."""

TOO_WIDE, SMALL_SLACK = 2.0, 0.005
"""An automatic kernel is too wide if errors of kept squared distances exceed the slack, or this one
if it is larger, by this factor."""

FAITHFUL = 0.1
"""Median relative error of kept lengths up to which a map counts as faithful."""


class EAT(KernelEmbedder):
    """Embedding by affine transformations: learn a map from few samples that places all others.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
    n_neighbors : int or None, default=None
        Neighbors whose distances are kept if `fit` is not given pairs. None: 6 for up to 400
        samples, 12 from 720 on.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. The method then works with points that have these distances.
    kernel : {"rbf", "poly", "linear", "precomputed"}, callable or ObjectKernel, default="rbf"
        The kernel in whose feature space the map is linear: exp(-gamma ‖x - y‖²),
        (gamma ⟨x, y⟩ + coef0)^degree of centered samples, or ⟨x, y⟩, which is right where there
        are more features than samples. "precomputed": `X` holds kernel values. A callable takes
        two tables and returns their kernel, like those in ``sklearn.metrics.pairwise``; or two
        collections of any objects, like those in `isofold.similarity`.
    gamma : "auto" or float, default="auto"
        "auto": 1/σ² with σ four times the mean kept distance, or three, two or one and a half
        times that if wider kernels cannot keep these distances; for "poly" one over the variance
        of the data. The thesis's σ is 1/√gamma.
    kernel_params : dict or None, default=None
        "degree" (3 by default) and "coef0" (1.0) of the polynomial kernel.
    slack : float, default=0.005
        How much the root mean square of the relative errors of kept squared distances may exceed
        the least possible. 0: the least-squares solution that stretches most. A little slack lets
        poor kernels unfold.
    solver : DenseSDP, LowRankSDP, ConicSDP or None, default=None
        Solver; by default the dense interior point for up to 600 samples and for kernels of low
        rank. Beyond, or if it is given, `LowRankSDP` keeps the distances as a kernel of full rank
        could, and the solution is projected onto what the kernel spans.
    random_state : int, RandomState or None, default=None
        Seed of the start of `LowRankSDP`.
    n_jobs : int or None, default=None
        Threads of the neighbor search. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    dual_coef_ : ndarray of shape (n_nodes, n_components)
        ΩP: a sample goes to its centered kernel row times this.
    coef_ : ndarray of shape (n_features, n_components) or None
        The matrix of the linear kernel's map, x ↦ (x - mean)·coef_; None for other kernels.
    map_ : KernelMap
        The map behind `transform`.
    pairs_ : Sides
        Kept pairs with their targets, and weights of stretched ones, between distinct samples.
    graph_ : NeighborGraph or None
        The neighbors that are kept, if no pairs were given.
    bridges_ : ndarray of int of shape (n_bridges, 2)
        Pairs of samples that were linked because the neighbor graph had several components.
    preservation_error_ : float
        Err, the mean of (‖y_i - y_j‖²/τ² - 1)² over kept pairs, on the map; distances far below
        the median count as a twentieth of it.
    stretch_ : float
        Str, the mean of ‖y_i - y_j‖²/τ² over stretched pairs, on the map.
    least_error_ : float or None
        Root of the least possible Err before the projection to `n_components`; None if the slack
        did without it.
    kernel_rank_ratio_ : float
        Rank of the centered kernel over the number of distinct samples.
    gamma_ : float
        The γ that was used.
    solution_ : SDPSolution
        The solution with its certificate. The weight of the errors in its program is `weight_`.
    weight_ : float
        λ: the solution stretches most among all maps with no larger error; infinite if kept
        distances are exact.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the kept lengths at every sample.
    spectrum_, discarded_variance_ratio_ : ndarray, float
        Variances along all axes of the solution, and the fraction beyond `n_components`.

    See Also
    --------
    TesseraMap : For more than some thousand samples.
    MVU : The same aim without a map for new samples.

    Notes
    -----
    Copies of a sample count once, and errors of pairs that are much closer than others (a twentieth
    of the median kept distance) are relative to that distance. `transform` returns `embedding_` for
    training samples (to rounding). Where the kept distances leave several components that the
    kernel can move apart, the program is unbounded: neighbors are then linked across the gaps, and
    given pairs are refused.

    Examples
    --------
    >>> from isofold import EAT
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(1500, width=21.0, uniform=True, random_state=0)
    >>> eat = EAT().fit(roll.X[:500])
    >>> bool(procrustes_error(eat.transform(roll.X[500:]), roll.truth[500:]) < 0.02)
    True
    """

    _min_samples: ClassVar[int] = 2

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = None,
        metric: Metric = "euclidean",
        kernel: Kernel = "rbf",
        gamma: float | Auto = "auto",
        kernel_params: dict[str, Any] | None = None,
        slack: float = 0.005,
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
        self.slack = slack
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, or their kernel (n_samples × n_samples) if ``kernel="precomputed"``.
        y : None
            Ignored; there for scikit-learn's pipelines.
        **fit_params
            Any of the following.
        keep : array-like of shape (n_pairs, 2), sparse matrix, NeighborGraph or None, default=None
            Pairs of samples whose distances are kept. A sparse matrix (n_samples × n_samples) or a
            graph holds the distances that they should have. None: every sample and its neighbors.
        stretch : array-like of shape (n_pairs, 2), sparse matrix or None, default=None
            Pairs that are pulled apart; a matrix holds the distances relative to which (at least a
            twentieth of the median kept one). None: all that are neither kept nor free.
        free : array-like of shape (n_pairs, 2), sparse matrix or None, default=None
            Pairs that are neither kept nor stretched; neighbors among them are not kept.
        targets : array-like of shape (n_samples, n_samples) or (n_pairs,), or None, default=None
            Distances that samples should have, whatever they are in `X`: of all, or of the pairs
            in `keep`. None: those in `X`.

        Returns
        -------
        self
            The fitted embedder.
        """
        return super().fit(X, y, **fit_params)

    def _fit(self, X: FloatArray, y: Any, **pairs: Any) -> Fit:
        requested = RequestedPairs(**pairs)
        r = check_count(self.n_components, name="n_components")
        slack = _check_slack(self.slack)
        rng = check_seed(self.random_state)
        n_workers(self.n_jobs)
        _refuse_many(len(X))
        # Step 1: distances, pairs to keep (S) and to stretch (O), target distances τ.
        distinct = self._distinct(X)
        graph = self._neighbors(distinct) if requested.keep is None else None
        sides = read_pairs(requested, distinct, graph)
        kept = sides.graph(distinct)
        # Step 2: the centered kernel and the functions that it spans.
        nodes = distinct.sample_of_node
        values = X[np.ix_(nodes, nodes)] if self._is_given else X[nodes]
        kernels = self._spans(
            values, _input_lengths(distinct, sides), nodes if self._is_given else None
        )
        # Steps 3 to 6: errors, stretch, the two-stage program in reduced features.
        program = AffineProgram(
            sides=sides,
            kept=kept,
            slack=slack,
            solver=self.solver,
            n_components=r,
            rng=rng,
            is_own=requested.targets is None and requested.keep is None,
        )
        span, kernel_map, result, Y = _widest(kernels, program, max(slack, SMALL_SLACK))
        # Steps 7 and 8: principal axes of the solution, and Ω = K⁺Y for new samples.
        unfolded = describe(_held(Y, r), kept, r)
        Y = unfolded.coordinates
        new_map = fitted_map(kernel_map, span, Y)
        is_linear = isinstance(self._map_kernel, str) and self._map_kernel == "linear"
        is_faithful = unfolded.lengths.median <= FAITHFUL
        return Fit.of(
            Y[distinct.node_of_sample],
            map_=new_map,
            findings=(
                *find_kernel_map(new_map, Y, X[nodes]),
                *_find_doubts(graph, result, unfolded),
                *find_kernel(span, n_kept=len(sides.keep), is_faithful=is_faithful),
            ),
            dual_coef=new_map.coefficients,
            coef=kernel_map.points.T @ new_map.coefficients if is_linear else None,
            gamma=kernel_map.kernel.gamma,
            kernel_rank_ratio=span.rank / distinct.n_nodes,
            solution=result.solution,
            weight=result.weight,
            least_error=result.least_error,
            graph=graph,
            pairs=sides,
            bridges=_bridges(graph),
            preservation_error=preservation(Y, sides.keep, sides.targets, sides.units),
            stretch=float(np.vdot(Y, sides.objective @ Y)),
            spectrum=unfolded.spectrum,
            discarded_variance_ratio=unfolded.discarded,
            distortion=mean_at_nodes(unfolded.errors, kept)[kept.node_of_sample],
        )

    def _neighbors(self, distinct: DistinctSamples) -> NeighborGraph:
        """Return the connected graph of the neighbors that are kept."""
        default = distinct.n_nodes // SAMPLES_A_NEIGHBOR
        default = min(max(default, FEWEST_NEIGHBORS), MOST_NEIGHBORS)
        wanted = default if self.n_neighbors is None else self.n_neighbors
        k = min(check_count(wanted, name="n_neighbors"), distinct.n_nodes - 1)
        distances = np.sqrt(distinct.squared)
        graph = build_graph(distances, n_neighbors=k, metric="precomputed", n_jobs=self.n_jobs)
        graph = connect(distances, graph, metric="precomputed", n_jobs=self.n_jobs)
        return replace(
            graph,
            node_of_sample=distinct.node_of_sample,
            sample_of_node=distinct.sample_of_node,
        )


def _find_doubts(
    graph: NeighborGraph | None, result: Stretched, unfolded: Unfolded
) -> Iterator[Finding]:
    """Yield findings about the graph, the solution and its projection to the map."""
    if graph is not None:
        yield from find_bridges(graph)
    yield from find_uncertified(result.solution)
    yield from find_targets(result)
    if is_loose(unfolded):
        yield find_loose_graph(unfolded)


def _bridges(graph: NeighborGraph | None) -> IntArray:
    """Return the pairs of samples that were linked across gaps."""
    none = np.empty((0, 2), dtype=np.intp)
    return none if graph is None else graph.sample_of_node[graph.bridges]


def _widest(
    kernels: Iterator[tuple[KernelSpan, KernelMap]],
    program: AffineProgram,
    slack: float,
) -> tuple[KernelSpan, KernelMap, Stretched, FloatArray]:
    """Return the solution with the widest kernel that keeps distances about as well as any."""
    tried: list[tuple[KernelSpan, KernelMap, Stretched, FloatArray]] = []
    for span, kernel_map in kernels:
        try:
            result, Y = program.solve(span)
        except EarlyInterrupt:
            if not tried:
                raise
            break
        tried.append((span, kernel_map, result, Y))
        if result.error <= TOO_WIDE * slack or interrupted():
            break
    enough = TOO_WIDE * max(slack, min(result.error for _, _, result, _ in tried))
    return next(one for one in tried if one[2].error <= enough)


def _held(Y: FloatArray, n_components: int) -> FloatArray:
    """Return the columns that are not empty; an interior point leaves a little in all columns."""
    sizes = np.einsum("ij,ij->j", Y, Y)
    return Y[:, : max(n_components, int(np.sum(sizes > NOTHING * sizes[0])))]


def _refuse_many(n_samples: int) -> None:
    """Refuse what would take an hour."""
    if n_samples > MOST_SAMPLES:
        msg = (
            f"X has {n_samples} samples. EAT stretches all pairs, and time grows with "
            f"their square and more: above {MOST_SAMPLES} it would take an hour. Use TesseraMap; "
            f"or fit a sample of the data, and transform the rest."
        )
        raise InvalidInputError(msg)


def _check_slack(slack: Any) -> float:
    is_number = isinstance(slack, int | float | np.integer | np.floating)
    if isinstance(slack, bool) or not is_number or not 0.0 <= slack < 1.0:
        msg = (
            f"{setting('slack', slack)} must be a number of at least 0 and below 1: the relative "
            f"error of squared distances that is allowed."
        )
        raise InvalidInputError(msg)
    return float(slack)


def _input_lengths(distinct: DistinctSamples, sides: Sides) -> FloatArray:
    """Return the distances of kept pairs in the input, whatever their targets are."""
    lengths: FloatArray = np.sqrt(distinct.squared[sides.keep[:, 0], sides.keep[:, 1]])
    return lengths
