"""Landmarks that lie apart."""

import numpy as np

from isofold.neighbors import spread_landmarks


def test_landmarks_are_far_from_each_other():
    """Farthest-first traversal, against the definition."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    chosen = [7]
    for _ in range(9):
        gaps = np.min([np.linalg.norm(X - X[c], axis=1) for c in chosen], axis=0)
        chosen.append(int(np.argmax(gaps)))
    np.testing.assert_array_equal(spread_landmarks(X, 10, 7), np.sort(chosen))


def test_copies_are_chosen_once():
    X = np.repeat(np.arange(5.0)[:, None], 3, axis=0)
    chosen = spread_landmarks(X, 15, 4)
    assert sorted(X[chosen, 0]) == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert spread_landmarks(X, 1, 4).tolist() == [4]


def test_balls_around_landmarks_cover_all():
    """Any set of m balls that covers the points has radii of half as much, at least (Gonzalez)."""
    X = np.random.default_rng(1).uniform(size=(300, 2))
    chosen = spread_landmarks(X, 20, 0)
    to_chosen = np.linalg.norm(X[:, None] - X[chosen], axis=2)
    radius = to_chosen.min(axis=1).max()
    among = to_chosen[chosen] + np.where(np.eye(20), np.inf, 0.0)
    assert among.min() >= radius
