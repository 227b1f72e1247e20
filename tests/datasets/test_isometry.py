"""The true coordinates of developable sets are isometric to the surface."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.neighbors import kneighbors_graph

from isofold.datasets import DEVELOPABLE, SYNTHETIC, dual_spiral, helix
from isofold.datasets.synthetic._arcs import archimedean
from isofold.datasets.synthetic.curves import _WAVE

# Coordinates and lengths are below 200, so rounding costs about 200 · 2⁻⁵² = 4e-14 in each of a
# handful of operations.
ROUNDING = 1e-11

# Accuracy demanded of every arc length, relative to quadrature.
INTEGRATION = 1e-10


def quadrature(speed, start, stop):
    """Arc length by adaptive quadrature, a hundred times as accurate as demanded."""
    # SciPy's own default of 1.5e-8 is far too loose to judge 1e-10.
    return quad(speed, start, stop, limit=400, epsabs=1e-12, epsrel=1e-12)[0]


def spiral_curvature(t: float, scale: float = 1.0) -> float:
    """Curvature of scale · (t cos t, t sin t); it falls with t."""
    return (2 + t**2) / (1 + t**2) ** 1.5 / scale


MAX_CURVATURE = {
    "swiss_roll": spiral_curvature(1.5 * np.pi),
    "holed_swiss_roll": spiral_curvature(1.5 * np.pi),
    "broken_swiss_roll": spiral_curvature(1.5 * np.pi),
    "rotated_swiss_rolls": spiral_curvature(1.5 * np.pi),
    "parallel_swiss_rolls": spiral_curvature(1.5 * np.pi),
    "s_curve": 1.0,
    "broken_s_curve": 1.0,
    "v_shape": 0.0,  # flat but for the fold, which is left out below
    "dual_spiral": spiral_curvature(np.pi, scale=0.25),
    "arched_sheet": np.pi / 2,  # half a turn over a length of 2
    "star": 1.0,
    "sinusoid": 3.0,  # at the crests of 3 cos x
    "spiral": spiral_curvature(np.pi),
    "four_moons": 4.0,  # the moons of radius 1/4
}


def neighbor_pairs(X, n_neighbors=6):
    pairs = kneighbors_graph(X, n_neighbors).tocoo()
    return pairs.row, pairs.col


def within_bound(chord, arc, curvature):
    """Tell which chords fit arcs on a surface of at most this normal curvature.

    A geodesic of length s and curvature at most κ has a chord between (2/κ) sin(κs/2), which
    is at least s(1 − κ²s²/24), and s (Schur's comparison theorem, for κs ≤ π).
    """
    assert np.all(curvature * arc < 1), "a neighbor is far away on the surface: a short-cut"
    missing = arc - chord
    return (missing >= -ROUNDING) & (missing <= curvature**2 * arc**3 / 24 + ROUNDING)


def pair_lengths(X, truth):
    i, j = neighbor_pairs(X)
    return np.linalg.norm(X[i] - X[j], axis=1), np.linalg.norm(truth[i] - truth[j], axis=1)


def test_every_developable_set_is_checked():
    assert set(MAX_CURVATURE) == DEVELOPABLE
    assert set(SYNTHETIC) - DEVELOPABLE == {
        "helix",
        "half_globe",
        "twin_peaks",
        "fishbowl",
        "moebius_strip",
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(DEVELOPABLE - {"v_shape"}))
def test_truth_is_isometric(name, seed):
    data = SYNTHETIC[name](4000, random_state=seed)
    chord, arc = pair_lengths(data.X, data.truth)
    assert within_bound(chord, arc, MAX_CURVATURE[name]).all()


@pytest.mark.parametrize("angle", [0.3, np.pi / 3, 3.0])
def test_wings_of_the_v_are_flat(angle):
    data = SYNTHETIC["v_shape"](4000, angle=angle, random_state=0)
    for wing in (data.truth[:, 0] < 0, data.truth[:, 0] >= 0):
        chord, arc = pair_lengths(data.X[wing], data.truth[wing])
        assert within_bound(chord, arc, MAX_CURVATURE["v_shape"]).all()
    # The law of cosines holds across the fold.
    (i,), (j,) = np.nonzero(data.truth[:, 0] < 0)[0][:1], np.nonzero(data.truth[:, 0] >= 0)[0][:1]
    a, b = np.abs(data.truth[[i, j], 0])
    across = data.truth[i, 1] - data.truth[j, 1]
    expected = a * a + b * b - 2 * a * b * np.cos(angle) + across**2
    assert np.sum((data.X[i] - data.X[j]) ** 2) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("name", ["swiss_roll", "holed_swiss_roll", "spiral", "dual_spiral"])
def test_the_angle_is_no_true_coordinate(name):
    """The check above has the power to tell the angle from the arc length."""
    data = SYNTHETIC[name](4000, random_state=0)
    rolled = data.X[:, [0, -1]]
    if name == "dual_spiral":
        outer = 3 * np.pi
        side = np.where(data.truth[:, 0] < np.median(data.truth[:, 0]), 1, -1)
        rolled = rolled * side[:, np.newaxis] * 4 - (outer, 0)
        angle = side * (np.linalg.norm(rolled, axis=1) - outer) / 4
    else:
        angle = np.linalg.norm(rolled, axis=1)
    chord, arc = pair_lengths(data.X, np.column_stack((angle, data.truth[:, 1:])))
    assert within_bound(chord, arc, MAX_CURVATURE[name]).mean() < 0.1


def test_helix_is_isometric_around_the_seam():
    # |c''| ≤ 67 and |c'|² ≥ 65 everywhere, see the formula in the docstring.
    curvature = 67 / 65
    data = helix(4000)
    total = quadrature(lambda t: np.sqrt(64 + (2 + np.cos(8 * t)) ** 2), 0, 2 * np.pi)
    i = np.arange(4000)
    j = (i + 1) % 4000
    arc = (data.truth[j, 0] - data.truth[i, 0]) % total
    chord = np.linalg.norm(data.X[i] - data.X[j], axis=1)
    assert within_bound(chord, arc, curvature).all()


def test_helix_length_agrees_with_quadrature():
    data = helix(37)
    for i in (1, 5, 18, 36):
        expected = quadrature(
            lambda t: np.sqrt(64 + (2 + np.cos(8 * t)) ** 2), 0, 2 * np.pi * i / 37
        )
        assert data.truth[i, 0] == pytest.approx(expected, rel=INTEGRATION)


@given(start=st.floats(0.1, 20), turns=st.floats(0.05, 10), share=st.floats(0, 1))
def test_spiral_length_agrees_with_quadrature(start, turns, share):
    arc = archimedean(start, start + 2 * np.pi * turns)
    t = start + share * (arc.stop - start)
    expected = quadrature(lambda x: np.sqrt(1 + x * x), start, t)
    length = arc.length(np.array([t]))
    np.testing.assert_allclose(length, expected, rtol=INTEGRATION, atol=ROUNDING)
    np.testing.assert_allclose(arc.parameter(length), t, rtol=INTEGRATION)


@given(share=st.floats(0, 1))
def test_wave_length_agrees_with_quadrature(share):
    x = share * _WAVE.stop
    expected = quadrature(lambda u: np.sqrt(1 + 9 * np.sin(u) ** 2), 0, x)
    length = _WAVE.length(np.array([x]))
    np.testing.assert_allclose(length, expected, rtol=INTEGRATION, atol=ROUNDING)
    np.testing.assert_allclose(_WAVE.parameter(length), x, rtol=INTEGRATION, atol=ROUNDING)


def test_dual_spiral_has_the_size_its_documentation_names():
    data = dual_spiral(5000, random_state=0)
    width = np.ptp(data.truth[:, 1])
    # With 5,000 points the extremes miss the edges by less than 0.01 but with probability 1e-9.
    assert width == pytest.approx(2.0, abs=0.02)
    assert np.ptp(data.truth[:, 0]) == pytest.approx(20.0, abs=0.15)
