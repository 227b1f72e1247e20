"""The manifold of orthonormal blocks and free rows on which the factor Y of a Gram matrix lives.

Some rows of Y come in blocks Y_i of shape r_i × p with Y_i Y_iᵀ = I (points of Stiefel manifolds),
the others are free. A tangent vector V has sym(V_i Y_iᵀ) = 0 on every block. For a function with
the Euclidean gradient G the multipliers of the blocks are Λ_i = sym(G_i Y_iᵀ), the gradient along
the manifold is G − ΛY, and its Hessian is P(∇²f[V] − ΛV) with the tangent projection P
(Absil, Mahony and Sepulchre 2008, sections 3.6 and 5.3). Blocks of one size are handled together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray

__all__ = ["BlockMatrices", "StiefelProduct"]

BlockMatrices: TypeAlias = tuple[FloatArray, ...]
"""One array of shape (n_blocks, r, r) for every size r of blocks: a block-diagonal matrix."""


@dataclass(frozen=True, eq=False)
class StiefelProduct:
    """Matrices of a given number of rows, some of them in orthonormal blocks.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, 2)
        First row and size of each orthonormal block, in the order of the rows, disjoint.
    size : int
        The number of rows in all.
    """

    blocks: IntArray
    size: int

    @cached_property
    def groups(self) -> list[IntArray]:
        """The rows of the blocks, one array of shape (n_blocks, r) for every size r, ascending."""
        first, length = self.blocks[:, 0], self.blocks[:, 1]
        return [first[length == r][:, None] + np.arange(r) for r in np.unique(length)]

    @cached_property
    def free(self) -> IntArray:
        """The rows that belong to no block."""
        is_free = np.ones(self.size, dtype=bool)
        for rows in self.groups:
            is_free[rows] = False
        return np.flatnonzero(is_free)

    @property
    def n_orthonormal_rows(self) -> int:
        """The number of rows in blocks."""
        return int(self.blocks[:, 1].sum())

    @property
    def smallest_rank(self) -> int:
        """The least number of columns for which every block can be orthonormal."""
        return int(self.blocks[:, 1].max(initial=1))

    def dimension(self, p: int) -> int:
        """Return the dimension of the manifold with p columns."""
        tangent = sum(len(rows) * _tangent_dimension(rows.shape[1], p) for rows in self.groups)
        return tangent + len(self.free) * p

    def orthonormalize(self, Y: FloatArray) -> FloatArray:
        """Return the nearest matrix with orthonormal blocks: their polar factors."""
        out = np.array(Y, dtype=np.float64)
        for rows in self.groups:
            out[rows] = _polar_factors(out[rows])
        return out

    def retract(self, Y: FloatArray, V: FloatArray) -> FloatArray:
        """Return the polar retraction of Y + V, which agrees with the geodesic to second order."""
        return self.orthonormalize(Y + V)

    def multipliers(self, Y: FloatArray, G: FloatArray) -> BlockMatrices:
        """Return Λ_i = sym(G_i Y_iᵀ) for every block."""
        return tuple(_symmetric(G[rows] @ Y[rows].swapaxes(1, 2)) for rows in self.groups)

    def multiply(self, matrices: BlockMatrices, V: FloatArray) -> FloatArray:
        """Return the product of a block-diagonal matrix with V; zero on free rows."""
        out = np.zeros_like(V)
        for rows, blocks in zip(self.groups, matrices, strict=True):
            out[rows] = blocks @ V[rows]
        return out

    def trace(self, matrices: BlockMatrices) -> float:
        """Return the trace of a block-diagonal matrix."""
        return float(sum(np.einsum("iaa->", blocks) for blocks in matrices))

    def as_sparse(self, matrices: BlockMatrices) -> sp.csr_array:
        """Return a block-diagonal matrix as a sparse array of side `size`."""
        rows, columns, data = [], [], []
        for members, blocks in zip(self.groups, matrices, strict=True):
            shape = blocks.shape
            rows.append(np.broadcast_to(members[:, :, None], shape).ravel())
            columns.append(np.broadcast_to(members[:, None, :], shape).ravel())
            data.append(blocks.ravel())
        if not data:
            return sp.csr_array((self.size, self.size))
        indices = (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_array((np.concatenate(data), indices), shape=(self.size, self.size))

    def project(self, Y: FloatArray, V: FloatArray) -> FloatArray:
        """Return the orthogonal projection of V onto the tangent space at Y."""
        return V - self.multiply(self.multipliers(Y, V), Y)

    def tangent_basis(self, Y: FloatArray) -> list[FloatArray]:
        """Return orthonormal bases of the tangent spaces of the blocks."""
        return [_tangent_bases(Y[rows]) for rows in self.groups]

    def random_point(self, p: int, rng: np.random.Generator) -> FloatArray:
        """Return uniformly random blocks; free rows are zero."""
        Y = np.zeros((self.size, p))
        for rows in self.groups:
            Y[rows] = rng.standard_normal((*rows.shape, p))
        return self.orthonormalize(Y)


def _tangent_dimension(r: int, p: int) -> int:
    return r * p - r * (r + 1) // 2


def _symmetric(A: FloatArray) -> FloatArray:
    return np.asarray((A + A.swapaxes(1, 2)) / 2)


def _polar_factors(A: FloatArray) -> FloatArray:
    """Return UVᵀ of the singular value decompositions A = UΣVᵀ of a stack of matrices."""
    if A.shape[1] == 1:
        length = np.linalg.norm(A, axis=2, keepdims=True)
        unit = np.zeros(A.shape[2])
        unit[0] = 1.0
        return np.where(length > 0.0, A / np.where(length > 0.0, length, 1.0), unit)
    if A.shape[1:] == (2, 2):
        # The adjugate's transpose, with the sign of the determinant, adds up to a multiple of UVᵀ.
        a, b, c, d = A[:, 0, 0], A[:, 0, 1], A[:, 1, 0], A[:, 1, 1]
        sign = np.where(a * d - b * c < 0.0, -1.0, 1.0)
        first, second = a + sign * d, b - sign * c
        length = np.hypot(first, second)
        first = np.where(length > 0.0, first, 1.0)
        length = np.where(length > 0.0, length, 1.0)
        rows = np.stack([first, second, -sign * second, sign * first], axis=1)
        return np.asarray((rows / length[:, None]).reshape(-1, 2, 2))
    left, _, right = np.linalg.svd(A, full_matrices=False)
    return np.asarray(left @ right)


def _tangent_bases(B: FloatArray) -> FloatArray:
    """Return the bases at a stack of blocks of shape (n_blocks, r, p)."""
    n_blocks, r, p = B.shape
    basis = np.zeros((n_blocks, r, p, _tangent_dimension(r, p)))
    k = 0
    for a in range(r):
        for b in range(a + 1, r):
            basis[:, a, :, k] = B[:, b] / np.sqrt(2.0)
            basis[:, b, :, k] = -B[:, a] / np.sqrt(2.0)
            k += 1
    if p > r:
        complement = np.linalg.qr(B.swapaxes(1, 2), mode="complete")[0][:, :, r:]
        for a in range(r):
            basis[:, a, :, k : k + p - r] = complement
            k += p - r
    return basis
