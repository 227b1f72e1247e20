"""Lengths that are kept and lengths that are given up: sweeps by their definition, known maps."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from isofold import _parallel
from isofold._parallel import RowTeam
from isofold.stress._relax import relax, stranger_lengths
from isofold.stress.kept_lengths import (
    LengthRules,
    LengthsToKeep,
    keep_lengths,
    nearest_on_map,
)
from isofold.stress.near_lists import SparseRows
from support.helpers import assert_equal_up_to_rigid_motion

# Lengths of size one are kept in single precision.
SINGLE = 1e-6


def cloud(n, d=2, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def wanted_of(X, k=6, axes=None):
    """Return the lengths of the k nearest neighbors of points, either way."""
    distances, indices = cKDTree(X).query(X, k + 1)
    n = len(X)
    entries = (distances[:, 1:].ravel(), (np.repeat(np.arange(n), k), indices[:, 1:].ravel()))
    table = sp.coo_array(entries, shape=(n, n)).tocsr()
    reach = distances[:, -1].astype(np.float32)
    axes = X if axes is None else axes
    return LengthsToKeep(SparseRows.of(table.maximum(table.T)), reach, axes.astype(np.float32))


def pairs(lengths, n):
    """Return some lengths, by pairs, as all that is wanted of n points."""
    table = sp.lil_array((n, n))
    for (i, j), length in lengths.items():
        table[i, j] = table[j, i] = length
    reach = np.full(n, max(lengths.values()), dtype=np.float32)
    return LengthsToKeep(SparseRows.of(table.tocsr()), reach, np.empty((n, 0), dtype=np.float32))


# One sweep


def naive_sweep(points, wanted, near, apart, rules, velocity, momentum):
    """Move each point by the weighted mean of what the others want, pair after pair."""
    rows, moved, speeds = wanted.lengths, points.copy(), velocity.copy()
    reach, apart = wanted.reach.astype(float), apart.astype(float)
    for i in range(len(points)):
        total, pull = 1e-3, np.zeros(points.shape[1])
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            away = points[rows.indices[e]] - points[i]
            d, on_map = float(rows.values[e]), np.linalg.norm(away)
            fall = 1.0 + ((on_map - d) / (rules.tolerance * d)) ** 2
            weight = (1.0 - rules.hold) / fall**2 + rules.hold / np.sqrt(fall)
            weight *= (1.0 - rules.strangers) * min(1.0, rules.far * reach[i] / d) ** 2
            total += weight
            pull += weight * (1.0 - d / on_map) * away
        for j, least in zip(near[i], apart[i], strict=True):
            away = points[j] - points[i]
            on_map = np.linalg.norm(away)
            if 0.0 < on_map < least:
                total += rules.strangers
                pull += rules.strangers * (1.0 - least / on_map) * away
        speeds[i] = momentum * speeds[i] if pull @ speeds[i] > 0.0 else 0.0
        speeds[i] += rules.step * pull / total
        limit = rules.stride * reach[i]
        speeds[i] *= min(1.0, limit / np.linalg.norm(speeds[i]))
        moved[i] = points[i] + speeds[i]
    return moved, speeds


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("far", [6.0, 0.5])
def test_one_sweep_is_its_definition(p, far):
    wanted, points = wanted_of(cloud(40, 5)), cloud(40, p, seed=1)
    rules = LengthRules(far=far, stride=0.3)
    near, velocity = cKDTree(points).query(points, 9)[1].astype(np.int32), cloud(40, p, seed=2)
    with RowTeam(40, 1) as team:
        apart = wanted.of_strangers(near, rules, team)
    expected, speeds = naive_sweep(points, wanted, near, apart, rules, velocity, 0.7)
    moved, rows = np.empty_like(points), wanted.lengths
    relax(
        0,
        40,
        points,
        rows.indptr,
        rows.indices,
        rows.values,
        near,
        apart,
        wanted.reach,
        *rules.weights,
        rules.step,
        0.7,
        rules.stride,
        velocity,
        moved,
    )
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(velocity, speeds, rtol=0, atol=1e-12)


def test_strangers_are_to_be_as_far_as_in_the_data_and_no_farther():
    X, Y = cloud(50, 5), cloud(50)
    wanted, near = wanted_of(X), cKDTree(Y).query(Y, 12)[1].astype(np.int32)
    rows, found = wanted.lengths, np.empty((50, 12), dtype=np.float32)
    stranger_lengths(0, 50, near, rows.indptr, rows.indices, wanted.axes, wanted.reach, 1.5, found)
    for i in range(50):
        own = {i, *rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist()}
        for q, j in enumerate(near[i].tolist()):
            limit = 1.5 * max(wanted.reach[i], wanted.reach[j])
            expected = 0.0 if j in own else min(limit, np.linalg.norm(X[i] - X[j]))
            assert found[i, q] == pytest.approx(expected, rel=1e-5)


def test_all_distances_tell_as_much_as_coordinates():
    X, Y = cloud(50, 5), cloud(50)
    table = np.linalg.norm(X[:, None] - X, axis=2)
    known, near = wanted_of(X), cKDTree(Y).query(Y, 12)[1].astype(np.int32)
    blind = LengthsToKeep(known.lengths, known.reach, np.empty((50, 0), np.float32), 3 * table, 3.0)
    with RowTeam(50, 1) as team:
        expected = known.of_strangers(near, LengthRules(), team)
        found = blind.of_strangers(near, LengthRules(), team)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# Known maps


@pytest.mark.parametrize("apart", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_two_points_come_to_their_length(apart, p):
    start = np.zeros((2, p))
    start[1, 0] = apart
    found = keep_lengths(start, pairs({(0, 1): 1.0}, 2), LengthRules(), n_jobs=1)
    assert pdist(found)[0] == pytest.approx(1.0, abs=1e-3)


def torn(gap=30.0):
    """Return two pairs at their lengths, with a length of 1 wanted across a wide gap."""
    start = np.array([[0.0, 0.0], [1.0, 0.0], [1.0 + gap, 0.0], [2.0 + gap, 0.0]])
    return start, pairs({(0, 1): 1.0, (2, 3): 1.0, (1, 2): 1.0}, 4)


def test_a_length_that_was_given_up_is_left_alone():
    start, wanted = torn()
    found = keep_lengths(start, wanted, LengthRules(hold=0.0), n_jobs=1)
    # Its weight is (2 · 29)⁻⁴, a ten-millionth, in two hundred sweeps with tenfold momentum.
    np.testing.assert_allclose(found, start, rtol=0, atol=1e-2)


def test_a_length_that_is_not_given_up_pulls():
    start, wanted = torn()
    held = keep_lengths(start, wanted, LengthRules(hold=0.5), n_jobs=1)
    stubborn = keep_lengths(start, wanted, LengthRules(tolerance=1e3), n_jobs=1)
    gaps = [np.linalg.norm(points[1] - points[2]) for points in (held, stubborn)]
    assert gaps[0] < 29.0
    assert gaps[1] == pytest.approx(1.0, abs=1e-2)


def test_a_flat_set_stays_where_it_is():
    X = np.random.RandomState(0).uniform(size=(400, 2))
    found = keep_lengths(X, wanted_of(X), LengthRules(), n_jobs=1)
    assert_equal_up_to_rigid_motion(found, X, atol=100 * SINGLE)


def test_a_shaken_flat_set_comes_back():
    X = np.random.RandomState(0).uniform(size=(400, 2))
    wanted = wanted_of(X)
    shaken = X + 0.2 * np.median(wanted.reach) * cloud(400, seed=1)
    found = keep_lengths(shaken, wanted, LengthRules(), n_jobs=1)
    rows = wanted.lengths
    tails = np.repeat(np.arange(400), np.diff(rows.indptr))

    def error(points):
        on_map = np.linalg.norm(points[tails] - points[rows.indices], axis=1)
        return np.median(np.abs(on_map / rows.values - 1.0))

    assert error(shaken) > 0.1
    assert error(found) < 0.01


def test_strangers_are_pushed_out_of_a_neighborhood():
    # Two lines of points that lie on each other, whose neighbors are only those along the line.
    along = np.arange(20.0)
    lengths = {(i, i + 1): 1.0 for i in range(19)} | {(i, i + 1): 1.0 for i in range(20, 39)}
    start = np.column_stack([np.r_[along, along], np.r_[np.zeros(20), np.full(20, 0.05)]])
    rules = LengthRules(least=0.3, most=0.3)
    found = keep_lengths(start, pairs(lengths, 40), rules, n_jobs=1)
    nearest = np.linalg.norm(found[:20, None] - found[20:], axis=2).min(axis=1)
    # They are to be 1.5 apart, against what the lengths along the lines allow.
    assert np.median(nearest) > 1.0


# What does not matter


@pytest.mark.parametrize("p", [1, 2, 3])
def test_threads_change_no_byte(p, monkeypatch):
    monkeypatch.setattr(_parallel, "_LEAST_ROWS", 100)
    wanted, start = wanted_of(cloud(700, 5)), cloud(700, p, seed=1)
    rules = LengthRules(n_sweeps=7, refreshed=3, n_ramp=2)
    one, *others = (keep_lengths(start, wanted, rules, n_jobs=n) for n in (1, 2, 3, 5))
    assert all(one.tobytes() == other.tobytes() for other in others)


def test_the_start_is_not_written_to():
    start = cloud(60)
    start.flags.writeable = False
    keep_lengths(start, wanted_of(cloud(60, 5)), LengthRules(n_sweeps=3), n_jobs=1)


def test_points_that_coincide_stay_finite():
    found = keep_lengths(np.zeros((30, 2)), wanted_of(cloud(30, 5)), LengthRules(), n_jobs=1)
    assert np.isfinite(found).all()


def test_nearest_on_the_map():
    points = cloud(40)
    with RowTeam(40, 1) as team:
        found = nearest_on_map(points, points[:7], 5, team)
        every = nearest_on_map(points, points[:7], 99, team)
    expected = np.argsort(np.linalg.norm(points[:7, None] - points, axis=2), axis=1)
    np.testing.assert_array_equal(found, expected[:, :6])
    np.testing.assert_array_equal(every, expected)


# The balance


@pytest.mark.parametrize("n", [100, 50_000])
def test_the_balance_changes_rules_one_way(n):
    rules = [LengthRules.balanced(balance, n) for balance in np.linspace(0, 1, 11)]
    assert (np.diff([each.least for each in rules]) <= 0).all()
    assert (np.diff([each.share for each in rules]) <= 0).all()
    assert (np.diff([each.n_sweeps for each in rules[:6]]) > 0).all()
    assert rules[0].n_sweeps == 0
    assert rules[5] == LengthRules(n_sweeps=rules[-1].n_sweeps)
