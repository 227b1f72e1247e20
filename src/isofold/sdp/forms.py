"""Quadratic forms of the coordinates: values ⟨A_e, YYᵀ⟩, their derivatives and the adjoint.

Every linear constraint on a Gram matrix G = YYᵀ has the form ⟨A_e, G⟩ with a symmetric A_e of few
non-zero eigenvalues. A squared distance between two points is the one that matters most:
A_e = (e_i − e_j)(e_i − e_j)ᵀ, whose adjoint A*(w) = Σ w_e A_e is the Laplacian of the graph with
weights w. All others are sums of signed squares, A_e = Σ_k s_k a_k a_kᵀ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.sdp._pairs import products

__all__ = [
    "FactorForms",
    "Forms",
    "PairForms",
    "is_sparse",
    "no_forms",
    "positive_forms",
    "to_dense",
]


class Forms(Protocol):
    """A list of symmetric matrices A_e of one size, known by what they do."""

    @property
    def n_forms(self) -> int:
        """The number of matrices."""
        ...

    @property
    def size(self) -> int:
        """Their common side."""
        ...

    def values(self, Y: FloatArray) -> FloatArray:
        """Return ⟨A_e, YYᵀ⟩ for every e."""
        ...

    def cross(self, Y: FloatArray, D: FloatArray) -> FloatArray:
        """Return ⟨A_e, YDᵀ⟩ for every e: half of the derivative of the values along D."""
        ...

    def cross_and_values(self, Y: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `cross(Y, D)` and `values(D)`, the coefficients of a line search."""
        ...

    def adjoint(self, weights: FloatArray) -> Matrix:
        """Return Σ w_e A_e."""
        ...

    def in_basis(self, basis: Matrix) -> FactorForms:
        """Return the forms QᵀA_eQ of the coordinates in a basis Q."""
        ...

    def squares(self) -> FactorForms:
        """Return the same forms as sums of signed squares."""
        ...


