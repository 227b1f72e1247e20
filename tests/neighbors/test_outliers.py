import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import build_graph, find_outliers, find_settled
from support.hypothesis_profiles import examples

JITTER = 0.1
# Points of a grid moved by at most 0.1 in each coordinate: neighbors are 0.8 to 1.2 apart, and
# diagonal ones at most 1.2·√2 = 1.7. Edges of a node thus stay below 2.5 times their mean.


def jittered_grid(rng, width, height, spacing=1.0):
    places = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    return spacing * (places + rng.uniform(-JITTER, JITTER, size=places.shape))


def mutual(points):
    return build_graph(points, n_neighbors=8, kind="mutual")


seeds = st.integers(0, 2**31 - 1)


@examples(20)
@given(seeds)
def test_an_even_sheet_has_none(seed):
    sheet = jittered_grid(np.random.RandomState(seed), 15, 12)
    assert not find_outliers(mutual(sheet), least=5).any()


@examples(20)
@given(seeds, st.integers(1, 6))
def test_far_points_are_found_and_no_others(seed, n_far):
    rng = np.random.RandomState(seed)
    sheet = jittered_grid(rng, 15, 12)
    # At least eight steps off the sheet and from each other, anywhere around it.
    angle = 2 * np.pi * (np.arange(n_far) + rng.rand()) / n_far
    far = [7.0, 5.5] + 20.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([sheet, far])
    order = rng.permutation(len(points))
    found = find_outliers(mutual(points[order]), least=7)
    np.testing.assert_array_equal(found, order >= len(sheet))


@pytest.mark.parametrize(("size", "is_stray"), [(1, True), (4, True), (5, False), (12, False)])
def test_the_size_of_a_group_decides(size, is_stray):
    rng = np.random.RandomState(0)
    sheet, group = jittered_grid(rng, 15, 12), np.add(jittered_grid(rng, size, 1), [40.0, 5.0])
    found = find_outliers(mutual(np.concatenate([sheet, group])), least=5)
    assert not found[: len(sheet)].any()
    assert (found[len(sheet) :] == is_stray).all()


def rings(*sizes, join, step=1.0):
    """Return rings joined to the first by one edge of length `join` each.

    The edges of the first ring have length one, those of the others `step`.
    """
    first = np.cumsum([0, *sizes[:-1]])
    edges, lengths = [], []
    for n, f in zip(sizes, first, strict=True):
        nodes = f + np.arange(n)
        edges.append(np.column_stack([nodes, np.roll(nodes, -1)]))
        lengths.append(np.full(n, step if f else 1.0))
    edges.append(np.column_stack([np.arange(len(first) - 1), first[1:]]))
    lengths.append(np.full(len(first) - 1, join))
    ends = np.concatenate(edges)
    half = sp.coo_array((np.concatenate(lengths), ends.T), shape=(sum(sizes), sum(sizes)))
    return build_graph(sp.csr_array(half + half.T), metric="precomputed")


@pytest.mark.parametrize("size", [3, 9, 14, 15, 40])
def test_a_thin_group_is_stray_unless_its_share_is_large(size):
    # 0.005 of 3000 nodes are 15. Edges of 5 are more than three times those of the rest.
    n = 3000 - size
    assert find_outliers(rings(n, size, join=200.0, step=5.0), least=3)[-1] == (size < 15)
    assert find_outliers(rings(n, size, join=200.0, step=1.0), least=3)[-1] == (size < 3)
    assert find_outliers(rings(n, size, join=200.0, step=1.0), least=20)[-1] == (size < 20)


@pytest.mark.parametrize(("join", "is_stray"), [(9.9, False), (10.1, True)])
def test_an_edge_is_long_beside_the_others_at_its_end(join, is_stray):
    # The mean at either end is (1 + 1 + x)/3: 2.5 times that is below x from x = 10 on.
    found = find_outliers(rings(50, 5, 5, join=join), least=6)
    assert found[50:].tolist() == [is_stray] * 10
    assert not found[:50].any()


@examples(10)
@given(seeds)
def test_the_sparse_part_of_a_sheet_is_none(seed):
    # Nine times sparser to the right: joined by edges that are long for the dense part.
    rng = np.random.RandomState(seed)
    dense = jittered_grid(rng, 30, 20)
    sparse = np.add(jittered_grid(rng, 10, 7, spacing=3.0), [32.0, 0.0])
    found = find_outliers(mutual(np.concatenate([dense, sparse])), least=5)
    assert not found.any()


@examples(10)
@given(seeds, st.integers(1, 6))
def test_nodes_amid_their_own_kind_are_settled(seed, n_far):
    rng = np.random.RandomState(seed)
    sheet = jittered_grid(rng, 15, 12)
    assert find_settled(mutual(sheet)).all()
    # Far ones are not; nor need be those at whose neighbors they hang.
    angle = 2 * np.pi * (np.arange(n_far) + rng.rand()) / n_far
    far = [7.0, 5.5] + 20.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    graph = mutual(np.concatenate([sheet, far]))
    settled = find_settled(graph)
    assert not settled[len(sheet) :].any()
    touched = np.unique(graph.edges[(graph.edges >= len(sheet)).any(axis=1)])
    assert settled[np.setdiff1d(np.arange(len(sheet)), touched)].all()


def test_both_halves_of_an_uneven_sheet_are_settled():
    # Seven times sparser to the right, a factor of 2.6 in length.
    rng = np.random.RandomState(0)
    sparse = np.add(jittered_grid(rng, 10, 8, spacing=2.6), [31.5, 0.0])
    settled = find_settled(mutual(np.concatenate([jittered_grid(rng, 30, 20), sparse])))
    # Beside the border means mix; a row or two there may count as unsettled.
    assert settled[: 30 * 20].all()
    inner = sparse[:, 0] > 31.5 + 2.6 * 2
    assert settled[30 * 20 :][inner].all()


def test_if_all_groups_are_small_none_is_stray():
    points = np.repeat(np.arange(5.0) * 100.0, 3)[:, None] + np.tile(np.arange(3.0), 5)[:, None]
    graph = build_graph(points, n_neighbors=2)
    assert not find_outliers(graph, least=4).any()


@pytest.mark.parametrize(("length", "strays"), [(1.0, []), (2.5, [144])])
def test_what_hangs_by_a_longish_thread_is_cut(length, strays):
    # A node with a single edge at a sheet of nodes with eight, of mean length 1.2 or so.
    sheet = jittered_grid(np.random.RandomState(0), 12, 12)
    graph = mutual(sheet)
    graph = build_graph(
        sp.block_array([[graph.adjacency, None], [None, sp.csr_array((1, 1))]], format="csr"),
        metric="precomputed",
    ).with_bridges(np.array([[60, 144]]), np.array([length]))
    assert np.flatnonzero(find_outliers(graph, least=5)).tolist() == strays


def test_nodes_without_edges():
    pair = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    graph = build_graph(pair, metric="precomputed")
    assert find_outliers(graph, least=2).tolist() == [False, False, True]
    empty = build_graph(sp.csr_array((3, 3)), metric="precomputed")
    assert not find_outliers(empty, least=2).any()
