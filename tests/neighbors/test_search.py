import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from isofold.exceptions import InvalidInputError, MemoryLimitError, MissingDependencyError
from isofold.neighbors import build_search, kneighbors
from isofold.neighbors.search.build import choose_method
from support.hypothesis_profiles import examples

EXACT = ["kd_tree", "brute"]
ALL = [*EXACT, "lists", "hnsw"]

# Two ways to sum at most 60 squares of order one differ by a few dozen units in the last place.
ROUNDING = 1e-13


def naive_distances(A, B):
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    return np.sqrt(((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def naive_kneighbors(X, k):
    D = naive_distances(X, X)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def points(n, d, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


@pytest.mark.parametrize("method", ["auto", *EXACT])
@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 1), (300, 3, 10), (150, 60, 7), (5, 2, 4)])
def test_exact_methods_agree_with_all_pairs(method, n, d, k):
    X = points(n, d)
    distances, indices = naive_kneighbors(X, k)
    found = kneighbors(X, k, method=method)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)


@pytest.mark.parametrize("method", ALL)
def test_query_of_other_points(method):
    X, Q = points(400, 4), points(30, 4, seed=1)
    search = build_search(X, method=method)
    assert search.n_points == 400
    D = naive_distances(Q, X)
    for k in (1, 6):
        found = search.query(Q, k)
        assert found.distances.shape == found.indices.shape == (30, k)
        np.testing.assert_array_equal(found.indices, np.argsort(D, axis=1)[:, :k])
        np.testing.assert_allclose(found.distances, np.sort(D, axis=1)[:, :k], rtol=ROUNDING)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("radius", [0.1, 1.0, 50.0])
def test_radius_finds_all_within(method, radius):
    X, Q = points(300, 3), points(20, 3, seed=1)
    found = build_search(X, method=method).query_radius(Q, radius)
    D = naive_distances(Q, X)
    for i, row in enumerate(D):
        inside = np.flatnonzero(row <= radius)
        part = slice(found.indptr[i], found.indptr[i + 1])
        np.testing.assert_array_equal(found.indices[part], inside[np.argsort(row[inside])])
        np.testing.assert_allclose(found.distances[part], np.sort(row[inside]), rtol=ROUNDING)


@pytest.mark.parametrize("method", ALL)
def test_the_rim_of_a_radius_is_inside(method):
    line = np.arange(6.0)[:, None]
    found = build_search(line, method=method).query_radius(line, 1.0)
    assert np.diff(found.indptr).tolist() == [2, 3, 3, 3, 3, 2]


@pytest.mark.parametrize("method", EXACT)
def test_neighbors_far_from_the_origin_keep_their_digits(method):
    # |x|² is 10^16 here, so that squared distances of order one from |x|² - 2xy + |y|² are lost.
    X = points(300, 12) + 1e8
    distances, indices = naive_kneighbors(X, 5)
    found = kneighbors(X, 5, method=method)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)


def test_tight_clusters_far_apart_are_resolved_exactly():
    # Centering does not help two clusters: within each, squared distances are 10^-18 of |x|².
    X = np.concatenate([1e-9 * points(60, 12), 1e-9 * points(60, 12, seed=1) + 1.0])
    distances, indices = naive_kneighbors(X, 5)
    found = kneighbors(X, 5, method="brute")
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)


@pytest.mark.parametrize("spread", [1.0, 1e-2, 1e-4, 1e-7])
def test_whatever_precision_products_need_neighbors_are_exact(spread):
    # Clusters in which products of single precision suffice, or those of double, or none.
    X = points(400, 20, seed=2) * spread + 5.0 * points(4, 20, seed=3)[np.arange(400) % 4]
    distances, indices = naive_kneighbors(X, 6)
    found = kneighbors(X, 6, method="brute", n_jobs=2)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=ROUNDING)
    alone = build_search(X, method="brute").query(X[7:8], 6)
    together = build_search(X, method="brute", n_jobs=2).query(X, 6)
    assert alone.distances.tobytes() == together.distances[7:8].tobytes()


def test_queries_beyond_single_precision_find_their_neighbors():
    X = points(300, 12)
    far = 1e60 * points(3, 12, seed=1)
    found = build_search(X, method="brute").query(far, 4)
    np.testing.assert_allclose(found.distances, np.sort(naive_distances(far, X))[:, :4])


@pytest.mark.parametrize("method", ALL)
def test_own_index_never_appears_among_copies(method):
    X = np.repeat(points(40, 3), 5, axis=0)
    found = kneighbors(X, 7, method=method)
    assert (found.indices != np.arange(200)[:, None]).all()
    assert all(len(set(row)) == 7 for row in found.indices)
    np.testing.assert_allclose(found.distances, naive_kneighbors(X, 7)[0], rtol=ROUNDING)
    assert (found.distances[:, :4] == 0).all()


