"""Which pairs are kept, stretched and left free: every way to say it means the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from isofold import EAT
from isofold.embedding.affine.pairs import DistinctSamples, RequestedPairs, read_pairs
from isofold.neighbors import build_graph
from support.mvu_cases import neighbor_graph, sparse_graph

# Distances from squares and back: rounding of a root.
ROUNDING = 1e-14

POINTS = np.random.RandomState(0).normal(size=(8, 3))
DISTANCES = cdist(POINTS, POINTS)
KEEP = np.array([[0, 1], [0, 4], [1, 2], [2, 3], [3, 7], [4, 5], [5, 6]])
LENGTHS = DISTANCES[KEEP[:, 0], KEEP[:, 1]]


def distinct(points):
    """Return the places of points that all differ."""
    every = np.arange(len(points))
    return DistinctSamples(every, every, cdist(points, points) ** 2)


def sides(*, neighbors=None, places=None, **told):
    return read_pairs(
        RequestedPairs(**told), distinct(POINTS) if places is None else places, neighbors
    )


def pulled(result):
    """Return the pairs that are stretched, and relative to which distances."""
    pairs = np.argwhere(np.triu(result.pull, k=1))
    return pairs, 1 / np.sqrt(result.pull[pairs[:, 0], pairs[:, 1]])


def others(*taken):
    """Return all pairs of the points that are not among those taken."""
    left = np.triu(np.ones((8, 8), dtype=bool), k=1)
    for pairs in taken:
        low, high = np.sort(pairs, axis=1).T
        left[low, high] = False
    return np.argwhere(left)


FORMS = {
    "pairs": KEEP,
    "list": KEEP.tolist(),
    "turned and twice": np.concatenate([KEEP[::-1, ::-1], KEEP]),
    "small integers": KEEP.astype(np.uint8),
    "upper triangle": sparse_graph(8, KEEP, LENGTHS),
    "both triangles": sparse_graph(8, KEEP, LENGTHS) + sparse_graph(8, KEEP[:, ::-1], LENGTHS),
    "column by column": sp.csc_matrix(sparse_graph(8, KEEP, LENGTHS)),
    "graph": neighbor_graph(8, KEEP, LENGTHS),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_kept_pairs_agree(form):
    result = sides(keep=FORMS[form])
    np.testing.assert_array_equal(result.keep, KEEP)
    np.testing.assert_allclose(result.targets, LENGTHS, rtol=ROUNDING)
    pairs, lengths = pulled(result)
    np.testing.assert_array_equal(pairs, others(KEEP))
    np.testing.assert_allclose(lengths, DISTANCES[pairs[:, 0], pairs[:, 1]], rtol=ROUNDING)
    np.testing.assert_array_equal(result.pull, result.pull.T)
    assert result.n_stretched == 28 - 7


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_stretched_pairs_agree(form):
    keep = others(KEEP)
    result = sides(keep=keep, stretch=FORMS[form])
    pairs, lengths = pulled(result)
    np.testing.assert_array_equal(pairs, KEEP)
    np.testing.assert_allclose(lengths, LENGTHS, rtol=ROUNDING)


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_free_pairs_agree(form):
    keep = others(KEEP)[:5]
    result = sides(keep=keep, free=FORMS[form])
    np.testing.assert_array_equal(result.keep, keep)
    np.testing.assert_array_equal(pulled(result)[0], others(KEEP, keep))


def test_listing_all_others_is_the_default():
    default, listed = sides(keep=KEEP), sides(keep=KEEP, stretch=others(KEEP))
    np.testing.assert_array_equal(listed.pull, default.pull)


def test_the_matrix_of_the_objective_is_the_mean_stretch():
    result = sides(keep=KEEP, free=[[0, 7]])
    Y = np.random.RandomState(1).normal(size=(8, 2))
    pairs, lengths = pulled(result)
    ratios = [
        np.sum((Y[i] - Y[j]) ** 2) / length**2
        for (i, j), length in zip(pairs, lengths, strict=True)
    ]
    assert np.vdot(Y, result.objective @ Y) == pytest.approx(np.mean(ratios))
    assert len(pairs) == 28 - 7 - 1


def test_nothing_to_stretch_is_no_objective():
    result = sides(keep=KEEP, stretch=[])
    assert result.n_stretched == 0
    np.testing.assert_array_equal(result.objective, np.zeros((8, 8)))


def test_targets_as_a_matrix():
    plane = np.random.RandomState(2).rand(8, 2)
    targets = cdist(plane, plane)
    result = sides(keep=KEEP, targets=targets)
    np.testing.assert_allclose(result.targets, targets[KEEP[:, 0], KEEP[:, 1]], rtol=ROUNDING)
    pairs, lengths = pulled(result)
    np.testing.assert_allclose(lengths, targets[pairs[:, 0], pairs[:, 1]], rtol=ROUNDING)
    # Neighbors are those of the data, and their targets are not.
    neighbors = build_graph(POINTS, n_neighbors=2)
    result = sides(neighbors=neighbors, targets=targets)
    np.testing.assert_array_equal(result.keep, neighbors.edges)
    np.testing.assert_allclose(result.targets, targets[tuple(neighbors.edges.T)], rtol=ROUNDING)


def test_targets_as_a_list():
    listed = np.arange(1.0, 8.0)
    shuffled = np.random.RandomState(0).permutation(7)
    for order in (slice(None), shuffled):
        result = sides(keep=KEEP[order], targets=listed[order])
        np.testing.assert_array_equal(result.keep, KEEP)
        np.testing.assert_array_equal(result.targets, listed)
    # All other pairs are stretched relative to the data.
    pairs, lengths = pulled(result)
    np.testing.assert_allclose(lengths, DISTANCES[tuple(pairs.T)], rtol=ROUNDING)


def test_distances_in_kept_pairs_go_before_those_of_a_matrix():
    result = sides(keep=sparse_graph(8, KEEP, 3.0), targets=DISTANCES)
    np.testing.assert_array_equal(result.targets, np.full(7, 3.0))


def test_free_neighbors_are_not_kept():
    neighbors = build_graph(POINTS, n_neighbors=3)
    free = neighbors.edges[::2]
    result = sides(neighbors=neighbors, free=free)
    np.testing.assert_array_equal(result.keep, neighbors.edges[1::2])
    np.testing.assert_array_equal(pulled(result)[0], others(neighbors.edges))


def test_stretched_neighbors_are_refused():
    neighbors = build_graph(POINTS, n_neighbors=3)
    with pytest.raises(ValueError, match=r"1 pair.* in both stretch and keep"):
        sides(neighbors=neighbors, stretch=neighbors.edges[:1])


def test_pairs_of_copies_are_pairs_of_places():
    # Samples 8 and 9 are copies of 0 and 1.
    node = np.concatenate([np.arange(8), [0, 1]])
    places = DistinctSamples(node, np.arange(8), DISTANCES**2)
    keep = np.concatenate([KEEP[1:], [[8, 9], [8, 4], [0, 8]]])
    result = sides(places=places, keep=keep)
    np.testing.assert_array_equal(result.keep, KEEP)
    np.testing.assert_array_equal(pulled(result)[0], others(KEEP))
    targets = cdist(POINTS[node], POINTS[node])
    result = sides(places=places, keep=keep, targets=targets)
    np.testing.assert_allclose(result.targets, LENGTHS, rtol=ROUNDING)


def test_the_same_target_twice_is_one():
    single = LENGTHS.astype(np.float32).astype(np.float64)
    result = sides(keep=np.concatenate([KEEP, KEEP]), targets=np.concatenate([LENGTHS, single]))
    np.testing.assert_array_equal(result.keep, KEEP)


@given(st.lists(st.sampled_from(["keep", "stretch", "free", "none"]), min_size=28, max_size=28))
def test_every_pair_has_the_role_that_it_was_given(roles):
    pairs, roles = np.argwhere(np.triu(np.ones((8, 8)), k=1)), np.array(["keep", *roles[1:]])
    told = {role: pairs[roles == role] for role in ("keep", "stretch", "free")}
    result = sides(**told)
    np.testing.assert_array_equal(result.keep, told["keep"])
    np.testing.assert_array_equal(pulled(result)[0], told["stretch"].reshape(-1, 2))
    assert result.n_stretched == len(told["stretch"])
    # Without a list all that have no role are stretched.
    rest = sides(keep=told["keep"], free=told["free"])
    np.testing.assert_array_equal(pulled(rest)[0], pairs[np.isin(roles, ["stretch", "none"])])


# Through the embedder


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_forms_give_the_same_map():
    angle = np.random.RandomState(0).rand(20, 2) * [2.0, 1.0]
    X = np.column_stack([np.cos(angle[:, 0]), np.sin(angle[:, 0]), angle[:, 1]])
    eat = EAT(n_neighbors=5, random_state=0).fit(X)
    graph = eat.graph_
    rest = np.argwhere(np.triu(graph.adjacency.toarray() == 0, k=1))
    ways = [
        {"keep": graph},
        {"keep": graph.adjacency},
        {"keep": graph.edges},
        {"keep": graph.edges, "targets": graph.lengths},
        {"targets": cdist(X, X)},
        {"keep": graph.edges, "stretch": rest},
        {"stretch": rest},
    ]
    for told in ways:
        again = EAT(n_neighbors=5, random_state=0).fit(X, **told)
        # The same program, but for the last digit of lengths.
        np.testing.assert_allclose(again.embedding_, eat.embedding_, rtol=0, atol=1e-6)
        assert (again.graph_ is None) == ("keep" in told)


def test_free_pairs_loosen_the_map():
    # Chords over two steps hold an arc bent; left free they let it unfold to a line.
    angle = 0.3 * np.arange(12)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    steps = np.column_stack([np.arange(11), np.arange(1, 12)])
    chords = np.column_stack([np.arange(10), np.arange(2, 12)])
    eat = EAT(gamma=10.0, slack=0.0, random_state=0)
    loose = eat.fit(arc, keep=steps, free=chords).stretch_
    # A line of steps; what is one chord in the arc is so much longer there.
    i, j = np.argwhere(np.triu(np.ones((12, 12)), k=3)).T
    expected = np.mean(((j - i) * np.sin(0.15) / np.sin(0.15 * (j - i))) ** 2)
    assert loose == pytest.approx(expected, rel=1e-5)
    both = np.concatenate([steps, chords])
    assert eat.fit(arc, keep=both).solution_.primal < 0.99 * loose
