import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group

from isofold.exceptions import InvalidInputError
from isofold.neighbors import (
    eigenvalue_jump_dimension,
    kneighbors,
    levina_bickel_dimension,
    local_pca_dimension,
)
from support.hypothesis_profiles import examples

ROUNDING = 1e-9

# Check values of the MVU-DM data (2,000 points, noise .05) were obtained from one draw. The
# estimate of 2,000 points with k = 10 ... 20 has a standard error of about d / √(n k) for
# independent points, here .01; neighborhoods overlap, which multiplies it by about √k.
STANDARD_ERROR = 0.04

estimators = pytest.mark.parametrize(
    "estimate", [levina_bickel_dimension, local_pca_dimension, eigenvalue_jump_dimension]
)


def rolls(seed):
    """Two rolls one above the other, the set SR2 of the thesis with a gap of 10."""
    rng = np.random.RandomState(seed)
    t, h = rng.uniform(1.5 * np.pi, 3 * np.pi, 2000), rng.uniform(0, 30, 2000)
    X = np.column_stack([t * np.cos(t), h - 40 * (np.arange(2000) % 2), t * np.sin(t)])
    return X + 0.05 * rng.standard_normal(X.shape)


def moons(seed):
    """Four moons, the set FM of the thesis."""
    rng = np.random.RandomState(seed)
    parts = []
    for z in (0.0, 1.0):
        t, s = rng.uniform(0, np.pi, (2, 500))
        parts.append(np.column_stack([np.sin(t), np.cos(t), np.full(500, z)]))
        parts.append(np.column_stack([(1 - np.sin(s)) / 4, np.cos(s) / 4, np.full(500, z)]))
    X = np.concatenate(parts)
    X[:, :2] += 0.05 * rng.standard_normal((2000, 2))
    return X


@pytest.mark.parametrize(("data", "expected"), [(rolls, 1.96), (moons, 1.93)])
@pytest.mark.parametrize("seed", range(3))
def test_check_values_of_the_thesis_data(data, expected, seed):
    value = levina_bickel_dimension(data(seed)).value
    assert value == pytest.approx(expected, abs=3 * STANDARD_ERROR)


@pytest.mark.parametrize("d", [1, 2, 3])
@estimators
def test_flat_data_in_many_columns(estimate, d):
    rng = np.random.RandomState(0)
    X = rng.rand(1500, d) @ rng.standard_normal((d, 30))
    found = estimate(X)
    assert found.rounded == d
    assert found.per_point.shape == (1500,)


def naive_levina_bickel(X, smallest, largest):
    D = np.sort(cdist(X, X), axis=1)[:, 1:]
    values, per_point = [], []
    for k in range(smallest, largest + 1):
        sums = np.array([sum(np.log(row[k - 1] / row[j]) for j in range(k - 1)) for row in D])
        values.append(1 / np.mean(sums / (k - 1)))
        per_point.append(np.minimum((k - 2) / sums, X.shape[1]))
    return np.mean(values), np.mean(per_point, axis=0)


def test_agrees_with_the_formula():
    X = np.random.RandomState(0).rand(200, 12)
    value, per_point = naive_levina_bickel(X, 5, 9)
    found = levina_bickel_dimension(X, n_neighbors=(5, 9))
    assert found.value == pytest.approx(value, rel=ROUNDING)
    np.testing.assert_allclose(found.per_point, per_point, rtol=ROUNDING)
    given = levina_bickel_dimension(cdist(X, X), n_neighbors=(5, 9), metric="precomputed")
    assert given.value == pytest.approx(value, rel=ROUNDING)


def test_local_pca_agrees_with_its_rule():
    X = np.random.RandomState(0).rand(100, 5) * [1, 1, 0.3, 0.1, 0.01]
    neighbors = kneighbors(X, 20).indices
    expected = []
    for members in neighbors:
        variances = np.linalg.svd(X[members] - X[members].mean(0), compute_uv=False) ** 2
        shares = np.cumsum(variances) / variances.sum()
        expected.append(1 + np.flatnonzero(shares >= 0.9)[0])
    found = local_pca_dimension(X, variance_fraction=0.9)
    assert found.per_point.tolist() == expected
    assert found.value == np.median(expected)


def test_jump_agrees_with_its_rule():
    X = np.random.RandomState(0).rand(100, 5) * [1, 1, 0.3, 0.1, 0.01]
    expected = []
    for members in kneighbors(X, 30).indices:
        variances = np.linalg.svd(X[members] - X[members].mean(0), compute_uv=False) ** 2
        levels = np.maximum(np.append(variances / variances.sum(), 0.0), 0.05)
        expected.append(1 + np.argmax(levels[:-1] / levels[1:]))
    found = eigenvalue_jump_dimension(X, negligible=0.05)
    assert found.per_point.tolist() == expected
    assert found.value == np.median(expected)


