"""Natural units: one number suits all sizes and scales."""

import numpy as np
import pytest

from isofold.sdp import GramSDP, LowRankSDP
from isofold.sdp.posing.natural_units import natural_penalty
from support.sdp_problems import complete_edges, cycle_edges, path_edges, squared_lengths

# The smallest eigenvalue behind the unit is found by an iteration up to 1e-6 or better.
UNIT = 1e-6


def laplacian(n, edges):
    L = np.zeros((n, n))
    for i, j in edges:
        L[i, i] += 1
        L[j, j] += 1
        L[i, j] -= 1
        L[j, i] -= 1
    return L


@pytest.mark.parametrize(
    ("n", "edges"),
    [(2, path_edges(2)), (9, path_edges(9)), (8, cycle_edges(8)), (6, complete_edges(6))],
    ids=["pair", "path", "cycle", "complete"],
)
@pytest.mark.parametrize("squared", [1.0, 9.0, 1e-12])
def test_unit_lengths_weigh_one_over_the_second_eigenvalue(n, edges, squared):
    second = np.linalg.eigvalsh(laplacian(n, edges))[1]
    penalty = natural_penalty(n, edges, np.full(len(edges), squared))
    np.testing.assert_allclose(penalty, 1 / second / squared, rtol=UNIT)


@pytest.mark.parametrize("unit", [1e-10, 1e-3, 1e8])
def test_penalties_follow_the_unit_of_lengths(unit):
    points = np.random.RandomState(0).rand(12, 3)
    edges = complete_edges(12)[::2]
    squared = squared_lengths(points, edges)
    one, other = (natural_penalty(12, edges, s * squared) for s in (1.0, unit))
    # A penalty times the square of a squared length is a squared length, as the objective is.
    np.testing.assert_allclose(other * unit, one, rtol=UNIT)


def test_relative_errors_weigh_alike():
    edges = path_edges(4)
    squared = np.array([1.0, 4.0, 1e-6])
    penalty = natural_penalty(4, edges, squared)
    assert penalty[0] / penalty[1] == pytest.approx(4.0)
    # Very short ones do not weigh more than those of a twentieth of the mean.
    assert penalty[2] / penalty[0] == pytest.approx(1.0 / (0.05 * squared.mean()))


def test_no_pairs():
    assert natural_penalty(1, np.empty((0, 2), dtype=int), []).shape == (0,)


def test_stretch_does_not_depend_on_size_or_scale():
    # Cycles of any size: the multipliers are 1/λ₂, so that squared sides are 1 + 1/16.
    for n, side in ((4, 1.0), (15, 1e-3)):
        edges, squared = cycle_edges(n), np.full(n, side**2)
        penalty = 16.0 * natural_penalty(n, edges, squared)
        problem = GramSDP.unfolding(n, edges, squared, penalty=penalty)
        Y = LowRankSDP(tol=1e-8, random_state=0).solve(problem).coordinates
        np.testing.assert_allclose(squared_lengths(Y, edges) / squared, 1 + 1 / 16, rtol=1e-3)
