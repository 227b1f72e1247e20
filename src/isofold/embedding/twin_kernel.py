"""Twin kernel embedding: a map whose own kernel is like the kernel of the objects.

    minimize  −Σ_ij k_y(i, j) k_x(i, j) + λ_k Σ_ij k_x(i, j)² + λ_x Σ_i ‖x_i‖²

over the points x_i of the map, with k_y the largest values of the objects' kernel in every row and
k_x(i, j) = γ exp(−σ‖x_i − x_j‖²). The first term pulls similar objects together, the second one
keeps strangers apart. *Back-constrained*, x_i = Aᵀk_y(i): new objects come by the same formula.

References
----------
Guo, Y., Gao, J., & Kwan, P. W. (2008). Twin kernel embedding. IEEE Transactions on Pattern Analysis
and Machine Intelligence 30(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from isofold._base import Fit
from isofold._findings import Finding, Severity, setting
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold._validation import check_choice, check_count, check_points, check_repeats, check_seed
from isofold.embedding.kernel_eigenmaps import true_size
from isofold.embedding.kernel_input import (
    KernelInput,
    find_components,
    find_negative,
    kernel_nodes,
    length_graph,
)
from isofold.embedding.spectral_layout import SpectralLayout, lay_out_spectrally
from isofold.exceptions import InvalidInputError
from isofold.extension.twin_kernel_map import BackConstrainedMap, TwinKernelMap
from isofold.linalg import principal_coordinates
from isofold.neighbors import LengthErrors, edge_errors, mean_at_nodes
from isofold.similarity.kernel_axes import (
    PrincipalFeatures,
    is_indefinite,
    kernel_components,
    kernel_features,
)
from isofold.similarity.kernel_graph import KernelGraph
from isofold.similarity.kernels import Gram, Kernel
from isofold.similarity.latent import LatentKernel
from isofold.stress.twin_descent import TwinResult, TwinRules, match_kernels

__all__ = ["TwinKernelEmbedding"]

STARTS = ("kle", "kpca")
NEIGHBORS_WEIGHT, LARGEST_WEIGHT = 5.0, 0.5
"""λ_k by default: so many times n_neighbors over the number of objects, and at most this, times the
mean kernel value of neighbors: with 0.2, as sequences have by the mismatch kernel, strangers
would push five times as hard as neighbors pull, and the map be a disk without any order. By
trustworthiness the best of 0.5, 0.2, 0.05 and 0.02 was 0.5 or 0.2 on 75 strings, 0.2 on 300 digits
and 0.05 on 1,000; on 1,797 0.05 and 0.028 were alike. Objects have as many neighbors as before to
pull, but more strangers to push."""

STILL_FALLING, LAST_STEPS = 5e-3, 0.1
"""Relative fall of the objective over the last tenth of the steps from which on it is a doubt that
they were too few."""


class TwinKernelEmbedding(KernelInput):
    """Map of strings, graphs, shapes or points whose kernel is like theirs.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    n_neighbors : int, default=10
        Most similar objects whose kernel values are kept for each.
    kernel, gamma, normalize
        The kernel of the objects, as in `KernelLaplacianEigenmaps`.
    latent : LatentKernel or None, default=None
        The kernel of the map with its width σ and amplitude γ, and the weights λ_k and λ_x, as
        `isofold.similarity.LatentKernel(weight_kernel=0.1)`; by default σ = γ = 1.
    init : {"kle", "kpca"} or array of shape (n_samples, n_components), default="kle"
        Where objects start: by kernel Laplacian eigenmaps, by kernel principal components, or at
        given coordinates, whose size does not matter.
    back_constraint : {"kernel"} or None, default=None
        With "kernel" coordinates are linear in the kernel, x = Aᵀk(y) + b, so that new objects are
        mapped as training objects are. This needs all values of the kernel, and the map is less
        free.
    max_iter : int, default=300
        Steps of L-BFGS.
    random_state : int, RandomState or None, default=None
        Seed of the pairs that are drawn beyond 3,000 objects.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, centered and in principal axes. Its unit is that of the latent kernel: objects
        1/√σ apart have the similarity γ/e.
    objective_path_ : ndarray
        The objective at the start and after every step. Beyond 3,000 objects it is an estimate that
        changes, and may rise, when other pairs are drawn.
    alignment_ : float
        Cosine ⟨K_x, K_y⟩/(‖K_x‖‖K_y‖) of the two kernels; 1 if they are the same.
    latent_ : LatentKernel
        The kernel of the map with all numbers as they were used or learned.
    converged_, n_iter_ : bool, int
        Whether the objective no longer falls, and how many steps were made.
    component_, graph_, distortion_, length_errors_
        As in `KernelLaplacianEigenmaps`.
    map_ : TwinKernelMap or BackConstrainedMap
        The map behind `transform`.

    See Also
    --------
    isofold.KernelLaplacianEigenmaps : The start; faster, and of the graph alone.
    isofold.NeighborMap : Keeps neighbors of points, with true lengths.

    Notes
    -----
    The map keeps who is similar to whom. Distances on it follow the kernel between neighbors, and
    mean nothing beyond a few units.

    `transform` of a free map minimizes the objective in each new point by itself, and returns
    `embedding_` on the training objects. That of a back-constrained map is its formula.

    Memory is that of the graph for points and a sparse kernel; three times n² numbers for other
    kernels, ``init="kpca"`` and a back constraint.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isofold import TwinKernelEmbedding
    >>> from isofold.quality import trustworthiness
    >>> X = load_digits().data[:500]
    >>> model = TwinKernelEmbedding().fit(X)
    >>> bool(trustworthiness(X, model.embedding_) > 0.95)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int = 10,
        kernel: Kernel = "rbf",
        gamma: float | Literal["auto"] = "auto",
        normalize: bool = True,
        latent: LatentKernel | None = None,
        init: Any = "kle",
        back_constraint: Literal["kernel"] | None = None,
        max_iter: int = 300,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.normalize = normalize
        self.latent = latent
        self.init = init
        self.back_constraint = back_constraint
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any, y: Any) -> Fit:
        r = check_count(self.n_components, name="n_components")
        rules = TwinRules(max_iter=check_repeats(self.max_iter, name="max_iter"))
        rng = check_seed(self.random_state)
        if self.back_constraint is not None:
            check_choice(self.back_constraint, ("kernel",), name="back_constraint")
        with stage("compare objects"):
            graph = self._kernel_graph(X)
        latent = self._latent(graph)
        layout = lay_out_spectrally(graph, r)
        start = self._start(graph, layout, X.shape[0])
        features = kernel_features(graph.gram) if self.back_constraint else None
        own = sp.diags_array(np.maximum(graph.gram.own, 0.0))
        similarities = sp.csr_array(graph.weights + own)
        result = match_kernels(
            similarities, start, latent, rules, rng, None if features is None else features.values
        )
        map_ = self._map(graph, result, features)
        points = map_.images if isinstance(map_, TwinKernelMap) else _images(map_, graph.gram)
        lengths = length_graph(graph)
        errors = edge_errors(true_size(points, lengths), lengths)
        return Fit.of(
            points[graph.node_of_sample],
            map_=map_,
            findings=(
                Finding.of("twin_kernels", value=result.alignment),
                *find_components(layout),
                *find_negative(graph),
                *_find_indefinite(graph.gram),
                *_find_descent(result, rules),
            ),
            objective_path=result.path,
            alignment=result.alignment,
            latent=result.latent,
            converged=result.is_converged,
            n_iter=len(result.path) - 1,
            component=layout.component[graph.node_of_sample],
            graph=lengths,
            distortion=mean_at_nodes(errors, lengths)[graph.node_of_sample],
            length_errors=LengthErrors.of(errors),
        )

    def _latent(self, graph: KernelGraph) -> LatentKernel:
        """Return the kernel of the map with its weights."""
        latent = LatentKernel() if self.latent is None else self.latent
        if not isinstance(latent, LatentKernel):
            msg = f"{setting('latent', latent)} must be a LatentKernel or None."
            raise InvalidInputError(msg)
        automatic = NEIGHBORS_WEIGHT * graph.n_neighbors / graph.n_nodes
        pull = float(graph.weights.data.mean()) if graph.weights.nnz else 1.0
        return latent.resolved(min(automatic, LARGEST_WEIGHT) * pull)

    def _start(self, graph: KernelGraph, layout: SpectralLayout, n_samples: int) -> FloatArray:
        """Return where nodes start."""
        if not isinstance(self.init, str):
            given = check_points(self.init, name="init", min_samples=1)
            if given.shape != (n_samples, layout.shapes.shape[1]):
                msg = (
                    f"init has the shape {given.shape}, but {n_samples} samples are mapped with "
                    f"{setting('n_components', layout.shapes.shape[1])}. Pass one row a sample."
                )
                raise InvalidInputError(msg)
            start: FloatArray = given[graph.sample_of_node].astype(np.float64)
        elif check_choice(self.init, STARTS, name="init") == "kle":
            start = layout.points
        else:
            start = kernel_components(graph.gram, layout.shapes.shape[1])
        return start - start.mean(axis=0)

    def _map(
        self, graph: KernelGraph, result: TwinResult, features: PrincipalFeatures | None
    ) -> TwinKernelMap | BackConstrainedMap:
        """Return the map of new objects, centered and in principal axes."""
        nodes = kernel_nodes(graph)
        frame = principal_coordinates(result.points, result.points.shape[1])
        if features is None:
            return TwinKernelMap(nodes, frame.coordinates, result.latent)
        coefficients = features.coefficients @ result.parameters @ frame.axes
        return BackConstrainedMap(nodes, coefficients, -frame.mean @ frame.axes)


def _images(map_: BackConstrainedMap, gram: Gram) -> FloatArray:
    """Return where the map takes the training objects."""
    if gram.is_sparse:
        return map_.of_values(gram.values)
    return np.concatenate([map_.of_values(values) for _, values in gram.blocks()])


def _find_indefinite(gram: Gram) -> Iterator[Finding]:
    """Yield a note if the kernel has no feature space."""
    if is_indefinite(gram):
        yield Finding.of("indefinite_kernel")


def _find_descent(result: TwinResult, rules: TwinRules) -> Iterator[Finding]:
    """Yield doubts if the objective was still falling, or something learned has run away."""
    path = result.path
    before = path[-1 - max(1, int(LAST_STEPS * len(path)))] if len(path) > 1 else path[-1]
    fall = float((before - path[-1]) / max(abs(float(path[-1])), np.finfo(np.float64).tiny))
    is_falling = not result.is_converged and fall > STILL_FALLING
    yield Finding.checked(
        "twin_descent", fall, STILL_FALLING, is_raised=is_falling, max_iter=rules.max_iter
    )
    if result.at_bound:
        yield Finding.of(
            "latent_bound",
            Severity.DOUBT,
            sigma=result.latent.sigma,
            amplitude=result.latent.amplitude,
        )
