"""Where the multiplier steps begin: landmark geodesics, and the scale of the multipliers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.linalg import landmark_scaling
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor
from isofold.sdp.forms import PairForms, is_sparse, to_dense
from isofold.sdp.program import Program, principal_axes

__all__ = ["multiplier_scale", "starting_coordinates"]

N_LANDMARKS = 100
"""Points whose geodesic distances locate all others: enough for the coarse shape."""

START_NOISE = 1e-2
"""Spread of the random part of the start in units of the mean constrained length, so that
columns in which the start is flat are not a saddle."""

POWER_STEPS = 15
"""Steps of inverse iteration; for a start the scale is needed to a few per cent only."""

SETTLED = 1e-13
"""Relative change of the scale in one more step from which on it counts as found."""


def starting_coordinates(
    program: Program, rank: int, rng: np.random.Generator, given: FloatArray | None
) -> FloatArray:
    """Return coordinates of `rank` columns: the given ones or landmark geodesics, and noise.

    Lengths are in units in which the mean squared length of a constrained pair is one.
    """
    noise = START_NOISE * rng.standard_normal((program.size, rank))
    if given is not None:
        columns = _leading_columns(given, rank)
    elif isinstance(program.forms, PairForms):
        columns = _landmark_geodesics(program.forms.pairs, program, min(rank, 3), rng)
    else:
        columns = rng.standard_normal((program.size, rank))
    noise[:, : columns.shape[1]] += columns
    return program.center(noise)


def multiplier_scale(
    program: Program, rng: np.random.Generator, *, n_steps: int = POWER_STEPS
) -> float:
    """Return the least uniform weight ω with C + ω·ΣA_e ⪰ 0, about: 1/λ₂ for unfolding.

    It is the largest eigenvalue of the pencil (−C, ΣA_e), found by so many steps of power iteration
    or fewer, if it has settled before.
    """
    total = program.forms.adjoint(np.ones(program.forms.n_forms))
    diagonal = np.abs(np.asarray(total.diagonal()))
    balance = _size_of_cost(program) / max(float(diagonal.mean()), np.finfo(float).tiny)
    ridge = 1e-8 * float(diagonal.mean()) / program.size
    try:
        solve = _solver(total, ridge)
    except (SingularMatrixError, np.linalg.LinAlgError):
        return balance
    x = program.center(rng.standard_normal((program.size, 1)))
    scale = 0.0
    for step in range(n_steps):
        x = program.center(solve(-np.asarray(program.cost @ x)))
        length = float(np.linalg.norm(x))
        if not 0.0 < length < np.inf:
            return balance
        x /= length
        if step >= POWER_STEPS - 1:
            energy, last = float(np.vdot(x, total @ x)), scale
            scale = -program.linear_value(x) / energy if energy > 0.0 else 0.0
            if abs(scale - last) <= SETTLED * abs(scale):
                break
    return scale if scale > 0.0 else balance


def _solver(total: Matrix, ridge: float) -> Callable[[FloatArray], FloatArray]:
    if is_sparse(total):
        identity = sp.eye_array(total.shape[0], format="csr")
        return SymmetricFactor(total + ridge * identity).solve
    inverse = np.linalg.pinv(to_dense(total), hermitian=True)
    return lambda b: np.asarray(inverse @ b)


def _size_of_cost(program: Program) -> float:
    probe = np.ones((program.size, 1)) / np.sqrt(program.size)
    probe[::2] *= -1.0
    return float(np.linalg.norm(program.cost @ probe)) or 1.0


def _leading_columns(given: FloatArray, rank: int) -> FloatArray:
    """Return the coordinates, in their principal axes if there are more than `rank` columns."""
    if given.shape[1] <= rank:
        return given
    return np.asarray(given @ principal_axes(given)[1][:, :rank])


def _landmark_geodesics(
    pairs: IntArray, program: Program, rank: int, rng: np.random.Generator
) -> FloatArray:
    """Return landmark multidimensional scaling of path lengths (de Silva and Tenenbaum 2004)."""
    envelope, n = program.envelope, program.size
    lengths = np.sqrt(np.where(np.isfinite(envelope.upper), envelope.upper, envelope.lower))
    # SciPy's graphs read a stored zero as a missing edge.
    lengths = np.maximum(np.nan_to_num(lengths, posinf=0.0, neginf=0.0), 1e-12)
    graph = sp.csr_array(sp.coo_array((lengths, tuple(pairs.T)), shape=(n, n)))
    if connected_components(graph, directed=False)[0] > 1 or n <= rank:
        return rng.standard_normal((n, rank))
    landmarks = np.sort(rng.choice(n, min(N_LANDMARKS, n), replace=False))
    squares = dijkstra(graph, directed=False, indices=landmarks) ** 2
    return landmark_scaling(squares, landmarks, rank, tol=1e-9)
