"""New points by barycentric weights: exact on flat data, row by row, bounded far away."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from isofold.datasets import lift, swiss_roll
from isofold.embedding.mvu.reconstruction import reconstruction_weights
from isofold.exceptions import InvalidInputError
from isofold.extension import BarycentricMap, fit_barycentric, fit_from_distances
from isofold.extension.weights import LARGEST_TILT
from support.hypothesis_profiles import examples

# A weight is found from widths that may be a thousand times smaller than the coordinates, so it
# errs by some 1e3 · eps; a hundred times that leaves room for sums and the map's own condition.
FLAT = 1e-11

# Squared distances lose twice the digits of widths.
LOCATED = 1e-8

# Row sums of a dozen weights of size one.
SUM = 1e-13


def flat_data(seed, *, n=120, q=2, d=5):
    """Points of a q-dimensional flat in d dimensions, an affine image of them, and new points.

    Some of the new points are outside of the unit cube that the others fill.
    """
    rng = np.random.RandomState(seed)
    Z, Z_new = rng.rand(n, q), 1.1 * rng.rand(60, q) - 0.05
    turn = np.linalg.qr(rng.randn(d, q))[0].T
    stretch, shift = np.eye(q) + 0.5 * rng.rand(q, q), rng.randn(q)
    return Z @ turn, Z @ stretch + shift, Z_new @ turn, Z_new @ stretch + shift


def held_out(data):
    test = np.arange(len(data.X)) % 10 == 0
    return data.X[~test], data.truth[~test], data.X[test], data.truth[test]


def rms(A, B):
    return np.sqrt(((A - B) ** 2).sum(axis=1).mean())


def ridge_images(X, Y, X_new, k, ridge):
    """Saul and Roweis, one point after the other."""
    images = []
    for x in X_new:
        near = np.argsort(((X - x) ** 2).sum(axis=1))[:k]
        G = X[near] - x
        C = G @ G.T
        w = np.linalg.solve(C + ridge * np.trace(C) * np.eye(k), np.ones(k))
        images.append(w @ Y[near] / w.sum())
    return np.array(images)


@examples(20)
@given(seed=st.integers(0, 2**31 - 1), q=st.integers(1, 3), extra=st.integers(0, 12))
def test_affine_images_of_flat_data_are_extended_exactly(seed, q, extra):
    X, Y, X_new, Y_new = flat_data(seed, q=q, d=q + extra)
    np.testing.assert_allclose(fit_barycentric(X, Y).transform(X_new), Y_new, rtol=0, atol=FLAT)


def test_weights_are_those_next_to_the_shares():
    """The constrained problem of the module's docstring, solved by its KKT system."""
    X, Y, X_new, _ = flat_data(0, q=2, d=2)
    X_new = np.vstack([X_new, 3 + X_new])
    extension = fit_barycentric(X, Y, n_neighbors=7)
    weights = extension.weights(X_new).toarray()
    for x, row in zip(X_new, weights, strict=True):
        distances = np.sqrt(((X - x) ** 2).sum(axis=1))
        near = np.argsort(distances)
        shares = 1 / distances[near[:7]] - 0.999 / distances[near[7]]
        # Neighbors that the tear test left out are no part of the problem.
        kept = row[near[:7]] != 0
        shares, near = shares[kept] / shares[kept].sum(), near[:7][kept]
        constraints = np.vstack([np.ones(len(near)), X[near].T])
        K = constraints * shares @ constraints.T
        change = shares * (constraints.T @ np.linalg.solve(K, np.append(1.0, x))) - shares
        tilt = np.sqrt((change**2 / shares).sum())
        expected = shares + change * min(1, LARGEST_TILT / tilt)
        np.testing.assert_allclose(row[near], expected, rtol=0, atol=FLAT)


def test_training_points_keep_their_images_to_the_bit():
    X, Y, *_ = flat_data(1)
    Y = Y**2
    X, Y = np.vstack([X, X[:9]]), np.vstack([Y, Y[:9]])
    np.testing.assert_array_equal(fit_barycentric(X, Y).transform(X), Y)
    np.testing.assert_array_equal(fit_from_distances(Y).transform(cdist(X, X)), Y)


