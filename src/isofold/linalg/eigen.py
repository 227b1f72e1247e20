"""Extreme eigenpairs of symmetric matrices: one entry point, deterministic signs.

Small or dense problems go to LAPACK, which finds exactly the wanted part of the spectrum. Large
sparse matrices and operators go to the Lanczos method (ARPACK) from fixed start vectors. The
smallest eigenvalues of a sparse matrix are found by inverting A − σI with σ just below the
spectrum, so that the matrix is positive definite and the eigenvalues nearest to σ are the
smallest ones: just below zero if the factors then prove it, else below Gershgorin's bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator

from isofold._memory import require_memory
from isofold._typing import FloatArray
from isofold._validation import check_count, check_finite, check_square
from isofold.exceptions import ConvergenceError, InvalidInputError
from isofold.linalg._checks import (
    MATRIX_ADVICE,
    as_float_matrix,
    as_symmetric_matrix,
    refuse_asymmetry,
)
from isofold.linalg._lanczos import (
    HALF_OF_THE_DIGITS,
    MAX_RESTARTS,
    largest_pairs,
    smallest_pairs_of_sparse,
    start_vector,
)

__all__ = ["deterministic_signs", "eigh_extreme", "eigh_slice"]

SymmetricMatrix: TypeAlias = Any
"""A dense array, a SciPy sparse matrix or array, or a LinearOperator."""

SMALL_SIDE = 500
"""Up to this side LAPACK takes well under a second whatever is asked."""

LARGE_DENSE_SIDE = 2000
"""From this side on, few leading pairs of a dense matrix are cheaper by Lanczos."""

FALLBACK_SIDE = 5000
"""Up to this side LAPACK rescues a Lanczos run that did not converge, in a minute or so."""

DENSE_SHARE = 40
"""Lanczos on a dense matrix is worth it for at most one pair in so many rows: at n = 2000 it took
0.48 s for 50 pairs and 0.91 s for 200, LAPACK 0.64 s and 0.83 s."""


def eigh_extreme(
    A: SymmetricMatrix,
    n_vectors: int,
    *,
    which: Literal["largest", "smallest"] = "largest",
    solver: Literal["auto", "dense", "iterative"] = "auto",
) -> tuple[FloatArray, FloatArray]:
    """Return the algebraically largest or smallest eigenpairs of a symmetric matrix.

    Notes
    -----
    Eigenvectors of a repeated eigenvalue are an arbitrary basis of its eigenspace: the same for
    the same input, but not the same from LAPACK and from ARPACK. ARPACK's answer is checked for
    copies of repeated eigenvalues that it left out; values that agree to half of the digits count
    as equal there.

    Shift-invert factors the sparse matrix; the fill-in decides the memory. It is small for
    neighbor graphs of low-dimensional data.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import eigh_extreme
    >>> values, vectors = eigh_extreme(np.array([[2.0, 1.0], [1.0, 2.0]]), 1)
    >>> values
    array([3.])
    >>> vectors.round(3)
    array([[0.707],
           [0.707]])
    """
    A = _check_matrix(A)
    n = A.shape[0]
    n_vectors = check_count(n_vectors, name="n_vectors")
    if n_vectors > n:
        msg = f"n_vectors={n_vectors}, but a matrix of side {n} has only {n} eigenvectors."
        raise InvalidInputError(msg)
    if which not in ("largest", "smallest") or solver not in ("auto", "dense", "iterative"):
        msg = (
            f"which={which!r} must be 'largest' or 'smallest' and solver={solver!r} must be "
            f"'auto', 'dense' or 'iterative'."
        )
        raise InvalidInputError(msg)
    if solver == "dense" or (solver == "auto" and _suits_lapack(A, n_vectors, which)):
        values, vectors = _lapack(A, n_vectors, which)
    else:
        values, vectors = _lanczos(A, n_vectors, which)
    order = np.argsort(values, kind="stable")
    if which == "largest":
        order = order[::-1]
    dtype = np.float32 if A.dtype == np.float32 else np.float64
    vectors = deterministic_signs(vectors[:, order])
    return values[order].astype(dtype), vectors.astype(dtype, copy=False)


def deterministic_signs(vectors: FloatArray) -> FloatArray:
    """Flip columns so that the entry of largest magnitude in each is positive.

    Notes
    -----
    Entries within a relative √eps of the largest count as equal, and the first of them decides:
    otherwise rounding would choose the sign of a vector like (1, −1)/√2.
    """
    vectors = as_float_matrix(vectors, name="vectors")
    if vectors.size == 0:
        return vectors.copy()
    magnitude = np.abs(vectors)
    tie = 1.0 - np.sqrt(np.finfo(vectors.dtype).eps)
    deciding = np.argmax(magnitude >= tie * magnitude.max(axis=0), axis=0)
    negative = vectors[deciding, np.arange(vectors.shape[1])] < 0
    return np.where(negative, -vectors, vectors)


def _check_matrix(A: SymmetricMatrix) -> SymmetricMatrix:
    if sp.issparse(A):
        return _check_sparse(A)
    if isinstance(A, LinearOperator):
        return _check_operator(A)
    return as_symmetric_matrix(A, name="A")


def _check_sparse(A: SymmetricMatrix) -> SymmetricMatrix:
    n = check_square(A.shape, name="A")
    A = A.tocsc()
    if A.dtype.kind not in "buif":
        msg = f"A has dtype {A.dtype}, but it must be real. Pass its real part."
        raise InvalidInputError(msg)
    if A.dtype not in (np.float32, np.float64):
        A = A.astype(np.float64)
    check_finite(A.data, name="A (its stored entries)", advice=MATRIX_ADVICE)
    if A.nnz:
        with np.errstate(over="ignore"):
            asymmetry = float(abs(A - A.T).max())
        largest = float(np.abs(A.data).max())
        refuse_asymmetry(asymmetry, largest, n, eps=float(np.finfo(A.dtype).eps), name="A")
    return A


def _check_operator(A: SymmetricMatrix) -> SymmetricMatrix:
    """Check an operator by two probes: x·Ay = y·Ax holds for symmetric A only."""
    n = check_square(A.shape, name="A")
    x, y = start_vector(n), start_vector(n)[::-1]
    product_x, product_y = A @ x, A @ y
    if np.dtype(A.dtype).kind not in "buif" or product_x.dtype.kind not in "buif":
        msg = (
            f"A has dtype {A.dtype} and its products {product_x.dtype}, but it must be real. "
            f"Pass its real part."
        )
        raise InvalidInputError(msg)
    products = np.array([product_x, product_y], dtype=np.float64)
    check_finite(products, name="A @ v for a finite vector v", advice=MATRIX_ADVICE)
    # In units of the products nothing overflows or vanishes, however large or small A is.
    products /= np.abs(products).max() or 1.0
    size = float(np.linalg.norm(products[0]) * np.linalg.norm(y))
    difference = abs(float(y @ products[0] - x @ products[1]))
    # An operator may carry the rounding of a solve, so √eps is asked of it rather than eps.
    refuse_asymmetry(difference, size, n, eps=HALF_OF_THE_DIGITS, name="A")
    return A


def _suits_lapack(A: SymmetricMatrix, n_vectors: int, which: str) -> bool:
    n = A.shape[0]
    if n <= SMALL_SIDE or n_vectors > n // 10:
        return True
    if not isinstance(A, np.ndarray):
        return False
    return which == "smallest" or n < LARGE_DENSE_SIDE or n_vectors > n // DENSE_SHARE


def _lapack(A: SymmetricMatrix, n_vectors: int, which: str) -> tuple[FloatArray, FloatArray]:
    n = A.shape[0]
    require_memory(
        16 * n**2 + 8 * n * n_vectors,
        what=f"{n_vectors} eigenvectors of a matrix of side {n} by a dense method",
        instead="Ask for at most a tenth of the eigenvectors, so that Lanczos can be used.",
    )
    if isinstance(A, np.ndarray):
        dense = A
    elif isinstance(A, LinearOperator):
        dense = A @ np.eye(n)
    else:
        dense = A.toarray()
    first = n - n_vectors if which == "largest" else 0
    return eigh_slice(dense.astype(np.float64, copy=False), first, first + n_vectors)


def eigh_slice(A: FloatArray, start: int, stop: int) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues from one rank in ascending order up to another, and their vectors."""
    try:
        values, vectors = scipy.linalg.eigh(
            A, subset_by_index=[start, stop - 1], check_finite=False
        )
    except np.linalg.LinAlgError:
        values = vectors = np.empty(0)
    if len(values) == stop - start:
        return values, vectors
    # LAPACK's routine for a subset of them fails on some matrices with repeated eigenvalues, or
    # returns nothing.
    values, vectors = np.linalg.eigh(A)
    return values[start:stop], vectors[:, start:stop]


