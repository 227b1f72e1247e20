"""Direct Riemannian Newton steps for ⟨C, YYᵀ⟩ on orthonormal blocks and free rows.

With orthonormal tangent bases B the Hessian in tangent coordinates is H = Bᵀ(C ⊗ I − Λ ⊗ I)B,
sparse with one small block for every block of C. The blocks are computed together, size by size,
and put into a sparsity pattern that is worked out once. A step solves (H + λD)x = −Bᵀ(CY), with λ
raised until no pivot is negative and the objective falls (Levenberg), and ends with the polar
retraction and the best free rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.linalg.fronts import FrontalFactor
from isofold.linalg.ldl import SingularMatrixError
from isofold.sdp.joint_matrix import JointMatrix
from isofold.sdp.stiefel import BlockMatrices

__all__ = ["NewtonStep", "newton_steps"]

FIRST_DAMPING, LARGEST_DAMPING = 1e-6, 1e4
"""Levenberg's λ in units of the Hessian's mean diagonal when it first is needed, and where steps
are so short that further damping is pointless."""

GAUGE_DAMPING = 1e-10
"""Lifts the rotations of all blocks together, where they cannot be grounded, off zero."""

SETTLED = 1e-3
"""Fraction of the tolerance to which the decrease of a full step must fall for it to be the last:
the step after it would change the objective by its square."""


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """Where Newton's method stands.

    Parameters
    ----------
    Y : ndarray of shape (size, p)
        The point; its free rows are the best for its blocks.
    value : float
        The objective ⟨C, YYᵀ⟩.
    image : ndarray of shape (size, p)
        CY.
    residual : float
        The norm of the gradient, relative to the scale of C.
    n_negative : int
        Negative eigenvalues of the Hessian at the point before.
    converged : bool
        Whether no further step is worth while.
    """

    Y: FloatArray
    value: float
    image: FloatArray
    residual: float
    n_negative: int = 0
    converged: bool = False


def newton_steps(
    joint: JointMatrix, Y: FloatArray, *, tol: float, max_iter: int, patient: bool = True
) -> Iterator[NewtonStep]:
    """Yield the start with its best free rows, then one Newton step after the other."""
    manifold = joint.manifold
    Y = joint.with_best_free_rows(manifold.orthonormalize(Y))
    value, image = joint.value(Y)
    rigid = manifold.dimension(Y.shape[1]) == manifold.free.size * Y.shape[1]
    yield NewtonStep(Y, value, image, _residual(joint, Y, image), converged=rigid)
    if rigid:
        return
    hessian = _Hessian(joint, Y.shape[1])
    floor, damping = joint.rounding_floor, 0.0
    for _ in range(max_iter):
        if damping == 0.0 and (last := _chord(joint, hessian, Y, image, value, tol)) is not None:
            yield last
            return
        hessian.evaluate(Y, manifold.multipliers(Y, image))
        n_negative = -1
        while True:
            negative, step, decrease = hessian.step(Y, image, damping)
            n_negative = negative if n_negative < 0 else n_negative
            if negative and not patient:
                return
            if negative == 0:
                new = joint.with_best_free_rows(manifold.retract(Y, step))
                new_value, new_image = joint.value(new)
                if new_value <= value + 1e-12 * abs(value) + floor:
                    break
            if damping >= LARGEST_DAMPING:
                residual = _residual(joint, Y, image)
                yield NewtonStep(Y, value, image, residual, n_negative, converged=True)
                return
            damping = max(10.0 * damping, FIRST_DAMPING)
        settled = decrease <= SETTLED * (tol * abs(value) + floor) and damping == 0.0
        stalled = abs(value - new_value) <= 1e-14 * abs(value) + floor * SETTLED
        Y, value, image = new, new_value, new_image
        residual = _residual(joint, Y, image)
        yield NewtonStep(Y, value, image, residual, n_negative, converged=settled or stalled)
        if settled or stalled:
            return
        damping = damping / 10.0 if damping > 10.0 * FIRST_DAMPING else 0.0


def _chord(
    joint: JointMatrix,
    hessian: _Hessian,
    Y: FloatArray,
    image: FloatArray,
    value: float,
    tol: float,
) -> NewtonStep | None:
    """Return the last step, taken with the factors at the point before, if it is the last.

    Close to the minimum the Hessian hardly changes any more, and factors are what a step costs.
    """
    floor = joint.rounding_floor
    # Bases of motions out of a block's own space may rotate from point to point.
    if any(rows.shape[1] < Y.shape[1] for rows in joint.manifold.groups):
        return None
    # The first gets there, the second takes the gradient, and so the multipliers, to rounding.
    for _ in range(2):
        step, decrease = hessian.chord_step(Y, image)
        if step is None or decrease > SETTLED * (tol * abs(value) + floor):
            return None
        new = joint.with_best_free_rows(joint.manifold.retract(Y, step))
        new_value, new_image = joint.value(new)
        if new_value > value + floor:
            return None
        Y, image = new, new_image
    return NewtonStep(Y, new_value, image, _residual(joint, Y, image), converged=True)


def _residual(joint: JointMatrix, Y: FloatArray, image: FloatArray) -> float:
    gradient = image - joint.manifold.multiply(joint.manifold.multipliers(Y, image), Y)
    rows = max(joint.manifold.n_orthonormal_rows, 1)
    return float(np.linalg.norm(gradient) / (joint.scale * np.sqrt(rows)))


@dataclass(frozen=True, eq=False)
class _Couplings:
    """The blocks of C between units of two kinds (sizes of blocks; the last kind is a free row)."""

    kinds: tuple[int, int]
    first: IntArray
    second: IntArray
    blocks: FloatArray


class _Hessian:
    """The Hessian in tangent coordinates, in a fixed sparsity pattern."""

    def __init__(self, joint: JointMatrix, p: int) -> None:
        self.manifold, self.p = joint.manifold, p
        groups = self.manifold.groups
        self.n_groups = len(groups)
        self.sizes = [rows.shape[1] for rows in groups] + [1]
        self.widths = [r * p - r * (r + 1) // 2 for r in self.sizes[:-1]] + [p]
        self.members = [*groups, self.manifold.free[:, None]]
        self.starts = _layout(self.members, self.widths)
        self.couplings = _couplings(joint.matrix, self.members)
        self.side = sum(len(m) * w for m, w in zip(self.members, self.widths, strict=True))
        self._order, self._indices, self._indptr = self._pattern()
        self._elimination, self._unit = joint.elimination, np.empty(self.side, dtype=np.intp)
        for members, starts, width in zip(self.members, self.starts, self.widths, strict=True):
            self._unit[starts[:, None] + np.arange(width)] = joint.unit[members[:, :1]]
        self._ground, self._needs_lift = _grounded_coordinates(joint, self)
        self._factor: FrontalFactor | None = None
        self._is_definite = False
        self._basis: list[FloatArray] = []
        self._data: FloatArray = np.empty(0)
        self._diagonal = self._diagonal_places()

    def evaluate(self, Y: FloatArray, multipliers: BlockMatrices) -> None:
        """Compute the Hessian at a point."""
        self._basis = self.manifold.tangent_basis(Y)
        values = []
        for coupling in self.couplings:
            values.extend(self._mirrored(coupling, self._coupled(coupling, multipliers)))
        self._data = np.concatenate(values)[self._order] if values else np.empty(0)

    def step(
        self, Y: FloatArray, image: FloatArray, damping: float
    ) -> tuple[int, FloatArray, float]:
        """Return the number of negative pivots, the step and the decrease that it promises."""
        self._is_definite = False
        data = self._data.copy()
        diagonal = data[self._diagonal]
        mean = float(np.abs(diagonal).mean()) or 1.0
        lift = max(damping, GAUGE_DAMPING if self._needs_lift else 0.0)
        data[self._diagonal] += lift * mean
        data[self._diagonal[self._ground]] += mean
        parts = (data, self._indices, self._indptr)
        matrix = sp.csc_array(parts, shape=(self.side, self.side))
        try:
            if self._factor is None:
                self._factor = FrontalFactor(matrix, self._elimination, self._unit)
            else:
                self._factor.refactor(matrix)
        except SingularMatrixError:
            self._factor = None
            return 1, np.zeros_like(Y), 0.0
        negative = self._factor.n_negative
        if negative:
            return negative, np.zeros_like(Y), 0.0
        self._is_definite = True
        gradient = self._coordinates(image)
        x = -self._factor.solve(gradient)
        return 0, self._vector(x, Y), -float(gradient @ x)

    def chord_step(self, Y: FloatArray, image: FloatArray) -> tuple[FloatArray | None, float]:
        """Return the step of the last factors, if those are definite, and what it promises."""
        if self._factor is None or not self._is_definite:
            return None, np.inf
        self._basis = self.manifold.tangent_basis(Y)
        gradient = self._coordinates(image)
        x = -self._factor.solve(gradient)
        return self._vector(x, Y), -float(gradient @ x)

    def _coordinates(self, G: FloatArray) -> FloatArray:
        """Return Bᵀ G: the tangent coordinates of a matrix of the shape of Y."""
        out = np.zeros(self.side)
        for kind, (members, starts) in enumerate(zip(self.members, self.starts, strict=True)):
            columns = starts[:, None] + np.arange(self.widths[kind])
            if kind == self.n_groups:
                out[columns] = G[members[:, 0]]
            else:
                out[columns] = np.einsum("iak,iakt->it", G[members], self._basis[kind])
        return out

    def _vector(self, x: FloatArray, Y: FloatArray) -> FloatArray:
        """Return Bx as a matrix of the shape of Y."""
        out = np.zeros_like(Y)
        for kind, (members, starts) in enumerate(zip(self.members, self.starts, strict=True)):
            part = x[starts[:, None] + np.arange(self.widths[kind])]
            if kind == self.n_groups:
                out[members[:, 0]] = part
            else:
                out[members] = np.einsum("iakt,it->iak", self._basis[kind], part)
        return out

    def _coupled(self, coupling: _Couplings, multipliers: BlockMatrices) -> FloatArray:
        """Return the Hessian's blocks of shape (n, width, width), (n, 1) between free rows."""
        one, two = coupling.kinds
        if one == self.n_groups:
            return coupling.blocks[:, :, 0]
        n = len(coupling.blocks)
        basis = self._basis[one]
        left = basis[coupling.first]
        if two == self.n_groups:
            return np.asarray(np.einsum("ea,eakt->etk", coupling.blocks[:, :, 0], left))
        blocks = coupling.blocks
        if one == two:
            own = coupling.first == coupling.second
            blocks = blocks.copy()
            blocks[own] -= multipliers[one][coupling.first[own]]
        right = self._basis[two][coupling.second]
        r, width = self.sizes[two], self.widths[two]
        moved = (blocks @ right.reshape(n, r, -1)).reshape(n, -1, width)
        return np.asarray(left.reshape(n, -1, self.widths[one]).swapaxes(1, 2) @ moved)

    def _mirrored(self, coupling: _Couplings, values: FloatArray) -> list[FloatArray]:
        """Return blocks and the transposes of those off the diagonal, flat, as in `_pattern`."""
        one, two = coupling.kinds
        off = slice(None) if one != two else np.flatnonzero(coupling.first != coupling.second)
        if one == self.n_groups:
            return [np.repeat(values.ravel(), self.p), np.repeat(values[off].ravel(), self.p)]
        return [values.ravel(), values[off].swapaxes(1, 2).ravel()]

    def _pattern(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the order in which computed values are stored, and the pattern of H."""
        rows, columns = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        for coupling in self.couplings:
            one, two = coupling.kinds
            first, second = self.starts[one][coupling.first], self.starts[two][coupling.second]
            if one == self.n_groups:
                offset = np.arange(self.p)
                row, column = first[:, None] + offset, second[:, None] + offset
                off = coupling.first != coupling.second
                rows += [row.ravel(), column[off].ravel()]
                columns += [column.ravel(), row[off].ravel()]
                continue
            shape = (len(first), self.widths[one], self.widths[two])
            row = np.broadcast_to((first[:, None] + np.arange(shape[1]))[:, :, None], shape)
            column = np.broadcast_to((second[:, None] + np.arange(shape[2]))[:, None, :], shape)
            off = np.ones(len(first), bool) if one != two else coupling.first != coupling.second
            rows += [row.ravel(), column[off].swapaxes(1, 2).ravel()]
            columns += [column.ravel(), row[off].swapaxes(1, 2).ravel()]
        row, column = np.concatenate(rows), np.concatenate(columns)
        number = np.arange(len(row), dtype=np.float64)
        pattern = sp.csc_array((number, (row, column)), shape=(self.side, self.side))
        pattern.sort_indices()
        return pattern.data.astype(np.intp), pattern.indices, pattern.indptr

    def _diagonal_places(self) -> IntArray:
        columns = np.repeat(np.arange(self.side), np.diff(self._indptr))
        return np.flatnonzero(columns == self._indices)


def _layout(members: list[IntArray], widths: list[int]) -> list[IntArray]:
    """Return the first coordinate of every unit, kind by kind, in the order of their rows."""
    begin = np.concatenate([rows[:, 0] for rows in members])
    width = np.concatenate([np.full(len(m), w) for m, w in zip(members, widths, strict=True)])
    order = np.argsort(begin, kind="stable")
    start = np.empty(len(begin), dtype=np.intp)
    start[order] = np.concatenate([[0], np.cumsum(width[order])])[:-1]
    return np.split(start, np.cumsum([len(rows) for rows in members])[:-1])


def _couplings(matrix: Matrix, members: list[IntArray]) -> list[_Couplings]:
    """Return the blocks of C between units, each pair once, grouped by the kinds of units."""
    size = matrix.shape[0]
    kind, unit, position = (np.zeros(size, dtype=np.intp) for _ in range(3))
    for number, rows in enumerate(members):
        kind[rows] = number
        unit[rows] = np.arange(len(rows))[:, None]
        position[rows] = np.arange(rows.shape[1])
    entries = sp.coo_array(matrix)
    row, column = entries.row, entries.col
    out = []
    for one in range(len(members)):
        for two in range(one, len(members)):
            chosen = (kind[row] == one) & (kind[column] == two)
            if one == two:
                chosen &= unit[row] <= unit[column]
            chosen = np.flatnonzero(chosen)
            if len(chosen) == 0:
                continue
            i, j = row[chosen], column[chosen]
            count = len(members[two])
            pairs, edge = np.unique(unit[i].astype(np.int64) * count + unit[j], return_inverse=True)
            blocks = np.zeros((len(pairs), members[one].shape[1], members[two].shape[1]))
            blocks[edge, position[i], position[j]] = entries.data[chosen]
            out.append(_Couplings((one, two), pairs // count, pairs % count, blocks))
    return out


def _grounded_coordinates(joint: JointMatrix, hessian: _Hessian) -> tuple[IntArray, bool]:
    """Return coordinates that fix common motions, and whether some rotations are left unfixed.

    Rotating all blocks of a component together changes nothing. If one of them is square (r = p)
    its tangent coordinates fix the rotation; else the common rotations must be lifted off zero.
    """
    _, label = connected_components(joint.matrix, directed=False)
    ground = []
    fixed = np.zeros(label.max() + 1, dtype=bool)
    for kind, (members, starts) in enumerate(zip(hessian.members, hessian.starts, strict=True)):
        width = hessian.widths[kind]
        if kind == hessian.n_groups:
            chosen = starts[np.searchsorted(members[:, 0], joint.grounded)]
        elif members.shape[1] == hessian.p:
            component = label[members[:, 0]]
            fixed[component] = True
            chosen = starts[np.unique(component, return_index=True)[1]]
        else:
            continue
        ground.append((chosen[:, None] + np.arange(width)).ravel())
    present = np.zeros_like(fixed)
    for members in hessian.members[:-1]:
        present[label[members[:, 0]]] = True
    coordinates = np.concatenate(ground) if ground else np.empty(0, dtype=np.intp)
    return coordinates, bool(np.any(present & ~fixed))
