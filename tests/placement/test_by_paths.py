"""Pieces keep their shapes and come into one frame, as far apart as in the data at least."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from scipy.spatial.distance import cdist, pdist
from scipy.stats import ortho_group

from isofold.linalg.motions import RigidMotions
from isofold.placement import by_paths
from isofold.placement.by_paths import place_by_paths
from isofold.placement.clearance import NEAR_ENOUGH
from isofold.placement.links import Links
from isofold.stitching.stitch import place
from support.ipa_cases import grid, rectangle, stitched

# Rigid motions of numbers up to a hundred.
ROUNDING = 1e-10


def shuffled(components, seed):
    """Return the components, each moved by a rigid motion of its own."""
    rng = np.random.RandomState(seed)
    moved = []
    for each in components:
        width = each.embedding.shape[1]
        rotation = ortho_group.rvs(width, random_state=rng) if width > 1 else np.array([[-1.0]])
        motion = RigidMotions(rotation[None], 10 * rng.normal(size=(1, width)))
        moved.append(each.moved(motion))
    return moved


def arranged(found, seed=0):
    graph, components = found.map.graph, shuffled(found.map.components, seed)
    lengths = graph.lengths[graph.is_bridge]
    links = Links.between([each.nodes for each in components], graph.bridges, lengths)
    motions = place_by_paths([each.embedding for each in components], links)
    return [each.moved(motions.restrict(slice(k, k + 1))) for k, each in enumerate(components)]


def squares(corners, n=30, seed=0):
    rng = np.random.RandomState(seed)
    flat = np.concatenate([corner + rng.uniform(size=(n, 2)) for corner in np.asarray(corners)])
    return np.pad(flat, ((0, 0), (0, 1)))


@pytest.fixture(scope="module")
def five_squares():
    corners = [[0.0, 0.0], [4.0, 0.0], [0.0, 5.0], [4.0, 5.0], [8.0, 2.0]]
    return stitched(squares(corners), n_neighbors=8)


@pytest.mark.parametrize("seed", range(3))
def test_shapes_stay(five_squares, seed):
    components = five_squares.map.components
    assert len(components) == 5
    for before, after in zip(components, arranged(five_squares, seed), strict=True):
        np.testing.assert_allclose(
            pdist(after.embedding), pdist(before.embedding), rtol=0, atol=ROUNDING
        )


def test_motions_are_those_of_the_embedding(five_squares):
    for each in arranged(five_squares):
        again = place(each.memberships, each.charts.coordinates, each.alignment.motions)
        np.testing.assert_allclose(again, each.embedding, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_none_is_nearer_to_another_than_its_shortest_bridge(five_squares, seed):
    graph = five_squares.map.graph
    lengths = graph.lengths[graph.is_bridge]
    components = arranged(five_squares, seed)
    for j, each in enumerate(components):
        gap = lengths[np.isin(graph.bridges, each.nodes).any(axis=1)].min()
        for other in components[:j]:
            nearest = cdist(each.embedding, other.embedding).min()
            assert nearest >= (1 - NEAR_ENOUGH) * gap - ROUNDING


def test_frames_of_the_pieces_do_not_matter(five_squares):
    first, second = (
        np.concatenate([each.embedding for each in arranged(five_squares, seed)]) for seed in (1, 2)
    )
    np.testing.assert_allclose(pdist(first), pdist(second), atol=1e-6)


def test_points_of_a_line_come_back():
    line = np.concatenate([rectangle(60, (9.0,)), 13 + rectangle(40, (5.0,), seed=1)])
    found = stitched(line, 1)
    components = arranged(found)
    Y = np.empty_like(line)
    for each in components:
        Y[each.nodes] = each.embedding
    np.testing.assert_allclose(pdist(Y), pdist(line), atol=ROUNDING)


def test_pieces_on_top_of_each_other_are_pushed_apart():
    # The bridge is vertical, so that nothing on the map tells the sheets apart.
    lower = squares([[0.0, 0.0]], 60)
    X = np.concatenate([lower, lower + np.array([0.0, 0.0, 2.0])])
    found = stitched(X)
    first, second = arranged(found)
    assert cdist(first.embedding, second.embedding).min() >= (1 - NEAR_ENOUGH) * 2.0


def test_more_pieces_than_landmarks_for_each():
    found = stitched(squares(3.0 * grid(5, 5), n=8), n_neighbors=5)
    components = arranged(found)
    assert len(components) == 25
    graph = found.map.graph
    gap = graph.lengths[graph.is_bridge].min()
    for j, each in enumerate(components):
        for other in components[:j]:
            assert cdist(each.embedding, other.embedding).min() >= (1 - NEAR_ENOUGH) * gap


def test_of_very_many_bridges_some_are_landmarks(monkeypatch):
    """Points of two grids that face each other are all ends of bridges of one length."""
    flat = np.column_stack([grid.ravel() for grid in np.mgrid[:35.0, :20.0]])
    n, gap = len(flat), 30.0
    shapes, nodes = [flat, flat.copy()], [np.arange(n), n + np.arange(n)]
    bridges = np.column_stack(nodes)
    lengths = np.full(n, gap)
    sizes = []

    def counted(graph, **options):
        sizes.append(graph.shape[0])
        return scipy_dijkstra(graph, **options)

    monkeypatch.setattr(by_paths, "dijkstra", counted)
    motions = place_by_paths(shapes, Links.between(nodes, bridges, lengths))
    assert n > by_paths.MOST_LINKS
    assert sizes[0] <= by_paths.N_LANDMARKS + 2 * (by_paths.FEWER_LINKS + 1)
    one, other = motions.apply_each(shapes)
    # Not on top of each other, and shapes are as they were.
    assert np.linalg.norm(one.mean(axis=0) - other.mean(axis=0)) >= gap
    np.testing.assert_allclose(np.linalg.norm(one[0] - one[-1]), np.linalg.norm(flat[0] - flat[-1]))


def test_some_bridges_join_all_that_all_bridges_join():
    rng = np.random.RandomState(0)
    owners = np.sort(rng.randint(6, size=(1000, 2)), axis=1)
    lengths = rng.rand(1000)
    kept = by_paths._some_links(owners, lengths)
    assert len(kept) < 200
    np.testing.assert_array_equal(np.unique(owners, axis=0), np.unique(owners[kept], axis=0))
    assert lengths.argmin() in kept
    few = by_paths._some_links(owners[:600], lengths[:600])
    np.testing.assert_array_equal(few, np.arange(600))
