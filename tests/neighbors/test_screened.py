import numpy as np
import pytest

from isofold.neighbors import BruteForceSearch
from isofold.neighbors.search.screened import ScreenRules

# Two ways to sum at most 300 squares differ by a few hundred units in the last place.
ROUNDING = 1e-12

ALL_COLUMNS = ScreenRules(fewest_points=10**9)
FEW_AXES = ScreenRules(fewest_points=1, fewest_columns=1, variance=0.6, most_axes=1.0)


def naive(X, Q, k):
    D = np.array([np.sqrt(((X - q) ** 2).sum(axis=1)) for q in Q])
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def noise(n, d, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


def clusters(spread):
    return noise(12, 30)[np.arange(900) % 12] + spread * noise(900, 30, seed=1)


DATA = {
    "noise": noise(900, 20),
    "more columns than points": noise(60, 300),
    "flat": noise(900, 5) @ noise(5, 80, seed=1),
    "far from the origin": 1e9 + noise(900, 25),
    "one far away": np.concatenate([1e12 * np.ones((1, 25)), noise(899, 25)]),
    "tight clusters": clusters(1e-5),
    "clusters below single precision": clusters(1e-10),
    "tiny": 1e-140 * noise(900, 20),
    "huge": 1e140 * noise(900, 20),
    "single precision": noise(900, 40).astype(np.float32),
    "one point": noise(1, 30),
    "equal": np.ones((40, 30)),
}


@pytest.mark.parametrize("rules", [ALL_COLUMNS, FEW_AXES], ids=["all columns", "few axes"])
@pytest.mark.parametrize("data", DATA)
def test_nearest_are_those_of_direct_distances(data, rules):
    X = DATA[data]
    near = X[::7].astype(np.float64)
    Q = np.concatenate([near * (1 + 1e-9), near[::-1] + 0.3 * X[: len(near)].std()])
    search = BruteForceSearch(X, rules=rules)
    for k in (1, min(11, len(X)), min(150, len(X))):
        distances, indices = naive(X.astype(np.float64), Q, k)
        found = search.query(Q, k)
        np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)
        # The same points, but for those whose distances differ by rounding.
        differ = found.indices != indices
        np.testing.assert_allclose(
            naive_lengths(X, Q, found.indices)[differ], distances[differ], rtol=ROUNDING
        )
        assert all(len(set(row)) == k for row in found.indices)


def naive_lengths(X, Q, indices):
    return np.sqrt(((X.astype(np.float64)[indices] - Q[:, None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("rules", [ALL_COLUMNS, FEW_AXES], ids=["all columns", "few axes"])
def test_ties_go_to_the_first(rules):
    X = np.random.RandomState(0).randint(0, 2, size=(700, 12)).astype(np.float64)
    found = BruteForceSearch(X, rules=rules).query(X[:50], 30)
    np.testing.assert_array_equal(found.indices, naive(X, X[:50], 30)[1])


@pytest.mark.parametrize("rules", [ALL_COLUMNS, FEW_AXES], ids=["all columns", "few axes"])
def test_a_query_far_away_has_neighbors(rules):
    X = noise(300, 30)
    Q = np.concatenate([np.full((1, 30), 1e25), np.full((1, 30), -1e60), X[:3]])
    found = BruteForceSearch(X, rules=rules).query(Q, 300)
    assert all(len(set(row)) == 300 for row in found.indices)
    np.testing.assert_array_equal(found.indices[2:, 0], [0, 1, 2])


def test_a_query_alone_and_among_others_agree_to_the_bit_for_any_n_jobs():
    X, Q = noise(2500, 40), noise(9000, 40, seed=1)
    one, two = (BruteForceSearch(X, n_jobs=n_jobs).query(Q, 5) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)
    for i in (0, 17, 4095, 4096, 8999):
        alone = BruteForceSearch(X).query(Q[i : i + 1], 5)
        np.testing.assert_array_equal(alone.indices[0], one.indices[i])
        np.testing.assert_array_equal(alone.distances[0], one.distances[i])


def test_more_points_than_are_bounded_at_a_time():
    X, Q = noise(40_000, 12), noise(9, 12, seed=1)
    distances, indices = naive(X, Q, 20)
    found = BruteForceSearch(X).query(Q, 20)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)
