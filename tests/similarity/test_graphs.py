from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.similarity import ShortestPathKernel, WeisfeilerLehmanKernel, molecule_graphs
from support.hypothesis_profiles import examples


def random_graph(seed, *, is_directed=False):
    rng = np.random.RandomState(seed)
    graph = nx.gnp_random_graph(rng.randint(1, 9), 0.35, seed=seed, directed=is_directed)
    for node in graph:
        graph.nodes[node]["label"] = "CNO"[rng.randint(3)]
    for edge in graph.edges:
        graph.edges[edge]["weight"] = float(rng.randint(1, 4))
        graph.edges[edge]["bond"] = int(rng.randint(2))
    return graph


def unfolded(graph, node, depth):
    """Return what is seen from a node as a tree of labels: the meaning of its label at last."""
    label = str(graph.nodes[node].get("label"))
    if not depth:
        return label
    near = sorted(unfolded(graph, other, depth - 1) for other in graph.adj[node])
    return f"{unfolded(graph, node, depth - 1)}({','.join(near)})"


def subtrees(graph, n_iter):
    return Counter((h, unfolded(graph, node, h)) for node in graph for h in range(n_iter + 1))


def paths(graph, weight):
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph, weight=weight or (lambda *_: 1.0)))
    label = graph.nodes(data="label")
    return Counter(
        (label[u], label[v], float(length))
        for u, found in lengths.items()
        for v, length in found.items()
        if u != v
    )


def products(counts):
    return [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]


seeds = st.lists(st.integers(0, 10**6), min_size=2, max_size=4)


@examples(15)
@given(seeds, st.integers(0, 2), st.booleans())
def test_subtrees_are_counted(chosen, n_iter, is_directed):
    graphs = [random_graph(seed, is_directed=is_directed) for seed in chosen]
    expected = products([subtrees(graph, n_iter) for graph in graphs])
    found = WeisfeilerLehmanKernel(n_iter, normalize=False)(graphs)
    np.testing.assert_array_equal(found, expected)


@examples(15)
@given(seeds, st.sampled_from([None, "weight"]), st.booleans())
def test_shortest_paths_are_counted(chosen, weight, is_directed):
    graphs = [random_graph(seed, is_directed=is_directed) for seed in chosen]
    expected = products([paths(graph, weight) for graph in graphs])
    found = ShortestPathKernel(weight=weight, normalize=False)(graphs)
    np.testing.assert_array_equal(found, expected)


def test_relabeled_nodes_change_nothing():
    graph = random_graph(7)
    order = np.random.RandomState(0).permutation(len(graph)).tolist()
    other = nx.relabel_nodes(graph, {node: f"n{order[node]}" for node in graph})
    for kernel in (WeisfeilerLehmanKernel(edge_label="bond"), ShortestPathKernel()):
        np.testing.assert_array_equal(kernel([graph, other]), np.ones((2, 2)))


def test_labels_of_edges_tell_graphs_apart():
    one, other = nx.path_graph(2), nx.path_graph(2)
    one.edges[0, 1]["bond"], other.edges[0, 1]["bond"] = "SINGLE", "DOUBLE"
    assert WeisfeilerLehmanKernel(1)([one, other])[0, 1] == 1.0
    # Labels of both nodes alike, then both different.
    assert WeisfeilerLehmanKernel(1, edge_label="bond")([one, other])[0, 1] == 0.5


def test_graphs_without_nodes_or_edges_are_zero_vectors():
    graphs = [nx.Graph(), nx.empty_graph(1), nx.path_graph(2)]
    np.testing.assert_array_equal(
        WeisfeilerLehmanKernel(1)(graphs).round(3), [[0, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]
    )
    np.testing.assert_array_equal(ShortestPathKernel()(graphs), [[0, 0, 0], [0, 0, 0], [0, 0, 1]])


def test_molecules_are_graphs_of_atoms():
    ethanol, benzene, salt = molecule_graphs(["CCO", "c1ccccc1", "[Na+].[Cl-]"])
    assert dict(ethanol.nodes(data="label")) == {0: "C", 1: "C", 2: "O"}
    assert {bond for *_, bond in benzene.edges(data="bond")} == {"AROMATIC"}
    assert (len(benzene.edges), len(salt.edges)) == (6, 0)
    with pytest.raises(InvalidInputError, match=r"smiles\[1\] is 'C1'"):
        molecule_graphs(["C", "C1"])


def test_what_is_no_graph_is_refused():
    with pytest.raises(InvalidInputError, match="a str came"):
        WeisfeilerLehmanKernel()(["CCO"])
    with pytest.raises(InvalidInputError, match="several edges"):
        ShortestPathKernel()([nx.MultiGraph()])
    with pytest.raises(InvalidInputError, match="'weight' is not a positive number"):
        ShortestPathKernel(weight="weight")([nx.path_graph(2)])
