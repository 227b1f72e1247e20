"""What LDLC and its extremes are given: degenerate data, bad input, frames, refits."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isofold import LDLC, VQPCA, GeodesicKMedoids
from isofold.clustering.base import BaseClusterer
from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from support.ldlc_cases import some_points

CLASSES = (LDLC, VQPCA, GeodesicKMedoids)

# Squared rounding of numbers of size ten, summed over some dozen.
NOTHING = 1e-25

# Eq. 4.5 is right to some eps of squared distances from centers, which sum up to a hundred.
ROUNDING = 1e-13


def small(cls, **parameters):
    return cls(**{"n_clusters": 3, "n_components": 1, "n_init": 2, "random_state": 0, **parameters})


def points(n=30, d=3, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


def assert_sound(model, X):
    """Every cluster has points, and points their labels."""
    assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.labels_.shape == (len(X),)
    assert model.labels_.dtype.kind == "i"
    assert model.medoids_.shape == (model.n_clusters_,)
    assert np.isfinite(model.objective_path_).all()
    assert model.subspaces_.centers.shape == (model.n_clusters_, X.shape[1])


@pytest.mark.parametrize("cls", CLASSES)
def test_a_cluster_for_every_point(cls):
    X = points()
    model = small(cls, n_clusters=30).fit(X)
    assert_sound(model, X)
    assert model.objective_path_[-1] == pytest.approx(0.0, abs=NOTHING)
    assert sorted(model.medoids_) == list(range(30))
    assert not model.subspaces_.bases.any()


@pytest.mark.parametrize("cls", CLASSES)
def test_one_cluster_is_principal_component_analysis(cls):
    X = points()
    model = small(cls, n_clusters=1, n_components=2).fit(X)
    assert_sound(model, X)
    sizes = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert model.reconstruction_error_ == pytest.approx(sizes[2] ** 2)
    np.testing.assert_allclose(model.subspaces_.centers[0], X.mean(axis=0), atol=1e-14)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("r", [0, 3])
def test_means_and_whole_spaces(cls, r):
    X = points()
    model = small(cls, n_components=r).fit(X)
    assert_sound(model, X)
    assert model.subspaces_.bases.shape == (3, 3, r)
    if r == 3:
        assert model.reconstruction_error_ == pytest.approx(0.0, abs=ROUNDING)
    else:
        offsets = X - model.subspaces_.centers[model.labels_]
        assert model.reconstruction_error_ == pytest.approx((offsets**2).sum())


@pytest.mark.parametrize("cls", CLASSES)
def test_clusters_smaller_than_their_flats(cls):
    X = points(12, 6)
    model = small(cls, n_clusters=5, n_components=4).fit(X)
    assert_sound(model, X)
    sizes = np.bincount(model.labels_)
    ranks = (model.subspaces_.bases != 0.0).any(axis=1).sum(axis=1)
    assert (ranks <= 4).all()
    if np.array_equal(model.objective_path_[-2:], model.objective_path_[-1:].repeat(2)):
        # Nobody moved in the last step: the flats are those of the clusters.
        assert (ranks <= sizes - 1).all()


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("case", ["constant feature", "line", "one place", "two places", "far"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_degenerate_points(cls, case, dtype):
    X, n_clusters = points(), 3
    if case == "constant feature":
        X[:, 1] = 5.0
    elif case == "line":
        X[:, 1:] = 0.0
    elif case == "one place":
        X[:], n_clusters = X[0], 1
    elif case == "two places":
        X[:], n_clusters = X[np.arange(30) % 2], 2
    else:
        X += 1e5
    X = X.astype(dtype)
    model = small(cls, n_clusters=n_clusters).fit(X)
    assert_sound(model, X)
    if case == "two places":
        assert model.objective_path_[-1] == pytest.approx(0.0, abs=NOTHING)
        assert not model.subspaces_.bases.any()
        assert model.labels_[::2].tolist() == [model.labels_[0]] * 15


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("n_neighbors", [1, 29, 30, 1000])
def test_numbers_of_neighbors(cls, n_neighbors):
    X = points()
    if cls is VQPCA:
        assert not hasattr(small(cls).fit(X), "graph_")
        return
    model = small(cls, n_clusters=12, n_neighbors=n_neighbors).fit(X)
    assert_sound(model, X)
    if n_neighbors >= 29:
        assert model.graph_.n_edges == 30 * 29 // 2


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("max_iter", [1, 2])
def test_few_rounds(cls, max_iter):
    X = some_points("curve", 0)
    model = small(cls, n_clusters=5, max_iter=max_iter).fit(X)
    assert_sound(model, X)
    assert model.n_iter_ <= max_iter


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("unit", [1e-60, 1e-30, 1e30, 1e60])
def test_units(cls, unit):
    X = points()
    plain, scaled = small(cls).fit(X), small(cls).fit(X * unit)
    assert_sound(scaled, X * unit)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@pytest.mark.parametrize("rho", [5e-324, 1e-310, 1e-200, 1.0 - 1e-16])
@pytest.mark.parametrize("r", [1, 3])
@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_shares_at_the_edge_of_numbers(rho, r, unit):
    X = points() * unit
    model = small(LDLC, rho=rho, n_components=r).fit(X)
    assert np.unique(model.labels_).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_an_emptied_cluster_whose_new_point_is_the_center_of_another():
    # In one dimension every point is in every flat. The points 0 and 1 are nearer to the centers
    # beside them than to their own, and the first point is exactly the center of its cluster.
    left, own = [-0.1875, -0.125, -0.25], [0.0, 1.0]
    right = [2.03125, *np.arange(1.03125, 1.15, 0.015625)]
    X = np.array([*left, *own, *right])[:, None]
    X = np.concatenate([X, -X[::-1] - 64.0])
    seeds = [1, 3, 5, 14]
    for rho in (0.0, 1e-6):
        for max_iter in (1, 2, 100):
            model = LDLC(n_clusters=4, n_components=1, rho=rho, n_neighbors=27, init=seeds)
            assert_sound(model.set_params(max_iter=max_iter).fit(X), X)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("r", [0, 1])
def test_points_that_differ_by_less_than_squares_can_tell(cls, r):
    X = np.column_stack([np.ones(8), 1e-200 * np.arange(8)])
    with pytest.raises(InvalidInputError, match=r"units|differ"):
        small(cls, n_components=r).fit(X)


def pieces():
    """Three pieces far apart, of twelve, eight and four points."""
    X = points(24, 2)
    X[12:20] += 100.0
    X[20:] -= 100.0
    return X


@pytest.mark.parametrize("cls", [LDLC, GeodesicKMedoids])
def test_every_piece_of_the_data_gets_a_cluster(cls):
    X = pieces()
    model = small(cls, n_clusters=2, n_neighbors=3)
    words = "3 components, the smallest of 4 .*n_clusters=2.*n_neighbors.*VQPCA"
    with pytest.warns(DisconnectedGraphWarning, match=words):
        model.fit(X)
    assert_sound(model, X)
    assert model.n_clusters_ == 3
    assert len({tuple(np.unique(model.labels_[i])) for i in np.split(np.arange(24), [12, 20])}) == 3
    # A new point goes where it is.
    assert model.predict([[99.0, 99.0]])[0] == model.labels_[12]
    with pytest.raises(InvalidInputError, match="3 components"):
        small(cls, n_clusters=2, n_neighbors=3, init=[0, 12]).fit(X)
    with pytest.raises(InvalidInputError, match="2 of the 3 components"):
        small(cls, n_clusters=3, n_neighbors=3, init=[0, 1, 12]).fit(X)


def test_without_graph_pieces_do_not_matter():
    X = pieces()
    for model in (VQPCA(n_clusters=2, random_state=0), LDLC(n_clusters=2, rho=0, n_neighbors=3)):
        assert model.fit(X).n_clusters_ == 2


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_clusters": 0}, "n_clusters=0 .*at least 1"),
        ({"n_clusters": 2.0}, "n_clusters=2.0"),
        ({"n_clusters": 31}, "n_clusters=31, but only 30 of the points differ.*at most"),
        ({"n_components": -1}, "n_components=-1"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"init": "best"}, "init='best' is unknown.*k-means"),
        ({"init": [0, 1]}, "3 samples are needed"),
        ({"init": [0, 1, 30]}, "samples 0 to 30, but there are samples 0 to 29"),
        ({"init": [0, 1, 1]}, "Only 2 of the 3 samples"),
        ({"init": [0.5, 1.0, 2.0]}, "float64"),
        ({"init": None}, "init"),
        ({"init": [[0], [1, 2], 3]}, "init"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"rho": -0.1}, "rho=-0.1 must be 'auto' or a number from 0"),
        ({"rho": 1.1}, "rho=1.1"),
        ({"rho": np.nan}, "rho=nan"),
        ({"rho": "best"}, "rho='best'"),
        ({"rho": None}, "rho=None"),
        ({"rho": True}, "rho=True"),
    ],
    ids=lambda each: str(each)[:40] if isinstance(each, dict) else "",
)
def test_bad_parameters(cls, parameters, words):
    if not set(parameters) <= set(cls().get_params()):
        with pytest.raises(TypeError):
            cls(**parameters)
        return
    with pytest.raises(InvalidInputError, match=words):
        small(cls, **parameters).fit(points())


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.full((5, 2), np.nan), "10 NaN"),
        (np.array([[1.0, np.inf], [0.0, 1.0], [2.0, 2.0]]), "1 infinite"),
        (np.ones((1, 2)), "1 sample.*at least 2"),
        (np.empty((5, 0)), "0 feature"),
        (np.ones(5), "2D"),
        (np.ones((5, 2)), "only 1 of the points differ"),
        (1e80 * points(), r"1e\+70|units"),
        (1e-80 * points(), "units"),
        (np.array([["a", "b"]] * 5), "could not convert"),
    ],
    ids=["nan", "inf", "one", "no-features", "vector", "copies", "huge", "tiny", "text"],
)
def test_bad_points(cls, X, words):
    with pytest.raises(InvalidInputError, match=words):
        small(cls).fit(X)


@pytest.mark.parametrize("cls", CLASSES)
def test_bad_new_points(cls):
    model = small(cls)
    with pytest.raises(NotFittedError, match="not fitted"):
        model.predict(points())
    model.fit(points())
    with pytest.raises(InvalidInputError, match=r"2 features.*expecting 3"):
        model.predict(points(d=2))
    with pytest.raises(InvalidInputError, match="NaN"):
        model.predict(np.full((2, 3), np.nan))
    with pytest.raises(InvalidInputError, match=r"1e\+160|units"):
        model.predict(np.full((2, 3), 1e160))
    assert model.predict(np.full((2, 3), 1e30)).shape == (2,)


@pytest.mark.parametrize("cls", [LDLC, VQPCA])
def test_more_dimensions_than_features(cls):
    words = r"n_components=4, but X has 3 feature.*at most n_components=3"
    with pytest.raises(InvalidInputError, match=words):
        small(cls, n_components=4).fit(points())


def test_dimensions_that_change_no_cluster_stop_none():
    labels = [small(GeodesicKMedoids, n_components=r).fit(points()).labels_ for r in (0, 3, 9)]
    np.testing.assert_array_equal(labels[0], labels[1])
    np.testing.assert_array_equal(labels[0], labels[2])


@pytest.mark.parametrize("cls", CLASSES)
def test_score_is_the_mean_error(cls):
    X = points()
    model = small(cls).fit(X)
    # Sums of 30 squares in another order.
    assert model.score(X) == pytest.approx(-model.reconstruction_error_ / len(X), rel=1e-12)
    assert model.score(X + 1e3) < model.score(X)


@pytest.mark.parametrize("cls", CLASSES)
def test_points_next_to_the_origin(cls):
    # The training points fix the unit: what is next to nothing beside them is a point like others.
    X = points()
    X[0] = [1e-80, 0.0, -1e-200]
    model = small(cls).fit(X)
    assert model.predict(X[:1]).tolist() == [model.labels_[0]]
    assert model.predict(np.zeros((1, 3))).tolist() == [model.labels_[0]]


@pytest.mark.parametrize("cls", CLASSES)
def test_a_refused_fit_leaves_the_last(cls):
    X = points()
    model = small(cls).fit(X)
    before = model.predict(X)
    for bad in ({"n_clusters": 31}, {"n_components": -9}, {"init": "best"}):
        model.set_params(**bad)
        with pytest.raises(InvalidInputError):
            model.fit(points(d=2, seed=1))
        model.set_params(**{name: getattr(small(cls), name) for name in bad})
        assert model.n_features_in_ == 3
        np.testing.assert_array_equal(model.labels_, before)
        np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("cls", CLASSES)
def test_pickle_clone_and_parameters(cls):
    X = points()
    model = small(cls).fit(X)
    restored = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(restored.predict(X + 0.2), model.predict(X + 0.2))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "labels_")
    np.testing.assert_array_equal(fresh.fit_predict(X), model.labels_)
    model.set_params(n_clusters=5).fit(X)
    assert model.n_clusters_ == 5
    seeds = np.array([3, 1, 2])
    given = clone(small(cls, init=seeds))
    np.testing.assert_array_equal(given.init, seeds)
    assert_sound(given.fit(X), X)


@pytest.mark.parametrize("cls", CLASSES)
def test_data_frames(cls):
    frame = pd.DataFrame(points(), columns=["height", "width", "depth"])
    model = small(cls).fit(frame)
    assert list(model.feature_names_in_) == ["height", "width", "depth"]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_array_equal(small(cls).fit(frame.to_numpy()).labels_, model.labels_)
    with pytest.raises(InvalidInputError, match="feature names"):
        model.predict(frame.rename(columns={"depth": "color"}))


@pytest.mark.parametrize("cls", CLASSES)
def test_the_input_is_not_changed_and_may_be_read_only(cls):
    X = points()
    original = X.copy()
    X.flags.writeable = False
    model = small(cls).fit(X)
    model.predict(X)
    np.testing.assert_array_equal(X, original)


@pytest.mark.parametrize("cls", CLASSES)
def test_another_seed_is_the_only_source_of_variation(cls):
    X = points(60, 2)
    ends = [small(cls, n_clusters=8, n_init=1, random_state=s).fit(X) for s in (0, 0, 1, 2, 3)]
    np.testing.assert_array_equal(ends[0].labels_, ends[1].labels_)
    assert len({each.objective_path_[-1] for each in ends}) > 1
    # More starts from the same seed can only be better: the first is the same.
    more = small(cls, n_clusters=8, n_init=4, random_state=0)
    if cls is LDLC:
        more.set_params(rho=0.01)
        ends[0].set_params(rho=0.01).fit(X)
    assert more.fit(X).objective_path_[-1] <= ends[0].objective_path_[-1] * (1.0 + 1e-9)


def test_the_base_class_itself_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        BaseClusterer()
