"""A program as an interior-point method sees it, and its Schur complement.

All matrices are written off the gauge, with the orthonormal blocks as further equalities,

    minimize  ⟨C, G⟩ + Σ (ν_e/2)·dist(⟨A_e, G⟩, [l_e, u_e])²        G ⪰ 0,  ν_e = ∞ if hard.

A step of the method of Helmberg, Kojima and Monteiro solves a system with the Schur complement
T_ef = ⟨A_e, G A_f S⁻¹⟩. For squares, A_e = a_e a_eᵀ, it is the entrywise product of aᵀGa and
aᵀS⁻¹a, which costs two products of matrices (Benson, Ye and Zhang 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.sdp.forms import FactorForms, is_sparse, to_dense
from isofold.sdp.program import Program, reflect_off_gauge

__all__ = ["IntervalEnds", "PathSystem", "block_forms"]

STACKED = 4
"""Squares for each form from which its matrix is written out instead: their pairs would cost the
square of this more."""


@dataclass(frozen=True, eq=False)
class PathSystem:
    """Cost, forms and bounds of a program, off its gauge.

    Parameters
    ----------
    cost : ndarray of shape (side, side)
        The matrix C.
    forms : FactorForms
        The forms of the program, then those of the blocks.
    lower, upper : ndarray of shape (n_forms,)
        The bounds, in units that make the upper one, if there is one, the unit unless it is zero.
    softness : ndarray of shape (n_forms,)
        1/ν_e; zero for a hard constraint.
    units : ndarray of shape (n_forms,)
        What forms and bounds were divided by; multipliers are larger by the same factor.
    n_given : int
        How many forms are those of the program.
    """

    cost: FloatArray
    forms: FactorForms
    lower: FloatArray
    upper: FloatArray
    softness: FloatArray
    units: FloatArray
    n_given: int

    @classmethod
    def of(cls, program: Program) -> PathSystem:
        """Return the system of a program."""
        given, blocks = program.forms.squares(), block_forms(program)
        n_given, n_blocks = given.n_forms, blocks.n_forms
        factors = given.factors
        if n_blocks:
            factors = sp.vstack([sp.csr_array(factors), blocks.factors], format="csr")
        owner = np.concatenate([given.owner, n_given + blocks.owner])
        envelope, of_blocks = program.envelope, _block_targets(blocks)
        targets = np.concatenate([envelope.targets, of_blocks])
        units = np.where(targets != 0.0, np.abs(targets), 1.0)
        softness = np.concatenate([1.0 / envelope.penalty, np.zeros(n_blocks)])
        forms = FactorForms(
            factors=reflect_off_gauge(_scaled(factors, 1.0 / np.sqrt(units[owner])), program.gauge),
            signs=np.concatenate([given.signs, blocks.signs]),
            owner=owner,
            n_forms=n_given + n_blocks,
        )
        cost = reflect_off_gauge(to_dense(program.cost), program.gauge)
        cost = reflect_off_gauge(cost.T, program.gauge)
        return cls(
            cost=(cost + cost.T) / 2,
            forms=forms,
            lower=np.concatenate([envelope.lower, of_blocks]) / units,
            upper=np.concatenate([envelope.upper, of_blocks]) / units,
            softness=softness / units**2,
            units=units,
            n_given=n_given,
        )

    def given_multipliers(self, multipliers: FloatArray) -> FloatArray:
        """Return the multipliers of the program's forms in its own units."""
        return (multipliers / self.units)[: self.n_given]

    def block_multipliers(self, multipliers: FloatArray) -> FloatArray:
        """Return the multipliers of the entries of blocks."""
        return (multipliers / self.units)[self.n_given :]

    @cached_property
    def targets(self) -> FloatArray:
        """The upper bound of every form, the lower one if there is none."""
        return np.where(np.isfinite(self.upper), self.upper, self.lower)

    @cached_property
    def is_equality(self) -> BoolArray:
        """Which forms have a value rather than bounds."""
        return np.equal(self.lower, self.upper)

    @cached_property
    def ends(self) -> IntervalEnds:
        """The finite bounds of forms that are no equalities, upper ones first."""
        above = np.flatnonzero(~self.is_equality & np.isfinite(self.upper))
        below = np.flatnonzero(~self.is_equality & np.isfinite(self.lower))
        form = np.concatenate([above, below])
        signs = np.repeat([1.0, -1.0], [len(above), len(below)])
        return IntervalEnds(form, signs, np.concatenate([self.upper[above], self.lower[below]]))

    @property
    def side(self) -> int:
        """The side of the Gram matrix off the gauge."""
        return len(self.cost)

    @property
    def value_scale(self) -> float:
        """What soft equalities cost at G = 0; the sum of targets if none are soft."""
        soft = self.softness > 0.0
        price = 0.5 * float(np.sum(self.targets[soft] ** 2 / self.softness[soft]))
        return price if np.any(soft) else float(np.abs(self.targets).sum())

    def values(self, G: FloatArray) -> FloatArray:
        """Return ⟨A_e, G⟩ for a symmetric matrix, definite or not."""
        if self._stack is not None:
            return np.asarray(self._stack.reshape(len(self.targets), -1) @ G.ravel())
        F = self.forms.factors
        image = np.asarray(F @ G)
        squares = F.multiply(image).sum(axis=1) if is_sparse(F) else np.sum(F * image, axis=1)
        return np.asarray(self._collect @ np.asarray(squares).ravel())

    def adjoint(self, weights: FloatArray) -> Matrix:
        """Return Σ w_e A_e, sparse where the forms are."""
        if self._stack is not None:
            return np.asarray(np.tensordot(weights, self._stack, axes=1))
        return self.forms.adjoint(weights)

    def slack(self, multipliers: FloatArray) -> FloatArray:
        """Return S = C + Σ w_e A_e."""
        return self.cost + to_dense(self.adjoint(multipliers))

    def schur(self, G: FloatArray, inverse_slack: FloatArray) -> FloatArray:
        """Return T_ef = ⟨A_e, G A_f S⁻¹⟩, symmetric and positive semidefinite."""
        if self._stack is not None:
            images = G @ self._stack @ inverse_slack
            n = len(self.targets)
            T = self._stack.reshape(n, -1) @ images.reshape(n, -1).T
            return np.asarray((T + T.T) / 2)
        F = self.forms.factors
        T = np.asarray((F @ G) @ F.T)
        T *= np.asarray((F @ inverse_slack) @ F.T)
        if not self._is_plain:
            T = self._collect @ (self._collect @ T.T).T
        return np.asarray((T + T.T) / 2)

    def missed(self, values: FloatArray) -> FloatArray:
        """Return how far each value lies outside of its bounds."""
        return np.maximum(np.maximum(self.lower - values, values - self.upper), 0.0)

    def primal(self, G: FloatArray, values: FloatArray) -> float:
        """Return the value at a Gram matrix; hard constraints count as met."""
        soft = self.softness > 0.0
        price = float(np.sum(self.missed(values)[soft] ** 2 / self.softness[soft]))
        return float(np.vdot(self.cost, G)) + 0.5 * price

    def dual(self, multipliers: FloatArray) -> float:
        """Return the bound that multipliers with a positive semidefinite slack prove."""
        price = np.where(multipliers < 0.0, self.lower, self.upper)
        price = np.where(multipliers == 0.0, 0.0, price)
        return -float(price @ multipliers + 0.5 * (self.softness @ multipliers**2))

    @cached_property
    def _is_plain(self) -> bool:
        return self.forms.factors.shape[0] == self.forms.n_forms and bool(
            np.all(self.forms.signs == 1.0)
            and np.all(self.forms.owner == np.arange(self.forms.n_forms))
        )

    @cached_property
    def _collect(self) -> sp.csr_array:
        """The matrix that sums signed squares to forms."""
        n_factors = self.forms.factors.shape[0]
        indices = (self.forms.owner, np.arange(n_factors))
        return sp.csr_array((self.forms.signs, indices), shape=(self.forms.n_forms, n_factors))

    @cached_property
    def _stack(self) -> FloatArray | None:
        """The matrices A_e themselves where they have many squares."""
        F, n = self.forms.factors, self.forms.n_forms
        if F.shape[0] < STACKED * max(n, 1):
            return None
        dense, matrices = to_dense(F), np.zeros((n, self.side, self.side))
        for form in range(n):
            own = self.forms.owner == form
            matrices[form] = (dense[own] * self.forms.signs[own, None]).T @ dense[own]
        return matrices


