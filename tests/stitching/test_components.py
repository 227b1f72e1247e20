"""From a graph to components in one frame: who is used, how it is numbered, what is recorded."""

import numpy as np
import pytest

from isofold.neighbors import connected_components
from isofold.quality import procrustes_error
from support.ipa_cases import grid, half_cylinder, rectangle, stitched

# Flat data of size ten: some hundred roundings.
ROUNDING = 1e-11


def two_squares(n=60):
    flat = np.concatenate([rectangle(n + 20, (1.0, 1.0)), 4 + rectangle(n, (1.0, 1.0), seed=1)])
    return np.pad(flat, ((0, 0), (0, 1)))


@pytest.fixture(scope="module")
def apart():
    return stitched(two_squares())


@pytest.fixture(scope="module")
def sheet():
    return stitched(half_cylinder(grid()))


def test_connected_sheet_is_one_piece(sheet):
    found = sheet.map
    assert len(found.components) == 1
    np.testing.assert_array_equal(found.used, np.arange(300))
    np.testing.assert_array_equal(found.labels, 0)
    assert len(found.graph.bridges) == 0
    assert procrustes_error(found.embedding, grid()) < 1e-3


def test_pieces_are_numbered_by_size_and_bridged(apart):
    found = apart.map
    assert [len(component.nodes) for component in found.components] == [80, 60]
    np.testing.assert_array_equal(found.labels, np.repeat([0, 1], [80, 60]))
    assert connected_components(found.graph).n_components == 1
    ends = found.labels[found.graph.bridges]
    assert (ends[:, 0] != ends[:, 1]).all()
    for component in found.components:
        np.testing.assert_array_equal(found.embedding[component.nodes], component.embedding)


def test_bridges_have_the_lengths_of_the_data(apart):
    graph = apart.map.graph
    first, second = apart.points[graph.bridges.T]
    np.testing.assert_allclose(
        graph.lengths[graph.is_bridge], np.linalg.norm(first - second, axis=1)
    )


def test_joined_cover_counts_nodes_of_the_whole(apart):
    found = apart.map
    cover = found.cover
    assert cover.n_points == 140
    assert cover.n_patches == sum(component.cover.n_patches for component in found.components)
    patch = 0
    for component in found.components:
        for own in range(component.cover.n_patches):
            members = cover.members_of(patch)
            np.testing.assert_array_equal(members, component.nodes[component.cover.members_of(own)])
            assert cover.seeds[patch] in members
            patch += 1
    assert len(np.unique(cover.members)) == 140


def test_distortion_is_the_mean_error_of_edges_without_bridges(sheet, apart):
    for found in (sheet.map, apart.map):
        graph, Y = found.graph, found.embedding
        errors = [[] for _ in range(graph.n_nodes)]
        for (a, b), length, is_bridge in zip(
            graph.edges, graph.lengths, graph.is_bridge, strict=True
        ):
            if not is_bridge:
                error = abs(np.linalg.norm(Y[a] - Y[b]) / length - 1)
                errors[a].append(error)
                errors[b].append(error)
        np.testing.assert_allclose(
            found.distortion, [np.mean(own) for own in errors], atol=ROUNDING
        )


def test_small_groups_and_lone_points_are_not_used():
    flat = np.pad(grid(), ((0, 0), (0, 1)))
    group = np.array([[100.0, 100.0, 0.0], [101.0, 100.0, 0.0], [100.0, 101.0, 0.5]])
    X = np.concatenate([flat[:100], [[10.0, 5.0, 300.0]], flat[100:], group])
    found = stitched(X).map
    np.testing.assert_array_equal(found.used, np.r_[:100, 101:301])
    assert len(found.components) == 1
    assert procrustes_error(found.embedding, grid()) < ROUNDING


def test_given_patches_that_share_no_points_are_pieces():
    # The graph joins both halves of the grid, but nothing says how the patches fit.
    flat = grid(8, 20)
    table = np.column_stack([flat[:, 0] < 10, flat[:, 0] >= 10]).astype(int)
    found = stitched(np.pad(flat, ((0, 0), (0, 1))), cover=table).map
    assert len(found.components) == 2
    np.testing.assert_array_equal(found.labels, (flat[:, 0] >= 10).astype(int))
    ends = flat[found.graph.bridges]
    assert (np.abs(ends[:, 0] - ends[:, 1]) <= 3).all()
    assert len(found.graph.bridges) >= 8
    for component in found.components:
        assert procrustes_error(component.embedding, flat[component.nodes]) < ROUNDING


def test_points_of_a_line_hold_together_in_two_dimensions():
    X = np.pad(np.arange(50.0)[:, None], ((0, 0), (0, 2)))
    found = stitched(X).map
    Y = found.embedding
    assert Y.shape == (50, 2)
    assert np.linalg.norm(Y[0] - Y[-1]) == pytest.approx(49.0)