def test_the_map_runs_into_its_training_points():
    roll = swiss_roll(300, random_state=0)
    extension = fit_barycentric(roll.X, roll.truth)
    step = 1e-7
    images = extension.transform(roll.X + step)
    # Locally the map is Lipschitz; a factor of a hundred would still tell a jump, which would
    # be as large as the curvature's error, 1e-2.
    assert np.abs(images - roll.truth).max() < 100 * step


@pytest.mark.parametrize("d", [1, 3, 30])
def test_rows_do_not_depend_on_each_other(d):
    rng = np.random.RandomState(d)
    X, Y = rng.randn(100, d), rng.randn(100, 2)
    X_new = np.vstack([2 * rng.randn(60, d), X[:5], 1e6 * rng.randn(3, d)])
    D = cdist(X_new, X)
    for extension, rows in ((fit_barycentric(X, Y), X_new), (fit_from_distances(Y), D)):
        together = extension.transform(rows)
        for size in (1, 3, 17):
            parts = [extension.transform(rows[i : i + size]) for i in range(0, len(rows), size)]
            assert np.vstack(parts).tobytes() == together.tobytes()
        order = rng.permutation(len(rows))
        assert extension.transform(rows[order]).tobytes() == together[order].tobytes()


def test_rows_of_ties_do_not_depend_on_each_other():
    """Corners, edges and faces of a turned cube: up to 512 places are equally far, up to rounding.

    In 14 dimensions the search uses matrix products.
    """
    rng = np.random.RandomState(0)
    turn = np.linalg.qr(rng.randn(14, 9))[0].T
    X = np.array(list(product([0.0, 1.0], repeat=9))) @ turn
    X_new = (rng.randint(0, 3, (60, 9)) / 2) @ turn
    extension = fit_barycentric(X, X[:, :2])
    together = extension.transform(X_new)
    one_by_one = np.vstack([extension.transform(x[None]) for x in X_new])
    assert one_by_one.tobytes() == together.tobytes()


def test_copies_pickles_and_threads_give_the_same_bytes():
    X, Y, X_new, _ = flat_data(2)
    extension = fit_barycentric(X, Y)
    expected = extension.transform(X_new).tobytes()
    pickled = pickle.loads(pickle.dumps(extension))  # noqa: S301 - our own bytes
    assert isinstance(pickled, BarycentricMap)
    for other in (pickled, copy.deepcopy(extension), fit_barycentric(X, Y, n_jobs=2)):
        assert other.transform(X_new).tobytes() == expected
    with ThreadPoolExecutor(4) as pool:
        assert {r.tobytes() for r in pool.map(extension.transform, [X_new] * 8)} == {expected}


def test_later_changes_of_the_input_change_nothing():
    X, Y, X_new, _ = flat_data(3)
    extension = fit_barycentric(X, Y)
    expected = extension.transform(X_new)
    X[:], Y[:] = 0, 0
    np.testing.assert_array_equal(extension.transform(X_new), expected)


def test_weights_sum_to_one_and_make_the_images():
    roll = lift(swiss_roll(300, random_state=0), 30, noise=0.05, random_state=0)
    X, Y, X_new, _ = held_out(roll)
    extension = fit_barycentric(X, Y)
    weights = extension.weights(X_new)
    assert weights.shape == (len(X_new), len(X))
    assert np.diff(weights.indptr).max() <= 12
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=SUM)
    np.testing.assert_array_equal(weights @ Y, extension.transform(X_new))


def test_better_than_the_ridge_where_a_sheet_is_near_to_itself():
    """With 500 points a dozen neighbors reach the next turn of the roll."""
    X, Y, X_new, Y_new = held_out(swiss_roll(500, random_state=0))
    error = rms(fit_barycentric(X, Y).transform(X_new), Y_new)
    others = [
        rms(ridge_images(X, Y, X_new, k, ridge), Y_new) for k in (6, 12) for ridge in (1e-3, 1e-5)
    ]
    # The points are half a unit apart; a curvature of 1/10 leaves a few hundredths.
    assert error < 0.05
    assert error < 1.5 * min(others)
    assert error < 0.1 * max(others)


@pytest.mark.parametrize("distance", [1e2, 1e6, 1e40, 1e100])
def test_points_far_away_stay_near(distance):
    X, Y, *_ = flat_data(4)
    directions = np.random.RandomState(0).randn(20, X.shape[1])
    images = fit_barycentric(X, Y).transform(distance * directions)
    size = np.linalg.norm(np.ptp(Y, axis=0))
    assert np.isfinite(images).all()
    assert np.linalg.norm(images - Y.mean(axis=0), axis=1).max() < (LARGEST_TILT + 1) * size


