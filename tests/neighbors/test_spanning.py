import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError
from isofold.neighbors import (
    build_graph,
    euclidean_spanning_tree,
    graph_spanning_tree,
    nearest_other,
    spanning,
)
from isofold.neighbors.spanning import component_labels
from support.hypothesis_profiles import examples

# Squared distances are summed in another order than SciPy does: a few units in the last place.
ROUNDING = 1e-12


def prim(D):
    """Edge lengths of a minimum spanning tree, ascending; zero lengths count as edges."""
    way, done = D[0].copy(), np.zeros(len(D), dtype=bool)
    done[0] = True
    lengths = []
    for _ in range(len(D) - 1):
        nearest = np.where(done, np.inf, way).argmin()
        lengths.append(way[nearest])
        done[nearest] = True
        way = np.minimum(way, D[nearest])
    return np.sort(lengths)


def assert_spans(tree, X):
    """The lengths of all minimum spanning trees agree, whatever the ties (matroid theory)."""
    assert tree.n_nodes == len(X)
    assert tree.n_edges == len(X) - 1
    assert component_labels(len(X), tree.edges).max() == 0
    assert tree.edges.tolist() == sorted(tree.edges.tolist())
    i, j = tree.edges.T
    assert (i < j).all()
    np.testing.assert_allclose(tree.lengths, np.linalg.norm(X[i] - X[j], axis=1), rtol=ROUNDING)
    np.testing.assert_allclose(np.sort(tree.lengths), prim(cdist(X, X)), rtol=ROUNDING)


def roll(rng, n):
    t = 1.5 * np.pi * (1 + 2 * rng.rand(n))
    return np.column_stack([t * np.cos(t), 21 * rng.rand(n), t * np.sin(t)])


