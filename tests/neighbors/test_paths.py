from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import GraphPaths, RememberedPaths, build_graph
from isofold.neighbors.paths import path_search
from support.hypothesis_profiles import examples
from support.ldlc_cases import geodesics, random_graph

# Path lengths of some ten edges of size one, added and subtracted in another order.
ROUNDING = 1e-13

graphs = {
    "seed": st.integers(0, 2**31 - 1),
    "n_nodes": st.integers(1, 25),
    "density": st.floats(0.0, 3.0),
    "ties": st.booleans(),
}


def plain_and_remembered(graph):
    """Return the same paths computed afresh, and taken from a memory."""
    return GraphPaths(graph), RememberedPaths(graph, {})


def some_limits(rng, n_nodes, *, ties):
    """Return limits, some negative and some zero; whole if lengths are."""
    return rng.randint(-2, 7, size=n_nodes) * (1.0 if ties else 0.37)


def naive_within(graph, source, reach):
    """Return nodes and lengths of paths that never exceed the reach of a node: Bellman-Ford."""
    lengths = np.full(graph.n_nodes, np.inf)
    if reach[source] >= 0.0:
        lengths[source] = 0.0
    for _ in range(graph.n_nodes):
        for (i, j), length in zip(graph.edges, graph.lengths, strict=True):
            for a, b in ((i, j), (j, i)):
                if lengths[a] + length <= reach[b]:
                    lengths[b] = min(lengths[b], lengths[a] + length)
    order = np.lexsort((np.arange(graph.n_nodes), lengths))
    order = order[np.isfinite(lengths[order])]
    return order, lengths[order]


@examples(60)
@given(**graphs)
def test_reach_is_the_largest_rest_of_a_limit(seed, n_nodes, density, ties):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    limits = some_limits(rng, n_nodes, ties=ties)
    expected = (limits - geodesics(graph)).max(axis=1)
    order, search = path_search(graph)
    found = search.reach(limits[order])[np.argsort(order)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=0 if ties else ROUNDING)


@examples(60)
@given(**graphs)
def test_paths_end_where_a_reach_is_exceeded(seed, n_nodes, density, ties):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    reach = some_limits(rng, n_nodes, ties=ties)
    reach[rng.rand(n_nodes) < 0.2] = np.inf
    order, search = path_search(graph)
    for source in range(n_nodes):
        unlimited = np.full(n_nodes, np.inf)
        _, nodes, lengths = search.within(np.array([source]), reach[order], unlimited, 0)
        expected = naive_within(graph, source, reach)
        # The nearest first; equally near ones in the order of rows.
        np.testing.assert_array_equal(np.sort(nodes), np.sort(expected[0]))
        np.testing.assert_array_equal(lengths, expected[1])
        np.testing.assert_array_equal(
            lengths[np.argsort(nodes)], expected[1][np.argsort(expected[0])]
        )


@examples(80)
@given(**graphs)
def test_exactly_the_nodes_within_their_limits(seed, n_nodes, density, ties):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    limits, distances = some_limits(rng, n_nodes, ties=ties), geodesics(graph)
    limits[rng.rand(n_nodes) < 0.1] = np.inf
    if not ties:
        # No distance is just at a limit.
        is_close = np.isclose(distances, limits, rtol=0, atol=ROUNDING).any(axis=0)
        limits[is_close] += 10 * ROUNDING
    sources = rng.randint(n_nodes, size=5)
    for paths in plain_and_remembered(graph):
        found = list(paths.within(sources, limits))
        assert len(found) == 5
        for source, (nodes, lengths) in zip(sources, found, strict=True):
            row = distances[source]
            expected = np.flatnonzero((row <= limits) & np.isfinite(row))
            np.testing.assert_array_equal(np.sort(nodes), expected)
            # From the source outwards both add the same lengths in the same order.
            np.testing.assert_array_equal(lengths, row[nodes])


@examples(60)
@given(**graphs, n_others=st.integers(0, 3))
def test_nodes_that_are_nearer_than_others(seed, n_nodes, density, ties, n_others):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    distances = geodesics(graph)
    others = distances[rng.randint(n_nodes, size=n_others)].min(axis=0, initial=np.inf)
    for source in range(n_nodes):
        for paths in plain_and_remembered(graph):
            nodes, lengths = paths.nearer(source, others)
            expected = np.flatnonzero(distances[source] < others)
            np.testing.assert_array_equal(np.sort(nodes), expected)
            np.testing.assert_array_equal(lengths, distances[source, nodes])


@examples(60)
@given(**graphs, n_clusters=st.integers(1, 5))
def test_distances_inside_clusters(seed, n_nodes, density, ties, n_clusters):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    labels, distances = rng.randint(n_clusters, size=n_nodes), geodesics(graph)
    members = [rng.permutation(np.flatnonzero(labels == g)) for g in range(n_clusters)]
    targets, sizes = np.concatenate(members), [len(own) for own in members]
    begins = np.concatenate([[0], np.cumsum(sizes)])
    sources, groups = rng.randint(n_nodes, size=12), rng.randint(n_clusters, size=12)
    for paths in plain_and_remembered(graph):
        found = list(paths.to(sources, groups, targets=targets, begins=begins))
        assert len(found) == 12
        for source, group, row in zip(sources, groups, found, strict=True):
            np.testing.assert_array_equal(row, distances[source, members[group]])


@examples(60)
@given(**graphs, decades=st.integers(0, 12))
def test_lengths_of_many_sizes(seed, n_nodes, density, ties, decades):
    """Edges far longer and shorter than the buckets of the queue, which hold a tenth of one."""
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    lengths = graph.lengths * 10.0 ** rng.randint(-decades, decades + 1, size=graph.n_edges)
    graph = replace(graph, lengths=lengths)
    paths, distances = GraphPaths(graph), geodesics(graph)
    for source in range(n_nodes):
        np.testing.assert_array_equal(paths.row(source), distances[source])


@examples(40)
@given(**graphs)
def test_rows(seed, n_nodes, density, ties):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    for paths in plain_and_remembered(graph):
        for _ in range(2):
            rows = np.array([paths.row(source) for source in range(n_nodes)])
            np.testing.assert_array_equal(rows, geodesics(graph))


def test_what_is_remembered_is_not_computed_again():
    graph = build_graph(np.arange(4.0)[:, None], n_neighbors=1)
    rows = {}
    paths = RememberedPaths(graph, rows)
    assert paths.row(2) is paths.row(np.int64(2))
    assert list(rows) == [2]
    assert RememberedPaths(graph, rows).row(2) is rows[2]


def test_isolated_nodes_reach_themselves_alone():
    matrix = sp.csr_array((np.array([2.0, 2.0]), (np.array([0, 1]), np.array([1, 0]))), (3, 3))
    graph = build_graph(matrix, metric="precomputed")
    order, search = path_search(graph)
    assert search.reach(np.array([-1.0, 3.0, 5.0])[order])[np.argsort(order)].tolist() == [
        1.0,
        3.0,
        5.0,
    ]
    for paths in plain_and_remembered(graph):
        assert paths.row(2).tolist() == [np.inf, np.inf, 0.0]
        (nodes, lengths), (none, _) = paths.within([2, 0], np.array([-1.0, 1.0, np.inf]))
        assert nodes.tolist() == [2]
        assert lengths.tolist() == [0.0]
        assert none.tolist() == []
