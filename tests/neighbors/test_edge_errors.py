"""Errors of lengths on a map, and the dimension that lengths suggest."""

import numpy as np
import pytest

from isofold.neighbors import (
    LengthErrors,
    build_graph,
    dimension_of_lengths,
    edge_errors,
    mean_at_nodes,
)
from support.mvu_cases import neighbor_graph

ROUNDING = 1e-14


def small_graph():
    edges = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 4]]
    bridges = [False, False, False, False, True]
    return neighbor_graph(6, edges, [1.0, 2.0, 0.5, 3.0, 4.0], is_bridge=bridges)


def test_errors_against_a_loop():
    graph, Y = small_graph(), np.random.RandomState(0).normal(size=(6, 3))
    expected = [
        abs(np.sqrt(((Y[i] - Y[j]) ** 2).sum()) / length - 1)
        for (i, j), length in zip(graph.edges, graph.lengths, strict=True)
    ]
    np.testing.assert_allclose(edge_errors(Y, graph), expected, rtol=ROUNDING)


def test_true_lengths_have_no_error():
    X = np.random.RandomState(0).normal(size=(30, 3))
    graph = build_graph(X, n_neighbors=4)
    np.testing.assert_allclose(edge_errors(X, graph), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(edge_errors(3 * X, graph), 2.0, rtol=ROUNDING)


def test_means_leave_bridges_out():
    graph = small_graph()
    means = mean_at_nodes(np.array([1.0, 2.0, 3.0, 4.0, 100.0]), graph)
    # Node 4 has a bridge alone and node 5 no edge at all.
    np.testing.assert_allclose(means, [1.5, 8 / 3, 2.5, 4.0, 0.0, 0.0], rtol=ROUNDING)


def test_summary():
    errors = np.random.RandomState(0).rand(1001)
    summary = LengthErrors.of(errors)
    ordered = np.sort(errors)
    assert summary == LengthErrors(ordered[500], ordered[990], ordered[1000])
    assert LengthErrors.of(np.empty(0)) == LengthErrors(0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 2, 3])
def test_dimension_of_sheets(d, seed):
    flat = np.random.RandomState(seed).rand(600, d)
    # Rolled up along the first coordinate, in 5 dimensions.
    X = np.column_stack([np.cos(3 * flat[:, 0]), np.sin(3 * flat[:, 0]), 3 * flat[:, 1:]])
    turn = np.linalg.qr(np.random.RandomState(seed).normal(size=(6, 6)))[0]
    for k in (8, 12):
        graph = build_graph(X @ turn[: X.shape[1]], n_neighbors=k)
        assert dimension_of_lengths(graph) == d


def test_dimension_does_not_depend_on_the_unit():
    X = np.random.RandomState(0).rand(200, 3)
    graphs = (build_graph(unit * X, n_neighbors=10) for unit in (1e-20, 1.0, 1e20))
    assert len({dimension_of_lengths(graph) for graph in graphs}) == 1


def test_dimension_of_odd_graphs():
    # A single node, two nodes, a path: nothing to go by, or a curve.
    assert dimension_of_lengths(neighbor_graph(1, np.empty((0, 2)), 1.0)) == 1
    assert dimension_of_lengths(neighbor_graph(2, [[0, 1]], 1.0)) == 1
    # All distances of a simplex are equal: as many dimensions as there can be.
    n = 7
    simplex = neighbor_graph(n, np.column_stack(np.triu_indices(n, 1)), 1.0)
    assert dimension_of_lengths(simplex) >= n - 1
