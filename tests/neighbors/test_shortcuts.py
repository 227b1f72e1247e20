"""Short-cuts are edges with a long way round, and can be left out."""

from dataclasses import replace

import numpy as np
import pytest

from isofold import datasets
from isofold.neighbors import build_graph
from isofold.neighbors.shortcuts import LONGEST_DETOUR, find_shortcuts, without_shortcuts


def horseshoe(n=40):
    """Return points of a circle with a gap whose ends are near, and a chord over it."""
    angle = np.linspace(0.0, 2 * np.pi - 0.5, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def graph_over(X, edges):
    """Return the graph of points with given edges."""
    graph = build_graph(X, n_neighbors=2)
    edges = np.sort(np.asarray(edges, dtype=graph.edges.dtype), axis=1)
    lengths = np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1)
    return replace(
        graph,
        edges=edges,
        lengths=lengths,
        is_bridge=np.zeros(len(edges), dtype=bool),
    )


def naive_shortcuts(graph, guide):
    D = np.full((guide.n_nodes, guide.n_nodes), np.inf)
    np.fill_diagonal(D, 0.0)
    for (i, j), length in zip(guide.edges, guide.lengths, strict=True):
        D[i, j] = D[j, i] = length
    for via in range(guide.n_nodes):
        D = np.minimum(D, D[:, via, None] + D[None, via, :])
    return D[graph.edges[:, 0], graph.edges[:, 1]] > LONGEST_DETOUR * graph.lengths


def test_a_chord_over_a_gap_is_a_shortcut():
    X = horseshoe()
    path = [(i, i + 1) for i in range(39)]
    chords = [(0, 39), (0, 2), (5, 9)]
    graph, guide = graph_over(X, path + chords), graph_over(X, path)
    found = find_shortcuts(graph, guide)
    assert [tuple(edge) for edge in graph.edges[found]] == [(0, 39)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_agrees_with_floyd_and_warshall(n_jobs):
    # Neighbors on the floor, judged by a guide with walls: the third coordinate lies in layers.
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.uniform(size=(90, 2)), 0.02 * rng.randint(3, size=90)])
    graph = build_graph(X, n_neighbors=8)
    guide = build_graph(X * [1.0, 1.0, 20.0], n_neighbors=4, kind="mutual")
    expected = naive_shortcuts(graph, guide)
    assert 0 < expected.sum() < graph.n_edges
    np.testing.assert_array_equal(find_shortcuts(graph, guide, n_jobs=n_jobs), expected)


def test_blocks_do_not_matter(monkeypatch):
    X = np.random.RandomState(0).normal(size=(60, 5))
    graph, guide = build_graph(X, n_neighbors=10), build_graph(X, n_neighbors=5, kind="mutual")
    at_once = find_shortcuts(graph, guide)
    monkeypatch.setattr("isofold._memory.BLOCK_BYTES", 7 * 8 * 60)
    np.testing.assert_array_equal(find_shortcuts(graph, guide), at_once)
    np.testing.assert_array_equal(at_once, naive_shortcuts(graph, guide))


def test_a_filled_sheet_has_none():
    X = np.random.RandomState(0).uniform(size=(200, 2))
    graph = build_graph(X, n_neighbors=10)
    guide = build_graph(X, n_neighbors=12, kind="mutual")
    assert not find_shortcuts(graph, guide).any()


def test_between_the_layers_of_a_sparse_roll_all_are_found():
    roll = datasets.swiss_roll(400, width=21.0, uniform=True, random_state=0)
    graph = build_graph(roll.X, n_neighbors=14)
    # A guide on the unrolled sheet has no way shorter than the true one.
    guide = build_graph(roll.truth, n_neighbors=12, kind="mutual")
    true = np.linalg.norm(np.diff(roll.truth[graph.edges], axis=1)[:, 0], axis=1)
    across = true > LONGEST_DETOUR * graph.lengths
    found = find_shortcuts(graph, guide)
    assert across.any()
    assert found[across].all()
    # Within a layer an arc is hardly longer than its chord, and no way twice as long as the arc.
    assert not found[true < 2 * graph.lengths].any()


def test_a_graph_without_its_shortcuts():
    X = horseshoe()
    path = [(i, i + 1) for i in range(39)]
    graph, guide = graph_over(X, [*path, (0, 39), (5, 9)]), graph_over(X, path)
    kept = without_shortcuts(graph, guide)
    is_kept = ~find_shortcuts(graph, guide)
    assert is_kept.sum() == graph.n_edges - 1
    np.testing.assert_array_equal(kept.edges, graph.edges[is_kept])
    np.testing.assert_array_equal(kept.lengths, graph.lengths[is_kept])
    assert len(kept.is_bridge) == kept.n_edges
    assert kept.n_nodes == graph.n_nodes
    same = without_shortcuts(guide, guide)
    np.testing.assert_array_equal(same.edges, guide.edges)
