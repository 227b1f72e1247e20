import pickle

import numpy as np
import pytest
from sklearn.decomposition import PCA

from isofold import OutOfSample, load, save
from isofold.neighbors import InvertedListSearch, build_search, kneighbors
from isofold.neighbors.search.build import choose_fast_method
from isofold.neighbors.search.inverted import ListRules
from support.quick import quick_are

# All lists are probed: whatever is lost then is lost by an error.
EVERY_LIST = ListRules(fewest_probes=10**6)


def curved(n, d=40, intrinsic=6, seed=0):
    """Points of a curved manifold of some dimensions, as real data have."""
    shape, rng = np.random.RandomState(42), np.random.RandomState(seed)
    directions, phases = 3 * shape.standard_normal((intrinsic, d)), shape.rand(d)
    waves = np.sin(rng.rand(n, intrinsic) @ directions + phases)
    return waves + 0.01 * rng.standard_normal((n, d))


def recall(found, exact):
    pairs = zip(found.indices, exact.indices, strict=True)
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in pairs])


@pytest.fixture(scope="module")
def sheet():
    return curved(6000)


@pytest.fixture(scope="module")
def search(sheet):
    return InvertedListSearch(sheet)


def assert_same(one, other):
    np.testing.assert_array_equal(one.indices, other.indices)
    assert one.distances.tobytes() == other.distances.tobytes()


class TestRecall:
    @pytest.mark.parametrize("k", quick_are([15], [1, 15, 60]))
    def test_few_neighbors_are_missed(self, sheet, search, k):
        exact = build_search(sheet, method="brute").query_self(k)
        assert recall(search.query_self(k), exact) >= 0.98

    def test_many_columns_are_compared_on_principal_axes(self, sheet):
        wide = sheet @ np.linalg.qr(np.random.RandomState(1).standard_normal((400, 40)))[0].T
        wide += 0.01 * np.random.RandomState(2).standard_normal(wide.shape)
        search, exact = InvertedListSearch(wide), build_search(wide, method="brute")
        assert search._space.axes.shape == (400, 80)
        assert recall(search.query_self(15), exact.query_self(15)) >= 0.98

    def test_new_points(self, search, sheet):
        new = curved(300, seed=5)
        exact = build_search(sheet, method="brute").query(new, 15)
        assert recall(search.query(new, 15), exact) >= 0.98

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_all_lists_give_all_neighbors(self, sheet, dtype):
        X = sheet[:1500].astype(dtype)
        found = InvertedListSearch(X, rules=EVERY_LIST).query_self(10)
        exact = build_search(X, method="brute").query_self(10)
        np.testing.assert_array_equal(found.indices, exact.indices)
        # Sums of 40 squares in another order.
        np.testing.assert_allclose(found.distances, exact.distances, rtol=1e-14)
        assert found.distances.dtype == dtype


class TestBytes:
    def test_threads_make_no_difference(self, sheet, search):
        two = InvertedListSearch(sheet, n_jobs=2)
        assert_same(two.query_self(15), search.query_self(15))
        assert_same(two.query(sheet[:500] + 0.01, 7), search.query(sheet[:500] + 0.01, 7))

    def test_a_row_does_not_depend_on_the_others(self, sheet, search):
        queries = np.concatenate([curved(40, seed=3), sheet[:10]])
        together = search.query(queries, 15)
        for i in range(len(queries)):
            alone = search.query(queries[i : i + 1], 15)
            np.testing.assert_array_equal(alone.indices[0], together.indices[i])
            assert alone.distances.tobytes() == together.distances[i].tobytes()

    def test_a_row_of_many_columns_does_not_either(self):
        X = curved(400, d=200)
        search = InvertedListSearch(X)
        assert search._space.axes is not None
        together = search.query(X, 5)
        for i in range(0, 400, 37):
            alone = search.query(X[i : i + 1], 5)
            assert alone.distances.tobytes() == together.distances[i].tobytes()

    def test_pickled_search_answers_alike(self, sheet, search):
        again = pickle.loads(pickle.dumps(search))  # noqa: S301 - our own bytes
        assert_same(again.query(sheet[:50], 5), search.query(sheet[:50], 5))

    def test_saved_search_answers_alike(self, tmp_path):
        X = curved(300, d=8)
        model = OutOfSample(PCA(2), search="lists").fit(X)
        save(model, tmp_path / "model.iso")
        new, again = curved(20, d=8, seed=1), load(tmp_path / "model.iso")
        assert again.transform(new).tobytes() == model.transform(new).tobytes()


