import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group
from sklearn.neighbors import kneighbors_graph

from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph, connected_components, kneighbors
from support.hypothesis_profiles import examples

# Distances of rotated points differ by a few units in the last place of the coordinates,
# which are some hundred times the shortest distances at most.
ROUNDING = 1e-9


def points(n, d, seed=0):
    return np.random.RandomState(seed).standard_normal((n, d))


def naive_lists(X, k):
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    return [set(row) for row in np.argsort(D, axis=1)[:, :k].tolist()]


def naive_union(X, k):
    lists = naive_lists(X, k)
    n = len(X)
    return {(i, j) for i in range(n) for j in range(i + 1, n) if j in lists[i] or i in lists[j]}


def naive_mutual(X, k):
    """Mutual neighbors, and Kruskal's edges of the union that join their components."""
    lists = naive_lists(X, k)
    n = len(X)
    mutual = {(i, j) for i in range(n) for j in range(i + 1, n) if j in lists[i] and i in lists[j]}
    piece = naive_components(n, mutual)
    tree = list(range(n))
    joins = set()
    for i, j in sorted(naive_union(X, k), key=lambda e: np.linalg.norm(X[e[0]] - X[e[1]])):
        if tree[i] != tree[j]:
            tree = [tree[i] if t == tree[j] else t for t in tree]
            if piece[i] != piece[j]:
                joins.add((i, j))
    return mutual | joins


def naive_components(n, edges):
    label = list(range(n))
    for i, j in edges:
        label = [label[i] if t == label[j] else t for t in label]
    return label


def edge_set(graph):
    return set(map(tuple, graph.edges.tolist()))


def clusters(seed=0):
    """Three clusters of very different density, where union and mutual graphs differ."""
    rng = np.random.RandomState(seed)
    parts = [
        scale * rng.standard_normal((25, 2)) + center
        for scale, center in ((1.0, 0.0), (0.1, 3.0), (3.0, 9.0))
    ]
    return np.concatenate(parts)


@pytest.mark.parametrize("X", [points(80, 3), clusters()], ids=["normal", "clusters"])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_union_and_mutual_agree_with_their_definitions(X, k):
    assert edge_set(build_graph(X, n_neighbors=k)) == naive_union(X, k)
    assert edge_set(build_graph(X, n_neighbors=k, kind="mutual")) == naive_mutual(X, k)


def test_mutual_is_part_of_union_and_as_connected():
    X = clusters()
    union, mutual = (build_graph(X, n_neighbors=5, kind=kind) for kind in ("union", "mutual"))
    assert edge_set(mutual) < edge_set(union)
    np.testing.assert_array_equal(
        connected_components(mutual).labels, connected_components(union).labels
    )
    assert not mutual.is_bridge.any()


def test_what_a_graph_promises():
    X = clusters()
    graph = build_graph(X, n_neighbors=4)
    i, j = graph.edges.T
    assert (i < j).all()
    assert graph.edges.tolist() == sorted(graph.edges.tolist())
    assert graph.n_nodes == graph.n_samples == len(X)
    assert graph.n_edges == len(graph.lengths) == len(graph.is_bridge)
    np.testing.assert_allclose(graph.lengths, np.linalg.norm(X[i] - X[j], axis=1))
    assert (graph.lengths > 0).all()
    dense = graph.adjacency.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(dense[i, j], graph.lengths)
    np.testing.assert_array_equal(graph.degrees, (dense > 0).sum(axis=0))
    assert graph.adjacency is graph.adjacency


def test_default_is_twelve_neighbors():
    X = points(60, 2)
    assert edge_set(build_graph(X)) == edge_set(build_graph(X, n_neighbors=12))


def test_radius():
    X = points(50, 2)
    graph = build_graph(X, radius=0.7)
    D = cdist(X, X)
    expected = {(i, j) for i in range(50) for j in range(i + 1, 50) if D[i, j] <= 0.7}
    assert edge_set(graph) == expected
    assert edge_set(build_graph(X, radius=0.7, kind="mutual")) == expected
    assert edge_set(build_graph(D, radius=0.7, metric="precomputed")) == expected


