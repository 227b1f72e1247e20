"""Proofs that no Gram matrix meets the hard constraints.

For every feasible Y and any multipliers w, Σ h_e*(w_e) ≥ Σ w_e g_e = ⟨A*(w), YYᵀ⟩ ≥ tr Λ if A*(w)
− Λ is positive semidefinite. So tr Λ − Σ h_e*(w_e) > 0 is a contradiction: it is a positive bound
on a program whose cost is zero (Farkas' lemma for cones).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, Matrix
from isofold.sdp.dual.repairs import repair_with_blocks
from isofold.sdp.program import Program

__all__ = ["proves_infeasible"]

CONTRADICTION = 1e-7
"""The contradiction must exceed this fraction of the sum of absolute terms: far above rounding, and
below what any constraint that is missed by more than 1e-6 of its size causes."""


def proves_infeasible(
    program: Program, multipliers: FloatArray, block_multipliers: Matrix | None = None
) -> bool:
    """Tell whether multipliers prove that the hard constraints contradict each other."""
    envelope = program.envelope
    w = np.where(envelope.is_hard, envelope.admissible(multipliers), 0.0)
    largest = float(np.abs(w).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return False
    w = w / largest
    blocks = None if block_multipliers is None else sp.csr_array(block_multipliers / largest)
    if blocks is None and len(program.blocks):
        blocks = sp.csr_array((program.size, program.size))
    # Soft constraints cannot contradict anything: without multipliers they cost nothing.
    idle = replace(program, cost=sp.csr_array((program.size, program.size)))
    # Without the cost there may be a common translation that nothing sees.
    idle = idle.with_translation_gauge()
    with np.errstate(invalid="ignore"):
        prices = np.where(w > 0.0, w * envelope.upper, w * envelope.lower)
    prices = np.where(w == 0.0, 0.0, prices)
    terms = float(np.sum(np.abs(prices)))
    terms += 0.0 if blocks is None else float(np.sum(np.abs(blocks.diagonal())))
    return repair_with_blocks(idle, w, blocks)[0].bound(idle) > CONTRADICTION * terms
