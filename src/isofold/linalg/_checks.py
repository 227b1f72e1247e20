"""Checks of matrices for all of linalg, and the units they are computed in."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold._validation import check_finite, check_symmetric, refuse_sparse, symmetry_tolerance
from isofold.exceptions import InvalidInputError

MATRIX_ADVICE = "Products with such a matrix are undefined. Remove or replace these entries."


def as_float_matrix(A: object, *, name: str) -> FloatArray:
    """Return a finite two-dimensional array of float32 or float64, copied only if it must be.

    Unlike `check_points` it does not go through scikit-learn, which would take as long as the
    algebra itself where many small matrices are worked on.
    """
    refuse_sparse(A, name=name)
    array = _as_real(A, name=name)
    if array.ndim != 2:
        msg = (
            f"{name} must be a real matrix, but it has {array.ndim} dimension(s). Pass a "
            f"two-dimensional array."
        )
        raise InvalidInputError(msg)
    check_finite(array, name=name, advice=MATRIX_ADVICE)
    return array


def as_float_vector(values: object, *, name: str) -> FloatArray:
    """Return a finite one-dimensional array of float32 or float64."""
    array = _as_real(values, name=name)
    if array.ndim != 1:
        msg = f"{name} has {array.ndim} dimension(s), but one is expected. Pass a flat list."
        raise InvalidInputError(msg)
    check_finite(array, name=name, advice="Remove or replace these entries.")
    return array


def _as_real(values: object, *, name: str) -> FloatArray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        msg = f"{name} cannot be read as an array: {error}"
        raise InvalidInputError(msg) from error
    if array.dtype.kind not in "buif":
        msg = f"{name} must be real numbers, but its dtype is {array.dtype}."
        raise InvalidInputError(msg)
    if array.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    return array


def as_symmetric_matrix(A: object, *, name: str) -> FloatArray:
    """Return a dense matrix after checking that it is finite, square and symmetric."""
    array = as_float_matrix(A, name=name)
    check_symmetric(array, name=name)
    return array


def refuse_asymmetry(asymmetry: float, size: float, n: int, *, eps: float, name: str) -> None:
    """Raise an error if a matrix differs from its transpose by more than rounding."""
    if asymmetry > symmetry_tolerance(n, size, eps=eps):
        msg = (
            f"{name} is not symmetric: it differs from its transpose by up to {asymmetry:.3g} "
            f"at a size of {size:.3g}. Its eigenvectors would not be orthogonal. "
            f"Pass ({name} + {name}.T) / 2 if the difference does not matter."
        )
        raise InvalidInputError(msg)


def refuse_overflow(array: FloatArray, *, name: str) -> None:
    """Raise an error if a result that was computed from finite numbers is not finite."""
    if not np.isfinite(array).all():
        msg = (
            f"{name} leave the range of {array.dtype}: the numbers that came in are too large, or "
            f"too far apart in size. Express them in other units."
        )
        raise InvalidInputError(msg)


def unit_of(array: FloatArray) -> float:
    """Return the power of two just above the largest magnitude, or one if all is zero.

    Dividing by it changes no digit, and squares of the quotients neither overflow nor vanish.
    """
    largest = max(float(array.max()), -float(array.min()))
    # The exponent of numbers near the top would lead to 2^1024, which is not a number.
    return float(2.0 ** min(np.frexp(largest)[1], 1023)) if largest > 0 else 1.0


def column_means(X: FloatArray) -> FloatArray:
    """Return the means of the columns in float64, also where a sum would overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        means: FloatArray = X.mean(axis=0, dtype=np.float64)
    if not np.isfinite(means).all():
        means = (X / np.float64(len(X))).sum(axis=0)
    return means
