"""Neighbor embedding: its gradient, its descent, and the lists that it is made of."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree

from isofold import _parallel
from isofold._parallel import RowTeam
from isofold.stress._forces import step
from isofold.stress.mesh import Mesh
from isofold.stress.near_lists import NearLists
from isofold.stress.neighbor_embedding import DescentRules, embed_neighbors

SHORT = DescentRules(n_annealed=4, n_sweeps=4)


def cloud(n, d=5, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def lists_of(X, k=7):
    distances, indices = cKDTree(X).query(X, k + 1)
    indptr = (k * np.arange(len(X) + 1)).astype(np.int32)
    return NearLists(indptr, indices[:, 1:].ravel().astype(np.int32), distances[:, 1:].ravel())


def dense(rows):
    n = len(rows.indptr) - 1
    return sp.csr_array((rows.values, rows.indices, rows.indptr), shape=(n, n)).toarray()


def probabilities(lists):
    """Return t-SNE's affinities by their definition: uniform on neighbors, symmetric, sum 1."""
    n = lists.n_points
    P = np.zeros((n, n))
    for i in range(n):
        own = lists.indices[lists.indptr[i] : lists.indptr[i + 1]]
        P[i, own] = 1.0 / len(own)
    return (P + P.T) / (2 * n)


def divergence(P, Y):
    q = 1.0 / (1.0 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    np.fill_diagonal(q, 0.0)
    Q = q / q.sum()
    near = P > 0.0
    return float((P[near] * np.log(P[near] / Q[near])).sum())


# Lists


def test_affinities_are_those_of_the_definition():
    lists = lists_of(cloud(60))
    np.testing.assert_allclose(
        dense(lists.affinities()), 60 * probabilities(lists), rtol=1e-6, atol=0
    )


def test_lengths_are_known_both_ways():
    X = cloud(60)
    table = dense(lists_of(X).symmetric())
    np.testing.assert_array_equal(table, table.T)
    first, second = np.nonzero(table)
    np.testing.assert_allclose(
        table[first, second], np.linalg.norm(X[first] - X[second], axis=1), rtol=1e-6
    )


def test_reordered_rows_are_those_of_the_points_in_that_order():
    X = cloud(60)
    order = np.random.RandomState(1).permutation(60)
    rows = lists_of(X).symmetric().reordered(order)
    np.testing.assert_array_equal(dense(rows), dense(lists_of(X).symmetric())[np.ix_(order, order)])
    for i in range(60):
        assert (np.diff(rows.indices[rows.indptr[i] : rows.indptr[i + 1]]) > 0).all()


def test_lists_are_cut_to_the_nearest():
    lists, few = lists_of(cloud(30)), lists_of(cloud(30), 3)
    cut = lists.nearest(3)
    np.testing.assert_array_equal(cut.indices, few.indices)
    np.testing.assert_array_equal(cut.lengths, few.lengths)
    np.testing.assert_array_equal(cut.reach, few.lengths.reshape(30, 3)[:, -1])
    np.testing.assert_array_equal(lists.nearest(99).indices, lists.indices)


def test_points_without_neighbors_have_the_usual_reach():
    lists = NearLists(np.int32([0, 1, 2, 2]), np.int32([1, 0]), np.array([2.0, 2.0]))
    np.testing.assert_array_equal(lists.reach, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(lists.counts, [1, 1, 0])
    nobody = NearLists(np.int32([0, 0]), np.int32([]), np.array([]))
    np.testing.assert_array_equal(nobody.reach, [1.0])


def test_short_lengths_never_vanish():
    lists = NearLists(np.int32([0, 1, 2]), np.int32([1, 0]), np.array([1e-60, 1.0]))
    assert (lists.in_unit(1.0).lengths > 0.0).all()


# Descent


def downhill(points, lists, attraction=1.0):
    """Return where a step of the kernel leads, without momentum and gain."""
    n, p = points.shape
    rows = lists.affinities()
    with RowTeam(n, 1) as team:
        field = Mesh(p, team).field(points)
    velocity, gain, moved = np.zeros((n, p)), np.ones((n, p)), np.empty((n, p))
    repelling = n / field.total
    step(
        0,
        n,
        points,
        rows.indptr,
        rows.indices,
        rows.values,
        field.force,
        attraction,
        repelling,
        1.0,
        0.0,
        velocity,
        gain,
        moved,
    )
    np.testing.assert_allclose(moved, points + velocity, rtol=0, atol=1e-12)
    return velocity / gain


@pytest.mark.parametrize("p", [1, 2, 3])
def test_steps_go_along_the_gradient_of_the_divergence(p):
    lists, Y, h = lists_of(cloud(60)), cloud(60, p, seed=1), 1e-5
    P, expected = probabilities(lists), np.empty((60, p))
    for i in range(60):
        for k in range(p):
            ahead, behind = Y.copy(), Y.copy()
            ahead[i, k] += h
            behind[i, k] -= h
            expected[i, k] = (divergence(P, ahead) - divergence(P, behind)) / (2 * h)
    # Affinities are kept in single precision, and forces of neighbors are of size one.
    np.testing.assert_allclose(downhill(Y, lists), -60 * expected, rtol=0, atol=1e-5)


def test_exaggeration_multiplies_attraction_only():
    lists, Y = lists_of(cloud(60)), cloud(60, 2, seed=1)
    once, twice, thrice = (downhill(Y, lists, factor) for factor in (1.0, 2.0, 3.0))
    np.testing.assert_allclose(twice - once, thrice - twice, rtol=0, atol=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_the_divergence_falls(p):
    lists, start = lists_of(cloud(300)), 1e-2 * cloud(300, p, seed=1)
    P = probabilities(lists)
    scaled = start / start.std()
    # Of any size, the start is a random map; this one is descended to.
    before = min(divergence(P, size * scaled) for size in (0.01, 0.1, 1.0, 3.0, 10.0))
    found = embed_neighbors(lists, start, n_jobs=1)
    assert divergence(P, found) < 0.75 * before
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-9 * np.abs(found).max())
    # And where it ends, it is flatter by far than at a random map.
    assert np.abs(downhill(found, lists)).mean() < 0.2 * np.abs(downhill(scaled, lists)).mean()


def test_neighbors_come_together():
    groups = np.repeat(np.arange(4), 40)
    X = cloud(160) + 20.0 * np.eye(5)[groups]
    found = embed_neighbors(lists_of(X), 1e-2 * cloud(160, 2, seed=1), n_jobs=1)
    near = cKDTree(found).query(found, 8)[1][:, 1:]
    assert (groups[near] == groups[:, None]).all()


def test_the_start_is_not_written_to():
    start = 1e-2 * cloud(60, 2)
    start.flags.writeable = False
    embed_neighbors(lists_of(cloud(60)), start, n_jobs=1, rules=SHORT)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_threads_change_no_byte(p, monkeypatch):
    monkeypatch.setattr(_parallel, "_LEAST_ROWS", 100)
    lists, start = lists_of(cloud(700)), cloud(700, p, seed=1)
    one, *others = (embed_neighbors(lists, start, n_jobs=n, rules=SHORT) for n in (1, 2, 3, 5))
    assert all(one.tobytes() == other.tobytes() for other in others)
