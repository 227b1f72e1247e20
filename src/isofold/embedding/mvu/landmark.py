"""Landmark MVU: all points are linear combinations of a few landmarks, whose Gram matrix is sought.

With the weights W that reconstruct every point from its neighbors, Φ = (I - W)ᵀ(I - W) measures how
badly an embedding is reconstructed alike. Given the landmarks (l), the best others (u) are

    Φ_ul Y_l + Φ_uu Y_u = 0,   so   Y = QY_l   with   Q = [I; -Φ_uu⁻¹ Φ_ul],

whose rows add up to one. (The sign is missing in equation 2.49 of the thesis.) Then

    primal   max tr(QLQᵀ)     L ⪰ 0, 1ᵀQLQᵀ1 = 0, |q_i - q_j|²_L ≤ d_ij² for all edges ij.

Lengths are bounded, not kept: Q is of rank m, and equalities would have no solution. Few bounds are
active at the optimum, so only violated ones are added; the others have the multiplier zero, and the
bound of the smaller program is one for all.

References
----------
Weinberger, K. Q., Packer, B. D. and Saul, L. K. (2005). Nonlinear dimensionality reduction by
semidefinite programming and kernel matrix factorization. AISTATS, 381-388.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.linalg

from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold._validation import check_count
from isofold.clustering.landmarks import check_landmarks, choose_landmarks
from isofold.embedding.mvu.base import BaseUnfolder, make_solver
from isofold.embedding.mvu.landmarks import spread_from_landmarks
from isofold.embedding.mvu.mvu import pose
from isofold.embedding.mvu.reconstruction import reconstruction_weights
from isofold.exceptions import InvalidInputError
from isofold.extension import BarycentricMap, fit_barycentric
from isofold.neighbors import GraphChoice, NeighborGraph
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP, SDPSolution
from isofold.sdp.posing.active_set import maximize_variance

__all__ = ["LandmarkMVU"]

LANDMARKS_A_COMPONENT = 20
"""Landmarks for each component: 40 map 20,000 points of a roll to 0.0023, 100 to 0.0018 in five
times the time."""


class LandmarkMVU(BaseUnfolder):
    """Maximum variance unfolding of landmarks that carry all other points.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
    n_landmarks : int or None, default=None
        Number m of landmarks. None: 20 for each component.
    landmarks : {"random", "kmeans", "maxmin"} or array-like of int, default="random"
        How landmarks are chosen: at random; as the points nearest to the centers of clusters; one
        at random and each next one farthest from those before; or the numbers of given samples.
    n_weights : int, default=12
        Neighbors from which every point is reconstructed.
    n_neighbors : int or None, default=None
        Neighbors whose distances may not grow; by default as in `MVU`.
    graph : Knn, Mutual, Radius, Bridged, Enhanced, Lengths, NeighborGraph or None, default=None
        The graph of these distances, see `MVU`.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. The method then works with points that have these distances.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    solver : LowRankSDP, ConicSDP or None, default=None
        Solver of the small programs; ``LowRankSDP(tol=3e-3)`` if None, where `tol` is the gap of
        the whole.
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
    landmarks_ : ndarray of int of shape (n_landmarks,)
        The landmarks, as numbers of samples.
    solution_ : SDPSolution
        The solution, in which no length is above its bound, with a certificate for all bounds.
    n_active_ : int
        How many of the bounds had to be imposed.
    graph_, bridges_, length_errors_, unprojected_length_errors_, distortion_
        As in `MVU`; lengths may only shrink.
    spectrum_, discarded_variance_ratio_, map_
        As in `MVU`.

    See Also
    --------
    MVU : All points, lengths kept.

    Notes
    -----
    `transform` gives new samples the weights that reconstruct them, as all samples but the
    landmarks were placed; training samples keep their coordinates.

    Examples
    --------
    >>> from isofold import LandmarkMVU
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(1000, width=21.0, uniform=True, random_state=0)
    >>> Y = LandmarkMVU(random_state=0).fit_transform(roll.X)
    >>> bool(procrustes_error(Y, roll.truth) < 0.05)
    True
    """

    # Weights reconstruct points.
    _takes_distances: ClassVar[bool] = False

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_landmarks: int | None = None,
        landmarks: Literal["random", "kmeans", "maxmin"] | IntArray | Sequence[int] = "random",
        n_weights: int = 12,
        n_neighbors: int | None = None,
        graph: GraphChoice | NeighborGraph | None = None,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        solver: LowRankSDP | DenseSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.n_weights = n_weights
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.metric = metric
        self.kernel = kernel
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
        points = X[graph.sample_of_node]
        landmarks = self._choose(points, graph, rng)
        solver = make_solver(self.solver, graph, self.n_components, rng, lengths="at_most")
        if graph.n_nodes == 1:
            found = {"landmarks": graph.sample_of_node, "n_active": 0}
            return solver.solve(pose(graph, "at_most")), found
        # Equations 2.45 to 2.49, weights over all neighbors.
        weights = reconstruction_weights(
            points, n_neighbors=check_count(self.n_weights, name="n_weights"), n_jobs=self.n_jobs
        )
        Q = spread_from_landmarks(weights, landmarks)
        # Rows of Q add up to one, so that the mean of the landmarks moves all points alike.
        basis = Q @ scipy.linalg.null_space(np.ones((1, len(landmarks))))
        # Equation 2.53 with bounds instead of equalities.
        at_landmark = np.isin(graph.edges, landmarks)
        solution, used = maximize_variance(
            basis,
            graph.edges,
            graph.lengths.astype(np.float64) ** 2,
            solver,
            first=at_landmark[:, 0] | at_landmark[:, 1] | graph.is_bridge,
        )
        return solution, {
            "landmarks": graph.sample_of_node[landmarks],
            "n_active": int(used.sum()),
        }

    def _new_map(self, X: FloatArray, Y: FloatArray) -> BarycentricMap:
        return fit_barycentric(X, Y, n_neighbors=self.n_weights, n_jobs=self.n_jobs)

    def _choose(
        self, points: FloatArray, graph: NeighborGraph, rng: np.random.RandomState
    ) -> IntArray:
        """Return the nodes of the landmarks, ascending; enough to span the map."""
        landmarks = self._named(points, graph, rng)
        if len(landmarks) <= self.n_components and len(landmarks) < graph.n_nodes:
            msg = (
                f"{len(landmarks)} landmark(s) span {len(landmarks) - 1} dimension(s), but the map "
                f"has {self.n_components}. Pass at least {self.n_components + 1}; 20 for each "
                f"component are usual."
            )
            raise InvalidInputError(msg)
        return landmarks

    def _named(
        self, points: FloatArray, graph: NeighborGraph, rng: np.random.RandomState
    ) -> IntArray:
        """Return the nodes that the user requested, by name or by number."""
        if not isinstance(self.landmarks, str):
            samples = check_landmarks(self.landmarks, graph.n_samples)
            return np.unique(graph.node_of_sample[samples])
        m = self.n_landmarks
        if m is None:
            m = LANDMARKS_A_COMPONENT * self.n_components
        m = check_count(m, name="n_landmarks")
        return choose_landmarks(points, self.landmarks, m, rng, n_jobs=self.n_jobs)
