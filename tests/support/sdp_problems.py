"""Semidefinite programs over Gram matrices whose optimum is known in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isofold.sdp import Constraints, GramSDP, square_constraints


@dataclass(frozen=True, eq=False)
class KnownProblem:
    """A program with its optimal value and, where they are unique, its solutions.

    `is_strict` says whether some feasible Gram matrix is positive definite (off the gauge): then
    the dual has a solution and a solver must find it.
    """

    name: str
    problem: GramSDP
    value: float
    gram: np.ndarray | None = None
    multipliers: np.ndarray | None = None
    block_multipliers: np.ndarray | None = None
    is_strict: bool = True

    def __repr__(self):
        return self.name


def path_edges(n):
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


def cycle_edges(n):
    return np.column_stack([np.arange(n), (np.arange(n) + 1) % n])


def complete_edges(n):
    return np.column_stack(np.triu_indices(n, 1))


def squared_lengths(points, edges):
    return np.sum((points[edges[:, 0]] - points[edges[:, 1]]) ** 2, axis=1)


def centered_gram(points):
    points = points - points.mean(axis=0)
    return points @ points.T


def path(n, kind="equal"):
    """Unit steps unfold into a line, variance n(n² − 1)/12.

    Stationarity at every point i of the line, w_i (y_i − y_{i−1}) − w_{i+1}(y_{i+1} − y_i) = y_i,
    gives w_i = i(n − i)/2 for the i-th step.
    """
    steps = np.arange(1, n)
    return KnownProblem(
        f"path of {n}, {kind}",
        GramSDP.unfolding(n, path_edges(n), np.ones(n - 1), kind=kind),
        value=n * (n * n - 1) / 12,
        gram=centered_gram(np.arange(n, dtype=float)[:, None]),
        multipliers=steps * (n - steps) / 2,
    )


def soft_path_of_three(penalty):
    """By symmetry both multipliers are w with λ₂ = w = 1: value 2(1 + 1/(2ν)), steps² 1 + 1/ν."""
    step = np.sqrt(1 + 1 / penalty)
    return KnownProblem(
        f"path of 3, soft {penalty:g}",
        GramSDP.unfolding(3, path_edges(3), np.ones(2), penalty=penalty),
        value=2 * (1 + 1 / (2 * penalty)),
        gram=centered_gram(step * np.arange(3.0)[:, None]),
        multipliers=np.ones(2),
    )


def cycle(n, kind="equal", penalty=None):
    """Unit steps unfold into the regular polygon; w = 1/λ₂ of the cycle, by symmetry.

    Soft: the dual value is n(w + w²/(2ν)) and the squared side becomes 1 + w/ν.
    """
    weight = 1 / (2 - 2 * np.cos(2 * np.pi / n))
    excess = 0.0 if penalty is None else weight / penalty
    radius = np.sqrt((1 + excess) * weight)
    angle = 2 * np.pi * np.arange(n) / n
    name = kind if penalty is None else f"soft {penalty:g}"
    return KnownProblem(
        f"cycle of {n}, {name}",
        GramSDP.unfolding(n, cycle_edges(n), np.ones(n), kind=kind, penalty=penalty),
        value=n * weight * (1 + excess / 2),
        gram=radius**2 * np.cos(angle[:, None] - angle[None, :]),
        multipliers=np.full(n, weight),
    )


def two_triangles(kind="equal", penalty=None):
    """They open flat about the shared edge, which carries no force; the others carry ½ each.

    Soft: the four outer edges grow to squared length 1 + 1/(2ν) and the value to 2 + 1/(2ν).
    At most: the shared edge may as well be shorter, so that the Gram matrix is not unique.
    """
    edges = np.array([[1, 2], [0, 1], [0, 2], [1, 3], [2, 3]])
    excess = 0.0 if penalty is None else 1 / (2 * penalty)
    reach = np.sqrt(0.75 + excess)
    points = np.array([[reach, 0], [0, 0.5], [0, -0.5], [-reach, 0]])
    name = kind if penalty is None else f"soft {penalty:g}"
    return KnownProblem(
        f"two triangles, {name}",
        GramSDP.unfolding(4, edges, np.ones(5), kind=kind, penalty=penalty),
        value=2 + excess,
        gram=None if kind == "at_most" else centered_gram(points),
        multipliers=np.array([0, 0.5, 0.5, 0.5, 0.5]),
    )


def flat_grid(rows, columns):
    """A grid braced by both diagonals is rigid: every square pins its rank, none is strict."""
    points = np.array([[i, j] for i in range(rows) for j in range(columns)], dtype=float)
    edges = complete_edges(len(points))
    edges = edges[squared_lengths(points, edges) < 2.5]
    gram = centered_gram(points)
    problem = GramSDP.unfolding(len(points), edges, squared_lengths(points, edges))
    return KnownProblem(
        f"flat grid {rows} x {columns}", problem, float(np.trace(gram)), gram, is_strict=False
    )


def complete_graph(n, dimension, kind="equal"):
    """All distances are known: classical scaling. The weights 1/n make the slack vanish.

    They are the only multipliers if the points span n − 1 dimensions.
    """
    points = np.random.default_rng(n).standard_normal((n, dimension))
    edges = complete_edges(n)
    gram = centered_gram(points)
    full = dimension >= n - 1
    return KnownProblem(
        f"complete graph of {n} in {dimension} dimensions, {kind}",
        GramSDP.unfolding(n, edges, squared_lengths(points, edges), kind=kind),
        value=float(np.trace(gram)),
        gram=gram,
        multipliers=np.full(len(edges), 1 / n) if full else None,
        is_strict=full or kind == "at_most",
    )


def at_least_one_apart(n):
    """The least spread of n points at least 1 apart is that of the regular simplex, (n − 1)/2."""
    edges = complete_edges(n)
    return KnownProblem(
        f"{n} points at least 1 apart",
        GramSDP(
            n,
            sp.eye_array(n, format="csr"),
            constraints=Constraints.on_pairs(n, edges, lower=np.ones(len(edges))),
            centered=True,
        ),
        value=(n - 1) / 2,
        gram=(np.eye(n) - 1 / n) / 2,
        multipliers=np.full(len(edges), -1 / n),
    )


def interval(maximize):
    """Two points with squared distance in [1, 4]: half of a bound, at one end or the other."""
    end = 4.0 if maximize else 1.0
    return KnownProblem(
        f"interval, {'largest' if maximize else 'least'}",
        GramSDP(
            2,
            sp.eye_array(2, format="csr"),
            maximize=maximize,
            constraints=Constraints.on_pairs(2, [[0, 1]], lower=1.0, upper=4.0),
            centered=True,
        ),
        value=end / 2,
        gram=end / 4 * np.array([[1.0, -1.0], [-1.0, 1.0]]),
        multipliers=np.array([0.5 if maximize else -0.5]),
    )


def soft_lower_bound(penalty):
    """Minimize s/2 + (ν/2)(1 − s)₊² over the squared distance s: s = 1 − 1/(2ν)."""
    squared = 1 - 1 / (2 * penalty)
    return KnownProblem(
        f"soft lower bound {penalty:g}",
        GramSDP(
            2,
            sp.eye_array(2, format="csr"),
            constraints=Constraints.on_pairs(2, [[0, 1]], lower=1.0, penalty=penalty),
            centered=True,
        ),
        value=0.5 - 1 / (8 * penalty),
        gram=squared / 4 * np.array([[1.0, -1.0], [-1.0, 1.0]]),
        multipliers=np.array([-0.5]),
    )


def stitching_matrix(patches, overlaps, r):
    """Return Σ ‖x_i O_i + t_i − x_j O_j − t_j‖² over shared points as a joint matrix.

    Rows r·i … r·i + r − 1 are the rotation of patch i, row r·c + i its translation.
    `patches[i]` maps a point to its coordinates in patch i; `overlaps` lists (i, j, points).
    """
    c = len(patches)
    rows = []
    for i, j, shared in overlaps:
        for point in shared:
            row = np.zeros((r + 1) * c)
            row[r * i : r * i + r] = patches[i][point]
            row[r * j : r * j + r] = -np.asarray(patches[j][point])
            row[r * c + i], row[r * c + j] = 1.0, -1.0
            rows.append(row)
    residuals = np.array(rows)
    return sp.csr_array(residuals.T @ residuals)


def rotation_blocks(c, r):
    return np.column_stack([r * np.arange(c), np.full(c, r)])


def random_patches(rng, c, r, noise):
    """Return a joint matrix of patches along a ring with chords, seen in frames of their own."""
    overlaps, patches = [], [{} for _ in range(c)]
    links = {(i, (i + 1) % c) for i in range(c)} | {(i, (i + 2) % c) for i in range(0, c, 2)}
    links = sorted({tuple(sorted(link)) for link in links if link[0] != link[1]})
    frames = [np.linalg.qr(rng.standard_normal((r, r)))[0] for _ in range(c)]
    origins = rng.standard_normal((c, r))
    for number, (i, j) in enumerate(links):
        shared = [(number, k) for k in range(r + 2)]
        for point in shared:
            place = rng.standard_normal(r)
            for patch in (i, j):
                seen = (place - origins[patch]) @ frames[patch]
                patches[patch][point] = seen + noise * rng.standard_normal(r)
        overlaps.append((i, j, shared))
    return stitching_matrix(patches, overlaps, r)


def consistent_patches(c, r):
    """Patches that agree exactly: the optimum is zero, the matrix itself the slack."""
    matrix = random_patches(np.random.default_rng(c + r), c, r, noise=0.0)
    problem = GramSDP.stitching(matrix, rotation_blocks(c, r))
    return KnownProblem(
        f"{c} consistent patches, r = {r}",
        problem,
        value=0.0,
        block_multipliers=np.zeros((problem.n_points, problem.n_points)),
    )


def procrustes_of_two(sizes):
    """Two rotations with target M: min −2⟨M, O₁O₂ᵀ⟩ = −2 Σ σ(M) (nuclear norm), also if r₁ ≠ r₂.

    With M = UΣVᵀ the multipliers are Λ = −diag(UΣUᵀ, VΣVᵀ).
    """
    first, second = sizes
    target = np.random.default_rng(first + 10 * second).standard_normal(sizes)
    left, singular, right = np.linalg.svd(target, full_matrices=False)
    n = first + second
    cost = np.zeros((n, n))
    cost[:first, first:], cost[first:, :first] = -target, -target.T
    multipliers = np.zeros((n, n))
    multipliers[:first, :first] = -(left * singular) @ left.T
    multipliers[first:, first:] = -(right.T * singular) @ right
    return KnownProblem(
        f"Procrustes {first} and {second}",
        GramSDP.stitching(sp.csr_array(cost), [[0, first], [first, second]]),
        value=-2 * float(singular.sum()),
        block_multipliers=multipliers,
    )


def frustrated_triangle():
    """Three signs that should all differ: the relaxation takes three directions at 120°, −3."""
    return KnownProblem(
        "frustrated triangle",
        GramSDP.stitching(sp.csr_array(np.ones((3, 3)) - np.eye(3)), rotation_blocks(3, 1)),
        value=-3.0,
        gram=1.5 * np.eye(3) - 0.5,
        block_multipliers=-np.eye(3),
    )


def bounded_triangle():
    """The frustrated triangle with ‖y₀ − y₁‖² ≤ 1: 60° between them, y₂ opposite, 1 − 2√3.

    From Sy = 0 row by row: w = 1 − 1/√3, Λ = diag(1 − 2/√3, 1 − 2/√3, −√3).
    """
    root = np.sqrt(3.0)
    points = np.array([[root / 2, 0.5], [root / 2, -0.5], [-1.0, 0.0]])
    return KnownProblem(
        "triangle with a string",
        GramSDP(
            3,
            sp.csr_array(np.ones((3, 3)) - np.eye(3)),
            constraints=Constraints.on_pairs(3, [[0, 1]], upper=1.0),
            blocks=rotation_blocks(3, 1),
        ),
        value=1 - 2 * root,
        gram=points @ points.T,
        multipliers=np.array([1 - 1 / root]),
        block_multipliers=np.diag([1 - 2 / root, 1 - 2 / root, -root]),
    )


def free_row():
    """A unit vector y and a free z with ‖z‖² ≤ 4: min −2⟨y, z⟩ = −4, w = ½, λ = −2."""
    return KnownProblem(
        "a direction and a free row",
        GramSDP(
            2,
            sp.csr_array(np.array([[0.0, -1.0], [-1.0, 0.0]])),
            constraints=square_constraints(sp.csr_array(np.array([[0.0, 1.0]])), upper=4.0),
            blocks=[[0, 1]],
        ),
        value=-4.0,
        gram=np.array([[1.0, 2.0], [2.0, 4.0]]),
        multipliers=np.array([0.5]),
        block_multipliers=np.diag([-2.0, 0.0]),
    )


def dense_factors_in_a_basis():
    """Two dense factors in a basis of two vectors, ‖f_kᵀY‖² = b_k, as in EAT with landmarks.

    Max Σ c_k b_k + 2γ⟨f₁ᵀY, f₂ᵀY⟩ is reached where the images are parallel, at
    c₁b₁ + c₂b₂ + 2γ√(b₁b₂), with w₁ = c₁ + γ√(b₂/b₁) and w₂ = c₂ + γ√(b₁/b₂).
    """
    rng = np.random.default_rng(5)
    factors, basis = rng.standard_normal((2, 6)), rng.standard_normal((6, 2))
    c, b, gamma = np.array([0.5, 2.0]), np.array([1.0, 3.0]), 0.7
    inner = np.diag(c) + gamma * (np.ones((2, 2)) - np.eye(2))
    image = np.linalg.solve(factors @ basis, np.sqrt(b)[:, None])
    ratio = np.sqrt(b[::-1] / b)
    return KnownProblem(
        "dense factors in a basis",
        GramSDP(
            6,
            factors.T @ inner @ factors,
            maximize=True,
            constraints=square_constraints(factors, lower=b, upper=b),
            basis=basis,
        ),
        value=float(c @ b + 2 * gamma * np.sqrt(b[0] * b[1])),
        gram=basis @ image @ image.T @ basis.T,
        multipliers=c + gamma * ratio,
    )


def known_problems():
    """Return the whole zoo."""
    return [
        path(2),
        path(9),
        path(9, "at_most"),
        soft_path_of_three(4.0),
        cycle(5),
        cycle(8, "at_most"),
        cycle(7, penalty=4.0),
        two_triangles(),
        two_triangles("at_most"),
        two_triangles(penalty=8.0),
        complete_graph(6, 5),
        complete_graph(6, 5, "at_most"),
        complete_graph(7, 2),
        complete_graph(7, 2, "at_most"),
        flat_grid(3, 4),
        at_least_one_apart(2),
        at_least_one_apart(4),
        interval(maximize=True),
        interval(maximize=False),
        soft_lower_bound(3.0),
        consistent_patches(5, 2),
        consistent_patches(4, 3),
        procrustes_of_two((2, 2)),
        procrustes_of_two((1, 3)),
        frustrated_triangle(),
        bounded_triangle(),
        free_row(),
        dense_factors_in_a_basis(),
    ]
