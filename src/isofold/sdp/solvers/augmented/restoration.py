"""Lengths kept finely: Newton's method on Σ s(g − b)² from coordinates that nearly keep them.

Multiplier steps leave a bent sheet with median errors of 1e-4: exact chords need it to bend in
further columns, whose stiffness comes only from their own small amplitude, so that first-order
steps creep. The Hessian 2·Σ s(g − b) I ⊗ A_e + 4·Σ s δδᵀ ⊗ A_e knows it, in all columns at once;
with a multiple of I that makes it positive definite it is factored by dense fronts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg.fronts import Elimination, FrontalFactor
from isofold.linalg.ldl import SingularMatrixError
from isofold.sdp.forms import PairForms
from isofold.sdp.program import Program
from isofold.sdp.solvers.augmented.sheet import Net

__all__ = ["keep_lengths"]

FACTORS = 300
"""Factors at most. A roll of 2,000 points needs a little more than half for errors of 1e-5."""

FIRST_RIDGE, LEAST_RIDGE = 1e-3, 1e-9
"""The multiple of I, in units of weights times squared lengths."""

STIFFER, LOOSER = 3.0, 0.3
"""How the ridge changes after a step that failed, and after one as good as predicted."""

GOOD, BAD = 0.7, 0.3
"""Ratios of the decrease to the predicted one from which a step counts as good, below as bad."""


def keep_lengths(program: Program, Y: FloatArray, weights: FloatArray) -> Iterator[FloatArray]:
    """Yield coordinates of decreasing error of all lengths, until no more can be gained.

    Lengths are in units of their mean; the weights s are relative.
    """
    forms, targets = program.forms, program.envelope.targets
    if not isinstance(forms, PairForms):
        return
    net, size = Net(forms), Y.size
    graph = forms.adjoint(np.ones(forms.n_forms))
    analysis, unit = Elimination.of(graph), np.repeat(np.arange(forms.size), Y.shape[1])
    factor: FrontalFactor | None = None
    ridge = FIRST_RIDGE
    excess = forms.values(Y) - targets
    for _ in range(FACTORS):
        w = weights * excess
        matrix = net.matrix(Y, 2.0 * w, 4.0 * weights) + ridge * sp.eye_array(size, format="csc")
        try:
            if factor is None:
                factor = FrontalFactor(matrix, analysis, unit)
            else:
                factor.refactor(matrix)
        except SingularMatrixError:
            ridge *= STIFFER
            continue
        if factor.n_negative:
            ridge *= STIFFER
            continue
        gradient = 2.0 * (forms.adjoint(w) @ Y)
        step = -factor.solve(gradient.ravel()).reshape(Y.shape)
        following = program.center(Y + step)
        change = forms.values(following) - targets
        gain = 0.5 * float(weights @ (excess**2 - change**2))
        ratio = gain / max(-0.5 * float(np.vdot(gradient, step)), np.finfo(float).tiny)
        ridge *= LOOSER if ratio > GOOD else STIFFER if ratio < BAD else 1.0
        ridge = max(ridge, LEAST_RIDGE)
        if gain > 0.0:
            Y, excess = following, change
            yield Y
