import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from isofold.linalg import classical_scaling, landmark_scaling
from support.hypothesis_profiles import examples

# Coordinates near one from squares near ten: an error eps of the squares is one of √eps in columns
# that vanish, and of some eps in those that do not. Random points in three dimensions have none.
ROUNDING = 1e-9

seeds = st.integers(0, 2**31 - 1)


@examples(20)
@given(seeds, st.integers(1, 3))
def test_distances_of_points_come_back(seed, d):
    points = np.random.RandomState(seed).rand(20, d)
    distances = cdist(points, points)
    found = classical_scaling(distances**2, d)
    np.testing.assert_allclose(cdist(*[found.coordinates] * 2), distances, atol=ROUNDING)
    assert found.explained == pytest.approx(1.0)
    landmarks = np.arange(0, 20, 2)
    layout = landmark_scaling(distances[landmarks] ** 2, landmarks, d, tol=1e-12)
    np.testing.assert_allclose(cdist(layout, layout), distances, atol=ROUNDING)


def test_all_points_as_landmarks_give_classical_scaling():
    points = np.random.RandomState(0).rand(15, 4)
    squares = cdist(points, points) ** 2
    layout = landmark_scaling(squares, np.arange(15), 2, tol=1e-12)
    np.testing.assert_allclose(layout, classical_scaling(squares, 2).coordinates, atol=ROUNDING)


def test_axes_without_extent_are_left_out():
    line = np.linspace(0.0, 1.0, 9)[:, None]
    landmarks = np.array([0, 4, 8])
    layout = landmark_scaling(cdist(line[landmarks], line) ** 2, landmarks, 3, tol=1e-9)
    assert layout.shape == (9, 1)
    same = np.zeros((2, 5))
    assert landmark_scaling(same, np.array([0, 1]), 2, tol=1e-9).shape == (5, 0)
