import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.quality import is_localized, nonlocal_clusters
from support.hypothesis_profiles import examples
from support.ldlc_cases import random_graph


def naive_pieces(labels, graph, cluster):
    """Return in how many pieces a cluster is: search from sample to sample."""
    dense = graph.adjacency.toarray() > 0
    members = [i for i in range(len(labels)) if labels[i] == cluster]
    n_pieces, left = 0, set(members)
    while left:
        n_pieces += 1
        queue = [left.pop()]
        while queue:
            node = graph.node_of_sample[queue.pop()]
            near = {i for i in left if dense[node, graph.node_of_sample[i]]}
            near |= {i for i in left if graph.node_of_sample[i] == node}
            left -= near
            queue.extend(near)
    return n_pieces


@examples(60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n_nodes=st.integers(1, 20),
    density=st.floats(0.0, 3.0),
    names=st.sampled_from([(0, 1, 2), (-7, 3, 40), ("a", "b", "c"), (0.5, 1.5, 2.5)]),
)
def test_clusters_in_several_pieces(seed, n_nodes, density, names):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=True)
    labels = np.array(names)[rng.randint(len(names), size=n_nodes)]
    expected = [name for name in np.unique(labels) if naive_pieces(labels, graph, name) > 1]
    assert nonlocal_clusters(labels, graph).tolist() == expected
    assert nonlocal_clusters(labels.tolist(), graph).tolist() == expected
    assert is_localized(labels, graph) is (not expected)


def test_samples_at_the_same_place_are_neighbors():
    X = np.array([[0.0], [0.0], [5.0], [5.0], [10.0], [10.0]])
    graph = build_graph(X, n_neighbors=1)
    assert is_localized([0, 1, 0, 1, 0, 1], graph)
    assert nonlocal_clusters([0, 0, 1, 2, 0, 1], graph).tolist() == [0]
    assert is_localized(["x"] * 6, graph)


def test_one_sample_is_in_one_piece():
    graph = build_graph(np.arange(4.0)[:, None], n_neighbors=1)
    assert is_localized([3, 2, 1, 0], graph)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "2.*4|4.*2"),
        ([[0, 1], [1, 0]], r"\(2, 2\)|1D|one"),
        ([0.0, 1.0, np.nan, 1.0], "1 missing"),
        ([], "0.*4|4.*0"),
    ],
    ids=["few", "table", "nan", "none"],
)
def test_bad_labels(labels, words):
    graph = build_graph(np.arange(4.0)[:, None], n_neighbors=1)
    for measure in (is_localized, nonlocal_clusters):
        with pytest.raises(InvalidInputError, match=words):
            measure(labels, graph)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.zeros((4, 1)), "graph is a ndarray.*build_graph"),
        (sp.csr_array(np.eye(4)), "csr_array"),
        (None, "NoneType"),
    ],
    ids=["points", "matrix", "none"],
)
def test_what_is_no_graph(graph, words):
    with pytest.raises(InvalidInputError, match=words):
        is_localized([0, 0, 1, 1], graph)
