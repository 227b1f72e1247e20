import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import PointSet, build_graph, connect, subgraph
from support.hypothesis_profiles import examples

seeds = st.integers(0, 2**31 - 1)


@examples(30)
@given(seeds, st.floats(0.0, 1.0))
def test_a_subgraph_is_a_block_of_the_matrix(seed, share):
    rng = np.random.RandomState(seed)
    points = np.concatenate([rng.rand(30, 2), rng.rand(20, 2) + 5.0])
    graph = build_graph(points, n_neighbors=4)
    joined = connect(points, graph)
    nodes = np.flatnonzero(rng.rand(50) < share)
    part = subgraph(joined, nodes)
    assert part.n_nodes == part.n_samples == len(nodes)
    expected = joined.adjacency.toarray()[np.ix_(nodes, nodes)]
    np.testing.assert_array_equal(part.adjacency.toarray(), expected)
    # The edges keep their order, and each remembers whether it is a bridge.
    assert (np.diff(part.edges @ [part.n_nodes, 1]) > 0).all()
    bridges = {tuple(nodes[edge]) for edge in part.bridges}
    kept = {tuple(edge) for edge in joined.bridges if np.isin(edge, nodes).all()}
    assert bridges == kept
    np.testing.assert_array_equal(part.node_of_sample, np.arange(len(nodes)))


@examples(30)
@given(seeds, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_restrictions_keep_points_edges_and_samples_together(seed, first_fraction, second_fraction):
    rng = np.random.RandomState(seed)
    points = rng.rand(50, 2)
    whole = PointSet.whole(points, build_graph(points, n_neighbors=4))
    once = whole.restrict(np.flatnonzero(rng.rand(50) < first_fraction))
    twice = once.restrict(np.flatnonzero(rng.rand(once.n_nodes) < second_fraction))
    for part in (whole, once, twice):
        assert part.n_nodes == len(part.points) == len(part.samples)
        np.testing.assert_array_equal(part.points, points[part.samples])
        # What two restrictions leave is what one restriction to the same samples leaves.
        expected = subgraph(whole.graph, part.samples)
        np.testing.assert_array_equal(part.graph.edges, expected.edges)
        np.testing.assert_array_equal(part.graph.lengths, expected.lengths)
