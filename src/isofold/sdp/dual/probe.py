"""Whether a dual slack is positive semidefinite, and its lowest eigenpairs: what bounds rest on.

Sparse matrices are tested by the inertia of their LDLᵀ factors, with a bound on the rounding of
the test; dense and small ones by all of their eigenvalues. Operators are known by products only:
the Lanczos method may overlook an eigenvalue, and such a test is marked as not exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix
from isofold.linalg import eigh_extreme
from isofold.linalg.ldl import FactorCache, SingularMatrixError, SymmetricFactor
from isofold.sdp.forms import is_sparse, to_dense
from isofold.sdp.sparse_less_squares import JOINT_ERRORS, SparseLessSquares

__all__ = [
    "DENSE_SIDE",
    "SlackProbe",
    "factor_off_gauge",
    "lowest_pairs",
    "probe_slack",
    "spectrum_off_gauge",
]

DENSE_SIDE = 400
"""Up to this side all eigenvalues of a sparse slack are computed, in well under a second."""


@dataclass(frozen=True, eq=False)
class SlackProbe:
    """What is known of the smallest eigenvalue of a slack on the complement of the gauge.

    Parameters
    ----------
    is_positive : bool
        Whether S + shift·I is positive semidefinite.
    margin : float
        The rounding of the test: S + (shift + margin)·I is positive semidefinite with certainty.
    n_negative : int
        The number of eigenvalues of S below −shift that were counted, −1 if unknown.
    is_exact : bool
        Whether no eigenvalue can have been overlooked.
    directions : ndarray of shape (n, n_directions) or None
        Directions in which S + shift·I is negative, if the factors tell and as many as requested.
    """

    is_positive: bool
    margin: float
    n_negative: int
    is_exact: bool
    directions: FloatArray | None = None


def probe_slack(
    S: Matrix,
    *,
    gauge: FloatArray | None,
    shift: float,
    cache: FactorCache | None = None,
    n_directions: int = 0,
) -> SlackProbe:
    """Test whether S + shift·I is positive semidefinite on the complement of a gauge vector."""
    if isinstance(S, SparseLessSquares) and S.is_difference:
        return _probe_sparse(S, gauge, shift, cache, 0)
    if isinstance(S, LinearOperator):
        return _probe_operator(S, gauge, shift)
    if not is_sparse(S) or S.shape[0] <= DENSE_SIDE:
        return _probe_dense(S, gauge, shift)
    return _probe_sparse(sp.csc_array(S), gauge, shift, cache, n_directions)


def factor_off_gauge(
    S: Matrix, gauge: FloatArray | None, shift: float, cache: FactorCache | None = None
) -> tuple[SymmetricFactor, int]:
    """Factor S + shift·I and count its negative eigenvalues on the complement of the gauge.

    The factors of A − FFᵀ are those of its joint matrix: they lead from b to x by (b, 0) to (x, ·).
    """
    if isinstance(S, SparseLessSquares):
        shifted = S.joint(shift)
        gauge = None if gauge is None else np.pad(gauge, (0, shifted.shape[0] - len(gauge)))
    else:
        shifted = sp.csc_array(S + shift * sp.eye_array(S.shape[0], format="csc"))
    along, is_bordered = 0.0, False
    if gauge is not None:
        image = shifted @ gauge
        along = float(gauge @ image)
        rounding = float(np.finfo(float).eps) * float(abs(shifted).sum(axis=1).max())
        # Unless the gauge is an eigenvector, as for every graph Laplacian, it is split off.
        coupling = float(np.linalg.norm(image - along * gauge))
        is_bordered = coupling > rounding
        if is_bordered:
            shifted = _bordered(shifted, gauge, coupling)
    factor = (cache or FactorCache()).factor(shifted)
    # A gauge value that rounding may have moved across zero excuses no negative pivot.
    allowed = is_bordered or (along < 0.0 and along < -factor.error_bound)
    return factor, max(factor.n_negative - int(allowed), 0)


def _probe_sparse(
    S: Matrix,
    gauge: FloatArray | None,
    shift: float,
    cache: FactorCache | None,
    n_directions: int,
) -> SlackProbe:
    try:
        factor, negative = factor_off_gauge(S, gauge, shift, cache)
    except SingularMatrixError:
        return SlackProbe(is_positive=False, margin=0.0, n_negative=-1, is_exact=True)
    # Once for the factors, once for the gauge: the rounding of its border, or of its eigenvector.
    margin = 2.0 * factor.error_bound
    if isinstance(S, SparseLessSquares):
        margin *= JOINT_ERRORS
    directions = factor.negative_directions(n_directions) if negative and n_directions else None
    if directions is not None:
        directions = directions[: S.shape[0]]
    return SlackProbe(negative == 0, margin, negative, is_exact=True, directions=directions)


def _bordered(S: Matrix, gauge: FloatArray, coupling: float) -> Matrix:
    """Return [[S, βa], [βaᵀ, 0]], whose inertia is that of S off the gauge and one of each sign.

    An error E of the factors rotates the border by up to ‖E‖/β, which moves the eigenvalues of S
    off the gauge by up to ‖E‖·(c/β)² with the coupling c = ‖Sa − (aᵀSa)a‖ of the gauge to the rest.
    """
    # The smaller the border the less it adds to the rounding of the factors.
    scale = max(coupling, 1e-5 * float(abs(S.diagonal()).mean())) or 1.0
    border = sp.csc_array(scale * gauge[:, None])
    corner = sp.csc_array((np.zeros(1), (np.zeros(1, dtype=int), np.zeros(1, dtype=int))))
    blocks: list[list[Matrix]] = [[S, border], [border.T, corner]]
    return sp.csc_array(sp.block_array(blocks))


def _probe_dense(S: Matrix, gauge: FloatArray | None, shift: float) -> SlackProbe:
    values = spectrum_off_gauge(S, gauge)
    size = float(abs(S).sum(axis=1).max())
    # Backward stability of LAPACK's symmetric solver: every value is right to a few n·u·‖S‖, where
    # the gauge, which was projected out, counts in the norm.
    margin = 4.0 * len(values) * float(np.finfo(float).eps) * size
    negative = int(np.sum(values < -shift))
    return SlackProbe(negative == 0, margin, negative, is_exact=True)


def _probe_operator(S: LinearOperator, gauge: FloatArray | None, shift: float) -> SlackProbe:
    values, _ = lowest_pairs(S, gauge, n_vectors=1)
    return SlackProbe(bool(values[0] >= -shift), 0.0, int(values[0] < -shift), is_exact=False)


def spectrum_off_gauge(S: Matrix, gauge: FloatArray | None) -> FloatArray:
    """Return all eigenvalues of a small matrix on the complement of the gauge, ascending."""
    dense = to_dense(S)
    if gauge is not None:
        complement = scipy.linalg.null_space(gauge[None, :])
        dense = complement.T @ dense @ complement
    if dense.shape[0] == 0:
        return np.empty(0)
    return np.asarray(scipy.linalg.eigvalsh((dense + dense.T) / 2))


def lowest_pairs(
    S: Matrix, gauge: FloatArray | None, n_vectors: int
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest eigenpairs of a matrix or operator on the complement of the gauge."""
    if gauge is None:
        return eigh_extreme(S, n_vectors, which="smallest")
    n = S.shape[0]

    def product(x: FloatArray) -> FloatArray:
        x = x.reshape(n, -1)
        off = x - np.outer(gauge, gauge @ x)
        image = np.asarray(S @ off)
        return image - np.outer(gauge, gauge @ image) + lift * np.outer(gauge, gauge @ x)

    # The gauge becomes an eigenvector above all others, far from the lowest ones.
    probe = np.random.default_rng(0).standard_normal((n, 2))
    lift = 0.0
    lift = 10.0 * float(np.abs(product(probe)).max()) * np.sqrt(n) or 1.0
    operator = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    return eigh_extreme(operator, n_vectors, which="smallest")
