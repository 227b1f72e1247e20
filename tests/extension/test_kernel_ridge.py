"""Kernel ridge regression against scikit-learn's, and what it promises by itself."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from isofold.exceptions import InvalidInputError
from isofold.extension import KernelMap, fit_kernel_ridge

# The eigenvalues of the kernel with its ridge go from 1e-4 to 100, so that two solutions agree to
# 1e6 · eps; images are of size one.
SOLVED = 1e-8

# The same sums in another order.
SUM = 1e-11


def sheet(seed, n=120, n_new=30, d=3):
    rng = np.random.RandomState(seed)
    u, v = rng.rand(2, n + n_new)
    X = np.column_stack([u, v, 0.3 * np.sin(3 * u), *(0.05 * rng.randn(d - 3, n + n_new))])
    Y = np.column_stack([u + 0.2 * v**2, v])
    return X[:n], Y[:n], X[n:], Y[n:]


@pytest.mark.parametrize("gamma", [0.3, 5.0])
@pytest.mark.parametrize("ridge", [1e-4, 1e-1])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_same_as_scikit_learn_on_a_centered_kernel(gamma, ridge, offset):
    X, Y, X_new, _ = sheet(0)
    centerer = KernelCenterer()
    centered = centerer.fit_transform(rbf_kernel(X, gamma=gamma))
    regression = KernelRidge(alpha=ridge, kernel="precomputed").fit(centered, Y - Y.mean(axis=0))
    rows = centerer.transform(rbf_kernel(X_new, X, gamma=gamma))
    expected = regression.predict(rows) + Y.mean(axis=0)
    found = fit_kernel_ridge(X + offset, Y, gamma=gamma, ridge=ridge).transform(X_new + offset)
    # An offset of a thousand costs three digits of the points, and the kernel's condition more.
    atol = SOLVED if offset == 0 else 1e3 * SOLVED
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


def test_what_the_ridge_leaves_at_training_points():
    """What is left is λ (HKH + λI)⁻¹ Y: less with every smaller λ."""
    X, Y, *_ = sheet(1)
    K = rbf_kernel(X, gamma=2.0)
    H = np.eye(len(X)) - 1 / len(X)
    left = []
    for ridge in (1e-1, 1e-3, 1e-5):
        missed = Y - fit_kernel_ridge(X, Y, gamma=2.0, ridge=ridge).transform(X)
        expected = ridge * np.linalg.solve(H @ K @ H + ridge * np.eye(len(X)), H @ Y)
        np.testing.assert_allclose(missed, expected, rtol=0, atol=SOLVED)
        left.append(np.abs(missed).max())
    assert left[0] > left[1] > left[2]
    assert left[2] < 1e-2


def test_the_width_is_four_times_the_way_to_the_tenth_neighbor():
    X, Y, X_new, Y_new = sheet(2)
    tenth = np.median(np.sort(cdist(X, X), axis=1)[:, 10])
    automatic = fit_kernel_ridge(X, Y).transform(X_new)
    given = fit_kernel_ridge(X, Y, gamma=1 / (4 * tenth) ** 2).transform(X_new)
    np.testing.assert_allclose(automatic, given, rtol=0, atol=SOLVED)
    # Good enough to be the default: the sheet is of size one, its points a tenth apart.
    assert np.abs(automatic - Y_new).max() < 0.02


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    X, Y, X_new, _ = sheet(3)
    expected = fit_kernel_ridge(X, Y).transform(X_new)
    found = fit_kernel_ridge(unit * X, unit * Y).transform(unit * X_new) / unit
    np.testing.assert_allclose(found, expected, rtol=0, atol=SOLVED)


def test_copies_of_points_do_no_harm():
    X, Y, X_new, Y_new = sheet(4)
    doubled = fit_kernel_ridge(np.vstack([X, X]), np.vstack([Y, Y])).transform(X_new)
    assert np.abs(doubled - Y_new).max() < 0.02
    # Of several images at one place the mean is learned.
    apart = fit_kernel_ridge(np.vstack([X, X]), np.vstack([Y - 1, Y + 1])).transform(X_new)
    np.testing.assert_allclose(apart, doubled, rtol=0, atol=SOLVED)


def test_points_that_are_all_equal():
    ridge = fit_kernel_ridge(np.ones((5, 2)), np.arange(10.0).reshape(5, 2))
    np.testing.assert_allclose(
        ridge.transform(np.array([[1.0, 1.0], [9.0, 9.0]])), [[4, 5]] * 2, atol=SUM
    )


def test_a_constant_embedding_stays_constant():
    X, _, X_new, _ = sheet(5)
    ridge = fit_kernel_ridge(X, np.full((len(X), 2), 2.5))
    np.testing.assert_array_equal(ridge.transform(X_new), 2.5)


@pytest.mark.parametrize("distance", [1e3, 1e50, 1e200])
def test_points_far_away_share_a_finite_image(distance):
    """There the kernel is zero, and what is left is the same for all."""
    X, Y, *_ = sheet(6)
    ridge = fit_kernel_ridge(X, Y, gamma=2.0)
    images = ridge.transform(distance * np.random.RandomState(0).randn(10, 3))
    assert np.isfinite(images).all()
    np.testing.assert_array_equal(images, np.broadcast_to(images[0], images.shape))


def test_rows_do_not_depend_on_each_other():
    X, Y, X_new, _ = sheet(7, d=20)
    ridge = fit_kernel_ridge(X, Y)
    together = ridge.transform(X_new)
    one_by_one = np.vstack([ridge.transform(x[None]) for x in X_new])
    assert one_by_one.tobytes() == together.tobytes()
    pickled = pickle.loads(pickle.dumps(ridge))  # noqa: S301 - our own bytes
    assert isinstance(pickled, KernelMap)
    np.testing.assert_array_equal(pickled.transform(X_new), together)
    X[:], Y[:] = 0, 0
    np.testing.assert_array_equal(ridge.transform(X_new), together)


def test_single_precision_is_good_enough():
    X, Y, X_new, Y_new = sheet(8)
    ridge = fit_kernel_ridge(X.astype(np.float32), Y.astype(np.float32))
    assert np.abs(ridge.transform(X_new.astype(np.float32)) - Y_new).max() < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, "gamma=0.0 must be a positive number"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": np.nan}, "gamma=nan"),
        ({"gamma": "scale"}, "gamma='scale' must be a positive number or 'auto'"),
        ({"gamma": None}, "gamma=None"),
        ({"ridge": 0}, "ridge=0 must be a positive number"),
        ({"ridge": -1e-4}, "ridge=-0.0001"),
        ({"ridge": np.inf}, "ridge=inf"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters, message):
    X, Y, *_ = sheet(9)
    with pytest.raises(InvalidInputError, match=message):
        fit_kernel_ridge(X, Y, **parameters)


def test_a_ridge_below_rounding_is_refused():
    X, Y, *_ = sheet(9)
    with pytest.raises(InvalidInputError, match="ridge"):
        fit_kernel_ridge(X, Y, gamma=1e-3, ridge=1e-30)


def test_bad_points_are_refused():
    X, Y, X_new, _ = sheet(10)
    ridge = fit_kernel_ridge(X, Y)
    with pytest.raises(InvalidInputError, match="120 rows and Y has 119"):
        fit_kernel_ridge(X, Y[:-1])
    for wrong in (np.ones((4, 1)), np.ones((4, 2)), np.ones((4, 5))):
        with pytest.raises(InvalidInputError, match="column"):
            ridge.transform(wrong)
    for table in (X, Y):
        bad = table.copy()
        bad[3, 1] = np.nan
        with pytest.raises(InvalidInputError, match="1 NaN"):
            fit_kernel_ridge(*((bad, Y) if table is X else (X, bad)))
    X_new[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        ridge.transform(X_new)
