"""OutOfSample: what it hands on to the embedders of others, and what it takes from them."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import MDS, Isomap, SpectralEmbedding
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from isofold import MVU, OutOfSample
from isofold.exceptions import InvalidInputError
from isofold.extension import DistanceMap

X = np.random.RandomState(0).normal(size=(90, 4)) * [3.0, 2.0, 1.0, 0.5]


class Plain:
    """An embedder that knows nothing of scikit-learn."""

    def fit_transform(self, points):
        return points[:, :2] * 2.0


def test_an_embedder_without_parameters():
    model = OutOfSample(Plain()).fit(X)
    np.testing.assert_array_equal(model.embedding_, 2.0 * X[:, :2])
    np.testing.assert_array_equal(model.transform(X), 2.0 * X[:, :2])


def test_labels_are_handed_on():
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = OutOfSample(LinearDiscriminantAnalysis()).fit(X, labels)
    expected = LinearDiscriminantAnalysis().fit(X, labels).transform(X)
    np.testing.assert_allclose(model.embedding_, expected, atol=1e-12)
    with pytest.raises(InvalidInputError, match="LinearDiscriminantAnalysis refused X"):
        OutOfSample(LinearDiscriminantAnalysis()).fit(X)


def test_the_seed_reaches_into_pipelines():
    steps = make_pipeline(StandardScaler(), MDS(n_init=1, init="random", max_iter=5))
    first, again, other = (
        OutOfSample(steps, random_state=seed).fit_transform(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


@pytest.mark.parametrize("estimator", [Isomap(n_neighbors=12, metric="precomputed"), None])
def test_distances_are_known_as_such(estimator):
    estimator = estimator or MDS(metric="precomputed", n_init=1, init="random", random_state=0)
    model = OutOfSample(estimator).fit(squareform(pdist(X)))
    assert isinstance(model.map_, DistanceMap)
    np.testing.assert_allclose(model.transform(cdist(X, X)), model.embedding_, atol=1e-9)


def test_a_graph_of_distances():
    graph = kneighbors_graph(X[:, :2], 12, mode="distance")
    graph = graph.maximum(graph.T)
    model = OutOfSample(MVU(metric="precomputed", random_state=0)).fit(graph)
    # Nothing says that a row is that of a sample: it is placed by lengths, which MVU keeps to 1e-3.
    np.testing.assert_allclose(model.transform(graph), model.embedding_, atol=1e-2)


@pytest.mark.parametrize(
    "estimator", [SpectralEmbedding(affinity="precomputed"), KernelPCA(kernel="precomputed")]
)
def test_similarities_are_those_of_the_estimator(estimator):
    K = np.exp(-squareform(pdist(X)))
    model = OutOfSample(estimator).fit(K)
    assert get_tags(model).input_tags.pairwise
    # BLAS rounds by the threads that it has.
    np.testing.assert_allclose(model.embedding_, clone(estimator).fit_transform(K), atol=1e-12)
    np.testing.assert_allclose(model.transform(K[:5]), model.embedding_[:5], atol=1e-12)


def test_a_method_must_have_a_transform():
    with pytest.raises(InvalidInputError, match="no transform"):
        OutOfSample(PCA(2), method=lambda points, images: 3).fit(X)


def test_an_approximate_search_can_be_pickled():
    model = OutOfSample(PCA(2), search="hnsw").fit(X)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.transform(X + 0.1), model.transform(X + 0.1))


@pytest.mark.parametrize("wrong", [{"method": "x"}, {"scaling": "x"}, {"search": "x"}])
def test_parameters_are_looked_at_before_the_embedder_takes_its_time(wrong):
    class Slow:
        def fit_transform(self, points):
            pytest.fail("The embedder was asked in vain.")

    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        OutOfSample(Slow(), **wrong).fit(X)
