"""The contract of every embedder, shown on a linear one that is as simple as possible."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold._base import BaseEmbedder, Fit
from isofold.exceptions import EmbeddingError, InvalidInputError
from isofold.linalg import principal_coordinates
from support.embedders import (
    DistanceEmbedder,
    InvertibleEmbedder,
    LinearEmbedder,
    ResultEmbedder,
    points,
)
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion

# One product of at most ten terms of size about one, in float64.
ATOL = 1e-12
# The same in float32: a hundred eps.
SINGLE_ATOL = 100 * np.finfo(np.float32).eps


@parametrize_with_checks(
    [
        LinearEmbedder(random_state=0),
        InvertibleEmbedder(random_state=0),
        DistanceEmbedder(),
        DistanceEmbedder(metric="precomputed"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("embedder", [LinearEmbedder(random_state=0), DistanceEmbedder()])
def test_contract(embedder, dtype):
    atol = ATOL if dtype is np.float64 else SINGLE_ATOL
    assert_embedder_contract(embedder, points(dtype=dtype), atol=atol)


class ForgetfulEmbedder(LinearEmbedder):
    def _fit(self, X, y):
        fit = super()._fit(X, y)
        kept = tuple(pair for pair in fit.attributes if pair[0] != "graph")
        return replace(fit, attributes=kept)


class MixingEmbedder(LinearEmbedder):
    def _transform(self, X):
        return (X - X.mean(axis=0)) @ self.map_.axes


class LearningEmbedder(LinearEmbedder):
    def _transform(self, X):
        self.last_ = X
        return super()._transform(X)


class OverwritingEmbedder(LinearEmbedder):
    def _transform(self, X):
        X -= self.map_.mean
        return X @ self.map_.axes


class ThreadedEmbedder(LinearEmbedder):
    def __init__(self, *, n_components=2, random_state=None, n_jobs=None):
        super().__init__(n_components=n_components, random_state=random_state)
        self.n_jobs = n_jobs

    def _fit(self, X, y):
        fit = super()._fit(X, y)
        return replace(fit, embedding=fit.embedding + (self.n_jobs == 2))


@pytest.mark.parametrize(
    ("embedder", "words"),
    [
        (ForgetfulEmbedder(random_state=0), "graph_"),
        (LearningEmbedder(random_state=0), "fitted state"),
        (ThreadedEmbedder(random_state=0), "n_jobs=2 matters"),
        (MixingEmbedder(random_state=0), "mixes rows"),
        (LinearEmbedder(random_state=None), "not equal"),
    ],
)
def test_contract_helper_catches_a_breach(embedder, words):
    with pytest.raises(AssertionError, match=words):
        assert_embedder_contract(embedder, points(), atol=ATOL)


def test_contract_helper_catches_writing_to_the_input():
    with pytest.raises(ValueError, match="read-only"):
        assert_embedder_contract(OverwritingEmbedder(random_state=0), points(), atol=ATOL)


@given(st.integers(0, 2**16), st.integers(1, 12))
def test_transform_is_row_wise(seed, n_new):
    fitted = LinearEmbedder(random_state=0).fit(points())
    new = points(n_new, seed=seed)
    order = np.random.RandomState(seed).permutation(n_new)
    together = fitted.transform(new)
    np.testing.assert_allclose(fitted.transform(new[order]), together[order], rtol=0, atol=ATOL)
    for i in range(n_new):
        np.testing.assert_allclose(
            fitted.transform(new[i : i + 1])[0], together[i], rtol=0, atol=ATOL
        )


def test_fit_transform_is_the_embedding_and_transform_reproduces_it():
    X = points()
    embedder = LinearEmbedder(random_state=3)
    embedding = embedder.fit_transform(X)
    assert embedding is embedder.embedding_
    np.testing.assert_allclose(embedder.transform(X), embedding, rtol=0, atol=ATOL)
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
    np.testing.assert_allclose(
        embedder.transform(frame).to_numpy(), result.to_numpy(), rtol=0, atol=ATOL
    )


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
    np.testing.assert_allclose(pipeline.transform(X), embedding, rtol=0, atol=ATOL)
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
    assert not hasattr(DistanceEmbedder(metric="precomputed"), "inverse_transform")
    without = DistanceEmbedder().fit(X)
    with pytest.raises(AttributeError) as raised:
        without.inverse_transform(without.embedding_)
    assert "fit_way_back" in str(raised.value.__cause__)
    embedder = InvertibleEmbedder(n_components=3, random_state=0)
    embedding = embedder.fit_transform(X)
    np.testing.assert_allclose(embedder.inverse_transform(embedding), X, rtol=0, atol=ATOL)
    with pytest.raises(InvalidInputError, match=r"2 columns.*embedding has 3"):
        embedder.inverse_transform(embedding[:, :2])
    with pytest.raises(InvalidInputError, match="NaN"):
        embedder.inverse_transform(np.full((1, 3), np.nan))


@pytest.mark.parametrize("embedder", [LinearEmbedder(random_state=0), DistanceEmbedder()])
@pytest.mark.parametrize("case", ["constant columns", "duplicated rows", "one place"])
def test_contract_on_degenerate_points(embedder, case):
    X = points()
    if case == "constant columns":
        X[:, 1:] = 3.0
    elif case == "duplicated rows":
        X[10:] = np.tile(X[:10], (2, 1))
    else:
        X[:] = X[0]
    assert_embedder_contract(embedder, X, atol=ATOL)


def test_a_metric_that_is_no_word_is_refused():
    embedder = ResultEmbedder(fitted=np.zeros((3, 1)))
    embedder.metric = np.array(["precomputed", "precomputed"])
    with pytest.raises(InvalidInputError, match=r"is unknown. Choose one of euclidean"):
        embedder.fit(points(3))


def test_a_refused_refit_leaves_the_fitted_state():
    embedder = LinearEmbedder(random_state=0).fit(points(d=4))
    with pytest.raises(InvalidInputError, match="1 sample"):
        embedder.fit(points(1, 3))
    assert embedder.n_features_in_ == 4
    assert embedder.transform(points(d=4)).shape == (30, 2)


def test_the_embedding_is_not_a_view_of_the_input():
    class Copying(ResultEmbedder):
        def _fit(self, X, y):
            return Fit.of(X[:, :2], map_=None, findings=())

        def _transform(self, X):
            return X[:, :2]

    X = points()
    embedder = Copying().fit(X)
    placed = embedder.transform(X)
    kept = embedder.embedding_.copy()
    X += 1.0
    np.testing.assert_array_equal(embedder.embedding_, kept)
    np.testing.assert_array_equal(placed, kept)


def test_tags_say_that_the_dtype_is_kept():
    assert get_tags(LinearEmbedder()).transformer_tags.preserves_dtype == ["float64", "float32"]


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
        (np.zeros((2, 1)), r"shape \(2, 1\) and dtype float64 for 3 samples"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (0.0, r"shape \(\)"),
        (np.zeros((3, 1)) * 1j, "dtype complex128"),
        (np.array([["a"], ["b"], ["c"]]), "dtype <U1"),
    ],
)
def test_what_is_no_embedding_is_refused(result, words):
    with pytest.raises(EmbeddingError, match=f"ResultEmbedder._fit.*{words}"):
        ResultEmbedder(fitted=result).fit(points(3))
    embedder = ResultEmbedder(fitted=np.zeros((3, 1)), transformed=result).fit(points(3))
    with pytest.raises(EmbeddingError, match=r"ResultEmbedder\._transform"):
        embedder.transform(points(3))


def test_coordinates_that_float32_cannot_hold_are_refused():
    embedder = ResultEmbedder(fitted=np.full((3, 1), 1e300))
    assert embedder.fit(points(3)).embedding_[0, 0] == 1e300
    with pytest.raises(EmbeddingError, match="infinite coordinates for 3 of 3"):
        embedder.fit(points(3, dtype=np.float32))


def test_inverse_transform_into_other_dimensions_is_refused():
    class Narrow(LinearEmbedder):
        def _inverse_transform(self, Y):
            return Y

    embedder = Narrow(random_state=0).fit(points(d=4))
    with pytest.raises(EmbeddingError, match=r"_inverse_transform.*\(30, 4\) were expected"):
        embedder.inverse_transform(embedder.embedding_)


def test_transform_into_other_dimensions_is_refused():
    embedder = ResultEmbedder(fitted=np.zeros((3, 1)), transformed=np.zeros((3, 2)))
    with pytest.raises(EmbeddingError, match=r"\(3, 1\) were expected"):
        embedder.fit(points(3)).transform(points(3))


def test_the_base_class_itself_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        BaseEmbedder()
