import numpy as np
import scipy.sparse as sp

from isofold.neighbors import build_graph, connected_components


def graph_of(n_nodes, edges):
    rows, columns = np.array(edges).reshape(-1, 2).T
    lengths = sp.coo_array((np.ones(len(edges)), (rows, columns)), shape=(n_nodes, n_nodes))
    return build_graph(lengths, metric="precomputed")


def test_largest_first_and_ties_by_first_node():
    components = connected_components(graph_of(9, [(0, 5), (1, 2), (2, 7), (3, 8)]))
    assert components.sizes.tolist() == [3, 2, 2, 1, 1]
    assert components.labels.tolist() == [1, 0, 0, 2, 3, 1, 4, 0, 2]
    assert components.n_components == 5


def test_members():
    components = connected_components(graph_of(6, [(0, 5), (1, 2), (2, 4)]))
    assert [m.tolist() for m in components.members()] == [[1, 2, 4], [0, 5], [3]]


def test_a_connected_graph_has_one():
    components = connected_components(graph_of(4, [(0, 1), (1, 2), (2, 3)]))
    assert components.sizes.tolist() == [4]
    assert components.members()[0].tolist() == [0, 1, 2, 3]


def test_a_bridge_joins():
    graph = graph_of(4, [(0, 1), (2, 3)])
    assert connected_components(graph).n_components == 2
    joined = graph.with_bridges(np.array([[1, 2]]), np.array([1.0]))
    assert connected_components(joined).n_components == 1
