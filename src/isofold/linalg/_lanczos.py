"""Leading eigenpairs by the Lanczos method (ARPACK), none of a repeated eigenvalue left out.

From one start vector the method sees one vector of each eigenspace: the copies of a repeated
eigenvalue appear only as rounding lets them in, and a run may converge before they do. So the
pairs that were found are deflated, that is moved to the lower end of the spectrum by

    B = A + V diag(low − v) Vᵀ,

and the largest eigenvalue of B is sought from a fresh start vector. If it exceeds the last wanted
one it was left out and is taken in; once it does not, nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import (
    ArpackNoConvergence,
    LinearOperator,
    SuperLU,
    eigsh,
    splu,
)

from isofold._typing import FloatArray

MAX_RESTARTS = 1000
"""Lanczos restarts before giving up; each costs about as many products as there are vectors."""

FEW_RESTARTS = 100
"""Restarts before a shift nearer to the spectrum is tried instead; the rule is under ten."""

LEAST_BASIS = 40
"""Lanczos vectors kept at least: twice ARPACK's own choice, for eigenvalues in clusters."""

HALF_OF_THE_DIGITS = float(np.sqrt(np.finfo(np.float64).eps))
"""Eigenvalues that agree to half of the digits count as equal when one may have been missed."""

MARGINS = ((HALF_OF_THE_DIGITS, FEW_RESTARTS), (1e-12, MAX_RESTARTS))
"""How far below the spectrum to shift, in units of ‖A‖₁, and the restarts allowed there. The first
keeps half of the digits of all eigenvalues. If many lie within it of zero (one for every component
of a graph, split by rounding) only the second tells them apart; it keeps the digits of those."""

# From SciPy 1.17 on ARPACK draws restart vectors from `rng`, by default seeded by the system.
_ARPACK_SEED: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}

Product = Callable[[FloatArray], FloatArray]


