"""Where an augmented Lagrangian with orthonormal blocks begins: first penalty, first point."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray
from isofold.sdp.dual.probe import probe_slack
from isofold.sdp.dual.spectrum import lowest_modes
from isofold.sdp.envelope import Envelope
from isofold.sdp.program import Program
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["bound_sizes", "first_penalty", "spectral_start", "typical_size"]

FIRST_PENALTY = 1e-3
"""The first penalty in units of the one at which missing a typical bound by all of it has a
multiplier like the cost. Stiff constraints from the start make narrow, curved valleys, in which
steps are short: the bounds are tightened when the patches lie where they belong."""

PENALTY_TRIES, PENALTY_GROWTH = 12, 4.0
"""First penalties tried, and the factor between them: above the last the forms do not hold what
the cost pulls apart."""


def spectral_start(program: Program, rank: int, multipliers: FloatArray) -> FloatArray:
    """Return the lowest eigenvectors of the slack that forms missed by their own size have.

    They are as long as the rows of blocks are on average.
    """
    slack = program.slack(np.where(program.raisable, multipliers, 0.0))
    _, vectors = lowest_modes(slack, program.gauge, rank)
    rows = np.concatenate([np.arange(first, first + size) for first, size in program.blocks])
    typical = float(np.linalg.norm(vectors[rows])) / np.sqrt(len(rows))
    return vectors / typical if typical > 0.0 else vectors


def first_penalty(program: Program, weight: FloatArray) -> float:
    """Return a soft penalty that still holds the free rows together.

    If the cost pulls them apart, the penalty is raised until bounds that are missed by all of their
    size outweigh the cost.
    """
    bounds = bound_sizes(program.envelope)
    penalty = FIRST_PENALTY * program.cost_scale / typical_size(bounds)
    free = StiefelProduct(program.blocks, program.size).free
    if isinstance(program.cost, LinearOperator) or len(free) == 0:
        return penalty
    pull = sp.csr_array(program.cost)[free][:, free]
    hold = sp.csr_array(program.forms.adjoint(weight * bounds * program.raisable))[free][:, free]
    gauge = None if program.gauge is None else program.gauge[free]
    shift = np.sqrt(np.finfo(float).eps) * (float(abs(pull).max()) + 1e-300)
    for growth in PENALTY_GROWTH ** np.arange(PENALTY_TRIES):
        stiff = sp.csr_array(pull + growth * penalty * hold)
        if probe_slack(stiff, gauge=gauge, shift=shift).is_positive:
            return float(growth * penalty)
    return penalty


def bound_sizes(envelope: Envelope) -> FloatArray:
    """Return the magnitude of the upper bound, or of the lower one, of each form."""
    bounds = np.where(np.isfinite(envelope.upper), envelope.upper, envelope.lower)
    return np.abs(np.where(np.isfinite(bounds), bounds, 0.0))


def typical_size(bounds: FloatArray) -> float:
    """Return the mean of the magnitudes of bounds, 1 if all are zero."""
    return float(bounds.mean()) if np.any(bounds) else 1.0
