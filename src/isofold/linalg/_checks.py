"""Checks of matrices that the whole room shares."""

from __future__ import annotations

import numpy as np

from isofold._errors import InvalidInputError
from isofold._memory import block_rows
from isofold._typing import FloatArray
from isofold._validation import check_finite

SYMMETRY_TOL = 64.0
"""Allowed asymmetry in units of eps·max|A|·√n: rounding in a product of n terms, with room."""


def as_float_matrix(A: object, *, name: str) -> FloatArray:
    """Return a finite two-dimensional array of float32 or float64, copied only if it must be."""
    array = np.asarray(A)
    if array.ndim != 2 or array.dtype.kind not in "buif":
        msg = (
            f"{name} must be a real matrix, but it has {array.ndim} dimension(s) and dtype "
            f"{array.dtype}. Pass a two-dimensional array of real numbers."
        )
        raise InvalidInputError(msg)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    check_finite(array, name=name)
    return array


def check_square(shape: tuple[int, ...], *, name: str) -> int:
    """Return the side of a square matrix that has at least one row."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        msg = f"{name} has shape {shape}, but it must be square and not empty."
        raise InvalidInputError(msg)
    return shape[0]


def as_symmetric_matrix(A: object, *, name: str) -> FloatArray:
    """Return a dense matrix after checking that it is finite, square and symmetric."""
    array = as_float_matrix(A, name=name)
    n = check_square(array.shape, name=name)
    rows = block_rows(array.itemsize * n, n)
    starts = range(0, n, rows)
    asymmetry = max(
        float(np.abs(array[s : s + rows] - array[:, s : s + rows].T).max()) for s in starts
    )
    largest = max(float(np.abs(array[s : s + rows]).max()) for s in starts)
    refuse_asymmetry(asymmetry, largest, n, eps=float(np.finfo(array.dtype).eps), name=name)
    return array


def refuse_asymmetry(asymmetry: float, size: float, n: int, *, eps: float, name: str) -> None:
    """Raise an error if a matrix differs from its transpose by more than rounding."""
    if asymmetry > SYMMETRY_TOL * eps * size * n**0.5:
        msg = (
            f"{name} is not symmetric: it differs from its transpose by up to {asymmetry:.3g} "
            f"at a size of {size:.3g}. Its eigenvectors would not be orthogonal. "
            f"Pass ({name} + {name}.T) / 2 if the difference does not matter."
        )
        raise InvalidInputError(msg)
