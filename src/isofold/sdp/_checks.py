"""Checks of the parts of a program, each with a message that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, IntArray, Matrix
from isofold._validation import check_count, check_finite, check_square, check_symmetric
from isofold.exceptions import InvalidInputError
from isofold.sdp.forms import is_sparse
from isofold.sdp.sparse_less_squares import SparseLessSquares

ENTRY_ADVICE = "No number can be compared with such an entry. Remove it or give its true value."


class FiniteOperator(LinearOperator):
    """An operator of a user, whose products are looked at: an engine fed with NaN never ends well.

    Parameters
    ----------
    given : LinearOperator
        The operator.
    """

    def __init__(self, given: LinearOperator) -> None:
        super().__init__(dtype=given.dtype, shape=given.shape)  # type: ignore[call-arg]
        self._given = given

    def _matvec(self, x: FloatArray) -> FloatArray:
        return self._checked(self._given.matvec(x), x)

    def _matmat(self, X: FloatArray) -> FloatArray:
        return self._checked(self._given.matmat(X), X)

    def _adjoint(self) -> LinearOperator:
        return self

    def _checked(self, product: Any, given: FloatArray) -> FloatArray:
        array = np.asarray(product)
        if not np.isfinite(array).all() and np.isfinite(given).all():
            n_bad = int(array.size - np.isfinite(array).sum())
            msg = (
                f"The objective, a linear operator, returned {n_bad} NaN or infinite value(s) for "
                f"a product with finite numbers. {ENTRY_ADVICE}"
            )
            raise InvalidInputError(msg)
        return array


def check_objective(objective: Any, n_points: Any) -> Matrix:
    """Return the objective as a CSR array, a float array or a linear operator."""
    n = check_count(n_points, name="n_points")
    if not isinstance(objective, LinearOperator) and not is_sparse(objective):
        objective = as_floats(objective, name="The objective")
    if np.dtype(objective.dtype).kind not in "fiub":
        msg = (
            f"The objective holds {objective.dtype} entries, but a Gram matrix is real. Pass real "
            f"numbers."
        )
        raise InvalidInputError(msg)
    if tuple(objective.shape) != (n, n):
        msg = (
            f"The objective has shape {tuple(objective.shape)}, but n_points={n} asks for "
            f"({n}, {n}). Pass one row and column for every row of the coordinates."
        )
        raise InvalidInputError(msg)
    if isinstance(objective, LinearOperator):
        is_checked = isinstance(objective, (FiniteOperator, SparseLessSquares))
        return objective if is_checked else FiniteOperator(objective)
    if is_sparse(objective):
        matrix = sp.csr_array(objective, dtype=np.float64)
        check_finite(matrix.data, name="The objective", advice=ENTRY_ADVICE)
        _refuse_asymmetric(matrix)
        return matrix
    check_square(objective.shape, name="The objective")
    check_finite(objective, name="The objective", advice=ENTRY_ADVICE)
    check_symmetric(objective, name="The objective")
    return objective


def check_blocks(blocks: Any, n_points: int) -> IntArray:
    """Return disjoint blocks (first row, size) in the order of their rows."""
    if blocks is None:
        return np.empty((0, 2), dtype=np.intp)
    array = _as_table(blocks, name="blocks")
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        msg = (
            f"blocks must be whole numbers of shape (n_blocks, 2), first row and size of each; "
            f"an array of shape {array.shape} and dtype {array.dtype} was given."
        )
        raise InvalidInputError(msg)
    array = array[np.argsort(array[:, 0], kind="stable")].astype(np.intp)
    ends = array.sum(axis=1)
    if array[0, 0] < 0 or array[:, 1].min() < 1 or ends.max() > n_points:
        msg = f"A block begins before row 0, is empty or ends after row {n_points - 1}."
        raise InvalidInputError(msg)
    overlap = np.flatnonzero(ends[:-1] > array[1:, 0])
    if len(overlap):
        msg = (
            f"Blocks {overlap[0]} and {overlap[0] + 1} share row {array[overlap[0] + 1, 0]}. A row "
            f"can be orthonormal to one block only."
        )
        raise InvalidInputError(msg)
    return array


def check_basis(basis: Any, n_points: int) -> Matrix | None:
    """Return the basis as a float array or CSR array."""
    if basis is None:
        return None
    matrix: Matrix = (
        sp.csr_array(basis, dtype=float) if is_sparse(basis) else as_floats(basis, name="The basis")
    )
    if matrix.ndim != 2 or matrix.shape[0] != n_points or matrix.shape[1] < 1:
        msg = (
            f"The basis has shape {tuple(matrix.shape)}, but it must have {n_points} rows, one "
            f"for every point, and at least one column."
        )
        raise InvalidInputError(msg)
    entries = matrix.data if is_sparse(matrix) else matrix
    check_finite(entries, name="The basis", advice=ENTRY_ADVICE)
    if not np.any(entries):
        msg = "The basis is zero, so that all points would be one. Pass columns that are not zero."
        raise InvalidInputError(msg)
    return matrix


def check_pairs(pairs: Any, n_points: Any) -> IntArray:
    """Return pairs of different points as an integer array of two columns."""
    n = check_count(n_points, name="n_points")
    array = _as_table(pairs, name="pairs")
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        msg = (
            f"pairs must be whole numbers of shape (n_pairs, 2); an array of shape {array.shape} "
            f"and dtype {array.dtype} was given."
        )
        raise InvalidInputError(msg)
    outside = np.flatnonzero((array.min(axis=1) < 0) | (array.max(axis=1) >= n))
    if len(outside):
        first, second = array[outside[0]]
        msg = f"Pair {outside[0]} is ({first}, {second}), but the points are 0 to {n - 1}."
        raise InvalidInputError(msg)
    loops = np.flatnonzero(array[:, 0] == array[:, 1])
    if len(loops):
        msg = (
            f"Pair {loops[0]} joins point {array[loops[0], 0]} to itself ({len(loops)} such "
            f"pair(s)). Its distance is zero whatever the embedding; drop it."
        )
        raise InvalidInputError(msg)
    return np.ascontiguousarray(array, dtype=np.intp)


def check_bounds(
    n_forms: int, lower: Any, upper: Any, penalty: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return lower and upper bounds and penalties, one for every form."""
    low = _one_each(lower, n_forms, name="lower", absent=-np.inf)
    high = _one_each(upper, n_forms, name="upper", absent=np.inf)
    weight = _one_each(penalty, n_forms, name="penalty", absent=np.inf)
    crossed = np.flatnonzero(low > high)
    if len(crossed):
        msg = (
            f"Constraint {crossed[0]} asks for at least {low[crossed[0]]:g} and at most "
            f"{high[crossed[0]]:g}, which no number is ({len(crossed)} such constraint(s)). Swap "
            f"or correct the bounds."
        )
        raise InvalidInputError(msg)
    if np.any(np.isposinf(low)) or np.any(np.isneginf(high)):
        msg = "A lower bound of +inf or an upper bound of -inf can never be met. Correct it."
        raise InvalidInputError(msg)
    if n_forms and weight.min() <= 0.0:
        msg = (
            f"The smallest penalty is {weight.min():g}, but a soft constraint needs a positive "
            f"weight. Drop constraints that should not count; use None for hard ones."
        )
        raise InvalidInputError(msg)
    return low, high, weight


