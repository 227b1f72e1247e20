"""NeighborMap on awkward and on wrong input: no crash, no NaN, and words that help."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isofold import NeighborMap
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.quality import continuity, trustworthiness

DIGITS = load_digits().data

# Lengths are kept in single precision, and sweeps end a little short of them.
ROUNDING = 1e-3


def model(**parameters):
    return NeighborMap(**{"random_state": 0, "n_jobs": 1, **parameters})


def noise(n, d=3, seed=0):
    return np.random.RandomState(seed).normal(size=(n, d))


def assert_sound(found, X):
    n = X.shape[0]
    assert found.embedding_.shape == (n, found.n_components)
    assert np.isfinite(found.embedding_).all()
    assert found.distortion_.shape == (n,)
    assert np.isfinite(found.distortion_).all()
    assert 0.0 <= found.lost_neighbors_ <= 1.0
    np.testing.assert_array_equal(found.transform(X), found.embedding_)


# Few samples, few places


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 30, 100])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_few_samples(n, p):
    X = noise(n, 4)
    assert_sound(model(n_components=p).fit(X), X)
    D = squareform(pdist(X))
    found = model(n_components=p, metric="precomputed").fit(D)
    assert_sound(found, D)
    assert np.isfinite(model(n_components=p).fit(X).transform(noise(5, 4, seed=1))).all()


def test_few_samples_that_fit_keep_their_lengths():
    two, three = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]]), noise(3)
    assert pdist(model(n_components=1).fit(two).embedding_)[0] == pytest.approx(3.0, rel=ROUNDING)
    np.testing.assert_allclose(pdist(model().fit(three).embedding_), pdist(three), rtol=ROUNDING)
    four = noise(4)
    found = model(n_components=3).fit(four).embedding_
    np.testing.assert_allclose(pdist(found), pdist(four), rtol=10 * ROUNDING)


@pytest.mark.parametrize("n", [2, 6, 40])
def test_one_place(n):
    X = np.full((n, 3), 7.0)
    found = model().fit(X)
    assert_sound(found, X)
    np.testing.assert_array_equal(found.embedding_, np.zeros((n, 2)))
    assert found.graph_.n_nodes == 1
    np.testing.assert_array_equal(found.transform(noise(2)), np.zeros((2, 2)))
    distances = np.zeros((n, n))
    assert_sound(model(metric="precomputed").fit(distances), distances)


def test_two_places():
    X = np.repeat(noise(2), 20, axis=0)
    found = model().fit(X)
    assert_sound(found, X)
    np.testing.assert_allclose(pdist(found.embedding_), pdist(X), rtol=ROUNDING, atol=ROUNDING)


def test_every_sample_twenty_times():
    one, many = model().fit(DIGITS[:60]), model().fit(np.repeat(DIGITS[:60], 20, axis=0))
    np.testing.assert_array_equal(many.embedding_, np.repeat(one.embedding_, 20, axis=0))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_one_feature(p):
    X = noise(150, 1)
    found = model(n_components=p).fit(X)
    assert_sound(found, X)
    assert found.length_errors_.median < 0.05


def test_more_features_than_samples():
    X = noise(20, 5000)
    found = model().fit(X)
    assert_sound(found, X)
    # All are about as far from each other, which no plane can show.
    assert found.length_errors_.median < 0.2


def test_a_grid_with_its_equal_distances():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(9.0)), axis=2).reshape(-1, 2)
    found = model().fit(grid)
    assert_sound(found, grid)
    assert found.length_errors_.median < 0.02


def test_points_at_equal_distances_part():
    X = np.eye(30)
    found = model().fit(X)
    assert_sound(found, X)
    # Ties go to the first ones, which are then everybody's neighbors.
    assert pdist(found.embedding_).min() > 0.01


@pytest.mark.parametrize(
    "options",
    [{"n_neighbors": 1}, {"n_neighbors": 10_000}, {"balance": 0}, {"balance": 1}, {"n_jobs": -1}],
    ids=lambda options: "-".join(f"{name}={value}" for name, value in options.items()),
)
def test_extreme_parameters(options):
    X = noise(60, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        assert_sound(model(**options).fit(X), X)


def test_whole_numbers_and_truths():
    X = DIGITS[:100].astype(int)
    np.testing.assert_array_equal(
        model().fit(X).embedding_, model().fit(X.astype(float)).embedding_
    )
    assert_sound(model().fit(X > 8), X > 8)


def test_input_that_cannot_be_written_to():
    X = noise(60)
    X.flags.writeable = False
    start = X[:, :2].copy()
    start.flags.writeable = False
    assert_sound(model(init=start).fit(X), X)


# Units and precision


@pytest.mark.parametrize("unit", [2.0**-200, 2.0**-100, 2.0**100, 2.0**200])
def test_units(unit):
    X = noise(60)
    found = model().fit(unit * X).embedding_
    np.testing.assert_array_equal(found, unit * model().fit(X).embedding_)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_out_of_range_are_refused(unit):
    with pytest.raises(InvalidInputError, match="units"):
        model().fit(unit * noise(40))


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_single_precision_is_kept(unit):
    X = (unit * noise(60)).astype(np.float32)
    found = model().fit(X)
    assert_sound(found, X)
    assert found.embedding_.dtype == found.transform(X + X).dtype == np.float32
    assert found.lost_neighbors_ == pytest.approx(model().fit(noise(60)).lost_neighbors_, abs=0.05)


def test_far_from_the_origin():
    X = noise(100, 2)
    found = model().fit(X + 1e6)
    # Coordinates are then known to 1e-10, and lengths as well.
    assert found.length_errors_.median < 0.01


# Outliers and components


@pytest.mark.parametrize("kind", ["apart", "together"])
def test_outliers_leave_the_others_as_they_are(kind):
    X = DIGITS[:600]
    far = 1e6 * noise(5, 64) if kind == "apart" else 1e6 + noise(5, 64)
    with pytest.warns(DoubtfulMapWarning, match="5 samples are more than 100 times as far"):
        found = model().fit(np.vstack([X, far]))
    (finding,) = found.diagnosis_.raised
    np.testing.assert_array_equal(finding.samples, np.arange(600, 605))
    plain, beside = model().fit(X).embedding_, found.embedding_[:600]
    assert trustworthiness(X, beside) > trustworthiness(X, plain) - 0.003
    # Groups may drift apart otherwise.
    assert continuity(X, beside) > continuity(X, plain) - 0.01
    # And the far ones are far.
    gaps = np.linalg.norm(found.embedding_[600:, None] - beside, axis=2)
    assert gaps.min() > 1e5


def test_far_components_are_announced():
    X = np.vstack([DIGITS[:120], DIGITS[120:200] + 1e4])
    with pytest.warns(DisconnectedGraphWarning, match="2 components of 120, 80 samples") as caught:
        found = model().fit(X)
    assert len(caught) == 1
    assert_sound(found, X)
    assert trustworthiness(X, found.embedding_) > 0.98
    # None is mixed with the other, and none is squeezed.
    assert found.length_errors_.median < 0.2
    sides = found.embedding_[:120], found.embedding_[120:]
    assert np.linalg.norm(sides[0][:, None] - sides[1], axis=2).min() > found.map_.unit


def test_a_graph_in_components_is_announced():
    blocks = [squareform(pdist(noise(30))), squareform(pdist(noise(20))), np.zeros((1, 1))]
    graph = sp.csr_array(sp.block_diag(blocks))
    with pytest.warns(DisconnectedGraphWarning, match="3 components of 30, 20, 1 samples"):
        found = model(metric="precomputed").fit(graph)
    assert np.isfinite(found.embedding_).all()
    assert found.distortion_[-1] == 0.0
    assert len(np.unique(found.embedding_, axis=0)) == 51


def test_a_graph_of_nothing():
    with pytest.warns(DisconnectedGraphWarning, match="30 components"):
        found = model(metric="precomputed").fit(sp.csr_array((30, 30)))
    assert np.isfinite(found.embedding_).all()
    assert found.lost_neighbors_ == 0.0


def test_distances_of_no_points():
    D = squareform(pdist(noise(50, 5), "cityblock")) ** 1.5
    assert_sound(model(metric="precomputed").fit(D), D)


@pytest.mark.parametrize("d", [20, 60])
def test_a_map_without_room_says_so(d):
    with pytest.warns(DoubtfulMapWarning, match="cannot be measured on|has no room for them"):
        model(n_components=1).fit(noise(600, d))


# What is refused


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_components": "auto"}, "n_components='auto'"),
        ({"n_components": 4}, "n_components=4, but NeighborMap makes maps of 1, 2 or 3"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": None}, "n_neighbors=None"),
        ({"metric": "nearness"}, "metric='nearness' is unknown"),
        ({"balance": 1.5}, "balance=1.5 must be a number between 0 and 1, both included"),
        ({"balance": -0.1}, "balance=-0.1"),
        ({"balance": np.nan}, "balance=nan"),
        ({"balance": True}, "balance=True"),
        ({"balance": "much"}, "balance='much'"),
        ({"init": "random"}, "init='random' must be 'pca', an array"),
        ({"init": np.zeros((19, 2))}, r"init gives coordinates of shape \(19, 2\), but 20 samples"),
        ({"init": np.zeros((20, 3))}, r"Pass coordinates of shape \(20, 2\)"),
        ({"init": np.full((20, 2), np.nan)}, "init contains 40 NaN"),
        ({"init": PCA(3)}, r"init gives coordinates of shape \(20, 3\)"),
        ({"init": 3}, "init"),
        ({"init": None}, "init"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        model(**wrong).fit(noise(20))


def test_new_samples_of_another_width_are_refused():
    found = model().fit(noise(20))
    with pytest.raises(InvalidInputError, match="2 features"):
        found.transform(noise(4, 2))
    with pytest.raises(InvalidInputError, match="NaN"):
        found.transform(np.full((1, 3), np.nan))


def test_a_refused_fit_keeps_the_last():
    found = model().fit(noise(20))
    before, graph = found.embedding_, found.graph_
    with pytest.raises(InvalidInputError):
        found.set_params(balance=7.0).fit(noise(30))
    assert found.embedding_ is before
    assert found.graph_ is graph
    np.testing.assert_array_equal(found.transform(noise(20)), before)


def test_frames_and_pickles():
    frame = pd.DataFrame(noise(30), columns=["x", "y", "z"], index=[f"s{i}" for i in range(30)])
    found = model().set_output(transform="pandas")
    out = found.fit_transform(frame)
    assert list(out.columns) == ["neighbormap0", "neighbormap1"]
    assert list(out.index) == list(frame.index)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    pd.testing.assert_frame_equal(again.transform(frame), out)
    pd.testing.assert_frame_equal(again.transform(frame + 0.1), found.transform(frame + 0.1))
