"""The joint matrix of rotations and free rows: exact products, shifts and the best free rows.

The cost is C = [[L, Z], [Zᵀ, F]] with free rows last (in any order in memory). Minimizing over the
free rows T = −F⁻¹ZᵀR leaves the Schur complement K = L − ZF⁻¹Zᵀ, which is dense and never formed:
K + μI is definite exactly if C + μE is, with E the identity on orthonormal rows, and one solve with
the sparse C + μE is a solve with K + μI. A common translation of the free rows of a component does
not change the objective: C z = 0 for its indicator z. Adding a weight to one free row of such a
component (grounding) makes the matrix regular and changes neither K nor its signs.
"""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.exceptions import UnboundedProblemError
from isofold.linalg.fronts import Elimination, FrontalFactor
from isofold.linalg.ldl import SingularMatrixError
from isofold.sdp.stiefel import BlockMatrices, StiefelProduct

__all__ = ["JointMatrix"]

NULL_TOLERANCE = 1e-12
"""Row sums of a Laplacian cancel up to rounding: some thousand units in the last place."""

ROUNDINGS = 2048.0
"""Roundings that count in a pivot of the slack: as many as the longest rows of the factors have
entries. Along a chain of a thousand patches, whose rows are short, they add up to as many."""


class JointMatrix:
    """A sparse symmetric cost on a product of orthonormal blocks and free rows.

    Parameters
    ----------
    cost : sparse array of shape (size, size)
        The matrix C.
    manifold : StiefelProduct
        Which rows are orthonormal.
    """

    def __init__(self, cost: Matrix, manifold: StiefelProduct) -> None:
        self.manifold = manifold
        self.matrix = _with_full_blocks(cost, manifold)
        keys = _keys(self.matrix)
        self._block_positions = [
            np.searchsorted(keys, members[:, :, None].astype(np.int64) * manifold.size + columns)
            for members in manifold.groups
            for columns in [members[:, None, :]]
        ]
        diagonal = np.arange(manifold.size, dtype=np.int64)
        self._diagonal_positions = np.searchsorted(keys, diagonal * (manifold.size + 1))
        self._exact = self.matrix.astype(np.longdouble)
        self._exact_free = self._exact[manifold.free]
        self._is_orthonormal = np.ones(manifold.size, dtype=bool)
        self._is_orthonormal[manifold.free] = False
        magnitude = abs(self.matrix)
        self.row_sums = np.asarray(magnitude.sum(axis=1)).ravel()
        self.norm = float(self.row_sums.max(initial=0.0))
        self.scale = float(self.row_sums[self._is_orthonormal].mean()) or 1.0
        self.free_components, self.grounded = self._gauge(magnitude)
        self._factor: FrontalFactor | None = None
        self._free_factor: FrontalFactor | None = None

    @cached_property
    def unit(self) -> IntArray:
        """The unit of every row: a block, or what has entries in the same columns, as a pose has.

        Any partition that keeps blocks together is as good; this one keeps the fronts dense.
        """
        node = np.arange(self.manifold.size)
        for rows in self.manifold.groups:
            node[rows] = rows[:, :1]
        # Sums of random words tell patterns apart.
        words = np.random.default_rng(0).integers(2**63, size=self.manifold.size, dtype=np.uint64)
        keys = np.add.reduceat(words[self.matrix.indices], self.matrix.indptr[:-1])
        return np.asarray(np.unique(keys[node], return_inverse=True)[1])

    @cached_property
    def elimination(self) -> Elimination:
        """The order in which units are eliminated from C and from all that has its pattern."""
        size, C = self.manifold.size, self.matrix
        members = sp.csr_array((np.ones(size), (np.arange(size), self.unit)))
        pattern = sp.csr_array((np.ones(C.nnz), C.indices, C.indptr), shape=C.shape)
        return Elimination.of(members.T @ pattern @ members)

    def product(self, Y: FloatArray) -> FloatArray:
        """Return CY in the platform's extended precision, rounded once."""
        return np.asarray(self._exact @ Y.astype(np.longdouble), dtype=np.float64)

    def value(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return ⟨C, YYᵀ⟩ and CY; sums that cancel are kept in extended precision."""
        wide = Y.astype(np.longdouble)
        image = self._exact @ wide
        return float(np.sum(wide * image)), np.asarray(image, dtype=np.float64)

    @property
    def rounding_floor(self) -> float:
        """What the rounding of C and of the slack's factors can change in the bound.

        An entry of C is known to u|C_ij| at best, and each pivot is the sum of as many terms as its
        row has entries. That moves the smallest eigenvalue of the slack by some ku‖C‖, k terms a
        pivot, at a cost of so much for every orthonormal row.
        """
        unit = ROUNDINGS * float(np.finfo(np.float64).eps)
        return unit * self.norm * self.manifold.n_orthonormal_rows

    def shifted(self, multipliers: BlockMatrices | None, shift: float) -> Matrix:
        """Return C − Λ + shift·E, grounded, always in the same sparsity pattern."""
        data = self.matrix.data.copy()
        if multipliers is not None:
            for positions, blocks in zip(self._block_positions, multipliers, strict=True):
                data[positions] -= blocks
        data[self._diagonal_positions[self._is_orthonormal]] += shift
        if len(self.grounded):
            data[self._diagonal_positions[self.grounded]] += self.row_sums[self.grounded] + (
                self.row_sums[self.grounded] == 0.0
            )
        parts = (data, self.matrix.indices, self.matrix.indptr)
        return sp.csc_array(parts, shape=self.matrix.shape)

    def factor(self, multipliers: BlockMatrices | None, shift: float) -> FrontalFactor:
        """Return the factors of `shifted`; those of an earlier call are overwritten."""
        matrix = self.shifted(multipliers, shift)
        if self._factor is None:
            self._factor = FrontalFactor(matrix, self.elimination, self.unit)
        else:
            self._factor.refactor(matrix)
        return self._factor

    def positive_factor(self, shift: float) -> tuple[FrontalFactor, float]:
        """Return the factors of C + μE for the least μ = shift·10^k that makes it definite."""
        while True:
            try:
                factor = self.factor(None, shift)
                if factor.n_negative == 0:
                    return factor, shift
            except SingularMatrixError:
                pass
            if shift > 1e3 * (self.norm or 1.0):
                self._refuse_unbounded()
            shift *= 10.0

    def with_best_free_rows(self, Y: FloatArray) -> FloatArray:
        """Return Y with the free rows that minimize the objective for its blocks, centered."""
        free = self.manifold.free
        if len(free) == 0:
            return Y
        if self._free_factor is None:
            self._free_factor = self._factor_free()
        Y = Y.copy()
        Y[free] = 0.0
        # The second solve is iterative refinement: the residual is exact.
        for _ in range(2):
            image = np.asarray(self._exact_free @ Y.astype(np.longdouble), dtype=np.float64)
            Y[free] -= self._free_factor.solve(image)
            self._center(Y)
        return Y

    def _factor_free(self) -> FrontalFactor:
        free = self.manifold.free
        matrix = self.shifted(None, 0.0)[free][:, free]
        try:
            factor = FrontalFactor(matrix, self.elimination, self.unit[free])
        except SingularMatrixError:
            factor = None
        if factor is None or factor.n_negative:
            lift = NULL_TOLERANCE * (self.norm or 1.0)
            matrix = matrix + lift * sp.eye_array(len(free), format="csc")
            factor = FrontalFactor(matrix, self.elimination, self.unit[free])
            if factor.n_negative:
                self._refuse_unbounded()
        return factor

    def _refuse_unbounded(self) -> NoReturn:
        msg = (
            "The objective is unbounded below: its part on the free rows is not positive "
            "semidefinite, so that free rows can lower it without end. Check the sign of the "
            "objective, or put the rows into orthonormal blocks."
        )
        raise UnboundedProblemError(msg)

    def _center(self, Y: FloatArray) -> None:
        """Take the mean off the free rows of every component that can be moved as a whole."""
        free, label = self.manifold.free, self.free_components
        movable = label >= 0
        rows, label = free[movable], label[movable]
        count = np.bincount(label)
        for column in Y.T:
            mean = np.bincount(label, column[rows], minlength=len(count)) / np.maximum(count, 1)
            column[rows] -= mean[label]

    def _gauge(self, magnitude: Matrix) -> tuple[IntArray, IntArray]:
        """Return the movable component of every free row (−1 if none) and the grounded rows."""
        free = self.manifold.free
        if len(free) == 0:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        n_components, label = connected_components(magnitude[free][:, free], directed=False)
        indicator = sp.csr_array(
            (np.ones(len(free)), (free, label)), shape=(self.manifold.size, n_components)
        )
        image = abs(sp.csc_array(self.matrix @ indicator))
        # A moment that is zero but for rounding is no measure of this rounding; its row and column
        # are: |C_ij|² ≤ C_ii C_jj where the cost is a misfit.
        bound = sp.coo_array(magnitude @ indicator)
        sizes = np.sqrt(magnitude.diagonal())
        within = np.bincount(label, sizes[free], minlength=n_components)
        bound.data += sizes[bound.row] * within[bound.col]
        worst = np.zeros(n_components)
        if image.nnz:
            relative = image - NULL_TOLERANCE * sp.csc_array(bound)
            worst = np.asarray(relative.max(axis=0).todense()).ravel()
        movable = worst <= 0.0
        first = np.full(n_components, -1)
        first[label[::-1]] = free[::-1]
        return np.where(movable[label], label, -1), first[movable]


def _with_full_blocks(cost: Matrix, manifold: StiefelProduct) -> sp.csr_array:
    """Return the cost with all entries of diagonal blocks and of the diagonal stored."""
    matrix = sp.csr_array(cost, copy=True)
    matrix.sum_duplicates()
    rows: list[IntArray] = [np.arange(manifold.size)]
    columns: list[IntArray] = [np.arange(manifold.size)]
    for members in manifold.groups:
        shape = (*members.shape, members.shape[1])
        rows.append(np.broadcast_to(members[:, :, None], shape).ravel())
        columns.append(np.broadcast_to(members[:, None, :], shape).ravel())
    row, column = np.concatenate(rows), np.concatenate(columns)
    keys, wanted = _keys(matrix), row.astype(np.int64) * manifold.size + column
    if len(keys) and np.all(keys[np.searchsorted(keys[:-1], wanted)] == wanted):
        return matrix
    stored = sp.coo_array(matrix)
    indices = (np.concatenate([stored.row, row]), np.concatenate([stored.col, column]))
    data = np.concatenate([stored.data, np.zeros(len(row))])
    matrix = sp.csr_array(sp.coo_array((data, indices), shape=matrix.shape))
    matrix.sum_duplicates()
    return matrix


def _keys(matrix: Matrix) -> IntArray:
    """Return numbers of the stored places, ascending in a matrix of sorted indices."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return np.asarray(rows * matrix.shape[1] + matrix.indices)