def largest_pairs(
    product: Product, n: int, n_vectors: int, *, restarts: int = MAX_RESTARTS
) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues, descending, and eigenvectors of x ↦ product(x)."""
    # ARPACK compares residuals with a fixed number, so the matrix is brought to size about one.
    probe = product(start_vector(n))
    largest = float(np.abs(probe).max())
    unit = float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1021)) if largest > 0 else 1.0

    def scaled(x: FloatArray) -> FloatArray:
        return product(x) / unit

    values, vectors = _arpack(scaled, start_vector(n), n_vectors, restarts=restarts)
    order = np.argsort(values, kind="stable")[::-1]
    values, vectors = values[order], vectors[:, order]
    norm = max(float(np.abs(values).max()), float(np.linalg.norm(probe / unit)) / n**0.5)
    # Each round takes in one pair that belongs to the wanted ones: there are no more than these.
    for attempt in range(1, n_vectors + 1):
        missed = _missed_pair(
            scaled, values, vectors, last=values[n_vectors - 1], norm=norm, seed=attempt
        )
        if missed is None:
            break
        value, vector = missed
        position = int((values >= value).sum())
        values = np.insert(values, position, value)
        vectors = np.insert(vectors, position, vector, axis=1)
    return values[:n_vectors] * unit, vectors[:, :n_vectors]


def _missed_pair(
    product: Product,
    values: FloatArray,
    vectors: FloatArray,
    *,
    last: float,
    norm: float,
    seed: int,
) -> tuple[float, FloatArray] | None:
    """Return the largest pair besides those found, or None if it does not exceed `last`."""
    # With the found pairs moved to zero and the value sought near `scale`, relative accuracy
    # means what it should also where the wanted eigenvalues are negative or about zero.
    scale = max(abs(last), HALF_OF_THE_DIGITS * norm) or 1.0
    low = last - scale

    def deflated(x: FloatArray) -> FloatArray:
        return product(x) - low * x + vectors @ ((low - values) * (vectors.T @ x))

    start = start_vector(len(vectors), seed)
    found, vector = _arpack(deflated, start, 1, tol=HALF_OF_THE_DIGITS)
    if found[0] <= scale * (1.0 + HALF_OF_THE_DIGITS):
        return None
    found, vector = _arpack(deflated, vector[:, 0], 1)
    direction = vector[:, 0] - vectors @ (vectors.T @ vector[:, 0])
    return float(found[0]) + low, direction / np.linalg.norm(direction)


def smallest_pairs_of_sparse(A: Any, n_vectors: int) -> tuple[FloatArray, FloatArray]:
    """Return the smallest eigenvalues, ascending, of a sparse matrix by inverting A − σI.

    With σ below the spectrum the largest eigenvalues of the inverse belong to the smallest of A.
    """
    A = A.astype(np.float64)
    absolute_sums = np.asarray(abs(A).sum(axis=0)).ravel()
    norm = float(absolute_sums.max()) or 1.0
    diagonal = A.diagonal()
    gershgorin = float((diagonal - (absolute_sums - np.abs(diagonal))).min())
    # Most matrices here are positive semidefinite, though Gershgorin's discs may not show it: a
    # shift just below zero is tried first, and kept if the factors prove it to be one.
    for margin, restarts in MARGINS:
        sigma = max(gershgorin, 0.0) - margin * norm
        # A diagonal entry is a Rayleigh quotient: below the shift it spares the factors.
        factor = _factor_if_definite(A, sigma) if diagonal.min() > sigma else None
        if factor is None:
            break
        try:
            return _pairs_above(sigma, factor, n_vectors, restarts=restarts)
        except ArpackNoConvergence:
            if restarts == MAX_RESTARTS:
                raise
    sigma = gershgorin - HALF_OF_THE_DIGITS * norm
    return _pairs_above(sigma, _factor(A, sigma), n_vectors, restarts=MAX_RESTARTS)


def _pairs_above(
    sigma: float, factor: SuperLU, n_vectors: int, *, restarts: int
) -> tuple[FloatArray, FloatArray]:
    n = factor.shape[0]
    inverse_values, vectors = largest_pairs(factor.solve, n, n_vectors, restarts=restarts)
    return sigma + 1.0 / inverse_values, vectors


def _factor(A: Any, sigma: float) -> SuperLU:
    # Pivots stay on the diagonal and the ordering uses the symmetric pattern: far less fill-in
    # than a general LU, and stable if the matrix is positive definite.
    return splu(
        (A - sigma * sp.eye_array(A.shape[0], format="csc")).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _factor_if_definite(A: Any, sigma: float) -> SuperLU | None:
    """Return the factors of A − σI, or None if it is not positive definite."""
    try:
        factor = _factor(A, sigma)
    except RuntimeError:  # a pivot is zero
        return None
    # Sylvester: with rows and columns in the same order U = D Lᵀ, and D has the signs of A − σI.
    same_order = np.array_equal(factor.perm_r, factor.perm_c)
    return factor if same_order and (factor.U.diagonal() > 0).all() else None


def _arpack(
    product: Product,
    start: FloatArray,
    n_vectors: int,
    *,
    tol: float = 0.0,
    restarts: int = MAX_RESTARTS,
) -> tuple[FloatArray, FloatArray]:
    n = len(start)
    values, vectors = eigsh(
        LinearOperator((n, n), matvec=product, dtype=np.float64),
        k=n_vectors,
        which="LA",
        v0=start,
        tol=tol,
        ncv=min(n, max(2 * n_vectors + 1, LEAST_BASIS)),
        maxiter=restarts,
        **_ARPACK_SEED,
    )
    return values, vectors


def start_vector(n: int, seed: int = 0) -> FloatArray:
    """Return a fixed vector without structure: not one that symmetry makes an eigenvector."""
    return np.random.RandomState(seed).uniform(-1.0, 1.0, size=n)
