"""Fast MVU: the embedding is sought among the smooth functions of the neighbor graph.

With the m bottom eigenvectors U of the graph's Laplacian (without the constant one), Y = UZ and

    max tr G - Σ (ν_ij/2)(|y_i - y_j|² - d_ij²)²,    G = ULUᵀ, L ⪰ 0 of side m.

All edges are compressed into m(m+1)/2 forms, so that the time of the solver does not depend on the
number of points. Smooth functions have no slope at the border of a sheet, so lengths come out wrong
by tens of per cent; the refinement starts the full program there.

References
----------
Weinberger, K. Q., Sha, F., Zhu, Q. and Saul, L. K. (2007). Graph Laplacian regularization for
large-scale semidefinite programming. NIPS 19, 1489-1496.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isofold._findings import setting
from isofold._typing import FloatArray, Metric, PairKernel
from isofold._validation import check_count, check_positive
from isofold.embedding.mvu.base import BaseUnfolder, make_solver
from isofold.embedding.mvu.mvu import pose
from isofold.exceptions import InvalidInputError
from isofold.neighbors import GraphChoice, NeighborGraph
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP, SDPSolution, Soft
from isofold.sdp.posing.compression import compress
from isofold.sdp.posing.laplacian_basis import laplacian_basis

__all__ = ["FastMVU"]

FIRST_PENALTY = 4.0
"""Weight of errors of squared lengths, in natural units, where functions give the start only."""


class FastMVU(BaseUnfolder):
    """Maximum variance unfolding by smooth functions of the graph, refined or not.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
    n_functions : int, default=10
        Number m of eigenvectors of the Laplacian; time grows with its sixth power, and beyond 30
        it is no longer fast.
    n_neighbors : int or None, default=None
        Neighbors whose distances are kept; by default as in `MVU`.
    graph : Knn, Mutual, Radius, Bridged, Enhanced, Lengths, NeighborGraph or None, default=None
        The graph of these distances, see `MVU`.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    lengths : "equal" or Soft, default="equal"
        "equal": the program of `MVU` is started from what the functions give. ``Soft(ν)``, ν = 4
        for example: there is no refinement, and errors of the functions' lengths have this weight,
        see `MVU`. The map is then made in a second or two and shows the shape, but its distances
        are not true.
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
        The map.
    coarse_solution_ : SDPSolution
        The solution among smooth functions, with its certificate.
    solution_ : SDPSolution
        The refined solution; the same as `coarse_solution_` without refinement.
    graph_, bridges_, length_errors_, unprojected_length_errors_, distortion_
        As in `MVU`.
    spectrum_, discarded_variance_ratio_, map_
        As in `MVU`.

    See Also
    --------
    MVU : Starts from landmark geodesics instead.

    Notes
    -----
    `transform` extends the functions to new samples by the affine maps of their neighbors (GOoSE);
    training samples keep their coordinates.

    Examples
    --------
    >>> from isofold import FastMVU
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(1000, width=21.0, uniform=True, random_state=0)
    >>> Y = FastMVU(random_state=0).fit_transform(roll.X)
    >>> bool(procrustes_error(Y, roll.truth) < 0.02)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_functions: int = 10,
        n_neighbors: int | None = None,
        graph: GraphChoice | NeighborGraph | None = None,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        lengths: Literal["equal"] | Soft = "equal",
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_functions = n_functions
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.metric = metric
        self.kernel = kernel
        self.lengths = lengths
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _unfold(
        self,
        X: FloatArray,
        y: Any,
        graph: NeighborGraph,
        rng: np.random.RandomState,
    ) -> tuple[SDPSolution, dict[str, Any]]:
        penalty = _penalty(self.lengths)
        solver = make_solver(self.solver, graph, self.n_components, rng, lengths=penalty)
        if graph.n_nodes == 1:
            only = solver.solve(pose(graph, "equal"))
            return only, {"coarse_solution": only}
        m = min(check_count(self.n_functions, name="n_functions"), graph.n_nodes - 1)
        functions = laplacian_basis(graph.n_nodes, graph.edges, m)
        posed = pose(graph, penalty, basis=functions)
        if m * (m + 1) // 2 < len(graph.edges):
            compressed = compress(posed)
            coarse = compressed.lift(solver.solve(compressed.problem))
        else:
            # The compressed program would have a form for every product of two functions.
            coarse = solver.solve(posed)
        if not isinstance(self.lengths, str):
            return coarse, {"coarse_solution": coarse}
        solver = make_solver(self.solver, graph, self.n_components, rng)
        warm = {"start": coarse.coordinates} if isinstance(solver, LowRankSDP) else {}
        return solver.solve(pose(graph, "equal"), **warm), {"coarse_solution": coarse}


def _penalty(lengths: Any) -> Soft:
    """Return the weight of errors of lengths among the functions."""
    if isinstance(lengths, str) and lengths == "equal":
        return Soft(FIRST_PENALTY)
    if not isinstance(lengths, Soft):
        msg = (
            f"{setting('lengths', lengths)} must be 'equal' or isofold.sdp.Soft(weight), where "
            f"errors of lengths have a weight."
        )
        raise InvalidInputError(msg)
    check_positive(lengths.weight, name="weight of Soft")
    return lengths
