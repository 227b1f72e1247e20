"""Repairs of a dual bound: whatever the multipliers, what is reported is a bound, and cheap."""

from dataclasses import replace

import numpy as np
import pytest

from isofold.linalg.ldl import FactorCache
from isofold.sdp.certificate import Certificate
from isofold.sdp.dual.certify import (
    block_multipliers_at,
    certify_dense,
    certify_step,
    certify_upper_bounds,
    certify_with_blocks,
)
from isofold.sdp.dual.local_repair import repair_locally
from isofold.sdp.dual.repairs import Repair, best_repair, pay_by_trace, repair_with_blocks, unpaid
from isofold.sdp.program import Program
from support.quick import quick_first
from support.sdp_problems import path
from support.sdp_random import FAMILIES, mixed, strings

ROUNDING = 1e-9
"""Values of size one, sums of some hundred terms."""


def certify(program, Y, w):
    """Return the certificates of all functions that take a program of this shape."""
    found = [certify_dense(program, Y, w, None)]
    if len(program.blocks):
        found = [certify_with_blocks(program, Y, w)]
    elif np.all(np.isinf(program.envelope.lower) & program.envelope.is_hard):
        found.append(certify_upper_bounds(program, Y, w))
    if not len(program.blocks):
        found.append(certify_step(program, Y, w, None, tol=1e-6, cache=FactorCache()))
    return found


@pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name not in ("stitching", "factors")]
)
@pytest.mark.parametrize("seed", quick_first(range(6)))
def test_any_multipliers_prove_a_bound(family, seed):
    """However wrong they are, the bound lies below the value at a feasible point."""
    rng = np.random.default_rng(seed)
    instance = FAMILIES[family](rng, 8)
    program = Program.of(instance.problem).with_translation_gauge()
    value = program.primal_value(instance.feasible)
    for scale in (1e-3, 1.0, 1e3):
        w = scale * rng.standard_normal(program.forms.n_forms)
        for certificate in certify(program, instance.feasible, w):
            assert isinstance(certificate, Certificate)
            assert certificate.posed_bound <= value + ROUNDING * max(1.0, scale * abs(value))


def test_exact_multipliers_cost_nothing():
    known = path(9)
    program = Program.of(known.problem)
    repair, lowest = repair_locally(program, known.multipliers, tol=1e-9)
    assert repair.is_exact
    assert abs(lowest.value) <= 1e-9
    assert repair.bound(program) == pytest.approx(-known.value, rel=1e-7)
    assert repair.price == 0.0


def test_a_bound_on_the_trace_is_paid_for():
    program = Program.of(path(5).problem)
    w = np.ones(4)
    assert pay_by_trace(program, w, None, 0.5).bound(program) == -np.inf
    known = replace(program, trace_bound=10.0)
    repair = pay_by_trace(known, w, None, 0.5, rounding=1e-3)
    assert (repair.price, repair.shift, repair.rounding) == (5.0, 0.5, 1e-2)
    assert repair.bound(known) == known.dual_value(w) - 5.0


def test_the_best_bound_counts_and_the_first_of_equals():
    program = Program.of(strings(np.random.default_rng(0), 6).problem)
    w = np.ones(program.forms.n_forms)
    cheap, dear = Repair(w, None, 1.0), Repair(w, None, 2.0)
    assert best_repair(program, [dear, cheap]) is cheap
    nothing = [unpaid(w), unpaid(w, shift=1.0)]
    assert best_repair(program, nothing) is nothing[0]


def test_blocks_are_lowered_where_multipliers_are_raised():
    instance = mixed(np.random.default_rng(3), 6)
    program = Program.of(instance.problem)
    w = np.zeros(program.forms.n_forms)
    blocks = block_multipliers_at(program, instance.feasible, w)
    repair, floor = repair_with_blocks(program, w, blocks)
    assert floor.value < 0.0, "a point far from optimal is meant to have a negative slack"
    assert np.isfinite(repair.bound(program))
    slack = program.slack(repair.multipliers, repair.block_multipliers)
    assert np.linalg.eigvalsh(slack)[0] >= -repair.shift - ROUNDING
