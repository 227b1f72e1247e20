"""What the thesis says of IPA (chapter 5) holds, for its IPA and for ours.

Doubts are warnings and so errors here: our IPA must have none on clean data.
"""

import warnings

import numpy as np
import pytest
from experiments.ipa_thesis.hole import grid_roll, random_roll, rank_curves, rectangle_fit, sides
from experiments.ipa_thesis.methods import ours, thesis, with_room
from experiments.ipa_thesis.simple_sheet import CASES, noise_floor, sheet
from experiments.ipa_thesis.twisted_star import arms, strip_lengths
from experiments.peers import isomap, lle, ltsa

from isofold.datasets import star
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import mean_relative_rank_error, neighbor_error, procrustes_error

SEEDS = range(3)

# A tenth of the grid's spacing, on the hole's shorter side of seven cells, is not seen.
STRAIGHT = 0.1 / 7
# The sides of a hole that became a circle are quarters of it: arc height over chord.
CIRCLE = (1 - np.cos(np.pi / 4)) / (2 * np.sin(np.pi / 4))
# Two percent of a right angle are not seen either.
RIGHT = 1.8

# The goal of issue and documentation: noise in the plane alone makes the error F.
OF_FLOOR = 1.1
# The goal for 90 % of the points in one half, on the harder roll.
UNEVEN = 5e-4

# Relative gap to the proven optimum over any number of dimensions.
CERTAIN = 1e-6
# Variance is of the order of squared coordinates, so that rounding in these leaves ε² of it; far
# more is allowed, and still a millionth of the extent is not.
NOTHING = 1e-12


def without_doubts(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        return model.fit_transform(X)


def shortened_by(half_width, radius):
    """Share of its length that an arc loses in the projection on its tangent: sin x ≈ x − x³/6."""
    return (half_width / radius) ** 2 / 6


def test_sides_surround_the_hole():
    truth = grid_roll().truth
    along, across = 14, 6  # cells of the 56 × 14 grid without nodes
    lengths = [len(side) for side in sides(truth)]
    assert sorted(lengths) == sorted(2 * [along + 2] + 2 * [across + 2])
    fit = rectangle_fit(truth, truth)
    np.testing.assert_allclose(
        [fit.bend, fit.angle, fit.shortest - 1, fit.longest - 1, fit.error], 0, atol=1e-7
    )


def test_rectangular_hole_stays_rectangular():
    roll = grid_roll()
    hole = rectangle_fit(ours().fit_transform(roll.X), roll.truth)
    assert hole.bend < STRAIGHT
    assert hole.angle < RIGHT
    assert max(1 - hole.shortest, hole.longest - 1) < STRAIGHT
    assert hole.error < STRAIGHT


def test_hole_stays_nearly_rectangular_with_the_clusters_of_the_thesis():
    roll = grid_roll()
    hole = rectangle_fit(without_doubts(thesis(50), roll.X), roll.truth)
    other = rectangle_fit(isomap(8).fit_transform(roll.X), roll.truth)
    assert hole.bend < min(CIRCLE / 4, other.bend)
    assert hole.angle < 3 * RIGHT
    assert hole.error < other.error / 4


@pytest.mark.parametrize("sample", [pytest.param(grid_roll, marks=pytest.mark.slow), random_roll])
@pytest.mark.parametrize("peer", [isomap, lle, ltsa])
def test_fewer_neighbors_are_lost_and_displaced(sample, peer):
    X = sample().X
    mine = rank_curves(X, ours().fit_transform(X))
    other = rank_curves(X, peer(8).fit_transform(X))
    for measure, curve in mine.items():
        assert (curve < other[measure]).all(), measure


def test_curves_are_the_measures_of_the_package():
    X = random_roll().X
    curves = rank_curves(X, X[:, :2])
    for k in (1, 50):
        measures = (
            neighbor_error(X, X[:, :2], n_neighbors=k),
            mean_relative_rank_error(X, X[:, :2], n_neighbors=k),
            mean_relative_rank_error(X, X[:, :2], n_neighbors=k, neighbors_of="embedding"),
        )
        assert [curve[k - 1] for curve in curves.values()] == [float(m) for m in measures]


@pytest.mark.parametrize("seed", SEEDS)
def test_star_needs_no_third_dimension(seed):
    data = star(300, random_state=seed)
    ipa = ours(solver=with_room(2))
    Y = without_doubts(ipa, data.X)
    assert ipa.solution_.gap < CERTAIN
    assert ipa.spectrum_[2:].sum() < NOTHING * ipa.spectrum_.sum()
    lengths = strip_lengths(Y, data.truth)
    assert max(1 - lengths.shortest, lengths.longest - 1) < 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_star_keeps_its_lengths_with_the_clusters_of_the_thesis(seed):
    data = star(1000, random_state=seed)
    n_patches = 30
    Y = without_doubts(thesis(n_patches), data.X)
    lengths = strip_lengths(Y, data.truth)
    # Clusters of area 17/30 on a cylinder of radius 1, as expanded by a half at most.
    half_width = 1.5 * np.sqrt(17 / n_patches) / 2
    assert lengths.longest < 1.01
    assert lengths.shortest > 1 - shortened_by(half_width, 1.0)
    assert sum(len(arm) for arm in arms(data.truth)) < len(data.X)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_noise_and_uneven_samples_do_no_harm(case, seed):
    data = sheet(case, seed)
    ipa = ours()
    error = procrustes_error(without_doubts(ipa, data.X), data.truth)
    noise = CASES[case].get("noise", 0.0)
    assert error < max(UNEVEN, OF_FLOOR * noise_floor(data.truth, noise))
    # The noise is about as large as the spacing of the points: it may be doubted.
    assert ipa.diagnosis_.is_sound or noise > 0.0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_noise_and_uneven_samples_with_the_clusters_of_the_thesis(case, seed):
    data = sheet(case, seed)
    n_patches = 20
    error = procrustes_error(without_doubts(thesis(n_patches), data.X), data.truth)
    # Clusters of area 2/20 on half a cylinder of length 2, as expanded by a half at most.
    half_width = 1.5 * np.sqrt(2 / n_patches) / 2
    projected = shortened_by(half_width, 2 / np.pi)
    floor = OF_FLOOR * noise_floor(data.truth, CASES[case].get("noise", 0.0))
    assert error < np.hypot(projected, floor)