@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_units_do_not_matter(unit):
    X, Y, X_new, Y_new = flat_data(5)
    images = fit_barycentric(unit * X, Y).transform(unit * X_new)
    np.testing.assert_allclose(images, Y_new, rtol=0, atol=FLAT)
    Y, Y_new = unit * Y, unit * Y_new
    located = fit_from_distances(Y).transform(cdist(Y_new, Y))
    np.testing.assert_allclose(located / unit, Y_new / unit, rtol=0, atol=LOCATED)


def test_fewer_points_than_neighbors():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    images = fit_barycentric(X, X, n_neighbors=50).transform([[0.3, 0.4], [2.0, 1.0]])
    np.testing.assert_allclose(images, [[0.3, 0.4], [2.0, 1.0]], rtol=0, atol=FLAT)
    alone = fit_barycentric(X[:1], X[1:2]).transform([[5.0, 5.0]])
    np.testing.assert_array_equal(alone, X[1:2])


def test_points_on_a_line_are_not_torn_apart_by_rounding():
    """The second coordinate of the map has no direction in the data: it stays a mean."""
    rng = np.random.RandomState(0)
    for dtype, atol in ((np.float64, FLAT), (np.float32, 1e-4)):
        t = rng.rand(80, 1)
        X = (t @ [[1.0, 2.0, 3.0]] + 7.0).astype(dtype)
        Y = np.hstack([t, np.zeros_like(t)])
        middle = 0.5 * (X[:40] + X[40:])
        images = fit_barycentric(X, Y).transform(middle)
        np.testing.assert_allclose(images[:, 0], 0.5 * (t[:40, 0] + t[40:, 0]), rtol=0, atol=atol)
        np.testing.assert_array_equal(images[:, 1], 0)


def test_equally_far_neighbors_share_equally():
    X = np.eye(20)
    weights = fit_barycentric(X, X[:, :1], n_neighbors=20).weights(np.full((1, 20), 0.05))
    np.testing.assert_allclose(weights.toarray(), 0.05, rtol=0, atol=FLAT)


def test_precision_follows_the_embedding():
    X, Y, X_new, _ = flat_data(6)
    extension = fit_barycentric(X.astype(np.float32), Y.astype(np.float32))
    assert extension.transform(X_new.astype(np.float32)).dtype == np.float32
    assert fit_barycentric(X, Y).transform(X_new).dtype == np.float64


def test_bad_points_are_refused():
    X, Y, X_new, _ = flat_data(7)
    extension = fit_barycentric(X, Y)
    X_new[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"X_new contains 1 NaN"):
        extension.transform(X_new)
    with pytest.raises(InvalidInputError, match="2 column"):
        extension.transform(np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match="119"):
        fit_barycentric(X, Y[:-1])
    with pytest.raises(InvalidInputError, match="n_neighbors=0"):
        fit_barycentric(X, Y, n_neighbors=0)


@examples(20)
@given(seed=st.integers(0, 2**31 - 1), q=st.integers(1, 3), height=st.floats(0, 0.5))
def test_distances_locate_points_whatever_their_height_above_the_map(seed, q, height):
    _, Y, _, Y_new = flat_data(seed, q=q, d=q)
    D = np.sqrt(cdist(Y_new, Y, "sqeuclidean") + height**2)
    np.testing.assert_allclose(fit_from_distances(Y).transform(D), Y_new, rtol=0, atol=LOCATED)


def test_sparse_distances_say_the_same():
    rng = np.random.RandomState(0)
    _, Y, _, Y_new = flat_data(8)
    Y = np.vstack([Y, Y[:7]])
    Y_new = np.vstack([Y_new, Y[3:5]])
    D = cdist(Y_new, Y)
    extension = fit_from_distances(Y)
    dense = extension.transform(D)
    rows, columns = np.indices(D.shape)
    order = rng.permutation(D.size)
    stored = sp.coo_array(
        (D.ravel()[order], (rows.ravel()[order], columns.ravel()[order])), shape=D.shape
    )
    np.testing.assert_array_equal(extension.transform(stored), dense)
    np.testing.assert_array_equal(dense[-2:], Y[3:5])
    # The twenty nearest are more than the map looks at, copies included.
    far = np.argsort(np.argsort(D, axis=1), axis=1) >= 20
    keep = ~far.ravel()
    nearest = sp.csr_array((D.ravel()[keep], (rows.ravel()[keep], columns.ravel()[keep])), D.shape)
    np.testing.assert_array_equal(extension.transform(nearest), dense)


