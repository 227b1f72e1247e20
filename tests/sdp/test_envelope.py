"""Constraint functions: derivatives by differences, conjugates by Fenchel and Young."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.sdp.envelope import Envelope

STEP = 1e-5
"""Central differences of a piecewise quadratic function are exact up to rounding, 1e-16/STEP."""

SLOPE_TOL = 1e-8
"""Rounding of values near 30 divided by the step, with room."""

CURVATURE_TOL = 1e-4
"""The same divided by the step once more."""

ROUNDING = 1e-12
"""Sums of a few numbers below a hundred."""

KINDS = {
    "equality": (2.0, 2.0),
    "at most": (-np.inf, 2.0),
    "at least": (2.0, np.inf),
    "interval": (1.0, 3.0),
    "nothing": (-np.inf, np.inf),
}
each_kind = pytest.mark.parametrize("bounds", KINDS.values(), ids=KINDS.keys())
VALUES = np.array([-1.3, 0.4, 1.4, 2.3, 2.9, 3.7, 6.1])


def envelope(bounds, n, *, penalty, center=0.0):
    lower, upper = bounds
    return Envelope(*(np.full(n, float(x)) for x in (lower, upper, penalty, center)))


def squared_distance(values, bounds):
    lower, upper = bounds
    return np.maximum(np.maximum(lower - values, values - upper), 0.0) ** 2


@each_kind
@pytest.mark.parametrize("center", [0.0, 1.1, -0.7])
def test_multipliers_and_curvature_are_derivatives(bounds, center):
    psi = envelope(bounds, len(VALUES), penalty=1.7, center=center)
    for k in range(len(VALUES)):
        single = envelope(bounds, 1, penalty=1.7, center=center)
        g = VALUES[k : k + 1]
        up, here, down = (single.total(g + step) for step in (STEP, 0.0, -STEP))
        assert psi.multipliers(VALUES)[k] == pytest.approx((up - down) / (2 * STEP), abs=SLOPE_TOL)
        second = (single.multipliers(g + STEP) - single.multipliers(g - STEP)) / (2 * STEP)
        assert psi.curvature(VALUES)[k] == pytest.approx(second[0], abs=CURVATURE_TOL)
        assert np.isfinite(here)


@each_kind
def test_a_soft_constraint_pays_half_the_squared_distance(bounds):
    psi = envelope(bounds, len(VALUES), penalty=0.8)
    expected = 0.4 * np.sum(squared_distance(VALUES, bounds))
    assert psi.total(VALUES) == pytest.approx(expected, abs=ROUNDING)


@each_kind
@given(g=st.floats(-5, 5), w=st.floats(-5, 5), penalty=st.floats(0.1, 10), center=st.floats(-3, 3))
def test_fenchel_young(bounds, g, w, penalty, center):
    psi = envelope(bounds, 1, penalty=penalty, center=center)
    values, own = np.array([g]), psi.multipliers(np.array([g]))
    # Values up to 5·penalty·5 and their products: rounding of numbers up to some thousands.
    rounding = 1e-10
    equality = psi.total(values) + psi.conjugate_total(own) - own[0] * g
    assert abs(equality) <= rounding
    assert psi.total(values) + psi.conjugate_total(np.array([w])) >= w * g - rounding


@each_kind
def test_fenchel_young_of_hard_constraints(bounds):
    """The indicator of the interval is zero inside: there h*(w) ≥ w·g."""
    hard = envelope(bounds, 1, penalty=np.inf)
    lower, upper = np.clip(bounds, -10.0, 10.0)
    for g in np.linspace(lower, upper, 5):
        for w in (-2.0, -0.1, 0.0, 0.3, 4.0):
            assert hard.conjugate_total(np.array([w])) >= w * g - ROUNDING


def test_a_multiplier_on_an_absent_bound_costs_everything_and_is_dropped():
    hard = Envelope(
        np.array([-np.inf, 1.0]), np.array([2.0, np.inf]), np.full(2, np.inf), np.zeros(2)
    )
    assert hard.conjugate_total(np.array([-1.0, 0.0])) == np.inf
    assert hard.conjugate_total(np.array([0.0, 1.0])) == np.inf
    assert hard.conjugate_total(np.array([1.0, -1.0])) == 2.0 - 1.0
    np.testing.assert_array_equal(hard.admissible(np.array([-1.0, 1.0])), [0.0, 0.0])
    np.testing.assert_array_equal(hard.admissible(np.array([3.0, -4.0])), [3.0, -4.0])


def test_augmenting_touches_hard_constraints_only():
    mixed = Envelope(np.ones(2), np.ones(2), np.array([np.inf, 5.0]), np.zeros(2))
    smooth = mixed.augmented(np.array([0.5, 0.5]), np.array([2.0, 2.0]))
    np.testing.assert_array_equal(smooth.penalty, [2.0, 5.0])
    np.testing.assert_array_equal(smooth.center, [0.5, 0.0])
    np.testing.assert_allclose(smooth.multipliers(np.array([1.5, 1.5])), [1.5, 2.5])


def test_an_augmented_bound_is_the_projected_multiplier_step():
    smooth = envelope((-np.inf, 2.0), 3, penalty=2.0, center=1.0)
    np.testing.assert_allclose(smooth.multipliers(np.array([3.0, 1.9, 0.0])), [3.0, 0.8, 0.0])


def test_violation_counts_hard_constraints_only():
    mixed = Envelope(np.zeros(3), np.ones(3), np.array([np.inf, 1.0, np.inf]), np.zeros(3))
    np.testing.assert_allclose(mixed.violation(np.array([3.0, 3.0, -0.5])), [2.0, 0.0, 0.5])
