"""Points that draw each other: one sweep by its definition, fixed points, radii, threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.stress import local_stress
from isofold.stress.local_stress import WIDEST, LocalRules, reach_of, relax_all, relax_others
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Sums of up to a hundred terms of size one, in another order.
ROUNDING = 1e-12

# Distances of size one are handed over in single precision, and a point follows the mean of them.
SINGLE = 1e-6


def plane(n=40, seed=0, r=2):
    return np.random.RandomState(seed).uniform(size=(n, r))


def distances_between(X, Y):
    return np.linalg.norm(X[:, None, :] - Y[None, :, :], axis=2).astype(np.float32)


def naive_sweep(moving, places, wanted, reach, fixed_reach, radius, balance):
    """Move each point by the weighted mean of what the others want, pair after pair."""
    moved = moving.copy()
    for j, place in enumerate(moving):
        total, pull = 0.0, np.zeros(moving.shape[1])
        for i, other in enumerate(places):
            R = max(radius, reach[j], fixed_reach[i])
            d, on_map = float(wanted[j, i]), float(np.linalg.norm(other - place))
            weight = 0.0
            if d <= R:
                error = abs(on_map - d)
                huber = 1.0 if error <= 0.3 * d else 0.3 * d / error
                weight += (1.0 - balance) * huber
            if on_map < R:
                weight += balance
            total += weight
            if on_map > 0.0:
                pull += weight * (1.0 - d / on_map) * (other - place)
        if total > 0.0:
            moved[j] = place + pull / total
    return moved


@examples(15)
@given(
    seed=st.integers(0, 1000),
    r=st.integers(1, 3),
    n=st.integers(2, 20),
    balance=st.floats(0.05, 0.95),
    radius=st.floats(0.0, 1.5),
)
def test_one_sweep_is_its_definition(seed, r, n, balance, radius):
    wanted = distances_between(plane(n, seed, 3), plane(n, seed, 3))
    start, reach = plane(n, seed + 1, r), reach_of(wanted, 3)
    rules = LocalRules(balance=balance, radius=0.5, n_epochs=1)
    # One sweep only, with the widest radius.
    widest = WIDEST * float(wanted.max())
    found = relax_all(wanted, start, reach, rules, n_jobs=1)
    expected = naive_sweep(start, start, wanted, reach, reach, widest, balance)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)
    # The same with any radius, seen through points that stay.
    others = plane(5, seed + 2, r)
    asked = distances_between(plane(5, seed + 3, 3), plane(n, seed, 3))
    found = relax_others(
        asked,
        others,
        np.zeros(5),
        start,
        reach,
        rules,
        radius=radius,
        n_jobs=1,
    )
    for _ in range(local_stress.SETTLING):
        others = naive_sweep(others, start, asked, np.zeros(5), reach, radius, balance)
    np.testing.assert_allclose(found, others, rtol=0, atol=ROUNDING)


def test_a_flat_set_stays_where_it_is():
    X = plane(60)
    wanted = distances_between(X, X)
    rules = LocalRules(balance=0.2, radius=0.02, n_epochs=25)
    found = relax_all(wanted, X, reach_of(wanted, 8), rules, n_jobs=1)
    np.testing.assert_allclose(found, X, rtol=0, atol=SINGLE)


def test_a_shaken_flat_set_comes_back():
    X = plane(60)
    wanted = distances_between(X, X)
    shaken = X + 0.02 * np.random.RandomState(1).normal(size=X.shape)
    rules = LocalRules(balance=0.2, radius=0.5, n_epochs=60)
    found = relax_all(wanted, shaken, reach_of(wanted, 8), rules, n_jobs=1)
    # Majorization converges linearly; what is left of .02 after 60 sweeps is below a hundredth.
    assert_equal_up_to_rigid_motion(found, X, atol=2e-4)


@pytest.mark.parametrize("balance", [0.1, 0.9])
@pytest.mark.parametrize("apart", [0.2, 1.0, 5.0])
def test_two_points_come_to_their_distance(apart, balance):
    wanted = np.float32([[0.0, 1.0], [1.0, 0.0]])
    start = np.array([[0.0, 0.0], [apart, 0.0]])
    rules = LocalRules(balance=balance, radius=0.5, n_epochs=300)
    found = relax_all(wanted, start, np.ones(2), rules, n_jobs=1)
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(1.0, abs=SINGLE)
    # Neither is preferred.
    np.testing.assert_allclose(found.mean(axis=0), start.mean(axis=0), atol=ROUNDING)


def test_coincident_points_stay_finite():
    wanted = np.float32(1.0 - np.eye(4))
    rules = LocalRules(balance=0.5, radius=0.5, n_epochs=3)
    found = relax_all(wanted, np.zeros((4, 2)), np.ones(4), rules, n_jobs=1)
    np.testing.assert_array_equal(found, np.zeros((4, 2)))


def test_others_do_not_know_of_each_other():
    X = plane(40)
    wanted = distances_between(plane(12, seed=5), X)
    start = plane(12, seed=6)
    reach, fixed_reach = np.full(12, 0.2), np.full(40, 0.2)
    rules = LocalRules(balance=0.2, radius=0.1, n_epochs=1)
    together = relax_others(wanted, start, reach, X, fixed_reach, rules, radius=0.1, n_jobs=1)
    alone = [
        relax_others(
            wanted[i : i + 1],
            start[i : i + 1],
            reach[i : i + 1],
            X,
            fixed_reach,
            rules,
            radius=0.1,
            n_jobs=1,
        )
        for i in range(12)
    ]
    np.testing.assert_array_equal(together, np.vstack(alone))


def test_others_find_their_place_among_points_that_stay():
    X, others = plane(60), 0.2 + 0.6 * plane(10, seed=5)
    shaken = others + 0.02 * np.random.RandomState(7).normal(size=others.shape)
    wanted = distances_between(others, X)
    rules = LocalRules(balance=0.2, radius=0.1, n_epochs=1)
    found = relax_others(
        wanted, shaken, np.full(10, 0.3), X, np.full(60, 0.3), rules, radius=0.3, n_jobs=1
    )
    # Twenty steps of majorization, each of which halves the gap about: .02 becomes 1e-4 at most.
    np.testing.assert_allclose(found, others, atol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 37])
def test_threads_change_no_byte(n):
    X = plane(n, r=3)
    wanted, start = distances_between(X, X), plane(n, seed=3)
    rules = LocalRules(balance=0.3, radius=0.05, n_epochs=7)
    reach = reach_of(wanted, 5)
    one, two, many = (relax_all(wanted, start, reach, rules, n_jobs=k) for k in (1, 2, 5))
    assert one.tobytes() == two.tobytes() == many.tobytes()


def test_the_start_is_not_written_to():
    X = plane(20)
    wanted, start = distances_between(X, X), plane(20, seed=3)
    before = start.copy()
    start.flags.writeable = wanted.flags.writeable = False
    rules = LocalRules(balance=0.3, radius=0.05, n_epochs=3)
    relax_all(wanted, start, reach_of(wanted, 5), rules, n_jobs=2)
    np.testing.assert_array_equal(start, before)


def test_radii_shrink_from_most_pairs_to_a_share_of_them():
    X = plane(100)
    wanted = distances_between(X, X)
    radii = LocalRules(balance=0.3, radius=0.05, n_epochs=40).radii(wanted)
    pairs = wanted[wanted > 0.0]
    assert len(radii) == 40
    assert radii[0] == WIDEST * wanted.max()
    assert (np.diff(radii) <= 0.0).all()
    # The last quarter of the sweeps has the last radius.
    assert radii[-1] == radii[-9] == pytest.approx(np.quantile(pairs, 0.05), rel=1e-6)


def test_radii_of_many_distances_are_read_from_some(monkeypatch):
    X = plane(100)
    wanted = distances_between(X, X)
    rules = LocalRules(balance=0.3, radius=0.2, n_epochs=5)
    every = rules.radii(wanted)
    monkeypatch.setattr(local_stress, "QUANTILE_SAMPLE", 1000)
    some = rules.radii(wanted)
    assert some[0] == every[0]
    # The standard error of this quantile from 1,000 distances is 3 %.
    assert some[-1] == pytest.approx(every[-1], rel=0.1)


def test_radii_without_distances():
    np.testing.assert_array_equal(
        LocalRules(balance=0.3, radius=0.2, n_epochs=3).radii(np.zeros((4, 4))), np.zeros(3)
    )


def test_reach_is_the_distance_of_the_last_neighbor():
    X = plane(30)
    wanted = distances_between(X, X)
    np.testing.assert_array_equal(reach_of(wanted, 4), np.sort(wanted, axis=1)[:, 4])
    # There are no more neighbors than others.
    np.testing.assert_array_equal(reach_of(wanted, 99), wanted.max(axis=1))
    assert reach_of(wanted, 4).dtype == np.float64
    np.testing.assert_array_equal(reach_of(np.zeros((1, 1), dtype=np.float32), 3), [0.0])