def data_sets(n):
    rng = np.random.RandomState(0)
    members = rng.randint(8, size=n)
    angle = rng.rand(n // 2) * 2 * np.pi
    ring = 20 * np.column_stack([np.cos(angle), np.sin(angle)])
    side = int(np.sqrt(n))
    return {
        "roll": roll(rng, n),
        "far clusters": 50 * rng.standard_normal((8, 3))[members] + rng.standard_normal((n, 3)),
        "tight clusters": rng.rand(8, 2)[members] + 1e-7 * rng.standard_normal((n, 2)),
        "many scales": rng.standard_normal((n, 3)) * 10.0 ** rng.randint(-4, 4, size=(n, 1)),
        "core in a ring": np.concatenate([rng.standard_normal((n // 2, 2)), ring]),
        "copies": rng.rand(n // 5, 3)[rng.randint(n // 5, size=n)],
        "high dimension": rng.standard_normal((n, 40)),
        "clusters in high dimension": 9 * rng.standard_normal((8, 40))[members]
        + rng.standard_normal((n, 40)),
        "all ties": np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
        * 1.0,
    }


LARGE = data_sets(2000)
SMALL = data_sets(200)


@pytest.mark.parametrize("name", LARGE)
def test_agrees_with_the_tree_of_all_distances(name):
    assert_spans(euclidean_spanning_tree(LARGE[name]), LARGE[name])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_short_lists_change_nothing(name, n_neighbors):
    assert_spans(euclidean_spanning_tree(SMALL[name], n_neighbors=n_neighbors), SMALL[name])


def test_edges_agree_with_scipy_where_lengths_differ():
    X = LARGE["roll"]
    expected = minimum_spanning_tree(cdist(X, X)).tocoo()
    pairs = np.sort(np.stack(expected.coords, axis=1), axis=1)
    np.testing.assert_array_equal(
        euclidean_spanning_tree(X).edges, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    )


def test_the_tree_of_a_neighbor_graph_is_not_always_the_euclidean_tree():
    # Two dense clusters a gap of 1 apart, and a chain of single points that leads from one to
    # the other with a gap of 1.2. The lists of the clusters stay inside, those of the chain
    # reach both: the graph is connected, but the gap of 1 is not in it.
    rng = np.random.RandomState(0)
    cluster = 1e-3 * rng.standard_normal((30, 2))
    up = np.array([[0.0, 0.9], [0.0, 1.8], [-0.1, 2.7]])
    left = np.concatenate([cluster, up])
    X = np.concatenate([left, [1.0, 0.0] + left * [-1.0, 1.0]])
    naive = graph_spanning_tree(build_graph(X, n_neighbors=2))
    assert naive.n_edges == len(X) - 1
    tree = euclidean_spanning_tree(X, n_neighbors=2)
    assert_spans(tree, X)
    # 1.2 in place of 1, less the width of the clusters.
    assert naive.lengths.sum() - tree.lengths.sum() == pytest.approx(0.2, abs=0.01)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), d=st.integers(1, 4))
@examples(60)
def test_random_points_with_ties_and_copies(seed, n, d):
    # Whole numbers up to 6 make copies and equal distances the rule.
    X = np.random.RandomState(seed).randint(6, size=(n, d)).astype(float)
    assert_spans(euclidean_spanning_tree(X, n_neighbors=2), X)


@pytest.mark.parametrize(("wide_list", "crowd", "group_size"), [(1, 1, 1), (2, 1, 4), (2, 2, 256)])
def test_every_shortcut_alone_gives_the_same_tree(monkeypatch, wide_list, crowd, group_size):
    # Small enough data would all be answered by the wide lists; this makes every way matter.
    monkeypatch.setattr(nearest_other, "_WIDE_LIST", wide_list)
    monkeypatch.setattr(nearest_other, "_CROWD", crowd)
    monkeypatch.setattr(spanning, "_GROUP_SIZE", group_size)
    for seed in range(20):
        rng = np.random.RandomState(seed)
        ties = rng.randint(6, size=(70, 3)).astype(float)
        clusters = 10.0 * rng.randint(4, size=(70, 3)) + rng.standard_normal((70, 3))
        assert_spans(euclidean_spanning_tree(ties, n_neighbors=2), ties)
        assert_spans(euclidean_spanning_tree(clusters, n_neighbors=2), clusters)


def test_equal_rows_hang_on_the_first():
    tree = euclidean_spanning_tree(np.ones((4, 2)))
    assert tree.edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert tree.lengths.tolist() == [0, 0, 0]


def test_places_next_to_nothing_beside_large_ones():
    # Apart from the others, the first two would be too small to be squared.
    X = np.array([[1e-180], [3e-180], [1.0], [2.5]])
    tree = euclidean_spanning_tree(X, n_neighbors=1)
    assert tree.n_edges == 3
    np.testing.assert_allclose(tree.lengths.sum(), 2.5)


def test_two_points():
    assert euclidean_spanning_tree([[0.0], [2.0]]).lengths.tolist() == [2.0]


def test_single_precision_stays():
    X = SMALL["roll"].astype(np.float32)
    tree = euclidean_spanning_tree(X)
    assert tree.lengths.dtype == np.float32


def test_results_do_not_depend_on_n_jobs():
    one, two = (euclidean_spanning_tree(LARGE["roll"], n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.edges.tobytes() == two.edges.tobytes()
    assert one.lengths.tobytes() == two.lengths.tobytes()


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[np.nan], [1.0]], "NaN"),
        ([[np.inf], [1.0]], "infinite"),
        ([[1.0]], r"1 row\(s\)"),
        ([["a"], ["b"]], "numbers"),
        (sp.eye_array(5).tocsr(), "toarray"),
    ],
)
def test_bad_points_are_refused(X, words):
    with pytest.raises(InvalidInputError, match=words):
        euclidean_spanning_tree(X)


def test_bad_lists_are_refused():
    with pytest.raises(InvalidInputError, match="whole number"):
        euclidean_spanning_tree([[0.0], [1.0]], n_neighbors=0)


class TestGraphTree:
    def test_agrees_with_scipy(self):
        graph = build_graph(SMALL["roll"], n_neighbors=6)
        tree = graph_spanning_tree(graph)
        expected = minimum_spanning_tree(graph.adjacency).tocoo()
        pairs = np.sort(np.stack(expected.coords, axis=1), axis=1)
        assert set(map(tuple, tree.edges)) == set(map(tuple, pairs))
        assert tree.lengths.sum() == pytest.approx(expected.data.sum(), rel=ROUNDING)

    def test_a_disconnected_graph_gives_a_forest(self):
        graph = build_graph(np.array([[0.0], [1.0], [2.5], [10.0], [11.0]]), n_neighbors=2)
        forest = graph_spanning_tree(build_graph(np.array([[0.0], [1.0], [9.0], [10.0]]), radius=2))
        assert forest.edges.tolist() == [[0, 1], [2, 3]]
        assert graph_spanning_tree(graph).n_edges == 4

    def test_of_equal_lengths_the_first_edge_wins(self):
        square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        tree = graph_spanning_tree(build_graph(square, n_neighbors=2))
        assert tree.edges.tolist() == [[0, 1], [0, 3], [1, 2]]
