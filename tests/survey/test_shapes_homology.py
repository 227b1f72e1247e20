"""Loops and hollows of landmarks, beside ranks of boundary matrices; loops rolled out."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from isofold.neighbors import build_graph
from isofold.survey.development import develop, trace
from isofold.survey.loops import find_classes, shortest_loops
from isofold.survey.sketch import SketchedComponent
from isofold.survey.voids import most_lasting_void
from support.quick import quick_first


def rank_over_two(matrix):
    """Return the rank of a matrix of zeros and ones, by elimination."""
    rows = [int("".join(map(str, row)), 2) for row in matrix.astype(int)]
    rank = 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return rank


def betti(distances, t, degree):
    """Return a Betti number of the complex of all cliques up to the distance t."""
    cliques = [
        [
            c
            for c in combinations(range(len(distances)), size)
            if all(distances[a, b] <= t for a, b in combinations(c, 2))
        ]
        for size in (degree, degree + 1, degree + 2)
    ]
    ranks = [boundary_rank(*pair) for pair in pairwise(cliques)]
    return len(cliques[1]) - sum(ranks)


def boundary_rank(faces, cells):
    if not faces or not cells:
        return 0
    at = {face: row for row, face in enumerate(faces)}
    matrix = np.zeros((len(cells), len(faces)), dtype=int)
    for row, cell in enumerate(cells):
        for face in combinations(cell, len(cell) - 1):
            matrix[row, at[face]] = 1
    return rank_over_two(matrix)


def between(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


@pytest.mark.parametrize("seed", range(4))
def test_living_classes_are_the_first_betti_number(seed):
    distances = between(np.random.RandomState(seed).normal(size=(16, 2)))
    classes = find_classes(distances, last_birth=np.inf)
    for t in np.quantile(distances, [0.1, 0.2, 0.3, 0.4, 0.5]):
        assert sum(c.birth <= t < c.death for c in classes) == betti(distances, t, 1)


def test_the_ring_is_filled_at_a_third_of_its_length():
    steps = np.abs(np.subtract.outer(np.arange(12), np.arange(12)))
    distances = np.minimum(steps, 12 - steps).astype(float)
    (ring,) = find_classes(distances, last_birth=np.inf)
    assert (ring.birth, ring.death) == (1.0, 4.0)
    (loop,) = shortest_loops(distances, [ring], 1)
    assert loop.length == 12.0
    assert sorted(loop.landmarks) == list(range(12))


def test_an_octahedron_is_hollow():
    corners = np.vstack((np.eye(3), -np.eye(3)))
    void = most_lasting_void(between(corners), last_birth=np.inf)
    np.testing.assert_allclose((void.birth, void.death), (np.sqrt(2), 2.0))


def test_a_simplex_is_not_hollow():
    assert most_lasting_void(between(np.eye(5)), last_birth=np.inf).persistence == 0.0


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_a_void_lives_where_the_second_betti_number_is_not_zero(seed):
    points = np.random.RandomState(seed).normal(size=(12, 3))
    distances = between(points / np.linalg.norm(points, axis=1, keepdims=True))
    void = most_lasting_void(distances, last_birth=np.inf)
    lengths = np.unique(distances[np.triu_indices(12, k=1)])
    alive = [t for t in lengths if betti(distances, t, 2)]
    if void.persistence == 0.0:
        assert alive == []
    else:
        assert {t for t in lengths if void.birth <= t < void.death} <= set(alive)
        assert void.birth >= alive[0]
        assert void.death > alive[0]


def grid_part(points):
    graph = build_graph(points, radius=1.5)
    return SketchedComponent(graph, points, 1.0)


def test_a_loop_around_a_cylinder_does_not_close_when_rolled_out():
    n_around, n_high = 40, 7
    angle, height = (a.ravel() for a in np.meshgrid(np.arange(n_around), np.arange(n_high)))
    radius = n_around / (2 * np.pi)
    turn = 2 * np.pi * angle / n_around
    points = np.column_stack((radius * np.cos(turn), radius * np.sin(turn), height))
    part = grid_part(points)
    path = np.flatnonzero(height == 3)
    # Chords over an angle of 2π/40 are shorter than arcs by a factor 1 - 0.004, and charts of
    # balls that bend by a few steps lose some more.
    assert develop(part, path).gap == pytest.approx(1.0, abs=0.03)
    # The same without places, from distances along the graph.
    without = SketchedComponent(part.graph, None, 1.0)
    assert develop(without, path).gap == pytest.approx(1.0, abs=0.03)


def test_a_loop_around_a_hole_closes_when_rolled_out():
    grid = np.stack(np.meshgrid(np.arange(13.0), np.arange(13.0)), axis=-1).reshape(-1, 2)
    points = grid[np.abs(grid - 6).max(axis=1) > 2]
    part = grid_part(points)
    corners = ([2, 2], [10, 2], [10, 10], [2, 10])
    path = trace(part, np.array([int((points == c).all(axis=1).argmax()) for c in corners]))
    assert len(path) == len(set(path.tolist()))
    # Flat charts are exact, and motions between them are rounded only.
    assert develop(part, path).gap < 1e-10
