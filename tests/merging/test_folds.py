"""Lengths over folds of hyperplanes, against a search for the shortest way; means so placed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import minimize

from isofold.exceptions import InvalidInputError
from isofold.merging.folds import fold_lengths, place_means
from isofold.merging.walk import CellTree
from isofold.patches.planes import Planes, fit_planes

# Sums of paths of size ten, and squares of them in classical scaling.
ROUNDING = 1e-9


def hyperplanes(means, normals):
    """Return planes of given means, with random axes across their normals."""
    means, normals = np.asarray(means, dtype=float), np.asarray(normals, dtype=float)
    axes = np.stack([null_space(normal[None]) for normal in normals])
    n, d = means.shape
    nothing = np.zeros(n)
    ranks = np.full(n, d - 1)
    return Planes(np.arange(n), means, axes, ranks, nothing, nothing)


def chain(n):
    return CellTree(np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.zeros((n - 1, 2)))


def shortest_way(means, normals):
    """Return the least |m_0 − p| + |p − m_1| over all p of the flat in which two planes meet."""
    normals = np.asarray(normals)
    foot = np.linalg.lstsq(normals, np.sum(normals * means, axis=1), rcond=None)[0]
    directions = null_space(normals)

    def length(place):
        p = foot + directions @ place
        return np.linalg.norm(means[0] - p) + np.linalg.norm(means[1] - p)

    if directions.shape[1] == 0:
        return length(np.empty(0))
    start = directions.T @ (means.mean(axis=0) - foot)
    return minimize(length, start, method="BFGS", options={"gtol": 1e-9}).fun


@given(d=st.integers(2, 5), seed=st.integers(0, 10_000))
def test_lengths_are_the_least_over_the_fold(d, seed):
    rng = np.random.RandomState(seed)
    means, normals = rng.normal(size=(2, d)), rng.normal(size=(2, d))
    found = fold_lengths(hyperplanes(means, normals), np.array([[0, 1], [1, 0]]))
    # Flat at its least, so that the search errs by the square of its error in place.
    assert found[0] == pytest.approx(shortest_way(means, normals), rel=1e-6)
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert found[0] >= np.linalg.norm(means[0] - means[1]) * (1 - 1e-12)


def test_a_roof():
    # Gables at 45 degrees: over a ridge at the height 1, √2 up and √2 down, and 3 along.
    planes = hyperplanes([[-1.0, 0.0, 0.0], [1.0, 0.0, 3.0]], [[1, -1, 0], [1, 1, 0]])
    expected = np.sqrt((2 * np.sqrt(2)) ** 2 + 3**2)
    assert fold_lengths(planes, np.array([[0, 1]]))[0] == pytest.approx(expected, rel=1e-12)


def test_parallel_planes_are_joined_straight():
    planes = hyperplanes([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0], [3.0, 4.0, 12.0]], np.eye(3)[[2, 2, 2]])
    lengths = fold_lengths(planes, np.array([[0, 1], [0, 2], [1, 1]]))
    np.testing.assert_allclose(lengths, [5.0, 13.0, 0.0], rtol=1e-12)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_tangents_of_an_arc_are_placed_along_a_line(n):
    # Regular facets: from each mean over the corner to the next are two tangents, 2 tan(α/2) long,
    # and every other way is longer.
    step = 2.5 / n
    angles = step * np.arange(n)
    normals = np.column_stack([np.cos(angles), np.sin(angles)])
    found = place_means(hyperplanes(normals, normals), chain(n))
    places = found.translations[:, 0]
    expected = 2 * np.tan(step / 2) * np.arange(n)
    places = (places - places[0]) * np.sign(places[-1] - places[0])
    np.testing.assert_allclose(places, expected, atol=ROUNDING)
    np.testing.assert_array_equal(found.rotations, np.ones((n, 1, 1)))


def test_few_parallel_planes_are_placed_where_they_are():
    means = np.column_stack([np.random.RandomState(0).normal(size=(6, 2)), np.zeros(6)])
    found = place_means(hyperplanes(means, np.tile([0.0, 0.0, 1.0], (6, 1))), chain(6))
    # All are neighbors of all.
    for i in range(6):
        expected = np.linalg.norm(means - means[i], axis=1)
        distances = np.linalg.norm(found.translations - found.translations[i], axis=1)
        np.testing.assert_allclose(distances, expected, atol=ROUNDING)


def test_pieces_out_of_reach_are_held_by_the_tree():
    # Two groups of twenty, all neighbors of which are their own.
    along = np.concatenate([np.linspace(0, 1, 20), np.linspace(50, 51, 20)])
    means = np.column_stack([along, np.zeros(40)])
    found = place_means(hyperplanes(means, np.tile([0.0, 1.0], (40, 1))), chain(40))
    places = found.translations[:, 0]
    np.testing.assert_allclose(np.abs(places - places[0]), along, atol=51 * ROUNDING)


def test_an_edge_of_the_tree_that_leads_to_a_neighbor_counts_once():
    # The first is a neighbor of none, but its own neighbors are those of the tree, too.
    along = np.concatenate([[-10.0], np.linspace(0, 1, 20)])
    means = np.column_stack([along, np.zeros(21)])
    found = place_means(hyperplanes(means, np.tile([0.0, 1.0], (21, 1))), chain(21))
    places = found.translations[:, 0]
    np.testing.assert_allclose(np.abs(places - places[0]), along - along[0], atol=11 * ROUNDING)


def test_one_piece_stays_where_it_is():
    planes = hyperplanes([[1.0, 2.0, 3.0]], [[0.0, 0.0, 1.0]])
    found = place_means(planes, CellTree(np.empty((0, 2), dtype=int), np.empty((0, 2), dtype=int)))
    np.testing.assert_array_equal(found.translations, [[0.0, 0.0]])


def test_planes_that_are_no_hyperplanes_are_refused():
    X = np.random.RandomState(0).normal(size=(20, 4))
    planes = fit_planes(X, np.arange(20) % 2, 2)
    with pytest.raises(InvalidInputError, match="n_components=2 and X has 4 features"):
        place_means(planes, chain(2))
