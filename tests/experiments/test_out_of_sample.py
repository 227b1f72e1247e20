"""What the experiments on new points measure with, on cases with a known answer."""

import numpy as np
from experiments.out_of_sample.cases import move_onto, outside_hull, rms, spread
from experiments.out_of_sample.rolled import on_roll
from experiments.out_of_sample.scalings import normalized, turned
from experiments.out_of_sample.strangers import agreement

from isofold.datasets import swiss_roll

SHEET = np.random.RandomState(0).rand(50, 2) * [3.0, 1.0]


def test_the_error_is_the_root_of_mean_squares():
    assert rms(np.array([[3.0, 0.0], [0.0, 4.0]]), np.zeros((2, 2))) == np.sqrt(12.5)


def test_the_spread_is_the_distance_from_the_mean():
    np.testing.assert_allclose(spread(SHEET), rms(SHEET, SHEET.mean(axis=0)), rtol=1e-12)


def test_motions_of_maps_are_undone_and_scales_are_not():
    moved = turned(SHEET, 0.7) + np.array([5.0, -2.0])
    np.testing.assert_allclose(move_onto(moved, SHEET, moved[:3]), SHEET[:3], atol=1e-12)
    assert rms(move_onto(2 * moved, SHEET, 2 * moved), SHEET) > 0.5


def test_a_turn_is_counterclockwise():
    np.testing.assert_allclose(turned(np.array([[1.0, 0.0]]), np.pi / 2), [[0.0, 1.0]], atol=1e-15)


def test_normalized_maps_have_unit_variance():
    np.testing.assert_allclose(normalized(SHEET).std(axis=0), 1.0)


def test_points_beyond_the_hull():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    found = outside_hull(square, np.array([[0.5, 0.5], [1.1, 0.5]]))
    np.testing.assert_array_equal(found, [False, True])


def test_places_on_the_roll_are_those_of_the_data():
    roll = swiss_roll(200, random_state=0)
    # The grid of angles has steps of 1e-4, whose square is the error of a straight line.
    np.testing.assert_allclose(on_roll(roll.truth), roll.X, atol=1e-6)
    away = np.linalg.norm(on_roll(roll.truth, off=0.5) - roll.X, axis=1)
    np.testing.assert_allclose(away, 0.5, atol=1e-6)


def test_labels_are_those_of_the_nearest_on_the_map():
    Y, labels = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([3, 7])
    placed = np.array([[0.1, 0.0], [0.9, 0.0], [0.4, 0.0]])
    assert agreement(Y, labels, placed, np.array([3, 7, 7])) == 2 / 3
