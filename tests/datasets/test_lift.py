"""Lifting keeps distances and what is known; noise has the size asked for, axis by axis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from isofold.datasets import Dataset, lift, swiss_roll
from isofold.exceptions import InvalidInputError, MemoryLimitError
from support.dataset_checks import assert_uniform

ROLL = swiss_roll(100, random_state=0)

# Distances are below 50, each coordinate is a sum of three products, and the map is orthonormal to
# a few units of rounding: about 50 · 10 · eps.
ROUNDING = {np.float64: 1e-12, np.float32: 1e-3}


@given(n_features=st.integers(3, 60), seed=st.integers(0, 2**32 - 1))
def test_distances_stay(n_features, seed):
    lifted = lift(ROLL, n_features, random_state=seed)
    assert lifted.X.shape == (100, n_features)
    np.testing.assert_allclose(pdist(lifted.X), pdist(ROLL.X), rtol=0, atol=ROUNDING[np.float64])
    # The turn is about the origin.
    np.testing.assert_allclose(
        np.linalg.norm(lifted.X, axis=1),
        np.linalg.norm(ROLL.X, axis=1),
        rtol=0,
        atol=ROUNDING[np.float64],
    )


@pytest.mark.slow
def test_the_turn_is_uniform():
    """Each entry of a uniform orthogonal 3 × 3 matrix is uniform in [−1, 1] (Archimedes)."""
    axes = Dataset("axes", np.eye(3))
    turns = np.array([lift(axes, 3, random_state=seed).X for seed in range(2000)])
    for entry in turns.reshape(-1, 9).T:
        assert_uniform(entry, -1, 1)


def test_what_is_known_stays_and_what_no_longer_fits_goes():
    full = Dataset(
        "full",
        np.eye(4),
        truth=np.arange(4.0)[:, np.newaxis],
        labels=np.array([0, 1, 0, 1]),
        image_shape=(2, 2),
        feature_names=("a", "b", "c", "d"),
        target_names=("left", "right"),
        targets={"light": np.arange(4)},
    )
    lifted = lift(full, 5, noise=0.1, random_state=0)
    assert lifted.name == "full"
    assert lifted.truth is full.truth
    assert lifted.labels is full.labels
    assert lifted.target_names == full.target_names
    assert lifted.targets is full.targets
    assert lifted.image_shape is None
    assert lifted.feature_names == ()
    assert np.array_equal(full.X, np.eye(4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("profile", [None, [0.1] * 8])
def test_precision_stays(dtype, profile):
    single = Dataset("roll", ROLL.X.astype(dtype))
    assert lift(single, 8, noise_profile=profile, random_state=0).X.dtype == dtype
    turned = lift(single, 8, random_state=0).X
    np.testing.assert_allclose(pdist(turned), pdist(ROLL.X), rtol=0, atol=ROUNDING[dtype])


def test_same_seed_same_bytes():
    first, second, other = (lift(ROLL, 9, noise=0.1, random_state=seed).X for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    "noise",
    [
        {"noise": 0.03},
        {"noise_profile": [0.5, 0.0, 0.01, 2.0, 1.0]},
        {"noise_profile": np.array([3, 0, 1, 2, 1])},
    ],
)
def test_noise_has_its_standard_deviation_along_each_axis(noise):
    n_samples = 5000
    roll = swiss_roll(n_samples, random_state=0)
    # One seed gives the same turn at every noise level.
    clean = lift(roll, 5, random_state=1).X
    added = lift(roll, 5, random_state=1, **noise).X - clean
    wanted = np.array(noise.get("noise_profile", [0.03] * 5), dtype=float)
    silent = wanted == 0
    assert not added[:, silent].any()
    scaled = added[:, ~silent] / wanted[~silent]
    # A sample standard deviation has relative spread 1/√(2n), a mean and a correlation 1/√n: six of
    # them are exceeded with probability 2e-9.
    assert np.abs(scaled.std(axis=0) - 1).max() < 6 / np.sqrt(2 * n_samples)
    assert np.abs(scaled.mean(axis=0)).max() < 6 / np.sqrt(n_samples)
    correlation = np.corrcoef(scaled.T) - np.eye(scaled.shape[1])
    assert np.abs(correlation).max() < 6 / np.sqrt(n_samples)


def test_an_even_profile_is_plain_noise():
    plain = lift(ROLL, 6, noise=0.2, random_state=0)
    even = lift(ROLL, 6, noise_profile=[0.2] * 6, random_state=0)
    assert plain.X.tobytes() == even.X.tobytes()


@pytest.mark.parametrize("n_features", [2, 0, -1, 4.0, True, "many", None])
def test_bad_number_of_features(n_features):
    with pytest.raises(InvalidInputError, match="n_features="):
        lift(ROLL, n_features)


@pytest.mark.parametrize("noise", [-0.1, 1.1e6, np.nan, np.inf, "little", None, True])
def test_bad_noise(noise):
    with pytest.raises(InvalidInputError, match="noise="):
        lift(ROLL, 4, noise=noise)


@pytest.mark.parametrize(
    "profile",
    [
        0.1,
        [0.1] * 3,
        [0.1] * 5,
        [[0.1] * 4],
        [0.1, 0.1, 0.1, -0.1],
        [0.1, 0.1, 0.1, np.nan],
        [0.1, 0.1, 0.1, 1.1e6],
        [0.1, 0.1, 0.1, None],
        [0.1, 0.1, 0.1, 10**400],
        [0.1, 0.1, [0.1], 0.1],
        ["0.1"] * 4,
        [True] * 4,
        "even",
        iter([0.1] * 4),
    ],
    # Not an object's address: it would differ between the processes that run tests.
    ids=lambda profile: str(profile).partition(" at 0x")[0],
)
def test_bad_profile(profile):
    with pytest.raises(InvalidInputError, match=r"noise_profile=.* 4 standard deviations"):
        lift(ROLL, 4, noise_profile=profile)


def test_noise_is_given_once():
    with pytest.raises(InvalidInputError, match=r"noise=0\.1 and noise_profile are both given"):
        lift(ROLL, 4, noise=0.1, noise_profile=[0.1] * 4)


def test_bad_seed():
    with pytest.raises(InvalidInputError, match="random_state='lucky'"):
        lift(ROLL, 4, random_state="lucky")


def test_too_many_features_are_refused_before_they_are_drawn():
    with pytest.raises(MemoryLimitError, match="GiB"):
        lift(ROLL, 10**12)


def test_points_without_a_data_set():
    with pytest.raises(InvalidInputError, match="type ndarray, but a Dataset is needed"):
        lift(ROLL.X, 4)


def test_gaps_in_the_points():
    gaps = ROLL.X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"dataset\.X contains 1 NaN"):
        lift(Dataset("gaps", gaps), 4)
