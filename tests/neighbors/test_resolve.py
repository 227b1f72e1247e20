"""The graph whose lengths are kept: each way to ask for it, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from isofold import MVU
from isofold.exceptions import InvalidInputError
from isofold.neighbors import (
    Bridged,
    Enhanced,
    Knn,
    Lengths,
    Mutual,
    Radius,
    build_graph,
    connect,
    connected_components,
    enhance,
    join_shared,
    resolve_graph,
)
from isofold.neighbors.resolve import named_graph
from support.mvu_cases import neighbor_graph, sparse_graph

ROUNDING = 1e-14


def cloud(n=40, d=3, seed=0):
    return np.random.RandomState(seed).rand(n, d)


def two_clouds():
    return np.concatenate([cloud(25), cloud(25, seed=1) + 10.0])


def assert_same_graph(graph, expected):
    np.testing.assert_array_equal(graph.edges, expected.edges)
    np.testing.assert_array_equal(graph.lengths, expected.lengths)
    np.testing.assert_array_equal(graph.is_bridge, expected.is_bridge)
    np.testing.assert_array_equal(graph.node_of_sample, expected.node_of_sample)


def test_neighbors_alone():
    X = two_clouds()
    assert_same_graph(resolve_graph(X, n_neighbors=5), build_graph(X, n_neighbors=5))
    assert_same_graph(resolve_graph(X, default=7), build_graph(X, n_neighbors=7))
    assert_same_graph(resolve_graph(X), build_graph(X, n_neighbors=12))
    assert_same_graph(resolve_graph(X, Radius(0.5)), build_graph(X, radius=0.5))
    assert_same_graph(
        resolve_graph(X, Mutual(), n_neighbors=5), build_graph(X, n_neighbors=5, kind="mutual")
    )
    assert connected_components(resolve_graph(X)).n_components == 2


def test_pieces_are_joined_if_asked_for():
    X = two_clouds()
    plain = build_graph(X, n_neighbors=5)
    assert_same_graph(resolve_graph(X, Bridged(), n_neighbors=5), connect(X, plain))
    joined = resolve_graph(X, Enhanced(), n_neighbors=5)
    assert_same_graph(joined, enhance(X, plain, n_neighbors=5))
    assert connected_components(joined).n_components == 1
    assert joined.is_bridge.sum() > 1


@pytest.mark.parametrize("graph", [Knn(), Mutual(), Bridged()])
def test_distances_give_the_same_graph(graph):
    X = cloud()
    distances = squareform(pdist(X))
    found = resolve_graph(distances, graph, n_neighbors=6, metric="precomputed")
    expected = resolve_graph(X, graph, n_neighbors=6)
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_allclose(found.lengths, expected.lengths, rtol=ROUNDING)


def test_ready_graphs():
    X = cloud()
    plain = resolve_graph(X, n_neighbors=6)
    assert resolve_graph(X, plain) is plain
    assert_same_graph(resolve_graph(X, Lengths(plain.adjacency)), plain)
    # One direction of an edge is enough.
    assert_same_graph(resolve_graph(X, Lengths(sp.triu(plain.adjacency))), plain)
    assert_same_graph(resolve_graph(plain.adjacency, metric="precomputed"), plain)


def test_given_lengths_need_not_be_those_of_the_points():
    given = resolve_graph(cloud(3), Lengths(sparse_graph(3, [[0, 1], [2, 1]], [7.0, 9.0])))
    np.testing.assert_array_equal(given.edges, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(given.lengths, [7.0, 9.0])


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_too_many_neighbors_are_lowered(metric):
    X = np.concatenate([cloud(9), cloud(4)])
    data = squareform(pdist(X)) if metric == "precomputed" else X
    graph = resolve_graph(data, n_neighbors=100, metric=metric)
    assert graph.n_nodes == 9
    assert graph.n_edges == 36


def test_single_place():
    for graph in (Knn(), Mutual(), Bridged(), Enhanced()):
        one = resolve_graph(np.ones((5, 2)), graph)
        assert (one.n_nodes, one.n_edges, one.n_samples) == (1, 0, 5)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("nearest", "graph is 'nearest', but it must be a choice"),
        ("eng", r"Pass isofold.neighbors.Enhanced\(\)"),
        (True, "graph is True"),
        ([], "graph is a list"),
        (0.5, r"Pass isofold.neighbors.Radius\(0.5\)"),
        (Radius(np.nan), "radius=nan must be a positive number"),
        (np.eye(40), "graph is a ndarray"),
        (sp.eye_array(40), r"Pass isofold.neighbors.Lengths\(matrix\)"),
        (Lengths(sp.eye_array(7)), r"shape \(7, 7\), but X has 40"),
        (Lengths(sp.csr_array((40, 39))), "square|shape"),
        (Lengths(sparse_graph(40, [[0, 1]], -1.0)), "graph .*negative"),
    ],
)
def test_graphs_that_are_refused(graph, message):
    with pytest.raises(InvalidInputError, match=message):
        resolve_graph(cloud(), graph)


def test_other_samples_are_refused():
    with pytest.raises(InvalidInputError, match="39 rows"):
        resolve_graph(cloud()[:39], resolve_graph(cloud()))


def test_ready_graphs_have_no_use_for_a_size():
    X, plain = cloud(), resolve_graph(cloud())
    for graph in (plain, Lengths(plain.adjacency)):
        with pytest.raises(InvalidInputError, match="ready"):
            resolve_graph(X, graph, n_neighbors=3)
    for size in ({"n_neighbors": 3}, {"graph": Radius(1.0)}):
        with pytest.raises(InvalidInputError, match="ready"):
            resolve_graph(plain.adjacency, metric="precomputed", **size)


@pytest.mark.parametrize(
    ("name", "choice"), [("knn", Knn), ("mutual", Mutual), ("bridged", Bridged), ("eng", Enhanced)]
)
def test_a_choice_means_the_same_as_its_name(name, choice):
    X = two_clouds()
    named = resolve_graph(X, named_graph(name), n_neighbors=5)
    assert_same_graph(resolve_graph(X, choice(5)), named)
    assert_same_graph(resolve_graph(X, choice(), n_neighbors=5), named)
    assert_same_graph(resolve_graph(X, choice(), default=5), named)
    with pytest.raises(InvalidInputError, match="Pass one of them"):
        resolve_graph(X, choice(5), n_neighbors=5)
    with pytest.raises(InvalidInputError, match="n_neighbors=0"):
        resolve_graph(X, choice(0))


def test_other_choices():
    X = two_clouds()
    assert_same_graph(resolve_graph(X, None), resolve_graph(X, Knn()))
    assert_same_graph(resolve_graph(X, Radius(0.5)), resolve_graph(X, named_graph(0.5)))
    plain = resolve_graph(X, Knn(5))
    assert_same_graph(resolve_graph(X, Lengths(plain.adjacency)), plain)
    with pytest.raises(InvalidInputError, match="radius=-1 must be a positive number"):
        resolve_graph(X, Radius(-1))
    with pytest.raises(InvalidInputError, match="Pass one of them"):
        resolve_graph(X, Radius(0.5), n_neighbors=5)


@pytest.mark.parametrize("graph", [Knn(6), Mutual(6), Bridged(6), Enhanced(6), Radius(0.6)])
def test_choices_are_parameters(graph):
    assert clone(MVU(graph=graph)).graph == graph
    assert hash(graph) == hash(type(graph)(*vars(graph).values()))


@pytest.mark.parametrize("k", [0, -3, 2.5, "many", True])
def test_numbers_of_neighbors_that_make_no_sense(k):
    with pytest.raises(InvalidInputError, match="n_neighbors"):
        resolve_graph(cloud(), n_neighbors=k)


# Pairs that share a neighbor


def shared_by_loops(graph):
    """Return the edges and all pairs that have a neighbor in common, bridges not counted."""
    neighbors = [set() for _ in range(graph.n_nodes)]
    for (i, j), is_bridge in zip(graph.edges, graph.is_bridge, strict=True):
        if not is_bridge:
            neighbors[i].add(int(j))
            neighbors[j].add(int(i))
    pairs = {tuple(edge) for edge in graph.edges.tolist()}
    for i in range(graph.n_nodes):
        for j in range(i + 1, graph.n_nodes):
            if neighbors[i] & neighbors[j]:
                pairs.add((i, j))
    return np.array(sorted(pairs))


@pytest.mark.parametrize("seed", range(3))
def test_shared_against_loops(seed):
    X = np.concatenate([cloud(30, seed=seed), cloud(6, seed=seed)])
    graph = resolve_graph(X, n_neighbors=3)
    joined = join_shared(X, graph)
    np.testing.assert_array_equal(joined.edges, shared_by_loops(graph))
    nodes = X[graph.sample_of_node]
    lengths = np.linalg.norm(nodes[joined.edges[:, 0]] - nodes[joined.edges[:, 1]], axis=1)
    np.testing.assert_allclose(joined.lengths, lengths, rtol=ROUNDING)
    np.testing.assert_array_equal(joined.node_of_sample, graph.node_of_sample)
    distances = join_shared(squareform(pdist(X)), graph, metric="precomputed")
    np.testing.assert_array_equal(distances.edges, joined.edges)
    np.testing.assert_allclose(distances.lengths, joined.lengths, rtol=ROUNDING)


def test_bridges_are_no_neighbors():
    X = two_clouds()
    graph = resolve_graph(X, Bridged(), n_neighbors=4)
    joined = join_shared(X, graph)
    np.testing.assert_array_equal(joined.edges, shared_by_loops(graph))
    np.testing.assert_array_equal(joined.bridges, graph.bridges)
    across = (joined.edges[:, 0] < 25) & (joined.edges[:, 1] >= 25)
    np.testing.assert_array_equal(across, joined.is_bridge)


def test_given_lengths_stay_as_they_are():
    X = cloud(4)
    graph = neighbor_graph(4, [[0, 1], [1, 2], [2, 3]], [5.0, 6.0, 7.0])
    joined = join_shared(X, graph)
    np.testing.assert_array_equal(joined.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]])
    np.testing.assert_array_equal(joined.lengths[[0, 2, 4]], [5.0, 6.0, 7.0])
    np.testing.assert_allclose(joined.lengths[1], np.linalg.norm(X[0] - X[2]), rtol=ROUNDING)


def test_float32_stays():
    X = cloud().astype(np.float32)
    assert join_shared(X, resolve_graph(X, n_neighbors=3)).lengths.dtype == np.float32


def test_sparse_lengths_do_not_know_angles():
    plain = resolve_graph(cloud())
    with pytest.raises(InvalidInputError, match="does not hold them"):
        join_shared(plain.adjacency, plain, metric="precomputed")
