"""Semidefinite programs over a Gram matrix, as data: the frozen `GramSDP`.

    minimize (or maximize)  ⟨C, G⟩                       over G ⪰ 0, G = YYᵀ
    subject to              l_e ≤ ⟨A_e, G⟩ ≤ u_e          hard, or (ν_e/2)·dist(·, [l_e, u_e])²
                            G_BB = I                      for given diagonal blocks B
                            G·1 = 0                       if centered
                            G = QLQᵀ                      if a basis Q is given

Rows of Y are points, or the rows of rotations (blocks), or translations and other free rows. An
objective that is a Schur complement, K = L_X − Z L_G⁺ Zᵀ, is posed by the sparse joint matrix
C = [[L_X, Z], [Zᵀ, L_G]] whose second part are free rows: minimizing over them gives K.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.exceptions import InvalidInputError
from isofold.sdp._checks import (
    as_floats,
    check_basis,
    check_blocks,
    check_bounds,
    check_factors,
    check_objective,
    check_pairs,
    check_squared_distances,
    check_trace_bound,
)
from isofold.sdp.envelope import Envelope
from isofold.sdp.forms import FactorForms, Forms, PairForms, no_forms

__all__ = ["Constraints", "GramSDP", "square_constraints"]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Linear constraints l_e ≤ ⟨A_e, G⟩ ≤ u_e on a Gram matrix, hard or soft.

    Build it with `Constraints.on_pairs` (squared distances) or `square_constraints` (sums of
    squares).

    Parameters
    ----------
    forms : Forms
        The matrices A_e.
    lower, upper : ndarray of shape (n_forms,)
        The bounds; equal for an equality, infinite where there is none.
    penalty : ndarray of shape (n_forms,)
        The weights ν_e of soft constraints; infinite for hard ones.
    """

    forms: Forms
    lower: FloatArray
    upper: FloatArray
    penalty: FloatArray

    @classmethod
    def on_pairs(
        cls,
        n_points: int,
        pairs: Any,
        *,
        lower: Any = None,
        upper: Any = None,
        penalty: Any = None,
    ) -> Constraints:
        """Return bounds on the squared distances of pairs of points.

        Parameters
        ----------
        n_points : int
            The number of points.
        pairs : array-like of shape (n_pairs, 2)
            Two different points each. A pair may come more than once; all its bounds count.
        lower, upper : array-like of shape (n_pairs,), float or None, default=None
            Bounds on the squared distances; the same for an equality, None for none.
        penalty : array-like of shape (n_pairs,), float or None, default=None
            Weights ν of soft constraints; None (or infinite) for hard ones.

        Returns
        -------
        Constraints
            The bounds, checked.

        Raises
        ------
        InvalidInputError
            If a pair is out of range or joins a point to itself, or a bound makes no sense.
        """
        edges = check_pairs(pairs, n_points)
        bounds = check_bounds(len(edges), lower, upper, penalty)
        check_squared_distances(bounds[1])
        return cls(PairForms(edges, n_points), *bounds)

    @property
    def envelope(self) -> Envelope:
        """The functions that the constraints add to the objective."""
        return Envelope(self.lower, self.upper, self.penalty, np.zeros(len(self.lower)))


def square_constraints(
    factors: Any,
    *,
    lower: Any = None,
    upper: Any = None,
    penalty: Any = None,
    signs: Any = None,
    owner: Any = None,
) -> Constraints:
    """Return bounds on Σ s_k ‖a_kᵀY‖², one sum for each owner.

    Parameters
    ----------
    factors : array-like or sparse matrix of shape (n_factors, n_points)
        The vectors a_k as rows.
    lower, upper : array-like of shape (n_forms,), float or None, default=None
        Bounds on the sums; the same for an equality, None for none.
    penalty : array-like of shape (n_forms,), float or None, default=None
        Weights ν of soft constraints; None (or infinite) for hard ones.
    signs : array-like of shape (n_factors,) or None, default=None
        The numbers s_k; 1 if None.
    owner : array-like of int of shape (n_factors,) or None, default=None
        To which sum each factor belongs; each to its own if None.

    Returns
    -------
    Constraints
        The bounds, checked.

    Raises
    ------
    InvalidInputError
        If shapes disagree, an entry is not finite, or a bound makes no sense.
    """
    matrix = check_factors(factors)
    n_factors = matrix.shape[0]
    signs = np.ones(n_factors) if signs is None else as_floats(signs, name="signs")
    owner = np.arange(n_factors) if owner is None else np.asarray(owner)
    if signs.shape != (n_factors,) or owner.shape != (n_factors,) or not np.all(np.isfinite(signs)):
        msg = f"signs and owner must hold one entry for each of the {n_factors} factors."
        raise InvalidInputError(msg)
    if owner.dtype.kind not in "iu" or (n_factors and owner.min() < 0):
        msg = "owner must hold the numbers of forms, 0, 1, 2, ..."
        raise InvalidInputError(msg)
    n_forms = int(owner.max()) + 1 if n_factors else 0
    bounds = check_bounds(n_forms, lower, upper, penalty)
    forms = FactorForms(matrix, signs, owner.astype(np.intp), n_forms)
    return Constraints(forms, *bounds)


