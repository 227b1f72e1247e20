"""Free motions of linkages whose number is known, and what moves as one in them."""

from itertools import combinations

import numpy as np
import pytest

from isofold.linalg.body_velocities import free_motions_of
from support.quick import quick_first

TETRAHEDRON = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def generic(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def all_pairs(n):
    return np.array(list(combinations(range(n), 2)))


def ring(n):
    return np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])


def chain_of_bodies(k, size, shared):
    """Return k bodies of a given size in a row, each sharing its last points with the next."""
    step = size - shared
    return [np.arange(step * b, step * b + size) for b in range(k)]


def hinged_ring(k):
    """Return generic points and k bodies in a ring, neighbors sharing a bond."""
    return generic(2 * k, 3), [np.arange(2 * b, 2 * b + 4) % (2 * k) for b in range(k)]


def double_banana():
    """Return two bipyramids of which the three bars between the tips are left out."""
    bars = [
        (a, b)
        for part in ([0, 1, 2, 3, 4], [0, 1, 5, 6, 7])
        for a, b in combinations(part, 2)
        if {a, b} != {0, 1}
    ]
    return generic(8, 3), np.array(bars)


CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_DISTANCES = np.linalg.norm(CUBE[:, None] - CUBE[None], axis=2)
EDGES = np.argwhere(np.triu(np.isclose(CUBE_DISTANCES, 1.0)))
DIAGONALS = np.argwhere(np.triu(np.isclose(CUBE_DISTANCES, np.sqrt(2))))
K33 = np.array([(a, b) for a in range(3) for b in range(3, 6)])
SQUARE = np.array([[0.0, 0], [1, 0], [1.2, 1], [0.1, 0.9]])
LINE = np.column_stack([np.arange(4.0), np.zeros(4), np.zeros(4)])
WITH_DIAGONAL = np.vstack([ring(4), [0, 2]])


