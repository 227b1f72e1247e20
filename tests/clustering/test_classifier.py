import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

from isofold.clustering.classifier import LocalSubspaceClassifier
from isofold.clustering.ldlc import LDLC
from isofold.clustering.mppca import MPPCA
from isofold.exceptions import InvalidInputError
from isofold.quality import purity
from support.estimator_checks import checks_of_forms
from support.quick import quick_first


class Intervals(ClusterMixin, BaseEstimator):
    """Clusters that a test knows: the whole part of the first feature, plus `shift`."""

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, y=None):
        self.labels_ = self.predict(X)
        return self

    def predict(self, X):
        return np.floor(np.asarray(X)[:, 0]).astype(int) + self.shift


def blobs(seed=0):
    """Four blobs of two classes, 30 points each."""
    rng = np.random.RandomState(seed)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
    X = np.repeat(centers, 30, axis=0) + rng.standard_normal((120, 2))
    return X, np.repeat([0, 1, 1, 0], 30)


def intervals(*first_features):
    return np.array(first_features, dtype=float)[:, None]


@checks_of_forms(
    LocalSubspaceClassifier(clusterer=KMeans(n_clusters=3), random_state=0),
    LocalSubspaceClassifier(random_state=0),
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(n_clusters=5),
        GaussianMixture(n_components=5),
        MPPCA(n_clusters=5, n_components=1),
        LDLC(n_clusters=5, n_components=1),
    ],
    ids=["KMeans", "GaussianMixture", "MPPCA", "LDLC"],
)
@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_score_with_all_labels_is_the_purity(clusterer, seed):
    X, y = blobs()
    y = np.where(np.random.RandomState(seed).uniform(size=len(y)) < 0.3, 2, y)
    classifier = LocalSubspaceClassifier(clusterer=clusterer, random_state=seed).fit(X, y)
    expected = purity(classifier.clusterer_.predict(X), y)
    assert classifier.score(X, y) == pytest.approx(expected)
    np.testing.assert_array_equal(classifier.transduction_, y)


def test_one_label_a_cluster_is_enough():
    X, y = blobs()
    given = np.full(len(y), -1)
    given[[5, 35, 65, 95]] = y[[5, 35, 65, 95]]
    clusterer = KMeans(n_clusters=4, n_init=10)
    classifier = LocalSubspaceClassifier(clusterer=clusterer, random_state=0).fit(X, given)
    np.testing.assert_array_equal(classifier.classes_, [0, 1])
    np.testing.assert_array_equal(classifier.transduction_, y)
    assert classifier.score(X, y) == 1.0
    assert classifier.n_features_in_ == 2


def test_default_clusterer_is_localized():
    X, y = blobs()
    classifier = LocalSubspaceClassifier(random_state=0).fit(X, y)
    assert isinstance(classifier.clusterer_, LDLC)
    assert classifier.score(X, y) == 1.0


def test_majority_shares_and_given_labels():
    X = intervals(0.1, 0.2, 0.3, 0.4, 1.1, 1.2)
    y = [7, 7, 5, -1, 5, -1]
    classifier = LocalSubspaceClassifier(clusterer=Intervals()).fit(X, y)
    np.testing.assert_array_equal(classifier.clusters_, [0, 1])
    np.testing.assert_array_equal(classifier.cluster_labels_, [7, 5])
    np.testing.assert_allclose(classifier.cluster_proba_, [[1 / 3, 2 / 3], [1.0, 0.0]])
    np.testing.assert_array_equal(classifier.transduction_, [7, 7, 5, 7, 5, 5])
    np.testing.assert_array_equal(classifier.predict(X), [7, 7, 7, 7, 5, 5])
    np.testing.assert_allclose(classifier.predict_proba([[1.5]]), [[1.0, 0.0]])


def test_of_equally_frequent_classes_the_first_names_the_cluster():
    X = intervals(0.1, 0.2, 1.1, 1.2, 1.3)
    classifier = LocalSubspaceClassifier(clusterer=Intervals()).fit(X, [9, 3, 9, 9, 9])
    np.testing.assert_array_equal(classifier.cluster_labels_, [3, 9])
    shares = classifier.predict_proba(X)
    np.testing.assert_array_equal(classifier.classes_[shares.argmax(1)], classifier.predict(X))


def test_clusters_without_labels_ask_the_nearest():
    X = intervals(0.5, 1.5, 2.5, 5.5, 6.5)
    classifier = LocalSubspaceClassifier(clusterer=Intervals()).fit(X, [1, -1, -1, -1, 2])
    # 2.5 is nearer to 0.5 than to 6.5; clusters named in this way name no others.
    np.testing.assert_array_equal(classifier.transduction_, [1, 1, 1, 2, 2])
    np.testing.assert_allclose(classifier.cluster_proba_[2], [1.0, 0.0])


@pytest.mark.parametrize("shift", [0, -3, 10])
def test_clusters_that_no_training_point_is_in(shift):
    X = intervals(0.5, 5.5)
    classifier = LocalSubspaceClassifier(clusterer=Intervals(shift=shift)).fit(X, ["a", "b"])
    np.testing.assert_array_equal(
        classifier.predict(intervals(-9.5, 0.1, 2.5, 3.5, 5.9, 20.5)), list("aaabbb")
    )


