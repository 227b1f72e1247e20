"""Unfold on awkward and on wrong input: no crash, no NaN, and words that help."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn import config_context

from isofold import Unfold
from isofold.exceptions import DoubtfulMapWarning, InvalidInputError
from isofold.survey import data
from support.helpers import assert_equal_up_to_rigid_motion, texts
from support.quick import quick_are, quick_first

# A projection on axes of size one.
EXACT = 1e-9


def model(**parameters):
    return Unfold(**{"random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(autouse=True)
def no_shapes(monkeypatch):
    # They have tests of their own, and take most of the time of so small fits.
    monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())


def noise(n, d=3, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def quiet_fit(unfold, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        return unfold.fit(X)


def assert_sound(unfold, X):
    n = X.shape[0]
    assert unfold.embedding_.shape == (n, unfold.n_components_)
    assert np.isfinite(unfold.embedding_).all()
    assert unfold.distortion_.shape == (n,)
    assert np.isfinite(unfold.distortion_).all()
    assert len(unfold.fitted_samples_) == n
    assert all(sentence.endswith(".") for sentence in unfold.decision_.reasons)
    assert unfold.decision_.reasons[0] in str(unfold.decision_)
    assert np.isfinite(unfold.decision_.quality.length_error)
    np.testing.assert_allclose(unfold.transform(X), unfold.embedding_, rtol=0, atol=EXACT)


# Few samples, few places


@pytest.mark.parametrize("n", quick_are([2, 3, 30], [2, 3, 4, 5, 10, 30]))
@pytest.mark.parametrize("r", [1, 2, "auto"])
def test_few_samples(n, r):
    X = noise(n)
    assert_sound(quiet_fit(model(n_components=r), X), X)


@pytest.mark.parametrize("n", quick_are([2, 3, 30], [2, 3, 5, 10, 30]))
@pytest.mark.parametrize("power", [1.0, 3.0], ids=["euclidean", "not-euclidean"])
def test_few_distances(n, power):
    D = squareform(pdist(noise(n))) ** power
    for r in (2, "auto"):
        assert_sound(quiet_fit(model(n_components=r, metric="precomputed"), D), D)


@pytest.mark.parametrize("n", [2, 6, 40])
@pytest.mark.parametrize("r", [1, 3, "auto"])
def test_constant_data(n, r):
    X = np.full((n, 3), 7.0)
    unfold = model(n_components=r).fit(X)
    assert_sound(unfold, X)
    np.testing.assert_allclose(unfold.embedding_, 0.0, atol=EXACT)


@pytest.mark.parametrize("n", [2, 40])
def test_constant_distances(n):
    D = np.zeros((n, n))
    unfold = model(metric="precomputed").fit(D)
    np.testing.assert_allclose(unfold.embedding_, 0.0, atol=EXACT)


def test_places_with_many_copies_each():
    X = np.repeat(noise(8), 20, axis=0)
    unfold = quiet_fit(model(), X)
    assert_sound(unfold, X)
    assert len(np.unique(unfold.embedding_, axis=0)) == 8
    assert "152 are copies of others." in unfold.decision_.reasons


@pytest.mark.parametrize("n_components", [1, 2])
def test_corners_of_a_cube_with_many_copies_each(n_components):
    # Fewer distinct samples than neighbors by which a projection is judged.
    corners = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
    X = np.concatenate([corners] * 4)
    unfold = quiet_fit(model(n_components=n_components), X)
    assert np.isfinite(unfold.embedding_).all()
    assert np.isfinite(unfold.distortion_).all()


def test_copies_change_no_place():
    X = np.vstack([noise(40), noise(40)[:15]])
    unfold = quiet_fit(model(), X)
    assert_sound(unfold, X)
    np.testing.assert_array_equal(unfold.embedding_[40:], unfold.embedding_[:15])


def test_one_feature():
    X = noise(50, 1)
    for r in (1, "auto"):
        unfold = model(n_components=r).fit(X)
        assert_sound(unfold, X)
        assert_equal_up_to_rigid_motion(unfold.embedding_, X, atol=EXACT)


@pytest.mark.parametrize(("n", "d"), [(12, 60), (30, 100)])
def test_more_features_than_samples(n, d):
    X = noise(n, d)
    assert_sound(quiet_fit(model(), X), X)


@pytest.mark.parametrize("r", [5, 12])
def test_many_components(r):
    X = noise(70, 30)
    assert_sound(quiet_fit(model(n_components=r), X), X)


def test_pieces():
    X = np.vstack([noise(30), noise(25, seed=1) + 100.0])
    unfold = quiet_fit(model(), X)
    assert_sound(unfold, X)
    assert "They fall into 2 components of 30, 25 samples" in unfold.decision_.summary()


@pytest.mark.parametrize("n_neighbors", quick_are([1, 500], [1, 3, 500]))
def test_numbers_of_neighbors(n_neighbors):
    X = noise(30)
    assert_sound(quiet_fit(model(n_neighbors=n_neighbors), X), X)


# Units and precision


@pytest.mark.parametrize("unit", quick_first([1e-6, 1e6]))
def test_units(unit):
    X = noise(60)
    usual, scaled = quiet_fit(model(), X), quiet_fit(model(), unit * X)
    assert scaled.decision_.method == usual.decision_.method
    # Some methods compute in single precision.
    assert_equal_up_to_rigid_motion(scaled.embedding_ / unit, usual.embedding_, atol=1e-3)
    assert scaled.decision_.quality.length_error == pytest.approx(
        usual.decision_.quality.length_error, abs=1e-3
    )


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_out_of_range_are_refused(unit):
    with pytest.raises(InvalidInputError, match="units"):
        model().fit(unit * noise(40))


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_single_precision_is_kept(metric):
    X = noise(25) if metric == "euclidean" else squareform(pdist(noise(25)))
    unfold = quiet_fit(model(metric=metric), X.astype(np.float32))
    assert unfold.embedding_.dtype == np.float32
    assert unfold.transform(X[:3].astype(np.float32)).dtype == np.float32


# What is refused


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_components": "all"}, "n_components='all' must be a whole number or 'auto'"),
        ({"n_components": None}, "n_components=None"),
        ({"n_components": 4}, "n_components=4, but X has 3 feature"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": "few"}, "n_neighbors='few' must be a whole number or 'auto'"),
        ({"metric": "nearness"}, "metric='nearness' is unknown"),
        ({"tolerance": 0}, "tolerance=0"),
        ({"tolerance": 2.0}, "tolerance=2.0"),
        ({"max_seconds": 0}, "max_seconds=0"),
        ({"max_seconds": np.nan}, "max_seconds=nan"),
        ({"max_seconds": "long"}, "max_seconds='long'"),
        ({"verbose": "yes"}, "verbose='yes' must be True or False"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        model(**wrong).fit(noise(45))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.array([[np.nan, 0.0], [1.0, 2.0]]), "NaN"),
        (np.array([[np.inf, 0.0], [1.0, 2.0]]), "inf"),
        (np.zeros((1, 3)), "1 sample"),
        (np.zeros((3, 0)), "feature"),
    ],
    ids=["nan", "inf", "one-sample", "no-features"],
)
def test_wrong_points_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        model().fit(wrong)


def test_a_sparse_graph_in_pieces_is_refused():
    graph = sp.block_diag([squareform(pdist(noise(10))), squareform(pdist(noise(8)))]).tocsr()
    with pytest.raises(InvalidInputError, match=r"falls into 2 components.*dense matrix"):
        model(metric="precomputed").fit(graph)


def test_new_samples_of_another_width_are_refused():
    unfold = quiet_fit(model(), noise(20))
    with pytest.raises(InvalidInputError, match="2 features"):
        unfold.transform(noise(4, 2))


def test_a_refused_fit_keeps_the_last():
    X = noise(30)
    unfold = quiet_fit(model(), X)
    before = {name: value for name, value in vars(unfold).items() if name.endswith("_")}
    with pytest.raises(InvalidInputError):
        unfold.set_params(n_components=7).fit(noise(25))
    with pytest.raises(InvalidInputError, match="units"):
        unfold.set_params(n_components=2).fit(noise(25) * 1e200)
    assert all(getattr(unfold, name) is value for name, value in before.items())
    np.testing.assert_array_equal(unfold.transform(X), unfold.embedding_)


def test_another_metric_set_after_the_fit_matters_only_to_the_next():
    X = noise(30)
    unfold = quiet_fit(model(), X)
    D = squareform(pdist(X))
    quiet_fit(unfold.set_params(metric="precomputed"), D)
    np.testing.assert_allclose(unfold.transform(D), unfold.embedding_, rtol=0, atol=EXACT)


def test_frames_and_pickles():
    frame = pd.DataFrame(noise(30), columns=["x", "y", "z"], index=[f"s{i}" for i in range(30)])
    unfold = quiet_fit(model().set_output(transform="pandas"), frame)
    out = unfold.transform(frame)
    assert list(out.columns) == ["unfold0", "unfold1"]
    assert list(out.index) == list(frame.index)
    again = pickle.loads(pickle.dumps(unfold))  # noqa: S301 - our own bytes
    pd.testing.assert_frame_equal(again.transform(frame), out)
    assert str(again.decision_) == str(unfold.decision_)
    assert texts(again.survey_.notes) == texts(unfold.survey_.notes)


def test_frames_asked_for_everywhere():
    X = noise(30)
    with config_context(transform_output="pandas"):
        unfold = quiet_fit(model(), X)
        assert list(unfold.transform(X).columns) == ["unfold0", "unfold1"]
    np.testing.assert_array_equal(unfold.embedding_, quiet_fit(model(), X).embedding_)
