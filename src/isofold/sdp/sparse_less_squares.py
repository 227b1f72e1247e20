"""A − FFᵀ with a sparse A and few columns F, and the sparse matrix whose inertia it has.

It is the Schur complement of γI in the joint matrix

    J = [[A, √γ·F], [√γ·Fᵀ, γI]],

so that J has just as many negative eigenvalues (Haynsworth), and its inverse holds that of A − FFᵀ.
If errors of J are bounded by ε, that of A − FFᵀ is bounded by ε(1 + ‖F‖²/γ): twice ε for γ = ‖F‖².
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix

__all__ = ["JOINT_ERRORS", "SparseLessSquares"]

JOINT_ERRORS = 2.0
"""Error of a difference in errors of its joint matrix."""


class SparseLessSquares(LinearOperator):
    """The matrix A − FFᵀ, or with ``sign=1`` A + FFᵀ, known by its terms.

    Parameters
    ----------
    sparse : sparse array of shape (n, n)
        The symmetric matrix A.
    factor : ndarray of shape (n, n_columns)
        The columns F.
    sign : {-1.0, 1.0}, default=-1.0
        What FFᵀ is multiplied by. Only a difference has a joint matrix.
    """

    def __init__(self, sparse: Matrix, factor: FloatArray, *, sign: float = -1.0) -> None:
        self.sparse = sp.csr_array(sparse, dtype=np.float64)
        self.factor = np.asarray(factor, dtype=np.float64)
        self.sign = sign
        super().__init__(dtype=np.dtype(np.float64), shape=self.sparse.shape)  # type: ignore[call-arg]

    @property
    def is_difference(self) -> bool:
        """Whether FFᵀ is subtracted, so that there is a joint matrix."""
        return self.sign < 0.0

    @property
    def square_norm(self) -> float:
        """The largest eigenvalue of FFᵀ."""
        return float(np.linalg.norm(self.factor, 2)) ** 2 if self.factor.size else 0.0

    @property
    def largest(self) -> float:
        """About the largest entry."""
        entries = np.einsum("ij,ij->i", self.factor, self.factor)
        return float(abs(self.sparse).max()) + float(entries.max(initial=0.0))

    def plus(self, other: Matrix) -> SparseLessSquares:
        """Return the sum with a sparse matrix."""
        return SparseLessSquares(self.sparse + other, self.factor, sign=self.sign)

    def joint(self, shift: float) -> Matrix:
        """Return the joint matrix of A + shift·I − FFᵀ."""
        n, n_columns = self.factor.shape
        gamma = self.square_norm or 1.0
        first = self.sparse + shift * sp.eye_array(n, format="csr")
        coupling = sp.csr_array(np.sqrt(gamma) * self.factor)
        last = gamma * sp.eye_array(n_columns, format="csr")
        blocks: list[list[Matrix]] = [[first, coupling], [coupling.T, last]]
        return sp.csc_array(sp.block_array(blocks))

    def _matmat(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.sparse @ X + self.sign * (self.factor @ (self.factor.T @ X)))

    def _matvec(self, x: FloatArray) -> FloatArray:
        return self._matmat(x)

    def _adjoint(self) -> SparseLessSquares:
        return self

    def __rmul__(self, number: Any) -> Any:
        """Return a multiple by a number."""
        scale = float(number)
        root = np.sqrt(abs(scale))
        sign = self.sign if scale >= 0.0 else -self.sign
        return SparseLessSquares(scale * self.sparse, root * self.factor, sign=sign)
