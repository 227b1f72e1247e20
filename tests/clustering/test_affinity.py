"""Affinity propagation: blobs are found, many points are sampled, few are one cluster."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from isofold.clustering import affinity
from isofold.clustering.affinity import affinity_labels

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def blobs(rng, each, *, gap=100.0):
    """Return groups of unit spread, and which is which.

    The median similarity is about minus the square of the gap: splitting a blob of 20 saves at most
    some 20·4, and costs that; joining two costs each point of one of them as much.
    """
    truth = np.repeat(np.arange(4), each)
    return gap * CORNERS[truth] + rng.standard_normal((len(truth), 2)), truth


@pytest.mark.parametrize("seed", range(5))
def test_separated_blobs_are_found_in_any_order(seed):
    rng = np.random.default_rng(seed)
    X, truth = blobs(rng, 20)
    order = rng.permutation(len(X))
    labels = affinity_labels(X[order], random_state=seed, n_jobs=1)
    assert adjusted_rand_score(truth[order], labels) == 1.0
    np.testing.assert_array_equal(np.unique(labels), np.arange(4))


def test_every_point_belongs_to_the_nearest_exemplar():
    """Clusters are Voronoi cells of some of the points: each has a member nearest to all of it."""
    X = np.random.default_rng(0).random((120, 2))
    labels = affinity_labels(X, random_state=0, n_jobs=1)
    n_clusters = labels.max() + 1
    assert 1 < n_clusters < 60
    distances = cdist(X, X)
    best = [
        np.flatnonzero(labels == k)[
            np.argmin((distances[np.ix_(labels == k, labels == k)] ** 2).sum(axis=1))
        ]
        for k in range(n_clusters)
    ]
    # Exemplars are medoids of the messages' clusters, up to a few points at the rims.
    agreement = np.mean(np.argmin(distances[:, best], axis=1) == labels)
    assert agreement > 0.9


def test_many_points_are_sampled(monkeypatch):
    seen = []
    original = affinity.pdist

    def watched(sample, metric):
        seen.append(len(sample))
        return original(sample, metric)

    monkeypatch.setattr(affinity, "pdist", watched)
    X, truth = blobs(np.random.default_rng(1), 201)
    labels = affinity_labels(X, random_state=3, n_jobs=1)
    assert seen == [affinity.MOST_POINTS]
    assert len(labels) == 804
    # Whatever the clusters are, none joins two blobs.
    for k in range(labels.max() + 1):
        assert len(np.unique(truth[labels == k])) == 1


@pytest.mark.parametrize("seed", range(5))
def test_exemplars_of_a_sample_are_points_of_it(monkeypatch, seed):
    """Sorted or not, all blobs are in the sample, and its places are not taken for others."""
    monkeypatch.setattr(affinity, "MOST_POINTS", 40)
    rng = np.random.default_rng(seed)
    X, truth = blobs(rng, 30)
    order = rng.permutation(len(X)) if seed % 2 else np.arange(len(X))
    labels = affinity_labels(X[order], random_state=seed, n_jobs=1)
    for k in range(labels.max() + 1):
        assert len(np.unique(truth[order][labels == k])) == 1


def test_the_seed_chooses_the_sample(monkeypatch):
    monkeypatch.setattr(affinity, "MOST_POINTS", 60)
    X = np.random.default_rng(2).random((200, 2))
    first, again, other = (
        affinity_labels(X, random_state=seed, n_jobs=n_jobs)
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    )
    assert first.tobytes() == again.tobytes()
    assert not np.array_equal(first, other)
    for labels in (first, other):
        np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


def test_a_shared_generator_moves_on():
    rng = np.random.RandomState(0)
    X = np.random.default_rng(3).random((30, 2))
    affinity_labels(X, random_state=rng, n_jobs=1)
    assert rng.randint(2**31 - 1) != np.random.RandomState(0).randint(2**31 - 1)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_points_are_one_cluster(n):
    labels = affinity_labels(np.random.default_rng(n).random((n, 2)), random_state=0)
    np.testing.assert_array_equal(labels, np.zeros(n))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_labels_of_some_points_are_all_used(n):
    labels = affinity_labels(np.random.default_rng(n).random((n, 2)), random_state=0, n_jobs=1)
    assert len(labels) == n
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


@pytest.mark.parametrize(
    "points",
    [np.eye(5), np.zeros((6, 2)), np.array([[0.0], [1.0], [0.0], [1.0]])],
    ids=["simplex", "one place", "two places"],
)
def test_points_that_are_equally_far_from_each_other(points):
    labels = affinity_labels(points, random_state=0, n_jobs=1)
    assert len(labels) == len(points)
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


def test_about_as_many_clusters_as_asked_for():
    """The number falls with the preference in jumps; a search comes next to any of them."""
    X = np.random.default_rng(6).random((100, 2))
    for wanted in (1, 2, 5, 12, 30):
        labels = affinity_labels(X, n_clusters=wanted, random_state=0, n_jobs=1)
        np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
        assert abs(labels.max() + 1 - wanted) <= max(1, 0.2 * wanted)


@pytest.mark.parametrize("wanted", [39, 40, 1000])
def test_more_clusters_than_there_can_be(wanted):
    X = np.random.default_rng(7).random((40, 2))
    labels = affinity_labels(X, n_clusters=wanted, random_state=0, n_jobs=1)
    assert 30 <= labels.max() + 1 <= 40


def test_messages_that_do_not_settle_leave_it_to_means(monkeypatch):
    monkeypatch.setattr(affinity, "MOST_ROUNDS", 2)
    X = np.random.default_rng(4).random((49, 2))
    labels = affinity_labels(X, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(np.unique(labels), np.arange(7))


def test_float32_is_clustered_as_float64():
    X, _ = blobs(np.random.default_rng(5), 10)
    single = X.astype(np.float32)
    before = single.copy()
    np.testing.assert_array_equal(
        affinity_labels(single, random_state=0, n_jobs=1),
        affinity_labels(single.astype(np.float64), random_state=0, n_jobs=1),
    )
    np.testing.assert_array_equal(single, before)
