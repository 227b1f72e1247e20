r"""Nyström's formula: new points in embeddings that are eigenvectors of a kernel (Bengio et al.).

A coordinate y_k of a spectral embedding satisfies K y_k = λ_k y_k on the training points. What the
kernel says about a new point extends it,

    y_k(x) = λ_k⁻¹ Σ_i K(x, x_i) y_ik.

*Geodesic* (Isomap): K = −½ d², d the length of the shortest path through the neighbor graph,
centered by the means over the training points. *Laplacian* (Laplacian eigenmaps): K(x, x_i) =
w(x, x_i)/Σ_j w(x, x_j), the random walk on the neighbor graph, not centered. Any *kernel function*
(kernel PCA): centered.

λ_k is the Rayleigh quotient of the coordinate, so that scale and sign of the embedding do not
matter.

References
----------
Bengio, Y., Paiement, J.-F., Vincent, P., Delalleau, O., Le Roux, N. and Ouimet, M. (2004).
Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering. NIPS 16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_n_neighbors, check_points, check_width
from isofold.exceptions import InvalidInputError
from isofold.extension.training_points import TrainingPoints, read_training_points
from isofold.extension.way_back import LocalInverse
from isofold.linalg import KernelCentering
from isofold.linalg.rows import row_product
from isofold.neighbors import all_pairs_geodesics, build_graph, connected_components
from isofold.neighbors.precomputed import nearest_in_rows
from isofold.similarity.kernel_function import KernelFunction

__all__ = ["NystromMap", "fit_nystrom"]

KERNELS = ("geodesic", "laplacian")

NO_EIGENVECTOR = 0.1
"""Relative residual of K y = λ y above which a coordinate is no eigenvector."""


class KernelRows(Protocol):
    """What a kernel says about new points."""

    @property
    def points(self) -> FloatArray:
        """The training points."""

    def rows(self, queries: FloatArray) -> FloatArray:
        """Return the kernel between queries and all training points, row by row."""


@dataclass(frozen=True, eq=False)
class GeodesicRows:
    """−½ d², d leading through the nearest training points.

    Attributes
    ----------
    training : TrainingPoints
        The training points.
    distances : ndarray of shape (n_points, n_points)
        Geodesic distances of the training points.
    n_neighbors : int
        TrainingPoints through which paths may lead.
    """

    training: TrainingPoints
    distances: FloatArray
    n_neighbors: int

    @property
    def points(self) -> FloatArray:
        """The training points."""
        return self.training.points

    def rows(self, queries: FloatArray) -> FloatArray:
        """Return the kernel between queries and all training points."""
        near = self.training.nearest(queries, min(self.n_neighbors, self.training.n_points))
        shortest = near.distances[:, :1] + self.distances[near.indices[:, 0]]
        for column in range(1, near.indices.shape[1]):
            path = near.distances[:, column, None] + self.distances[near.indices[:, column]]
            np.minimum(shortest, path, out=shortest)
        return -0.5 * shortest**2


@dataclass(frozen=True, eq=False)
class WalkRows:
    """The random walk w/Σw; w counts half if one of two points lists the other as neighbor.

    Attributes
    ----------
    points : ndarray of shape (n_points, d)
        The training points.
    radii : ndarray of shape (n_points,)
        The distance of each training point's last neighbor.
    n_neighbors : int
        Neighbors of a point, itself not counted.
    """

    points: FloatArray
    radii: FloatArray
    n_neighbors: int

    def rows(self, queries: FloatArray) -> FloatArray:
        """Return the walk from queries to all training points, which themselves do not stay."""
        distances = _distances_to_others(queries, self.points)
        reach = nearest_in_rows(distances, self.n_neighbors)[0][:, -1:]
        weights = 0.5 * (distances <= reach) + 0.5 * (distances <= self.radii)
        walk: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return walk


def _distances_to_others(queries: FloatArray, points: FloatArray) -> FloatArray:
    """Return distances; infinite between equal points, as a point is not its own neighbor."""
    distances: FloatArray = cdist(queries, points)
    distances[distances == 0.0] = np.inf
    return distances


@dataclass(frozen=True, eq=False)
class FunctionRows:
    """A kernel function.

    Attributes
    ----------
    kernel : KernelFunction
        The kernel.
    points : ndarray of shape (n_points, d)
        The training points.
    """

    kernel: KernelFunction
    points: FloatArray

    def rows(self, queries: FloatArray) -> FloatArray:
        """Return the kernel between queries and all training points."""
        return self.kernel.rows(queries, self.points)


@dataclass(frozen=True, eq=False)
class NystromMap(LocalInverse):
    """TrainingPoints new points by the kernel of a spectral embedding, see `fit_nystrom`.

    Attributes
    ----------
    source : KernelRows
        The kernel.
    centering : KernelCentering or None
        How its rows are centered, if they are.
    coefficients : ndarray of shape (n_points, q)
        y_ik/λ_k.
    offset : ndarray of shape (q,)
        Mean of the embedding, if the kernel is centered.
    eigenvalues : ndarray of shape (q,)
        λ_k.
    residuals : ndarray of shape (q,)
        How far each coordinate is from an eigenvector, |Ky − λy|/|Ky|.
    n_features : int
        Width of the points.
    dtype : dtype
        Precision of the embedding.
    """

    source: KernelRows
    centering: KernelCentering | None
    coefficients: FloatArray
    offset: FloatArray
    eigenvalues: FloatArray
    residuals: FloatArray
    n_features: int
    dtype: np.dtype[Any]

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the training points and their images."""
        return self.source.points, self.transform(self.source.points)

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
            The points.

        Returns
        -------
        ndarray of shape (n_new, q)
            Their images, in the precision of the embedding.
        """
        queries = check_points(X_new, name="X_new", min_samples=1)
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        check_width(queries, self.n_features)
        images = np.empty((len(queries), self.coefficients.shape[1]), dtype=self.dtype)
        step = block_rows(4 * 8 * len(self.coefficients), len(queries))
        for start in range(0, len(queries), step):
            block = slice(start, start + step)
            rows = _centered(self.source.rows(queries[block]), self.centering)
            images[block] = row_product(rows, self.coefficients) + self.offset
        return images


def fit_nystrom(
    X: Any, Y: Any, *, kernel: Any = "geodesic", n_neighbors: int = 5, n_jobs: int | None = None
) -> NystromMap:
    """Return the map that places new points by Nyström's formula.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points. Of several equal ones the first counts.
    Y : array-like of shape (n, q)
        Their embedding by a spectral method.
    kernel : {"geodesic", "laplacian"}, KernelFunction or callable, default="geodesic"
        The kernel of that method: "geodesic" for Isomap, "laplacian" for Laplacian eigenmaps of a
        neighbor graph (scikit-learn's ``SpectralEmbedding(affinity="nearest_neighbors")``), a
        function k(A, B) of two tables of points for kernel PCA.
    n_neighbors : int, default=5
        Neighbors in the graph of that method. Of scikit-learn's Laplacian eigenmaps, whose graph
        counts a point among its own neighbors, pass one less.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    NystromMap
        The map. Training points keep their images as well as these are eigenvectors.

    Raises
    ------
    InvalidInputError
        If the arguments cannot be used, the graph has several components, or the coordinates are no
        eigenvectors of this kernel.
    MemoryLimitError
        If the n × n kernel does not fit into memory.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.manifold import Isomap
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> isomap = Isomap(n_neighbors=8).fit(X)
    >>> nystrom = fit_nystrom(X, isomap.embedding_, n_neighbors=8)
    >>> bool(np.allclose(nystrom.transform(X), isomap.embedding_))
    True
    """
    training = read_training_points(X, Y, n_jobs=n_jobs)
    n = training.n_points
    require_memory(
        4 * 8 * n * n,
        what=f"The kernel of {n} points",
        instead="Use fit_goose, which looks at neighbors only.",
    )
    source, is_walk = _read_kernel(kernel, training, n_neighbors, n_jobs)
    raw = source.rows(training.points)
    images = training.own_images
    if is_walk:
        centering, offset = None, np.zeros(images.shape[1])
    else:
        # Paths through neighbors are symmetric but for rounding.
        raw = 0.5 * (raw + raw.T)
        centering, offset = KernelCentering.from_kernel(raw), images.mean(axis=0)
        images = images - offset
    product = _centered(raw, centering) @ images
    eigenvalues, residuals = _rayleigh(product, images)
    return NystromMap(
        source=source,
        centering=centering,
        coefficients=images / eigenvalues,
        offset=offset,
        eigenvalues=eigenvalues,
        residuals=residuals,
        n_features=training.points.shape[1],
        dtype=training.images.dtype,
    )


def _read_kernel(
    kernel: Any, training: TrainingPoints, n_neighbors: int, n_jobs: int | None
) -> tuple[KernelRows, bool]:
    """Return the rows that a name or a function means, and whether they are those of a walk."""
    if isinstance(kernel, KernelFunction):
        return FunctionRows(kernel, training.points), False
    if callable(kernel):
        return FunctionRows(KernelFunction(kernel), training.points), False
    check_choice(kernel, KERNELS, name="kernel")
    k = check_n_neighbors(n_neighbors, training.n_points, what="distinct points")
    if kernel == "laplacian":
        # By the same code as in `rows`: the last neighbor must not be lost by rounding.
        radii = nearest_in_rows(_distances_to_others(training.points, training.points), k)[0][:, -1]
        return WalkRows(training.points, radii, k), True
    graph = build_graph(training.points, n_neighbors=k, n_jobs=n_jobs)
    n_found = connected_components(graph).n_components
    if n_found > 1:
        msg = (
            f"The graph of {k} neighbors has {n_found} components, between which no path leads. "
            f"Pass the n_neighbors with which the embedding was made, or more."
        )
        raise InvalidInputError(msg)
    return GeodesicRows(training, all_pairs_geodesics(graph, n_jobs=n_jobs), k), False


def _centered(rows: FloatArray, centering: KernelCentering | None) -> FloatArray:
    return rows if centering is None else centering.apply(rows)


def _rayleigh(product: FloatArray, images: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return λ_k and |Ky − λy|/|Ky| of every coordinate; refuse what is no eigenvector."""
    squares = np.einsum("ij,ij->j", images, images)
    sizes = np.sqrt(np.einsum("ij,ij->j", product, product))
    flat: IntArray = np.flatnonzero((squares == 0.0) | (sizes == 0.0))
    eigenvalues = np.einsum("ij,ij->j", images, product) / np.where(squares > 0, squares, 1.0)
    left = product - images * eigenvalues
    residuals = np.sqrt(np.einsum("ij,ij->j", left, left)) / np.where(sizes > 0, sizes, 1.0)
    bad = np.flatnonzero(~(residuals <= NO_EIGENVECTOR) | (eigenvalues == 0.0))
    if len(flat) or len(bad):
        worst = int(np.union1d(flat, bad)[0])
        msg = (
            f"Coordinate {worst} of Y is no eigenvector of this kernel: |Ky - λy| is "
            f"{residuals[worst]:.2g} of |Ky|. Nyström's formula holds for eigenvectors only. Pass "
            f"the kernel and n_neighbors with which Y was made, or use fit_goose, which takes any "
            f"embedding."
        )
        raise InvalidInputError(msg)
    return eigenvalues, residuals
