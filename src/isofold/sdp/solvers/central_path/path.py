"""The central path of a system of equalities, followed with predictor and corrector.

On the path G S = μI with S = C + Σ w_e A_e and ⟨A_e, G⟩ = b_e + w_e/ν_e. The multipliers always
have a positive definite slack, so that every one of them proves a bound; the Gram matrix meets its
equalities better and better (Helmberg, Rendl, Vanderbei and Wolkowicz 1996; Mehrotra 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from isofold._typing import FloatArray
from isofold.sdp.solvers.central_path.system import EqualitySystem

__all__ = ["PathPoint", "central_path"]

TO_THE_BORDER = 0.95
"""Fraction of the distance to the border of the cone that a step may go."""

START_SIZE = 10.0
"""The first Gram matrix in units of the identity that meets the targets on average, times the side:
one that is too small sticks to the border of the cone."""

START_TRIES, START_GROWTH = 60, 2.0
"""First multipliers tried, all alike, and the factor between them."""

JITTER, JITTER_GROWTH, MOST_JITTER = 1e-15, 100.0, 1e-6
"""What is added to the diagonal of the Schur complement, relative to it, if rounding has made it
indefinite: at first, the factor between tries, and where to give up."""

LARGEST = 1e100
"""Multipliers beyond this have no square: an optimum that is not attained sends them off."""

SHORT = 1e-6
"""Steps of this length lead nowhere: only rounding is left."""


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A point near the central path.

    Parameters
    ----------
    G, S : ndarray of shape (side, side)
        Gram matrix and slack, both positive definite.
    multipliers : ndarray of shape (n_forms,)
        The multipliers whose slack S is.
    primal, dual : float
        The two values; the dual one is a bound on the minimum.
    missed : float
        How far the worst hard equality is missed, relative to its target.
    """

    G: FloatArray
    S: FloatArray
    multipliers: FloatArray
    primal: float
    dual: float
    missed: float


def central_path(system: EqualitySystem) -> Iterator[PathPoint]:
    """Yield points that come nearer to the optimum until rounding ends it."""
    start = _start(system)
    if start is None:
        return
    G, w = start
    while np.all(np.isfinite(w)) and float(np.abs(w).max(initial=0.0)) < LARGEST:
        S, values = system.slack(w), system.values(G)
        missed = np.abs(values - system.targets)[system.softness == 0.0].max(initial=0.0)
        primal, dual = system.primal(G, values), system.dual(w)
        yield PathPoint(G, S, w, primal, dual, float(missed))
        step = _step(system, G, S, w, values)
        if step is None:
            return
        G, w = step


def _start(system: EqualitySystem) -> tuple[FloatArray, FloatArray] | None:
    """Return a multiple of the identity, and multipliers with a positive definite slack."""
    if system.side == 0:
        return None
    unit = np.eye(system.side)
    sizes = system.values(unit)
    level = float(system.targets @ sizes) / (float(sizes @ sizes) or 1.0)
    # Targets that are not positive on average tell nothing of the size.
    level = level if level > 0.0 else float(np.abs(system.targets).max(initial=0.0)) or 1.0
    size = float(np.abs(system.cost).max()) or 1.0
    for weights in _holding(system, sizes):
        hold = system.adjoint(weights)
        t = size / (float(np.abs(hold).max()) or 1.0)
        for _ in range(START_TRIES if _root(hold) is not None else 1):
            if _root(system.cost + t * hold) is not None:
                return START_SIZE * system.side * level * unit, START_GROWTH * t * weights
            t *= START_GROWTH
    return None


def _holding(system: EqualitySystem, sizes: FloatArray) -> Iterator[FloatArray]:
    """Yield multipliers whose forms may add up to a positive definite matrix."""
    positive = system.targets > 0.0
    yield np.where(positive, 1.0 / np.where(positive, system.targets, 1.0), 0.0)
    soft = system.softness > 0.0
    yield np.where(soft, system.targets / np.where(soft, system.softness, 1.0), positive)
    # The matrix in the span of the forms that is nearest to the identity.
    unit = np.eye(system.side)
    yield scipy.linalg.lstsq(system.schur(unit, unit), sizes, check_finite=False)[0]


def _step(
    system: EqualitySystem, G: FloatArray, S: FloatArray, w: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return the next point, None if no step can be computed."""
    root_G, root_S = _root(G), _root(S)
    if root_G is None or root_S is None:
        return None
    unit = np.eye(system.side)
    inverse = scipy.linalg.cho_solve((root_S, True), unit, check_finite=False)
    solve = _solver(system.schur(G, inverse), system.softness)
    if solve is None:
        return None

    def direction(rest: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        missing = values + system.values(rest) - system.targets - system.softness * w
        dw = solve(missing)
        dS = system.adjoint(dw)
        product = G @ dS @ inverse
        return rest - (product + product.T) / 2, dS, dw

    mu = float(np.vdot(G, S)) / system.side
    dG, dS, _ = direction(-G)
    primal_step, dual_step = _reach(root_G, dG), _reach(root_S, dS)
    ahead = float(np.vdot(G + primal_step * dG, S + dual_step * dS)) / system.side
    centering = min(1.0, max(ahead / mu, 0.0) ** 2)
    second = dG @ dS @ inverse
    dG, dS, dw = direction(centering * mu * inverse - G - (second + second.T) / 2)
    primal_step, dual_step = _reach(root_G, dG), _reach(root_S, dS)
    if max(primal_step, dual_step) < SHORT:
        return None
    moved = G + primal_step * dG
    return (moved + moved.T) / 2, w + dual_step * dw


def _root(matrix: FloatArray) -> FloatArray | None:
    try:
        return np.asarray(scipy.linalg.cholesky(matrix, lower=True, check_finite=False))
    except scipy.linalg.LinAlgError:
        return None


def _solver(schur: FloatArray, softness: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    """Return r ↦ (T + diag(1/ν))⁻¹ r."""
    diagonal = schur.diagonal() + softness
    mean = float(diagonal.mean()) if len(diagonal) else 1.0
    jitter = JITTER
    while jitter <= MOST_JITTER:
        matrix = schur.copy()
        # Forms that vanish, as between points that are one, have no diagonal of their own.
        matrix[np.diag_indices_from(matrix)] = diagonal + jitter * np.maximum(diagonal, mean)
        try:
            factor = scipy.linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            jitter *= JITTER_GROWTH
            continue
        return lambda r: np.asarray(scipy.linalg.cho_solve(factor, r, check_finite=False))
    return None


def _reach(root: FloatArray, change: FloatArray) -> float:
    """Return how far along a change a positive definite matrix stays so, at most one."""
    half = scipy.linalg.solve_triangular(root, change, lower=True, check_finite=False)
    scaled = scipy.linalg.solve_triangular(root, half.T, lower=True, check_finite=False)
    lowest = float(scipy.linalg.eigvalsh((scaled + scaled.T) / 2, subset_by_index=(0, 0))[0])
    return 1.0 if lowest >= -TO_THE_BORDER else TO_THE_BORDER / -lowest
