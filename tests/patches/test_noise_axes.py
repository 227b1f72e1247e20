import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from isofold.datasets import flat_torus, swiss_roll
from isofold.patches.noise_axes import LARGEST_SIDE, find_reduction
from support.hypothesis_profiles import examples
from support.quick import quick_first

# Products of orthonormal matrices of side up to 60 with numbers of size ten.
ROUNDING = 1e-12


def sheet(rng, n):
    """Return a rolled-up sheet of size ten or so in space."""
    a, b = 3 * rng.rand(n), 10 * rng.rand(n)
    return np.column_stack([(2 + a) * np.cos(a), b, (2 + a) * np.sin(a)])


@examples(20)
@given(
    st.integers(0, 2**31 - 1),
    st.sampled_from([4, 10, 60]),
    st.sampled_from([30, 300]),
    st.integers(1, 2),
)
def test_null_directions_go_and_distances_stay(seed, d, n, r):
    rng = np.random.RandomState(seed)
    X = sheet(rng, n) @ ortho_group.rvs(d, random_state=rng)[:3] + rng.normal(size=d)
    found = find_reduction(X, r)
    assert found.axes.shape == (d, 3)
    np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(3), atol=ROUNDING)
    projected = found.apply(X)
    np.testing.assert_allclose(projected.mean(axis=0), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(found.undo(projected), X, atol=10 * ROUNDING)
    # Sums of squares cancel: rounding of squares of size a thousand.
    np.testing.assert_allclose(found.squared_distance(X, projected), 0.0, atol=1e-10)
    assert 0.0 <= found.left_out <= 1e-12 * X.var(axis=0).sum()


def test_at_least_one_more_direction_than_the_embedding_stays():
    line = np.random.RandomState(0).rand(50, 1) * np.ones((1, 6))
    assert find_reduction(line, 2).axes.shape == (6, 3)
    points = np.zeros((50, 6))
    assert find_reduction(points, 2).axes.shape == (6, 3)
    np.testing.assert_array_equal(find_reduction(points, 2).apply(points), np.zeros((50, 3)))


@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize("seed", quick_first([0, 1, 2]))
@pytest.mark.parametrize("n", [1000, 3000])
def test_a_plateau_of_noise_goes(noise, seed, n):
    rng = np.random.RandomState(seed)
    X = sheet(rng, n) @ ortho_group.rvs(20, random_state=rng)[:3]
    X = X + noise * rng.normal(size=X.shape)
    found = find_reduction(X, 2)
    assert found.axes.shape == (20, 3)
    # What is left out is noise: 17 directions with n values each, five standard errors.
    expected = 17 * noise**2
    assert found.left_out == pytest.approx(expected, rel=5 * np.sqrt(2 / (17 * n)) + 3 / n)
    outside = found.squared_distance(X, found.apply(X)).mean()
    assert outside == pytest.approx(found.left_out, rel=1e-6)


def test_a_flat_torus_keeps_its_plateau():
    # Its four variances are equal, and all of them are signal.
    X = flat_torus(2000, random_state=0).X
    lifted = np.column_stack([X, 0.001 * np.random.RandomState(1).normal(size=(2000, 4))])
    assert X.shape[1] == 4
    assert find_reduction(X, 2) is None
    found = find_reduction(lifted, 2)
    assert found is None or found.axes.shape[1] == 4


def test_noise_may_differ_from_direction_to_direction():
    rng = np.random.RandomState(0)
    X = np.column_stack([sheet(rng, 1000), rng.normal(size=(1000, 5)) * np.logspace(-1.0, -3.0, 5)])
    found = find_reduction(X, 2)
    assert found.axes.shape == (8, 3)
    # The axes of the sheet stay, up to what noise of variance .01 turns them by.
    assert np.linalg.svd(found.axes[:3], compute_uv=False).min() > 0.99


def test_few_points_tell_nothing_about_noise():
    rng = np.random.RandomState(0)
    X = np.column_stack([sheet(rng, 150), 0.01 * rng.normal(size=(150, 5))])
    assert find_reduction(X, 2) is None


@pytest.mark.parametrize("d", [2, 3])
def test_few_directions_all_stay(d):
    assert find_reduction(swiss_roll(200, random_state=0).X[:, :d], 2) is None


def test_where_eigenvectors_take_too_long_nothing_is_done():
    wide = np.zeros((LARGEST_SIDE + 1, LARGEST_SIDE + 1), dtype=np.float32)
    assert find_reduction(wide, 2) is None


def test_distance_from_the_kept_directions():
    rng = np.random.RandomState(0)
    X = np.column_stack([sheet(rng, 200), np.zeros((200, 4))])
    found = find_reduction(X, 2)
    off = X + np.array([0, 0, 0, 3.0, 0, 4.0, 0])
    np.testing.assert_allclose(found.squared_distance(off, found.apply(off)), 25.0, rtol=1e-10)


def test_single_precision_is_summed_in_double():
    rng = np.random.RandomState(0)
    # Far from the origin, where single sums would lose the mean.
    X = (np.column_stack([sheet(rng, 3000), np.zeros((3000, 3))]) + 1000.0).astype(np.float32)
    found = find_reduction(X, 2)
    assert found.axes.shape == (6, 3)
    assert found.apply(X).dtype == np.float64
    np.testing.assert_allclose(found.mean, X.astype(np.float64).mean(axis=0), rtol=1e-12)
