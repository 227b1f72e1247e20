"""Representatives: outmost points, few, each once, also of components that are hardly there."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from isofold.exceptions import InvalidInputError
from isofold.placement.representatives import choose_representatives, extremes, farthest, hull

STRATEGIES = ("extremes", "farthest", "hull")


def rectangle(n=60, seed=0):
    rng = np.random.RandomState(seed)
    inner = rng.uniform(-0.9, 0.9, size=(n, 2)) * [3.0, 1.0]
    corners = [[-3.0, -1.0], [-3.0, 1.0], [3.0, -1.0], [3.0, 1.0]]
    return np.concatenate([inner, corners])


def test_extremes_are_outmost_along_the_axes_of_a_cross():
    cross = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, -2.0], [-5.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    assert set(extremes(cross)) >= {1, 3}
    assert len(extremes(cross)) == 4
    np.testing.assert_array_equal(extremes(cross[:, :1]), [1, 3])


def test_farthest_points_of_a_square_are_its_corners():
    points = rectangle() / [3.0, 1.0]
    np.testing.assert_array_equal(farthest(points), np.arange(60, 64))


def test_hull_agrees_with_qhull():
    points = np.random.RandomState(0).normal(size=(50, 3))
    np.testing.assert_array_equal(hull(points), np.sort(ConvexHull(points).vertices))


def test_hull_of_a_flat_shape_is_that_within_its_flat():
    points = rectangle()
    turn = np.linalg.qr(np.random.RandomState(1).normal(size=(4, 4)))[0]
    lifted = np.pad(points, ((0, 0), (0, 2))) @ turn
    np.testing.assert_array_equal(hull(lifted), np.arange(60, 64))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 30])
def test_row_numbers_are_ascending_and_unique(strategy, n, q):
    Y = np.random.RandomState(n).normal(size=(n, q))
    chosen = choose_representatives(Y, strategy)
    assert 1 <= len(chosen) <= n
    assert np.all(np.diff(chosen) > 0)
    assert chosen[0] >= 0
    assert chosen[-1] < n


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_components_without_extent(strategy):
    assert choose_representatives(np.zeros((1, 3)), strategy).tolist() == [0]
    assert len(choose_representatives(np.ones((5, 2)), strategy)) == 1
    line = np.zeros((6, 3))
    line[:, 0] = [2.0, 0.0, 5.0, 1.0, 3.0, 4.0]
    assert {1, 2} <= set(choose_representatives(line, strategy).tolist())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rigid_motion_changes_nothing(strategy):
    points = rectangle() + [0.01, 0.02] * np.arange(64)[:, None] / 64
    turn = np.linalg.qr(np.random.RandomState(3).normal(size=(2, 2)))[0]
    np.testing.assert_array_equal(
        choose_representatives(points @ turn + 7.0, strategy),
        choose_representatives(points, strategy),
    )


def test_too_many_dimensions_for_a_hull():
    with pytest.raises(InvalidInputError, match="spans 7 dimensions"):
        hull(np.random.RandomState(0).normal(size=(20, 7)))


def test_farthest_counts():
    Y = np.random.RandomState(0).normal(size=(100, 3))
    assert len(farthest(Y)) == 8
    assert len(extremes(Y)) <= 6


def test_unknown_strategy():
    with pytest.raises(InvalidInputError, match="'random' must be one of"):
        choose_representatives(np.eye(3), "random")