def check_squared_distances(upper: FloatArray) -> None:
    """Raise an error if a squared distance would have to be negative."""
    negative = np.flatnonzero(upper < 0.0)
    if len(negative):
        msg = (
            f"The squared distance of pair {negative[0]} may be at most {upper[negative[0]]:g}, "
            f"but no square is negative ({len(negative)} such pair(s)). Pass squared distances."
        )
        raise InvalidInputError(msg)


def check_factors(factors: Any) -> Matrix:
    """Return the vectors of squared terms as the rows of a float array or CSR array."""
    matrix: Matrix = (
        sp.csr_array(factors, dtype=float) if is_sparse(factors) else as_floats(factors, "factors")
    )
    if matrix.ndim != 2 or matrix.shape[1] < 1:
        msg = (
            f"factors has shape {tuple(matrix.shape)}, but it must be a matrix with one row for "
            f"every squared term and one column for every point."
        )
        raise InvalidInputError(msg)
    entries = matrix.data if is_sparse(matrix) else matrix
    check_finite(entries, name="factors", advice=ENTRY_ADVICE)
    return matrix


def check_trace_bound(bound: Any) -> float | None:
    """Return a bound on the trace, or None."""
    if bound is None:
        return None
    is_number = isinstance(bound, int | float | np.integer | np.floating)
    if isinstance(bound, bool) or not is_number or not 0.0 <= bound < np.inf:
        msg = (
            f"trace_bound={bound!r} must be a finite number of at least 0, or None if nothing is "
            f"known."
        )
        raise InvalidInputError(msg)
    return float(bound)


def as_floats(values: Any, name: str) -> FloatArray:
    """Return numbers as an array of float64; raise an error if they are not real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            msg = "complex numbers"
            raise TypeError(msg)
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        msg = (
            f"{name} cannot be read as an array of real numbers ({error}). Pass numbers in rows "
            f"of equal length."
        )
        raise InvalidInputError(msg) from error


def _as_table(values: Any, name: str) -> IntArray:
    try:
        return np.asarray(values)
    except ValueError as error:
        msg = f"{name} must hold two whole numbers in every row; rows of unequal length were given."
        raise InvalidInputError(msg) from error


def _one_each(values: Any, n_forms: int, *, name: str, absent: float) -> FloatArray:
    if values is None:
        return np.full(n_forms, absent)
    array = as_floats(values, name=name)
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (n_forms,)):
        msg = (
            f"{name} has shape {array.shape}, but there are {n_forms} constraints. Pass one "
            f"number for each, or a single one for all."
        )
        raise InvalidInputError(msg)
    array = np.array(np.broadcast_to(array, (n_forms,)))
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        msg = f"{name} is NaN for constraint {missing[0]} ({len(missing)} in all). {ENTRY_ADVICE}"
        raise InvalidInputError(msg)
    return array


def _refuse_asymmetric(matrix: sp.csr_array) -> None:
    if matrix.nnz == 0:
        return
    difference = abs(matrix - matrix.T)
    largest = float(np.abs(matrix.data).max())
    asymmetry = float(difference.max()) if difference.nnz else 0.0
    # Sums of products in another order differ by some roundings of the largest entry.
    if asymmetry > 1e-10 * largest:
        msg = (
            f"The objective is not symmetric: entries across the diagonal differ by up to "
            f"{asymmetry:.3g} (largest entry {largest:.3g}). Pass (C + C.T) / 2."
        )
        raise InvalidInputError(msg)


def check_gap(tol: Any) -> None:
    """Refuse a relative duality gap that is not between zero and one."""
    is_number = isinstance(tol, int | float | np.integer | np.floating)
    if isinstance(tol, bool) or not is_number or not 0.0 < tol < 1.0:
        msg = f"tol={tol!r} must be a number between 0 and 1."
        raise InvalidInputError(msg)
