"""Gram matrices and coordinates: from distances to inner products to points, and principal axes.

Classical scaling: squared distances D give G = −½ H D H, and G = E Λ Eᵀ gives coordinates
Y = E_r Λ_r^½ for the r leading eigenvalues. Negative eigenvalues say that no points in any
Euclidean space have these distances. Principal axes are the same for points that are known:
the leading eigenvectors of their scatter matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from isofold._errors import InvalidInputError
from isofold._memory import block_rows
from isofold._typing import FloatArray
from isofold._validation import check_count, check_points
from isofold.linalg._checks import as_symmetric_matrix
from isofold.linalg.centering import double_center
from isofold.linalg.eigen import deterministic_signs, eigh_extreme

__all__ = [
    "GramFactor",
    "PrincipalCoordinates",
    "coordinates_from_gram",
    "gram_from_distances",
    "numerical_rank",
    "principal_coordinates",
]

WHOLE_SPECTRUM_SIDE = 1000
"""Up to this side the whole spectrum of a Gram matrix is computed even if few columns are
wanted: it takes a fraction of a second and tells how far the matrix is from a Gram matrix."""


@dataclass(frozen=True, eq=False)
class GramFactor:
    """Coordinates whose inner products are those of a Gram matrix, as nearly as possible.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
        Points in principal axes, variance descending. Columns beyond the rank are zero.
    eigenvalues : ndarray of shape (n_computed,)
        Computed eigenvalues, descending: all, or only the leading `n_components`.
    explained : float
        Sum of the kept eigenvalues over the trace. Above one if negative eigenvalues exist;
        one if the trace is not positive.
    negative : float or None
        Share of the negative eigenvalues in the sum of all magnitudes: zero for true Euclidean
        distances. None if only leading eigenvalues were computed.
    """

    coordinates: FloatArray
    eigenvalues: FloatArray
    explained: float
    negative: float | None


@dataclass(frozen=True, eq=False)
class PrincipalCoordinates:
    """Points turned into their principal axes.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
        ``(X - mean) @ axes``, in the dtype of the points.
    axes : ndarray of shape (n_features, n_components)
        Orthonormal principal axes as columns, in float64, with deterministic signs.
    mean : ndarray of shape (n_features,)
        Mean of the points, in float64.
    variances : ndarray of shape (n_components,)
        Variance along each axis, divided by n, descending.
    total_variance : float
        Sum of the variances of all features.
    """

    coordinates: FloatArray
    axes: FloatArray
    mean: FloatArray
    variances: FloatArray
    total_variance: float

    @property
    def explained(self) -> float:
        """Share of the total variance in the kept axes (one if there is no variance)."""
        return _share(float(self.variances.sum()), self.total_variance)


def gram_from_distances(squared_distances: FloatArray) -> FloatArray:
    """Return the Gram matrix of centered points from their squared distances.

    Parameters
    ----------
    squared_distances : ndarray of shape (n, n)
        Symmetric, nonnegative, with a zero diagonal.

    Returns
    -------
    ndarray of shape (n, n)
        −½ H D H, in the same dtype.

    Raises
    ------
    InvalidInputError
        If this is no matrix of squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import gram_from_distances
    >>> gram_from_distances(np.array([[0.0, 4.0], [4.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    D = as_symmetric_matrix(squared_distances, name="squared_distances")
    diagonal = float(np.abs(np.diagonal(D)).max())
    if D.min() < 0 or diagonal > 0:
        msg = (
            f"squared_distances has a least entry of {D.min():.3g} and a diagonal of up to "
            f"{diagonal:.3g}, but squared distances are nonnegative and zero from a point to "
            f"itself. Pass distances squared, not a similarity."
        )
        raise InvalidInputError(msg)
    gram = double_center(D)
    gram *= -0.5
    return gram


def coordinates_from_gram(
    gram: FloatArray, n_components: int | None = None, *, tol: float | None = None
) -> GramFactor:
    """Factor a Gram matrix into coordinates.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Symmetric matrix of inner products. It is not centered here.
    n_components : int, default=None
        Columns wanted, or the numerical rank by default.
    tol : float, default=None
        Relative tolerance of the rank, see `numerical_rank`.

    Returns
    -------
    GramFactor
        Coordinates, eigenvalues and how much was left out.

    Raises
    ------
    InvalidInputError
        If `gram` is not symmetric and finite or `n_components` exceeds n.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import coordinates_from_gram, gram_from_distances
    >>> line = np.array([0.0, 1.0, 3.0])
    >>> gram = gram_from_distances((line[:, None] - line) ** 2)
    >>> factor = coordinates_from_gram(gram)
    >>> factor.coordinates.shape
    (3, 1)
    """
    gram = as_symmetric_matrix(gram, name="gram")
    n = len(gram)
    whole = n_components is None or n <= WHOLE_SPECTRUM_SIDE
    wanted = _check_components(n_components, n)
    values, vectors = eigh_extreme(gram, n if whole else wanted)
    # The side of the matrix sets the rounding, also where fewer eigenvalues were computed.
    tol = _default_tol(n, gram.dtype) if tol is None else tol
    rank = numerical_rank(values, tol=tol)
    kept = rank if n_components is None else wanted
    lengths = np.sqrt(np.where(np.arange(kept) < rank, values[:kept], 0.0))
    magnitude = float(np.abs(values).sum())
    negative = float(-values[values < 0].sum()) / magnitude if magnitude > 0 else 0.0
    return GramFactor(
        coordinates=vectors[:, :kept] * lengths,
        eigenvalues=values,
        explained=_share(float((lengths**2).sum()), float(np.trace(gram, dtype=np.float64))),
        negative=negative if whole else None,
    )


def numerical_rank(eigenvalues: FloatArray, *, tol: float | None = None) -> int:
    """Count the eigenvalues that are positive beyond rounding.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        Eigenvalues in any order.
    tol : float, default=None
        Eigenvalues above `tol` times the largest magnitude count. The default is n · eps of the
        dtype, the rounding of a matrix of side n. Since eigenvalues are squared lengths, a
        direction is kept if its length exceeds √tol of the longest.

    Returns
    -------
    int
        The rank; zero if there is no positive eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import numerical_rank
    >>> numerical_rank(np.array([3.0, 1e-5, 1e-20, -1e-20]))
    2
    """
    eigenvalues = np.asarray(eigenvalues)
    if eigenvalues.size == 0:
        return 0
    tol = _default_tol(eigenvalues.size, eigenvalues.dtype) if tol is None else tol
    if not 0 <= tol < 1:
        msg = f"tol={tol!r} is relative to the largest eigenvalue, so it must lie in [0, 1)."
        raise InvalidInputError(msg)
    return int((eigenvalues > tol * np.abs(eigenvalues).max()).sum())


def principal_coordinates(
    X: FloatArray, n_components: int | None = None, *, tol: float | None = None
) -> PrincipalCoordinates:
    """Turn points into their principal axes (PCA).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points; a read-only memory map is read in blocks if it has no more features than
        samples.
    n_components : int, default=None
        Axes to keep, at most n_features. By default the numerical rank, so that all distances
        are kept.
    tol : float, default=None
        Relative tolerance of the rank on the variances, see `numerical_rank`.

    Returns
    -------
    PrincipalCoordinates
        Coordinates, axes, mean and variances.

    Raises
    ------
    InvalidInputError
        If `X` is not a finite table or `n_components` exceeds its features.

    Notes
    -----
    With no more features than samples the scatter matrix (n_features × n_features) is summed in
    blocks in float64; otherwise a thin singular value decomposition is cheaper. Axes beyond the
    rank complete an orthonormal basis and carry zero coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import principal_coordinates
    >>> diagonal = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> principal_coordinates(diagonal).coordinates.round(3)
    array([[-1.414],
           [ 0.   ],
           [ 1.414]])
    """
    X = check_points(X, min_samples=1)
    n, d = X.shape
    wanted = _check_components(n_components, d)
    mean = X.mean(axis=0, dtype=np.float64)
    if d <= n:
        scatter = np.zeros((d, d))
        for _, block in _centered_blocks(X, mean):
            scatter += block.T @ block
        total = float(np.trace(scatter)) / n
        values, axes = eigh_extreme(scatter, wanted)
        variances = np.maximum(values, 0.0) / n
    else:
        _, singular, rows = scipy.linalg.svd(X - mean, full_matrices=False, check_finite=False)
        variances = singular**2 / n
        total = float(variances.sum())
        axes = rows.T
        if n_components is not None and wanted > n:
            # More axes than the samples span: Householder's Q completes the zero columns.
            axes = np.linalg.qr(np.pad(axes, ((0, 0), (0, wanted - n))))[0]
            variances = np.pad(variances, (0, wanted - n))
        axes = deterministic_signs(axes)
    if n_components is None:
        # Nothing is lost by the axes beyond the rank: keep one, so that a table comes out.
        tol = _default_tol(max(n, d), X.dtype) if tol is None else tol
        wanted = max(1, numerical_rank(variances, tol=tol))
    axes = np.ascontiguousarray(axes[:, :wanted])
    coordinates = np.empty((n, wanted), dtype=X.dtype)
    for part, block in _centered_blocks(X, mean):
        coordinates[part] = block @ axes
    return PrincipalCoordinates(coordinates, axes, mean, variances[:wanted], total)


def _centered_blocks(X: FloatArray, mean: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of centered rows in float64, so that X itself is never copied."""
    n, d = X.shape
    step = block_rows(8 * d, n)
    for start in range(0, n, step):
        part = slice(start, start + step)
        yield part, X[part] - mean


def _check_components(n_components: int | None, most: int) -> int:
    if n_components is None:
        return most
    count = check_count(n_components, name="n_components")
    if count > most:
        msg = f"n_components={count}, but there are only {most} dimensions. Ask for fewer."
        raise InvalidInputError(msg)
    return count


def _default_tol(n: int, dtype: np.dtype[np.floating]) -> float:
    return n * float(np.finfo(dtype).eps)


def _share(part: float, total: float) -> float:
    return part / total if total > 0 else 1.0