class TestHardData:
    def test_ties_by_index(self):
        grid = np.stack(np.meshgrid(*[np.arange(3.0)] * 6), axis=-1).reshape(-1, 6)
        found = InvertedListSearch(grid, rules=EVERY_LIST).query_self(20)
        tied = np.diff(found.distances) == 0
        assert tied.any()
        assert (np.diff(found.indices)[tied] > 0).all()
        exact = build_search(grid, method="brute").query_self(20)
        np.testing.assert_array_equal(found.distances, exact.distances)

    def test_copies(self, sheet):
        X = np.repeat(sheet[:400], 5, axis=0)
        found = kneighbors(X, 7, method="lists")
        assert (found.distances[:, :4] == 0).all()
        assert (found.indices != np.arange(2000)[:, None]).all()

    def test_equal_points_fall_into_lists_of_bounded_size(self):
        search = InvertedListSearch(np.ones((3000, 5)))
        assert search._lists.sizes.max() <= 4 * ListRules().list_size
        assert (search.query_self(5).distances == 0).all()

    @pytest.mark.parametrize("n", [2, 3, 17, 65])
    def test_few_points(self, n):
        X = curved(n, d=20)
        for k in {1, n - 1}:
            expected = build_search(X, method="brute").query_self(k)
            np.testing.assert_array_equal(
                InvertedListSearch(X).query_self(k).indices, expected.indices
            )
        assert InvertedListSearch(X).query(X, n).indices.shape == (n, n)

    def test_nearly_all_points_as_neighbors(self, sheet):
        X = sheet[:700]
        found, exact = InvertedListSearch(X).query(X[:9], 690), build_search(X).query(X[:9], 690)
        np.testing.assert_array_equal(found.indices, exact.indices)

    def test_outliers(self, sheet):
        X = sheet[:3000].copy()
        X[::300] += 1e6 * np.random.RandomState(0).standard_normal((10, 40))
        exact = build_search(X, method="brute").query_self(10)
        assert recall(InvertedListSearch(X).query_self(10), exact) >= 0.98

    @pytest.mark.slow
    def test_two_halves_far_apart(self, sheet, search):
        X = np.concatenate([sheet[:3000], sheet[3000:] + 1e5])
        halves = InvertedListSearch(X)
        # Single precision around the mean of all would not tell near lists from far ones.
        assert halves._n_probes <= search._n_probes + 5
        exact = build_search(X, method="brute").query_self(10)
        assert recall(halves.query_self(10), exact) >= 0.98

    @pytest.mark.slow
    def test_one_giant_cluster_and_a_few_points_around(self):
        X = 1e-7 * curved(4000, d=12)
        X[::100] += np.random.RandomState(0).rand(40, 12)
        search = InvertedListSearch(X)
        assert search._lists.sizes.max() <= 4 * ListRules().list_size
        exact = build_search(X, method="brute").query_self(10)
        assert recall(search.query_self(10), exact) >= 0.98

    def test_tight_clusters_are_resolved(self):
        # Within a list that holds several of them, squared distances are 1e-18 of the list's.
        rng = np.random.RandomState(0)
        X = np.repeat(rng.rand(150, 12), 20, axis=0) + 1e-9 * rng.standard_normal((3000, 12))
        exact = build_search(X, method="brute").query_self(10)
        assert recall(InvertedListSearch(X).query_self(10), exact) >= 0.98

    def test_constant_columns_change_nothing(self, sheet):
        X = sheet[:1000]
        padded = np.column_stack([X, np.full(1000, 7.0)])
        expected = InvertedListSearch(X).query_self(5).indices
        np.testing.assert_array_equal(InvertedListSearch(padded).query_self(5).indices, expected)

    def test_lists_too_small_for_k_are_completed(self):
        X = curved(300, d=12)
        search = InvertedListSearch(X, rules=ListRules(list_size=4, fewest_probes=1, most_probes=1))
        expected = build_search(X, method="brute").query(X, 20)
        found = search.query(X, 20)
        np.testing.assert_array_equal(found.indices, expected.indices)


class TestFast:
    @pytest.mark.parametrize(("n", "d"), [(3000, 500), (10_000, 40)])
    def test_exact_where_that_is_fast(self, n, d):
        assert choose_fast_method(np.random.RandomState(0).rand(n, d)) == "brute"

    @pytest.mark.parametrize(("filled", "d"), [(3, 3), (3, 8), (2, 20)])
    def test_the_tree_where_dimensions_are_few(self, filled, d):
        flat = np.random.RandomState(0).rand(40_000, filled) @ np.eye(filled, d)
        assert choose_fast_method(flat) == "kd_tree"

    @pytest.mark.parametrize(("n", "d"), [(40_000, 9), (25_000, 20), (5001, 500)])
    def test_lists_for_many_points_in_many_dimensions(self, n, d):
        assert choose_fast_method(np.random.RandomState(0).rand(n, d)) == "lists"

    def test_the_choice_is_taken(self):
        X = np.random.RandomState(0).rand(5001, 401).astype(np.float32)
        assert isinstance(build_search(X, method="fast"), InvertedListSearch)