@dataclass(frozen=True, eq=False)
class IntervalEnds:
    """Bounds ±g_e ≤ ±b_e on forms, one for every finite end of an interval.

    Parameters
    ----------
    form : ndarray of int
        The form e.
    signs : ndarray
        One for an upper bound, −1 for a lower one.
    bounds : ndarray
        The numbers b_e.
    """

    form: IntArray
    signs: FloatArray
    bounds: FloatArray


def _scaled(factors: Matrix, by: FloatArray) -> Matrix:
    """Return factors with their rows multiplied."""
    if is_sparse(factors):
        return sp.csr_array(sp.diags_array(by) @ factors)
    return by[:, None] * factors


def block_forms(program: Program) -> FactorForms:
    """Return squares that span the entries of the diagonal blocks: of e_a, and of e_a + e_b."""
    pairs = np.array(
        [
            (a, b)
            for first, size in program.blocks
            for a in range(first, first + size)
            for b in range(a, first + size)
        ],
        dtype=np.intp,
    ).reshape(-1, 2)
    own = pairs[:, 0] == pairs[:, 1]
    form = np.arange(len(pairs))
    rows = np.concatenate([form, form[~own]])
    columns = np.concatenate([pairs[:, 0], pairs[~own, 1]])
    entries = sp.csr_array((np.ones(len(rows)), (rows, columns)), (len(pairs), program.size))
    return FactorForms(entries, np.ones(len(pairs)), form, len(pairs))


def _block_targets(forms: FactorForms) -> FloatArray:
    """Return the squared lengths of the combinations of orthonormal rows."""
    return np.asarray(forms.factors.multiply(forms.factors).sum(axis=1), dtype=np.float64).ravel()
