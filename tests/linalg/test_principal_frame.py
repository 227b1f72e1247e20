"""Points with given distances, and new ones in their frame."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.linalg import PrincipalFrame


@pytest.mark.parametrize("n", [60, 1100])
@pytest.mark.parametrize("d", [1, 3, 7])
def test_distances_of_points_come_back(n, d):
    # Large data are first tried with few axes.
    points = np.random.RandomState(d).normal(size=(n + 5, d)) * np.logspace(0, -2, d)
    X, new = points[:n], points[n:]
    frame = PrincipalFrame.of(cdist(X, X) ** 2)
    assert frame.coordinates.shape == (n, d)
    assert frame.negative < 1e-10
    both = np.vstack([frame.coordinates, frame.place(cdist(new, X) ** 2)])
    # Squares lose half of the digits of the smallest axis, a hundredth of the largest.
    np.testing.assert_allclose(cdist(both, both), cdist(points, points), rtol=0, atol=1e-9)


def test_what_no_points_can_have_is_told():
    # Eigenvalues of −½HD²H by hand: three points at distance 1 and a fourth at 0.5 of each, where
    # the center of the triangle is 1/√3 away.
    squares = np.ones((4, 4)) - np.eye(4)
    squares[3, :3] = squares[:3, 3] = 0.25
    gram = -0.5 * (np.eye(4) - 0.25) @ squares @ (np.eye(4) - 0.25)
    values = np.linalg.eigvalsh(gram)
    frame = PrincipalFrame.of(squares)
    negative = -values[values < -1e-12].sum()
    assert frame.negative == pytest.approx(negative / np.abs(values).sum(), abs=1e-12)
    assert frame.negative > 0.02


def test_a_frame_can_be_wider_than_its_points():
    line = np.arange(5.0)
    frame = PrincipalFrame.of((line[:, None] - line) ** 2, least=3).padded(3)
    assert frame.coordinates.shape == (5, 3)
    assert not frame.coordinates[:, 1:].any()
    placed = frame.place((np.array([[1.5]]) - line) ** 2)
    np.testing.assert_allclose(np.abs(placed[:, 0] - frame.coordinates[:, 0]), np.abs(1.5 - line))