def test_a_small_radius_leaves_isolated_nodes():
    graph = build_graph(points(20, 2), radius=1e-9)
    assert graph.n_edges == 0
    assert graph.degrees.tolist() == [0] * 20
    assert graph.adjacency.shape == (20, 20)


@pytest.mark.parametrize("method", ["kd_tree", "brute", "hnsw"])
def test_methods_agree(method):
    X = points(200, 4)
    assert edge_set(build_graph(X, n_neighbors=6, method=method)) == naive_union(X, 6)


class TestDuplicates:
    def test_copies_become_one_node(self):
        X = points(30, 2)
        single = build_graph(X, n_neighbors=4)
        copied = build_graph(np.repeat(X, 5, axis=0), n_neighbors=4)
        np.testing.assert_array_equal(copied.edges, single.edges)
        np.testing.assert_array_equal(copied.lengths, single.lengths)
        assert copied.n_samples == 150
        np.testing.assert_array_equal(copied.node_of_sample, np.repeat(np.arange(30), 5))
        np.testing.assert_array_equal(copied.sample_of_node, np.arange(0, 150, 5))

    def test_five_copies_do_not_disconnect(self):
        line = np.arange(20.0)[:, None]
        graph = build_graph(np.tile(line, (5, 1)), n_neighbors=4)
        assert connected_components(graph).n_components == 1

    def test_equal_rows_are_one_node(self):
        graph = build_graph(np.ones((7, 3)))
        assert (graph.n_nodes, graph.n_edges, graph.n_samples) == (1, 0, 7)
        assert connected_components(graph).sizes.tolist() == [1]

    def test_equal_samples_in_distances_are_one_node(self):
        graph = build_graph(np.zeros((7, 7)), metric="precomputed")
        assert (graph.n_nodes, graph.n_edges, graph.n_samples) == (1, 0, 7)

    def test_zero_distances_are_contracted(self):
        X = np.repeat(points(30, 2), 2, axis=0)
        from_points = build_graph(X, n_neighbors=4)
        from_distances = build_graph(cdist(X, X), n_neighbors=4, metric="precomputed")
        np.testing.assert_array_equal(from_distances.edges, from_points.edges)
        np.testing.assert_array_equal(from_distances.node_of_sample, from_points.node_of_sample)

    def test_contraction_keeps_the_shortest_of_parallel_distances(self):
        # 0 and 1 coincide; 2 is 5 from one and 4 from the other (no metric, but allowed).
        D = np.array([[0.0, 0.0, 5.0], [0.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
        graph = build_graph(D, n_neighbors=1, metric="precomputed")
        assert graph.lengths.tolist() == [4.0]

    def test_differences_too_small_to_square_are_contracted(self):
        X = np.array([[0.0], [1e-200], [1.0], [2.0], [3.0]])
        graph = build_graph(X, n_neighbors=2)
        assert graph.node_of_sample.tolist() == [0, 0, 1, 2, 3]
        assert (graph.lengths > 0).all()


class TestPrecomputed:
    def test_dense_distances_agree_with_points(self):
        X = clusters()
        for kind in ("union", "mutual"):
            a = build_graph(X, n_neighbors=5, kind=kind)
            b = build_graph(cdist(X, X), n_neighbors=5, kind=kind, metric="precomputed")
            np.testing.assert_array_equal(a.edges, b.edges)
            np.testing.assert_allclose(a.lengths, b.lengths)

    @pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.coo_array, sp.csc_array])
    def test_scikit_learn_graph(self, container):
        X = clusters()
        given = container(kneighbors_graph(X, 5, mode="distance"))
        for kind in ("union", "mutual"):
            expected = build_graph(X, n_neighbors=5, kind=kind)
            graph = build_graph(given, kind=kind, metric="precomputed")
            np.testing.assert_array_equal(graph.edges, expected.edges)
            np.testing.assert_allclose(graph.lengths, expected.lengths)

    def test_stored_zeros_are_copies(self):
        rows, columns = [0, 0, 1, 2], [1, 2, 2, 3]
        lengths = sp.csr_array(([0.0, 3.0, 2.0, 1.0], (rows, columns)), shape=(4, 4))
        graph = build_graph(lengths, metric="precomputed")
        assert graph.node_of_sample.tolist() == [0, 0, 1, 2]
        assert graph.sample_of_node.tolist() == [0, 2, 3]
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.lengths.tolist() == [2.0, 1.0]

    def test_the_diagonal_says_nothing(self):
        lengths = sp.csr_array(np.array([[5.0, 1.0], [1.0, 0.0]]))
        graph = build_graph(lengths, metric="precomputed")
        assert graph.edges.tolist() == [[0, 1]]

    def test_an_empty_graph_is_isolated_nodes(self):
        graph = build_graph(sp.csr_array((4, 4)), metric="precomputed")
        assert (graph.n_nodes, graph.n_edges) == (4, 0)
        assert connected_components(graph).n_components == 4

    def test_a_disconnected_graph_is_legal(self):
        blocks = sp.block_diag([sp.coo_array(np.array([[0.0, 1.0], [1.0, 0.0]]))] * 3, format="csr")
        graph = build_graph(blocks, metric="precomputed")
        assert connected_components(graph).sizes.tolist() == [2, 2, 2]

    def test_integer_lengths(self):
        graph = build_graph(sp.csr_array(np.array([[0, 2], [0, 0]])), metric="precomputed")
        assert graph.lengths.tolist() == [2.0]

    @pytest.mark.parametrize(
        ("lengths", "words"),
        [
            (sp.csr_array((3, 4)), "square"),
            (sp.csr_array(np.array([[0.0, -1.0], [0.0, 0.0]])), "negative"),
            (sp.csr_array(np.array([[0.0, np.nan], [0.0, 0.0]])), "NaN"),
            (sp.csr_array(np.array([[0.0, np.inf], [0.0, 0.0]])), "infinite"),
            (sp.csr_array(np.array([[0.0, 1j], [0.0, 0.0]])), "real"),
        ],
    )
    def test_what_is_no_graph_is_refused(self, lengths, words):
        with pytest.raises(InvalidInputError, match=words):
            build_graph(lengths, metric="precomputed")

    @pytest.mark.parametrize("option", [{"n_neighbors": 3}, {"radius": 1.0}])
    def test_a_ready_graph_has_its_neighborhoods(self, option):
        with pytest.raises(InvalidInputError, match="ready graph"):
            build_graph(sp.csr_array((4, 4)), metric="precomputed", **option)

    def test_dense_matrices_are_checked(self):
        with pytest.raises(InvalidInputError, match="square"):
            build_graph(np.zeros((4, 3)), metric="precomputed")
        with pytest.raises(InvalidInputError, match="negative"):
            build_graph(-np.ones((4, 4)), metric="precomputed")


class TestBridges:
    def test_are_added_and_recorded(self):
        graph = build_graph(np.array([[0.0], [1.0], [8.0], [9.0]]), n_neighbors=1)
        joined = graph.with_bridges(np.array([[2, 1]]), np.array([7.0]))
        assert joined.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
        assert joined.lengths.tolist() == [1.0, 7.0, 1.0]
        assert joined.bridges.tolist() == [[1, 2]]
        assert graph.n_edges == 2

    def test_existing_edges_stay_as_they_are(self):
        graph = build_graph(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
        same = graph.with_bridges(np.array([[1, 0]]), np.array([9.0]))
        np.testing.assert_array_equal(same.edges, graph.edges)
        np.testing.assert_array_equal(same.lengths, graph.lengths)
        assert not same.is_bridge.any()

    @pytest.mark.parametrize(
        ("edge", "lengths", "words"),
        [
            ([0, 0], [1.0], "two different"),
            ([0, 9], [1.0], "nodes are 0 to 2"),
            ([0, 2], [0.0], "positive"),
            ([0, 2], [np.nan], "positive"),
            ([0, 2], [1.0, 2.0], "one length"),
        ],
    )
    def test_must_be_edges(self, edge, lengths, words):
        graph = build_graph(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1)
        with pytest.raises(InvalidInputError, match=words):
            graph.with_bridges(np.array([edge]), np.array(lengths))


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(2, 4),
    scale=st.floats(1e-6, 1e6),
    kind=st.sampled_from(["union", "mutual"]),
)
@examples(40)
def test_rigid_motion_scale_and_permutation(seed, d, scale, kind):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((50, d))
    order = rng.permutation(50)
    moved = (scale * (X @ ortho_group.rvs(d, random_state=rng) + 2.0))[order]
    before = build_graph(X, n_neighbors=4, kind=kind)
    after = build_graph(moved, n_neighbors=4, kind=kind)
    carried = np.sort(order[after.edges], axis=1)
    back = np.lexsort((carried[:, 1], carried[:, 0]))
    np.testing.assert_array_equal(carried[back], before.edges)
    np.testing.assert_allclose(after.lengths[back], scale * before.lengths, rtol=ROUNDING)


def test_single_precision_stays():
    graph = build_graph(points(40, 3).astype(np.float32), n_neighbors=4)
    assert graph.lengths.dtype == np.float32


def test_results_do_not_depend_on_n_jobs():
    X = points(300, 3)
    one, two = (build_graph(X, kind="mutual", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.edges.tobytes() == two.edges.tobytes()
    assert one.lengths.tobytes() == two.lengths.tobytes()


def test_read_only_memory_map(tmp_path):
    X = points(60, 3)
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert edge_set(build_graph(mapped)) == edge_set(build_graph(X))


def test_constant_columns_change_nothing():
    X = points(60, 3)
    assert edge_set(build_graph(np.column_stack([X, np.ones(60)]))) == edge_set(build_graph(X))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad):
    X = points(20, 2)
    X[5, 0] = bad
    with pytest.raises(InvalidInputError, match=r"\(5, 0\)"):
        build_graph(X)


def test_one_sample_is_refused():
    with pytest.raises(InvalidInputError, match=r"1 row\(s\)"):
        build_graph(np.zeros((1, 2)))


def test_too_few_distinct_points_are_counted():
    X = np.repeat(points(4, 2), 10, axis=0)
    with pytest.raises(InvalidInputError, match="only 4 distinct points"):
        build_graph(X, n_neighbors=4)
    with pytest.raises(InvalidInputError, match="only 4 distinct points"):
        build_graph(cdist(X, X), n_neighbors=4, metric="precomputed")


def test_strings_are_refused():
    with pytest.raises(InvalidInputError, match="numbers"):
        build_graph([["a"], ["b"]])


def test_sparse_points_are_refused():
    with pytest.raises(InvalidInputError, match="toarray"):
        build_graph(sp.eye_array(20).tocsr())


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, "1", True])
def test_what_is_no_radius_is_refused(radius):
    with pytest.raises(InvalidInputError, match="positive"):
        build_graph(points(20, 2), radius=radius)


def test_two_neighborhoods_are_refused():
    with pytest.raises(InvalidInputError, match="one of them"):
        build_graph(points(20, 2), n_neighbors=3, radius=1.0)


@pytest.mark.parametrize("option", [{"kind": "knn"}, {"metric": "l1"}, {"method": "x"}])
def test_unknown_words_are_refused(option):
    with pytest.raises(InvalidInputError, match="Choose one of"):
        build_graph(points(20, 2), **option)


def test_lists_and_graph_tell_the_same_lengths():
    X = points(50, 2)
    found = kneighbors(X, 3)
    dense = build_graph(X, n_neighbors=3).adjacency.toarray()
    np.testing.assert_array_equal(np.take_along_axis(dense, found.indices, 1), found.distances)
