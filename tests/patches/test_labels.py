import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

from isofold import Cover
from isofold.clustering import kmeans
from isofold.exceptions import InvalidInputError
from isofold.patches.labels import labels_of

POINTS = np.concatenate([np.arange(10.0), 100.0 + np.arange(10.0)])[:, None]


def test_kmeans_by_name():
    labels, centers = labels_of("kmeans", POINTS, n_patches=4, random_state=0)
    expected = kmeans(POINTS, 4, random_state=0)
    np.testing.assert_array_equal(labels, expected.labels)
    np.testing.assert_array_equal(centers, expected.centers)


@pytest.mark.parametrize(("n_points", "n_clusters"), [(10, 1), (100, 5), (5000, 50)])
def test_how_many_clusters_if_nobody_says(n_points, n_clusters):
    points = np.random.RandomState(0).rand(n_points, 2)
    labels, _ = labels_of("kmeans", points, n_patches=None, random_state=0)
    assert 0.8 * n_clusters <= labels.max() + 1 <= n_clusters


def test_a_clusterer_with_centers_is_left_as_it_was():
    clusterer = KMeans(3, n_init=1)
    labels, centers = labels_of(clusterer, POINTS, n_patches=None, random_state=7)
    assert not hasattr(clusterer, "labels_")
    assert clusterer.random_state is None
    for label, center in enumerate(centers):
        np.testing.assert_allclose(center, POINTS[labels == label].mean(axis=0), rtol=1e-12)
    again, _ = labels_of(clusterer, POINTS, n_patches=None, random_state=7)
    np.testing.assert_array_equal(labels, again)


def test_a_clusterer_without_centers():
    labels, centers = labels_of(AgglomerativeClustering(2), POINTS, n_patches=None, random_state=0)
    assert centers is None
    assert len(np.unique(labels[:10])) == len(np.unique(labels[10:])) == 1


def test_noise_goes_to_the_nearest_labelled_point():
    points = np.concatenate([POINTS, [[30.0], [70.0]]])
    clusterer = DBSCAN(eps=1.5, min_samples=2)
    assert (clusterer.fit_predict(points)[-2:] == -1).all()
    labels, _ = labels_of(clusterer, points, n_patches=None, random_state=0)
    assert labels.tolist() == [0] * 10 + [1] * 10 + [0, 1]


def test_nothing_but_noise():
    with pytest.raises(InvalidInputError, match="all 20 points noise"):
        labels_of(DBSCAN(eps=0.1), POINTS, n_patches=None, random_state=0)


@pytest.mark.parametrize("given", [[7, -1, 7], ["b", "a", "b"], np.array([True, False, True])])
def test_given_labels(given):
    labels, centers = labels_of(Cover.labels(given), np.eye(3), n_patches=None, random_state=0)
    assert labels.tolist() == [1, 0, 1]
    assert centers is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Cover.labels([0, 1]), "2 labels, but there are 3 points"),
        (Cover.labels([0.5, 1.0, 2.0]), "no labels"),
        (Cover.labels(np.eye(3, dtype=int)), "no labels"),
        ([0, 1, 1], r"cover is a list.*isofold.Cover.labels"),
        ("balls", "names no clustering"),
        (None, "cover is a NoneType"),
        (Cover.labels(np.array([0, "a", None], dtype=object)), "cannot be compared"),
    ],
)
def test_what_names_no_clusters(given, message):
    with pytest.raises(InvalidInputError, match=message):
        labels_of(given, np.eye(3), n_patches=None, random_state=0)


def test_a_predictor_of_something_else():
    class Regressor(KMeans):
        def fit_predict(self, X, y=None):
            return np.zeros(len(X))

    with pytest.raises(InvalidInputError, match="float64"):
        labels_of(Regressor(), POINTS, n_patches=None, random_state=0)
