import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from isofold.neighbors import balls_around, build_graph, cover_by_balls
from support.hypothesis_profiles import examples


def random_graph(rng, n_nodes, n_edges, *, ties):
    """Return a graph, often in pieces; with whole lengths many nodes are equally far."""
    pairs = rng.randint(n_nodes, size=(n_edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    lengths = rng.randint(1, 4, size=len(pairs)) if ties else 0.1 + rng.rand(len(pairs))
    matrix = sp.coo_array((lengths.astype(float), pairs.T), shape=(n_nodes, n_nodes))
    return build_graph(sp.csr_array(matrix + matrix.T), metric="precomputed")


def naive_ball(graph, seed, size):
    """Return the nearest nodes and their distances, the lower number first where they tie."""
    distances = dijkstra(graph.adjacency, directed=False, indices=seed)
    order = np.lexsort((np.arange(graph.n_nodes), distances))[:size]
    order = order[np.isfinite(distances[order])]
    return order, distances[order]


def naive_cover(graph, sizes, core, order):
    """Return seeds and balls, and which nodes the cores hold."""
    covered = np.zeros(graph.n_nodes, dtype=bool)
    seeds, balls = [], []
    for node in order:
        if not covered[node]:
            ball = naive_ball(graph, node, sizes[node])
            covered[ball[0][: int(np.ceil(core * len(ball[0])))]] = True
            seeds.append(node)
            balls.append(ball)
    return seeds, balls, covered


def assert_same_balls(found, seeds, balls):
    np.testing.assert_array_equal(found.seeds, seeds)
    np.testing.assert_array_equal(found.sizes, [len(nodes) for nodes, _ in balls])
    for i, (nodes, distances) in enumerate(balls):
        rows = slice(found.indptr[i], found.indptr[i + 1])
        # Both add the same lengths in the same order, from the seed outwards: equal to the bit.
        np.testing.assert_array_equal(found.nodes[rows], nodes)
        np.testing.assert_array_equal(found.distances[rows], distances)
        assert found.radii[i] == distances[-1]


graphs = {
    "seed": st.integers(0, 2**31 - 1),
    "n_nodes": st.integers(1, 30),
    "density": st.floats(0.0, 3.0),
    "ties": st.booleans(),
}


@examples(80)
@given(**graphs)
def test_balls_are_those_of_a_full_dijkstra(seed, n_nodes, density, ties):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    # Seeds more than once: what one ball leaves behind must not show in the next.
    seeds = rng.randint(n_nodes, size=12)
    sizes = rng.randint(1, n_nodes + 3, size=12)
    balls = [naive_ball(graph, *ball) for ball in zip(seeds, sizes, strict=True)]
    assert_same_balls(balls_around(graph, seeds, sizes), seeds, balls)


@examples(80)
@given(core=st.sampled_from([0.01, 0.25, 0.5, 1.0]), **graphs)
def test_covers_are_those_of_a_full_dijkstra(seed, n_nodes, density, ties, core):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    sizes = rng.randint(1, n_nodes + 3, size=n_nodes)
    seeds, balls, covered = naive_cover(graph, sizes, core, np.arange(n_nodes))
    assert covered.all()
    assert_same_balls(cover_by_balls(graph, sizes, core=core), seeds, balls)


@examples(80)
@given(core=st.sampled_from([0.01, 0.25, 0.5, 1.0]), **graphs)
def test_centers_come_first_and_what_no_ball_holds_last(seed, n_nodes, density, ties, core):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=ties)
    sizes = rng.randint(1, n_nodes + 3, size=n_nodes)
    centers = rng.rand(n_nodes) < rng.rand()
    seeds, balls, covered = naive_cover(graph, sizes, core, np.flatnonzero(centers))
    assert covered[centers].all()
    held = np.isin(np.arange(n_nodes), [node for nodes, _ in balls for node in nodes])
    more_seeds, more_balls, _ = naive_cover(graph, sizes, core, np.flatnonzero(~held))
    found = cover_by_balls(graph, sizes, core=core, centers=centers)
    assert_same_balls(found, seeds + more_seeds, balls + more_balls)
    assert np.isin(np.arange(n_nodes), found.nodes).all()


def test_ties_go_to_the_lower_number():
    # On a path every distance but the seed's own is held by two nodes.
    graph = build_graph(np.arange(7.0)[:, None], radius=1.0)
    found = balls_around(graph, np.array([3, 3]), np.array([2, 6]))
    assert found.nodes.tolist() == [3, 2, 3, 2, 4, 1, 5, 0]


def test_a_ball_ends_with_its_component():
    X = np.concatenate([np.arange(4.0), 100.0 + np.arange(6.0)])[:, None]
    graph = build_graph(X, radius=1.0)
    found = balls_around(graph, np.array([1, 9]), np.array([10, 10]))
    assert found.sizes.tolist() == [4, 6]
    assert found.nodes.tolist() == [1, 0, 2, 3, 9, 8, 7, 6, 5, 4]
    assert found.radii.tolist() == [2.0, 5.0]
    cover = cover_by_balls(graph, np.full(10, 50), core=1.0)
    assert cover.seeds.tolist() == [0, 4]


def test_a_ball_follows_the_sheet_across_a_gap():
    # Two layers 0.5 apart with steps of 0.2, joined only at one end, as in a roll.
    along = np.arange(0.0, 4.1, 0.2)
    X = np.concatenate(
        [
            np.column_stack([along, np.zeros_like(along)]),
            [[4.1, 0.15], [4.15, 0.3]],
            np.column_stack([along[::-1], np.full_like(along, 0.5)]),
        ]
    )
    graph = build_graph(X, radius=0.3)
    ball = balls_around(graph, np.array([0]), np.array([len(along)]))
    assert sorted(ball.nodes) == list(range(len(along)))


def test_threads_do_not_matter():
    rng = np.random.RandomState(0)
    graph = build_graph(rng.rand(400, 2), n_neighbors=6)
    seeds, sizes = rng.randint(400, size=101), rng.randint(1, 60, size=101)
    alone = balls_around(graph, seeds, sizes, n_jobs=1)
    for n_jobs in (2, 3, 200):
        found = balls_around(graph, seeds, sizes, n_jobs=n_jobs)
        for name in ("seeds", "indptr", "nodes", "distances"):
            assert getattr(found, name).tobytes() == getattr(alone, name).tobytes()


def test_single_precision_lengths_are_taken_as_they_are():
    X = np.random.RandomState(0).rand(80, 2).astype(np.float32)
    graph = build_graph(X, n_neighbors=5)
    assert graph.lengths.dtype == np.float32
    found = balls_around(graph, np.array([5]), np.array([30]))
    nodes, distances = naive_ball(graph, 5, 30)
    np.testing.assert_array_equal(found.nodes, nodes)
    np.testing.assert_array_equal(found.distances, distances)


def test_no_seeds_no_balls():
    graph = build_graph(np.arange(4.0)[:, None], n_neighbors=1)
    none = balls_around(graph, np.empty(0, dtype=int), np.empty(0, dtype=int))
    assert len(none.seeds) == len(none.nodes) == len(none.radii) == 0
    assert none.indptr.tolist() == [0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_seeds_of_any_integer_kind(n_jobs):
    graph = build_graph(np.arange(6.0)[:, None], n_neighbors=1)
    seeds, sizes = np.array([0, 5], np.int32), np.array([2, 3], np.int16)
    found = balls_around(graph, seeds, sizes, n_jobs=n_jobs)
    assert found.nodes.tolist() == [0, 1, 5, 4, 3]
