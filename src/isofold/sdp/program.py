"""A `GramSDP` as the solvers see it: a minimum, in an orthonormal basis, with its dual.

    primal   P(Y) = ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩)        diagonal blocks of YYᵀ are identities
    dual     D(w, Λ) = tr Λ − Σ ψ_e*(w_e)                 S = C + A*(w) − Λ ⪰ 0
    weak duality      P(Y) − D(w, Λ) = ⟨S, YYᵀ⟩ + Σ [ψ + ψ* − w·g] ≥ 0

where Λ is block-diagonal on the orthonormal blocks and S need be positive semidefinite only on
the complement of the gauge vector a, to which the columns of Y are orthogonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.sdp.envelope import Envelope
from isofold.sdp.forms import Forms, PairForms, is_sparse, positive_forms, to_dense
from isofold.sdp.problem import GramSDP
from isofold.sdp.sparse_less_squares import SparseLessSquares

__all__ = ["Program", "principal_axes", "reflect_off_gauge"]

MOST_BASIS_ENTRIES = 4_000_000
"""Largest dense basis in which coincident points are merged (32 MB); beyond it they are held
together by their penalty."""


@dataclass(frozen=True, eq=False)
class Program:
    """The minimization that the solvers work on.

    Parameters
    ----------
    cost : ndarray, CSR array or LinearOperator of shape (size, size)
        The matrix C, negated if the problem is a maximum.
    forms : Forms
        The matrices A_e.
    envelope : Envelope
        The functions ψ_e.
    blocks : ndarray of shape (n_blocks, 2)
        First row and size of each orthonormal block.
    gauge : ndarray of shape (size,) or None
        A unit vector orthogonal to every column of Y.
    trace_bound : float or None
        A bound on the trace of some optimal YYᵀ.
    basis : ndarray of shape (n_points, size) or None
        Orthonormal columns that take Y back to the points.
    """

    cost: Matrix
    forms: Forms
    envelope: Envelope
    blocks: IntArray
    gauge: FloatArray | None
    trace_bound: float | None
    basis: FloatArray | None

    @classmethod
    def of(cls, problem: GramSDP) -> Program:
        """Return a problem as a minimum in an orthonormal basis of its points."""
        cost, forms = problem.sign * problem.objective, problem.forms
        constraints = problem.constraints
        envelope = (
            Envelope(*(np.empty(0) for _ in range(4)))
            if constraints is None
            else constraints.envelope
        )
        basis = None
        ones = np.ones(problem.n_points)
        if problem.basis is not None:
            basis = _orthonormal_range(problem.basis)
            cost = basis.T @ np.asarray(cost @ basis)
            cost = (cost + cost.T) / 2
            forms = forms.in_basis(basis)
            ones = basis.T @ ones
        length = float(np.linalg.norm(ones))
        # A basis of centered columns needs no gauge: its image is already centered.
        needs_gauge = problem.centered and length > 1e-10 * np.sqrt(problem.n_points)
        blocks = np.empty((0, 2), dtype=np.intp) if problem.blocks is None else problem.blocks
        bound = problem.trace_bound
        if len(blocks) and blocks[:, 1].sum() == problem.n_points:
            bound = float(problem.n_points)
        return cls(
            cost=cost,
            forms=forms,
            envelope=envelope,
            blocks=blocks,
            gauge=ones / length if needs_gauge else None,
            trace_bound=bound,
            basis=basis,
        )

    @property
    def size(self) -> int:
        """The number of rows of Y."""
        return int(self.cost.shape[0])

    @cached_property
    def orthonormal_rows(self) -> BoolArray:
        """Which rows belong to an orthonormal block."""
        begins = np.bincount(self.blocks[:, 0], minlength=self.size + 1)
        ends = np.bincount(self.blocks.sum(axis=1), minlength=self.size + 1)
        return np.asarray(np.cumsum(begins - ends)[: self.size] > 0)

    @cached_property
    def raisable(self) -> BoolArray:
        """Which forms are positive semidefinite and bounded above: their w has a finite price."""
        return np.isfinite(self.envelope.upper) & positive_forms(self.forms)

    @cached_property
    def cost_scale(self) -> float:
        """κ if C = −κI, else the root mean square of the eigenvalues of C, about; 1 if C = 0."""
        kappa = self.negative_identity
        if kappa is not None:
            return kappa
        probe = np.random.default_rng(0).standard_normal((self.size, 1))
        return float(np.linalg.norm(self.cost @ probe) / np.linalg.norm(probe)) or 1.0

    @property
    def is_dense(self) -> bool:
        """Whether no sparse factors tell the signs of eigenvalues of slacks."""
        return not (is_sparse(self.cost) or isinstance(self.cost, SparseLessSquares))

    @property
    def has_cost(self) -> bool:
        """Whether C is not zero; operators count as such."""
        return isinstance(self.cost, LinearOperator) or float(abs(self.cost).max()) > 0.0

    @cached_property
    def negative_identity(self) -> float | None:
        """κ > 0 if C = −κI, as in maximum variance unfolding, else None."""
        if isinstance(self.cost, LinearOperator):
            return None
        kappa = -float(self.cost.diagonal()[0])
        identity = sp.eye_array(self.size) if is_sparse(self.cost) else np.eye(self.size)
        rest = float(abs(self.cost + kappa * identity).max())
        # Rounding of a basis change leaves some ulps of κ off the diagonal.
        return kappa if kappa > 0.0 and rest <= 1e-14 * kappa else None

    def with_envelope(self, envelope: Envelope) -> Program:
        """Return the same program with other functions of the forms."""
        return replace(self, envelope=envelope)

    def with_translation_gauge(self) -> Program:
        """Return the program with the common translation of free rows as its gauge, if it is one.

        It is one if neither the cost nor any form sees it, as when the free rows are the
        translations of patches. Centering the free rows then changes nothing, and the slack has an
        exact null vector that no repair can move.
        """
        free = np.ones(self.size)
        free[self.orthonormal_rows] = 0.0
        if self.gauge is not None or not len(self.blocks) or not np.any(free):
            return self
        gauge = free / np.linalg.norm(free)
        column = gauge[:, None]
        image = np.abs(self.cost @ column).max()
        is_operator = isinstance(self.cost, LinearOperator)
        size = 1.0 if is_operator else float(abs(self.cost).max())
        factors = np.abs(self.forms.squares().factors @ column).max(initial=0.0)
        rounding = self.size * float(np.finfo(np.float64).eps)
        if image <= rounding * size and factors <= rounding:
            return replace(self, gauge=gauge)
        return self

    def with_merged_points(self) -> Program:
        """Return the program in which points that must coincide are one (facial reduction).

        Hard squared distances of zero leave no strictly feasible point and no multipliers; in the
        basis of the merged points they are met by construction.
        """
        forms, envelope = self.forms, self.envelope
        if not isinstance(forms, PairForms) or self.basis is not None or len(self.blocks):
            return self
        forced = forms.pairs[envelope.is_hard & (envelope.upper == 0.0)]
        if len(forced) == 0 or isinstance(self.cost, LinearOperator):
            return self
        graph = sp.coo_array((np.ones(len(forced)), forced.T), shape=(self.size, self.size))
        n_groups, label = connected_components(graph, directed=False)
        if self.size * n_groups > MOST_BASIS_ENTRIES:
            return self
        basis = np.zeros((self.size, n_groups))
        basis[np.arange(self.size), label] = 1.0 / np.sqrt(np.bincount(label)[label])
        gauge = None if self.gauge is None else basis.T @ self.gauge
        cost = basis.T @ np.asarray(self.cost @ basis)
        return replace(
            self, cost=(cost + cost.T) / 2, forms=forms.in_basis(basis), gauge=gauge, basis=basis
        )

    def center(self, Y: FloatArray) -> FloatArray:
        """Return Y with the gauge direction taken out of every column."""
        if self.gauge is None:
            return Y
        return Y - self.gauge[:, None] * (self.gauge @ Y)

    def linear_value(self, Y: FloatArray) -> float:
        """Return ⟨C, YYᵀ⟩."""
        return float(np.sum(Y * (self.cost @ Y)))

    def primal_value(self, Y: FloatArray) -> float:
        """Return P(Y); hard constraints count as met, see `Envelope.violation`."""
        envelope = self.envelope
        if len(envelope.lower) == 0:
            return self.linear_value(Y)
        values = self.forms.values(Y)
        soft = ~envelope.is_hard
        return self.linear_value(Y) + envelope.part(soft).total(values[soft])

    def dual_value(self, multipliers: FloatArray, block_trace: float = 0.0) -> float:
        """Return D(w, Λ), a bound on the minimum if the slack is positive semidefinite."""
        return block_trace - self.envelope.conjugate_total(multipliers)

    def slack(self, multipliers: FloatArray, block_multipliers: Matrix | None = None) -> Matrix:
        """Return S = C + A*(w) − Λ, of the kind that the cost is (sparse, dense or operator)."""
        cost, adjoint = self.cost, self.forms.adjoint(multipliers)
        if block_multipliers is not None:
            adjoint = adjoint - block_multipliers
        if isinstance(cost, SparseLessSquares) and is_sparse(adjoint):
            return cost.plus(adjoint)
        if isinstance(cost, LinearOperator):
            return cost + aslinearoperator(adjoint)
        if is_sparse(cost) and is_sparse(adjoint):
            return sp.csr_array(cost + adjoint)
        return to_dense(cost) + to_dense(adjoint)


def _orthonormal_range(basis: Matrix) -> FloatArray:
    """Return orthonormal columns that span those of the basis, without its null directions."""
    left, singular, _ = scipy.linalg.svd(to_dense(basis), full_matrices=False)
    tolerance = singular[0] * max(basis.shape) * np.finfo(float).eps
    return np.asarray(left[:, singular > tolerance])


def principal_axes(Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of YᵀY, the largest first, and the rotation of columns to its axes."""
    values, axes = np.linalg.eigh(Y.T @ Y)
    return values[::-1], axes[:, ::-1]


def reflect_off_gauge(rows: Matrix, gauge: FloatArray | None) -> Matrix:
    """Return rows·N with N an orthonormal basis of the complement of a unit vector.

    N is a Householder reflection without the column that it maps the gauge to. A difference of two
    unit vectors stays sparse under it unless it touches that one coordinate.
    """
    if gauge is None:
        return rows
    pivot = int(np.argmin(np.abs(gauge)))
    normal = gauge.copy()
    normal[pivot] += 1.0 if gauge[pivot] >= 0.0 else -1.0
    keep = np.arange(len(gauge)) != pivot
    along = np.asarray(rows @ normal) * (2.0 / float(normal @ normal))
    if not is_sparse(rows):
        return np.asarray(rows[:, keep] - np.outer(along, normal[keep]))
    correction = sp.csr_array(along[:, None]) @ sp.csr_array(normal[None, keep])
    return sp.csr_array(sp.csr_array(rows)[:, keep] - correction)
