import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph

from isofold.exceptions import InvalidInputError, MemoryLimitError
from isofold.neighbors import (
    all_pairs_geodesics,
    build_graph,
    geodesic,
    geodesic_blocks,
    geodesic_distances,
    nearest_source,
)
from isofold.neighbors.geodesic import near_first

# Sums of some ten lengths in another order.
ROUNDING = 1e-12


def naive_all_pairs(graph):
    """Floyd and Warshall."""
    D = np.full((graph.n_nodes, graph.n_nodes), np.inf)
    np.fill_diagonal(D, 0.0)
    for (i, j), length in zip(graph.edges, graph.lengths, strict=True):
        D[i, j] = D[j, i] = length
    for via in range(graph.n_nodes):
        D = np.minimum(D, D[:, via, None] + D[None, via, :])
    return D


def plane(n=120, seed=0):
    return np.random.RandomState(seed).rand(n, 2)


@pytest.fixture
def graph():
    return build_graph(plane(), n_neighbors=5)


@pytest.fixture
def pieces():
    """Two pieces of a plane without a path between them."""
    return build_graph(np.concatenate([plane(40), plane(30) + 10.0]), n_neighbors=4)


def test_rows_agree_with_floyd_and_warshall(graph):
    sources = [3, 77, 3, 0]
    found = geodesic_distances(graph, sources)
    np.testing.assert_allclose(found, naive_all_pairs(graph)[sources], rtol=ROUNDING)


def test_all_pairs_agree_with_floyd_and_warshall(graph):
    np.testing.assert_allclose(all_pairs_geodesics(graph), naive_all_pairs(graph), rtol=ROUNDING)


def test_a_half_circle_is_as_long_as_its_arc():
    t = np.linspace(0, np.pi, 400)
    arc = build_graph(np.column_stack([np.cos(t), np.sin(t)]), n_neighbors=2)
    # A chord of angle h is short by h³/24: relative h²/24 = 2.6e-6 for h = π/399.
    assert geodesic_distances(arc, [0])[0, -1] == pytest.approx(np.pi, rel=3e-6)


def test_what_no_path_reaches_is_infinitely_far(pieces):
    found = all_pairs_geodesics(pieces)
    np.testing.assert_allclose(found, naive_all_pairs(pieces), rtol=ROUNDING)
    assert np.isinf(found[:40, 40:]).all()
    assert np.isfinite(found[:40, :40]).all()


def test_a_limit_cuts_longer_paths(graph):
    expected = naive_all_pairs(graph)[:5]
    found = geodesic_distances(graph, np.arange(5), limit=0.3)
    inside = expected <= 0.3
    np.testing.assert_allclose(found[inside], expected[inside], rtol=ROUNDING)
    assert np.isinf(found[~inside]).all()


def test_blocks_are_the_rows_in_order(graph, monkeypatch):
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 7 * 8 * graph.n_nodes)
    sources = np.arange(0, 120, 5)
    blocks = list(geodesic_blocks(graph, sources))
    assert [len(block) for block in blocks] == [7, 7, 7, 3]
    np.testing.assert_array_equal(np.concatenate(blocks), geodesic_distances(graph, sources))


@pytest.mark.parametrize("limit", [None, 0.4])
def test_all_ways_to_find_paths_give_the_bytes_of_dijkstra(graph, pieces, monkeypatch, limit):
    for each in (graph, pieces):
        farthest = np.inf if limit is None else limit
        expected = csgraph.dijkstra(each.adjacency, directed=True, limit=farthest)
        for nodes_per_source in (0, 16):  # one source at a time, or several together
            monkeypatch.setattr(geodesic, "_NODES_PER_SOURCE", nodes_per_source)
            for n_jobs in (1, 2):
                found = geodesic_distances(
                    each, np.arange(each.n_nodes), limit=limit, n_jobs=n_jobs
                )
                assert found.tobytes() == expected.tobytes()


def test_lengths_of_all_sizes_give_the_bytes_of_dijkstra():
    # Clusters in clusters: steps of 1e-6 to 1e3, at which no width of a bucket is right for all.
    rng = np.random.RandomState(0)
    X = sum(
        10.0**-scale * rng.standard_normal((6**4, 2))[np.arange(6**4) // 6**at * 6**at]
        for at, scale in enumerate((6, 3, 0, -3))
    )
    graph = build_graph(X, n_neighbors=8)
    sources = near_first(graph, np.arange(graph.n_nodes))[:96]
    expected = csgraph.dijkstra(graph.adjacency, directed=True, indices=sources)
    assert geodesic_distances(graph, sources).tobytes() == expected.tobytes()


def test_near_first_is_an_order_in_which_nodes_are_near_each_other(graph):
    nodes = np.arange(graph.n_nodes)
    order = near_first(graph, nodes)
    np.testing.assert_array_equal(np.sort(order), nodes)
    lengths = all_pairs_geodesics(graph)
    assert lengths[order[1:], order[:-1]].mean() < 0.5 * lengths.mean()


def test_single_precision_stays():
    X = plane()
    single = build_graph(X.astype(np.float32), n_neighbors=5)
    found = geodesic_distances(single, [0])
    assert found.dtype == np.float32
    # Rounding the points and the lengths costs a few of 24 bits.
    expected = geodesic_distances(build_graph(X, n_neighbors=5), [0])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_nearest_source(graph):
    sources = np.array([5, 60, 100])
    rows = naive_all_pairs(graph)[sources]
    found = nearest_source(graph, sources)
    np.testing.assert_allclose(found.distances, rows.min(axis=0), rtol=ROUNDING)
    np.testing.assert_array_equal(found.sources, sources[rows.argmin(axis=0)])


def test_nearest_source_of_what_is_not_reached(pieces):
    found = nearest_source(pieces, [0])
    assert (found.sources[:40] == 0).all()
    assert (found.sources[40:] == -1).all()
    assert np.isinf(found.distances[40:]).all()
    near = nearest_source(pieces, [0], limit=0.2)
    assert (near.distances[near.sources == 0] <= 0.2).all()
    assert np.isinf(near.distances[near.sources == -1]).all()


def test_an_empty_graph_and_no_sources():
    empty = build_graph(sp.csr_array((3, 3)), metric="precomputed")
    np.testing.assert_array_equal(all_pairs_geodesics(empty), np.where(np.eye(3) == 1, 0.0, np.inf))
    assert geodesic_distances(empty, []).shape == (0, 3)
    with pytest.raises(InvalidInputError, match="at least one"):
        nearest_source(empty, [])


def test_more_than_memory_holds_is_refused(graph, monkeypatch):
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="geodesic_blocks"):
        all_pairs_geodesics(graph)


@pytest.mark.parametrize("sources", [[120], [-1], [0.5], ["a"], [[0]]])
@pytest.mark.parametrize("function", [geodesic_distances, geodesic_blocks, nearest_source])
def test_what_is_no_node_is_refused(graph, function, sources):
    with pytest.raises(InvalidInputError, match="sources"):
        function(graph, sources)


@pytest.mark.parametrize("limit", [-1.0, np.nan])
@pytest.mark.parametrize("function", [geodesic_distances, geodesic_blocks, nearest_source])
def test_what_is_no_limit_is_refused(graph, function, limit):
    with pytest.raises(InvalidInputError, match="limit"):
        function(graph, [0], limit=limit)
