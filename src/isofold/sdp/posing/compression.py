"""Soft unfolding in a basis of few vectors, with any number of pairs compressed into a few forms.

With G = ULUᵀ and m columns in U, a soft squared distance is a linear function of the m(m+1)/2
entries l of L, so that all of them together are one quadratic form,

    Σ_e (ν_e/2)(t_e·l - b_e)²  =  Σ_k (λ_k/2)(v_k·l - β_k)² + constant,

where λ_k, v_k are the eigenpairs of Σ_e ν_e t_e t_eᵀ and λ_k β_k = v_k·Σ_e ν_e b_e t_e. One pass
over the pairs is all that depends on their number (Weinberger, Sha, Zhu and Saul 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows, require_memory
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.sdp.forms import PairForms, to_dense
from isofold.sdp.problem import GramSDP, square_constraints
from isofold.sdp.reduction import restated
from isofold.sdp.solution import SDPSolution

__all__ = ["CompressedSDP", "compress"]

NEGLIGIBLE = 1e-12
"""Eigenvalues below this fraction of the largest are rounding of the sum over pairs."""


@dataclass(frozen=True, eq=False)
class CompressedSDP:
    """A program over the coefficients L, and what its value lacks.

    Attributes
    ----------
    problem : GramSDP
        The program of side m.
    constant : float
        The part of the penalties that no L can change: the value of the original program is that
        of `problem` minus this (it is a maximum).
    basis : ndarray of shape (n_points, m)
        The basis U.
    """

    problem: GramSDP
    constant: float
    basis: FloatArray

    def lift(self, solution: SDPSolution) -> SDPSolution:
        """Return a solution of `problem` as one of the original program.

        Its gap stays relative to the value without the constant, which may have either sign.
        """
        return restated(
            solution,
            coordinates=self.basis @ solution.coordinates,
            primal=solution.primal - self.constant,
            dual=solution.dual - self.constant,
            gap=solution.gap,
        )


def compress(problem: GramSDP) -> CompressedSDP:
    """Return an equivalent program whose size does not depend on the number of pairs."""
    constraints = problem.constraints
    if (
        constraints is None
        or not isinstance(constraints.forms, PairForms)
        or problem.basis is None
        or not problem.maximize
        or not np.all(np.isfinite(constraints.penalty) & (constraints.lower == constraints.upper))
    ):
        msg = "Only a maximum in a basis with soft equalities on pairs can be compressed."
        raise InvalidInputError(msg)
    basis = to_dense(problem.basis)
    n_forms = basis.shape[1] * (basis.shape[1] + 1) // 2
    require_memory(
        64 * n_forms * basis.shape[1] ** 2 + 32 * n_forms**2,
        what=f"The program over {basis.shape[1]} functions",
        instead="Use fewer functions (a smaller basis).",
    )
    objective = basis.T @ np.asarray(problem.objective @ basis)
    rows, columns = np.triu_indices(basis.shape[1])
    # Entries off the diagonal count twice in fᵀLf; √2 keeps the product of two matrices.
    scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
    square, linear, constant = _sums(
        constraints.forms.pairs, basis, constraints.upper, constraints.penalty, (rows, columns)
    )
    values, vectors = np.linalg.eigh(square)
    kept = values > NEGLIGIBLE * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    targets = (vectors.T @ linear) / values
    factors, signs, owner = _factored(vectors / scale[:, None], (rows, columns), basis.shape[1])
    small = GramSDP(
        n_points=basis.shape[1],
        objective=sp.csr_array((objective + objective.T) / 2),
        maximize=True,
        constraints=square_constraints(
            factors, lower=targets, upper=targets, penalty=values, signs=signs, owner=owner
        ),
    )
    return CompressedSDP(small, 0.5 * (constant - float(values @ targets**2)), basis)


def _sums(
    pairs: IntArray,
    basis: FloatArray,
    targets: FloatArray,
    weights: FloatArray,
    entries: tuple[IntArray, IntArray],
) -> tuple[FloatArray, FloatArray, float]:
    """Return Σ ν t tᵀ, Σ ν b t and Σ ν b² over all pairs, block by block."""
    rows, columns = entries
    scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
    square, linear = np.zeros((len(rows), len(rows))), np.zeros(len(rows))
    step = block_rows(3 * len(rows) * 8, len(pairs))
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        differences = basis[pairs[part, 0]] - basis[pairs[part, 1]]
        products = differences[:, rows] * differences[:, columns] * scale
        weighted = products * weights[part, None]
        square += weighted.T @ products
        linear += weighted.T @ targets[part]
    return square, linear, float(weights @ targets**2)


def _factored(
    vectors: FloatArray, entries: tuple[IntArray, IntArray], side: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return symmetric matrices, given by their upper entries, as sums of signed squares."""
    n_forms = vectors.shape[1]
    matrices = np.zeros((n_forms, side, side))
    matrices[:, entries[0], entries[1]] = vectors.T
    matrices[:, entries[1], entries[0]] = vectors.T
    values, axes = np.linalg.eigh(matrices)
    factors = np.swapaxes(axes, 1, 2) * np.sqrt(np.abs(values))[:, :, None]
    owner = np.repeat(np.arange(n_forms), side)
    return factors.reshape(-1, side), np.sign(values).ravel(), owner
