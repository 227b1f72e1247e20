"""More dimensions for what does not fit: circles and cylinders say how many they need."""

import numpy as np
import pytest

from isofold.stitching.relaxation import Relaxation, relax, relax_if_loose
from isofold.stitching.rules import RULES
from support.ipa_cases import grid, half_cylinder, rectangle, ring, stitched

# Variances of a circle's axes are one half each; patches are some degrees wide.
CIRCLE = 0.05


@pytest.fixture(scope="module")
def circle():
    return stitched(ring(120), 1)


@pytest.fixture(scope="module")
def circle_relaxed(circle):
    return relax_if_loose(circle.points, circle.map, circle.plan)


def test_circle_needs_two_dimensions(circle_relaxed):
    assert circle_relaxed.n_dimensions == 2
    assert circle_relaxed.ratio > 2
    np.testing.assert_allclose(circle_relaxed.spectrum[:2], 0.5, atol=CIRCLE)
    np.testing.assert_allclose(circle_relaxed.spectrum[2:], 0.0, atol=1e-6)


def test_more_dimensions_never_fit_worse(circle, circle_relaxed):
    assert circle_relaxed.misfit <= circle_relaxed.narrow_misfit
    piece = circle.map.components[0]
    again = relax(piece.cover, piece.charts, circle.plan.solver)
    assert again.misfit <= piece.alignment.misfit
    assert (np.diff(again.spectrum) <= 1e-12).all()
    assert (again.spectrum >= 0).all()


def test_many_patches_are_made_fewer():
    found = stitched(ring(500), 1)
    assert found.map.components[0].cover.n_patches > RULES.most_relaxed
    relaxed = relax_if_loose(found.points, found.map, found.plan)
    assert relaxed.n_dimensions == 2
    np.testing.assert_allclose(relaxed.spectrum[:2], 0.5, atol=CIRCLE)


def test_cylinder_needs_three_dimensions():
    angle, height = rectangle(400, (2 * np.pi, 4.0)).T
    found = stitched(np.column_stack([np.cos(angle), np.sin(angle), height]))
    relaxed = relax_if_loose(found.points, found.map, found.plan)
    assert relaxed.n_dimensions == 3
    # 4²/12 along, and one half each across.
    np.testing.assert_allclose(relaxed.spectrum[:3], [16 / 12, 0.5, 0.5], rtol=0.15)


def test_certified_stitching_is_left_alone():
    found = stitched(half_cylinder(grid()))
    assert relax_if_loose(found.points, found.map, found.plan) is None


def test_single_patch_is_left_alone():
    found = stitched(np.random.RandomState(0).normal(size=(100, 5)))
    assert found.map.components[0].alignment.solution is None
    assert relax_if_loose(found.points, found.map, found.plan) is None


def test_certified_cover_needs_no_further_dimension():
    found = stitched(half_cylinder(grid()))
    piece = found.map.components[0]
    relaxed = relax(piece.cover, piece.charts, found.plan.solver)
    assert relaxed.misfit == relaxed.narrow_misfit
    assert relaxed.ratio == pytest.approx(1.0)
    assert relaxed.n_dimensions == 2


def test_ratio_and_dimensions_by_definition():
    relaxed = Relaxation(0.1, 0.35, np.array([6.0, 3.9, 0.2, 0.05]))
    assert relaxed.ratio == pytest.approx(3.5)
    assert relaxed.n_dimensions == 3
    # A perfect fit does not divide by zero.
    assert np.isfinite(Relaxation(0.0, 0.3, np.ones(2)).ratio)