@dataclass(frozen=True, eq=False)
class PairForms:
    """Squared distances between pairs of points.

    Parameters
    ----------
    pairs : ndarray of shape (n_forms, 2)
        Two different rows of the coordinates each.
    size : int
        The number of points.
    """

    pairs: IntArray
    size: int

    @property
    def n_forms(self) -> int:
        """The number of pairs."""
        return len(self.pairs)

    def values(self, Y: FloatArray) -> FloatArray:
        """Return the squared distances."""
        return self.cross_and_values(Y, Y)[1]

    def cross(self, Y: FloatArray, D: FloatArray) -> FloatArray:
        """Return ⟨y_i − y_j, d_i − d_j⟩ for every pair."""
        return self.cross_and_values(Y, D)[0]

    def cross_and_values(self, Y: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `cross(Y, D)` and `values(D)`, the coefficients of a line search, in one pass."""
        mixed, squared = np.empty(self.n_forms), np.empty(self.n_forms)
        D = np.ascontiguousarray(D, dtype=np.float64)
        Y = D if Y is D else np.ascontiguousarray(Y, dtype=np.float64)
        if not Y.shape == D.shape == (self.size, Y.shape[1]):
            msg = f"coordinates of shapes {Y.shape} and {D.shape} for {self.size} points"
            raise ValueError(msg)
        products(self._checked_pairs, Y, D, mixed, squared)
        return mixed, squared

    def adjoint(self, weights: FloatArray) -> sp.csr_array:
        """Return the weighted graph Laplacian; all of them share one sparsity pattern."""
        pattern, spread = self._pattern
        data = spread @ np.asarray(weights, dtype=np.float64)
        return sp.csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    def in_basis(self, basis: Matrix) -> FactorForms:
        """Return the squares ‖(q_i − q_j)ᵀZ‖² of the coordinates Z in a basis with rows q."""
        return self.squares().in_basis(basis)

    def squares(self) -> FactorForms:
        """Return the pairs as differences of unit vectors."""
        m = self.n_forms
        signs = np.tile([1.0, -1.0], m)
        factors = sp.csr_array(
            (signs, self.pairs.ravel(), np.arange(0, 2 * m + 1, 2)), shape=(m, self.size)
        )
        return FactorForms(factors=factors, signs=np.ones(m), owner=np.arange(m), n_forms=m)

    @cached_property
    def _checked_pairs(self) -> IntArray:
        pairs = np.ascontiguousarray(self.pairs, dtype=np.int64)
        if len(pairs) and not 0 <= pairs.min() <= pairs.max() < self.size:
            msg = f"pairs of rows out of the range of {self.size} points"
            raise IndexError(msg)
        return pairs

    @cached_property
    def _pattern(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the Laplacian's pattern and the map from weights to its stored entries."""
        n, m = self.size, self.n_forms
        first, second = self._checked_pairs.T
        diagonal = np.arange(n)
        rows = np.concatenate([diagonal, first, second, first, second])
        columns = np.concatenate([diagonal, second, first, first, second])
        pattern = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        pattern.sum_duplicates()
        # The position of entry (i, j) in the stored data, found by binary search of its key.
        stored_rows = np.repeat(diagonal, np.diff(pattern.indptr))
        keys = stored_rows.astype(np.int64) * n + pattern.indices
        position = np.searchsorted(keys, rows[n:].astype(np.int64) * n + columns[n:])
        edge = np.tile(np.arange(m), 4)
        sign = np.repeat([-1.0, -1.0, 1.0, 1.0], m)
        spread = sp.csr_array((sign, (position, edge)), shape=(len(keys), m))
        return pattern, spread


@dataclass(frozen=True, eq=False)
class FactorForms:
    """Sums of signed squares, A_e = Σ s_k a_k a_kᵀ over the factors a_k that e owns.

    Parameters
    ----------
    factors : ndarray or sparse array of shape (n_factors, size)
        The vectors a_k as rows.
    signs : ndarray of shape (n_factors,)
        The numbers s_k.
    owner : ndarray of shape (n_factors,)
        The form to which each factor belongs.
    n_forms : int
        The number of forms.
    """

    factors: Matrix
    signs: FloatArray
    owner: IntArray
    n_forms: int

    @property
    def size(self) -> int:
        """The side of the forms."""
        return int(self.factors.shape[1])

    def values(self, Y: FloatArray) -> FloatArray:
        """Return Σ s_k ‖a_kᵀY‖² for every form."""
        image = np.asarray(self.factors @ Y)
        return self._collect(np.einsum("ek,ek->e", image, image))

    def cross(self, Y: FloatArray, D: FloatArray) -> FloatArray:
        """Return Σ s_k ⟨a_kᵀY, a_kᵀD⟩ for every form."""
        return self._collect(
            np.einsum("ek,ek->e", np.asarray(self.factors @ Y), np.asarray(self.factors @ D))
        )

    def cross_and_values(self, Y: FloatArray, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `cross(Y, D)` and `values(D)`, the coefficients of a line search."""
        image, change = np.asarray(self.factors @ Y), np.asarray(self.factors @ D)
        mixed = self._collect(np.einsum("ek,ek->e", image, change))
        return mixed, self._collect(np.einsum("ek,ek->e", change, change))

    def adjoint(self, weights: FloatArray) -> Matrix:
        """Return FᵀDF with D the signed weights of the factors; dense if the factors are."""
        scale = self.signs * np.asarray(weights)[self.owner]
        if is_sparse(self.factors):
            scaled = sp.diags_array(scale) @ self.factors
            return sp.csr_array(self.factors.T @ scaled)
        product = np.asarray(self.factors.T @ (scale[:, None] * self.factors))
        # BLAS need not round both triangles alike.
        return (product + product.T) / 2

    def in_basis(self, basis: Matrix) -> FactorForms:
        """Return the forms of the coordinates in a basis: the factors become Qᵀa_k."""
        factors = self.factors @ basis
        factors = sp.csr_array(factors) if is_sparse(factors) else np.asarray(factors)
        return FactorForms(factors, self.signs, self.owner, self.n_forms)

    def squares(self) -> FactorForms:
        """Return itself."""
        return self

    def _collect(self, squares: FloatArray) -> FloatArray:
        totals = np.bincount(self.owner, self.signs * squares, minlength=self.n_forms)
        return totals.astype(np.float64, copy=False)


def no_forms(size: int) -> PairForms:
    """Return the empty list of forms on so many points."""
    return PairForms(pairs=np.empty((0, 2), dtype=np.intp), size=size)


def positive_forms(forms: Forms) -> BoolArray:
    """Return which forms are sums of squares with positive signs, and so positive semidefinite."""
    squares = forms.squares()
    n_negative = np.bincount(squares.owner, squares.signs < 0.0, minlength=squares.n_forms)
    return np.asarray(n_negative == 0)


def is_sparse(matrix: Matrix) -> bool:
    """Tell whether a matrix is one of SciPy's sparse arrays or matrices."""
    return bool(sp.issparse(matrix))


def to_dense(matrix: Matrix) -> FloatArray:
    """Return a sparse or dense matrix as an array of float64."""
    return np.asarray(matrix.todense() if is_sparse(matrix) else matrix, dtype=np.float64)
