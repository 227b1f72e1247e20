"""Gram matrices and coordinates: from distances to inner products to points, and principal axes.

Classical scaling: squared distances D give G = −½ H D H, and G = E Λ Eᵀ gives coordinates
Y = E_r Λ_r^½ for the r leading eigenvalues. Negative eigenvalues say that no points in any
Euclidean space have these distances. Principal axes are the same for points that are known:
the leading eigenvectors of their scatter matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np
import scipy.linalg

from isofold._findings import setting
from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray
from isofold._validation import check_count, check_distances, check_points
from isofold.exceptions import InvalidInputError
from isofold.linalg._checks import (
    as_float_vector,
    as_symmetric_matrix,
    column_means,
    refuse_overflow,
    unit_of,
)
from isofold.linalg.centering import centered_both_ways
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

FEW_ULPS = 4.0
"""An eigenvalue that was asked for is kept if it exceeds so many eps of the largest: what rounding
leaves of a zero, since random errors of n² entries add up to less than one of n in size."""


@dataclass(frozen=True, eq=False)
class GramFactor:
    """Coordinates whose inner products are those of a Gram matrix, as nearly as possible.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
        Points in principal axes, variance descending. Columns whose eigenvalue is not positive
        beyond rounding are zero.
    eigenvalues : ndarray of shape (n_computed,)
        Computed eigenvalues, descending: all, or only the leading `n_components`.
    explained : float
        Sum of the kept eigenvalues over the trace. Above one if negative eigenvalues exist;
        one if the trace is not positive.
    negative : float or None
        Fraction of the negative eigenvalues in the sum of all magnitudes: zero for true Euclidean
        distances. None if only leading eigenvalues were computed.
    """

    coordinates: FloatArray
    eigenvalues: FloatArray
    explained: float
    negative: float | None


@dataclass(frozen=True, eq=False)
class PrincipalCoordinates:
    """Points in their principal axes.

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
    explained : float
        Fraction of the total variance in the kept axes (one if there is no variance).
    """

    coordinates: FloatArray
    axes: FloatArray
    mean: FloatArray
    variances: FloatArray
    total_variance: float
    explained: float


def gram_from_distances(squared_distances: FloatArray) -> FloatArray:
    """Return the Gram matrix of centered points from their squared distances.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import gram_from_distances
    >>> gram_from_distances(np.array([[0.0, 4.0], [4.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    gram = centered_both_ways(check_distances(squared_distances, name="squared_distances"))
    gram *= -0.5
    return gram


def coordinates_from_gram(
    gram: FloatArray, n_components: int | None = None, *, tol: float | None = None
) -> GramFactor:
    """Factor a Gram matrix into coordinates.

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
    if tol is None:
        # The side of the matrix sets the rounding, also where fewer eigenvalues were computed.
        ulps = n if n_components is None else FEW_ULPS
        tol = min(0.5, ulps * float(np.finfo(gram.dtype).eps))
    rank = numerical_rank(values, tol=tol)
    kept = rank if n_components is None else wanted
    lengths = np.sqrt(np.where(np.arange(kept) < rank, values[:kept], 0.0))
    magnitude = float(np.abs(values).sum())
    negative = float(-values[values < 0].sum()) / magnitude if magnitude > 0 else 0.0
    return GramFactor(
        coordinates=vectors[:, :kept] * lengths,
        eigenvalues=values,
        explained=_fraction(float((lengths**2).sum()), float(np.trace(gram, dtype=np.float64))),
        negative=negative if whole else None,
    )


def numerical_rank(eigenvalues: FloatArray, *, tol: float | None = None) -> int:
    """Count the eigenvalues that are positive beyond rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import numerical_rank
    >>> numerical_rank(np.array([3.0, 1e-5, 1e-20, -1e-20]))
    2
    """
    eigenvalues = as_float_vector(eigenvalues, name="eigenvalues")
    if eigenvalues.size == 0:
        return 0
    if tol is None:
        tol = min(0.5, eigenvalues.size * float(np.finfo(eigenvalues.dtype).eps))
    _check_tol(tol)
    return int((eigenvalues > tol * np.abs(eigenvalues).max()).sum())


def principal_coordinates(
    X: FloatArray, n_components: int | None = None, *, tol: float | None = None
) -> PrincipalCoordinates:
    """Express points in their principal axes (PCA).

    Notes
    -----
    With no more features than samples the scatter matrix (n_features × n_features) is summed in
    blocks in float64; otherwise a thin singular value decomposition is cheaper. Axes beyond the
    rank complete an orthonormal basis; the coordinates along them are rounding.

    The default rank counts variances above (m + √n/32) · eps₆₄ of the largest, with m the smaller
    side of `X`, plus eps² times the largest squared mean and variance, with eps of the dtype of
    `X`: the variance of the rounding of its entries.

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
    wanted = min(n, d) if n_components is None else _check_components(n_components, d)
    if tol is not None:
        _check_tol(tol)
    # In units of the largest entry no square overflows or vanishes.
    unit = unit_of(X)
    mean = _accurate_mean(X, unit)
    decompose = _axes_of_scatter if d <= n else _axes_of_rows
    variances, axes, total = decompose(X, mean, unit, wanted)
    if n_components is None:
        floor = _rounding(X, mean, unit, float(variances[0])) if tol is None else tol * variances[0]
        # Nothing is lost by the axes beyond the rank: keep one, so that a table comes out.
        wanted = max(1, int((variances > floor).sum()))
    variances, axes = variances[:wanted], np.ascontiguousarray(axes[:, :wanted])
    coordinates = np.empty((n, wanted), dtype=X.dtype)
    explained = _fraction(float(variances.sum()), total)
    with np.errstate(over="ignore"):
        for part, block in _centered_blocks(X, mean, unit):
            coordinates[part] = block @ axes * unit
        variances, total = variances * unit * unit, total * unit * unit
    refuse_overflow(coordinates, name="Coordinates of X")
    refuse_overflow(np.append(variances, total), name="Variances of X")
    return PrincipalCoordinates(coordinates, axes, mean, variances, total, explained)


def _axes_of_scatter(
    X: FloatArray, mean: FloatArray, unit: float, wanted: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return variances and axes from the scatter matrix, and the total variance."""
    n, d = X.shape
    require_memory(
        8 * (3 * d**2 + d * wanted),
        what=f"The scatter matrix of {d} features and its eigenvectors",
        instead="Project the features to fewer first, for example at random.",
    )
    scatter = np.zeros((d, d))
    for _, block in _centered_blocks(X, mean, unit):
        scatter += block.T @ block
    values, axes = eigh_extreme(scatter, wanted)
    return np.maximum(values, 0.0) / n, axes, float(np.trace(scatter)) / n


def _axes_of_rows(
    X: FloatArray, mean: FloatArray, unit: float, wanted: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return variances and axes from a thin decomposition of few rows, and the total variance."""
    n, d = X.shape
    require_memory(
        8 * d * (3 * n + wanted),
        what=f"The singular vectors of {n} samples with {d} features",
        instead="Project the features to fewer first, for example at random.",
    )
    _, singular, rows = scipy.linalg.svd(
        _centered(X, mean, unit), full_matrices=False, check_finite=False
    )
    variances, axes = singular**2 / n, rows.T
    total = float(variances.sum())
    if wanted > n:
        # More axes than the samples span: Householder's Q completes the zero columns.
        axes = np.linalg.qr(np.pad(axes, ((0, 0), (0, wanted - n))))[0]
        variances = np.pad(variances, (0, wanted - n))
    return variances, deterministic_signs(axes), total


def _rounding(X: FloatArray, mean: FloatArray, unit: float, largest: float) -> float:
    """Return the variance that rounding leaves along an axis without any, in units of `unit`."""
    n, d = X.shape
    # The side of the matrix, and sums over n rows (measured: 2.5 eps at a million rows).
    terms = min(n, d) + float(np.sqrt(n)) / 32
    squares = float(np.abs(mean / unit).max() ** 2) + largest
    eps = [float(np.finfo(dtype).eps) for dtype in (np.float64, X.dtype)]
    return float(terms * eps[0] * largest + eps[1] ** 2 * squares)


def _accurate_mean(X: FloatArray, unit: float) -> FloatArray:
    """Return the mean to the last digit: an error would look like a direction of its own."""
    mean = column_means(X)
    correction = np.zeros_like(mean)
    for _, block in _centered_blocks(X, mean, unit):
        correction += block.sum(axis=0)
    mean += correction / len(X) * unit
    return mean


def _centered_blocks(
    X: FloatArray, mean: FloatArray, unit: float
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of centered rows in float64, so that X itself is never copied."""
    n, d = X.shape
    step = block_rows(2 * 8 * d, n)
    for start in range(0, n, step):
        part = slice(start, start + step)
        yield part, _centered(X[part], mean, unit)


def _centered(X: FloatArray, mean: FloatArray, unit: float) -> FloatArray:
    centered: FloatArray = X / np.float64(unit) - mean / unit
    return centered


def _check_tol(tol: object) -> None:
    if not isinstance(tol, Real) or not 0 <= float(tol) < 1:
        msg = f"tol={tol!r} is relative to the largest eigenvalue, so it must lie in [0, 1)."
        raise InvalidInputError(msg)


def _check_components(n_components: int | None, most: int) -> int:
    if n_components is None:
        return most
    count = check_count(n_components, name="n_components")
    if count > most:
        asked = setting("n_components", count)
        msg = f"{asked}, but there are only {most} dimensions. Ask for fewer."
        raise InvalidInputError(msg)
    return count


def _fraction(part: float, total: float) -> float:
    return part / total if total > 0 else 1.0