def linkages():
    """Yield name, points, bodies, bars, fixed points, and the number of free motions."""
    none = np.empty((0, 2), dtype=int)
    yield "triangle in the plane", generic(3, 2), [], all_pairs(3), None, 0
    yield "triangle in space", generic(3, 3), [], all_pairs(3), None, 0
    yield "four-bar in the plane", SQUARE, [], ring(4), None, 1
    yield "four-bar with a diagonal", SQUARE, [], WITH_DIAGONAL, None, 0
    yield "four-bar in space", generic(4, 3), [], ring(4), None, 2
    yield "four-bar in space with a diagonal", generic(4, 3), [], WITH_DIAGONAL, None, 1
    yield "five-bar in the plane", generic(5, 2), [], ring(5), None, 2
    yield "four-bar of bodies", SQUARE, list(ring(4)), none, None, 1
    yield "four-bar of bodies in space", generic(4, 3), list(ring(4)), none, None, 2
    yield "double banana", *double_banana()[:1], [], double_banana()[1], None, 1
    yield "K33 in the plane", generic(6, 2), [], K33, None, 0
    yield "K33 on a circle", unit_circle(6), [], K33, None, 1
    yield "cube of edges", CUBE, [], EDGES, None, 6
    yield "cube with face diagonals", CUBE, [], np.vstack([EDGES, DIAGONALS]), None, 0
    yield "two points", generic(2, 3), [], none, None, 1
    yield "three points", generic(3, 3), [], none, None, 3
    yield "a bar", generic(2, 3), [[0, 1]], none, None, 0
    yield "a straight body", LINE, [[0, 1, 2, 3]], none, None, 0
    yield "two straight bodies at an angle", bent(), [[0, 1, 2], [2, 3, 4]], none, None, 1
    yield "two straight bodies with a brace", bent(), [[0, 1, 2], [2, 3, 4]], [[0, 4]], None, 0
    yield "a plate and a rod in its plane", plate(), [[0, 1, 2], [1, 3, 4]], none, None, 2
    yield "a bead on a rod", LINE, [[0, 1, 3]], [[0, 2], [2, 3]], None, 2
    for k in (2, 5):
        for shared, each in ((1, 3), (2, 1), (3, 0)):
            bodies = chain_of_bodies(k, 4, shared)
            points = generic(bodies[-1][-1] + 1, 3)
            yield f"{k} tetrahedra, {shared} shared", points, bodies, none, None, each * (k - 1)
    for k, n in ((5, 0), (6, 0), (7, 1), (8, 2), (12, 6)):
        yield f"ring of {k} hinged tetrahedra", *hinged_ring(k), none, None, n
    triangles = chain_of_bodies(4, 3, 2)
    yield "strip of triangles in the plane", generic(6, 2), triangles, none, None, 0
    yield "strip of triangles in space", generic(6, 3), triangles, none, None, 3
    yield "triangles at corners", generic(7, 2), chain_of_bodies(3, 3, 1), none, None, 2
    yield "two triangles and a bar", generic(4, 3), [[0, 1, 2], [1, 2, 3]], [[0, 3]], None, 0
    yield "Stewart platform", generic(12, 3), [range(6), range(6, 12)], legs(6), None, 0
    yield "platform on five legs", generic(12, 3), [range(6), range(6, 12)], legs(5), None, 1
    yield "two plates, three bars", generic(6, 2), [range(3), range(3, 6)], legs(3, 3), None, 0
    yield "two plates, two bars", generic(6, 2), [range(3), range(3, 6)], legs(2, 3), None, 1
    yield "pendulum", generic(2, 2), [], [[0, 1]], [0], 0
    yield "double pendulum", generic(3, 2), [], [[0, 1], [1, 2]], [0], 1
    yield "crank between two anchors", SQUARE, [], ring(4)[[0, 1, 2]], [0, 3], 1
    yield "braced crank", SQUARE, [], WITH_DIAGONAL[[0, 1, 2, 4]], [0, 3], 0
    yield "tripod", generic(4, 3), [], [[0, 3], [1, 3], [2, 3]], [0, 1, 2], 0
    yield "bipod", generic(4, 3), [], [[0, 3], [1, 3]], [0, 1, 2], 1
    yield "door", generic(5, 3), [[0, 1, 3, 4]], none, [0, 1, 2], 1
    yield "door with a stop", generic(5, 3), [[0, 1, 3, 4]], [[2, 4]], [0, 1, 2], 0
    yield "sliding beads", np.arange(4.0)[:, None], [[0, 1]], [[1, 2]], None, 1
    yield "points joined by no length", SQUARE[[0, 1, 2, 2, 3]], [], joined(), None, 1


def unit_circle(n):
    angle = np.array([0.0, 0.7, 1.9, 2.8, 4.1, 5.5])[:n]
    return np.column_stack([np.cos(angle), np.sin(angle)])


def bent():
    return np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [2, 2, 0]])


def plate():
    return np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0]])


def legs(n, apart=6):
    return np.column_stack([np.arange(n), apart + np.arange(n)])


def joined():
    return np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])


CASES = list(linkages())


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_linkages_have_their_free_motions(case):
    _, points, bodies, bars, fixed, n_motions = case
    for tolerance in (1e-10, 1e-8, 1e-6):
        found = free_motions_of(points, bodies, bars=bars, fixed=fixed, tolerance=tolerance)
        assert found.n_motions == n_motions
    # Neither place nor unit matters.
    moved = free_motions_of(1e3 * points + 7e4, bodies, bars=bars, fixed=fixed)
    assert moved.n_motions == n_motions
    assert len(found.cluster_of_bodies) == len(bodies)
    assert len(found.cluster_of_points) == len(points)
    if n_motions == 0:
        assert not found.cluster_of_points.any()


