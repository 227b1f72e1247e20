"""The true coordinates of the sets listed as isometric are so, piece by piece."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.neighbors import kneighbors_graph

from isofold.datasets import (
    ISOMETRIC,
    SYNTHETIC,
    circle,
    cylinder,
    dual_spiral,
    flat_torus,
    helix,
    spherical_cap,
)
from isofold.datasets.synthetic._arcs import archimedean
from isofold.datasets.synthetic.curves import wave_arc
from isofold.datasets.synthetic.sheets import _CORRUGATION
from support.quick import quick_first

# Coordinates and lengths are below 200, so rounding costs about 200 · 2⁻⁵² = 4e-14 in each of a
# handful of operations.
ROUNDING = 1e-11

# With 5,000 points the extremes miss each edge of the dual spiral by less than 0.4 % of the extent,
# but with probability (1 − 0.004/0.85)^5000 = 6e-11 (the hole takes 15 % of the area).
EDGE_SHARE = 0.004

# Relative error of a distance between neighbors: those of 20,000 points on a cap of 5° may be 1e-6
# apart, the difference of coordinates of size 1 with an error of 2⁻⁵².
CANCELLATION = 1e-9

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
    "corrugated_sheet": 1.0,  # at the crests of sin x
    "star": 1.0,
    # Where every coordinate has a circle of radius R to itself, the unit direction (d₁, d₂, …) has
    # the curvature √(d₁⁴ + d₂⁴ + …)/R, which is at most 1/R.
    "flat_torus": 1.0,
    # 1/(ρ tan α) = √3/ρ. The line between two neighbors on the inner edge passes the apex at ρ < 1,
    # but they are less than 0.6 apart (κs < 1), so that ρ > √(1 − 0.3²) > 0.95.
    "cone": np.sqrt(3) / 0.95,
    "rolled_block": 0.5,
    "sinusoid": 3.0,  # at the crests of 3 cos x
    "spiral": spiral_curvature(np.pi),
    "helix_arc": 1 / (1 + 0.2**2),
    "four_moons": 4.0,  # the moons of radius 1/4
}

# The corrugated sheet has an area of 547: with 4,000 points the six neighbors of a corner reach
# √(6 · 4/π · 547/4000) = 1.02, which is too far for a curvature of 1; with 20,000 they reach 0.46.
N_SAMPLES = dict.fromkeys(MAX_CURVATURE, 4000) | {"corrugated_sheet": 20000}


# The sets in pieces: where the pieces begin on the long axis of `truth`.
OWN_FRAME = {"rotated_swiss_rolls", "parallel_swiss_rolls", "four_moons"}
CUT_SHEET = {"broken_swiss_roll", "broken_s_curve"}


def piece_of(data):
    in_pieces = data.name in OWN_FRAME | CUT_SHEET
    return data.labels if in_pieces else np.zeros(len(data.X), dtype=int)


def neighbor_pairs(points, n_neighbors=6):
    pairs = kneighbors_graph(points, n_neighbors).tocoo()
    return pairs.row, pairs.col


def within_bound(chord, arc, curvature):
    """Tell which chords fit arcs on a surface of at most this normal curvature.

    A geodesic of length s and curvature at most κ has a chord between (2/κ) sin(κs/2), which
    is at least s(1 − κ²s²/24), and s (Schur's comparison theorem, for κs ≤ π).
    """
    assert np.all(curvature * arc < 1), "a neighbor is far away on the surface: a short-cut"
    missing = arc - chord
    return (missing >= -ROUNDING) & (missing <= curvature**2 * arc**3 / 24 + ROUNDING)


def pair_lengths(X, truth, pairs):
    i, j = pairs
    return np.linalg.norm(X[i] - X[j], axis=1), np.linalg.norm(truth[i] - truth[j], axis=1)


def assert_isometric(X, truth, curvature):
    """Compare neighbors in space, which shows short-cuts, and in truth, which shows tears."""
    for pairs in (neighbor_pairs(X), neighbor_pairs(truth)):
        assert within_bound(*pair_lengths(X, truth, pairs), curvature).all()


def test_every_isometric_set_is_checked():
    assert set(MAX_CURVATURE) == ISOMETRIC
    assert set(SYNTHETIC) - ISOMETRIC == {
        "circle",
        "helix",
        "cylinder",
        "half_globe",
        "spherical_cap",
        "twin_peaks",
        "fishbowl",
        "moebius_strip",
    }


@pytest.mark.parametrize("seed", quick_first(range(3)))
@pytest.mark.parametrize("name", sorted(ISOMETRIC - {"v_shape"}))
def test_truth_is_isometric(name, seed):
    data = SYNTHETIC[name](N_SAMPLES[name], random_state=seed)
    piece = piece_of(data)
    for label in np.unique(piece):
        rows = piece == label
        assert_isometric(data.X[rows], data.truth[rows], MAX_CURVATURE[name])


@pytest.mark.parametrize("name", sorted(OWN_FRAME | CUT_SHEET))
def test_where_the_truth_puts_the_pieces(name):
    """On top of each other, or one after the other as on the sheet before the cuts."""
    data = SYNTHETIC[name](4000, random_state=0)
    along = [data.truth[data.labels == label, 0] for label in np.unique(data.labels)]
    for before, after in pairwise(along):
        if name in OWN_FRAME:
            # The least of 1,000 uniform points is above 2 % with probability 2e-9.
            assert max(before.min() / np.ptp(before), after.min() / np.ptp(after)) < 0.02
        else:
            assert before.max() < after.min()


@pytest.mark.parametrize("angle", [0.3, np.pi / 3, 3.0])
def test_wings_of_the_v_are_flat(angle):
    data = SYNTHETIC["v_shape"](4000, angle=angle, random_state=0)
    for wing in (data.truth[:, 0] < 0, data.truth[:, 0] >= 0):
        assert_isometric(data.X[wing], data.truth[wing], MAX_CURVATURE["v_shape"])
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
    chart = np.column_stack((angle, data.truth[:, 1:]))
    chord, arc = pair_lengths(data.X, chart, neighbor_pairs(data.X))
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


CLOSED = {
    "circle": (partial(circle, 4000), [2 * np.pi]),
    "cylinder": (partial(cylinder, 4000), [2 * np.pi, np.inf]),
    "flat torus": (partial(flat_torus, 4000, extent=2 * np.pi), [2 * np.pi, 2 * np.pi]),
}


@pytest.mark.parametrize(("generator", "periods"), CLOSED.values(), ids=CLOSED)
def test_closed_sets_are_isometric_around_their_seams_only(generator, periods):
    data = generator(random_state=0)
    i, j = neighbor_pairs(data.X)
    chord, straight = pair_lengths(data.X, data.truth, (i, j))
    step = np.abs(data.truth[i] - data.truth[j])
    arc = np.linalg.norm(np.minimum(step, periods - step), axis=1)
    assert within_bound(chord, arc, 1.0).all()
    # Without the seam some neighbors are a whole turn apart.
    assert straight.max() > 6


@pytest.mark.parametrize("angle", [5.0, 25.0, 90.0])
def test_map_of_the_cap_is_stretched_as_its_documentation_says(angle):
    data = spherical_cap(20000, angle=angle, random_state=0)
    i, j = neighbor_pairs(data.X)
    chord, mapped = pair_lengths(data.X, data.truth, (i, j))
    stretch = mapped / (2 * np.arcsin(chord / 2))
    rim = np.radians(angle) / np.sin(np.radians(angle))
    assert stretch.min() > 1 - CANCELLATION
    assert stretch.max() < rim + CANCELLATION
    # Some neighbors at the rim lie along it: of 20,000 points 400 are on its outermost 2 %.
    assert stretch.max() - 1 > 0.95 * (rim - 1)


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


WAVES = {
    "sinusoid": (wave_arc(3.0), lambda x: -3 * np.sin(x)),
    "corrugated sheet": (_CORRUGATION, np.cos),
}


# The quadrature gives up on intervals as short as the smallest number.
@pytest.mark.parametrize(("wave", "slope"), WAVES.values(), ids=WAVES)
@given(share=st.just(0.0) | st.floats(1e-9, 1))
def test_wave_length_agrees_with_quadrature(wave, slope, share):
    x = share * wave.stop
    expected = quadrature(lambda u: np.sqrt(1 + slope(u) ** 2), 0, x)
    length = wave.length(np.array([x]))
    np.testing.assert_allclose(length, expected, rtol=INTEGRATION, atol=ROUNDING)
    np.testing.assert_allclose(wave.parameter(length), x, rtol=INTEGRATION, atol=ROUNDING)


def test_dual_spiral_has_the_size_its_documentation_names():
    data = dual_spiral(5000, random_state=0)
    length, width = np.ptp(data.truth, axis=0)
    assert (1 - 2 * EDGE_SHARE) * 2.0 < width <= 2.0
    # The documentation gives the length, 20.04, to one digit after the point.
    assert (1 - 2 * EDGE_SHARE) * 19.95 < length < 20.05
