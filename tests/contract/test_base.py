"""The contract of every embedder, shown on a linear one that is as simple as possible."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_random_state

from helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from isofold._base import BaseEmbedder
from isofold._errors import EmbeddingError, InvalidInputError
from isofold.linalg import coordinates_from_gram, gram_from_distances, principal_coordinates

# One product of at most ten terms of size about one, in float64.
ATOL = 1e-12


class LinearEmbedder(BaseEmbedder):
    """Principal axes, turned at random so that the seed has something to do."""

    def __init__(self, *, n_components=2, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def _fit_embedding(self, X):
        if self.n_components > X.shape[1]:
            msg = f"n_components={self.n_components} exceeds n_features={X.shape[1]}."
            raise InvalidInputError(msg)
        result = principal_coordinates(X, self.n_components)
        rng = check_random_state(self.random_state)
        turn = ortho_group.rvs(self.n_components, random_state=rng) if self.n_components > 1 else 1
        self.mean_ = result.mean
        self.axes_ = np.dot(result.axes, turn)
        embedding = (X - self.mean_) @ self.axes_
        self.graph_ = kneighbors_graph(X, 1, mode="distance")
        self.distortion_ = np.linalg.norm(X - self.mean_ - embedding @ self.axes_.T, axis=1)
        return embedding

    def _transform(self, X):
        return (X - self.mean_) @ self.axes_


class InvertibleEmbedder(LinearEmbedder):
    def _inverse_transform(self, Y):
        return Y @ self.axes_.T + self.mean_


class DistanceEmbedder(BaseEmbedder):
    """Classical scaling of distances; new points take the place of the nearest sample."""

    def __init__(self, *, metric="euclidean"):
        self.metric = metric

    def _fit_embedding(self, X):
        distances = X if self.metric == "precomputed" else squareform(pdist(X))
        self.training_ = X
        self.graph_ = distances
        self.distortion_ = np.zeros(len(X))
        return coordinates_from_gram(gram_from_distances(distances**2), 1).coordinates

    def _transform(self, X):
        distances = X if self.metric == "precomputed" else cdist(X, self.training_)
        return self.embedding_[distances.argmin(axis=1)]


class ResultEmbedder(BaseEmbedder):
    """Returns what it is told, to show what the base class refuses."""

    def __init__(self, *, fitted=None, transformed=None):
        self.fitted = fitted
        self.transformed = transformed

    def _fit_embedding(self, X):
        return self.fitted

    def _transform(self, X):
        return self.transformed


def points(n=30, d=4, seed=0, dtype=np.float64):
    return np.random.RandomState(seed).normal(size=(n, d)).astype(dtype)


@parametrize_with_checks(
    [
        LinearEmbedder(random_state=0),
        InvertibleEmbedder(random_state=0),
        DistanceEmbedder(),
        DistanceEmbedder(metric="precomputed"),
    ]
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    # Without this variable scikit-learn skips its check with array API dispatch switched on.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("embedder", [LinearEmbedder(random_state=0), DistanceEmbedder()])
def test_contract(embedder, dtype):
    atol = ATOL if dtype is np.float64 else 1e-5
    assert_embedder_contract(embedder, points(dtype=dtype), atol=atol)


class ForgetfulEmbedder(LinearEmbedder):
    def _fit_embedding(self, X):
        embedding = super()._fit_embedding(X)
        del self.graph_
        return embedding


class MixingEmbedder(LinearEmbedder):
    def _transform(self, X):
        return (X - X.mean(axis=0)) @ self.axes_


@pytest.mark.parametrize(
    ("embedder", "words"),
    [
        (ForgetfulEmbedder(random_state=0), "graph_"),
        (MixingEmbedder(random_state=0), "mixes rows"),
        (LinearEmbedder(random_state=None), "not equal"),
    ],
)
def test_contract_helper_catches_a_breach(embedder, words):
    with pytest.raises(AssertionError, match=words):
        assert_embedder_contract(embedder, points(), atol=ATOL)


@given(st.integers(0, 2**16), st.integers(1, 12))
def test_transform_is_row_wise(seed, n_new):
    fitted = LinearEmbedder(random_state=0).fit(points())
    new = points(n_new, seed=seed)
    order = np.random.RandomState(seed).permutation(n_new)
    together = fitted.transform(new)
    np.testing.assert_allclose(fitted.transform(new[order]), together[order], atol=ATOL)
    for i in range(n_new):
        np.testing.assert_allclose(fitted.transform(new[i : i + 1])[0], together[i], atol=ATOL)


def test_fit_transform_is_the_embedding_and_transform_reproduces_it():
    X = points()
    embedder = LinearEmbedder(random_state=3)
    embedding = embedder.fit_transform(X)
    assert embedding is embedder.embedding_
    np.testing.assert_allclose(embedder.transform(X), embedding, atol=ATOL)
    assert_equal_up_to_rigid_motion(embedding, principal_coordinates(X, 2).coordinates, atol=ATOL)


def test_another_seed_is_the_only_source_of_variation():
    X = points()
    one, same, other = (LinearEmbedder(random_state=s).fit_transform(X) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 0.01


def test_data_frames_in_and_out():
    X = points(d=3)
    frame = pd.DataFrame(X, columns=["height", "width", "depth"])
    embedder = LinearEmbedder(random_state=0).set_output(transform="pandas")
    result = embedder.fit_transform(frame)
    assert list(result.columns) == ["linearembedder0", "linearembedder1"]
    assert list(embedder.feature_names_in_) == ["height", "width", "depth"]
    pd.testing.assert_index_equal(embedder.transform(frame).index, frame.index)
    np.testing.assert_allclose(embedder.transform(frame).to_numpy(), result.to_numpy(), atol=ATOL)


def test_polars_frames_in_and_out():
    frame = pl.DataFrame(points(d=3), schema=["height", "width", "depth"])
    embedder = LinearEmbedder(random_state=0).set_output(transform="polars")
    result = embedder.fit_transform(frame)
    assert isinstance(result, pl.DataFrame)
    assert result.columns == ["linearembedder0", "linearembedder1"]
    assert list(embedder.feature_names_in_) == ["height", "width", "depth"]


def test_float32_stays_float32_even_if_the_method_computes_in_float64():
    fitted = ResultEmbedder(fitted=np.zeros((3, 1)), transformed=np.zeros((2, 1)))
    X = points(3, dtype=np.float32)
    assert fitted.fit_transform(X).dtype == np.float32
    assert fitted.transform(X[:2]).dtype == np.float32
    assert fitted.transform(X[:2].astype(np.float64)).dtype == np.float64


def test_read_only_memory_map(tmp_path):
    X = points()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    embedder = LinearEmbedder(random_state=0)
    np.testing.assert_array_equal(embedder.fit_transform(mapped), embedder.fit_transform(X))
    np.testing.assert_array_equal(embedder.transform(mapped), embedder.transform(X))


def test_lists_and_integers_become_float64():
    embedding = LinearEmbedder(random_state=0).fit_transform([[0, 1], [1, 1], [4, 0]])
    assert embedding.dtype == np.float64


def test_pipeline_grid_search_clone_and_pickle():
    X = points()
    pipeline = make_pipeline(StandardScaler(), LinearEmbedder(random_state=0))
    embedding = pipeline.fit_transform(X)
    np.testing.assert_allclose(pipeline.transform(X), embedding, atol=ATOL)
    restored = pickle.loads(pickle.dumps(pipeline))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(restored.transform(X), pipeline.transform(X))
    fresh = clone(pipeline[-1])
    assert fresh.get_params() == {"n_components": 2, "random_state": 0}
    assert not hasattr(fresh, "embedding_")
    search = GridSearchCV(
        make_pipeline(LinearEmbedder(random_state=0), KNeighborsRegressor()),
        {"linearembedder__n_components": [1, 3]},
        cv=2,
    ).fit(X, X[:, 0])
    assert search.best_params_["linearembedder__n_components"] in (1, 3)


def test_inverse_transform_exists_only_with_an_inverse():
    X = points(d=3)
    assert not hasattr(LinearEmbedder(), "inverse_transform")
    embedder = InvertibleEmbedder(n_components=3, random_state=0)
    embedding = embedder.fit_transform(X)
    np.testing.assert_allclose(embedder.inverse_transform(embedding), X, atol=ATOL)
    with pytest.raises(InvalidInputError, match=r"2 columns.*embedding has 3"):
        embedder.inverse_transform(embedding[:, :2])
    with pytest.raises(InvalidInputError, match="NaN"):
        embedder.inverse_transform(np.full((1, 3), np.nan))


def test_precomputed_distances():
    X = points(20, d=1)
    distances = squareform(pdist(X))
    direct = DistanceEmbedder().fit(X)
    precomputed = DistanceEmbedder(metric="precomputed").fit(distances)
    assert get_tags(precomputed).input_tags.pairwise
    assert not get_tags(direct).input_tags.pairwise
    np.testing.assert_array_equal(precomputed.embedding_, direct.embedding_)
    np.testing.assert_array_equal(precomputed.transform(distances[:4]), direct.transform(X[:4]))
    with pytest.raises(InvalidInputError, match="square"):
        precomputed.fit(distances[:5])
    with pytest.raises(InvalidInputError, match="not similarities"):
        precomputed.fit(-distances)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.full((3, 2), np.nan), "6 NaN"),
        (np.array([[1.0, np.inf], [0.0, 1.0]]), "1 infinite"),
        (np.ones((1, 2)), "1 sample.*at least 2"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (np.ones(3), "2D"),
        (np.ones((2, 2, 2)), "dim"),
        ([["a", "b"], ["c", "d"]], "could not convert string"),
        (sp.csr_array(np.eye(3)), "sparse.*toarray"),
        (np.eye(3) * 1j, "[Cc]omplex"),
    ],
)
def test_bad_input_is_refused_by_fit(X, words):
    with pytest.raises(InvalidInputError, match=words):
        LinearEmbedder().fit(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((1, 3)), "3 features.*expecting 4"),
        (np.full((1, 4), np.nan), "NaN"),
        (sp.csr_array(np.ones((1, 4))), "sparse"),
        (np.empty((0, 4)), "0 sample"),
    ],
)
def test_bad_input_is_refused_by_transform(X, words):
    fitted = LinearEmbedder(random_state=0).fit(points(d=4))
    with pytest.raises(InvalidInputError, match=words):
        fitted.transform(X)


def test_renamed_features_are_refused():
    frame = pd.DataFrame(points(d=2), columns=["a", "b"])
    fitted = LinearEmbedder(random_state=0).fit(frame)
    with pytest.raises(InvalidInputError, match="feature names"):
        fitted.transform(frame.rename(columns={"b": "c"}))


def test_not_fitted_says_so():
    for method in (LinearEmbedder().transform, InvertibleEmbedder().inverse_transform):
        with pytest.raises(NotFittedError, match="not fitted"):
            method(points())


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (np.array([[0.0], [np.nan], [np.inf]]), "2 of 3 samples, the first in row 1"),
        (np.zeros((2, 1)), r"shape \(2, 1\) for 3 samples"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (0.0, r"shape \(\)"),
    ],
)
def test_what_is_no_embedding_is_refused(result, words):
    with pytest.raises(EmbeddingError, match=f"ResultEmbedder._fit_embedding.*{words}"):
        ResultEmbedder(fitted=result).fit(points(3))
    embedder = ResultEmbedder(fitted=np.zeros((3, 1)), transformed=result).fit(points(3))
    with pytest.raises(EmbeddingError, match=r"ResultEmbedder\._transform"):
        embedder.transform(points(3))


def test_transform_into_other_dimensions_is_refused():
    embedder = ResultEmbedder(fitted=np.zeros((3, 1)), transformed=np.zeros((3, 2)))
    with pytest.raises(EmbeddingError, match=r"\(3, 1\) was expected"):
        embedder.fit(points(3)).transform(points(3))


def test_the_base_class_itself_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        BaseEmbedder()