def test_equal_rows_are_each_others_neighbors():
    found = kneighbors(np.ones((30_000, 3)), 4)
    assert (found.distances == 0).all()
    assert (found.indices != np.arange(30_000)[:, None]).all()


@pytest.mark.parametrize("method", ALL)
def test_more_copies_than_places(method):
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    found = kneighbors(X, 4, method=method)
    np.testing.assert_array_equal(found.distances[0], [0, 0, 1, 1])
    np.testing.assert_array_equal(found.distances[4], [0, 1, 1, 1])
    assert [sorted(row) for row in found.indices.tolist()] == [
        [j for j in range(5) if j != i] for i in range(5)
    ]


@pytest.mark.parametrize("method", ALL)
def test_single_precision_stays(method):
    X = points(200, 4)
    single = kneighbors(X.astype(np.float32), 5, method=method)
    assert single.distances.dtype == np.float32
    expected = kneighbors(X.astype(np.float32).astype(np.float64), 5, method=method)
    np.testing.assert_array_equal(single.indices, expected.indices)
    np.testing.assert_array_equal(single.distances, expected.distances.astype(np.float32))


@pytest.mark.parametrize("method", ALL)
def test_results_do_not_depend_on_n_jobs(method):
    X = points(500, 6)
    one, two = (kneighbors(X, 8, method=method, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.distances.tobytes() == two.distances.tobytes()
    assert one.indices.tobytes() == two.indices.tobytes()


def test_read_only_memory_map(tmp_path):
    X = points(100, 3)
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    np.testing.assert_array_equal(kneighbors(mapped, 3).indices, kneighbors(X, 3).indices)


def test_integers_and_lists():
    assert kneighbors([[0], [1], [3]], 1).indices.ravel().tolist() == [1, 0, 1]


def test_constant_columns_change_nothing():
    X = points(100, 3)
    padded = np.column_stack([X, np.full(100, 7.0)])
    np.testing.assert_array_equal(kneighbors(padded, 4).indices, kneighbors(X, 4).indices)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 5), scale=st.floats(1e-6, 1e6))
@examples(30)
def test_rigid_motion_scale_and_permutation(seed, d, scale):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((60, d))
    rotation = ortho_group.rvs(d, random_state=rng)
    order = rng.permutation(60)
    before = kneighbors(X, 5)
    after = kneighbors((scale * (X @ rotation + 3.0))[order], 5)
    np.testing.assert_allclose(after.distances, scale * before.distances[order], rtol=1e-9)
    np.testing.assert_array_equal(order[after.indices], before.indices[order])


class TestApproximate:
    def test_recall(self):
        X = np.random.RandomState(0).standard_normal((3000, 8)) @ points(8, 40, seed=2)
        exact, near = kneighbors(X, 10, method="brute"), kneighbors(X, 10, method="hnsw")
        hits = [len(set(a) & set(b)) for a, b in zip(exact.indices, near.indices, strict=True)]
        assert np.mean(hits) >= 0.95 * 10
        recomputed = np.linalg.norm(X[:, None] - X[near.indices], axis=2)
        np.testing.assert_allclose(near.distances, recomputed, rtol=ROUNDING)
        assert (np.diff(near.distances) >= 0).all()

    def test_same_bytes_every_time(self):
        X = points(1500, 20)
        runs = [kneighbors(X, 10, method="hnsw", n_jobs=n_jobs) for n_jobs in (1, 1, 2)]
        assert len({run.indices.tobytes() for run in runs}) == 1

    @pytest.mark.parametrize("unit", [1e-30, 1e30])
    def test_units_do_not_matter(self, unit):
        X = points(300, 5)
        expected = kneighbors(X, 4, method="hnsw")
        found = kneighbors(unit * X, 4, method="hnsw")
        np.testing.assert_array_equal(found.indices, expected.indices)

    def test_points_it_cannot_reach_are_answered_exactly(self, monkeypatch):
        X = points(100, 3)
        search = build_search(X, method="hnsw")
        complete = type(search._index).search

        def forgetful(index, queries, k):
            """faiss writes -1 for what it does not reach."""
            distances, indices = complete(index, queries, k)
            indices[::2, -1] = -1
            return distances, indices

        monkeypatch.setattr(type(search._index), "search", forgetful)
        found, exact = search.query(X, 5), build_search(X).query(X, 5)
        np.testing.assert_array_equal(found.indices, exact.indices)
        np.testing.assert_allclose(found.distances, exact.distances, rtol=ROUNDING)

    def test_missing_faiss_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "faiss", None)
        with pytest.raises(MissingDependencyError, match=r"isofold\[approximate\]"):
            build_search(points(10, 2), method="hnsw")

    def test_never_chosen_by_itself(self):
        shapes = [(50, 2), (3000, 11), (2500, 80), (100, 400)]
        assert {choose_method(points(*shape)) for shape in shapes} <= set(EXACT)


