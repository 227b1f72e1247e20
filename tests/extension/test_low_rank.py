"""Features of a kernel from landmarks: exact where they span, better with more and spread ones."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from isofold.exceptions import InvalidInputError
from isofold.extension import fit_kernel_features
from isofold.similarity.kernel_function import KernelFunction

# Eigenvalues of a kernel are cut where they are rounding, 1e-14 for some tens of landmarks; what
# is cut of the kernel is as much, and rounding of its entries adds a little.
EXACT = 1e-11

X = np.random.default_rng(0).uniform(-1.0, 1.0, (120, 2))
K = rbf_kernel(X, gamma=1.0)


def error(features, kernel=K, data=X):
    F = features.transform(data)
    return np.abs(F @ F.T - kernel).max()


def test_all_points_as_landmarks_are_exact():
    assert error(fit_kernel_features(X, gamma=1.0, n_landmarks=10**6)) < EXACT


def test_as_many_landmarks_as_the_rank_are_exact():
    # Polynomials of degree three in two variables: ten monomials.
    features = fit_kernel_features(X, kernel="poly", n_landmarks=10, random_state=0)
    assert features.rank == 10
    assert error(features, polynomial_kernel(X, degree=3, gamma=1.0, coef0=1.0)) < 1e-9


def test_the_error_falls_with_more_landmarks():
    errors = [
        error(fit_kernel_features(X, gamma=1.0, n_landmarks=m, random_state=0))
        for m in (3, 6, 12, 24, 48)
    ]
    assert np.all(np.diff(errors) < 0.0)
    assert errors[-1] < 1e-3 * errors[0]


def test_spread_landmarks_are_not_worse_than_random_ones():
    options = {"gamma": 1.0, "n_landmarks": 15}
    seeds = [{"random_state": seed} for seed in range(10)]
    random, clusters, spread = (
        np.mean([error(fit_kernel_features(X, landmarks=how, **options, **seed)) for seed in seeds])
        for how in ("random", "kmeans", "maxmin")
    )
    assert spread <= random
    assert clusters <= random


def test_a_precomputed_kernel_is_the_same():
    given = fit_kernel_features(K, kernel="precomputed", n_landmarks=20, random_state=3)
    points = fit_kernel_features(X, gamma=1.0, n_landmarks=20, random_state=3)
    # An RBF kernel's own distances grow with those of the points: the same are farthest.
    np.testing.assert_array_equal(given.landmarks, points.landmarks)
    np.testing.assert_allclose(given.transform(K), points.transform(X), atol=1e-6)
    function = fit_kernel_features(
        X, kernel=lambda A, B: rbf_kernel(A, B, gamma=1.0), landmarks=points.landmarks
    )
    assert error(function) == pytest.approx(error(points), abs=1e-8)
    same = fit_kernel_features(X, kernel=KernelFunction("rbf"), landmarks=points.landmarks)
    np.testing.assert_array_equal(same.transform(X), points.transform(X))


def test_rows_stand_alone():
    features = fit_kernel_features(X, n_landmarks=20, random_state=0)
    np.testing.assert_array_equal(features.transform(X[:1]), features.transform(X)[:1])
    some = fit_kernel_features(X.astype(np.float32), n_landmarks=20, rank=5, random_state=0)
    assert some.transform(X).shape == (120, 5)


def test_copies_are_no_landmarks():
    features = fit_kernel_features(np.repeat(X[:5], 4, axis=0), gamma=1.0, n_landmarks=20)
    assert len(features.landmarks) == 5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "best"}, "kernel"),
        ({"kernel": "precomputed"}, "square"),
        ({"landmarks": "all"}, "'random', 'kmeans', 'maxmin'"),
        ({"landmarks": [500]}, "from 0 to 119"),
        ({"n_landmarks": 0}, "n_landmarks=0"),
        ({"rank": 0}, "rank=0"),
        ({"gamma": -1.0}, "gamma"),
        ({"kernel": lambda A, B: -rbf_kernel(A, B)}, "not positive semidefinite"),
        ({"kernel": lambda A, B: np.ones(3)}, "kernel function"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(InvalidInputError, match=words):
        fit_kernel_features(X, **options)


def test_bad_kernels_are_refused():
    with pytest.raises(InvalidInputError, match="needs points"):
        fit_kernel_features(K, kernel="precomputed", landmarks="kmeans")
    with pytest.raises(InvalidInputError, match="not symmetric"):
        fit_kernel_features(np.triu(K), kernel="precomputed")
    features = fit_kernel_features(X, n_landmarks=5, random_state=0)
    with pytest.raises(InvalidInputError, match=r"3 column\(s\)"):
        features.transform(np.ones((2, 3)))
