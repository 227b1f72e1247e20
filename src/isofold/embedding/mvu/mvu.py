"""Maximum variance unfolding (MVU): pull points apart while the lengths of a graph are kept.

    primal   max tr G        G ⪰ 0, G·1 = 0, G_ii + G_jj - 2 G_ij = d_ij² for all edges ij
    dual     min Σ w_ij d_ij²      L_w ⪰ I on vectors of mean zero (L_w the weighted Laplacian)

On a neighbor graph small cliques pin the local rank, no G is positive definite, and the dual of
kept lengths is not attained. Steps of the method of multipliers with a small penalty give lengths
that are kept and a rigorous gap, for the problem whose penalties are centered at the multipliers w̄
that are reported (``solution_.certificate``),

    max tr G - Σ w̄ c - Σ (ν/2) c²,        c_ij = G_ii + G_jj - 2 G_ij - d_ij².

References
----------
Weinberger, K. Q. and Saul, L. K. (2006). Unsupervised learning of image manifolds by semidefinite
programming. International Journal of Computer Vision 70, 77-90.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from isofold._findings import setting
from isofold._typing import FloatArray, Metric, PairKernel
from isofold._validation import check_flag, check_positive
from isofold.embedding.mvu.base import BaseUnfolder, default_neighbors, make_solver
from isofold.exceptions import InvalidInputError
from isofold.neighbors import GraphChoice, Lengths, NeighborGraph, join_shared, resolve_graph
from isofold.sdp import ConicSDP, DenseSDP, GramSDP, LowRankSDP, SDPSolution, Soft
from isofold.sdp.posing.natural_units import natural_penalty

__all__ = ["MVU", "pose"]


class MVU(BaseUnfolder):
    """Maximum variance unfolding with a certificate, on up to some fifty thousand points.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
    n_neighbors : int or None, default=None
        Neighbors whose distances are kept. None: 12 for up to two components, 4(r + 1) for more,
        half of it if angles are kept; with fewer the data crumple into more dimensions than
        they have.
    graph : Knn, Mutual, Radius, Bridged, Enhanced, Lengths, NeighborGraph or None, default=None
        Which graph of `isofold.neighbors` is kept, or a ready one of these samples. ``Knn()`` (None
        means it) refuses data in several components; ``Mutual()`` does, too, and keeps only
        neighbors who list each other. ``Bridged()`` joins components at their closest points,
        ``Enhanced()`` by several edges. ``Radius(r)`` keeps all distances up to r, and
        ``Lengths(matrix)`` those in a sparse matrix, whatever they are.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    lengths : {"equal", "at_most"} or Soft, default="equal"
        "equal": lengths are kept, by multiplier steps. "at_most": they are upper bounds.
        ``Soft(ν)``: errors cost (ν/2) Σ s c², in natural units; from 4 (bends lengths) to 4096
        (hard to certify).
    angles : bool, default=False
        Whether distances of all pairs that share a neighbor are kept, too.
    solver : LowRankSDP, ConicSDP or None, default=None
        Solver; by default `LowRankSDP` with enough columns.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map: the leading principal axes of the solution.
    solution_ : SDPSolution
        The solution with its certificate; its message says which problem is certified.
    graph_ : NeighborGraph
        The graph whose lengths are kept, over distinct samples.
    bridges_ : ndarray of int of shape (n_bridges, 2)
        Pairs of samples that were linked across gaps.
    length_errors_, unprojected_length_errors_ : LengthErrors
        Relative errors of the kept lengths on the map, and before the projection to it.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative length error of the edges at every sample.
    spectrum_ : ndarray
        Variances along the axes of the solution; their gap shows the dimension.
    discarded_variance_ratio_ : float
        The fraction of these variances beyond `n_components`.
    map_ : GooseMap or DistanceMap
        The map behind `transform`.

    See Also
    --------
    DisjointMVU : For data in several components.
    LandmarkMVU : Some landmarks represent all points.
    FastMVU : Smooth functions of the graph represent all points.
    IPA : Faster and more accurate on data that are a sheet; MVU needs no patches.

    Notes
    -----
    Copies of a sample count once. `transform` places new samples by GOoSE, the affine map of their
    neighbors; training samples keep their coordinates (in a sparse graph of distances they are
    recognized by the stored zero; copies in `X` have the coordinates of the first). Where the data
    have holes MVU is not consistent: it pulls them round.

    Examples
    --------
    >>> from isofold import MVU
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(1000, width=21.0, uniform=True, random_state=0)
    >>> mvu = MVU(random_state=0)
    >>> Y = mvu.fit_transform(roll.X)
    >>> bool(procrustes_error(Y, roll.truth) < 0.02)
    True
    >>> mvu.solution_.status.name
    'CERTIFIED'
    """

    _softened: ClassVar[str] = "pass"

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = None,
        graph: GraphChoice | NeighborGraph | None = None,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        lengths: Literal["equal", "at_most"] | Soft = "equal",
        angles: bool = False,
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.metric = metric
        self.kernel = kernel
        self.lengths = lengths
        self.angles = angles
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_graph(self, X: FloatArray) -> NeighborGraph:
        angles = check_flag(self.angles, name="angles")
        if angles and isinstance(self.graph, Lengths):
            msg = (
                f"{setting('angles', value=True)} keeps the distances of all pairs that share a "
                f"neighbor, and a matrix of lengths does not hold them. Add these pairs to graph, "
                f"or leave angles out."
            )
            raise InvalidInputError(msg)
        graph = resolve_graph(
            X,
            self.graph,
            n_neighbors=self.n_neighbors,
            default=default_neighbors(self.n_components, angles=angles),
            metric=self._seen_metric,
            n_jobs=self.n_jobs,
        )
        return join_shared(X, graph, metric=self._seen_metric) if angles else graph

    def _unfold(
        self,
        X: FloatArray,
        y: Any,
        graph: NeighborGraph,
        rng: np.random.RandomState,
    ) -> tuple[SDPSolution, dict[str, Any]]:
        problem = pose(graph, self.lengths)
        solver = make_solver(self.solver, graph, self.n_components, rng, lengths=self.lengths)
        return solver.solve(problem), {}


def pose(
    graph: NeighborGraph, lengths: Any, *, objective: Any = None, basis: Any = None
) -> GramSDP:
    """Return the program that unfolds a graph with lengths kept, bounded or soft."""
    squared = graph.lengths.astype(np.float64) ** 2
    if isinstance(lengths, Soft):
        unit = natural_penalty(graph.n_nodes, graph.edges, squared, objective=objective)
        penalty = check_positive(lengths.weight, name="weight of Soft") * unit
        return GramSDP.unfolding(
            graph.n_nodes, graph.edges, squared, penalty=penalty, objective=objective, basis=basis
        )
    if not isinstance(lengths, str) or lengths not in ("equal", "at_most"):
        msg = (
            f"{setting('lengths', lengths)} must be 'equal', 'at_most' or "
            f"isofold.sdp.Soft(weight), the weight of soft lengths."
        )
        raise InvalidInputError(msg)
    return GramSDP.unfolding(
        graph.n_nodes,
        graph.edges,
        squared,
        kind="equal" if lengths == "equal" else "at_most",
        objective=objective,
        basis=basis,
    )
