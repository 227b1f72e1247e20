"""Random semidefinite programs of every family, each with a point that is known to be feasible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold.sdp import Constraints, GramSDP, square_constraints
from support.sdp_problems import random_patches, rotation_blocks, squared_lengths


@dataclass(frozen=True, eq=False)
class Instance:
    """A program and a feasible point: its value is no better than the optimum."""

    problem: GramSDP
    feasible: np.ndarray


def neighbor_pairs(points, k):
    """Return the pairs of k nearest neighbors and a path through all points: a connected graph."""
    nearest = np.argsort(cdist(points, points), axis=1)[:, 1 : k + 1]
    pairs = {(i, i + 1) for i in range(len(points) - 1)}
    pairs |= {tuple(sorted((i, int(j)))) for i, row in enumerate(nearest) for j in row}
    return np.array(sorted(pairs))


def sparse_pairs(rng, n, n_extra):
    """Return the pairs of a random tree and a few more."""
    pairs = {(int(rng.integers(i)), i) for i in range(1, n)}
    for _ in range(n_extra):
        i, j = sorted(int(k) for k in rng.choice(n, 2, replace=False))
        pairs.add((i, j))
    return np.array(sorted(pairs))


def rolled_sheet(rng, n):
    """Return points of a curved sheet in space, shuffled along its length."""
    length, width = 3 * rng.random(n), rng.random(n)
    return np.column_stack([np.cos(length), np.sin(length), width])


def centered(points):
    return points - points.mean(axis=0)


def strings(rng, n):
    """Distances of neighbors may shrink but not grow."""
    points = rolled_sheet(rng, n)
    pairs = neighbor_pairs(points, 3)
    problem = GramSDP.unfolding(n, pairs, squared_lengths(points, pairs), kind="at_most")
    return Instance(problem, centered(points))


def soft(rng, n):
    """Distances of neighbors cost the square of their change."""
    points = rolled_sheet(rng, n)
    pairs = neighbor_pairs(points, 3)
    penalty = 4.0 ** rng.integers(1, 4) * n * rng.uniform(0.5, 2.0, len(pairs))
    problem = GramSDP.unfolding(n, pairs, squared_lengths(points, pairs), penalty=penalty)
    return Instance(problem, centered(points))


def equality(rng, n):
    """Distances are kept on a sparse graph; points in n − 1 dimensions are strictly feasible."""
    points = rng.standard_normal((n, n - 1)) / np.sqrt(n)
    pairs = sparse_pairs(rng, n, n // 4)
    problem = GramSDP.unfolding(n, pairs, squared_lengths(points, pairs))
    return Instance(problem, centered(points))


def stitching(rng, n):
    """About n patches of the plane in a ring, seen with noise; translations are free rows."""
    c, r = max(3, n), 2
    matrix = random_patches(rng, c, r, noise=0.3 * rng.random() + 0.05)
    start = np.vstack([np.tile(np.eye(r), (c, 1)), np.zeros((c, r))])
    return Instance(GramSDP.stitching(matrix, rotation_blocks(c, r)), start)


def mixed(rng, n):
    """Directions and frames of two sizes, free rows, and bounds on sums of squares of them."""
    sizes = rng.integers(1, 3, max(2, n // 3))
    first = np.concatenate([[0], np.cumsum(sizes)])
    n_free = 2
    rows = int(first[-1]) + n_free
    width = 4
    Y = rng.standard_normal((rows, width))
    for begin, size in zip(first[:-1], sizes, strict=True):
        Y[begin : begin + size] = np.linalg.qr(Y[begin : begin + size].T)[0].T
    factors = np.vstack([rng.standard_normal((3, rows)), np.eye(rows)[-n_free:]])
    values = np.sum((factors @ Y) ** 2, axis=1)
    lower = np.array([values[0], -np.inf, 0.5 * values[2], *([-np.inf] * n_free)])
    upper = np.array([values[0], 1.2 * values[1], 1.5 * values[2], *(1.5 * values[3:])])
    cost = rng.standard_normal((rows, rows))
    problem = GramSDP(
        rows,
        (cost + cost.T) / 2,
        constraints=square_constraints(factors, lower=lower, upper=upper),
        blocks=np.column_stack([first[:-1], sizes]),
    )
    return Instance(problem, Y)


def factors(rng, n):
    """Sums of squares of dense factors in a basis: equalities and intervals, all bounded above."""
    k = max(2, n // 2)
    basis = np.linalg.qr(rng.standard_normal((n, k)))[0]
    points = basis @ rng.standard_normal((k, k)) / np.sqrt(k)
    rows = rng.standard_normal((k + 3, n)) / np.sqrt(n)
    values = np.sum((rows @ points) ** 2, axis=1)
    slack = np.where(rng.random(len(values)) < 0.5, 0.0, 0.5)
    cost = rng.standard_normal((n, n))
    problem = GramSDP(
        n,
        cost @ cost.T / n,
        maximize=True,
        constraints=square_constraints(
            rows, lower=(1 - slack) * values, upper=(1 + slack) * values
        ),
        basis=basis,
    )
    return Instance(problem, points)


def apart(rng, n):
    """The least spread of points whose distances have lower bounds."""
    points = rng.standard_normal((n, 3))
    pairs = neighbor_pairs(points, 3)
    lower = squared_lengths(points, pairs) * rng.uniform(0.5, 1.0, len(pairs))
    problem = GramSDP(
        n,
        sp.eye_array(n, format="csr"),
        constraints=Constraints.on_pairs(n, pairs, lower=lower),
        centered=True,
    )
    return Instance(problem, centered(points))


FAMILIES = {
    "stitching": stitching,
    "strings": strings,
    "soft": soft,
    "equality": equality,
    "mixed": mixed,
    "factors": factors,
    "apart": apart,
}
