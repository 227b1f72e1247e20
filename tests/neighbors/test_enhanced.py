import numpy as np
import pytest
from scipy.spatial.distance import cdist

from isofold.exceptions import InvalidInputError
from isofold.neighbors import (
    build_graph,
    connected_components,
    enhance,
    kneighbors,
    levina_bickel_dimension,
)
from support.quick import quick_first


def sheets(seed=0, n=80, shift=(4.0, 0.0, 0.0), noise=0.02):
    """Two rippled sheets in space, of unequal size; beside each other unless shifted so."""
    rng = np.random.RandomState(seed)
    parts = []
    for size, offset in ((n, 0.0), (n // 2, np.array(shift))):
        u, v = rng.rand(2, size) * 2
        parts.append(np.column_stack([u, v, 0.2 * np.sin(2 * u)]) + offset)
    X = np.concatenate(parts)
    return X + noise * rng.standard_normal(X.shape)


def naive_share(X, k, d):
    """η of equations 2.54 and 2.55."""
    neighbors = kneighbors(X, k).indices
    shares = []
    for members in neighbors:
        values = np.linalg.svd(X[members] - X[members].mean(axis=0), compute_uv=False)
        shares.append(values[:d].sum() / values.sum())
    return np.mean(shares)


def naive_links(X, P, Q, share, d):
    """The l shortest pairs, l = d + 1 upward while the share of equation 2.57 holds."""
    D = cdist(X[P], X[Q])
    order = np.argsort(D, axis=None)
    pairs = [(P[a], Q[b]) for a, b in zip(*np.unravel_index(order, D.shape), strict=True)]
    most = min(len(P), len(Q))
    kept = min(d + 1, most)
    for n_links in range(d + 1, most + 1):
        differences = np.array([X[i] - X[j] for i, j in pairs[:n_links]])
        values = np.linalg.svd(differences, compute_uv=False)
        if values[:d].sum() / values.sum() < share:
            break
        kept = n_links
    return {tuple(sorted(pair)) for pair in pairs[:kept]}


def link_set(graph):
    return set(map(tuple, graph.bridges.tolist()))


# Sheets beside each other are linked along one direction, and the share never falls below
# that of the neighborhoods. Sheets above each other are linked at a slant, in all directions.
@pytest.mark.parametrize("shift", [(4.0, 0.0, 0.0), (0.5, 0.3, 1.6)], ids=["beside", "above"])
@pytest.mark.parametrize("seed", quick_first(range(5)))
@pytest.mark.parametrize("d", [1, 2])
def test_agrees_with_the_equations(shift, seed, d):
    X = sheets(seed, shift=shift)
    graph = build_graph(X, n_neighbors=6)
    components = connected_components(graph)
    assert components.n_components == 2
    share = naive_share(X, 10, d)
    expected = naive_links(X, *components.members(), share, d)
    assert link_set(enhance(X, graph, n_neighbors=10, dimension=d)) == expected


def test_links_end_where_their_directions_leave_the_dimension():
    counts = []
    for seed in range(5):
        X = sheets(seed, shift=(0.5, 0.3, 1.6))
        counts.append(len(enhance(X, build_graph(X, n_neighbors=6), dimension=2).bridges))
    assert min(counts) >= 3
    assert max(counts) < 40


def test_dimension_is_estimated_by_default():
    X = sheets()
    graph = build_graph(X, n_neighbors=6)
    d = levina_bickel_dimension(X).rounded
    assert link_set(enhance(X, graph)) == link_set(enhance(X, graph, dimension=d))


def test_the_whole_becomes_connected_with_several_links_a_pair():
    rng = np.random.RandomState(0)
    X = np.concatenate([sheets(seed) + 12 * rng.standard_normal(3) for seed in range(4)])
    graph = build_graph(X, n_neighbors=6)
    components = connected_components(graph)
    assert components.n_components > 4
    joined = enhance(X, graph, dimension=2)
    assert connected_components(joined).n_components == 1
    np.testing.assert_array_equal(joined.edges[~joined.is_bridge], graph.edges)
    i, j = joined.bridges.T
    lengths = np.linalg.norm(X[i] - X[j], axis=1)
    np.testing.assert_allclose(joined.lengths[joined.is_bridge], lengths)
    # Later rounds join what the first has merged, so count the links that leave a component.
    labels = components.labels
    for component in range(components.n_components):
        assert ((labels[i] == component) ^ (labels[j] == component)).sum() >= 3


def test_links_are_capped_by_the_smaller_component():
    X = np.concatenate([sheets(), [[50.0, 0, 0], [50.1, 0, 0]]])
    graph = build_graph(X, radius=0.7)
    joined = enhance(X, graph, dimension=2)
    assert np.isin(joined.bridges, [len(X) - 2, len(X) - 1]).any(axis=1).sum() == 2


def test_as_many_columns_as_dimensions_link_the_whole_smaller_component():
    X = sheets()[:, :2]
    graph = build_graph(X, n_neighbors=6)
    smaller = connected_components(graph).sizes[1]
    assert len(enhance(X, graph, dimension=2).bridges) == smaller
    assert len(enhance(X, graph, dimension=9).bridges) == smaller


def test_small_components_offer_all_their_pairs():
    # Two lines of three points across a gap: the three shortest pairs are known by hand.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0], [10.1, 0.0], [11.4, 0.0]])
    joined = enhance(X, build_graph(X, n_neighbors=2), dimension=2)
    assert link_set(joined) == {(2, 3), (1, 3), (2, 4)}


def test_two_points_alone():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    joined = enhance(X, build_graph(X, radius=1.0), dimension=1)
    assert link_set(joined) == {(0, 1)}
    assert joined.lengths.tolist() == [5.0]


def test_copies_change_nothing():
    X = sheets()
    single = enhance(X, build_graph(X, n_neighbors=6), dimension=2)
    X = np.repeat(X, 3, axis=0)
    copied = enhance(X, build_graph(X, n_neighbors=6), dimension=2)
    assert link_set(copied) == link_set(single)


def test_single_precision_stays():
    X = sheets().astype(np.float32)
    joined = enhance(X, build_graph(X, n_neighbors=6), dimension=2)
    assert joined.lengths.dtype == np.float32


def test_a_connected_graph_is_returned_as_it_is():
    X = sheets()[:80]
    graph = build_graph(X, n_neighbors=10)
    assert enhance(X, graph) is graph


def test_other_samples_are_refused():
    X = sheets()
    with pytest.raises(InvalidInputError, match="same samples"):
        enhance(X[1:], build_graph(X, n_neighbors=6))


@pytest.mark.parametrize("option", [{"dimension": 0}, {"n_neighbors": 1}])
def test_what_is_no_count_is_refused(option):
    X = sheets()
    with pytest.raises(InvalidInputError, match="whole number"):
        enhance(X, build_graph(X, n_neighbors=6), **option)
