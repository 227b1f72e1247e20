"""A `Program` in terms of CVXPY: the Gram matrix off the gauge as one semidefinite variable.

With L the Gram matrix on the complement of the gauge, so that centering costs no strictly feasible
point,

    minimize ⟨C, L⟩ + Σ (ν_e/2) t_e²    subject to  l_e ≤ ⟨A_e, L⟩ − t_e ≤ u_e,  L_BB = I,  L ⪰ 0,

with t_e = 0 for hard constraints. The dual variables of the bounds are the multipliers w_e, those
of the blocks −Λ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.sdp.forms import FactorForms, to_dense
from isofold.sdp.program import Program, reflect_off_gauge

__all__ = ["ConicModel"]


class _Bounds(NamedTuple):
    """Bounds of one kind: the forms that they are about, and the constraint of CVXPY."""

    forms: IntArray
    sign: float
    constraint: Any


@dataclass(frozen=True, eq=False)
class ConicModel:
    """A program in CVXPY, in units in which its bounds and its cost are about one.

    Parameters
    ----------
    program : Program
        The program.
    problem : cvxpy.Problem
        The same for CVXPY.
    gram : cvxpy.Variable
        The Gram matrix off the gauge, in units of `length`.
    bounds : tuple
        Equalities, upper and lower bounds, those that are there: the forms that each is about, the
        sign of their multipliers, and the constraint of CVXPY.
    blocks : cvxpy.Constraint or None
        The entries of orthonormal blocks.
    length, price : float
        Units of the Gram matrix and of the cost.
    """

    program: Program
    problem: Any
    gram: Any
    bounds: tuple[_Bounds, ...]
    blocks: Any
    length: float
    price: float

    @classmethod
    def of(cls, cvxpy: Any, program: Program) -> ConicModel:
        """Build the problem; every kind of constraint is one product with a sparse matrix."""
        envelope = program.envelope
        length, price = _units(program)
        cost = reflect_off_gauge(to_dense(program.cost), program.gauge)
        cost = reflect_off_gauge(cost.T, program.gauge) / price
        side = cost.shape[0]
        gram = cvxpy.Variable((side, side), PSD=True)
        entries = cvxpy.vec(gram, order="F")
        objective = cost.ravel() @ entries
        bounds: tuple[_Bounds, ...] = ()
        m = program.forms.n_forms
        if m:
            values = _form_rows(program, side) @ entries
            soft = np.flatnonzero(~envelope.is_hard)
            if len(soft):
                excess = cvxpy.Variable(len(soft))
                values = values - sp.eye_array(m, format="csc")[:, soft] @ excess
                weights = np.sqrt(envelope.penalty[soft] * length / (2.0 * price))
                objective = objective + cvxpy.sum_squares(cvxpy.multiply(weights, excess))
            bounds = _bounds(program, values, length)
        blocks = None
        if len(program.blocks):
            rows, target = _block_rows(program)
            blocks = rows @ entries == target / length
        constraints = [bound.constraint for bound in bounds]
        constraints += [] if blocks is None else [blocks]
        problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
        return cls(program, problem, gram, bounds, blocks, length, price)

    def coordinates(self) -> FloatArray:
        """Return the factor Y of the Gram matrix that the solver found, zero if none."""
        program = self.program
        basis = reflect_off_gauge(np.eye(program.size), program.gauge)
        gram = _numbers(self.gram.value)
        if gram is None:
            return np.zeros((program.size, program.size))
        values, vectors = scipy.linalg.eigh(self.length * gram)
        return np.asarray(basis @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    def multipliers(self) -> tuple[FloatArray, Matrix | None]:
        """Return w and Λ from the dual variables of the solver, zero where there are none."""
        program = self.program
        w = np.zeros(program.forms.n_forms)
        for bound in self.bounds:
            dual = _numbers(bound.constraint.dual_value)
            if dual is not None:
                w[bound.forms] += bound.sign * self.price * dual.ravel()
        if self.blocks is None:
            return w, None
        dual = _numbers(self.blocks.dual_value)
        rows, _ = _block_rows(program)
        matrix = sp.csr_array((program.size, program.size))
        if dual is not None:
            entries = -self.price * (rows.T @ dual.ravel())
            full = entries.reshape(program.size, program.size)
            matrix = sp.csr_array((full + full.T) / 2)
        return w, matrix


def _numbers(value: Any) -> FloatArray | None:
    """Return what a solver left in a variable, None if it left nothing or no finite numbers."""
    if value is None or not np.all(np.isfinite(value)):
        return None
    return np.asarray(value, dtype=np.float64)


def _bounds(program: Program, values: Any, length: float) -> tuple[_Bounds, ...]:
    """Return equalities, upper and lower bounds of the forms' values, those that are there."""
    envelope = program.envelope
    equal = np.flatnonzero(envelope.is_equality)
    upper = np.flatnonzero(~envelope.is_equality & np.isfinite(envelope.upper))
    lower = np.flatnonzero(~envelope.is_equality & np.isfinite(envelope.lower))
    bounds = []
    if len(equal):
        bounds.append(_Bounds(equal, 1.0, values[equal] == envelope.upper[equal] / length))
    if len(upper):
        bounds.append(_Bounds(upper, 1.0, values[upper] <= envelope.upper[upper] / length))
    if len(lower):
        bounds.append(_Bounds(lower, -1.0, values[lower] >= envelope.lower[lower] / length))
    return tuple(bounds)


def _form_rows(program: Program, side: int) -> sp.csr_array:
    """Return the matrix that takes the entries of the Gram matrix off the gauge to all forms."""
    squares: FactorForms = program.forms.squares()
    factors = sp.csr_array(reflect_off_gauge(squares.factors, program.gauge))
    count = np.diff(factors.indptr)
    row = np.repeat(np.arange(factors.shape[0]), count)
    # Every entry of a factor meets every entry of the same factor: the rows of a ⊗ a.
    left = np.repeat(np.arange(factors.nnz), count[row])
    begin = np.cumsum(count[row]) - count[row]
    right = np.arange(len(left)) - np.repeat(begin - factors.indptr[row], count[row])
    data = squares.signs[row[left]] * factors.data[left] * factors.data[right]
    columns = factors.indices[left].astype(np.int64) * side + factors.indices[right]
    shape = (squares.n_forms, side * side)
    return sp.csr_array((data, (squares.owner[row[left]], columns)), shape=shape)


def _block_rows(program: Program) -> tuple[sp.csr_array, FloatArray]:
    """Return the matrix that picks the upper triangles of the blocks, and their entries in I."""
    n = program.size
    corners = [(first + np.array(np.triu_indices(size))) for first, size in program.blocks]
    first, second = np.concatenate(corners, axis=1)
    m = len(first)
    rows = sp.csr_array((np.ones(m), (np.arange(m), first * n + second)), shape=(m, n * n))
    return rows, np.equal(first, second).astype(np.float64)


def _units(program: Program) -> tuple[float, float]:
    """Return the mean size of the bounds and the largest entry of the cost, one where zero."""
    bounds = np.concatenate([program.envelope.lower, program.envelope.upper])
    bounds = np.abs(bounds[np.isfinite(bounds)])
    length = 1.0 if len(program.blocks) or not bounds.any() else float(bounds.mean())
    return length, float(np.abs(to_dense(program.cost)).max()) or 1.0
