"""Kernel maps: row by row, through their values, least squares where there are few landmarks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.embedding.affine.span import span_of_kernel
from isofold.extension import (
    CorrectedMap,
    KernelMap,
    fit_barycentric,
    fit_kernel_regression,
)
from isofold.linalg import KernelCentering
from isofold.neighbors import spread_landmarks
from isofold.similarity.kernel_function import KernelFunction
from support.hypothesis_profiles import examples

ROUNDING = 1e-12
"""Products of rows with some tens of coefficients near one."""

THROUGH = 1e-6
"""A regression solves its normal equations, whose condition number is the square of the kernel's:
eigenvalues left out below 1e-13 of the largest are singular values below 3e-7."""

RBF = KernelFunction("rbf", gamma=1.0)


def points(seed, n=30, d=2):
    return np.random.default_rng(seed).uniform(-2, 2, (n, d))


def values_at(X):
    """Return smooth values with a mean."""
    return np.column_stack([np.sin(X[:, 0]) + 3.0, X[:, 0] * X[:, 1] - 7.0])


def map_of(X, Y, kernel=RBF, **options):
    """Return the map of a span, as EAT makes it."""
    origin = X.mean(axis=0)
    raw = kernel.matrix(X - origin, X - origin)
    span = span_of_kernel(raw)
    return KernelMap(
        kernel=kernel,
        points=X - origin,
        origin=origin,
        centering=KernelCentering.from_kernel((raw + raw.T) / 2),
        coefficients=span.coefficients(Y - Y.mean(axis=0)),
        **options,
    )


def naive_image(x, X, kernel, omega):
    """Return one image by the definition: k̄(x, x_i) centered with the training kernel's means."""
    origin = X.mean(axis=0)
    K = kernel.matrix(X - origin, X - origin)
    row = kernel.matrix((x - origin)[None, :], X - origin)[0]
    return (row - K.mean(axis=0) - row.mean() + K.mean()) @ omega


@pytest.mark.parametrize(
    "kernel",
    [RBF, KernelFunction("poly", degree=2), KernelFunction("linear")],
    ids=["rbf", "poly", "linear"],
)
def test_images_are_those_of_the_formula(kernel):
    X, new = points(0), points(1, n=7)
    fitted = map_of(X, values_at(X), kernel)
    expected = [naive_image(x, X, kernel, fitted.coefficients) for x in new]
    size = np.abs(fitted.coefficients).max()
    np.testing.assert_allclose(
        fitted.transform(new), expected, rtol=0, atol=ROUNDING * (1 + size) * 30
    )


def test_a_full_kernel_returns_the_training_values():
    X = points(2, n=20)
    Y = values_at(X)
    fitted = map_of(X, Y, KernelFunction("rbf", gamma=4.0))
    np.testing.assert_allclose(fitted.transform(X), Y - Y.mean(axis=0), rtol=0, atol=1e-8)


@examples(20)
@given(seed=st.integers(0, 2**32 - 1), split=st.integers(1, 14))
def test_rows_do_not_depend_on_their_batch(seed, split):
    X, new = points(0), points(seed, n=15)
    fitted = map_of(X, values_at(X))
    whole = fitted.transform(new)
    parts = np.vstack([fitted.transform(new[:split]), fitted.transform(new[split:])])
    single = np.vstack([fitted.transform(new[i : i + 1]) for i in range(15)])
    size = np.abs(fitted.coefficients).max()
    for other in (parts, single):
        np.testing.assert_allclose(other, whole, rtol=0, atol=ROUNDING * (1 + size))


def test_small_blocks_change_nothing(monkeypatch):
    X, new = points(0), points(3, n=11)
    fitted = map_of(X, values_at(X))
    whole = fitted.transform(new)
    monkeypatch.setattr("isofold.extension.kernel_map.block_rows", lambda *_: 2)
    size = np.abs(fitted.coefficients).max()
    np.testing.assert_allclose(fitted.transform(new), whole, rtol=0, atol=ROUNDING * (1 + size))


def test_precomputed_rows_give_the_same_images():
    """Rows of kernel values against all samples, of which some columns count."""
    X, new = points(4, n=12), points(5, n=6)
    everything = points(6, n=20)
    columns = np.array([3, 5, 6, 7, 9, 10, 12, 13, 15, 16, 17, 19])
    everything[columns] = X
    fitted = map_of(X, values_at(X))
    given_ = KernelMap(
        kernel=KernelFunction("precomputed"),
        points=np.empty((12, 0)),
        origin=np.zeros(0),
        centering=fitted.centering,
        coefficients=fitted.coefficients,
        columns=columns,
    )
    found = given_.transform(RBF.matrix(new, everything))
    size = np.abs(fitted.coefficients).max()
    np.testing.assert_allclose(
        found, fitted.transform(new), rtol=0, atol=ROUNDING * (1 + size) * 12
    )


