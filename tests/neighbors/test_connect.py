import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError, MemoryLimitError
from isofold.neighbors import build_graph, connect, connected_components
from support.hypothesis_profiles import examples
from support.quick import quick_first

STRATEGIES = ["largest", "closest", "nearest"]


def islands(seed=0, n_islands=6, size=20, d=3):
    """Clusters of unequal size whose neighbor graph (k = 3) falls into pieces."""
    rng = np.random.RandomState(seed)
    parts = [
        rng.standard_normal((size + 3 * i, d)) + 30 * rng.standard_normal(d)
        for i in range(n_islands)
    ]
    X = np.concatenate(parts)
    return X[rng.permutation(len(X))]


def closest_pair(D, A, B):
    """Return the length and the ends of the shortest way between two sets of nodes."""
    return min((D[i, j], min(i, j), max(i, j)) for i in A for j in B)


def pieces_of(graph):
    return [set(members.tolist()) for members in connected_components(graph).members()]


def naive_largest(D, pieces):
    """Strategy (a) as it reads: join the largest component to its closest, until one is left."""
    bridges = set()
    while len(pieces) > 1:
        pieces.sort(key=len, reverse=True)
        gaps = [closest_pair(D, pieces[0], other) for other in pieces[1:]]
        best = min(range(len(gaps)), key=gaps.__getitem__)
        bridges.add(gaps[best][1:])
        pieces[0] |= pieces.pop(best + 1)
    return bridges


def naive_nearest(D, pieces):
    """Strategy (c) as it reads: join each to its closest, again and again."""
    bridges = set()
    while len(pieces) > 1:
        chosen = [
            min(closest_pair(D, own, other) for other in pieces if other is not own)
            for own in pieces
        ]
        bridges |= {(i, j) for _, i, j in chosen}
        for _, i, j in chosen:
            a, b = (next(p for p in pieces if node in p) for node in (i, j))
            if a is not b:
                pieces.remove(b)
                a |= b
    return bridges


def naive_closest(D, pieces, n_links):
    """Strategy (b) as it reads: join each to its n_links closest."""
    bridges = set()
    for own in pieces:
        gaps = sorted(closest_pair(D, own, other) for other in pieces if other is not own)
        bridges |= {(i, j) for _, i, j in gaps[:n_links]}
    return bridges


def bridge_set(graph):
    return set(map(tuple, graph.bridges.tolist()))


@pytest.mark.parametrize("seed", quick_first(range(4)))
@pytest.mark.parametrize("kind", ["union", "mutual"])
def test_strategies_agree_with_their_words(seed, kind):
    X = islands(seed)
    graph = build_graph(X, n_neighbors=3, kind=kind)
    D = cdist(X, X)
    assert len(pieces_of(graph)) > 3
    largest = connect(X, graph, strategy="largest")
    assert bridge_set(largest) == naive_largest(D, pieces_of(graph))
    assert bridge_set(connect(X, graph, strategy="nearest")) == naive_nearest(D, pieces_of(graph))
    assert bridge_set(largest) == naive_nearest(D, pieces_of(graph))
    assert len(largest.bridges) == len(pieces_of(graph)) - 1


@pytest.mark.parametrize("n_links", [2, 3, 100])
def test_closest_joins_several(n_links):
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    expected = naive_closest(cdist(X, X), pieces_of(graph), n_links)
    joined = connect(X, graph, strategy="closest", n_links=n_links)
    assert expected <= bridge_set(joined)
    only_links = graph.with_bridges(*_with_lengths(X, expected))
    if len(pieces_of(only_links)) == 1:
        assert bridge_set(joined) == expected


def test_closest_is_completed_if_pieces_are_left():
    # Two pairs of islands, each pair close together: one link each leaves the pairs apart.
    line = np.array([0.0, 1.0, 5.0, 6.0, 100.0, 101.0, 105.0, 106.0])[:, None]
    graph = build_graph(line, n_neighbors=1)
    joined = connect(line, graph, strategy="closest")
    assert bridge_set(joined) == {(1, 2), (5, 6), (3, 4)}
    assert connected_components(joined).n_components == 1


