"""Small frameworks: bars, bodies, anchors, and how many motions they are free to make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from isofold.structure import RigidGroup, StructureProblem


@dataclass(frozen=True, eq=False)
class Framework:
    """A problem whose distances are those of known coordinates."""

    name: str
    problem: StructureProblem
    coordinates: np.ndarray
    n_motions: int

    @property
    def n_components(self):
        return self.coordinates.shape[1]


def framework(name, X, n_motions, *, bars=(), bodies=(), anchors=(), hands=True):
    X = np.asarray(X, dtype=float)
    groups = [RigidGroup.of(list(body), X[list(body)], has_hand=hands) for body in bodies]
    problem = StructureProblem(len(X)).with_groups(groups)
    pairs = np.array(list(bars))
    if len(pairs):
        problem = problem.with_distances(
            pairs, np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
        )
    if len(anchors):
        problem = problem.with_anchors(list(anchors), X[list(anchors)])
    return Framework(name, problem, X, n_motions)


def scattered(n, d, seed=0):
    """Points in general position, about one apart."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(n, d)) * n ** (1.0 / d) * 0.7


def rigid_frameworks():
    """Frameworks that have one realization, up to motions and mirror images."""
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    cube = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
    octahedron = np.vstack([np.eye(3), -np.eye(3)]) + 0.05 * scattered(6, 3)
    hexagon = [[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]
    ring = [(k, (k + 1) % 6) for k in range(6)]
    plane, space = scattered(12, 2, 1), scattered(12, 3, 2)
    return [
        framework("triangle", [[0, 0], [3, 0], [0, 4]], 0, bars=[(0, 1), (1, 2), (0, 2)]),
        framework("square with both diagonals", square, 0, bars=combinations(range(4), 2)),
        framework("tetrahedron", scattered(4, 3, 3), 0, bars=combinations(range(4), 2)),
        framework("wheel", [*hexagon, [0, 0.2]], 0, bars=[*ring, *((k, 6) for k in range(6))]),
        framework("all pairs in the plane", plane, 0, bars=combinations(range(12), 2)),
        framework("all pairs in space", space, 0, bars=combinations(range(12), 2)),
        framework("near pairs in the plane", plane, 0, bars=near_pairs(plane, 8)),
        framework("near pairs in space", space, 0, bars=near_pairs(space, 9)),
        framework("cube with all diagonals", cube, 0, bars=combinations(range(8), 2)),
        framework(
            "octahedron with two axes",
            octahedron,
            0,
            bars=[p for p in combinations(range(6), 2) if p != (0, 3)],
        ),
        framework(
            "two bodies by a face", scattered(5, 3, 4), 0, bodies=[(0, 1, 2, 3), (1, 2, 3, 4)]
        ),
        framework("two plates by an edge", scattered(4, 2, 5), 0, bodies=[(0, 1, 2), (1, 2, 3)]),
        framework(
            "a hinge with a bar",
            scattered(6, 3, 6),
            0,
            bodies=[(0, 1, 2, 3), (2, 3, 4, 5)],
            bars=[(0, 4), (1, 5)],
        ),
        framework(
            "three bodies in a ring with bars",
            scattered(9, 3, 7),
            0,
            bodies=[(0, 1, 2, 3), (3, 4, 5, 6), (6, 7, 8, 0)],
            bars=[(1, 4), (2, 5), (4, 7), (5, 8), (7, 1), (8, 2)],
        ),
        framework("anchored", plane, 0, bars=near_pairs(plane, 6), anchors=(0, 1, 2)),
    ]


def flexible_frameworks():
    """Frameworks with motions of their own."""
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    tilted = [[0, 0, 0], [1, 0, 0.1], [1, 1, 0.3], [0, 1, -0.2]]
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    cube = np.array(list(np.ndindex(2, 2, 2)), dtype=float) + 0.1 * scattered(8, 3, 1)
    edges = [p for p in combinations(range(8), 2) if bin(p[0] ^ p[1]).count("1") == 1]
    chain = scattered(12, 3, 8)
    polygon = [[np.cos(a), np.sin(a)] for a in np.arange(7) * 2 * np.pi / 7]
    grid = np.array(list(np.ndindex(3, 3)), dtype=float) + 0.05 * scattered(9, 2, 9)
    lattice = [
        p
        for p in combinations(range(9), 2)
        if abs(p[0] // 3 - p[1] // 3) + abs(p[0] % 3 - p[1] % 3) == 1
    ]
    # Two bipyramids with common tips, no bar between the tips.
    around = np.array([[np.cos(a), np.sin(a), 0] for a in np.arange(3) * 2 * np.pi / 3])
    tips = [[0, 0, 1.5], [0, 0, -1.5]]
    banana = np.vstack([tips, around + np.array([2, 0, 0.1]), 0.9 * around - np.array([2, 0.2, 0])])
    double = [
        p
        for part in ((0, 1, 2, 3, 4), (0, 1, 5, 6, 7))
        for p in combinations(part, 2)
        if p != (0, 1)
    ]
    return [
        framework("four bars in the plane", square, 1, bars=ring),
        framework("four bars in space", tilted, 2, bars=ring),
        framework("two bars", [[0, 0], [1, 0], [2, 1]], 1, bars=[(0, 1), (1, 2)]),
        framework("two bars in space", [[0, 0, 0], [1, 0, 0], [2, 1, 0]], 1, bars=[(0, 1), (1, 2)]),
        framework("seven bars in a ring", polygon, 4, bars=[(k, (k + 1) % 7) for k in range(7)]),
        framework("cube of bars", cube, 6, bars=edges),
        framework("grid of squares", grid, 3, bars=lattice),
        framework("double banana", banana, 1, bars=double),
        framework("a hinge", chain[:6], 1, bodies=[(0, 1, 2, 3), (2, 3, 4, 5)]),
        framework("a ball joint", chain[:7], 3, bodies=[(0, 1, 2, 3), (3, 4, 5, 6)]),
        framework(
            "three hinges",
            chain[:10],
            3,
            bodies=[(0, 1, 2, 3), (2, 3, 4, 5), (4, 5, 6, 7), (6, 7, 8, 9)],
        ),
        framework(
            "three ball joints",
            scattered(13, 3, 11),
            9,
            bodies=[(0, 1, 2, 3), (3, 4, 5, 6), (6, 7, 8, 9), (9, 10, 11, 12)],
        ),
        framework(
            "seven hinged bodies in a ring",
            scattered(14, 3, 12),
            1,
            bodies=[tuple((2 * k + j) % 14 for j in range(4)) for k in range(7)],
        ),
        framework(
            "eight hinged bodies in a ring",
            scattered(16, 3, 13),
            2,
            bodies=[tuple((2 * k + j) % 16 for j in range(4)) for k in range(8)],
        ),
        framework("two plates by a pin", scattered(5, 2, 14), 1, bodies=[(0, 1, 2), (2, 3, 4)]),
        framework(
            "three plates by pins", scattered(7, 2, 15), 2, bodies=[(0, 1, 2), (2, 3, 4), (4, 5, 6)]
        ),
        framework(
            "four plates in a ring",
            scattered(8, 2, 16),
            1,
            bodies=[(0, 1, 2), (2, 3, 4), (4, 5, 6), (6, 7, 0)],
        ),
        framework("a plate and a bar", scattered(4, 2, 17), 1, bodies=[(0, 1, 2)], bars=[(2, 3)]),
        framework("a body and a bar", scattered(5, 3, 18), 2, bodies=[(0, 1, 2, 3)], bars=[(3, 4)]),
        framework("a pendulum", [[0, 0], [1, 0.3]], 0, bars=[(0, 1)], anchors=(0,)),
        framework(
            "a crank on the ground",
            [[0, 0], [1, 1], [3, 1.2], [4, 0]],
            1,
            bars=[(0, 1), (1, 2), (2, 3)],
            anchors=(0, 3),
        ),
        framework(
            "a body on two anchors",
            scattered(5, 3, 19),
            0,
            bodies=[(0, 1, 2, 3, 4)],
            anchors=(0, 1),
        ),
        framework(
            "a door with a stop",
            scattered(6, 3, 20),
            0,
            bodies=[(0, 1, 2, 3), (2, 3, 4, 5)],
            bars=[(0, 5)],
        ),
    ]


def near_pairs(X, k):
    """Pairs of each point and its k nearest."""
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(apart, axis=1)[:, 1 : k + 1]
    return sorted({(min(i, j), max(i, j)) for i in range(len(X)) for j in near[i].tolist()})
