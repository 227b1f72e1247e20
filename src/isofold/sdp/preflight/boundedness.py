"""Whether the objective of a program can be improved without end, seen before any iteration.

A direction v of the rows of Y is free if no constraint feels it: it vanishes on orthonormal blocks
and on every factor a_k of a constraint that is bounded on the side to which it grows. Moving along
free directions N, from a feasible Y₀, changes the objective by

    ⟨C, (Y₀ + tvzᵀ)(Y₀ + tvzᵀ)ᵀ⟩ = const + 2t·vᵀCY₀z + t²·vᵀCv,

so the program is unbounded below if C restricted to N has a negative eigenvalue, or if a null
vector of it is coupled to rows that do not vanish. For pairs, N is spanned by the indicators of
the connected components of the graph of pairs with an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.exceptions import ConvergenceError, UnboundedProblemError
from isofold.linalg.ldl import FactorCache, SingularMatrixError
from isofold.sdp.dual.probe import lowest_pairs, probe_slack
from isofold.sdp.forms import FactorForms, PairForms, is_sparse, to_dense
from isofold.sdp.program import Program

__all__ = ["refuse_unbounded"]

ROUNDING = 1e-10
"""Eigenvalues of C on the free directions within so many times its norm count as zero: entries
that are sums of thousands of products carry rounding of some 1e-13, with room."""

KERNEL_SHIFT = 1e-13
"""Shift of inverse iteration for null vectors, in units of the norm: above the rounding of row sums
of a Laplacian (some 1e-15), below the smallest eigenvalue that a chain of 100,000 patches has."""

COUPLING = 1e-4
"""A null direction counts as coupled from so many times the norm of the coupling. Rounding of a
solve with an eigenvalue of 1e-11 next to the null space leaves 1e-16/1e-11 of the rest there."""

DOUBTFUL = 1e-12
"""Eigenvalues of FᵀF below so many times the largest may be rounding of a matrix of side 2,000."""

WEAK_FACTOR = 1e-9
"""Directions on which the factors are so much smaller than their norm count as free: eigenvectors
of FᵀF are right to the roundoff times the ratio of the norm to their singular value, and its own
rounding begins at a ratio of 1e7."""

DENSE_COLUMNS = 2000
"""Up to so many columns the null space of general factors is computed, in about a second."""

DENSE_PRODUCT = 4_000_000_000
"""Multiplications that a null space may cost: about a second."""

FEW_DIRECTIONS = 64
"""Up to so many free directions an operator is applied to all of them, else it is sampled by the
Lanczos method."""

SIZES_SHOWN = 5
"""Sizes of components that a message lists."""


@dataclass(frozen=True, eq=False)
class _FreeDirections:
    """Orthonormal columns that no constraint feels, and how they came about."""

    columns: Matrix
    gauge: FloatArray | None
    component_sizes: IntArray


def refuse_unbounded(program: Program) -> None:
    """Raise an error if a program is seen to be unbounded."""
    free = _free_directions(program)
    if free is None:
        return
    n_directions = free.columns.shape[1] - (free.gauge is not None)
    if n_directions > 0 and _is_unbounded(program, free):
        n_components = max(1, len(free.component_sizes))
        raise UnboundedProblemError(_message(free, n_directions), n_components)


def _free_directions(program: Program) -> _FreeDirections | None:
    forms = program.forms
    if isinstance(forms, PairForms):
        return _free_components(program, forms)
    return _free_null_space(program, forms.squares())


def _free_components(program: Program, forms: PairForms) -> _FreeDirections:
    """Return the indicators of components of pairs bounded from above, without orthonormal rows."""
    n = program.size
    pairs = forms.pairs[np.isfinite(program.envelope.upper)]
    graph = sp.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    n_components, label = connected_components(graph, directed=False)
    sizes = np.bincount(label, minlength=n_components)
    held = np.unique(label[program.orthonormal_rows])
    number = np.full(n_components, -1)
    loose = np.setdiff1d(np.arange(n_components), held)
    number[loose] = np.arange(len(loose))
    rows = np.flatnonzero(number[label] >= 0)
    entries = 1.0 / np.sqrt(sizes[label[rows]])
    columns = sp.csr_array((entries, (rows, number[label[rows]])), shape=(n, len(loose)))
    # A gauge that is constant on components, as the vector of ones is, lies in their span.
    gauge = None if program.gauge is None else np.asarray(columns.T @ program.gauge)
    return _FreeDirections(columns, gauge, sizes)


def _free_null_space(program: Program, forms: FactorForms) -> _FreeDirections | None:
    """Return the null space of the factors of bounded forms; None if it would take too long."""
    n = program.size
    factors = forms.factors[_is_bounding(program, forms)]
    free = np.flatnonzero(~program.orthonormal_rows)
    factors = factors[:, free]
    if len(free) > DENSE_COLUMNS or (
        not is_sparse(factors) and factors.shape[0] * len(free) ** 2 > DENSE_PRODUCT
    ):
        return None
    product = to_dense(factors.T @ factors)
    strongest = float(np.sqrt(np.trace(product)))
    if program.gauge is not None:
        gauge = (strongest or 1.0) * program.gauge[None, free]
        product = product + gauge.T @ gauge
    values, vectors = scipy.linalg.eigh(product)
    # The eigenvalues are squares, so that rounding hides singular values below 1e-7 or so of the
    # largest; those of the factors on the doubtful directions tell what is really there.
    doubtful = vectors[:, values <= DOUBTFUL * float(values.max(initial=0.0))]
    reduced = np.asarray(factors @ doubtful)
    # All right vectors are needed, of the left ones none.
    _, singular, right = scipy.linalg.svd(
        reduced, full_matrices=reduced.shape[0] < reduced.shape[1]
    )
    weak = np.ones(doubtful.shape[1], dtype=bool)
    weak[: len(singular)] = singular <= WEAK_FACTOR * strongest
    columns = np.zeros((n, int(weak.sum())))
    columns[free] = doubtful @ right[weak].T
    return _FreeDirections(columns, None, np.empty(0, dtype=np.intp))


def _is_bounding(program: Program, forms: FactorForms) -> BoolArray:
    """Tell which factors must vanish on a direction that no form feels.

    A sum of squares is felt if it is bounded from above, a negative one if from below. One of
    both signs is taken to be felt if it is bounded at all: a direction may then be overlooked,
    but none is called free that is not.
    """
    envelope = program.envelope
    above, below = np.isfinite(envelope.upper), np.isfinite(envelope.lower)
    positive = np.bincount(forms.owner, forms.signs > 0, minlength=forms.n_forms) > 0
    negative = np.bincount(forms.owner, forms.signs < 0, minlength=forms.n_forms) > 0
    felt = (positive & above) | (negative & below) | (positive & negative & (above | below))
    return np.asarray(felt[forms.owner] & (forms.signs != 0))


def _is_unbounded(program: Program, free: _FreeDirections) -> bool:
    if isinstance(program.cost, LinearOperator):
        return _operator_decreases(program.cost, free)
    image = program.cost @ free.columns
    reduced: Matrix = free.columns.T @ image
    reduced = sp.csr_array(reduced) if is_sparse(reduced) else np.asarray(reduced)
    scale = _norm_on(program.cost, free.columns)
    cache = FactorCache()
    probe = probe_slack(reduced, gauge=free.gauge, shift=ROUNDING * scale, cache=cache)
    if probe.margin > ROUNDING * scale:
        probe = probe_slack(reduced, gauge=free.gauge, shift=2.0 * probe.margin, cache=cache)
    if probe.n_negative > 0:
        return True
    # Hard constraints may hold the rows where a coupling would vanish: nothing is claimed there.
    envelope = program.envelope
    felt = envelope.is_hard & (np.isfinite(envelope.lower) | np.isfinite(envelope.upper))
    if np.any(felt) or free.gauge is not None:
        return False
    coupling = image - free.columns @ reduced
    return _has_coupled_kernel(reduced, coupling.T, scale, cache)


def _norm_on(cost: Matrix, columns: Matrix) -> float:
    """Bound the norm of C on the directions by that of absolute values, as rounding goes by it."""
    sizes = abs(columns)
    totals = sizes.T @ np.asarray(abs(cost) @ np.asarray(sizes.sum(axis=1)).ravel())
    return float(np.max(totals)) or 1.0


def _operator_decreases(cost: LinearOperator, free: _FreeDirections) -> bool:
    columns = free.columns
    n_directions = columns.shape[1]
    if n_directions <= FEW_DIRECTIONS:
        image = np.asarray(cost @ to_dense(columns))
        reduced = np.asarray(columns.T @ image)
        scale = float(np.linalg.norm(image, axis=0).max()) or 1.0
        return probe_slack(reduced, gauge=free.gauge, shift=ROUNDING * scale).n_negative > 0
    operator = LinearOperator(
        (n_directions, n_directions),
        matvec=lambda x: columns.T @ (cost @ (columns @ x)),
        dtype=np.float64,
    )
    try:
        values, _ = lowest_pairs(operator, free.gauge, n_vectors=1)
    except ConvergenceError:
        return False
    # A Ritz value lies above the smallest eigenvalue, so that a negative one proves the case.
    probe = np.random.default_rng(0).standard_normal(n_directions)
    norm = float(np.linalg.norm(operator @ probe) / np.linalg.norm(probe))
    return bool(values[0] < -ROUNDING * norm)


def _has_coupled_kernel(
    reduced: Matrix, coupling: Matrix, scale: float, cache: FactorCache
) -> bool:
    """Tell whether a null vector v of C on the free directions has vᵀC ≠ 0 elsewhere.

    `scale` is the size of C on these directions: a coupling that is rounding beside it is none. One
    random combination of the coupled rows has a part in the null space if any has. Inverse
    iteration takes out all but that part, which alone keeps its length.
    """
    squares = coupling.multiply(coupling) if is_sparse(coupling) else coupling**2
    size = float(np.sqrt(squares.sum()))
    if size <= ROUNDING * scale:
        return False
    shift = KERNEL_SHIFT * scale
    rng = np.random.default_rng(0)
    direction = np.asarray(coupling @ rng.standard_normal(coupling.shape[1]))
    try:
        factor = cache.factor(
            sp.csc_array(reduced) + shift * sp.eye_array(reduced.shape[0], format="csc")
        )
    except SingularMatrixError:
        return False
    lengths = []
    for _ in range(3):
        direction = shift * factor.solve(direction)
        lengths.append(float(np.linalg.norm(direction)))
    return lengths[-1] > COUPLING * size and lengths[-1] > 0.9 * lengths[-2]


def _message(free: _FreeDirections, n_directions: int) -> str:
    sizes = np.sort(free.component_sizes)
    if sizes.max(initial=1) == 1:
        return (
            f"The objective can be improved without end: {n_directions} direction(s) of the rows "
            f"are not bounded by any constraint, and along one of them it gets better and better. "
            f"Such a problem has no solution. Add upper bounds (or equalities), or correct the "
            f"sign of the objective (maximize=...)."
        )
    shown = ", ".join(str(size) for size in sizes[:SIZES_SHOWN])
    more = ", ..." if len(sizes) > SIZES_SHOWN else ""
    return (
        f"The pairs with an upper bound fall into {len(sizes)} components (sizes {shown}{more}). "
        f"Nothing bounds the distances between them, and the objective gets better without end as "
        f"they move apart: the problem has no solution. Connect the graph (more neighbors, or the "
        f"enhanced neighborhood graph), treat the components separately (DisjointMVU), or add "
        f"upper bounds between them."
    )
