"""Extreme eigenpairs of symmetric matrices: one entry point, deterministic signs.

Small or dense problems go to LAPACK, which finds exactly the wanted part of the spectrum. Large
sparse matrices and operators go to the Lanczos method (ARPACK) from a fixed start vector. The
smallest eigenvalues of a sparse matrix are found by inverting A − σI with σ just below
Gershgorin's lower bound, so that the matrix is positive definite and the eigenvalues nearest to
σ are the smallest ones.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from isofold._errors import ConvergenceError, InvalidInputError
from isofold._memory import require_memory
from isofold._typing import FloatArray
from isofold._validation import check_count, check_finite
from isofold.linalg._checks import as_symmetric_matrix, check_square, refuse_asymmetry

__all__ = ["deterministic_signs", "eigh_extreme"]

SymmetricMatrix: TypeAlias = Any
"""A dense array, a SciPy sparse matrix or array, or a LinearOperator."""

SMALL_SIDE = 500
"""Up to this side LAPACK takes well under a second whatever is asked."""

LARGE_DENSE_SIDE = 2000
"""From this side on, few leading pairs of a dense matrix are cheaper by Lanczos."""

FALLBACK_SIDE = 5000
"""Up to this side LAPACK rescues a Lanczos run that did not converge, in a minute or so."""

MAX_RESTARTS = 1000
"""Lanczos restarts before giving up; each costs about as many products as there are vectors."""

SHIFT_MARGIN = float(np.sqrt(np.finfo(np.float64).eps))
"""How far below Gershgorin's bound to shift, in units of ‖A‖₁: half of the digits are kept."""

# From SciPy 1.17 on ARPACK draws restart vectors from `rng`, by default seeded by the system.
_ARPACK_SEED: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def eigh_extreme(
    A: SymmetricMatrix,
    n_vectors: int,
    *,
    which: Literal["largest", "smallest"] = "largest",
    solver: Literal["auto", "dense", "iterative"] = "auto",
) -> tuple[FloatArray, FloatArray]:
    """Return the algebraically largest or smallest eigenpairs of a symmetric matrix.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator of shape (n, n)
        A real symmetric matrix.
    n_vectors : int
        How many eigenpairs, between 1 and n.
    which : {"largest", "smallest"}, default="largest"
        Which end of the spectrum.
    solver : {"auto", "dense", "iterative"}, default="auto"
        LAPACK, ARPACK, or whichever suits the size. "iterative" needs ``n_vectors < n``.

    Returns
    -------
    eigenvalues : ndarray of shape (n_vectors,)
        In descending order for the largest, ascending for the smallest.
    eigenvectors : ndarray of shape (n, n_vectors)
        Orthonormal columns with the signs of `deterministic_signs`. All is computed in float64
        and returned in float32 if `A` is float32.

    Raises
    ------
    InvalidInputError
        If `A` is not square, symmetric and finite, or `n_vectors` is out of range.
    ConvergenceError
        If the iteration does not converge and the matrix is too large to be solved densely.
    MemoryLimitError
        If the dense solution is needed and would not fit in memory.

    Notes
    -----
    Eigenvectors of a repeated eigenvalue are an arbitrary basis of its eigenspace: the same for
    the same input, but not the same from LAPACK and from ARPACK.

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

    Parameters
    ----------
    vectors : ndarray of shape (n, n_vectors)
        Vectors whose sign means nothing, as columns.

    Returns
    -------
    ndarray of shape (n, n_vectors)
        The same columns, some negated.

    Notes
    -----
    Entries within a relative √eps of the largest count as equal, and the first of them decides:
    otherwise rounding would choose the sign of a vector like (1, −1)/√2.
    """
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
    check_finite(A.data, name="A (its stored entries)")
    if A.nnz:
        asymmetry = float(abs(A - A.T).max())
        largest = float(np.abs(A.data).max())
        refuse_asymmetry(asymmetry, largest, n, eps=float(np.finfo(A.dtype).eps), name="A")
    return A


def _check_operator(A: SymmetricMatrix) -> SymmetricMatrix:
    """Check an operator by two probes: x·Ay = y·Ax holds for symmetric A only."""
    n = check_square(A.shape, name="A")
    x, y = _start_vector(n), _start_vector(n)[::-1]
    product_x, product_y = A @ x, A @ y
    check_finite(np.asarray(product_x, dtype=np.float64), name="A @ v for a finite vector v")
    scale = float(np.linalg.norm(product_x) * np.linalg.norm(y))
    difference = abs(float(y @ product_x - x @ product_y))
    # An operator may carry the rounding of a solve, so √eps is asked of it rather than eps.
    eps = float(np.sqrt(np.finfo(np.float64).eps))
    refuse_asymmetry(difference, scale, n, eps=eps, name="A")
    return A


def _suits_lapack(A: SymmetricMatrix, n_vectors: int, which: str) -> bool:
    n = A.shape[0]
    if n <= SMALL_SIDE or n_vectors > n // 10:
        return True
    return isinstance(A, np.ndarray) and (which == "smallest" or n < LARGE_DENSE_SIDE)


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
    values, vectors = scipy.linalg.eigh(
        dense.astype(np.float64, copy=False),
        subset_by_index=[first, first + n_vectors - 1],
        check_finite=False,
    )
    return values, vectors


def _lanczos(A: SymmetricMatrix, n_vectors: int, which: str) -> tuple[FloatArray, FloatArray]:
    n = A.shape[0]
    if n_vectors >= n:
        msg = f"solver='iterative' finds at most n - 1 = {n - 1} eigenpairs. Use solver='dense'."
        raise InvalidInputError(msg)
    try:
        if sp.issparse(A) and which == "smallest":
            return _shift_invert(A, n_vectors)
        return _arpack(A, n_vectors, which="LA" if which == "largest" else "SA")
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


def _shift_invert(A: SymmetricMatrix, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    n = A.shape[0]
    A = A.astype(np.float64)
    absolute_sums = np.asarray(abs(A).sum(axis=0)).ravel()
    diagonal = A.diagonal()
    gershgorin = float((diagonal - (absolute_sums - np.abs(diagonal))).min())
    norm = float(absolute_sums.max())
    sigma = gershgorin - SHIFT_MARGIN * (norm if norm > 0 else 1.0)
    # The shifted matrix is positive definite, so pivots may stay on the diagonal and the
    # ordering may use the symmetric pattern: far less fill-in than a general LU.
    factor = splu(
        (A - sigma * sp.eye_array(n, format="csc")).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    inverse = LinearOperator((n, n), matvec=factor.solve, dtype=np.float64)
    return _arpack(A, n_vectors, which="LM", sigma=sigma, OPinv=inverse)


def _arpack(A: SymmetricMatrix, n_vectors: int, **options: Any) -> tuple[FloatArray, FloatArray]:
    n = A.shape[0]
    if isinstance(A, LinearOperator):
        # ARPACK works in the operator's precision; float64 products are wanted throughout.
        A = LinearOperator((n, n), matvec=A.matvec, dtype=np.float64)
    else:
        A = A.astype(np.float64, copy=False)
    values, vectors = eigsh(
        A, k=n_vectors, v0=_start_vector(n), maxiter=MAX_RESTARTS, **_ARPACK_SEED, **options
    )
    return values, vectors


def _start_vector(n: int) -> FloatArray:
    """Return a fixed vector without structure: not one that symmetry makes an eigenvector."""
    return np.random.RandomState(0).uniform(-1.0, 1.0, size=n)
