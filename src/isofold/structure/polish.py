"""The last steps of a refinement: Gauss and Newton with damping, in sparse matrices.

Around a structure the residuals are those of violated intervals, √w (|y_i - y_j| - bound), and of
shapes, √w (Y_g - P R - t) with the frame eliminated. To first order, a motion of the points changes
the residual of a group by (I - Π) dY_g, where Π projects onto its rigid motions. So the matrix of a
step is a sum of small blocks: w (I - Π) for a group and w u uᵀ for a pair with direction u.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor
from isofold.structure.energy import Intervals, Shapes, Volumes
from isofold.structure.terms import Terms

__all__ = ["pair_jacobian", "polish"]

CONVERGED = 1e-12
"""Relative decrease of the energy at which steps end."""

EXACT = 1e-28
"""Energy per point at which everything is met to rounding."""


def polish(terms: Terms, Y: FloatArray, weight: float, max_steps: int) -> tuple[FloatArray, float]:
    """Return points after some damped steps of Gauss and Newton, and their energy."""
    n, d = Y.shape
    free = np.setdiff1d(np.arange(n), terms.anchors)
    columns = (free[:, None] * d + np.arange(d)).ravel()
    energy, gradient = _evaluate(terms, Y, weight)
    damping = 1e-3
    for _ in range(max_steps):
        if not len(free) or energy <= EXACT * n:
            break
        matrix = _matrix(terms, Y, weight)[columns][:, columns]
        slope = gradient.ravel()[columns]
        before = energy
        for _ in range(6):
            step = np.zeros(n * d)
            try:
                damped = matrix + damping * sp.eye_array(len(columns))
                step[columns] = -SymmetricFactor(damped).solve(slope / 2.0)
            except SingularMatrixError:
                damping *= 10.0
                continue
            trial = Y + step.reshape(n, d)
            trial_energy, trial_gradient = _evaluate(terms, trial, weight)
            if trial_energy < energy:
                Y, energy, gradient = trial, trial_energy, trial_gradient
                damping = max(0.1 * damping, 1e-12)
                break
            damping *= 10.0
        if before - energy <= CONVERGED * before:
            break
    return Y, energy


def _evaluate(terms: Terms, Y: FloatArray, weight: float) -> tuple[float, FloatArray]:
    """Return the energy with groups as shapes, and its gradient."""
    gradient = np.zeros_like(Y)
    energy = sum(term.add(Y, gradient) for term in terms.rigid(Y, weight))
    return float(energy), gradient


def _matrix(terms: Terms, Y: FloatArray, weight: float) -> sp.csr_array:
    """Return the matrix of a step: half the Hessian without second derivatives of residuals."""
    matrix = sp.csr_array((Y.size, Y.size))
    for term in terms.rigid(Y, weight):
        if isinstance(term, Intervals):
            matrix = matrix + _of_pairs(term, Y)
        elif isinstance(term, Shapes):
            matrix = matrix + _of_shapes(term, Y)
        elif isinstance(term, Volumes) and len(term.corners):
            matrix = matrix + _of_volumes(term, Y)
    return matrix


def _of_pairs(term: Intervals, Y: FloatArray) -> sp.csr_array:
    """Return the matrix of intervals that are violated, or have no inside."""
    jacobian = pair_jacobian(term, Y)
    return sp.csr_array(jacobian.T @ jacobian)


def pair_jacobian(term: Intervals, Y: FloatArray) -> sp.csr_array:
    """Return √w times the derivatives of lengths that are violated, or known, by coordinates."""
    n, d = Y.shape
    lengths = term.lengths(Y)
    active = (lengths > term.upper) | (lengths < term.lower) | (term.lower == term.upper)
    active &= lengths > 0.0
    pairs, weights = term.pairs[active], term.weights[active]
    apart = (Y[pairs[:, 0]] - Y[pairs[:, 1]]) / lengths[active, None]
    rows = np.repeat(np.arange(len(pairs)), 2 * d)
    columns = (pairs[:, :, None] * d + np.arange(d)).ravel()
    values = np.stack([apart, -apart], axis=1) * np.sqrt(weights)[:, None, None]
    return sp.csr_array((values.ravel(), (rows, columns)), shape=(len(pairs), n * d))


def _of_volumes(term: Volumes, Y: FloatArray) -> sp.csr_array:
    """Return the matrix of signed volumes."""
    n, d = Y.shape
    m = len(term.corners)
    rows, columns, values = [], [], []
    for k in range(m):
        # The gradient of one squared volume is 2 (volume - given) times that of the volume.
        one = Volumes(term.corners[k : k + 1], term.found(Y)[k : k + 1] - 0.5)
        slope = np.zeros_like(Y)
        one.add(Y, slope)
        points = np.repeat(term.corners[k], d) * d + np.tile(np.arange(d), d + 1)
        rows.append(np.full(len(points), k))
        columns.append(points)
        values.append(np.sqrt(term.weight) * slope.ravel()[points])
    entries = (np.concatenate(rows), np.concatenate(columns))
    jacobian = sp.csr_array((np.concatenate(values), entries), shape=(m, n * d))
    return sp.csr_array(jacobian.T @ jacobian)


def _of_shapes(term: Shapes, Y: FloatArray) -> sp.csr_array:
    """Return the matrix of shapes: all motions of a group but its rigid ones cost."""
    n, d = Y.shape
    posed = term.posed(Y)
    rows, columns, values = [], [], []
    sizes = np.diff(term.begin)
    for size in np.unique(sizes):
        groups = np.flatnonzero(sizes == size)
        entries = term.begin[groups][:, None] + np.arange(size)
        where = posed[entries]
        where = where - where.mean(axis=1, keepdims=True)
        stiff = np.eye(size * d) - _rigid_projectors(where)
        numbers = (term.members[entries][:, :, None] * d + np.arange(d)).reshape(len(groups), -1)
        shape = stiff.shape
        rows.append(np.broadcast_to(numbers[:, :, None], shape).ravel())
        columns.append(np.broadcast_to(numbers[:, None, :], shape).ravel())
        values.append(term.weight * stiff.ravel())
    if not rows:
        return sp.csr_array((n * d, n * d))
    index = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array((np.concatenate(values), index), shape=(n * d, n * d))


def _rigid_projectors(where: FloatArray) -> FloatArray:
    """Return the projectors onto shifts and rotations of centered groups of one size."""
    m, size, d = where.shape
    shifts = np.broadcast_to(np.tile(np.eye(d), (size, 1)), (m, size * d, d)) / np.sqrt(size)
    turns = []
    for a in range(d):
        for b in range(a + 1, d):
            turn = np.zeros((m, size, d))
            turn[:, :, a], turn[:, :, b] = -where[:, :, b], where[:, :, a]
            turns.append(turn.reshape(m, -1))
    left, extents, _ = np.linalg.svd(np.stack(turns, axis=2), full_matrices=False)
    # A straight group has no rotation about itself.
    left = left * (extents > 1e-9 * extents[:, :1])[:, None, :]
    return np.asarray(shifts @ shifts.transpose(0, 2, 1) + left @ left.transpose(0, 2, 1))
