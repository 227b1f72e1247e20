"""The lowest eigenpairs of a dual slack, and a rigorous lower bound on its smallest eigenvalue.

Eigenpairs guide the solvers and may be coarse; bounds are proved by a factorization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from isofold._typing import FloatArray, Matrix
from isofold.linalg.ldl import FactorCache, SingularMatrixError, SymmetricFactor
from isofold.sdp.dual.probe import factor_off_gauge, lowest_pairs, probe_slack
from isofold.sdp.forms import is_sparse, to_dense
from isofold.sdp.sparse_less_squares import SparseLessSquares

__all__ = ["Floor", "LowestEigenvalue", "lowest_modes", "modes_from", "proved_floor"]

DENSE_MODES_SIDE = 150
"""Up to this side LAPACK takes a few milliseconds, less than the Lanczos method."""

ACCURACY = 1e-5
"""Relative accuracy asked of the Lanczos method for the inverse of the shifted slack. Close to the
spectrum that is far more than guiding needs."""

INVERSE_STEPS = 2
"""Steps of inverse iteration from directions of negative curvature."""

DEPENDENT = 1e-10
"""Squared length, relative to the largest, below which a combination of unit columns counts as
zero."""

FIRST_DISTANCE = 1e-2
"""How far below zero θ lies at first, in units of the largest entry of S."""

TRIES = 40
"""Shifts tried: each is at least twice the last, so that any spectrum is reached."""


def lowest_modes(
    S: Matrix,
    gauge: FloatArray | None,
    n_modes: int,
    *,
    accuracy: float = ACCURACY,
    near: float | None = None,
    cache: FactorCache | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest eigenpairs of a symmetric matrix on the complement of the gauge."""
    n = S.shape[0]
    n_modes = min(n_modes, n - (gauge is not None))
    if n_modes < 1:
        return np.empty(0), np.empty((n, 0))
    if isinstance(S, SparseLessSquares) and S.is_difference:
        factor, theta = _factor_below(S, gauge, near or FIRST_DISTANCE * S.largest, cache)
    elif isinstance(S, LinearOperator):
        return lowest_pairs(S, gauge, n_modes)
    elif not is_sparse(S) or n <= DENSE_MODES_SIDE:
        return _dense_modes(to_dense(S), gauge, n_modes)
    else:
        factor, theta = _factor_below(sp.csc_array(S), gauge, near, cache)

    def off_gauge(x: FloatArray) -> FloatArray:
        return x if gauge is None else x - gauge * (gauge @ x)

    def inverse(x: FloatArray) -> FloatArray:
        # The factors may carry a border for the gauge.
        padded = np.zeros(factor.shape[0])
        padded[:n] = off_gauge(x.ravel())
        return off_gauge(factor.solve(padded)[:n])

    operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        inverted, vectors = eigsh(operator, k=n_modes, which="LA", tol=accuracy, v0=start, rng=0)
    except ArpackNoConvergence as partial:
        inverted, vectors = partial.eigenvalues, partial.eigenvectors
        if len(inverted) == 0:
            return lowest_pairs(S, gauge, n_modes)
    values = theta + 1.0 / inverted
    order = np.argsort(values)
    return values[order], np.asarray(vectors[:, order])


def modes_from(
    S: Matrix, gauge: FloatArray | None, directions: FloatArray, cache: FactorCache | None
) -> tuple[FloatArray, FloatArray]:
    """Return the eigenpairs of a sparse matrix that directions of negative curvature lead to.

    All together, by two steps of inverse iteration from below the lowest of them: coarse, but many
    at once, where the Lanczos method would separate them one by one.
    """
    values, vectors = _ritz_pairs(S, gauge, directions)
    factor, _ = _factor_below(sp.csc_array(S), gauge, 1.5 * abs(float(values[0])), cache)
    for _ in range(INVERSE_STEPS):
        padded = np.zeros((factor.shape[0], vectors.shape[1]))
        padded[: len(vectors)] = vectors
        values, vectors = _ritz_pairs(S, gauge, factor.solve(padded)[: len(vectors)])
    return values, vectors