def test_few_known_distances():
    Y = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [9.0, 9.0]])
    rows, columns = [0, 1, 1, 2, 2, 2], [1, 0, 1, 0, 1, 2]
    lengths = [3.0, 1.0, 1.0, *np.linalg.norm(Y[:3] - [0.5, 0.25], axis=1)]
    images = fit_from_distances(Y).transform(sp.csr_array((lengths, (rows, columns)), shape=(3, 4)))
    np.testing.assert_allclose(images, [[2, 0], [1, 0], [0.5, 0.25]], rtol=0, atol=LOCATED)


def test_distances_of_more_dimensions_than_the_map_throw_no_point_far_out():
    data = swiss_roll(600, random_state=1)
    X = np.hstack([data.X, np.random.RandomState(3).normal(size=(600, 10))])
    X, X_new, Y, Y_new = X[:300], X[300:], data.truth[:300], data.truth[300:]
    by_distances = fit_from_distances(Y).transform(cdist(X_new, X))
    by_points = fit_barycentric(X, Y).transform(X_new)
    worst, usual = (
        np.linalg.norm(found - Y_new, axis=1).max() for found in (by_distances, by_points)
    )
    assert worst < 2.0 * usual


def test_bad_distances_are_refused():
    extension = fit_from_distances(np.eye(3))
    with pytest.raises(InvalidInputError, match="Row 1 of X_new stores no distance"):
        extension.transform(sp.csr_array(([1.0], ([0], [2])), shape=(2, 3)))
    with pytest.raises(InvalidInputError, match=r"shape \(1, 2\)"):
        extension.transform([[1.0, 1.0]])
    with pytest.raises(InvalidInputError, match="Negative"):
        extension.transform([[1.0, -1.0, 2.0]])


def test_absurd_distances_give_no_nan():
    Y = 1e-60 * np.random.RandomState(0).randn(30, 2)
    D = 1e60 * np.random.RandomState(1).rand(5, 30)
    assert np.isfinite(fit_from_distances(Y).transform(D)).all()


def test_reconstruction_is_exact_on_flat_data():
    X, Y, *_ = flat_data(9, n=400)
    weights = reconstruction_weights(X)
    assert weights.shape == (400, 400)
    assert not weights.diagonal().any()
    assert np.diff(weights.indptr).max() <= 12
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=SUM)
    # Directions below a hundredth of the largest variance are damped: only long and thin
    # neighborhoods, and none among so many random points.
    np.testing.assert_allclose(weights @ Y, Y, rtol=0, atol=FLAT)


def test_reconstruction_does_not_depend_on_threads_or_blocks(monkeypatch):
    X = lift(swiss_roll(200, random_state=0), 12, noise=0.05, random_state=0).X
    expected = reconstruction_weights(X)
    again = reconstruction_weights(X, n_jobs=2)
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 50_000)
    blocks = reconstruction_weights(X)
    for other in (again, blocks):
        assert other.data.tobytes() == expected.data.tobytes()
        np.testing.assert_array_equal(other.indices, expected.indices)


def test_reconstruction_damps_noise():
    """Weights that follow the noise of 27 further dimensions are larger and place worse."""
    roll = lift(swiss_roll(2000, random_state=0), 30, noise=0.05, random_state=0)
    damped, followed = (
        reconstruction_weights(roll.X, n_neighbors=16, regularization=r) for r in (1e-2, 1e-9)
    )
    assert (damped.data**2).sum() < 0.5 * (followed.data**2).sum()
    assert rms(damped @ roll.truth, roll.truth) < rms(followed @ roll.truth, roll.truth)


def test_reconstruction_of_few_points():
    weights = reconstruction_weights(np.array([[0.0], [1.0]]))
    np.testing.assert_array_equal(weights.toarray(), [[0, 1], [1, 0]])
    for regularization in (0, 2, float("nan")):
        with pytest.raises(InvalidInputError, match="regularization"):
            reconstruction_weights(np.eye(3), regularization=regularization)
