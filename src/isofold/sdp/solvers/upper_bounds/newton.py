"""Newton's system for ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩), assembled and factored directly.

The Hessian along D is 2⟨S, DDᵀ⟩ + 4 Σ ψ_e''·⟨A_eY, D⟩² with S = C + A*(w), w = ψ'(g): blocks of
side p (the columns of Y) wherever S or a form joins two rows. The factors tell whether it is
positive definite, damped or not; the gauge a is held by σ·aaᵀ, which as a border of the sparse
matrix, [[H, a], [aᵀ, −1/σ]], stays sparse and accounts for exactly p negative pivots.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor
from isofold.sdp.forms import FactorForms, is_sparse, to_dense
from isofold.sdp.program import Program

__all__ = ["NewtonSystem", "newton_system"]

DENSE_SYSTEM = 3000
"""Unknowns up to which a dense Hessian is factored: 70 MB and about a second."""

LARGE_SUPPORT = 64
"""Mean number of pairs of rows that a form joins, above which the Hessian counts as dense."""

GAUGE_WEIGHT = 10.0
"""The weight of the gauge in units of the largest entry of the Hessian: it outweighs whatever the
cost is along the gauge and does not spoil the condition."""


class NewtonSystem(Protocol):
    """The Hessian at a point, factored; made for one number of columns."""

    def assemble(
        self, program: Program, Y: FloatArray, multipliers: FloatArray, curvature: FloatArray
    ) -> None:
        """Compute the Hessian with the given first and second derivatives of ψ."""
        ...

    def solve(self, damping: float, gradient: FloatArray) -> FloatArray | None:
        """Return −(H + damping·I)⁻¹·gradient, None if the matrix is not positive definite."""
        ...


def newton_system(program: Program, rank: int) -> NewtonSystem | None:
    """Return the system for so many columns, None if only products with the cost are known."""
    cost, squares = program.cost, program.forms.squares()
    if isinstance(cost, LinearOperator):
        return None
    if is_sparse(cost) and is_sparse(squares.factors):
        lengths = np.bincount(
            squares.owner, np.diff(sp.csr_array(squares.factors).indptr), squares.n_forms
        )
        if float(np.sum(lengths**2)) <= LARGE_SUPPORT * max(1, squares.n_forms):
            return _SparseSystem(program, squares, rank)
    if program.size * rank <= DENSE_SYSTEM:
        return _DenseSystem(program, squares)
    return None


class _SparseSystem:
    """Blocks of side p in the pattern of the cost and of all forms; one analysis for all."""

    def __init__(self, program: Program, squares: FactorForms, rank: int) -> None:
        self._rank, self._squares = rank, squares
        n = program.size
        factors = sp.csr_array(squares.factors)
        signed = sp.csr_array(sp.diags_array(squares.signs) @ factors)
        # Row s of `_rows` gives the row of A_eY for the s-th pair (form e, point i) that occurs.
        factor_of_entry = np.repeat(np.arange(factors.shape[0]), np.diff(factors.indptr))
        keys = squares.owner[factor_of_entry].astype(np.int64) * n + factors.indices
        support, row_of_entry = np.unique(keys, return_inverse=True)
        self._rows = sp.csr_array(
            (signed.data, (row_of_entry, factor_of_entry)), shape=(len(support), factors.shape[0])
        )
        form, point = np.divmod(support, n)
        self._first, self._second = _pairs_within(form)
        self._form = form[self._first]
        self._set_pattern(program, point)

    def _set_pattern(self, program: Program, point: IntArray) -> None:
        """Find the positions of the blocks, and of their entries in the bordered matrix."""
        n, p = program.size, self._rank
        cost = sp.coo_array(program.cost)
        diagonal = np.arange(n)
        rows = np.concatenate([diagonal, cost.coords[0], point[self._first]])
        columns = np.concatenate([diagonal, cost.coords[1], point[self._second]])
        keys, block = np.unique(rows.astype(np.int64) * n + columns, return_inverse=True)
        self._block_keys = keys
        n_cost = len(cost.data)
        count = len(self._first)
        self._spread = sp.csr_array(
            (np.ones(count), (block[n + n_cost :], np.arange(count))), shape=(len(keys), count)
        )
        block_rows, block_columns = np.divmod(keys, n)
        self._diagonal = np.flatnonzero(block_rows == block_columns)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(block_rows, minlength=n))])
        # Entries are numbered before the matrix is put together: the numbers then tell where each
        # block entry, the border and its corner have come to lie.
        n_entries = len(keys) * p * p
        number = np.arange(1.0, n_entries + 1.0).reshape(-1, p, p)
        pattern = sp.csc_array(sp.bsr_array((number, block_columns, indptr), shape=(n * p, n * p)))
        self._border: FloatArray = np.empty(0)
        if program.gauge is not None:
            position = n_entries + 1.0 + np.arange(n)
            border = sp.kron(sp.csc_array(position[:, None]), sp.eye_array(p), format="csc")
            corner = (n_entries + n + 1.0) * sp.eye_array(p, format="csc")
            blocks: list[list[Matrix]] = [[pattern, border], [border.T, corner]]
            pattern = sp.csc_array(sp.block_array(blocks))
            self._border = program.gauge
        pattern.sort_indices()
        self._matrix = pattern
        self._source = pattern.data.astype(np.intp) - 1
        self._n_border = 0 if program.gauge is None else p
        self._factor: SymmetricFactor | None = None

    def assemble(
        self, program: Program, Y: FloatArray, multipliers: FloatArray, curvature: FloatArray
    ) -> None:
        """Compute the Hessian with the given first and second derivatives of ψ."""
        n, p = program.size, self._rank
        slack = sp.coo_array(program.slack(multipliers))
        keys = slack.coords[0].astype(np.int64) * n + slack.coords[1]
        linear = np.zeros(len(self._block_keys))
        np.add.at(linear, np.searchsorted(self._block_keys, keys), slack.data)
        rows = self._rows @ np.asarray(self._squares.factors @ Y)
        weight = 4.0 * curvature[self._form]
        outer = (weight[:, None] * rows[self._first])[:, :, None] * rows[self._second][:, None, :]
        blocks = np.asarray(self._spread @ outer.reshape(-1, p * p)).reshape(-1, p, p)
        columns = np.arange(p)
        blocks[:, columns, columns] += 2.0 * linear[:, None]
        self._blocks = blocks
        self._weight = GAUGE_WEIGHT * float(np.abs(blocks[self._diagonal]).max())

    def solve(self, damping: float, gradient: FloatArray) -> FloatArray | None:
        """Return −(H + damping·I)⁻¹·gradient, None if the matrix is not positive definite."""
        columns = np.arange(self._rank)
        blocks = self._blocks.copy()
        blocks[self._diagonal[:, None], columns, columns] += damping
        entries = np.concatenate([blocks.ravel(), self._border, [-1.0 / self._weight]])
        self._matrix.data = entries[self._source]
        try:
            if self._factor is None:
                self._factor = SymmetricFactor(self._matrix)
            else:
                self._factor.refactor(self._matrix)
        except SingularMatrixError:
            return None
        if self._factor.n_negative > self._n_border:
            return None
        right = np.concatenate([gradient.ravel(), np.zeros(self._n_border)])
        return -self._factor.solve(right)[: gradient.size].reshape(gradient.shape)


class _DenseSystem:
    """The whole Hessian as one array, for bases and other dense forms."""

    def __init__(self, program: Program, squares: FactorForms) -> None:
        self._factors = to_dense(squares.factors)
        self._squares, self._gauge = squares, program.gauge

    def assemble(
        self, program: Program, Y: FloatArray, multipliers: FloatArray, curvature: FloatArray
    ) -> None:
        """Compute the Hessian with the given first and second derivatives of ψ."""
        squares = self._squares
        slack = to_dense(program.slack(multipliers))
        hessian = np.kron(2.0 * slack, np.eye(Y.shape[1]))
        image = squares.signs[:, None] * (self._factors @ Y)
        active = np.flatnonzero(curvature[squares.owner])
        tangent = (self._factors[active][:, :, None] * image[active][:, None, :]).reshape(
            len(active), Y.size
        )
        forms, member = np.unique(squares.owner[active], return_inverse=True)
        if len(forms) < len(active):
            total = np.zeros((len(forms), Y.size))
            np.add.at(total, member, tangent)
            tangent = total
        else:
            forms = squares.owner[active]
        hessian += tangent.T @ (4.0 * curvature[forms][:, None] * tangent)
        if self._gauge is not None:
            weight = GAUGE_WEIGHT * float(np.abs(hessian.diagonal()).max())
            hessian += np.kron(weight * np.outer(self._gauge, self._gauge), np.eye(Y.shape[1]))
        self._hessian = hessian

    def solve(self, damping: float, gradient: FloatArray) -> FloatArray | None:
        """Return −(H + damping·I)⁻¹·gradient, None if the matrix is not positive definite."""
        try:
            factor = scipy.linalg.cho_factor(
                self._hessian + damping * np.eye(gradient.size), overwrite_a=True
            )
        except scipy.linalg.LinAlgError:
            return None
        return -np.asarray(scipy.linalg.cho_solve(factor, gradient.ravel())).reshape(gradient.shape)


def _pairs_within(group: IntArray) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of positions in runs of equal entries."""
    _, begin, count = np.unique(group, return_index=True, return_counts=True)
    squares = count * count
    run = np.repeat(np.arange(len(count)), squares)
    number = np.arange(squares.sum()) - np.repeat(np.cumsum(squares) - squares, squares)
    row, column = np.divmod(number, count[run])
    return np.asarray(begin[run] + row, dtype=np.intp), np.asarray(
        begin[run] + column, dtype=np.intp
    )
