"""Clusters of a least size: sizes, the cheapest assignment, and what is joined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from isofold.clustering import balanced
from isofold.clustering.balanced import balanced_clusters, cluster_means, join_small
from isofold.exceptions import InvalidInputError

# Sums of some hundred squares of size one.
ROUNDING = 1e-9


def cheapest(points, centers, least):
    """Return the least sum of squares with `least` points a center: a linear program."""
    n, c = len(points), len(centers)
    squares = cdist(points, centers, "sqeuclidean")
    each_once = np.kron(np.eye(n), np.ones(c))
    sizes = np.tile(np.eye(c), n)
    found = linprog(
        squares.ravel(), A_ub=-sizes, b_ub=np.full(c, -least), A_eq=each_once, b_eq=np.ones(n)
    )
    return found.fun


@given(
    n=st.integers(1, 60),
    d=st.integers(1, 4),
    data=st.data(),
    seed=st.integers(0, 1000),
)
def test_no_cluster_is_too_small_and_none_is_missing(n, d, data, seed):
    c = data.draw(st.integers(1, n), label="c")
    least = data.draw(st.integers(1, n // c), label="least")
    # Copies too: places on a coarse grid.
    points = np.random.RandomState(seed).normal(size=(n, d)).round(1)
    found = balanced_clusters(points, c, least=least, random_state=seed)
    sizes = np.bincount(found.labels, minlength=len(found.centers))
    assert len(found.labels) == n
    assert len(sizes) == len(found.centers) <= c
    assert sizes.min() >= least
    for label, center in enumerate(found.centers):
        np.testing.assert_allclose(center, points[found.labels == label].mean(axis=0), atol=1e-12)


@given(n=st.integers(4, 24), c=st.integers(1, 5), d=st.integers(1, 3), seed=st.integers(0, 10_000))
def test_assignments_are_the_cheapest(n, c, d, seed):
    rng = np.random.RandomState(seed)
    c = min(c, n)
    points, centers = rng.normal(size=(n, d)), rng.normal(size=(c, d)) * 2
    least = int(rng.randint(1, n // c + 1))
    labels = balanced._assign(points, centers, least)
    assert np.bincount(labels, minlength=c).min() >= least
    cost = np.sum((points - centers[labels]) ** 2)
    assert cost == pytest.approx(cheapest(points, centers, least), rel=ROUNDING)


def test_assignments_look_beyond_the_nearest_centers():
    # Forty points at one center of forty: most of them must go far.
    centers = np.arange(40.0)[:, None]
    points = np.random.RandomState(0).uniform(-0.4, 0.4, size=(40, 1))
    labels = balanced._assign(points, centers, 1)
    np.testing.assert_array_equal(np.sort(labels), np.arange(40))
    # Sorted points to sorted centers: there is no cheaper way on a line.
    assert np.sum((points - centers[labels]) ** 2) == pytest.approx(
        np.sum((np.sort(points, axis=0) - centers) ** 2)
    )


def test_a_small_group_takes_the_points_that_are_missed_least():
    # Of nine points at 0 … 0.8 the nearest to the group of three at 9 make up its four.
    points = np.concatenate([np.linspace(0.0, 0.8, 9), [9.0, 9.1, 9.2]])[:, None]
    for seed in range(5):
        found = balanced_clusters(points, 2, least=4, random_state=seed)
        first, last = found.labels[0], found.labels[-1]
        np.testing.assert_array_equal(np.flatnonzero(found.labels == last), [8, 9, 10, 11])
        np.testing.assert_array_equal(np.flatnonzero(found.labels == first), np.arange(8))


def test_even_data_are_clustered_as_by_lloyd():
    # Where every cluster has its size, the least size changes nothing.
    points = np.concatenate(
        [np.random.RandomState(0).normal(size=(30, 2)) + 50 * i for i in (0, 1)]
    )
    labels = [
        balanced_clusters(points, 2, least=least, random_state=0).labels for least in (1, 15, 30)
    ]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])
    assert len(np.unique(labels[0][:30])) == len(np.unique(labels[0][30:])) == 1


@pytest.mark.parametrize("seed", range(3))
def test_many_points_are_balanced_without_a_flow(seed):
    n = balanced.MOST_MATCHED + 500
    points = np.random.RandomState(seed).normal(size=(n, 2))
    found = balanced_clusters(points, n // 10, least=5, random_state=seed)
    sizes = np.bincount(found.labels)
    assert sizes.min() >= 5
    # Some are joined: the digest's count for the roll is 213 of 222.
    assert 0.85 * n // 10 <= len(sizes) <= n // 10


def test_same_seed_same_clusters():
    points = np.random.RandomState(0).normal(size=(200, 3))
    one = balanced_clusters(points, 20, least=8, random_state=3, n_jobs=1).labels
    two = balanced_clusters(points, 20, least=8, random_state=3, n_jobs=2).labels
    np.testing.assert_array_equal(one, two)
    other = balanced_clusters(points, 20, least=8, random_state=4).labels
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(("shift", "unit"), [(1e6, 1.0), (0.0, 1e-6), (0.0, 1e6)])
def test_place_and_unit_do_not_matter(shift, unit):
    points = np.random.RandomState(0).normal(size=(120, 2)).round(3)
    one = balanced_clusters(points, 15, least=7, random_state=0).labels
    other = balanced_clusters(unit * (points + shift), 15, least=7, random_state=0).labels
    np.testing.assert_array_equal(one, other)


@given(
    n=st.integers(1, 50), c=st.integers(1, 20), least=st.integers(1, 12), seed=st.integers(0, 99)
)
def test_joined_clusters_are_unions_and_large_ones_stay_apart(n, c, least, seed):
    rng = np.random.RandomState(seed)
    points = rng.normal(size=(n, 2))
    labels = np.unique(rng.randint(c, size=n), return_inverse=True)[1]
    joined = join_small(points, labels, least)
    new_sizes = np.bincount(joined)
    assert new_sizes.min() >= min(least, n)
    # Each old cluster lies in one new cluster.
    pairs = np.unique(np.column_stack([labels, joined]), axis=0)
    assert len(pairs) == labels.max() + 1
    if np.bincount(labels).min() >= least:
        np.testing.assert_array_equal(joined, labels)


def test_the_smallest_joins_the_nearest():
    points = np.array([0.0, 0.1, 0.2, 1.0, 5.0, 5.1, 5.2])[:, None]
    joined = join_small(points, np.array([0, 0, 0, 1, 2, 2, 2]), 2)
    np.testing.assert_array_equal(joined, [0, 0, 0, 0, 1, 1, 1])


def test_means():
    points, labels = np.random.RandomState(0).normal(size=(30, 3)), np.arange(30) % 4
    expected = [points[labels == label].mean(axis=0) for label in range(4)]
    np.testing.assert_allclose(cluster_means(points, labels), expected, atol=1e-14)


def test_more_places_than_points_are_refused():
    with pytest.raises(
        InvalidInputError, match=r"4 clusters of 3 points or more need 12, but .* 10"
    ):
        balanced_clusters(np.random.RandomState(0).normal(size=(10, 2)), 4, least=3)


@pytest.mark.parametrize("wrong", [{"n_clusters": 0, "least": 1}, {"n_clusters": 2, "least": 0}])
def test_bad_counts_are_refused(wrong):
    with pytest.raises(InvalidInputError):
        balanced_clusters(np.zeros((5, 1)), **wrong)
