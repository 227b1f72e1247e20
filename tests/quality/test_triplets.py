"""Triplets keep their order: double loops, ties, paths, pieces, and what is refused."""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import somersd

from isofold import datasets
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph, geodesic_distances
from isofold.quality import triplet_accuracy
from isofold.quality.sweep import order_of_others
from isofold.quality.triplets import _kept_order


def accuracy(before, after):
    """Return the fraction of pairs that keep their order, pair by pair."""
    kept, pairs = 0.0, 0
    for (a, c), (b, d) in combinations(zip(before, after, strict=True), 2):
        pairs += a != b
        kept += 0.0 if a == b else 0.5 if c == d else float((a < b) == (c < d))
    return kept, pairs


def all_triplets(before, after):
    counts = np.array(
        [accuracy(np.delete(before[i], i), np.delete(after[i], i)) for i in range(len(before))]
    )
    return counts[:, 0].sum() / counts[:, 1].sum(), counts[:, 0] / counts[:, 1]


def pair(n=40, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 3))
    return X, X[:, :2] + 0.3 * rng.standard_normal((n, 2))


@pytest.mark.parametrize("n", [4, 17, 40])
def test_agrees_with_double_loops(n):
    X, Y = pair(n)
    expected, per_point = all_triplets(cdist(X, X), cdist(Y, Y))
    found = triplet_accuracy(X, Y, distances="straight")
    assert found == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(found.per_point, per_point, atol=1e-12)


def test_ties_are_left_out_in_the_data_and_count_half_on_the_map():
    rng = np.random.RandomState(0)
    # Whole numbers: squared distances are exact on either side.
    X, Y = rng.randint(0, 4, (30, 2)).astype(float), rng.randint(0, 3, (30, 2)).astype(float)
    squared = cdist(X, X, "sqeuclidean"), cdist(Y, Y, "sqeuclidean")
    expected, _ = all_triplets(*squared)
    found = triplet_accuracy(X, Y, distances="straight")
    assert found == pytest.approx(expected, abs=1e-12)
    D = somersd(np.delete(squared[0][0], 0), np.delete(squared[1][0], 0)).statistic
    assert found.per_point[0] == pytest.approx((1 + D) / 2, abs=1e-12)


def test_paths_are_those_of_the_neighbor_graph():
    X, Y = pair(60)
    paths = geodesic_distances(build_graph(X, n_neighbors=6), np.arange(60))
    assert np.isfinite(paths).all()
    expected, _ = all_triplets(paths, cdist(Y, Y))
    assert triplet_accuracy(X, Y, n_neighbors=6) == pytest.approx(expected, abs=1e-12)


def test_an_unfolded_sheet_is_right_along_the_data_only():
    roll = datasets.swiss_roll(800, random_state=0)
    # Six neighbors do not reach across the gap between two turns, twelve do.
    along, through = (
        triplet_accuracy(roll.X, roll.truth, distances=which, n_neighbors=6)
        for which in ("paths", "straight")
    )
    assert along > 0.97
    assert through < 0.7
    assert triplet_accuracy(roll.X, roll.X[:, :2], n_neighbors=6) < along - 0.2


def test_other_components_are_farther_and_ordered_by_straight_lines():
    rng = np.random.RandomState(0)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [40.0, 0.0]])
    X = np.vstack([rng.rand(12, 2) + center for center in centers])
    assert triplet_accuracy(X, X, distances="straight") == 1.0
    # The same pieces: only order inside of them, along paths, may differ a little.
    kept = triplet_accuracy(X, X, n_neighbors=4)
    assert kept > 0.97
    swapped = np.vstack([X[:12], X[12:24] + np.array([60.0, 0.0]), X[24:]])
    assert triplet_accuracy(X, swapped, n_neighbors=4) < kept - 0.2


def test_a_constant_map_is_chance():
    X, _ = pair()
    assert triplet_accuracy(X, np.zeros((40, 2)), distances="straight") == 0.5


def test_rotation_and_scale_cost_nothing():
    X, Y = pair()
    rotation = np.linalg.qr(np.random.RandomState(1).standard_normal((2, 2)))[0]
    assert triplet_accuracy(X, 7.0 * Y @ rotation) == pytest.approx(triplet_accuracy(X, Y))


def test_a_sample_has_an_interval_around_the_exact_value():
    X, Y = pair(200)
    exact = triplet_accuracy(X, Y)
    some = triplet_accuracy(X, Y, n_samples=60, random_state=0)
    assert exact.exact
    assert some.interval[0] <= exact <= some.interval[1]
    np.testing.assert_allclose(some.per_point, exact.per_point[some.rows], atol=1e-12)
    assert some == triplet_accuracy(X, Y, n_samples=60, random_state=0, n_jobs=2)


def test_what_is_refused():
    X, Y = pair()
    with pytest.raises(InvalidInputError, match="distances"):
        triplet_accuracy(X, Y, distances="geodesic")
    simplex = 1.0 - np.eye(3)
    with pytest.raises(InvalidInputError, match="simplex"):
        triplet_accuracy(simplex, Y[:3], metric="precomputed", distances="straight")


@pytest.mark.parametrize("n", [150, 3000, 20_000])
def test_pairs_of_long_rows_are_counted_as_by_insertion(n):
    rng = np.random.RandomState(n)
    before, after = rng.standard_normal((2, n)) ** 2
    after[: n // 2] = before[: n // 2] + 0.01 * after[: n // 2]
    before[::7], after[::5] = np.round(before[::7], 2), np.round(after[::5], 2)
    order = np.lexsort((after, before))[np.lexsort((after, before)) != 3]
    seen, reversed_, tied = [], 0, 0
    for j in order:
        low, high = bisect_left(seen, after[j]), bisect_right(seen, after[j])
        reversed_ += len(seen) - high
        tied += high - low
        insort(seen, after[j])
    pairs = Counter(zip(before[order], after[order], strict=True))
    tied_in_both = sum(count * (count - 1) // 2 for count in pairs.values())
    same = sum(count * (count - 1) // 2 for count in Counter(before[order]).values())
    ordered = (n - 1) * (n - 2) // 2 - same
    kept = ordered - reversed_ - (tied - tied_in_both) / 2
    counts = _kept_order(before[None], after[None], np.array([3]))
    assert counts.tolist() == [[kept, ordered]]


def test_others_are_ordered_by_value_then_column():
    rng = np.random.RandomState(0)
    values = rng.standard_normal((4, 3000)) ** 2
    values[1] = np.round(values[1], 2)
    values[2] = 1.0 + 1e-13 * values[2]  # alike in all digits that fit beside a column
    values[3, ::2] = 0.0
    own = np.array([5, 0, 2999, 4])
    found = order_of_others(values, own)
    for row, mine, order in zip(values, own, found, strict=True):
        expected = np.argsort(row, kind="stable")
        np.testing.assert_array_equal(order[:-1], expected[expected != mine])
