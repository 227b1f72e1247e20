"""Colored MVU: unfold so that the map depends on side information as much as lengths allow.

    max tr(HGHL)     G ⪰ 0, G·1 = 0, G_ii + G_jj - 2 G_ij = d_ij² for all edges ij

is the Hilbert-Schmidt independence criterion (HSIC) between the map and a kernel L on labels,
targets or tags, H = I - 11ᵀ/n. Since tr(HGHL) = -½ Σ (HLH)_ij |y_i - y_j|², samples that are alike
attract and others repel each other; L = I is maximum variance unfolding.

References
----------
Song, L., Smola, A., Borgwardt, K. and Gretton, A. (2007). Colored maximum variance unfolding. NIPS
20, 1385-1392.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from isofold._memory import require_memory
from isofold._typing import FloatArray, Metric, PairKernel
from isofold.embedding.mvu.base import BaseUnfolder, make_solver
from isofold.embedding.mvu.mvu import pose
from isofold.embedding.mvu.side_kernels import factor_of_kernel, side_factor, side_kernel
from isofold.exceptions import InvalidInputError
from isofold.linalg import center, double_center
from isofold.neighbors import GraphChoice, NeighborGraph
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP, SDPSolution, Soft
from isofold.sdp.dual.probe import DENSE_SIDE
from isofold.sdp.sparse_less_squares import SparseLessSquares

__all__ = ["ColoredMVU", "hsic"]

COLUMN_ROWS = 16
"""Samples for each column of a factor of the kernel, at least: factors of the slack fill a row for
each column, and with more of them all eigenvalues of a dense one take no longer."""


class ColoredMVU(BaseUnfolder):
    """Unfolding colored by labels, targets or tags.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
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
    label_kernel : {"auto", "delta", "rbf", "linear", "identity", "precomputed"} or callable, \
default="auto"
        The kernel L on `y`. "auto": "delta" (one for equal labels) for classes, "rbf" for
        regression targets, "linear" for tags (one column of zeros and ones each); whole numbers
        count as classes if most values occur more than once. "identity" is plain unfolding.
        "precomputed": `y` is the kernel matrix. A callable takes `y` and returns the matrix.
    lengths : {"equal", "at_most"} or Soft, default="equal"
        How lengths are kept, see `MVU`.
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
    hsic_ : float
        tr(HGHL)/(n - 1)² of the map, with L scaled to a mean diagonal of one.
    solution_ : SDPSolution
        The solution with its certificate.
    graph_, bridges_, length_errors_, unprojected_length_errors_, distortion_
        As in `MVU`.
    spectrum_, discarded_variance_ratio_, map_
        As in `MVU`.

    Notes
    -----
    A kernel of low rank is used by its factor F, L = FFᵀ: classes and tags have one column each,
    and with these no matrix of n × n numbers is made. Targets and kernels of one's own are
    factored if their rank is low. Otherwise, for up to 400 samples, with ``lengths="at_most"`` and
    with other solvers the kernel is a dense matrix, and time grows with the cube of the samples.
    `transform` does not need labels.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold import ColoredMVU
    >>> X = np.random.RandomState(0).rand(60, 2)
    >>> colored = ColoredMVU(random_state=0).fit(X, X[:, 0] > 0.5)
    >>> colored.embedding_.shape
    (60, 2)
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
        label_kernel: Any = "auto",
        lengths: Literal["equal", "at_most"] | Soft = "equal",
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
        self.label_kernel = label_kernel
        self.lengths = lengths
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        return tags

    def _unfold(
        self,
        X: FloatArray,
        y: Any,
        graph: NeighborGraph,
        rng: np.random.RandomState,
    ) -> tuple[SDPSolution, dict[str, Any]]:
        if y is None:
            msg = (
                f"{type(self).__name__} requires y to be passed, but the target y is None: labels, "
                f"targets or tags color the map. Without them use MVU."
            )
            raise InvalidInputError(msg)
        n = X.shape[0]
        is_plain = isinstance(self.label_kernel, str) and self.label_kernel == "identity"
        side, is_factor = self._read_side(y, n, graph)
        objective: Any = None
        if is_factor:
            nothing = sp.csr_array((graph.n_nodes, graph.n_nodes))
            objective = SparseLessSquares(nothing, center(_mean_rows(side, graph))[0], sign=1.0)
        elif not is_plain:
            objective = double_center(_at_nodes(side, graph))
        problem = pose(graph, self.lengths, objective=objective)
        # With many steps: a kernel of few classes leaves most directions to the lengths alone, and
        # takes longer than variance does.
        solver = make_solver(self.solver, graph, self.n_components, rng, lengths=None)
        solution = solver.solve(problem)
        leading = solution.coordinates[graph.node_of_sample, : self.n_components]
        if is_factor:
            image = center(side)[0].T @ leading
            return solution, {"hsic": float(np.vdot(image, image)) / max(1, n - 1) ** 2}
        return solution, {"hsic": _dependence(leading, double_center(side))}

    def _read_side(self, y: Any, n: int, graph: NeighborGraph) -> tuple[FloatArray, bool]:
        """Return the kernel of side information, or its factor if that has few columns; which."""
        takes_factor = isinstance(self.solver, LowRankSDP | None) and self.lengths != "at_most"
        most = n // COLUMN_ROWS if takes_factor and graph.n_nodes > DENSE_SIDE else 0
        F = side_factor(y, n, self.label_kernel, most=most)
        if F is not None:
            return F, True
        require_memory(
            6 * 8 * n**2,
            what=f"The kernel of {n} samples and the matrices of its certificate",
            instead="Use MVU, or a sample of the data.",
        )
        L = side_kernel(y, n, self.label_kernel)
        F = factor_of_kernel(L, most=most) if most else None
        return (L, False) if F is None else (F, True)


def hsic(Y: FloatArray, y: Any, *, kernel: Any = "auto") -> float:
    """Return the Hilbert-Schmidt independence criterion of a map and side information."""
    return _dependence(Y, double_center(side_kernel(y, len(Y), kernel)))


def _dependence(Y: FloatArray, centered: FloatArray) -> float:
    return float(np.vdot(Y, centered @ Y)) / max(1, len(Y) - 1) ** 2


def _mean_rows(F: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return the factor at distinct samples: the mean over the copies of each."""
    if graph.n_nodes == graph.n_samples:
        return F
    counts = np.bincount(graph.node_of_sample, minlength=graph.n_nodes)
    sums = np.zeros((graph.n_nodes, F.shape[1]))
    np.add.at(sums, graph.node_of_sample, F)
    return sums / counts[:, None]


def _at_nodes(L: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return the kernel between distinct samples: the mean over the copies of each."""
    if graph.n_nodes == graph.n_samples:
        return L
    sums = np.zeros((graph.n_nodes, graph.n_samples))
    np.add.at(sums, graph.node_of_sample, L)
    both = np.zeros((graph.n_nodes, graph.n_nodes))
    np.add.at(both.T, graph.node_of_sample, sums.T)
    counts = np.bincount(graph.node_of_sample, minlength=graph.n_nodes)
    return both / np.outer(counts, counts)
