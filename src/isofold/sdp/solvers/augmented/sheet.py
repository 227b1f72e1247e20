"""A start for kept lengths on a sheet: the map in two columns, by elastic least squares.

In all columns at once the large scales of a sheet take a hundred iterations, since a preconditioner
that treats every coordinate alone sees lengths along the axes only. In the two columns that a sheet
needs the whole matrix of least squares, 4·Σ νs δδᵀ ⊗ A_e with the differences δ of the pairs, is
that of an elastic net: sparse and soon factored, and with it L-BFGS takes twenty steps. Two steps
of multipliers then leave lengths that are nearly kept, and multipliers in equilibrium.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg.ldl import FactorCache
from isofold.sdp.forms import PairForms, is_sparse
from isofold.sdp.program import Program, principal_axes
from isofold.sdp.solvers.augmented.lbfgs import Point, evaluate, minimize

__all__ = ["Net", "flat_start"]

COLUMNS = 2
"""Columns of a sheet."""

OTHER_VARIANCE = 0.02
"""Fraction of the variance that landmark geodesics of a sheet have beyond two columns, at most: a
hundred of them leave 0.003 on rolls. Clouds of more dimensions have a tenth and more, and their
factors would fill."""

STEPS, ROUNDS, ROUND = 2, 4, 10
"""Steps of multipliers, elastic factors in each at most, and iterations with each."""

SETTLED = 1e-2
"""Residual at which a step ends: chords of a bent sheet keep it from being flat exactly."""

FLAT = 5e-3
"""Median error of lengths up to which points are a sheet. With the usual penalty the second step
leaves 5e-4; graphs that are no sheet have several per cent."""


def flat_start(
    program: Program, Y: FloatArray, weights: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return two columns and multipliers of kept lengths, None if the points are no sheet.

    `ridge` is the multiplier that springs without tension have, so that no point is loose.
    """
    forms, envelope = program.forms, program.envelope
    if not isinstance(forms, PairForms) or not is_sparse(program.cost):
        return None
    kept = bool(np.all(envelope.is_hard & envelope.is_equality))
    variances, axes = principal_axes(Y)
    if (
        not kept
        or Y.shape[1] < COLUMNS
        or variances[COLUMNS:].sum() > OTHER_VARIANCE * sum(variances)
    ):
        return None
    flat: FloatArray = Y @ axes[:, :COLUMNS]
    center: FloatArray = np.zeros(forms.n_forms)
    net, cache = Net(forms), FactorCache()
    for _ in range(STEPS):
        step = program.with_envelope(envelope.augmented(center, weights))
        point = evaluate(step, flat)
        for _ in range(ROUNDS):
            tension = 2.0 * (np.maximum(point.multipliers, 0.0) + ridge)
            point = _minimized(step, point, net, tension, 4.0 * weights, cache)
            if point.residual <= SETTLED:
                break
        flat, center = point.Y, point.multipliers
    lengths = np.sqrt(point.values / np.maximum(envelope.upper, np.finfo(float).tiny))
    return (flat, center) if np.median(np.abs(lengths - 1.0)) <= FLAT else None


def _minimized(
    step: Program,
    point: Point,
    net: Net,
    tension: FloatArray,
    stiffness: FloatArray,
    cache: FactorCache,
) -> Point:
    """Return the point after some iterations with elastic factors at the first one."""
    matrix = net.matrix(point.Y, tension, stiffness)
    ridge = 0.2 * step.cost_scale * sp.eye_array(matrix.shape[0], format="csc")
    factor = cache.factor(matrix + ridge)

    def precondition(gradient: FloatArray) -> FloatArray:
        return factor.solve(gradient.ravel()).reshape(gradient.shape)

    points = minimize(step, point, max_iter=ROUND, residual_tol=SETTLED, precondition=precondition)
    return reduce(lambda _, following: following, points, point)


class Net:
    """Elastic matrices of the pairs; all of them share one sparsity pattern."""

    def __init__(self, forms: PairForms) -> None:
        self._forms = forms
        n, (i, j) = forms.size, forms.pairs.T
        self._first, self._second = i, j
        ends = np.arange(n)
        rows = np.concatenate([ends, i, j])
        columns = np.concatenate([ends, j, i])
        order = np.lexsort((columns, rows))
        self._order = order
        self._indices = columns[order]
        self._indptr = np.searchsorted(rows[order], np.arange(n + 1))

    def matrix(self, Y: FloatArray, tension: FloatArray, stiffness: FloatArray) -> sp.csc_array:
        """Return Σ (tension·I + stiffness·δδᵀ) ⊗ A_e, points first."""
        n, r = Y.shape
        delta = Y[self._first] - Y[self._second]
        springs = stiffness[:, None, None] * delta[:, :, None] * delta[:, None, :]
        springs += tension[:, None, None] * np.eye(r)
        diagonal = np.empty((n, r, r))
        for a in range(r):
            for b in range(r):
                diagonal[:, a, b] = np.bincount(self._first, springs[:, a, b], minlength=n)
                diagonal[:, a, b] += np.bincount(self._second, springs[:, a, b], minlength=n)
        blocks = np.concatenate([diagonal, -springs, -springs])[self._order]
        shape = (n * r, n * r)
        return sp.csc_array(sp.bsr_array((blocks, self._indices, self._indptr), shape=shape))
