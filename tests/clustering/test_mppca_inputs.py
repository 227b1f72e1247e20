"""Degenerate points and bad input of MPPCA."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from isofold.clustering.mppca import MPPCA
from isofold.clustering.ppca_em import VARIANCE_FLOOR, _reseed, climb
from isofold.exceptions import InvalidInputError
from support.mppca_cases import FALL, planes, standardized


def test_collapsed_components_stay_finite():
    X, _ = planes()
    X = np.vstack([X, X[:1] + 50.0, X[:2] - 50.0])
    mppca = MPPCA(n_clusters=3, n_components=2, init=[0, 120, 121]).fit(X)
    floor = VARIANCE_FLOOR * X.var(axis=0).mean()
    assert np.isfinite(mppca.log_likelihood_)
    np.testing.assert_allclose(mppca.noise_variances_[1:], floor, rtol=1e-6)
    # One point has no axis, two points have one.
    assert np.linalg.norm(mppca.subspaces_.bases, axis=1).round(9).tolist() == [
        [1.0, 1.0],
        [0.0, 0.0],
        [1.0, 0.0],
    ]
    np.testing.assert_array_equal(np.bincount(mppca.labels_), [120, 1, 2])


def test_lost_components_are_moved_to_the_worst_explained_points():
    X, _ = planes()
    points = standardized(X)
    rng = np.random.RandomState(0)
    # Components 2 and 3 begin without points.
    labels = np.repeat([0, 1], 60)
    run = climb(points, labels, 2, n_clusters=4, max_iter=500, tol=1e-7, rng=rng)
    assert run.has_converged
    assert (run.mixture.weights * len(points) > 0.5).all()
    assert np.isfinite(run.path).all()
    assert np.diff(run.path).min() >= -FALL * np.abs(run.path).max()


def test_as_many_clusters_as_distinct_points():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [5.0, 5.0]])
    mppca = MPPCA(n_clusters=4, n_components=1, random_state=0).fit(np.repeat(X, 3, axis=0))
    assert np.isfinite(mppca.log_likelihood_)
    assert mppca.reconstruction_error_ == pytest.approx(0.0, abs=1e-12)
    assert len(np.unique(mppca.labels_)) == 4
    with pytest.raises(InvalidInputError, match="only 4 of the points differ"):
        MPPCA(n_clusters=5).fit(np.repeat(X, 3, axis=0))


def test_equal_points():
    mppca = MPPCA(n_clusters=1, n_components=1).fit(np.full((5, 2), 0.1))
    np.testing.assert_array_equal(mppca.labels_, 0)
    assert np.isfinite(mppca.score_samples([[0.1, 0.1], [4.0, 3.0]])).all()


@pytest.mark.parametrize("r", [1, 4])
def test_constant_features(r):
    X, _ = planes(n_features=3, noise=0.01)
    X = np.hstack([X, np.full((len(X), 1), 7.0)])
    mppca = MPPCA(n_clusters=2, n_components=r, n_init=5, random_state=0).fit(X)
    assert np.isfinite(mppca.log_likelihood_)
    np.testing.assert_allclose(mppca.subspaces_.centers[:, 3], 7.0)
    np.testing.assert_allclose(mppca.subspaces_.bases[:, 3], 0.0, atol=1e-12)


def test_far_from_the_origin():
    X, _ = planes()
    # A power of two and coordinates on a grid of 2^-20: the sum is exact.
    X = np.round(X * 2.0**20) / 2.0**20
    far = X + 2.0**30
    near, moved = (MPPCA(n_clusters=3, random_state=0).fit(points) for points in (X, far))
    np.testing.assert_array_equal(near.labels_, moved.labels_)
    np.testing.assert_allclose(moved.log_likelihood_, near.log_likelihood_, rtol=1e-8)
    np.testing.assert_allclose(moved.noise_variances_, near.noise_variances_, rtol=1e-6)
    np.testing.assert_array_equal(moved.predict(far), moved.labels_)


def test_float32_points_give_nearly_the_same_mixture():
    X, _ = planes()
    double = MPPCA(n_clusters=2, init=[0, 60]).fit(X)
    single = MPPCA(n_clusters=2, init=[0, 60]).fit(X.astype(np.float32))
    np.testing.assert_array_equal(single.labels_, double.labels_)
    # Coordinates are rounded to 1e-7 of their size, 1e-5 of the noise.
    np.testing.assert_allclose(single.noise_variances_, double.noise_variances_, rtol=1e-3)
    np.testing.assert_array_equal(single.predict(X.astype(np.float32)), single.labels_)


def test_read_only_points_are_left_alone():
    X, _ = planes()
    before = X.copy()
    X.setflags(write=False)
    MPPCA(n_clusters=2, random_state=0).fit(X).predict(X)
    np.testing.assert_array_equal(X, before)


def test_warns_if_the_best_start_did_not_converge():
    X, _ = planes()
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        mppca = MPPCA(n_clusters=3, max_iter=2, random_state=0).fit(X)
    assert mppca.n_iter_ == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0"),
        ({"n_components": 6}, "n_components=6"),
        ({"n_components": -1}, "n_components=-1"),
        ({"n_init": 0}, "n_init=0"),
        ({"init": "best"}, "best"),
        ({"init": [0, 1]}, "init"),
        ({"init": [0, 1, 120]}, "119"),
        ({"init": [0, 1, 1]}, "init"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"random_state": "seed"}, "random_state"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(parameters, message):
    X, _ = planes()
    with pytest.raises(InvalidInputError, match=message):
        MPPCA(**{"n_clusters": 3, **parameters}).fit(X)


def test_a_component_that_lost_its_points_gets_the_worst_explained_ones():
    shares = np.array([[1.0, 0.0, 1e-20], [0.7, 1e-9, 0.3], [0.2, 1e-9, 0.8]])
    is_lost = _reseed(shares, np.array([-1.0, -9.0, -2.0]))
    np.testing.assert_array_equal(is_lost, [False, True, False])
    np.testing.assert_array_equal(shares, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.0, 0.8]])
