"""The objective of twin kernel embedding: its formula, its gradients, its estimate, its descent."""

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.exceptions import InvalidInputError
from isofold.stress.twin_descent import TwinRules, match_kernels
from isofold.stress.twin_objective import LatentKernel, TwinObjective, random_groups

RNG = np.random.RandomState(0)
LATENT = LatentKernel(weight_kernel=0.3, weight_points=0.05)


def similarities(n, k=4):
    """Return a sparse symmetric kernel of points in a square, and the points."""
    points = RNG.uniform(size=(n, 2)) * n**0.5
    K = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
    listed = np.zeros_like(K)
    order = np.argsort(-K, axis=1)[:, : k + 1]
    np.put_along_axis(listed, order, np.take_along_axis(K, order, axis=1), axis=1)
    return sp.csr_array(np.maximum(listed, listed.T)), points


def test_the_formula():
    K, X = similarities(30)
    log_gamma, log_sigma = 0.3, -0.4
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    Kx = np.exp(log_gamma - np.exp(log_sigma) * squares)
    expected = -np.sum(K.toarray() * Kx) + 0.3 * np.sum(Kx**2) + 0.05 * np.sum(X**2)
    found = TwinObjective.of(K, LATENT).at(X, log_gamma, log_sigma)
    assert found.value == pytest.approx(expected, rel=1e-12)
    cosine = np.sum(K.toarray() * Kx) / np.linalg.norm(Kx) / np.linalg.norm(K.toarray())
    assert found.alignment == pytest.approx(cosine, rel=1e-12)


@pytest.mark.parametrize("is_estimated", [False, True])
def test_gradients_are_those_of_differences(is_estimated):
    K, X = similarities(40)
    groups = random_groups(40, 15, np.random.RandomState(1)) if is_estimated else None
    objective = TwinObjective.of(K, LATENT, groups)
    theta = np.append(X.ravel(), [0.2, -0.3])

    def at(theta):
        return objective.at(theta[:-2].reshape(X.shape), theta[-2], theta[-1])

    # Central differences are off by h² and by eps/h of the value, which is some ten here.
    h, numeric = 1e-5, np.empty(len(theta))
    for i in range(len(theta)):
        step = h * (np.arange(len(theta)) == i)
        numeric[i] = (at(theta + step).value - at(theta - step).value) / (2.0 * h)
    found = at(theta)
    analytic = np.append(found.points.ravel(), [found.log_amplitude, found.log_sigma])
    assert np.abs(analytic - numeric).max() <= 1e-6 * np.abs(numeric).max()


def test_large_maps_are_worked_on_in_tiles(monkeypatch):
    K, X = similarities(50)
    whole = TwinObjective.of(K, LATENT).at(X, 0.1, 0.2)
    monkeypatch.setattr("isofold.stress.twin_objective.TILE", 7)
    tiled = TwinObjective.of(K, LATENT).at(X, 0.1, 0.2)
    assert tiled.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(tiled.points, whole.points, atol=1e-12)
    assert tiled.log_sigma == pytest.approx(whole.log_sigma, rel=1e-10)


def test_the_estimate_is_unbiased():
    K, X = similarities(60)
    exact = TwinObjective.of(K, LATENT).at(X, 0.0, 0.0)
    rng = np.random.RandomState(2)
    drawn = [
        TwinObjective.of(K, LATENT, random_groups(60, 14, rng)).at(X, 0.0, 0.0) for _ in range(1500)
    ]
    values = np.array([each.value for each in drawn])
    # Four standard errors of the mean.
    assert abs(values.mean() - exact.value) < 4.0 * values.std() / len(values) ** 0.5
    slopes = np.array([each.points for each in drawn])
    errors = np.abs(slopes.mean(axis=0) - exact.points) * len(drawn) ** 0.5
    assert (errors < 5.0 * slopes.std(axis=0) + 1e-12).all()


def test_groups_hold_everyone_once():
    groups = random_groups(103, 20, np.random.RandomState(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(103))
    assert {len(group) for group in groups} <= {20, 21}


def test_the_objective_never_rises():
    K, X = similarities(80)
    start = RNG.normal(size=X.shape)
    result = match_kernels(K, start, LATENT, TwinRules(max_iter=60), RNG)
    assert (np.diff(result.path) <= 0.0).all()
    found = TwinObjective.of(K, LATENT).at(result.points, 0.0, 0.0)
    assert found.value == pytest.approx(result.path[-1], rel=1e-12)
    assert found.alignment == pytest.approx(result.alignment, rel=1e-12)


def test_rounds_of_an_estimate_end_near_the_minimum():
    K, X = similarities(150)
    latent = LatentKernel(weight_kernel=0.2, weight_points=0.01)
    full = match_kernels(K, X, latent, TwinRules(), np.random.RandomState(0))
    rules = TwinRules(most_paired=100, group_size=60, max_iter=240)
    some = match_kernels(K, X, latent, rules, np.random.RandomState(0))
    same = match_kernels(K, X, latent, rules, np.random.RandomState(0))
    np.testing.assert_array_equal(some.points, same.points)
    value = TwinObjective.of(K, latent).at(some.points, 0.0, 0.0).value
    fall = full.path[0] - full.path[-1]
    assert value - full.path[-1] < 0.2 * fall


def test_what_is_learned_stays_in_bounds():
    K, X = similarities(60)
    free = LatentKernel(learn=("amplitude",), weight_kernel=0.005, weight_points=0.001)
    result = match_kernels(K, X, free, TwinRules(max_iter=80), RNG)
    assert result.at_bound
    assert result.latent.amplitude == pytest.approx(10.0)
    assert result.latent.sigma == 1.0
    fixed = match_kernels(K, X, LATENT, TwinRules(max_iter=10), RNG)
    assert not fixed.at_bound
    assert fixed.latent == LATENT


@pytest.mark.parametrize(
    "latent",
    [
        LatentKernel(sigma=0.0),
        LatentKernel(amplitude=-1.0),
        LatentKernel(weight_kernel="much"),
        LatentKernel(weight_points=np.nan),
        LatentKernel(learn=("gamma",)),
        LatentKernel(learn="sigma"),
    ],
)
def test_latent_kernels_that_cannot_be_are_refused(latent):
    with pytest.raises(InvalidInputError, match=r"latent\."):
        latent.resolved(0.1)