def _ritz_pairs(
    S: Matrix, gauge: FloatArray | None, directions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the eigenpairs of a matrix restricted to the span of some columns."""
    columns = directions / np.linalg.norm(directions, axis=0)
    if gauge is not None:
        columns -= gauge[:, None] * (gauge @ columns)
    squares, axes = np.linalg.eigh(columns.T @ columns)
    kept = squares > DEPENDENT * squares[-1]
    axes = axes[:, kept] / np.sqrt(squares[kept])
    small = axes.T @ (columns.T @ np.asarray(S @ columns)) @ axes
    values, rotation = np.linalg.eigh((small + small.T) / 2)
    return values, np.asarray(columns @ (axes @ rotation))


class LowestEigenvalue(NamedTuple):
    """The smallest eigenvalue of a slack before any repair, and how well it is known."""

    value: float
    error: float


@dataclass(frozen=True)
class Floor:
    """A lower bound on the smallest eigenvalue of a matrix off the gauge.

    Parameters
    ----------
    estimate : float
        The smallest eigenvalue, not proved.
    value : float
        A number that no eigenvalue is below, −∞ if none was found.
    margin : float
        The part of estimate − value that every proof has: its rounding, and the least distance
        from a singular matrix.
    is_exact : bool
        Whether no eigenvalue can have been overlooked.
    """

    estimate: float
    value: float
    margin: float
    is_exact: bool

    @property
    def lowest(self) -> LowestEigenvalue:
        """The estimate with its distance from what is proved."""
        return LowestEigenvalue(self.estimate, self.estimate - self.value)


def proved_floor(S: Matrix, gauge: FloatArray | None) -> Floor:
    """Return a lower bound on the smallest eigenvalue of a matrix off the gauge."""
    values, _ = lowest_modes(S, gauge, 1)
    if len(values) == 0 or (not isinstance(S, LinearOperator) and abs(S).max() == 0.0):
        return Floor(0.0, 0.0, 0.0, is_exact=True)
    estimate = float(values[0])
    size = abs(estimate) if isinstance(S, LinearOperator) else float(abs(S).max())
    distance = least = 1e-12 * size + 1e-9 * abs(estimate)
    for _ in range(TRIES):
        probe = probe_slack(S, gauge=gauge, shift=distance - estimate)
        if probe.is_positive:
            value = estimate - distance - probe.margin
            return Floor(estimate, value, least + probe.margin, probe.is_exact)
        distance *= 8.0
    return Floor(estimate, -np.inf, 0.0, is_exact=True)


def _dense_modes(
    S: FloatArray, gauge: FloatArray | None, n_modes: int
) -> tuple[FloatArray, FloatArray]:
    if gauge is not None:
        off = S - np.outer(gauge, gauge @ S)
        off -= np.outer(off @ gauge, gauge)
        # Above Gershgorin's bound: the gauge comes last.
        above = 2.0 * float(np.abs(off).sum(axis=1).max()) or 1.0
        S = off + above * np.outer(gauge, gauge)
    # LAPACK's routine for a subset of them fails on some matrices with repeated eigenvalues.
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    return values[:n_modes], vectors[:, :n_modes]


def _factor_below(
    S: Matrix, gauge: FloatArray | None, near: float | None, cache: FactorCache | None
) -> tuple[SymmetricFactor, float]:
    """Return factors of S − θI with θ below all eigenvalues off the gauge, and θ."""
    theta = -(near or FIRST_DISTANCE * (float(abs(S).max()) or 1.0))
    for _ in range(TRIES):
        try:
            factor, n_negative = factor_off_gauge(S, gauge, -theta, cache)
        except SingularMatrixError:
            theta *= 1.1
            continue
        if n_negative == 0:
            return factor, theta
        theta *= 3.0
    msg = "no shift below the spectrum was found"
    raise SingularMatrixError(msg)
