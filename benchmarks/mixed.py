"""Rigid pieces with bounds between them: blocks, translations and constraints in one program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from benchmarks.harness import Case
from isofold._typing import FloatArray, IntArray
from isofold.datasets import swiss_roll
from isofold.sdp import GramSDP, LowRankSDP, Status, square_constraints
from isofold.sdp.solvers.conic import ConicSDP

GAP = 1e-4
CONIC_SECONDS = 120.0
POINTS_PER_PIECE = 40
PULLS, N_HUBS = 6, 4
"""Points of every piece that are pulled away from points of so many pieces, the hubs. All pairs
would do the same, but make the cost a full matrix."""


class Pieces:
    """A rolled sheet cut into flat pieces, and how its points depend on their poses.

    Row i of `points` gives point i as a combination of the rows of Y: the two rows of the rotation
    of its piece, times its place in the piece, and the row of the piece's translation.
    """

    def __init__(self, n_pieces: int) -> None:
        n = POINTS_PER_PIECE * n_pieces
        roll = swiss_roll(n, width=21.0, uniform=True, random_state=0)
        # In units of the mean distance of points that their number and the sheet's area give.
        mesh = float(np.sqrt(np.prod(np.ptp(roll.truth, axis=0)) / n))
        X, flat = roll.X / mesh, roll.truth / mesh
        self.rng = np.random.default_rng(0)
        self.label = _cells(X, n_pieces, self.rng)
        self.X, self.flat, self.n_pieces = X, flat, n_pieces
        rows, columns, data = [], [], []
        for piece in range(n_pieces):
            members = np.flatnonzero(self.label == piece)
            turn = np.linalg.qr(self.rng.standard_normal((2, 2)))[0]
            offsets = (flat[members] - flat[members].mean(axis=0)) @ turn
            local = np.column_stack([offsets, np.ones(len(members))])
            rows.append(np.repeat(members, 3))
            columns.append(np.tile(3 * piece + np.arange(3), len(members)))
            data.append(local.ravel())
        places = (np.concatenate(rows), np.concatenate(columns))
        self.points = sp.csr_array((np.concatenate(data), places), shape=(n, 3 * n_pieces))
        self.blocks = np.column_stack([3 * np.arange(n_pieces), np.full(n_pieces, 2)])

    def near_pairs(self, per_neighbor: int) -> IntArray:
        """Return the nearest pairs of points of every two pieces that touch."""
        distance, index = cKDTree(self.X).query(self.X, k=9)
        first = np.repeat(np.arange(len(self.X)), 8)
        second, length = index[:, 1:].ravel(), distance[:, 1:].ravel()
        # Pairs that join two turns of the roll are left out.
        true = np.linalg.norm(self.flat[first] - self.flat[second], axis=1)
        across = (self.label[first] < self.label[second]) & (true < 1.5 * length)
        first, second, length = first[across], second[across], length[across]
        key = self.label[first].astype(np.int64) * self.n_pieces + self.label[second]
        order = np.lexsort((length, key))
        place = np.arange(len(order)) - np.searchsorted(key[order], key[order])
        chosen = order[place < per_neighbor]
        return np.column_stack([first[chosen], second[chosen]])

    def differences(self, pairs: IntArray) -> tuple[sp.csr_array, FloatArray]:
        """Return the factors of pairs of points and their squared distances on the flat sheet."""
        factors = sp.csr_array(self.points[pairs[:, 0]] - self.points[pairs[:, 1]])
        return factors, np.sum((self.flat[pairs[:, 0]] - self.flat[pairs[:, 1]]) ** 2, axis=1)


def _cells(X: FloatArray, n_pieces: int, rng: np.random.Generator) -> IntArray:
    """Return the labels of a few rounds of Lloyd's method."""
    centers = X[rng.choice(len(X), n_pieces, replace=False)]
    for _ in range(10):
        label = cKDTree(centers).query(X)[1]
        count = np.bincount(label, minlength=n_pieces)
        for axis in range(X.shape[1]):
            total = np.bincount(label, X[:, axis], minlength=n_pieces)
            centers[:, axis] = np.where(count > 0, total / np.maximum(count, 1), centers[:, axis])
    return np.asarray(cKDTree(centers).query(X)[1])


def unrolling(n_pieces: int, *, two_sided: bool, slack: float = 0.1) -> GramSDP:
    """Return the pull on far pairs with near pairs at most, or almost exactly, where they were.

    Parameters
    ----------
    n_pieces : int
        The number of pieces; the program has three rows for each.
    two_sided : bool
        Whether near pairs may not come closer either.
    slack : float, default=0.1
        How far the squared distances of near pairs may change, relative to them.
    """
    pieces = Pieces(n_pieces)
    near, squared = pieces.differences(pieces.near_pairs(2))
    hubs = pieces.rng.choice(n_pieces, N_HUBS, replace=False)
    at_hubs = np.flatnonzero(np.isin(pieces.label, hubs))
    first = pieces.rng.choice(len(pieces.X), PULLS * n_pieces)
    far = np.column_stack([first, pieces.rng.choice(at_hubs, len(first))])
    far = far[pieces.label[far[:, 0]] != pieces.label[far[:, 1]]]
    pull, weight = pieces.differences(far)
    cost = sp.csr_array(pull.T @ (sp.diags_array(1.0 / weight) @ pull))
    lower = (1.0 - slack) * squared if two_sided else None
    constraints = square_constraints(near, lower=lower, upper=(1.0 + slack) * squared)
    return GramSDP(3 * n_pieces, cost, maximize=True, constraints=constraints, blocks=pieces.blocks)


def joining(n_pieces: int) -> GramSDP:
    """Return the least squares of near pairs, of which the nearest keep their distance."""
    pieces = Pieces(n_pieces)
    near, _ = pieces.differences(pieces.near_pairs(6))
    held, squared = pieces.differences(pieces.near_pairs(1))
    constraints = square_constraints(held, lower=squared, upper=squared)
    cost = sp.csr_array(near.T @ near)
    return GramSDP(3 * n_pieces, cost, constraints=constraints, blocks=pieces.blocks)


def _figures(solution: Any) -> dict[str, float]:
    return {
        "objective": solution.primal,
        "gap": solution.gap,
        "violation": solution.max_violation,
        "certified": float(solution.status is Status.CERTIFIED),
        "rank": float(solution.rank),
    }


def _isofold(problem: GramSDP) -> dict[str, float]:
    return _figures(LowRankSDP(tol=GAP, random_state=0).solve(problem))


def _clarabel(problem: GramSDP) -> dict[str, float]:
    return _figures(ConicSDP(tol=GAP, max_seconds=CONIC_SECONDS).solve(problem))


def _cases(task: str, prepare: Callable[[int], GramSDP]) -> list[Case]:
    cases = [
        Case(f"{task}, {3 * c:,} rows", "isofold", partial(prepare, c), _isofold) for c in (20, 100)
    ]
    large = Case(f"{task}, 2,001 rows", "isofold", partial(prepare, 667), _isofold, is_slow=True)
    return [Case(f"{task}, 60 rows", "Clarabel", lambda: prepare(20), _clarabel), *cases, large]


CASES = [
    *_cases("unrolling, near pairs at most", lambda c: unrolling(c, two_sided=False)),
    *_cases("unrolling, near pairs within 10 %", lambda c: unrolling(c, two_sided=True)),
    *_cases("joining, nearest pairs exactly", joining),
]