def test_jump_sees_more_directions_than_others_and_past_noise():
    rng = np.random.RandomState(0)
    assert eigenvalue_jump_dimension(rng.rand(500, 5) @ rng.standard_normal((5, 20))).value == 5
    noisy = np.pad(rng.rand(500, 2), ((0, 0), (0, 8))) + 0.02 * rng.standard_normal((500, 10))
    assert eigenvalue_jump_dimension(noisy).value == 2
    assert levina_bickel_dimension(noisy).value > 3


@pytest.mark.parametrize("fraction", [0, 1, -0.1, np.nan])
def test_bad_negligible_fractions_are_refused(fraction):
    with pytest.raises(InvalidInputError, match="negligible"):
        eigenvalue_jump_dimension(np.eye(20), negligible=fraction)


def test_local_pca_can_ask_for_all_of_the_variance():
    X = np.random.RandomState(0).rand(200, 3) @ np.random.RandomState(1).rand(3, 8)
    # Rounding leaves nothing in the other directions that the share could ask for.
    assert local_pca_dimension(X, variance_fraction=1.0).rounded == 3


@estimators
def test_copies_give_finite_numbers(estimate):
    X = np.random.RandomState(0).rand(300, 2)
    single, copied = estimate(X), estimate(np.repeat(X, 30, axis=0))
    assert np.isfinite(copied.per_point).all()
    assert copied.value == pytest.approx(single.value, rel=ROUNDING)
    np.testing.assert_allclose(copied.per_point, np.repeat(single.per_point, 30), rtol=ROUNDING)


def test_copies_in_distances_give_finite_numbers():
    X = np.repeat(np.random.RandomState(0).rand(50, 2), 3, axis=0)
    given = levina_bickel_dimension(cdist(X, X), metric="precomputed")
    assert given.value == pytest.approx(levina_bickel_dimension(X).value, rel=ROUNDING)


def test_equal_distances_mean_as_many_dimensions_as_there_are():
    # The corners of a regular simplex: no growth of distances at all.
    found = levina_bickel_dimension(np.eye(30))
    assert found.value == 29
    assert np.isfinite(found.per_point).all()


@estimators
def test_distances_that_vanish_give_finite_numbers(estimate):
    # Differences of 1e-200 are there, but their squares are zero.
    X = np.concatenate([1e-200 * np.arange(40.0)[:, None], [[1.0], [2.0]]])
    found = estimate(X)
    assert np.isfinite(found.per_point).all()
    assert found.rounded >= 1


@estimators
def test_few_points_use_what_there_is(estimate):
    found = estimate(np.random.RandomState(0).rand(5, 2))
    assert np.isfinite(found.value)
    assert found.rounded in (1, 2)


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-6, 1e6))
@examples(20)
@estimators
def test_rigid_motion_scale_and_permutation(estimate, seed, scale):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((80, 3))
    order = rng.permutation(80)
    moved = (scale * (X @ ortho_group.rvs(3, random_state=rng) + 1.0))[order]
    before, after = estimate(X), estimate(moved)
    assert after.value == pytest.approx(before.value, rel=1e-6)
    np.testing.assert_allclose(after.per_point, before.per_point[order], rtol=1e-6)


@estimators
def test_single_precision_is_accepted(estimate):
    X = np.random.RandomState(0).rand(200, 3)
    assert estimate(X.astype(np.float32)).value == pytest.approx(estimate(X).value, rel=1e-3)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((10, 2)), r"only 1 distinct point\(s\)"),
        (np.eye(3), r"only 3 distinct point\(s\)"),
        ([[np.nan], [1.0]], "NaN"),
        ([[np.inf], [1.0]], "infinite"),
        ([[1.0]], r"1 row\(s\)"),
        ([["a"], ["b"]], "numbers"),
        (sp.eye_array(9).tocsr(), "toarray"),
    ],
)
@estimators
def test_bad_points_are_refused(estimate, X, words):
    with pytest.raises(InvalidInputError, match=words):
        estimate(X)


@pytest.mark.parametrize("sizes", [(2, 5), (9, 5), (3.5, 5)])
def test_bad_neighborhoods_are_refused(sizes):
    with pytest.raises(InvalidInputError, match="n_neighbors"):
        levina_bickel_dimension(np.eye(20), n_neighbors=sizes)


@pytest.mark.parametrize("share", [0, 1.1, np.nan])
def test_bad_shares_are_refused(share):
    with pytest.raises(InvalidInputError, match="variance_fraction"):
        local_pca_dimension(np.eye(20), variance_fraction=share)
