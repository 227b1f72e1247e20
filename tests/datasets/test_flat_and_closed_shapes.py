"""The formulas of the flat pieces beside the papers' sets, of caps and of closed sets."""

import numpy as np
import pytest
from scipy.special import ellipeinc

from isofold.datasets import (
    circle,
    cone,
    corrugated_sheet,
    cylinder,
    flat_torus,
    helix_arc,
    rolled_block,
    spherical_cap,
)
from support.dataset_checks import ON_SURFACE, assert_uniform

N_SAMPLES = 4000


def on_circles(truth, radius):
    columns = [radius * f(s / radius) for s in truth.T for f in (np.cos, np.sin)]
    return np.column_stack(columns)


@pytest.mark.parametrize("extent", [0.5, 1.5 * np.pi, 2 * np.pi])
def test_flat_torus_formula(extent):
    data = flat_torus(N_SAMPLES, extent=extent, random_state=0)
    for coordinate in data.truth.T:
        assert_uniform(coordinate, 0, extent)
    np.testing.assert_allclose(data.X, on_circles(data.truth, 1), rtol=0, atol=ON_SURFACE)


def test_flat_torus_is_three_quarters_by_default():
    default, named = (flat_torus(50, random_state=0, **e) for e in ({}, {"extent": 1.5 * np.pi}))
    assert default.X.tobytes() == named.X.tobytes()


def test_rolled_block_formula():
    data = rolled_block(N_SAMPLES, random_state=0)
    for coordinate, extent in zip(data.truth.T, (6, 6, 3), strict=True):
        assert_uniform(coordinate, 0, extent)
    np.testing.assert_allclose(data.X, on_circles(data.truth, 2), rtol=0, atol=ON_SURFACE)
    # The coordinates are independent: six deviations of a correlation.
    assert np.abs(np.corrcoef(data.truth.T) - np.eye(3)).max() < 6 / np.sqrt(N_SAMPLES)


def test_cone_formula():
    data = cone(N_SAMPLES, random_state=0)
    x, y, z = data.X.T
    rho = np.linalg.norm(data.X, axis=1)
    # A half opening of 30°: the height is √3 times the distance from the axis.
    np.testing.assert_allclose(z, np.sqrt(3) * np.hypot(x, y), rtol=0, atol=ON_SURFACE)
    assert_uniform(rho**2, 1, 25)
    turn = np.arctan2(y, x) % (2 * np.pi)
    assert_uniform(turn, 0, 1.5 * np.pi)
    np.testing.assert_allclose(np.linalg.norm(data.truth, axis=1), rho, rtol=0, atol=ON_SURFACE)
    unrolled = np.arctan2(data.truth[:, 1], data.truth[:, 0])
    np.testing.assert_allclose(unrolled, turn / 2, rtol=0, atol=ON_SURFACE)


def test_corrugated_sheet_formula():
    data = corrugated_sheet(N_SAMPLES, random_state=0)
    x, h, z = data.X.T
    np.testing.assert_allclose(z, np.sin(x), rtol=0, atol=ON_SURFACE)
    assert np.array_equal(h, data.truth[:, 1])
    assert_uniform(h, 0, 15)
    length = np.sqrt(2) * ellipeinc(x, 0.5)
    np.testing.assert_allclose(data.truth[:, 0], length, rtol=0, atol=ON_SURFACE)
    assert_uniform(data.truth[:, 0], 0, np.sqrt(2) * ellipeinc(30, 0.5))
    assert np.sqrt(2) * ellipeinc(30, 0.5) == pytest.approx(36.4, abs=0.05)  # as documented


@pytest.mark.parametrize("angle", [25.0, 90.0, 170.0])
def test_spherical_cap_formula(angle):
    data = spherical_cap(N_SAMPLES, angle=angle, random_state=0)
    x, y, z = data.X.T
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=0, atol=ON_SURFACE)
    # Archimedes: the area of a zone is proportional to its height.
    assert_uniform(z, np.cos(np.radians(angle)), 1)
    azimuth = np.arctan2(y, x)
    assert_uniform(azimuth, -np.pi, np.pi)
    polar = np.arctan2(np.hypot(x, y), z)
    expected = polar[:, np.newaxis] * np.column_stack((np.cos(azimuth), np.sin(azimuth)))
    np.testing.assert_allclose(data.truth, expected, rtol=0, atol=ON_SURFACE)


def test_cap_of_25_degrees_is_the_default():
    default, named = (spherical_cap(50, random_state=0, **a) for a in ({}, {"angle": 25.0}))
    assert default.X.tobytes() == named.X.tobytes()


def test_cylinder_and_circle_are_closed():
    pipe = cylinder(N_SAMPLES, random_state=0)
    ring = circle(N_SAMPLES, random_state=0)
    for data in (pipe, ring):
        assert_uniform(data.truth[:, 0], 0, 2 * np.pi)
        np.testing.assert_allclose(
            data.X[:, :2], on_circles(data.truth[:, :1], 1), rtol=0, atol=ON_SURFACE
        )
    assert np.array_equal(pipe.X[:, 2], pipe.truth[:, 1])
    assert_uniform(pipe.truth[:, 1], 0, 4)


def test_helix_arc_formula():
    data = helix_arc(N_SAMPLES, random_state=0)
    t = data.X[:, 2] / 0.2
    assert_uniform(t, 0, 6 * np.pi)
    np.testing.assert_allclose(data.X[:, 0], np.cos(t), rtol=0, atol=ON_SURFACE)
    np.testing.assert_allclose(data.X[:, 1], np.sin(t), rtol=0, atol=ON_SURFACE)
    np.testing.assert_allclose(data.truth[:, 0], np.sqrt(1.04) * t, rtol=0, atol=ON_SURFACE)
