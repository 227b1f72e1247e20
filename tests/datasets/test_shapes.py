"""The formulas of the single sets: points lie where they should, as densely as they should."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.datasets import (
    arched_sheet,
    dual_spiral,
    fishbowl,
    four_moons,
    half_globe,
    helix,
    holed_swiss_roll,
    moebius_strip,
    parallel_swiss_rolls,
    rotated_swiss_rolls,
    s_curve,
    sinusoid,
    spiral,
    star,
    swiss_roll,
    twin_peaks,
    v_shape,
)
from isofold.exceptions import InvalidInputError
from support.dataset_checks import ON_SURFACE, assert_uniform

# Lines of a grid are told apart after rounding to this many digits, which moves each by half a unit
# and the difference of two steps by two units.
GRID_DIGITS = 9
GRID_STEPS = 2 * 10.0**-GRID_DIGITS

N_SAMPLES = 4000


def roll_angle(X):
    return np.hypot(X[:, 0], X[:, 2])


def roll_length(t):
    return 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))


def test_swiss_roll_is_van_der_maatens():
    data = swiss_roll(N_SAMPLES, random_state=0)
    t, h = roll_angle(data.X), data.X[:, 1]
    np.testing.assert_allclose(
        data.X, np.column_stack((t * np.cos(t), h, t * np.sin(t))), rtol=0, atol=ON_SURFACE
    )
    assert_uniform(t, 1.5 * np.pi, 4.5 * np.pi)
    assert_uniform(h, 0, 30)
    np.testing.assert_allclose(
        data.truth,
        np.column_stack((roll_length(t) - roll_length(1.5 * np.pi), h)),
        rtol=0,
        atol=ON_SURFACE,
    )
    assert np.array_equal(data.labels, (np.round(t / 2) + np.round(h / 12)) % 2)


def test_swiss_roll_parameters():
    data = swiss_roll(N_SAMPLES, width=20.0, turns=1.0, uniform=True, random_state=0)
    total = roll_length(3.5 * np.pi) - roll_length(1.5 * np.pi)
    assert_uniform(data.truth[:, 0], 0, total)
    assert_uniform(data.truth[:, 1], 0, 20)
    assert roll_angle(data.X).max() <= 3.5 * np.pi + ON_SURFACE


@pytest.mark.parametrize("imbalance", [None, 0.9])
@pytest.mark.parametrize(
    ("generator", "hole"), [(holed_swiss_roll, (0.25, 0.45)), (dual_spiral, (0.3, 0.5))]
)
def test_hole_is_empty_and_its_rim_is_not(generator, hole, imbalance):
    data = generator(20000, imbalance=imbalance, random_state=0)
    low, high = data.truth.min(axis=0), data.truth.max(axis=0)
    offset = np.abs((data.truth - low) / (high - low) - 0.5) * 2 / hole
    # The extremes of 20,000 points (2,000 in the thin half) estimate the edges to 0.5 %.
    nearest = offset.max(axis=1).min()
    assert 0.99 < nearest < 1.05


def test_holed_roll_is_uniform_outside_the_hole():
    data = holed_swiss_roll(N_SAMPLES, random_state=0)
    total = roll_length(4.5 * np.pi) - roll_length(1.5 * np.pi)
    before = data.truth[:, 0] / total < 0.375
    assert_uniform(data.truth[before, 0], 0, 0.375 * total)
    assert_uniform(data.truth[before, 1], 0, 21)
    share = 0.375 / (1 - 0.25 * 0.45)
    assert abs(before.mean() - share) < 6 * np.sqrt(share * (1 - share) / N_SAMPLES)


def test_grid_of_the_holed_roll_has_700_regular_points():
    data = holed_swiss_roll(700, sampling="grid")
    assert data.X.shape == (700, 3)
    steps = []
    for column, n_lines in zip(data.truth.T, (56, 14), strict=True):
        lines = np.unique(column.round(GRID_DIGITS))
        assert lines.size == n_lines
        np.testing.assert_allclose(np.diff(lines), np.diff(lines)[0], rtol=0, atol=GRID_STEPS)
        steps.append(np.diff(lines)[0])
    # Cells are square to within 1 %, and the hole is the rectangle of 14 × 6 missing nodes.
    assert steps[0] == pytest.approx(steps[1], rel=0.01)
    taken = np.zeros((56, 14), dtype=bool)
    taken[tuple(np.rint(data.truth / (data.truth.max(axis=0) / (55, 13))).astype(int).T)] = True
    expected = np.ones((56, 14), dtype=bool)
    expected[21:35, 4:10] = False
    assert np.array_equal(taken, expected)


def test_grids_have_one_size():
    with pytest.raises(InvalidInputError, match="exactly 700 points"):
        holed_swiss_roll(701, sampling="grid")
    with pytest.raises(InvalidInputError, match="exactly 181 points"):
        half_globe(200, sampling="grid")
    with pytest.raises(InvalidInputError, match="imbalance"):
        holed_swiss_roll(700, sampling="grid", imbalance=0.9)


def test_rolls_of_costa():
    rotated = rotated_swiss_rolls(N_SAMPLES, random_state=0)
    parallel = parallel_swiss_rolls(N_SAMPLES, random_state=0)
    half = np.sqrt(0.5)
    back = np.array([[half, half, 0], [-half, half, 0], [0, 0, 1]]).T
    first = (rotated.X[rotated.labels == 0] - (20, 20, 30)) @ back.T
    second = rotated.X[rotated.labels == 1] + (0, 20, 0)
    third = parallel.X[parallel.labels == 0]
    fourth = parallel.X[parallel.labels == 1] + (0, 40, 0)
    for roll in (first, second, third, fourth):
        t = roll_angle(roll)
        np.testing.assert_allclose(roll[:, 0], t * np.cos(t), rtol=0, atol=ON_SURFACE)
        assert_uniform(t, 1.5 * np.pi, 3 * np.pi)
        assert_uniform(roll[:, 1], 0, 30)


def test_s_curve_formula():
    data = s_curve(N_SAMPLES, random_state=0)
    t = data.truth[:, 0] - 1.5 * np.pi
    assert_uniform(t, -1.5 * np.pi, 1.5 * np.pi)
    assert_uniform(data.truth[:, 1], 0, 2)
    # Each half is a circle of radius 1 about (0, ∓1).
    np.testing.assert_allclose(
        np.hypot(data.X[:, 0], data.X[:, 2] + np.sign(t)), 1, rtol=0, atol=ON_SURFACE
    )


def test_v_shape_is_two_unit_squares_that_open_by_60_degrees():
    data = v_shape(N_SAMPLES, random_state=0)
    from_fold, along_fold = data.truth.T
    assert_uniform(from_fold, -1, 1)
    assert_uniform(along_fold, 0, 1)
    assert np.array_equal(data.X[:, 1], along_fold)
    directions = []
    for wing in (from_fold < 0, from_fold > 0):
        distance = np.abs(from_fold[wing])[:, np.newaxis]
        rolled = data.X[wing][:, [0, 2]]
        direction = (rolled / distance)[distance.argmax()]
        np.testing.assert_allclose(rolled, distance * direction, rtol=0, atol=ON_SURFACE)
        directions.append(direction)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(1, abs=ON_SURFACE)
    assert np.dot(*directions) == pytest.approx(np.cos(np.pi / 3), abs=ON_SURFACE)


def test_arched_sheet_is_half_a_cylinder_of_2_by_1():
    data = arched_sheet(N_SAMPLES, random_state=0)
    assert_uniform(data.truth[:, 0], 0, 2)
    assert_uniform(data.truth[:, 1], 0, 1)
    assert np.array_equal(data.X[:, 1], data.truth[:, 1])
    radius = 2 / np.pi
    np.testing.assert_allclose(
        np.hypot(data.X[:, 0], data.X[:, 2]), radius, rtol=0, atol=ON_SURFACE
    )
    # From one foot of the arch over its top to the other: all of half a turn.
    angle = np.arctan2(data.X[:, 2], -data.X[:, 0])
    assert_uniform(angle, 0, np.pi)
    np.testing.assert_allclose(radius * angle, data.truth[:, 0], rtol=0, atol=ON_SURFACE)


def test_star_unrolls_to_a_cross():
    data = star(N_SAMPLES, random_state=0)
    x, y = np.abs(data.truth).T
    assert np.minimum(x, y).max() <= 0.5
    assert np.maximum(x, y).max() <= 4.5
    center = (x < 0.5) & (y < 0.5)
    np.testing.assert_allclose(data.X[center, 2], 0, rtol=0, atol=ON_SURFACE)
    np.testing.assert_allclose(data.X[center, :2], data.truth[center], rtol=0, atol=ON_SURFACE)
    arms = [data.truth[:, 0] > 0.5, data.truth[:, 1] > 0.5]
    arms += [data.truth[:, 0] < -0.5, data.truth[:, 1] < -0.5]
    for arm, sign in zip(arms, (1, -1, 1, -1), strict=True):
        # Equal areas: 4 of 17 for each arm, six binomial deviations wide.
        assert abs(arm.mean() - 4 / 17) < 6 * np.sqrt(4 / 17 * 13 / 17 / N_SAMPLES)
        rise = sign * data.X[arm, 2]
        assert rise.min() >= -ON_SURFACE
        # The strip turns by up to 3.5 cos 30° = 3.03 around a cylinder of radius 1.
        assert 1.9 < rise.max() <= 1 - np.cos(3.5 * np.cos(np.pi / 6)) + ON_SURFACE


def test_arms_of_the_star_are_twisted():
    """The middle line of a strip is no plane curve, as it would be if merely bent."""
    data = star(20000, random_state=0)
    half_width = 0.02
    middle = data.X[(data.truth[:, 0] > 0.5) & (np.abs(data.truth[:, 1]) < half_width)]
    spread = np.linalg.svd(middle - middle.mean(axis=0), compute_uv=False)
    # Across the band alone the root mean square is at most its half width.
    assert spread[2] / np.sqrt(len(middle)) > 2 * half_width


@pytest.mark.parametrize("amplitude", [3.0, 12.0])
def test_waves_are_uniform_in_length(amplitude):
    wave = sinusoid(N_SAMPLES, amplitude=amplitude, random_state=0)
    height = amplitude * np.cos(wave.X[:, 0])
    np.testing.assert_allclose(wave.X[:, 1], height, rtol=0, atol=ON_SURFACE)
    # Six limbs of equal length.
    assert_uniform(wave.truth[:, 0], 0, 6 * wave_limb(amplitude))


def test_spirals_are_uniform_in_length():
    curve = spiral(N_SAMPLES, random_state=0)
    assert_uniform(curve.truth[:, 0], 0, roll_length(5 * np.pi) - roll_length(np.pi))


def wave_limb(amplitude):
    """Length of amplitude · cos x over half a period by the trapezoidal rule.

    The integrand is analytic and periodic, so that 2,000 nodes leave only rounding.
    """
    x = np.linspace(0, np.pi, 2000, endpoint=False)
    return np.pi * np.sqrt(1 + (amplitude * np.sin(x)) ** 2).mean()


def test_moons():
    data = four_moons(N_SAMPLES, random_state=0)
    for moon, (center, radius, level) in enumerate(
        [(0, 1, 0), (0.25, 0.25, 0), (0, 1, 1), (0.25, 0.25, 1)]
    ):
        x, y, z = data.X[data.labels == moon].T
        np.testing.assert_allclose(np.hypot(x - center, y), radius, rtol=0, atol=ON_SURFACE)
        assert (z == level).all()
        assert_uniform(data.truth[data.labels == moon, 0], 0, radius * np.pi)


def test_helix_lies_on_a_ring():
    data = helix(800)
    x, y, z = data.X.T
    np.testing.assert_allclose((np.hypot(x, y) - 2) ** 2 + z**2, 1, rtol=0, atol=ON_SURFACE)
    # Eight coils: the height changes its sign sixteen times on the way around.
    assert np.count_nonzero(np.diff(np.sign(np.append(z[1::2], z[1]))) != 0) == 16


def test_half_globe_random_and_mesh():
    data = half_globe(N_SAMPLES, random_state=0)
    for globe in (data, half_globe(181, sampling="grid")):
        np.testing.assert_allclose(np.linalg.norm(globe.X, axis=1), 1, rtol=0, atol=ON_SURFACE)
        assert globe.X[:, 0].min() >= -ON_SURFACE
        longitude, latitude = globe.truth.T
        np.testing.assert_allclose(globe.X[:, 2], np.sin(latitude), rtol=0, atol=ON_SURFACE)
        np.testing.assert_allclose(
            globe.X[:, 1], np.cos(latitude) * np.sin(longitude), rtol=0, atol=ON_SURFACE
        )
    assert_uniform(data.X[:, 2], -1, 1)
    assert_uniform(data.truth[:, 0], -np.pi / 2, np.pi / 2)
    mesh = half_globe(181, sampling="grid")
    assert np.unique(mesh.X.round(GRID_DIGITS), axis=0).shape == (181, 3)
    half_steps = np.degrees(mesh.truth) / (10, 9)
    np.testing.assert_allclose(half_steps, np.rint(half_steps), rtol=0, atol=ON_SURFACE)


def test_twin_peaks_formula():
    data = twin_peaks(N_SAMPLES, height=2.0, random_state=0)
    x, y, z = data.X.T
    np.testing.assert_allclose(z, 2 * np.sin(np.pi * x) * np.tanh(3 * y), rtol=0, atol=ON_SURFACE)
    assert_uniform(x, -1, 1)
    assert_uniform(y, -1, 1)


def test_fishbowl_is_a_sphere_with_its_rim_at_four_fifths():
    data = fishbowl(N_SAMPLES, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1, rtol=0, atol=ON_SURFACE)
    assert 0.79 < data.X[:, 2].max() <= 0.8
    assert_uniform((data.truth**2).sum(axis=1), 0, 9)
    assert_uniform(np.arctan2(data.truth[:, 1], data.truth[:, 0]), -np.pi, np.pi)
    # Stereographic projection from the north pole leads back to the disk.
    np.testing.assert_allclose(
        data.X[:, :2] / (1 - data.X[:, 2:]), data.truth, rtol=0, atol=ON_SURFACE
    )


def test_moebius_strip_formula():
    data = moebius_strip(N_SAMPLES, random_state=0)
    u, v = data.truth.T
    assert_uniform(u, 0, 2 * np.pi)
    assert_uniform(v, -1, 1)
    # The point and its core circle are v/2 apart, in a direction that turns by half a turn.
    offset = data.X - np.column_stack((np.cos(u), np.sin(u), np.zeros_like(u)))
    outwards = offset[:, 0] * np.cos(u) + offset[:, 1] * np.sin(u)
    along = offset[:, 1] * np.cos(u) - offset[:, 0] * np.sin(u)
    np.testing.assert_allclose(outwards, v / 2 * np.cos(u / 2), rtol=0, atol=ON_SURFACE)
    np.testing.assert_allclose(along, 0, rtol=0, atol=ON_SURFACE)
    np.testing.assert_allclose(offset[:, 2], v / 2 * np.sin(u / 2), rtol=0, atol=ON_SURFACE)


def test_moebius_strip_has_one_side_and_one_edge():
    """Who follows a side or an edge once around arrives at the other one."""
    data = moebius_strip(20000, random_state=0)
    u, v = data.truth.T
    far_from_core = np.abs(v) > 0.5
    side_after_a_step = []
    for seam in np.linspace(0, 2 * np.pi, 9)[1:]:
        before = far_from_core & (np.abs(u - (seam - 0.05)) < 0.05)
        after = far_from_core & (np.abs(u - (seam + 0.05) % (2 * np.pi)) < 0.05)
        assert min(before.sum(), after.sum()) > 100
        distance = cdist(data.X[before], data.X[after])
        # A neighbor is at most 0.1 rad further on the radius 1.5, while the sides are 0.5 apart.
        assert distance.min(axis=1).max() < 0.25
        nearest = v[after][distance.argmin(axis=1)]
        assert np.unique(np.sign(v[before] * nearest)).size == 1
        side_after_a_step.append(np.sign(v[before] * nearest)[0])
    # Seven steps keep the side, the last one, over the seam of the coordinates, changes it.
    assert side_after_a_step == [1] * 7 + [-1]
