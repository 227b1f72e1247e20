"""The short scorecard agrees with the measures it sums up."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError
from isofold.quality import (
    best_scale_error,
    continuity,
    local_isometry,
    neighbor_error,
    scorecard,
    summary,
    trustworthiness,
)


def roll(n=200, seed=0):
    rng = np.random.RandomState(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.rand(n))
    X = np.column_stack([t * np.cos(t), 10 * rng.rand(n), t * np.sin(t)])
    return X, X[:, :2] + 0.1 * rng.standard_normal((n, 2))


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("n_samples", [None, 60])
def test_the_figures_are_those_of_the_measures(metric, n_samples):
    X, Y = roll()
    X = cdist(X, X) if metric == "precomputed" else X
    how = {"n_neighbors": 9, "metric": metric, "n_samples": n_samples, "random_state": 3}
    found = summary(X, Y, **how)
    assert found.trustworthiness == trustworthiness(X, Y, **how)
    assert found.continuity == continuity(X, Y, **how)
    assert found.length_error == local_isometry(X, Y, **how).median
    assert 0.0 < found.scaled_length_error <= found.length_error
    shown = local_isometry(X, Y, neighbors_of="embedding", **how)
    assert found.shown_length_error == shown.median
    assert 0.0 < found.scaled_shown_length_error <= found.shown_length_error
    assert found.neighbor_error == neighbor_error(X, Y, **how)


def test_it_agrees_with_the_scorecard():
    X, Y = roll()
    found, card = summary(X, Y), scorecard(X, Y)
    assert found == card.summary
    assert found.trustworthiness == card["trustworthiness"]
    assert found.shown_length_error == card["shown_length_error_median"]


@pytest.mark.parametrize("scale", [0.25, 1.0, 8.0])
def test_a_scale_costs_nothing_where_a_map_has_no_unit(scale):
    X, _ = roll()
    found = summary(X, scale * X)
    assert (found.trustworthiness, found.continuity) == (1.0, 1.0)
    # Powers of two change no digit.
    assert (found.length_error, found.scaled_length_error) == (abs(scale - 1.0), 0.0)
    assert (found.shown_length_error, found.scaled_shown_length_error) == (abs(scale - 1.0), 0.0)
    assert found.neighbor_error == 0.0


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_copies_are_left_out_where_they_are_all_neighbors(metric):
    X, Y = roll(n=8)
    many = np.repeat(np.arange(8), 30)
    X_many = X[many] if metric == "euclidean" else cdist(X, X)[np.ix_(many, many)]
    X = X if metric == "euclidean" else cdist(X, X)
    assert summary(X_many, Y[many], metric=metric) == summary(X, Y, metric=metric)


def test_few_points():
    two = summary(np.array([[0.0], [1.0]]), np.array([[0.0], [3.0]]))
    assert np.isnan([two.trustworthiness, two.continuity]).all()
    assert (two.length_error, two.scaled_length_error) == (2.0, 0.0)
    one = summary(np.zeros((1, 2)), np.zeros((1, 2)))
    assert np.isnan([one.trustworthiness, one.length_error]).all()
    assert np.isnan(summary(np.zeros((5, 2)), np.eye(5)).length_error)


def test_what_is_refused():
    X, Y = roll()
    with pytest.raises(InvalidInputError, match="n_neighbors=0"):
        summary(X, Y, n_neighbors=0)
    with pytest.raises(InvalidInputError, match="rows"):
        summary(X[:-1], Y)


def test_the_best_scale_is_found():
    rng = np.random.RandomState(0)
    for n in (1, 2, 7, 50):
        ratios = rng.gamma(2.0, 5.0, n)
        scales = np.linspace(0.001, 3.0 / ratios.min(), 200_001)[:, None]
        # An upper median: half of the ratios and one more lie within it.
        errors = np.sort(np.abs(scales * ratios - 1.0), axis=1)[:, n // 2]
        # A grid is at most half a step from the best scale, and errors have slope max(ratios).
        assert errors.min() == pytest.approx(
            best_scale_error(ratios), abs=(scales[1, 0] - scales[0, 0]) * ratios.max()
        )
    assert best_scale_error(np.zeros(3)) == 1.0
    assert np.isnan(best_scale_error(np.array([np.nan, np.inf])))
