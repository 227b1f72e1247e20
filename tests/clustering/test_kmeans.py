import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.clustering import kmeans
from isofold.datasets import swiss_roll
from isofold.exceptions import InvalidInputError
from support.hypothesis_profiles import examples


@pytest.fixture(params=["faiss", "lloyd", "minibatch"])
def backend(request, monkeypatch):
    """Run a test with each of the three ways to find centers."""
    if request.param != "faiss":
        monkeypatch.setitem(sys.modules, "faiss", None)
    if request.param == "minibatch":
        # The package has a function of the same name as this module.
        module = import_module("isofold.clustering.kmeans")
        monkeypatch.setattr(module, "MOST_LLOYD_PAIRS", 0)
    return request.param


def nearest_gap(points, clusters):
    """Return how much farther points are from their own center than from the nearest, squared."""
    squares = ((points[:, None, :] - clusters.centers[None]) ** 2).sum(axis=2)
    return squares[np.arange(len(points)), clusters.labels] - squares.min(axis=1)


@pytest.mark.usefixtures("backend")
def test_every_point_is_with_its_nearest_center():
    points = swiss_roll(3000, random_state=1).X
    clusters = kmeans(points, 40, random_state=0)
    assert nearest_gap(points, clusters).max() == 0.0
    assert 30 <= clusters.n_clusters <= 40
    assert (np.bincount(clusters.labels) > 0).all()


@pytest.mark.usefixtures("backend")
def test_clusters_are_about_as_tight_as_those_of_many_restarts():
    from sklearn.cluster import KMeans

    points = swiss_roll(1000, random_state=1).X
    clusters = kmeans(points, 20, random_state=0)
    spread = ((points - clusters.centers[clusters.labels]) ** 2).sum()
    best = KMeans(20, n_init=5, random_state=0).fit(points).inertia_
    # One start from a sample against five from all points: local minima of k-means in a plane
    # differ by some percent; centers that are plain random points would be at twice the best.
    assert spread < 1.3 * best


@pytest.mark.usefixtures("backend")
def test_two_far_groups_are_told_apart():
    rng = np.random.RandomState(0)
    points = np.concatenate([rng.rand(50, 4), 100.0 + rng.rand(70, 4)])
    labels = kmeans(points, 2, random_state=3).labels
    assert len(np.unique(labels[:50])) == 1
    assert len(np.unique(labels[50:])) == 1
    assert labels[0] != labels[-1]


@pytest.mark.usefixtures("backend")
def test_same_bytes_whatever_the_number_of_threads():
    points = swiss_roll(4000, random_state=2).X
    first = kmeans(points, 30, random_state=5)
    for n_jobs in (1, 2, -1):
        again = kmeans(points, 30, random_state=5, n_jobs=n_jobs)
        assert again.labels.tobytes() == first.labels.tobytes()
        assert again.centers.tobytes() == first.centers.tobytes()


@pytest.mark.usefixtures("backend")
def test_single_precision_stays():
    points = swiss_roll(500, random_state=0).X.astype(np.float32)
    assert kmeans(points, 7, random_state=0).centers.dtype == np.float32


@pytest.mark.usefixtures("backend")
def test_far_from_the_origin():
    points = 1e7 + swiss_roll(2000, random_state=0).X
    clusters = kmeans(points, 20, random_state=0)
    assert clusters.n_clusters >= 15
    assert nearest_gap(points, clusters).max() == 0.0


@pytest.mark.usefixtures("backend")
def test_many_columns():
    rng = np.random.RandomState(0)
    points = rng.rand(600, 3) @ rng.rand(3, 40)
    # Distances from matrix products are checked again directly, up to ties within 1e-10.
    assert nearest_gap(points, kmeans(points, 12, random_state=0)).max() < 1e-9


@pytest.mark.usefixtures("backend")
def test_copies_stay_together_and_count_once_where_nearly_all_are_copies():
    rng = np.random.RandomState(0)
    points = np.concatenate([np.zeros((50_000, 2)), rng.rand(30, 2)])
    clusters = kmeans(points, 20, random_state=0)
    assert len(np.unique(clusters.labels[:50_000])) == 1
    assert clusters.n_clusters > 10


def test_too_few_distinct_points():
    points = np.repeat(np.arange(4.0)[:, None], 25, axis=0)
    with pytest.raises(InvalidInputError, match=r"5 clusters .* only 4 of the 100 points differ"):
        kmeans(points, 5, random_state=0)


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, True])
def test_numbers_of_clusters_that_are_none(n_clusters):
    with pytest.raises(InvalidInputError, match="n_clusters"):
        kmeans(np.eye(5), n_clusters, random_state=0)


@examples(40)
@given(seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 9), side=st.integers(3, 6))
def test_labels_number_the_clusters_that_have_points(seed, n_clusters, side):
    # A small grid with many copies: clusters do empty out.
    points = np.random.RandomState(seed).randint(side, size=(60, 2)).astype(np.float64)
    n_distinct = len(np.unique(points, axis=0))
    clusters = kmeans(points, min(n_clusters, n_distinct), random_state=seed)
    assert np.bincount(clusters.labels, minlength=clusters.n_clusters).min() > 0
    assert clusters.labels.max() + 1 == clusters.n_clusters == len(clusters.centers)
    assert np.isfinite(clusters.centers).all()
