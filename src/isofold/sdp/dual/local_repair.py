"""The local repair of a dual bound: multipliers are raised where the slack is negative.

Multipliers w from a primal method leave S = C + A*(w) with a few slightly negative eigenvalues,
each on a small region of the graph. Raising all weights would cost as much as the worst of them
everywhere. Instead each negative mode v, vᵀSv = −θ, is lifted by weights where it lives: the
cheapest ones by least squares with prices u_e (the upper bounds) are

    δw_e = θ·(q_e/u_e) / Σ_f q_f²/u_f,      q_e = vᵀA_e v.

What is left, S ⪰ −ε, is proved by the inertia of S + ε and paid for: by dividing w by 1 − ε/κ where
C = −κI (unfolding), by 1 + ε/κ where C ⪰ κI, by ε times a bound on the trace, or by a uniform
raise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray, Matrix
from isofold.linalg.ldl import FactorCache
from isofold.sdp.dual.probe import SlackProbe, probe_slack
from isofold.sdp.dual.repairs import Repair, best_repair, pay_by_trace
from isofold.sdp.dual.spectrum import LowestEigenvalue, lowest_modes, modes_from, proved_floor
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.sparse_less_squares import SparseLessSquares

__all__ = ["repair_locally"]

EXACT_OVERSHOOT, OVERSHOOT = 1.3, 2.0
"""Modes overlap and move while they are lifted: a little more than θ saves rounds, and more than
that where modes are known roughly, from the factors of a sparse slack."""

LAST_OVERSHOOT = 4.0
"""The same for the last few modes: they are wide and shallow, move on to where nothing was lifted,
and cost next to nothing."""

LOOSE = 1e-2
"""Accuracy of the eigenvectors that guide the repair; the proof does not rest on them."""

NEAR = 0.1
"""Distance of the shift of the Lanczos method below zero, in units of the cost: modes that differ
by less than a tenth of it are hard to tell apart at the loose accuracy."""

FEW = 2
"""Negative modes up to which the Lanczos method is used, which looks for the lowest ones."""

LOWEST_PRICE = 0.05
"""Prices below this fraction of the mean count as that: else free weight would be unlimited."""


def repair_locally(
    program: Program,
    multipliers: FloatArray,
    *,
    tol: float,
    cache: FactorCache | None = None,
    rules: SolverRules = RULES,
) -> tuple[Repair, LowestEigenvalue] | None:
    """Return feasible multipliers near the given ones, None if no repair is known."""
    cache = cache or FactorCache()
    w = program.envelope.admissible(multipliers)
    shift = tol * program.cost_scale
    lowest: LowestEigenvalue | None = None
    for _ in range(rules.repair_rounds):
        slack = program.slack(w)
        probe = probe_slack(
            slack, gauge=program.gauge, shift=shift, cache=cache, n_directions=rules.repair_modes
        )
        if probe.is_positive and lowest is not None:
            break
        values, vectors = _lowest(program, slack, probe, cache, rules.repair_modes)
        if lowest is None:
            first = float(values[0])
            lowest = LowestEigenvalue(first, LOOSE * max(abs(first), shift))
        if probe.is_positive:
            break
        missing = -values + 0.2 * shift
        overshoot = EXACT_OVERSHOOT
        if probe.directions is not None:
            overshoot = OVERSHOOT if np.sum(missing > 0.5 * shift) > FEW else LAST_OVERSHOOT
        w = w + _lift(program, vectors, missing, overshoot, threshold=0.5 * shift)
    else:
        # The modes are too many: pay for the lowest of them everywhere.
        floor = proved_floor(program.slack(w), program.gauge)
        paid = _pay(program, w, max(-floor.value, 0.0), is_exact=floor.is_exact)
        return None if paid is None or lowest is None else (paid, lowest)
    paid = _pay(program, w, shift + probe.margin, is_exact=probe.is_exact)
    return None if paid is None or lowest is None else (paid, lowest)


def _pay(program: Program, w: FloatArray, shift: float, *, is_exact: bool) -> Repair | None:
    """Return the cheapest payment for S ⪰ −shift; for C = −κI the multipliers are scaled."""
    if not np.isfinite(shift):
        return None
    free = Repair(w, None, 0.0, is_exact=is_exact)
    kappa = program.negative_identity
    if kappa is not None and shift < 0.5 * kappa:
        return replace(free, multipliers=w / (1.0 - shift / kappa))
    choices = []
    if program.trace_bound is not None:
        choices.append(replace(pay_by_trace(program, w, None, shift), is_exact=is_exact))
    if _may_be_positive(program):
        cost = proved_floor(program.cost, program.gauge)
        if cost.value > 0.0:
            # S + (ε/κ)·C ⪰ 0 for C ⪰ κ, a multiple of the slack of smaller multipliers.
            smaller = w / (1.0 + shift / cost.value)
            choices.append(replace(free, multipliers=smaller, is_exact=is_exact and cost.is_exact))
    uniform = _uniform_weights(program)
    if uniform is not None:
        choices.append(replace(free, multipliers=w + shift * uniform))
    return best_repair(program, choices) if choices else None


def _may_be_positive(program: Program) -> bool:
    """Tell whether the cost can be positive definite off the gauge, from its trace alone."""
    if isinstance(program.cost, LinearOperator):
        return not isinstance(program.cost, SparseLessSquares)
    trace = float(program.cost.diagonal().sum())
    if program.gauge is not None:
        trace -= float(program.gauge @ (program.cost @ program.gauge))
    return trace > 0.0


def _uniform_weights(program: Program) -> FloatArray | None:
    """Return equal weights ω on positive forms with an upper bound so that ΣωA_e ⪰ I, proved."""
    chosen = program.raisable.astype(np.float64)
    least = proved_floor(program.forms.adjoint(chosen), program.gauge).value
    return chosen / least if least > 0.0 else None


def _lift(
    program: Program,
    vectors: FloatArray,
    missing: FloatArray,
    overshoot: float,
    *,
    threshold: float,
) -> FloatArray:
    """Return weights that raise the given modes by what is missing, and a little more."""
    upper = program.envelope.upper
    bounded = np.isfinite(upper)
    mean = float(np.abs(upper[bounded]).mean()) if np.any(bounded) else 1.0
    price = np.maximum(np.where(bounded, upper, mean), LOWEST_PRICE * mean or 1.0)
    raised = np.zeros(len(upper))
    for k in np.flatnonzero(missing > threshold):
        mode = vectors[:, k : k + 1]
        energy = np.where(bounded, np.maximum(program.forms.values(mode), 0.0), 0.0)
        total = float(np.sum(energy**2 / price))
        if total > 0.0:
            raised = np.maximum(raised, overshoot * missing[k] * (energy / price) / total)
    return raised


def _lowest(
    program: Program, slack: Matrix, probe: SlackProbe, cache: FactorCache, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return the negative modes of the slack, to a loose accuracy."""
    if probe.directions is not None and probe.n_negative > FEW:
        return modes_from(slack, program.gauge, probe.directions, cache)
    wanted = min(max(probe.n_negative + 2, 6), most)
    near = NEAR * program.cost_scale
    return lowest_modes(slack, program.gauge, wanted, accuracy=LOOSE, near=near, cache=cache)