def dense_count(X, bodies, bars):
    """Return the motions by the rank of all pair distances of bodies, which must not be flat."""
    pairs = {tuple(sorted(pair)) for body in bodies for pair in combinations(body, 2)}
    pairs |= {tuple(sorted(map(int, bar))) for bar in bars}
    n, d = X.shape
    R = np.zeros((len(pairs), n, d))
    for row, (i, j) in enumerate(sorted(pairs)):
        R[row, i], R[row, j] = X[i] - X[j], X[j] - X[i]
    return n * d - np.linalg.matrix_rank(R.reshape(len(pairs), -1)) - d * (d + 1) // 2


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_random_frameworks_agree_with_the_rank_of_their_distances(d, seed):
    rng = np.random.default_rng(seed)
    n = 24
    X = rng.standard_normal((n, d))
    bodies = [rng.choice(n, d + 1 + rng.integers(2), replace=False) for _ in range(4)]
    bars = rng.permutation(all_pairs(n))[: rng.integers(10, 50)]
    assert free_motions_of(X, bodies, bars=bars).n_motions == dense_count(X, bodies, bars)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("seed", quick_first(range(4)))
def test_points_of_a_cluster_keep_their_distances_and_others_do_not(d, seed):
    rng = np.random.default_rng(seed)
    n = 14
    X = rng.standard_normal((n, d))
    bodies = [rng.choice(n, d + 1, replace=False) for _ in range(2)]
    bars = rng.permutation(all_pairs(n))[: 5 * d + 7]
    # One of them bends nearly freely: its smallest eigenvalue that is not zero is 4e-10.
    free = free_motions_of(X, bodies, bars=bars, tolerance=1e-12)
    assert free.n_motions > 0
    is_kept = np.zeros((n, n), dtype=bool)
    for i, j in combinations(range(n), 2):
        is_kept[i, j] = is_kept[j, i] = dense_count(X, bodies, [*bars, (i, j)]) == free.n_motions
    label = free.cluster_of_points
    assert is_kept[(label[:, None] == label) & ~np.eye(n, dtype=bool)].all()
    # The largest has all of its points: no other point is held to d or more of them.
    inside = label == 0
    assert inside.sum() >= d + 1
    assert is_kept[~inside][:, inside].sum(axis=1).max() < d


def test_clusters_of_a_chain_are_its_bodies():
    bodies = chain_of_bodies(4, 5, 2)
    free = free_motions_of(generic(14, 3), bodies)
    assert len(np.unique(free.cluster_of_bodies)) == 4
    assert np.bincount(free.cluster_of_points).tolist() == [5, 3, 3, 3]
    braced = free_motions_of(generic(14, 3), bodies, bars=[[0, 7]])
    assert braced.n_motions == 2
    assert braced.cluster_of_bodies.tolist()[:2] == [0, 0]
    assert (braced.cluster_of_points == 0).sum() == 8


def test_bananas_are_two_clusters_of_bars():
    points, bars = double_banana()
    clusters = free_motions_of(points, [], bars=bars).cluster_of_points
    assert len(np.unique(clusters)) == 2
    assert len(set(clusters[2:5])) == len(set(clusters[5:8])) == 1


def test_a_long_tower_of_bodies_that_share_faces_is_rigid():
    tower = chain_of_bodies(1500, 4, 3)
    points = np.column_stack([generic(1503, 2), 0.5 * np.arange(1503)])
    assert free_motions_of(points, tower).n_motions == 0
    # A hinge in the middle is found: all but one body on one side of it are left.
    parts = [*tower[:700], *tower[701:]]
    assert free_motions_of(points, parts).n_motions == 1


@pytest.mark.parametrize("d", [2, 3])
def test_a_body_alone_and_a_body_at_rest(d):
    X = generic(5, d)
    assert free_motions_of(X, [range(5)]).n_motions == 0
    assert free_motions_of(X, [range(5)], fixed=np.arange(5)).n_motions == 0
    assert free_motions_of(X[:1], []).n_motions == 0
