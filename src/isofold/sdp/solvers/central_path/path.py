"""The central path of a program, followed with predictor and corrector.

On the path G S = μI with S = C + Σ w_e A_e and ⟨A_e, G⟩ = b_e + w_e/ν_e. A bound ±z ≤ ±b on
z = ⟨A_e, G⟩ − w_e/ν_e has the room s = ±b ∓ z and the price y, with sy = μ and w_e = Σ ±y. The
multipliers always have a positive definite slack, so that every one of them proves a bound; the
Gram matrix meets its constraints better and better (Helmberg, Rendl, Vanderbei and Wolkowicz 1996;
Mehrotra 1992). Room and price are eliminated from a step: dw = h + D dz with D = Σ y/s, so that
1/D adds to the diagonal of the Schur complement as 1/ν does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from isofold._typing import FloatArray, Matrix
from isofold.sdp.dual.probe import DENSE_SIDE
from isofold.sdp.forms import to_dense
from isofold.sdp.solvers.central_path.system import PathSystem

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

REACH_ACCURACY, REACH_STEPS = 1e-2, 20
"""Relative accuracy of how far a large matrix may go, less than what is kept from the border, and
restarts of the Lanczos method after which all eigenvalues are computed."""

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


_Direction: TypeAlias = tuple[FloatArray, Matrix, FloatArray, FloatArray, FloatArray]
"""Changes of Gram matrix, slack, multipliers, room and price."""


@dataclass(frozen=True, eq=False)
class _State:
    """Gram matrix and multipliers, and room and price of every bound that is no equality."""

    G: FloatArray
    w: FloatArray
    room: FloatArray
    price: FloatArray


def central_path(system: PathSystem) -> Iterator[PathPoint]:
    """Yield points that come nearer to the optimum until rounding ends it."""
    state = _start(system)
    hard = system.softness == 0.0
    while state is not None:
        G, w = state.G, state.w
        if not np.all(np.isfinite(w)) or float(np.abs(w).max(initial=0.0)) >= LARGEST:
            return
        S, values = system.slack(w), system.values(G)
        missed = float(system.missed(values)[hard].max(initial=0.0))
        yield PathPoint(G, S, w, system.primal(G, values), system.dual(w), missed)
        state = _step(system, state, S, values)


def _start(system: PathSystem) -> _State | None:
    """Return a multiple of the identity, and multipliers with a positive definite slack."""
    found = _first_point(system)
    if found is None:
        return None
    G, w = found
    ends, values = system.ends, system.values(G)
    z = (values - system.softness * w)[ends.form]
    room = np.maximum(ends.signs * (ends.bounds - z), np.abs(z) + np.abs(ends.bounds))
    room = np.where(room > 0.0, room, 1.0)
    mu = float(np.vdot(G, system.slack(w))) / system.side
    # Upper bounds pay for the multipliers that hold the slack, all as much as it bears.
    holding = np.where(ends.signs > 0.0, w[ends.form], 0.0)
    for _ in range(START_TRIES):
        price = holding + mu / room
        prices = np.where(system.is_equality, w, _collected(system, ends.signs * price))
        if _root(system.slack(prices)) is not None:
            return _State(G, prices, room, price)
        mu /= START_GROWTH
    return None


def _first_point(system: PathSystem) -> tuple[FloatArray, FloatArray] | None:
    """Return a multiple of the identity, and multipliers, not negative, that hold the slack."""
    if system.side == 0:
        return None
    unit = np.eye(system.side)
    sizes = system.values(unit)
    level = float(system.targets @ sizes) / (float(sizes @ sizes) or 1.0)
    # Targets that are not positive on average tell nothing of the size.
    level = level if level > 0.0 else float(np.abs(system.targets).max(initial=0.0)) or 1.0
    size = float(np.abs(system.cost).max()) or 1.0
    for weights in _holding(system, sizes):
        hold = to_dense(system.adjoint(weights))
        t = size / (float(np.abs(hold).max()) or 1.0)
        for _ in range(START_TRIES):
            if _root(system.cost + t * hold) is not None:
                return START_SIZE * system.side * level * unit, START_GROWTH * t * weights
            t *= START_GROWTH
    return None


def _holding(system: PathSystem, sizes: FloatArray) -> Iterator[FloatArray]:
    """Yield multipliers whose forms may add up to a positive definite matrix."""
    # What has no upper bound cannot hold.
    positive = (system.targets > 0.0) & np.isfinite(system.upper)
    yield np.where(positive, 1.0 / np.where(positive, system.targets, 1.0), 0.0)
    soft = (system.softness > 0.0) & np.isfinite(system.upper)
    yield np.where(soft, system.targets / np.where(soft, system.softness, 1.0), positive)
    if len(system.ends.form):
        return
    # The matrix in the span of the forms that is nearest to the identity.
    unit = np.eye(system.side)
    yield scipy.linalg.lstsq(system.schur(unit, unit), sizes, check_finite=False)[0]


def _step(system: PathSystem, state: _State, S: FloatArray, values: FloatArray) -> _State | None:
    """Return the next point, None if no step can be computed."""
    G, w, room, price = state.G, state.w, state.room, state.price
    root_G, root_S = _root(G), _root(S)
    if root_G is None or root_S is None:
        return None
    ends = system.ends
    inverse = _inverse(root_S)
    stiffness = _collected(system, price / room)
    give = np.divide(1.0, stiffness, out=np.zeros_like(stiffness), where=stiffness > 0.0)
    solve = _solver(system.schur(G, inverse), system.softness + give)
    if solve is None:
        return None
    z = values - system.softness * w
    short = ends.signs * (ends.bounds - z[ends.form]) - room
    missing = np.where(system.is_equality, z - system.targets, 0.0)

    def direction(rest: FloatArray, wanted: FloatArray) -> _Direction:
        pull = _collected(system, ends.signs * (wanted - price * short) / room)
        dw = solve(missing + system.values(rest) + give * pull)
        dS = system.adjoint(dw)
        product = (dS @ G).T @ inverse
        dz = give * (dw - pull)
        d_room = short - ends.signs * dz[ends.form]
        d_price = (wanted - price * d_room) / room
        return rest - (product + product.T) / 2, dS, dw, d_room, d_price

    degree = system.side + len(room)
    mu = (float(np.vdot(G, S)) + float(room @ price)) / degree
    dG, dS, dw, d_room, d_price = direction(-G, -room * price)
    primal_step = min(_reach(root_G, dG), _reach_of(room, d_room))
    dual_step = min(_reach(root_S, dS), _reach_of(price, d_price))
    ahead = float(np.vdot(G + primal_step * dG, S))
    ahead += dual_step * float(dw @ system.values(G + primal_step * dG))
    ahead += float((room + primal_step * d_room) @ (price + dual_step * d_price))
    centering = min(1.0, max(ahead / degree / mu, 0.0) ** 2)
    second = (dS @ dG).T @ inverse
    dG, dS, dw, d_room, d_price = direction(
        centering * mu * inverse - G - (second + second.T) / 2,
        centering * mu - room * price - d_room * d_price,
    )
    primal_step = min(_reach(root_G, dG), _reach_of(room, d_room))
    dual_step = min(_reach(root_S, dS), _reach_of(price, d_price))
    if max(primal_step, dual_step) < SHORT:
        return None
    moved = G + primal_step * dG
    return _State(
        (moved + moved.T) / 2,
        w + dual_step * dw,
        room + primal_step * d_room,
        price + dual_step * d_price,
    )


def _collected(system: PathSystem, numbers: FloatArray) -> FloatArray:
    """Return the sums of numbers of bounds for every form."""
    return np.bincount(system.ends.form, numbers, minlength=len(system.upper)).astype(np.float64)


def _reach_of(numbers: FloatArray, change: FloatArray) -> float:
    """Return how far along a change positive numbers stay so, at most one."""
    lowest = float(np.min(change / numbers, initial=0.0))
    return 1.0 if lowest >= -TO_THE_BORDER else TO_THE_BORDER / -lowest


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


def _inverse(root: FloatArray) -> FloatArray:
    """Return the inverse of a matrix from its lower Cholesky factor."""
    lower = np.tril(scipy.linalg.lapack.dpotri(root, lower=1)[0])
    return np.asarray(lower + np.tril(lower, -1).T)


def _reach(root: FloatArray, change: Matrix) -> float:
    """Return how far along a change a positive definite matrix stays so, at most one."""
    lowest = _lowest_after(root, to_dense(change))
    return 1.0 if lowest >= -TO_THE_BORDER else TO_THE_BORDER / -lowest


def _lowest_after(root: FloatArray, change: FloatArray) -> float:
    """Return the lowest eigenvalue of L⁻¹AL⁻ᵀ, of large matrices to a fraction of its size."""

    def halved(x: FloatArray, *, transposed: bool) -> FloatArray:
        trans: Literal["T", "N"] = "T" if transposed else "N"
        solved = scipy.linalg.solve_triangular(root, x, lower=True, trans=trans, check_finite=False)
        return np.asarray(solved)

    side = len(root)
    if side > DENSE_SIDE:
        operator = LinearOperator(
            (side, side),
            matvec=lambda x: halved(change @ halved(x, transposed=True), transposed=False),
            dtype=np.float64,
        )
        start = np.random.default_rng(0).standard_normal(side)
        with suppress(ArpackNoConvergence):
            found = eigsh(
                operator, k=1, which="SA", tol=REACH_ACCURACY, v0=start, rng=0, maxiter=REACH_STEPS
            )
            return float(found[0][0])
    scaled = halved(halved(change, transposed=False).T, transposed=False)
    symmetric = (scaled + scaled.T) / 2
    return float(scipy.linalg.eigvalsh(symmetric, subset_by_index=(0, 0))[0])
