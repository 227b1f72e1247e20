"""The only maker of certificates: multipliers become a bound on the optimum with its evidence.

Each shape of program has one function that repairs the multipliers of a point (`repairs`,
`local_repair`, `dense_repair`, `blocks`) and states what is then proved:

    certify_blocks          orthonormal blocks and nothing else
    certify_with_blocks     orthonormal blocks together with constraints
    certify_upper_bounds    upper bounds only
    certify_step            equalities and all other bounds, of a step of the method of multipliers
    certify_origin          programs in which no direction improves on Y = 0
    certify_dense           small programs of any shape, by all eigenvalues

A step of the method of multipliers minimizes a smooth problem with penalties centered at w̄. Its
own multipliers, repaired, bound that *shifted* problem by −Σ h*(w) − Σ (w − w̄)²/(2ν) and the posed
one by −Σ h*(w). Where every constraint is met to the tolerance the posed one counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._progress.stages import stage
from isofold._typing import FloatArray, Matrix
from isofold.linalg.ldl import FactorCache
from isofold.sdp.certificate import Certificate, relative_gap
from isofold.sdp.dual.blocks import BlockBound
from isofold.sdp.dual.dense_repair import EIGENVALUE_ULPS, repair_densely
from isofold.sdp.dual.local_repair import repair_locally
from isofold.sdp.dual.probe import DENSE_SIDE
from isofold.sdp.dual.repairs import Repair, repair_upper_bounds, repair_with_blocks, unpaid
from isofold.sdp.dual.spectrum import LowestEigenvalue, proved_floor
from isofold.sdp.envelope import Envelope
from isofold.sdp.forms import to_dense
from isofold.sdp.joint_matrix import JointMatrix
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.stiefel import StiefelProduct

__all__ = [
    "block_multipliers_at",
    "certify_blocks",
    "certify_dense",
    "certify_origin",
    "certify_step",
    "certify_upper_bounds",
    "certify_with_blocks",
]

ROUNDINGS = 64.0
"""Roundings in a sum of products over pairs, with room: errors cancel rather than add up."""

EPS = float(np.finfo(np.float64).eps)


def certify_blocks(
    joint: JointMatrix, bound: BlockBound, Y: FloatArray, value: float
) -> Certificate:
    """Return the certificate of a point with a bound that may come from another point."""
    gram_errors = [
        np.abs(Y[rows] @ Y[rows].swapaxes(1, 2) - np.eye(rows.shape[1])).max()
        for rows in joint.manifold.groups
    ]
    return Certificate(
        multipliers=np.empty(0),
        block_multipliers=joint.manifold.as_sparse(bound.multipliers),
        primal=value,
        dual=bound.dual,
        gap=relative_gap(value, bound.dual),
        min_eigenvalue=bound.min_eigenvalue,
        eigenvalue_error=bound.eigenvalue_error,
        shift=bound.shift,
        max_violation=float(max(gram_errors)),
        rounding_floor=joint.rounding_floor,
        is_exact=True,
        posed_bound=bound.dual,
    )


@stage("certificate")
def certify_with_blocks(
    program: Program,
    Y: FloatArray,
    multipliers: FloatArray,
    block_multipliers: Matrix | None = None,
) -> Certificate:
    """Return the bound that multipliers prove; without Λ it is sym((C + A*(w))YYᵀ) on blocks."""
    w = program.envelope.admissible(multipliers)
    blocks = block_multipliers
    if blocks is None:
        blocks = block_multipliers_at(program, Y, w)
    repair, floor = repair_with_blocks(program, w, blocks)
    terms = abs(program.primal_value(Y)) + float(np.abs(w) @ np.abs(program.forms.values(Y)))
    terms += float(np.sum(np.abs(blocks.diagonal())))
    rounding = EPS * (program.size + len(w)) * terms
    repair = replace(repair, is_exact=floor.is_exact)
    return _certificate(program, Y, repair, floor.lowest, rounding + repair.rounding)


@stage("certificate")
def certify_upper_bounds(program: Program, Y: FloatArray, multipliers: FloatArray) -> Certificate:
    """Return the bound that multipliers of upper bounds prove."""
    w = np.maximum(multipliers, 0.0)
    floor = proved_floor(program.slack(w), program.gauge)
    repair = repair_upper_bounds(
        program,
        w,
        max(-floor.value, 0.0),
        lambda matrix: proved_floor(matrix, program.gauge).value,
        floor.margin,
    )
    # Sums of so many terms, and what the proof of an eigenvalue cannot tell from zero.
    terms = abs(program.primal_value(Y)) + float(np.abs(w) @ np.abs(program.envelope.upper))
    rounding = EPS * (program.size + len(w)) * terms
    repair = replace(repair, is_exact=floor.is_exact)
    return _certificate(program, Y, repair, floor.lowest, rounding + repair.rounding)


@stage("certificate")
def certify_step(
    program: Program,
    Y: FloatArray,
    multipliers: FloatArray,
    envelope: Envelope | None,
    *,
    tol: float,
    cache: FactorCache,
    rules: SolverRules = RULES,
) -> Certificate:
    """Return a valid bound for the step's problem, or for the posed one if that is close.

    The step's problem has the penalties of `envelope`, the posed ones if that is None.
    """
    envelope = envelope or program.envelope
    step = program.with_envelope(envelope)
    values = program.forms.values(Y)
    if not program.has_cost and np.all(program.envelope.is_hard):
        # Any feasible point is optimal, with the value zero: no multipliers prove that.
        repair, lowest = Repair(np.zeros(len(values)), None, 0.0), LowestEigenvalue(0.0, 0.0)
    else:
        repair, lowest = _repair_step(step, multipliers, tol, cache, rules)
    primal, dual = step.primal_value(Y), repair.bound(step)
    posed_primal, posed_dual = program.primal_value(Y), repair.bound(program)
    violation = program.envelope.violation(values)
    # Where every constraint is met to the tolerance the bound of the posed problem counts.
    is_shifted = bool(np.any(program.envelope.is_hard)) and (
        float(violation.max(initial=0.0)) > tol * program.envelope.length_unit
        or relative_gap(posed_primal, posed_dual) > tol
    )
    if not is_shifted:
        primal, dual = posed_primal, posed_dual
    else:
        # Penalties may as well be centered at the repaired multipliers, if that is closer.
        equal = program.envelope.is_hard & program.envelope.is_equality
        center = np.where(equal, repair.multipliers, envelope.center)
        moved = replace(envelope, center=center)
        centered = program.with_envelope(moved)
        ends = centered.primal_value(Y), repair.bound(centered)
        if relative_gap(*ends) < relative_gap(primal, dual):
            (primal, dual), envelope = ends, moved
    terms = float(np.abs(repair.multipliers * values).sum()) + abs(primal)
    posed = _certificate(program, Y, repair, lowest, ROUNDINGS * EPS * terms)
    if not is_shifted:
        return posed
    return replace(
        posed,
        primal=primal,
        dual=dual,
        gap=relative_gap(primal, dual),
        is_shifted=True,
        center=envelope.center,
        penalty=envelope.penalty,
    )


def _repair_step(
    program: Program, w: FloatArray, tol: float, cache: FactorCache, rules: SolverRules
) -> tuple[Repair, LowestEigenvalue]:
    """Return feasible multipliers: by local repair, or for small programs by dense algebra."""
    choices = []
    allowed = rules.repair_fraction * tol
    local = repair_locally(program, w, tol=allowed, cache=cache, rules=rules)
    if local is not None:
        choices.append(local)
    if program.size <= DENSE_SIDE and not isinstance(program.cost, LinearOperator):
        dense = repair_densely(program, w, None)
        if np.isfinite(dense[0].bound(program)):
            choices.append(dense)
    if not choices:
        return unpaid(w, shift=np.inf), LowestEigenvalue(-np.inf, np.inf)
    return max(choices, key=lambda choice: choice[0].bound(program))


def certify_origin(program: Program) -> Certificate:
    """Return the bound at Y = 0, the only point there is or one that no direction improves."""
    values = np.zeros(program.forms.n_forms)
    smooth = program.envelope.augmented(values, np.ones_like(values))
    w = np.where(program.envelope.is_hard, 0.0, smooth.multipliers(values))
    floor = proved_floor(program.cost, program.gauge)
    Y = np.zeros((program.size, 1))
    rounding = ROUNDINGS * EPS * abs(program.primal_value(Y))
    repair = Repair(w, None, 0.0, is_exact=floor.is_exact)
    return _certificate(program, Y, repair, floor.lowest, rounding)


def certify_dense(
    program: Program,
    Y: FloatArray,
    multipliers: FloatArray,
    block_multipliers: Matrix | None = None,
    *,
    zero: tuple[float, float] | None = None,
) -> Certificate:
    """Return the best bound that multipliers prove, by dense algebra: for small programs.

    Where the optimum itself may be zero, `zero` says up to which value it counts as that, and in
    units of which value the gap is then given.
    """
    w = program.envelope.admissible(multipliers)
    repair, lowest = repair_densely(program, w, block_multipliers)
    terms = float(np.linalg.norm(to_dense(program.cost), 2) * np.sum(Y * Y))
    terms += float(np.sum(np.abs(w * program.forms.values(Y))))
    rounding = EIGENVALUE_ULPS * program.size * EPS * terms
    certificate = _certificate(program, Y, repair, lowest, rounding)
    if zero is None or max(abs(certificate.primal), abs(certificate.dual)) > 2.0 * zero[0]:
        return certificate
    gap = abs(certificate.primal - certificate.dual) / (zero[1] or 1.0)
    return replace(certificate, gap=gap, rounding_floor=rounding + zero[0])


def block_multipliers_at(program: Program, Y: FloatArray, w: FloatArray) -> sp.csr_array:
    """Return Λ = sym((C + A*(w))YYᵀ) on the blocks."""
    manifold = StiefelProduct(program.blocks, program.size)
    return manifold.as_sparse(manifold.multipliers(Y, np.asarray(program.slack(w) @ Y)))


def _certificate(
    program: Program,
    Y: FloatArray,
    repair: Repair,
    lowest: LowestEigenvalue,
    rounding_floor: float,
) -> Certificate:
    """Return the certificate of a point with repaired multipliers, for the problem as posed."""
    primal, dual = program.primal_value(Y), repair.bound(program)
    violation = program.envelope.violation(program.forms.values(Y))
    return Certificate(
        multipliers=repair.multipliers,
        block_multipliers=repair.block_multipliers,
        primal=primal,
        dual=dual,
        gap=relative_gap(primal, dual),
        min_eigenvalue=lowest.value,
        eigenvalue_error=lowest.error,
        shift=repair.shift,
        max_violation=float(violation.max(initial=0.0)),
        rounding_floor=rounding_floor,
        is_exact=repair.is_exact,
        posed_bound=dual,
    )
