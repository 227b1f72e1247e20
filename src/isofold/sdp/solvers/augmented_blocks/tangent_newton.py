"""The Hessian of ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩) along orthonormal blocks and free rows, factored.

With an orthonormal basis B of the tangent space the Hessian in tangent coordinates is

    H = Bᵀ(2(S − Λ) ⊗ I + 4 Σ ψ_e''·vec(A_eY)vec(A_eY)ᵀ)B,      S = C + A*(w),  w = ψ'(g),

sparse wherever cost and forms are. Its inverse, damped until no pivot is negative (Levenberg), is
the best preconditioner of a trust region: near a minimum one product gives Newton's step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor
from isofold.sdp.forms import is_sparse, to_dense
from isofold.sdp.program import Program
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["TangentNewton"]

Solver = Callable[[FloatArray], FloatArray]

SMALL_SIDE, DENSE_SIDE, DENSITY = 200, 5000, 0.05
"""Unknowns up to which a dense matrix is factored whatever its pattern, and up to which it is if
more than this fraction of its entries are stored: fill-in then leaves next to nothing sparse."""

LEAST_DAMPING, FIRST_DAMPING, DAMPING_GROWTH, LARGEST_DAMPING = 1e-10, 1e-6, 8.0, 1e6
"""Levenberg's λ in units of the Hessian's mean diagonal: what lifts common rotations and
translations, along which nothing changes, off zero; what is tried first if that is too little; the
factor between further tries; where to give up."""


class TangentNewton:
    """Inverse Hessians in tangent coordinates; the damping is remembered from point to point.

    Parameters
    ----------
    program : Program
        A program with finite penalties; the cost may not be an operator.
    manifold : StiefelProduct
        Its blocks.
    """

    def __init__(self, program: Program, manifold: StiefelProduct) -> None:
        self._program, self._manifold = program, manifold
        squares = program.forms.squares()
        self._squares, self._factors = squares, sp.csr_array(squares.factors)
        n_factors = self._factors.shape[0]
        self._collect = sp.csr_array(
            (squares.signs, (squares.owner, np.arange(n_factors))),
            shape=(squares.n_forms, n_factors),
        )
        self._damping = 0.0

    @staticmethod
    def fits(program: Program) -> bool:
        """Tell whether the Hessian of a program can be written out."""
        return not isinstance(program.cost, LinearOperator)

    def inverse_at(self, Y: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
        """Return the damped inverse Hessian at a point, None if there is none."""
        basis = self._basis(Y)
        hessian = self._hessian(Y, basis)
        if hessian.shape[0] == 0:
            return None
        mean = float(np.abs(hessian.diagonal()).mean()) or 1.0
        damping = max(self._damping / DAMPING_GROWTH, LEAST_DAMPING)
        while damping <= LARGEST_DAMPING:
            solve = _positive_solver(hessian, damping * mean)
            if solve is not None:
                self._damping = damping

                def inverse(V: FloatArray, solve: Solver = solve) -> FloatArray:
                    return np.asarray(basis @ solve(basis.T @ V.ravel())).reshape(V.shape)

                return inverse
            damping = max(DAMPING_GROWTH * damping, FIRST_DAMPING)
        return None

    def _basis(self, Y: FloatArray) -> sp.csr_array:
        """Return the tangent basis B, of shape (size·p, dimension), in the order of the rows."""
        manifold, p = self._manifold, Y.shape[1]
        columns = np.arange(p)
        rows, numbers, data, first = [], [], [], []
        for members, bases in zip(manifold.groups, manifold.tangent_basis(Y), strict=True):
            n, r, _, width = bases.shape
            position = (members[:, :, None] * p + columns).reshape(n, -1)
            rows.append(np.repeat(position, width, axis=1).ravel())
            numbers.append(np.broadcast_to(np.arange(width), (n, r * p, width)).ravel())
            first.append(np.repeat(members[:, 0], r * p * width))
            data.append(bases.ravel())
        position = (manifold.free[:, None] * p + columns).ravel()
        rows.append(position)
        numbers.append(np.tile(columns, len(manifold.free)))
        first.append(np.repeat(manifold.free, p))
        data.append(np.ones(len(position)))
        key = np.concatenate(first).astype(np.int64) * (manifold.size * p) + np.concatenate(numbers)
        _, column = np.unique(key, return_inverse=True)
        dimension = int(column.max(initial=-1)) + 1
        entries = (np.concatenate(data), (np.concatenate(rows), column))
        basis = sp.csr_array(entries, shape=(Y.size, dimension))
        basis.eliminate_zeros()
        return basis

    def _hessian(self, Y: FloatArray, basis: sp.csr_array) -> sp.csc_array:
        program, manifold, p = self._program, self._manifold, Y.shape[1]
        values = program.forms.values(Y)
        slack = program.slack(program.envelope.multipliers(values))
        blocks = manifold.as_sparse(manifold.multipliers(Y, np.asarray(slack @ Y)))
        linear = _as_sparse(slack) - blocks
        hessian = basis.T @ sp.csr_array(sp.kron(2.0 * linear, sp.eye_array(p))) @ basis
        curvature = program.envelope.curvature(values)
        active = np.flatnonzero(curvature > 0.0)
        if len(active):
            tangent = self._collect[active] @ self._images(Y) @ basis
            scale = sp.diags_array(2.0 * np.sqrt(curvature[active]))
            scaled = sp.csr_array(scale @ tangent)
            hessian = hessian + scaled.T @ scaled
        return sp.csc_array(hessian)

    def _images(self, Y: FloatArray) -> sp.csr_array:
        """Return the rows vec(a_k(a_kᵀY)), one for every factor."""
        F, p = self._factors, Y.shape[1]
        image = np.asarray(F @ Y)
        owner = np.repeat(np.arange(F.shape[0]), np.diff(F.indptr))
        data = (F.data[:, None] * image[owner]).ravel()
        columns = (F.indices[:, None].astype(np.int64) * p + np.arange(p)).ravel()
        return sp.csr_array((data, columns, F.indptr * p), shape=(F.shape[0], Y.size))


def _positive_solver(matrix: Matrix, damping: float) -> Solver | None:
    """Return b ↦ (A + damping·I)⁻¹b, None if the matrix is not positive definite."""
    side = matrix.shape[0]
    if side <= SMALL_SIDE or (side <= DENSE_SIDE and matrix.nnz > DENSITY * side**2):
        dense = to_dense(matrix)
        dense[np.diag_indices(side)] += damping
        try:
            triangle = scipy.linalg.cho_factor(dense, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        return lambda b: np.asarray(scipy.linalg.cho_solve(triangle, b, check_finite=False))
    try:
        factor = SymmetricFactor(matrix + damping * sp.eye_array(side, format="csc"))
    except SingularMatrixError:
        return None
    return factor.solve if factor.n_negative == 0 else None


def _as_sparse(matrix: Matrix) -> sp.csr_array:
    return sp.csr_array(matrix) if is_sparse(matrix) else sp.csr_array(to_dense(matrix))
