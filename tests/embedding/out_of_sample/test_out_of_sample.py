"""OutOfSample: any embedder gets a transform, and nothing else about it changes."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import MDS, TSNE, Isomap, SpectralEmbedding
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import MVU, DisjointMVU, FastMVU, OutOfSample
from isofold.exceptions import InvalidInputError
from isofold.extension import (
    DistanceMap,
    GooseMap,
    fit_barycentric,
    fit_from_distances,
    fit_goose,
    fit_kernel_ridge,
    fit_nystrom,
)
from isofold.extension.goose import SCALINGS
from support.mvu_cases import fit_quietly

# Flat data whose neighborhoods may be a hundred times thinner than wide: 1e6 · eps at most.
FLAT = 1e-9

# Two ways to the same image of size one.
SAME = 1e-11


def sheet(seed=0, n=80, n_new=20):
    """A curved sheet and new points on it."""
    rng = np.random.RandomState(seed)
    u, v = rng.rand(2, n + n_new)
    X = np.column_stack([2 * u, v, 0.3 * np.sin(3 * u)])
    return X[:n], X[n:]


X, X_NEW = sheet()


def mds(**parameters):
    return MDS(**{"n_init": 1, "init": "random", "max_iter": 20, **parameters})


class OnlyFit(BaseEstimator):
    """An embedder without fit_transform, which counts how often it is fitted."""

    n_fits = 0

    def __init__(self, columns=2):
        self.columns = columns

    def fit(self, X, y=None):
        type(self).n_fits += 1
        self.embedding_ = 2.0 * X[:, : self.columns]
        return self


class Returns(BaseEstimator):
    """Returns what it is told."""

    def __init__(self, embedding=None):
        self.embedding = embedding

    def fit_transform(self, X, y=None):
        return self.embedding


# What is wrapped


def test_the_embedding_is_that_of_the_estimator():
    inner = mds(random_state=3)
    model = OutOfSample(inner)
    embedding = model.fit_transform(X)
    np.testing.assert_array_equal(embedding, mds(random_state=3).fit_transform(X))
    np.testing.assert_array_equal(model.estimator_.embedding_, embedding)
    np.testing.assert_array_equal(model.transform(X), embedding)


def test_the_estimator_is_left_alone():
    inner = mds()
    before = dict(vars(inner))
    model = OutOfSample(inner, random_state=0).fit(X)
    assert model.estimator is inner
    assert model.estimator_ is not inner
    assert vars(inner) == before
    assert model.estimator_.random_state is not None


def test_the_seed_is_for_estimators_without_one():
    def fitted(seed, inner_seed=None):
        return OutOfSample(mds(random_state=inner_seed), random_state=seed).fit_transform(X)

    np.testing.assert_array_equal(fitted(0), fitted(0))
    assert np.abs(fitted(0) - fitted(1)).max() > 1e-3
    np.testing.assert_array_equal(fitted(0, 5), fitted(1, 5))
    np.testing.assert_array_equal(fitted(np.random.RandomState(0)), fitted(0))


def test_an_estimator_that_only_fits():
    model = OutOfSample(OnlyFit()).fit(X)
    np.testing.assert_array_equal(model.embedding_, 2 * X[:, :2])


def test_a_pipeline_may_be_wrapped():
    inner = make_pipeline(StandardScaler(), PCA(n_components=2))
    model = OutOfSample(inner, method=partial(fit_kernel_ridge, ridge=1e-6)).fit(X)
    expected = clone(inner).fit(X).transform(X_NEW)
    # A smooth regression of a linear map on points a tenth apart.
    np.testing.assert_allclose(model.transform(X_NEW), expected, rtol=0, atol=0.05)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_a_linear_embedding_is_extended_exactly(scaling):
    flat = X[:, :2] @ np.linalg.qr(np.random.RandomState(0).randn(9, 2))[0].T
    pca = PCA(n_components=2).fit(flat[:60])
    model = OutOfSample(PCA(n_components=2), scaling=scaling).fit(flat[:60])
    np.testing.assert_allclose(
        model.transform(flat[60:]), pca.transform(flat[60:]), rtol=0, atol=FLAT
    )


def test_new_points_of_clusters_join_their_cluster():
    rng = np.random.RandomState(0)
    labels = np.arange(150) % 3
    clouds = 10 * np.eye(6)[labels] + rng.randn(150, 6)
    tsne = TSNE(perplexity=10, max_iter=300, init="pca", random_state=0)
    model = OutOfSample(tsne).fit(clouds[:120])
    assert not hasattr(tsne, "transform")
    centers = [model.embedding_[labels[:120] == c].mean(axis=0) for c in range(3)]
    nearest = cdist(model.transform(clouds[120:]), centers).argmin(axis=1)
    np.testing.assert_array_equal(nearest, labels[120:])


# Methods


def laplacian(points, embedding):
    return fit_nystrom(points, embedding, kernel="laplacian", n_neighbors=9)


@pytest.mark.parametrize(
    ("parameters", "fit"),
    [
        ({}, partial(fit_goose, n_neighbors=10)),
        (
            {"n_neighbors": 6, "scaling": "range"},
            partial(fit_goose, n_neighbors=6, scaling="range"),
        ),
        ({"scaling": "isotropic"}, partial(fit_goose, scaling="isotropic")),
        ({"method": "barycentric", "n_neighbors": 7}, partial(fit_barycentric, n_neighbors=7)),
        ({"method": "kernel_ridge"}, fit_kernel_ridge),
        ({"method": partial(fit_kernel_ridge, gamma=3.0)}, partial(fit_kernel_ridge, gamma=3.0)),
    ],
    ids=["goose", "range", "isotropic", "barycentric", "kernel_ridge", "callable"],
)
def test_methods_are_the_maps_of_the_extension_room(parameters, fit):
    Y = mds(random_state=0).fit_transform(X)
    model = OutOfSample.from_embedding(X, Y, **parameters)
    np.testing.assert_array_equal(model.transform(X_NEW), fit(X, Y).transform(X_NEW))


def test_nystrom_is_the_transform_of_isomap():
    isomap = Isomap(n_neighbors=8).fit(X)
    model = OutOfSample(Isomap(n_neighbors=8), method="nystrom", n_neighbors=8).fit(X)
    np.testing.assert_allclose(model.transform(X_NEW), isomap.transform(X_NEW), rtol=0, atol=FLAT)


def test_a_function_may_be_the_method():
    spectral = SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=10, eigen_tol=1e-10, random_state=0
    )
    model = OutOfSample(spectral, method=laplacian).fit(X)
    size = np.abs(model.embedding_).max()
    # What scikit-learn's iteration leaves.
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=1e-7 * size)


@pytest.mark.parametrize("search", ["kd_tree", "brute"])
@pytest.mark.parametrize("method", ["goose", "barycentric"])
def test_exact_searches_agree(method, search):
    expected = OutOfSample(OnlyFit(), method=method).fit(X).transform(X_NEW)
    found = OutOfSample(OnlyFit(), method=method, search=search).fit(X).transform(X_NEW)
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME)


def test_an_approximate_search_is_nearly_as_good():
    points, new = sheet(2, n=300, n_new=60)
    exact = OutOfSample(OnlyFit(), n_neighbors="auto").fit(points)
    model = OutOfSample(OnlyFit(), search="hnsw", n_neighbors="auto").fit(points)
    np.testing.assert_array_equal(model.transform(points), model.embedding_)
    # Images are of size four, and points a tenth apart.
    assert np.abs(model.transform(new) - exact.transform(new)).max() < 0.02
    again = OutOfSample(OnlyFit(), search="hnsw", n_neighbors="auto", n_jobs=2).fit(points)
    assert again.transform(new).tobytes() == model.transform(new).tobytes()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert copy.transform(new).tobytes() == model.transform(new).tobytes()


def test_rows_do_not_depend_on_threads_or_each_other():
    model = OutOfSample(OnlyFit(), n_jobs=1).fit(X)
    together = model.transform(X_NEW)
    again = OutOfSample(OnlyFit(), n_jobs=2).fit(X)
    assert again.transform(X_NEW).tobytes() == together.tobytes()
    for i, row in enumerate(X_NEW):
        assert model.transform(row[None]).tobytes() == together[i].tobytes()


# The number of neighbors


@pytest.mark.parametrize("scaling", SCALINGS)
def test_the_number_of_neighbors_that_places_held_out_samples_best(scaling):
    points, Y = X[:35], mds(random_state=0).fit_transform(X[:35])
    model = OutOfSample.from_embedding(points, Y, n_neighbors="auto", scaling=scaling)
    assert list(model.held_out_errors_) == [4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 30]
    for k in (4, 8, 17):
        squares = []
        for i in range(35):
            others = np.arange(35) != i
            goose = fit_goose(points[others], Y[others], n_neighbors=k, scaling=scaling)
            squares.append(((goose.transform(points[i : i + 1])[0] - Y[i]) ** 2).sum())
        # The worst hundredth does not count, rounded up to a sample.
        expected = np.sqrt(np.mean(sorted(squares)[:-1]))
        assert model.held_out_errors_[k] == pytest.approx(expected, rel=1e-9)
    best = min(model.held_out_errors_.values())
    assert model.held_out_errors_[model.n_neighbors_] == best
    given = OutOfSample.from_embedding(points, Y, n_neighbors=model.n_neighbors_, scaling=scaling)
    np.testing.assert_array_equal(model.transform(X_NEW), given.transform(X_NEW))
    assert given.held_out_errors_ == {}


def test_noise_asks_for_more_neighbors():
    rng = np.random.RandomState(0)
    Y = X[:, :2] ** 2
    noisy = Y + 0.1 * rng.randn(*Y.shape)
    smooth, rough = (
        OutOfSample.from_embedding(X, images, n_neighbors="auto") for images in (Y, noisy)
    )
    assert rough.n_neighbors_ > smooth.n_neighbors_


@pytest.mark.parametrize("q", [1, 3, 5, 12])
def test_more_neighbors_than_coordinates(q):
    rng = np.random.RandomState(q)
    model = OutOfSample.from_embedding(X, rng.randn(80, q), n_neighbors="auto")
    assert min(model.held_out_errors_) > q
    assert model.transform(X_NEW).shape == (20, q)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_few_samples(n):
    for n_neighbors in ("auto", 10):
        model = OutOfSample.from_embedding(X[:n], X[:n, :2], n_neighbors=n_neighbors)
        assert model.n_neighbors_ > 2
        np.testing.assert_array_equal(model.transform(X[:n]), X[:n, :2])
        assert np.isfinite(model.transform(X_NEW)).all()
        assert np.isfinite(model.distortion_).all()


def test_samples_at_one_place():
    points = np.ones((6, 3))
    Y = np.arange(12.0).reshape(6, 2)
    for n_neighbors in ("auto", 10):
        model = OutOfSample.from_embedding(points, Y, n_neighbors=n_neighbors)
        np.testing.assert_array_equal(model.transform(X_NEW), np.tile(Y[0], (20, 1)))
        assert np.isfinite(model.distortion_).all()


# An embedding, or an estimator that is fitted


def test_from_embedding():
    Y = mds(random_state=0).fit_transform(X)
    original = X.copy(), Y.copy()
    model = OutOfSample.from_embedding(X, Y, n_neighbors=6)
    assert model.estimator_ is None
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.embedding_, Y)
    np.testing.assert_array_equal(model.transform(X), Y)
    np.testing.assert_array_equal(X, original[0])
    Y[:] = 0
    np.testing.assert_array_equal(model.transform(X), original[1])
    np.testing.assert_array_equal(model.embedding_, original[1])


def test_from_embedding_in_two_precisions():
    model = OutOfSample.from_embedding(X.astype(np.float32), X[:, :2])
    assert model.embedding_.dtype == np.float32
    assert model.transform(X_NEW.astype(np.float32)).dtype == np.float32
    assert model.transform(X_NEW).dtype == np.float64


def test_an_embedding_cannot_be_fitted_again():
    model = OutOfSample.from_embedding(X, X[:, :2])
    before = model.transform(X_NEW)
    with pytest.raises(InvalidInputError, match=r"no estimator to fit.*from_embedding"):
        model.fit(X)
    np.testing.assert_array_equal(model.transform(X_NEW), before)
    with pytest.raises(InvalidInputError, match="no estimator to fit"):
        OutOfSample().fit(X)


def test_embeddings_that_cannot_be_used():
    with pytest.raises(InvalidInputError, match=r"80 rows and .* 79"):
        OutOfSample.from_embedding(X, X[:-1, :2])
    with pytest.raises(InvalidInputError, match="1 NaN"):
        OutOfSample.from_embedding(X, np.where(np.arange(80)[:, None] == 3, [[np.nan, 0.0]], 1.0))
    with pytest.raises(InvalidInputError, match="Y"):
        OutOfSample.from_embedding(X, X[:, 0])


def test_from_fitted():
    inner = mds(random_state=0).fit(X)
    before = pickle.dumps(inner)
    model = OutOfSample.from_fitted(inner, X, scaling="range")
    assert model.estimator_ is inner
    is_unchanged = pickle.dumps(inner) == before
    assert is_unchanged
    np.testing.assert_array_equal(model.embedding_, inner.embedding_)
    expected = fit_goose(X, inner.embedding_, scaling="range").transform(X_NEW)
    np.testing.assert_array_equal(model.transform(X_NEW), expected)
    with pytest.raises(NotFittedError, match=r"MDS has no embedding_.*from_embedding"):
        OutOfSample.from_fitted(mds(), X)
    with pytest.raises(NotFittedError, match="PCA has no embedding_"):
        OutOfSample.from_fitted(PCA().fit(X), X)
    with pytest.raises(InvalidInputError, match="79 rows"):
        OutOfSample.from_fitted(inner, X[:-1])


def test_a_frozen_estimator_is_not_fitted_again():
    inner = OnlyFit().fit(X)
    n_fits = OnlyFit.n_fits
    model = OutOfSample(FrozenEstimator(inner))
    for copy in (model, clone(model)):
        copy.fit(X)
        np.testing.assert_array_equal(copy.embedding_, inner.embedding_)
    assert OnlyFit.n_fits == n_fits
    assert model.estimator_ is inner
    with pytest.raises(InvalidInputError, match="79 rows"):
        clone(model).fit(X[:-1])
    with pytest.raises(NotFittedError, match="no embedding_"):
        OutOfSample(FrozenEstimator(OnlyFit())).fit(X)


# Refusals


@pytest.mark.parametrize(
    "wrong", ["MDS", MDS, 3, object(), StandardScaler], ids=["word", "class", "3", "object", "type"]
)
def test_what_is_no_estimator_is_refused(wrong):
    with pytest.raises(InvalidInputError, match="estimator="):
        OutOfSample(wrong).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "lle"}, "method='lle' is unknown"),
        ({"method": None}, "method=None"),
        ({"scaling": "none"}, "scaling='none' is unknown"),
        ({"scaling": "none", "method": "barycentric"}, "scaling='none' is unknown"),
        ({"search": "ball"}, "ball"),
        ({"n_neighbors": 2}, "n_neighbors=2, but the embedding has 2"),
        ({"n_neighbors": "best"}, "n_neighbors='best'"),
        ({"n_neighbors": "auto", "method": "barycentric"}, "n_neighbors='auto' .*'barycentric'"),
        ({"n_neighbors": 0, "method": "kernel_ridge"}, "n_neighbors=0"),
        ({"n_neighbors": None, "method": "kernel_ridge"}, "n_neighbors=None"),
        ({"n_neighbors": 2.5, "method": "nystrom"}, "n_neighbors=2.5"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        OutOfSample(OnlyFit(), **parameters).fit(X)
    with pytest.raises(InvalidInputError, match=message):
        OutOfSample.from_embedding(X, X[:, :2], **parameters)


def test_what_an_estimator_returns_is_checked():
    with pytest.raises(InvalidInputError, match="embedding contains 160 NaN"):
        OutOfSample(Returns(np.full((80, 2), np.nan))).fit(X)
    with pytest.raises(InvalidInputError, match="the embedding has 3"):
        OutOfSample(Returns(np.ones((3, 2)))).fit(X)
    with pytest.raises(InvalidInputError, match="The embedding"):
        OutOfSample(Returns(np.ones(80))).fit(X)


def test_refusals_of_the_estimator_are_passed_on():
    with pytest.raises(
        InvalidInputError, match=r"TSNE refused X, which has 80 samples.*perplexity"
    ):
        OutOfSample(TSNE(perplexity=500)).fit(X)


@pytest.mark.parametrize(
    ("change", "data"),
    [
        ({"estimator": PCA(n_components=50)}, X),
        ({"n_neighbors": 1}, X),
        ({"method": "nystrom"}, X),
        ({"estimator": None}, X),
        ({}, np.full((80, 3), np.nan)),
        ({}, X[:1]),
    ],
    ids=["estimator", "n_neighbors", "nystrom", "none", "nan", "one"],
)
def test_a_refused_fit_keeps_the_last(change, data):
    model = OutOfSample(mds(random_state=0), n_neighbors="auto").fit(X)
    before, fitted = model.transform(X_NEW), set(vars(model))
    attributes = {name: vars(model)[name] for name in fitted if name.endswith("_")}
    model.set_params(**change)
    with pytest.raises(InvalidInputError):
        model.fit(data)
    np.testing.assert_array_equal(model.transform(X_NEW), before)
    assert set(vars(model)) == fitted
    assert all(getattr(model, name) is value for name, value in attributes.items())


def test_new_points_that_cannot_be_used():
    model = OutOfSample(OnlyFit())
    for method in ("transform", "is_outside"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    model.fit(X)
    for ask in (model.transform, model.is_outside):
        with pytest.raises(InvalidInputError, match="2 features"):
            ask(X_NEW[:, :2])
        with pytest.raises(InvalidInputError, match="NaN"):
            ask(np.full((2, 3), np.nan))


# Distances


def test_distances_are_located():
    flat = np.random.RandomState(0).rand(60, 2)
    D = squareform(pdist(flat))
    inner = MDS(metric="precomputed", init="classical_mds", n_init=1, max_iter=300, eps=1e-12)
    fitted = clone(inner).fit(D[:50, :50])
    for model in (
        OutOfSample(inner, random_state=0).fit(D[:50, :50]),
        OutOfSample.from_fitted(fitted, D[:50, :50]),
        OutOfSample(FrozenEstimator(fitted)).fit(D[:50, :50]),
    ):
        assert isinstance(model.map_, DistanceMap)
        located = model.transform(D[50:, :50])
        expected = fit_from_distances(model.embedding_, n_neighbors=10).transform(D[50:, :50])
        np.testing.assert_array_equal(located, expected)
        # Classical scaling gives flat points exactly, so that new distances are true.
        gaps = cdist(located, model.embedding_) - D[50:, :50]
        assert np.abs(gaps).max() < 1e-6
        np.testing.assert_allclose(
            model.transform(D[:50, :50]), model.embedding_, rtol=0, atol=1e-6
        )
        assert model.distortion_.max() < 1e-6
        with pytest.raises(InvalidInputError, match="is_outside needs points"):
            model.is_outside(D[50:, :50])
    with pytest.raises(InvalidInputError, match="n_neighbors='auto'"):
        OutOfSample(inner, n_neighbors="auto").fit(D[:50, :50])
    with pytest.raises(InvalidInputError, match="square"):
        OutOfSample(inner).fit(flat[:, :2] + 1)


# Conventions


def test_parameters_reach_the_estimator():
    model = OutOfSample(mds(), n_neighbors=7)
    assert model.get_params()["estimator__max_iter"] == 20
    model.set_params(estimator__max_iter=5, n_neighbors="auto")
    assert model.estimator.max_iter == 5
    copy = clone(model)
    assert copy.estimator is not model.estimator
    assert copy.get_params()["estimator__max_iter"] == 5
    assert copy.n_neighbors == "auto"


def test_names_of_data_frames():
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(80) + 7)
    model = OutOfSample(mds(random_state=0)).set_output(transform="pandas").fit(frame)
    new = pd.DataFrame(X_NEW, columns=["a", "b", "c"], index=list("abcdefghijklmnopqrst"))
    images = model.transform(new)
    assert list(images.columns) == ["outofsample0", "outofsample1"]
    assert list(images.index) == list(new.index)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.fit_transform(frame).to_numpy(), model.embedding_)
    plain = OutOfSample(mds(random_state=0)).fit(X).transform(X_NEW)
    # Frames are stored by columns, so that scikit-learn's sums are rounded otherwise.
    np.testing.assert_allclose(images.to_numpy(), plain, rtol=0, atol=SAME)


def test_an_estimator_that_returns_data_frames():
    inner = PCA(n_components=2).set_output(transform="pandas")
    model = OutOfSample(inner).fit(X)
    assert type(model.embedding_) is np.ndarray
    np.testing.assert_array_equal(model.embedding_, PCA(n_components=2).fit_transform(X))


def test_pickles_give_the_same_bytes():
    model = OutOfSample(mds(), random_state=0).fit(X)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert copy.transform(X_NEW).tobytes() == model.transform(X_NEW).tobytes()
    np.testing.assert_array_equal(copy.is_outside(X_NEW), model.is_outside(X_NEW))


def test_in_a_pipeline_and_a_search():
    labels = (X[:, 0] > 1).astype(int)
    pipeline = make_pipeline(
        StandardScaler(), OutOfSample(mds(random_state=0)), KNeighborsClassifier(3)
    )
    grid = {"outofsample__n_neighbors": [5, "auto"], "outofsample__estimator__n_components": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, labels)
    assert search.best_score_ > 0.8
    assert set(search.best_estimator_.predict(X_NEW)) <= {0, 1}


# How far it can be trusted


def test_which_points_are_outside():
    points, new = sheet(1, n=400, n_new=400)
    model = OutOfSample(OnlyFit()).fit(points)
    # As many as the level says, and as chance allows: see the tests of the region.
    assert model.is_outside(new, level=0.1).mean() == pytest.approx(0.1, abs=0.1)
    np.testing.assert_array_equal(model.is_outside(new), model.is_outside(new, level=0.01))
    assert model.is_outside(new).mean() < 0.05
    assert model.is_outside(new + np.array([0.0, 0.0, 1.0])).all()
    assert model.is_outside(new.astype(np.float32)[:5]).dtype == np.bool_
    for level in (0, 1, "low"):
        with pytest.raises(InvalidInputError, match="level="):
            model.is_outside(new, level=level)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_distortion_does_not_know_units(unit):
    model = OutOfSample.from_embedding(X, unit * X)
    np.testing.assert_allclose(model.distortion_, 0, atol=SAME)
    # One sample is in the wrong place: it and its neighbors know.
    Y = unit * X
    Y[5] += unit * 10
    wrong = OutOfSample.from_embedding(X, Y).distortion_
    assert wrong.argmax() == 5
    assert np.median(wrong) < 1e-6


# The other methods of the house


@pytest.mark.parametrize(
    "embedder",
    [
        MVU(random_state=0),
        FastMVU(random_state=0),
        DisjointMVU(random_state=0),
    ],
    ids=lambda embedder: type(embedder).__name__,
)
def test_maximum_variance_unfolding_places_new_points_by_goose(embedder):
    model = fit_quietly(embedder, X)
    assert isinstance(model.map_, GooseMap)
    expected = fit_goose(X, model.embedding_, n_neighbors=12).transform(X_NEW)
    np.testing.assert_array_equal(model.transform(X_NEW), expected)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