def _with_lengths(X, pairs):
    edges = np.array(sorted(pairs))
    return edges, np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bridges_are_recorded_and_the_rest_stays(strategy):
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    joined = connect(X, graph, strategy=strategy)
    assert connected_components(joined).n_components == 1
    old = joined.edges[~joined.is_bridge]
    np.testing.assert_array_equal(old, graph.edges)
    i, j = joined.bridges.T
    np.testing.assert_allclose(
        joined.lengths[joined.is_bridge], np.linalg.norm(X[i] - X[j], axis=1)
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_distances_serve_as_well_as_points(strategy):
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    from_points = connect(X, graph, strategy=strategy, n_links=2)
    from_distances = connect(cdist(X, X), graph, strategy=strategy, n_links=2, metric="precomputed")
    assert bridge_set(from_points) == bridge_set(from_distances)


def test_high_dimension():
    X = islands(d=40)
    graph = build_graph(X, n_neighbors=3)
    assert len(pieces_of(graph)) > 3
    assert bridge_set(connect(X, graph)) == naive_largest(cdist(X, X), pieces_of(graph))


def test_copies_are_joined_once():
    X = np.repeat(islands(), 3, axis=0)
    graph = build_graph(X, n_neighbors=3)
    D = cdist(X, X)
    expected = connect(X, graph)
    assert connected_components(expected).n_components == 1
    assert bridge_set(connect(D, graph, metric="precomputed")) == bridge_set(expected)


def test_isolated_nodes_are_joined_to_the_tree_of_all():
    X = islands()
    nothing = build_graph(sp.csr_array((len(X), len(X))), metric="precomputed")
    joined = connect(X, nothing)
    assert joined.n_edges == len(X) - 1
    assert joined.is_bridge.all()


def test_many_equal_gaps_close_no_cycle():
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(6)), -1).reshape(-1, 2) * 1.0
    nothing = build_graph(sp.csr_array((36, 36)), metric="precomputed")
    for strategy in ("largest", "nearest"):
        joined = connect(grid, nothing, strategy=strategy)
        assert joined.lengths.tolist() == [1.0] * 35
        assert connected_components(joined).n_components == 1


def test_a_connected_graph_is_returned_as_it_is():
    X = np.random.RandomState(0).standard_normal((50, 2))
    graph = build_graph(X, n_neighbors=20)
    assert connect(X, graph) is graph


@given(seed=st.integers(0, 2**32 - 1))
@examples(15)
def test_permutation_and_scale(seed):
    rng = np.random.RandomState(seed)
    X = islands(seed, n_islands=4, size=8)
    order = rng.permutation(len(X))
    before = connect(X, build_graph(X, n_neighbors=3))
    after = connect(7.0 * X[order], build_graph(7.0 * X[order], n_neighbors=3))
    carried = {tuple(sorted(pair)) for pair in order[after.bridges].tolist()}
    assert carried == bridge_set(before)


def test_single_precision_stays():
    X = islands().astype(np.float32)
    joined = connect(X, build_graph(X, n_neighbors=3))
    assert joined.lengths.dtype == np.float32


def test_a_sparse_graph_has_no_distances_between_components():
    blocks = sp.block_diag([sp.coo_array(np.array([[0.0, 1.0], [1.0, 0.0]]))] * 2, format="csr")
    graph = build_graph(blocks, metric="precomputed")
    with pytest.raises(InvalidInputError, match="no distances between its components"):
        connect(blocks, graph, metric="precomputed")


def test_other_samples_are_refused():
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    with pytest.raises(InvalidInputError, match="same samples"):
        connect(X[:-1], graph)
    with pytest.raises(InvalidInputError, match="same samples"):
        connect(cdist(X[:-1], X[:-1]), graph, metric="precomputed")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"strategy": "all"}, "Choose one of"),
        ({"metric": "l1"}, "Choose one of"),
        ({"n_links": 0}, "whole number"),
    ],
)
def test_bad_options_are_refused(option, words):
    X = islands()
    with pytest.raises(InvalidInputError, match=words):
        connect(X, build_graph(X, n_neighbors=3), **option)


def test_nan_is_refused():
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    X[0, 0] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        connect(X, graph)


def test_too_many_components_for_all_gaps_are_refused(monkeypatch):
    X = islands()
    graph = build_graph(X, n_neighbors=3)
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 10)
    with pytest.raises(MemoryLimitError, match="nearest"):
        connect(X, graph, strategy="closest")
