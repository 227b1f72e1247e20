"""LocalMDS on awkward and on wrong input: no crash, no NaN, and words that help."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from isofold import LocalMDS
from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from support.helpers import assert_equal_up_to_rigid_motion

# Distances are kept in single precision; a hundred sweeps carry its rounding on.
ROUNDING = 1e-4


def model(**parameters):
    return LocalMDS(**{"random_state": 0, "n_jobs": 1, **parameters})


def noise(n, d=3, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def assert_sound(mds, X):
    n = X.shape[0]
    assert mds.embedding_.shape == (n, mds.n_components)
    assert np.isfinite(mds.embedding_).all()
    assert mds.distortion_.shape == (n,)
    assert np.isfinite(mds.distortion_).all()
    np.testing.assert_array_equal(mds.transform(X), mds.embedding_)


# Few samples, few places


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 13, 30])
@pytest.mark.parametrize("r", [1, 2, 5])
def test_few_samples(n, r):
    X = noise(n)
    assert_sound(model(n_components=r).fit(X), X)
    D = squareform(pdist(X))
    assert_sound(model(n_components=r, metric="precomputed").fit(D), D)


def test_two_samples_are_as_far_apart_as_before():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    for r in (1, 2):
        mds = model(n_components=r).fit(X)
        assert pdist(mds.embedding_)[0] == pytest.approx(3.0, rel=ROUNDING)


@pytest.mark.parametrize("n", [2, 6, 40])
def test_one_place(n):
    X = np.full((n, 3), 7.0)
    mds = model().fit(X)
    assert_sound(mds, X)
    np.testing.assert_array_equal(mds.embedding_, np.zeros((n, 2)))
    np.testing.assert_array_equal(mds.core_samples_, [0])


def test_two_places():
    X = np.repeat(noise(2), 20, axis=0)
    mds = model().fit(X)
    assert_sound(mds, X)
    np.testing.assert_allclose(pdist(mds.embedding_), pdist(X), rtol=ROUNDING, atol=ROUNDING)


def test_a_grid_with_its_equal_distances():
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(6.0)), axis=2).reshape(-1, 2)
    # All pairs are neighbors, so that ways are straight.
    mds = model(n_neighbors=47).fit(grid)
    assert_equal_up_to_rigid_motion(mds.embedding_, grid, atol=10 * ROUNDING)


def test_places_that_coincide_at_the_start_part():
    # Of a regular simplex a line shows nothing: classical scaling has no preferred direction.
    X = np.eye(6)
    mds = model(n_components=1, n_neighbors=5).fit(X)
    assert_sound(mds, X)
    assert len(np.unique(mds.embedding_.round(6))) == 6


@pytest.mark.parametrize("r", [3, 5, 30])
def test_as_many_components_as_features_and_more(r):
    X = noise(25)
    mds = model(n_components=r, n_neighbors=24).fit(X)
    assert_sound(mds, X)
    # Further axes hold the rounding of squared distances of size twenty: √(20 * 1e-7).
    assert_equal_up_to_rigid_motion(mds.embedding_, X, atol=3e-3)


@pytest.mark.parametrize(
    "options",
    [
        {"n_neighbors": 1},
        {"n_neighbors": 10_000},
        {"balance": 1e-9},
        {"balance": 1 - 1e-9},
        {"radius": 1e-9},
        {"radius": 1 - 1e-9},
        {"n_epochs": 1},
    ],
    ids=lambda options: "-".join(f"{name}={value:g}" for name, value in options.items()),
)
def test_extreme_parameters(options):
    X = noise(60, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        assert_sound(model(**options).fit(X), X)


# Units and precision


@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1e6, 1e30])
def test_units(unit):
    X = noise(40)
    found = model().fit(unit * X).embedding_ / unit
    assert_equal_up_to_rigid_motion(found, model().fit(X).embedding_, atol=10 * ROUNDING)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_out_of_range_are_refused(unit):
    with pytest.raises(InvalidInputError, match="units"):
        model().fit(unit * noise(40))


def test_single_precision_is_kept():
    X = noise(40)
    narrow, wide = model().fit(X.astype(np.float32)), model().fit(X)
    assert narrow.embedding_.dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert_equal_up_to_rigid_motion(narrow.embedding_, wide.embedding_, atol=100 * ROUNDING)


def test_far_from_the_origin():
    X = noise(40)
    far, near = model().fit(X + 1e6), model().fit(X)
    assert_equal_up_to_rigid_motion(far.embedding_, near.embedding_, atol=10 * ROUNDING)


# Pieces


def test_pieces_are_joined_and_told_once():
    X = np.vstack([noise(40), noise(30, seed=1) + 100.0])
    with pytest.warns(DisconnectedGraphWarning, match="fell into components") as caught:
        mds = model(n_neighbors=6).fit(X)
    assert len(caught) == 1
    assert_sound(mds, X)
    assert mds.bridges_.shape[1] == 2
    assert len(mds.bridges_) >= 1
    side = mds.bridges_ >= 40
    assert (side.sum(axis=1) == 1).all()
    # The gap is as wide as before, about: a bridge is the shortest way over it.
    centers = mds.embedding_[:40].mean(axis=0), mds.embedding_[40:].mean(axis=0)
    assert np.linalg.norm(centers[0] - centers[1]) == pytest.approx(100 * np.sqrt(3), rel=0.15)


def test_pieces_among_large_data(monkeypatch):
    monkeypatch.setattr("isofold.embedding.local_mds.MOST_PAIRED", 50)
    X = np.vstack([noise(70), noise(60, seed=1) + 100.0])
    with pytest.warns(DisconnectedGraphWarning) as caught:
        mds = model(n_neighbors=6).fit(X)
    assert len(caught) == 1
    assert_sound(mds, X)
    # A straight cut along the first axis parts what is far apart.
    assert len({np.sign(y) for y in mds.embedding_[:70, 0]}) == 1
    assert len({np.sign(y) for y in mds.embedding_[70:, 0]}) == 1


def test_a_sparse_graph_in_pieces_is_refused():
    graph = sp.block_diag([squareform(pdist(noise(10))), squareform(pdist(noise(8)))]).tocsr()
    with pytest.raises(InvalidInputError, match=r"falls into 2 components.*dense matrix"):
        model(metric="precomputed").fit(graph)


def test_distances_of_no_points():
    D = squareform(pdist(noise(50, 5), "cityblock")) ** 1.5
    mds = model(metric="precomputed").fit(D)
    assert_sound(mds, D)


# What is refused


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_components": "auto"}, "n_components='auto'"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": None}, "n_neighbors=None"),
        ({"metric": "nearness"}, "metric='nearness' is unknown"),
        ({"balance": 1.5}, "balance=1.5"),
        ({"balance": -0.1}, "balance=-0.1"),
        ({"balance": "much"}, "balance='much'"),
        ({"radius": 2}, "radius=2"),
        ({"radius": np.nan}, "radius=nan"),
        ({"n_epochs": 0}, "n_epochs=0"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        model(**wrong).fit(noise(20))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.array([[np.nan, 0.0], [1.0, 2.0]]), "NaN"),
        (np.array([[np.inf, 0.0], [1.0, 2.0]]), "inf"),
        (np.zeros((1, 3)), "1 sample"),
        (np.zeros((3, 0)), "feature"),
        (np.zeros(3), "1D|dimension"),
        (sp.csr_array(np.eye(4)), "sparse|Sparse"),
    ],
    ids=["nan", "inf", "one-sample", "no-features", "vector", "sparse-points"],
)
def test_wrong_points_are_refused(wrong, words):
    with pytest.raises((InvalidInputError, TypeError), match=words):
        model().fit(wrong)


def test_new_samples_of_another_width_are_refused():
    mds = model().fit(noise(20))
    with pytest.raises(InvalidInputError, match="2 features"):
        mds.transform(noise(4, 2))
    with pytest.raises(InvalidInputError, match="NaN"):
        mds.transform(np.full((1, 3), np.nan))


def test_a_refused_fit_keeps_the_last():
    mds = model().fit(noise(20))
    before, rows, graph = mds.embedding_, mds.core_samples_, mds.graph_
    with pytest.raises(InvalidInputError):
        mds.set_params(balance=7.0).fit(noise(30))
    assert mds.embedding_ is before
    assert mds.core_samples_ is rows
    assert mds.graph_ is graph
    np.testing.assert_array_equal(mds.transform(noise(20)), before)


def test_frames_and_pickles():
    frame = pd.DataFrame(noise(30), columns=["x", "y", "z"], index=[f"s{i}" for i in range(30)])
    mds = model().set_output(transform="pandas")
    out = mds.fit_transform(frame)
    assert list(out.columns) == ["localmds0", "localmds1"]
    assert list(out.index) == list(frame.index)
    again = pickle.loads(pickle.dumps(mds))  # noqa: S301 - our own bytes
    pd.testing.assert_frame_equal(again.transform(frame), out)