@pytest.mark.parametrize(
    ("y", "classes", "transduction"),
    [
        ([4, -1, 6, 6], [4, 6], [4, 4, 6, 6]),
        ([4.0, -1.0, 6.0, 6.0], [4, 6], [4, 4, 6, 6]),
        (np.array([4, None, 6, 6], dtype=object), [4, 6], [4, 4, 6, 6]),
        (np.array(["u", None, "v", "v"], dtype=object), ["u", "v"], ["u", "u", "v", "v"]),
        (np.array(["u", -1, "v", "v"], dtype=object), ["u", "v"], ["u", "u", "v", "v"]),
        (["u", "u", "v", "v"], ["u", "v"], ["u", "u", "v", "v"]),
        ([True, True, False, False], [False, True], [True, True, False, False]),
        # -1 and one other number are two classes.
        ([-1, -1, 1, 1], [-1, 1], [-1, -1, 1, 1]),
        (np.array([-1, -1, 1, 1], dtype=object), [-1, 1], [-1, -1, 1, 1]),
    ],
    ids=["int", "float", "int-none", "text-none", "text-minus", "text", "bool", "pm", "pm-object"],
)
def test_kinds_of_labels(y, classes, transduction):
    X = intervals(0.1, 0.2, 1.1, 1.2)
    classifier = LocalSubspaceClassifier(clusterer=Intervals()).fit(X, y)
    assert classifier.classes_.tolist() == classes
    assert classifier.transduction_.tolist() == transduction
    assert classifier.predict(X).tolist() == transduction


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        ([-1, -1, -1, -1], "None of the 4 rows"),
        ([0, 1, -1], "4 rows and y has 3"),
        ([0.0, np.nan, 1.0, -1.0], "NaN"),
        ([0.0, np.inf, 1.0, -1.0], "infinity"),
        (np.array(["u", np.nan, "v", None], dtype=object), "NaN"),
        (["u", -1, "v", "v"], "turned into text"),
        (np.array(["u", 2, "v", None], dtype=object), "classes"),
        ([0.5, 1.25, 3.0, 4.0], "Unknown label type"),
        ([[0, 1]] * 4, "1d array"),
    ],
    ids=[
        "none",
        "unlabeled",
        "short",
        "nan",
        "inf",
        "nan-text",
        "mark-text",
        "mixed",
        "real",
        "table",
    ],
)
def test_bad_labels(y, message):
    X = intervals(0.1, 0.2, 1.1, 1.2)
    with pytest.raises(InvalidInputError, match=message):
        LocalSubspaceClassifier(clusterer=Intervals()).fit(X, y)


@pytest.mark.parametrize(
    ("clusterer", "message"),
    [
        (AgglomerativeClustering(), "without"),
        (KMeans, "a class"),
        ("k-means", "without"),
    ],
    ids=["no-predict", "class", "word"],
)
def test_bad_clusterers(clusterer, message):
    with pytest.raises(InvalidInputError, match=message):
        LocalSubspaceClassifier(clusterer=clusterer).fit(intervals(0.1, 1.1), [0, 1])


def test_random_state_reaches_the_clusterer_but_overrules_none():
    X, y = blobs()
    drawn = LocalSubspaceClassifier(clusterer=KMeans(3), random_state=0).fit(X, y)
    own = LocalSubspaceClassifier(clusterer=KMeans(3, random_state=5), random_state=0).fit(X, y)
    assert drawn.clusterer.random_state is None
    assert drawn.clusterer_.random_state is not None
    assert own.clusterer_.random_state == 5
    again = clone(drawn).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), drawn.predict_proba(X))
    with pytest.raises(InvalidInputError, match="random_state"):
        LocalSubspaceClassifier(clusterer=KMeans(3), random_state="seed").fit(X, y)


def test_refused_fit_keeps_the_last():
    X, y = blobs()
    classifier = LocalSubspaceClassifier(clusterer=KMeans(4), random_state=0).fit(X, y)
    before = classifier.predict(X)
    with pytest.raises(InvalidInputError):
        classifier.fit(X[:, :1], np.full(len(X), -1))
    np.testing.assert_array_equal(classifier.predict(X), before)


@pytest.mark.parametrize(
    ("n_features", "n_classes", "n_clusters", "r"), [(1, 2, 8, 1), (5, 3, 12, 2)]
)
def test_default_clusterer_has_several_flat_clusters_a_class(n_features, n_classes, n_clusters, r):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((60, n_features)), np.arange(60) % n_classes
    chosen = LocalSubspaceClassifier(random_state=0).fit(X, y).clusterer_.get_params()
    assert (chosen["n_clusters"], chosen["n_components"], chosen["rho"]) == (n_clusters, r, 0.1)


def test_default_clusterer_of_few_points():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    model = LocalSubspaceClassifier(random_state=0).fit(X, y)
    assert model.clusterer_.n_clusters == 6
    np.testing.assert_array_equal(model.predict(X), y)
