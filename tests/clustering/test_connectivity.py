import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from isofold.clustering import connected_clusters, count_fragments, kmeans
from isofold.datasets import swiss_roll
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from support.hypothesis_profiles import examples
from support.ldlc_cases import random_graph


def n_pieces(graph, labels):
    """Return into how many pieces the clusters fall along the graph, by brute force."""
    dense = graph.adjacency.toarray() > 0
    return sum(
        connected_components(dense[np.ix_(labels == label, labels == label)])[0]
        for label in np.unique(labels)
    )


def test_clusters_that_are_connected_stay_as_they_are():
    line = np.arange(10.0)[:, None]
    labels, centers = np.repeat([1, 0], 5), np.array([[7.0], [2.0]])
    graph = build_graph(line, n_neighbors=2)
    again, same = connected_clusters(line, labels, graph, n_components=1, centers=centers)
    np.testing.assert_array_equal(again, labels)
    np.testing.assert_array_equal(same, centers)


def test_a_sparse_roll_whose_clusters_join_layers():
    data = swiss_roll(1500, random_state=0)
    graph = build_graph(data.X, n_neighbors=8)
    clusters = kmeans(data.X, 50, random_state=0)
    assert n_pieces(graph, clusters.labels) > clusters.n_clusters
    labels, centers = connected_clusters(
        data.X, clusters.labels, graph, n_components=2, centers=clusters.centers
    )
    assert n_pieces(graph, labels) == labels.max() + 1 == len(centers)
    # The roll is 90 by 30, and 50 cells of equal area would be 7 wide.
    assert max(np.ptp(data.truth[labels == i], axis=0).max() for i in range(len(centers))) < 20
    for label, center in enumerate(centers):
        mine = labels == label
        changed = label >= clusters.n_clusters or not np.array_equal(mine, clusters.labels == label)
        expected = data.X[mine].mean(axis=0) if changed else clusters.centers[label]
        np.testing.assert_allclose(center, expected, rtol=1e-12, atol=1e-12)


def test_a_wrong_label_amid_a_cluster_does_not_cut_it():
    line = np.arange(21.0)[:, None]
    labels = np.repeat([0, 1], [10, 11])
    labels[17] = 0  # alone among points of cluster 1
    graph = build_graph(line, n_neighbors=2)
    found, centers = connected_clusters(line, labels, graph, n_components=1)
    assert found.tolist() == [0] * 10 + [1] * 11
    assert centers is None


@pytest.mark.parametrize(("extra", "expected"), [((5, 7), 1), ((3, 5), 0)])
def test_a_fragment_goes_where_it_has_most_edges(extra, expected):
    labels = np.array([0] * 5 + [2] + [1] * 5 + [2] * 6)
    edges = np.array([(i, i + 1) for i in range(16)] + [extra])
    lengths = sp.coo_array((np.ones(17), edges.T), shape=(17, 17))
    graph = build_graph(lengths, metric="precomputed")
    found, _ = connected_clusters(np.zeros((17, 1)), labels, graph, n_components=1)
    labels[5] = expected
    assert found.tolist() == labels.tolist()


def test_a_chain_of_fragments_is_resolved():
    line = np.arange(30.0)[:, None]
    labels = np.repeat([0, 1, 2], 10)
    labels[14:16] = [0, 2]  # two fragments side by side, deep in cluster 1
    graph = build_graph(line, n_neighbors=2)
    found, _ = connected_clusters(line, labels, graph, n_components=1)
    assert found.tolist() == [0] * 10 + [1] * 10 + [2] * 10


def test_a_fragment_without_neighbors_stays():
    points = np.concatenate([np.arange(20.0), [500.0, 501.0, 502.0]])[:, None]
    graph = build_graph(points, n_neighbors=2)
    found, _ = connected_clusters(points, np.zeros(23, dtype=int), graph, n_components=3)
    assert found.tolist() == [0] * 20 + [1] * 3


def test_the_graph_of_other_points():
    line = np.arange(5.0)[:, None]
    with pytest.raises(InvalidInputError, match="5 nodes, but there are 4 points"):
        connected_clusters(
            line[:4], np.zeros(4, dtype=int), build_graph(line, n_neighbors=1), n_components=1
        )


def naive_count(labels, graph):
    """Return the pieces of every cluster, by search from sample to sample."""
    node_of = graph.node_of_sample
    dense = (graph.adjacency.toarray() > 0) | np.eye(graph.n_nodes, dtype=bool)
    counts = np.zeros(labels.max() + 1, dtype=int)
    left = set(range(len(labels)))
    while left:
        queue = [left.pop()]
        counts[labels[queue[0]]] += 1
        while queue:
            i = queue.pop()
            near = {j for j in left if labels[j] == labels[i] and dense[node_of[i], node_of[j]]}
            left -= near
            queue.extend(near)
    return counts


@examples(60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n_nodes=st.integers(1, 20),
    density=st.floats(0.0, 3.0),
    n_clusters=st.integers(1, 6),
)
def test_pieces_of_random_graphs(seed, n_nodes, density, n_clusters):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=True)
    labels = rng.randint(n_clusters, size=n_nodes)
    np.testing.assert_array_equal(count_fragments(labels, graph), naive_count(labels, graph))


@examples(40)
@given(seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 5))
def test_pieces_where_copies_are_in_different_clusters(seed, n_clusters):
    rng = np.random.RandomState(seed)
    X = rng.randint(8, size=(25, 1)).astype(float)
    n_places = len(np.unique(X))
    graph = build_graph(X, n_neighbors=min(1, n_places - 1) or 1)
    labels = rng.randint(n_clusters, size=25)
    np.testing.assert_array_equal(count_fragments(labels, graph), naive_count(labels, graph))


def test_numbers_that_do_not_occur_have_no_pieces():
    graph = build_graph(np.arange(4.0)[:, None], n_neighbors=1)
    assert count_fragments(np.array([4, 0, 0, 4]), graph).tolist() == [1, 0, 0, 0, 2]