def _lanczos(A: SymmetricMatrix, n_vectors: int, which: str) -> tuple[FloatArray, FloatArray]:
    n = A.shape[0]
    if n_vectors >= n:
        msg = f"solver='iterative' finds at most n - 1 = {n - 1} eigenpairs. Use solver='dense'."
        raise InvalidInputError(msg)
    try:
        if which == "largest":
            return largest_pairs(_float64_product(A), n, n_vectors)
        if sp.issparse(A):
            return smallest_pairs_of_sparse(A, n_vectors)
        product = _float64_product(A)
        values, vectors = largest_pairs(lambda x: -product(x), n, n_vectors)
        return -values, vectors
    except ArpackError as error:
        if n <= FALLBACK_SIDE:
            return _lapack(A, n_vectors, which)
        msg = (
            f"The {n_vectors} {which} eigenpairs of a matrix of side {n} did not converge in "
            f"{MAX_RESTARTS} Lanczos restarts: the eigenvalues there lie too close together. "
            f"Ask for a few more pairs, so that a gap follows the last one, or pass "
            f"solver='dense'."
        )
        raise ConvergenceError(msg) from error


def _float64_product(A: SymmetricMatrix) -> Callable[[FloatArray], FloatArray]:
    """Return x ↦ A x in float64, also where A is kept or computed in another precision."""
    if isinstance(A, LinearOperator):
        return lambda x: np.asarray(A.matvec(x), dtype=np.float64)
    wide = A.astype(np.float64, copy=False)
    return lambda x: wide @ x