def test_float32_and_no_rows():
    X = points(0)
    fitted = map_of(X, values_at(X))
    new = points(7, n=4).astype(np.float32)
    found = fitted.transform(new)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, fitted.transform(new.astype(np.float64)))
    assert fitted.transform(np.empty((0, 2))).shape == (0, 2)


def test_other_coefficients():
    X = points(0)
    fitted = map_of(X, values_at(X), offset=np.array([1.0, 2.0]))
    twice = fitted.with_coefficients(2.0 * fitted.coefficients)
    new = points(8, n=5)
    np.testing.assert_allclose(
        twice.transform(new) - fitted.offset,
        2.0 * (fitted.transform(new) - fitted.offset),
        rtol=1e-9,
    )


def test_a_regression_on_all_points_goes_through_their_values():
    X = points(9, n=25)
    Y = values_at(X)
    kernel = KernelFunction("rbf", gamma=4.0)
    fitted = fit_kernel_regression(X, Y, np.arange(25), kernel)
    np.testing.assert_allclose(fitted.transform(X), Y, rtol=0, atol=THROUGH * np.abs(Y).max())


@examples(15)
@given(seed=st.integers(0, 2**32 - 1), n_landmarks=st.integers(1, 20))
def test_constants_are_reproduced(seed, n_landmarks):
    X = points(seed, n=40)
    landmarks = np.random.default_rng(seed).permutation(40)[:n_landmarks]
    fitted = fit_kernel_regression(X, np.tile([3.0, -1e6], (40, 1)), landmarks, RBF)
    found = fitted.transform(points(seed + 1, n=10))
    np.testing.assert_allclose(found, np.tile([3.0, -1e6], (10, 1)), rtol=1e-9)


def test_few_landmarks_give_least_squares():
    """The nearest function of the span, recomputed from centered features and a constant."""
    X = points(10, n=60)
    Y = values_at(X) + 0.1 * np.random.default_rng(10).standard_normal((60, 2))
    landmarks = np.array([3, 10, 17, 31, 44, 59])
    fitted = fit_kernel_regression(X, Y, landmarks, RBF)
    features = np.column_stack([RBF.matrix(X, X[landmarks]), np.ones(60)])
    expected = features @ np.linalg.lstsq(features, Y, rcond=None)[0]
    # Six Gaussians far apart: their normal equations are harmless. But centered features have a
    # constant sum over landmarks taken out: one function less.
    found = fitted.transform(X)
    K = RBF.matrix(X[landmarks], X[landmarks])
    rows = RBF.matrix(X, X[landmarks])
    centered = rows - K.mean(axis=0) - rows.mean(axis=1)[:, None] + K.mean()
    features = np.column_stack([centered, np.ones(60)])
    nearest = features @ np.linalg.lstsq(features, Y, rcond=1e-10)[0]
    np.testing.assert_allclose(found, nearest, rtol=0, atol=1e-8)
    assert np.sum((found - Y) ** 2) >= np.sum((expected - Y) ** 2) * (1 - ROUNDING)


def test_values_may_be_of_single_precision_and_far_from_the_origin():
    X = points(11, n=40) + 1e4
    Y = values_at(X - 1e4)
    landmarks = np.arange(0, 40, 2)
    far = fit_kernel_regression(X, Y, landmarks, RBF)
    near = fit_kernel_regression(X - 1e4, Y, landmarks, RBF)
    # Points at 1e4 are rounded by 1e-12, which the normal equations raise by up to 1e6.
    np.testing.assert_allclose(far.transform(X), near.transform(X - 1e4), rtol=0, atol=THROUGH)
    single = fit_kernel_regression(X.astype(np.float32), Y.astype(np.float32), landmarks, RBF)
    assert single.coefficients.dtype == np.float64


def test_a_corrected_map_runs_through_all_points():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (200, 2))
    Y = np.column_stack([np.sin(2.0 * X[:, 0]) + X[:, 1], np.cos(3.0 * X[:, 1])])
    trend = fit_kernel_regression(
        X, Y, spread_landmarks(X, 15, 0), KernelFunction("rbf", gamma=1.0)
    )
    corrected = CorrectedMap(trend, fit_barycentric(X, Y), Y - trend.transform(X))
    left = np.abs(trend.transform(X) - Y).max()
    # The smooth map misses them by more than rounding; the correction takes that away.
    assert left > 1e-6
    np.testing.assert_allclose(corrected.transform(X), Y, atol=1e-9 * left + 1e-12)
    # Between them it errs less than weights alone would: these see chords, not curves.
    new = rng.uniform(-0.9, 0.9, (300, 2))
    true = np.column_stack([np.sin(2.0 * new[:, 0]) + new[:, 1], np.cos(3.0 * new[:, 1])])
    by_weights = np.abs(fit_barycentric(X, Y).transform(new) - true).mean()
    assert np.abs(corrected.transform(new) - true).mean() < by_weights
    np.testing.assert_array_equal(corrected.transform(new[:1]), corrected.transform(new)[:1])
