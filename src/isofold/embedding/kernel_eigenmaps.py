"""Kernel Laplacian eigenmaps: Laplacian eigenmaps of anything that has a kernel.

    minimize  Σ_ij W_ij ‖x_i − x_j‖²   such that   Xᵀ D X = I,   Xᵀ D 1 = 0

with W the largest values of a kernel in every row and D its row sums. The solution are the
eigenvectors of L v = λ D v, L = D − W, for the least λ beyond zero. The kernel says how similar two
objects are; coordinates are not needed.

References
----------
Belkin, M., & Niyogi, P. (2003). Laplacian eigenmaps for dimensionality reduction and data
representation. Neural Computation 15.
Guo, Y., Gao, J., & Kwan, P. W. (2006). Kernel Laplacian eigenmaps for visualization of
non-vectorial data. AI 2006, LNAI 4304.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isofold._base import Fit
from isofold._findings import Finding
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold._validation import check_choice, check_count
from isofold.embedding.kernel_input import (
    KernelInput,
    eigen_map,
    find_components,
    find_negative,
    length_graph,
)
from isofold.embedding.spectral_layout import SpectralLayout, lay_out_spectrally
from isofold.neighbors import LengthErrors, NeighborGraph, edge_errors, mean_at_nodes
from isofold.similarity.kernel_graph import KernelGraph
from isofold.similarity.kernels import Kernel

__all__ = ["KernelLaplacianEigenmaps", "true_size"]

SCALINGS = ("degree", "variance")


class KernelLaplacianEigenmaps(KernelInput):
    """Map of strings, graphs, shapes or points by the eigenvectors of their kernel graph.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map.
    n_neighbors : int, default=10
        Most similar objects that each is joined to.
    kernel : {"rbf", "linear", "precomputed"}, ObjectKernel or callable, default="rbf"
        How similar objects are. A callable gets two collections of objects as they are, and
        returns the matrix of all pairs. With "precomputed", `X` holds kernel values, in a sparse
        matrix those that are not zero, and `transform` gets rows of n_samples values.
    gamma : float or "auto", default="auto"
        γ of exp(−γ‖x − y‖²); by default one over the typical squared distance of two points.
    normalize : bool, default=True
        Whether the kernel is divided by √(k_ii k_jj), so that large objects are not similar to all.
    scaling : {"degree", "variance"}, default="degree"
        Size of the map: XᵀDX = I as in the paper, or coordinates of unit variance.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map. Axes are eigenvectors, the smoothest first.
    eigenvalues_ : ndarray of shape (n_parts, n_components)
        λ of every axis, for each component of the graph; NaN where it has too few objects.
    component_ : ndarray of int of shape (n_samples,)
        The component of every sample, the largest first.
    graph_ : NeighborGraph
        The graph, with distances √(k_ii + k_jj − 2k_ij) of the kernel as lengths.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of these lengths at every sample, in the unit in which it is least.
    length_errors_ : LengthErrors
        Summary of the relative errors of all edges.
    map_ : KernelEigenMap
        The map behind `transform`.

    See Also
    --------
    isofold.TwinKernelEmbedding : Makes a kernel of the map like that of the objects.
    isofold.EAT : Keeps the distances of a kernel.

    Notes
    -----
    The map shows which objects are connected, and not how far apart they are: its axes are
    eigenvectors, whose scale says nothing.

    Components of the graph are laid out by themselves, in the unit of the kernel, and placed by the
    least distance between them. Then XᵀDX = I holds only in the mean over coordinates.

    `transform` uses Nyström's formula, each row by itself, and returns `embedding_` on the training
    objects. A new object that is similar to none goes to the center of the map;
    ``map_.is_outside`` tells which do.

    Memory is that of the graph for points and for a sparse kernel, and n² numbers for a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold import KernelLaplacianEigenmaps
    >>> words = ["abab", "babab", "ababa", "xyxy", "yxyxy", "xyxya", "bayx"]
    >>> def shared_pairs(A, B):
    ...     counts = [
    ...         np.array([[word.count(pair) for pair in ("ab", "ba", "xy", "yx")] for word in side])
    ...         for side in (A, B)
    ...     ]
    ...     return counts[0] @ counts[1].T
    >>> model = KernelLaplacianEigenmaps(n_components=1, n_neighbors=3, kernel=shared_pairs)
    >>> Y = model.fit_transform(words)[:, 0]
    >>> bool(np.sign(Y[:3]).sum() == -np.sign(Y[3:6]).sum())
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
        scaling: Literal["degree", "variance"] = "degree",
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.normalize = normalize
        self.scaling = scaling
        self.verbose = verbose

    def _fit(self, X: Any, y: Any) -> Fit:
        r = check_count(self.n_components, name="n_components")
        check_choice(self.scaling, SCALINGS, name="scaling")
        with stage("compare objects"):
            graph = self._kernel_graph(X)
        with stage("find eigenvectors"):
            layout = lay_out_spectrally(graph, r)
        layout = layout.scaled(self._size(layout, graph))
        map_ = eigen_map(graph, layout)
        lengths = length_graph(graph)
        errors = edge_errors(true_size(map_.images, lengths), lengths)
        return Fit.of(
            map_.images[graph.node_of_sample],
            map_=map_,
            findings=(
                Finding.of("spectral_axes"),
                *find_components(layout),
                *find_negative(graph),
            ),
            eigenvalues=layout.eigenvalues,
            component=layout.component[graph.node_of_sample],
            graph=lengths,
            distortion=mean_at_nodes(errors, lengths)[graph.node_of_sample],
            length_errors=LengthErrors.of(errors),
        )

    def _size(self, layout: SpectralLayout, graph: KernelGraph) -> float:
        """Return the factor that makes XᵀDX = I or the variance one, in the mean over axes."""
        points = layout.points
        if self.scaling == "variance":
            squares = points[graph.node_of_sample].var(axis=0)
        elif layout.n_parts == 1:
            return 1.0
        else:
            squares = graph.degrees @ (points - points.mean(axis=0)) ** 2
        used = squares[squares > 0.0]
        return 1.0 / float(np.sqrt(used.mean())) if len(used) else 1.0


def true_size(points: FloatArray, graph: NeighborGraph) -> FloatArray:
    """Return points in the unit in which lengths of edges are right in the median."""
    found = np.linalg.norm(points[graph.edges[:, 0]] - points[graph.edges[:, 1]], axis=1)
    seen = (found > 0.0) & (graph.lengths > 0.0)
    factor = float(np.median(graph.lengths[seen] / found[seen])) if seen.any() else 1.0
    return points * factor