@dataclass(frozen=True, eq=False)
class GramSDP:
    """A semidefinite program over a Gram matrix, validated; see the module for the formula.

    Parameters
    ----------
    n_points : int
        The side of the Gram matrix.
    objective : sparse matrix, ndarray or LinearOperator of shape (n_points, n_points)
        The symmetric matrix C.
    maximize : bool, default=False
        Whether ⟨C, G⟩ is to be large rather than small.
    constraints : Constraints or None, default=None
        Bounds on squared distances or other forms.
    blocks : array-like of shape (n_blocks, 2) or None, default=None
        First row and size of each block that must be orthonormal. Rows outside of all blocks are
        free.
    basis : ndarray or sparse matrix of shape (n_points, k) or None, default=None
        The matrix Q, if the Gram matrix is QLQᵀ.
    centered : bool, default=False
        Whether the points have mean zero.
    trace_bound : float or None, default=None
        A number that the trace of some optimal G is known not to exceed. It turns an almost
        feasible dual point into a bound. With blocks and no free rows it need not be given.

    Raises
    ------
    InvalidInputError
        If shapes disagree, entries are not finite, or parts cannot be combined.

    Examples
    --------
    The path of three points with unit steps unfolds into a line.

    >>> from isofold.sdp import GramSDP, LowRankSDP
    >>> problem = GramSDP.unfolding(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> solution = LowRankSDP(tol=1e-6, random_state=0).solve(problem)
    >>> round(solution.primal, 4), solution.rank, solution.status.name
    (2.0, 1, 'CERTIFIED')
    """

    n_points: int
    objective: Matrix = field(repr=False)
    maximize: bool = False
    constraints: Constraints | None = field(default=None, repr=False)
    blocks: IntArray | None = field(default=None, repr=False)
    basis: Matrix | None = field(default=None, repr=False)
    centered: bool = False
    trace_bound: float | None = None

    def __post_init__(self) -> None:
        n = self.n_points
        object.__setattr__(self, "objective", check_objective(self.objective, n))
        object.__setattr__(self, "blocks", check_blocks(self.blocks, n))
        object.__setattr__(self, "basis", check_basis(self.basis, n))
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            msg = (
                f"constraints is of type {type(self.constraints).__name__}. Build it with "
                f"Constraints.on_pairs or square_constraints."
            )
            raise InvalidInputError(msg)
        if self.constraints is not None and self.constraints.forms.size != n:
            msg = (
                f"The constraints are on {self.constraints.forms.size} points, but the problem "
                f"has {n}. Build them for the same points."
            )
            raise InvalidInputError(msg)
        if self.n_blocks and (self.basis is not None or self.centered):
            msg = (
                "Orthonormal blocks cannot be combined with a basis or with centering: both would "
                "mix rows of different blocks. Put the basis into the objective and constraints "
                "(QᵀCQ, square_constraints(F @ Q)), and leave translations as free rows."
            )
            raise InvalidInputError(msg)
        object.__setattr__(self, "trace_bound", check_trace_bound(self.trace_bound))

    @classmethod
    def unfolding(
        cls,
        n_points: int,
        pairs: Any,
        squared_distances: Any,
        *,
        kind: Literal["equal", "at_most", "at_least"] = "equal",
        penalty: Any = None,
        objective: Matrix | None = None,
        basis: Matrix | None = None,
    ) -> GramSDP:
        """Return maximum variance unfolding: max tr G, centered, with given distances of pairs.

        Parameters
        ----------
        n_points : int
            The number of points.
        pairs : array-like of shape (n_pairs, 2)
            The pairs whose distances are given.
        squared_distances : array-like of shape (n_pairs,)
            Their squared distances.
        kind : {"equal", "at_most", "at_least"}, default="equal"
            Whether the distances are kept, bounded from above or from below.
        penalty : array-like of shape (n_pairs,), float or None, default=None
            Weights ν of soft constraints; None for hard ones.
        objective : matrix of shape (n_points, n_points) or None, default=None
            What to maximize instead of the trace, for example HKH for colored unfolding.
        basis : matrix of shape (n_points, k) or None, default=None
            A basis for landmark or Laplacian unfolding.

        Returns
        -------
        GramSDP
            The program.

        Raises
        ------
        InvalidInputError
            If the pairs or distances make no sense.
        """
        if kind not in ("equal", "at_most", "at_least"):
            msg = f"kind={kind!r} must be 'equal', 'at_most' or 'at_least'."
            raise InvalidInputError(msg)
        given = as_floats(squared_distances, name="squared_distances")
        constraints = Constraints.on_pairs(
            n_points,
            pairs,
            lower=None if kind == "at_most" else given,
            upper=None if kind == "at_least" else given,
            penalty=penalty,
        )
        return cls(
            n_points=n_points,
            objective=sp.eye_array(n_points, format="csr") if objective is None else objective,
            maximize=True,
            constraints=constraints,
            basis=basis,
            centered=True,
        )

    @classmethod
    def stitching(cls, objective: Matrix, blocks: Any) -> GramSDP:
        """Return the alignment of patches: min ⟨C, G⟩ with orthonormal blocks, others free.

        Parameters
        ----------
        objective : sparse matrix of shape (n_rows, n_rows)
            The joint matrix of rotations and translations, or the rotations' matrix K alone.
        blocks : array-like of shape (n_blocks, 2)
            First row and size of the rotation of each patch.

        Returns
        -------
        GramSDP
            The program.

        Raises
        ------
        InvalidInputError
            If the blocks overlap or leave the matrix.
        """
        n_rows = np.shape(objective)[0] if np.ndim(objective) else 0
        return cls(n_points=n_rows, objective=objective, blocks=blocks)

    @property
    def n_blocks(self) -> int:
        """The number of orthonormal blocks."""
        return 0 if self.blocks is None else len(self.blocks)

    @property
    def forms(self) -> Forms:
        """The matrices of the constraints; an empty list if there are none."""
        return no_forms(self.n_points) if self.constraints is None else self.constraints.forms

    @property
    def sign(self) -> float:
        """−1 if the objective is maximized: the factor that turns it into a minimum."""
        return -1.0 if self.maximize else 1.0

    @property
    def has_operator(self) -> bool:
        """Whether the objective is known only by its products with vectors."""
        return isinstance(self.objective, LinearOperator)