class TestChoice:
    def test_few_columns_take_the_tree(self):
        assert choose_method(points(3000, 10)) == "kd_tree"

    def test_a_sheet_in_many_columns_takes_the_tree(self):
        sheet = np.random.RandomState(0).rand(3000, 2) @ points(2, 20)
        assert choose_method(sheet) == "kd_tree"

    def test_noise_in_many_columns_compares_all(self):
        assert choose_method(points(3000, 20)) == "brute"

    def test_copies_alone_do_not_break_the_probe(self):
        assert choose_method(np.tile(points(3, 20), (1000, 1))) in EXACT


class TestPrecomputed:
    def test_agrees_with_points(self):
        X = points(80, 3)
        expected = kneighbors(X, 6)
        found = kneighbors(naive_distances(X, X), 6, metric="precomputed")
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=ROUNDING)

    def test_copies_do_not_hide_the_own_index(self):
        D = np.zeros((5, 5))
        found = kneighbors(D, 3, metric="precomputed")
        assert (found.indices != np.arange(5)[:, None]).all()

    def test_single_precision_stays(self):
        D = naive_distances(points(20, 2), points(20, 2)).astype(np.float32)
        assert kneighbors(D, 3, metric="precomputed").distances.dtype == np.float32

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda D: D[:, :-1], "square"),
            (lambda D: -D, "negative"),
            (lambda D: D + np.eye(len(D)), "diagonal"),
            (lambda D: D + np.triu(D), "not symmetric"),
            (lambda D: np.where(D.mean() < D, np.nan, D), "NaN"),
            (lambda D: np.where(D.mean() < D, np.inf, D), "infinite"),
        ],
    )
    def test_what_is_no_distance_matrix_is_refused(self, change, words):
        X = points(20, 2)
        with pytest.raises(InvalidInputError, match=words):
            kneighbors(change(naive_distances(X, X)), 3, metric="precomputed")


def test_nan_is_refused():
    X = points(20, 2)
    X[3, 1] = np.nan
    with pytest.raises(InvalidInputError, match=r"1 NaN.*\(3, 1\)"):
        kneighbors(X, 3)


def test_infinity_is_refused():
    X = points(20, 2)
    X[3, 1] = np.inf
    with pytest.raises(InvalidInputError, match="1 infinite"):
        kneighbors(X, 3)


def test_one_sample_is_refused():
    with pytest.raises(InvalidInputError, match=r"1 row\(s\)"):
        kneighbors(points(1, 2), 1)


def test_too_many_neighbors_are_refused():
    with pytest.raises(InvalidInputError, match="only 5 points"):
        kneighbors(points(5, 2), 5)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, None, "3"])
def test_what_is_no_count_is_refused(k):
    with pytest.raises(InvalidInputError, match="whole number"):
        kneighbors(points(5, 2), k)


def test_strings_are_refused():
    with pytest.raises(InvalidInputError, match="numbers"):
        kneighbors([["a", "b"], ["c", "d"], ["e", "f"]], 1)


def test_sparse_points_are_refused():
    with pytest.raises(InvalidInputError, match="toarray"):
        kneighbors(sp.eye_array(10).tocsr(), 2)


@pytest.mark.parametrize("option", [{"method": "ball"}, {"metric": "nearness"}])
def test_unknown_words_are_refused(option):
    with pytest.raises(InvalidInputError, match="Choose one of"):
        kneighbors(points(10, 2), 2, **option)


@pytest.mark.parametrize(("unit", "words"), [(1e160, "overflow"), (1e-170, "vanish")])
def test_numbers_that_cannot_be_squared_are_refused(unit, words):
    with pytest.raises(InvalidInputError, match=words):
        kneighbors(unit * points(10, 2), 2)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda search: search.query(np.zeros((1, 2)), 1), "same space"),
        (lambda search: search.query(np.zeros((1, 3)), 11), "only 10 points"),
        (lambda search: search.query_self(10), "only 9 points"),
        (lambda search: search.query(np.full((1, 3), np.nan), 1), "NaN"),
        (lambda search: search.query(np.full((1, 3), 1e200), 1), "overflow"),
        (lambda search: search.query_radius(np.zeros((1, 3)), 0.0), "positive"),
        (lambda search: search.query_radius(np.zeros((1, 3)), np.inf), "positive"),
    ],
)
def test_impossible_queries_are_refused(method, ask, words):
    with pytest.raises(InvalidInputError, match=words):
        ask(build_search(points(10, 3), method=method))


@pytest.mark.parametrize("method", ALL)
def test_a_radius_with_too_many_pairs_is_refused(method, monkeypatch):
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="smaller radius"):
        build_search(points(100, 2), method=method).query_radius(points(100, 2), 10.0)
