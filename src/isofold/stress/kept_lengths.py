"""Lengths on a map of neighbors: most are made true, and those that cannot be are given up.

    minimize  Σ_i [ Σ_{j in N_X(i)} w (|y_ij| - d_ij)²
                    + Σ_{j in N_Y(i)} a max(0, t_ij - |y_ij|)² ]

    w = (1 - a) [(1 - h)/(1 + e²)² + h/√(1 + e²)],   e = (|y_ij| - d_ij) / (τ d_ij)
    t = min(d_ij, 1.5 max(reach_i, reach_j))

over data neighbors N_X and over strangers N_Y, which are near on the map only. The first part of
the weight is Geman and McClure's. It redescends: a length that the map cannot have is left alone
and does not pull others with it. The second part keeps torn neighbors from drifting farther apart.
Strangers are pushed out of a neighborhood, and no farther.

All points move at once, each toward the weighted mean of where the others want it (a step of
majorization for given weights), with momentum: a point that is pulled back starts anew, and none
moves farther in a sweep than a part of its neighborhood. Strangers change as points move, so this
is a fixed-point iteration rather than the descent of one function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from isofold._memory import block_rows
from isofold._parallel import RowTeam
from isofold._progress.stages import interrupted, interruptible, stage
from isofold._typing import FloatArray, IntArray
from isofold.stress._relax import relax, stranger_lengths
from isofold.stress.near_lists import SparseRows

__all__ = ["LengthRules", "LengthsToKeep", "keep_lengths", "nearest_on_map"]


@dataclass(frozen=True)
class LengthRules:
    """How lengths are kept.

    Attributes
    ----------
    strangers : float
        The weight a that keeps strangers out, at first.
    least, most : float
        Between these it changes with the neighbors that the map keeps.
    share : float
        Of the data neighbors that were neighbors on the map at the start, the share that is to be
        kept.
    tolerance : float
        The relative error τ at which the weight of a length has fallen to a quarter.
    hold : float
        The fraction h of the weight that holds on to torn neighbors.
    cap, n_strangers : float and int
        How far strangers are pushed out, in units of the reach, and how many are looked at.
    room : float
        How far a crowded map is widened at the start, from 0 (not at all) to 1 (until strangers
        have room).
    far : float
        Lengths beyond so many reaches are damped: those to outliers would tear the map.
    n_sweeps, refreshed : int
        Number of sweeps, and after how many strangers are looked for again.
    step, momentum, n_ramp : float, float and int
        Part of the way that a point goes, fraction of its velocity that it keeps, and sweeps until
        that is reached.
    stride : float
        Largest step, in units of the reach.
    """

    strangers: float = 0.3
    least: float = 0.18
    most: float = 0.6
    share: float = 1.0
    tolerance: float = 0.5
    hold: float = 0.06
    cap: float = 1.5
    n_strangers: int = 20
    room: float = 1.0
    far: float = 6.0
    n_sweeps: int = 200
    refreshed: int = 5
    step: float = 0.5
    momentum: float = 0.9
    n_ramp: int = 20
    stride: float = 0.25

    @classmethod
    def balanced(cls, balance: float, n_points: int) -> LengthRules:
        """Return the rules of a balance from 0 (neighbors) to 1 (lengths), for so many points."""
        lengths = max(0.0, 2.0 * balance - 1.0)
        n_sweeps = 200 if n_points <= MOST_SWEPT else 60
        return cls(
            least=LEAST + lengths * (LEAST_OF_ALL - LEAST),
            share=1.0 - lengths,
            room=1.0 - lengths,
            # Fewer sweeps leave the map nearer to where neighbors put it.
            n_sweeps=round(n_sweeps * min(1.0, 2.0 * balance) ** 2),
        )

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """What the kernels need to know of a pair."""
        return self.strangers, self.tolerance, self.hold, self.far


MOST_SWEPT = 10_000
"""Points up to which sweeps take no time to speak of; twice as many gain a little."""

LEAST, LEAST_OF_ALL = 0.18, 0.05
"""The least weight of strangers, up to a balance of one half and where only lengths count."""

QUERY_BYTES = 16
"""Bytes of a neighbor that a tree finds: its distance and its index."""

CHANGE = 1.15
"""Factor by which the weight of strangers changes each time that they are looked for."""

CROWD_SAMPLE = 2000
"""Points at which it is measured how crowded a map is."""


@dataclass(frozen=True, eq=False)
class LengthsToKeep:
    """What a map is to keep.

    Attributes
    ----------
    lengths : SparseRows
        Distances between data neighbors.
    reach : ndarray of float32 of shape (n,)
        How far the own neighbors of every point are.
    axes : ndarray of float32 of shape (n, d)
        Coordinates in which strangers are compared; none if only distances are known.
    table : ndarray of shape (n, n) or None
        All distances instead, if they are known.
    unit : float
        What the entries of `table` are divided by.
    """

    lengths: SparseRows
    reach: FloatArray
    axes: FloatArray
    table: FloatArray | None = None
    unit: float = 1.0

    def reordered(self, order: IntArray) -> LengthsToKeep:
        """Return the same for points in another order."""
        table = None if self.table is None else self.table[np.ix_(order, order)]
        axes = np.ascontiguousarray(self.axes[order])
        return LengthsToKeep(
            self.lengths.reordered(order), self.reach[order], axes, table, self.unit
        )

    def of_strangers(self, near: IntArray, rules: LengthRules, team: RowTeam) -> FloatArray:
        """Return how far map neighbors are to be at least; 0 for data neighbors."""
        wanted = np.empty(near.shape, dtype=np.float32)
        lengths, reach = self.lengths, self.reach
        team.each(
            stranger_lengths,
            near,
            lengths.indptr,
            lengths.indices,
            self.axes,
            reach,
            rules.cap,
            wanted,
        )
        if self.table is None:
            return wanted
        known = np.take_along_axis(self.table, near.astype(np.intp), axis=1) / self.unit
        return np.minimum(wanted, known.astype(np.float32))


def keep_lengths(
    start: FloatArray, wanted: LengthsToKeep, rules: LengthRules, *, n_jobs: int | None
) -> FloatArray:
    """Return the map on which points have moved each other to where lengths are true.

    Parameters
    ----------
    start : ndarray of shape (n, p)
        A map on which neighbors are near, in the unit of the lengths.
    wanted : LengthsToKeep
        What the map is to keep.
    rules : LengthRules
        How.
    n_jobs : int or None
        Threads.

    Returns
    -------
    ndarray of shape (n, p)
        The map.
    """
    # In the order of the map, so that what is near is also near in memory.
    order = cKDTree(start).indices
    points: FloatArray = np.array(start[order], dtype=np.float64, order="C")
    wanted = wanted.reordered(order)
    n, _ = points.shape
    velocity, moved = np.zeros_like(points), np.empty_like(points)
    rows = wanted.lengths
    n_near = max(1, len(rows.indices) // n)
    strangers = rules.strangers
    total = rules.n_sweeps
    with RowTeam(n, n_jobs) as team, interruptible(), stage("keep lengths", total=total) as bar:
        points *= _uncrowding(points, wanted.reach, rules)
        for sweep in range(rules.n_sweeps):
            if interrupted():
                break
            if sweep % rules.refreshed == 0:
                near = nearest_on_map(points, points, rules.n_strangers, team)
                apart = wanted.of_strangers(near, rules, team)
                share = _kept_share(apart, n_near)
                if sweep == 0:
                    target = rules.share * share
                elif sweep >= rules.n_ramp:
                    strangers *= CHANGE if share < target else 1.0 / CHANGE
                    strangers = min(rules.most, max(rules.least, strangers))
            momentum = rules.momentum * min(1.0, sweep / rules.n_ramp)
            team.each(
                relax,
                points,
                rows.indptr,
                rows.indices,
                rows.values,
                near,
                apart,
                wanted.reach,
                strangers,
                *rules.weights[1:],
                rules.step,
                momentum,
                rules.stride,
                velocity,
                moved,
            )
            points, moved = moved, points
            bar.advance()
    restored = np.empty_like(points)
    restored[order] = points
    return restored


def _kept_share(apart: FloatArray, k: int) -> float:
    """Return the share of data neighbors among the k nearest on the map, itself not counted."""
    rows = apart[:: max(1, len(apart) // CROWD_SAMPLE), : k + 1]
    return float(((rows == 0.0).sum(axis=1) - 1).mean() / k)


def _uncrowding(points: FloatArray, reach: FloatArray, rules: LengthRules) -> float:
    """Return the factor, at least 1, by which a map is to grow so that strangers have room.

    Points of many dimensions have more strangers within their reach on a map than are looked at.
    Only these would be pushed out, through all the others, and thrown over them.
    """
    n = len(points)
    rows = np.linspace(0, n - 1, min(n, CROWD_SAMPLE)).astype(np.intp)
    k = min(rules.n_strangers + 1, n)
    last = np.asarray(cKDTree(points).query(points[rows], [k])[0])[:, 0]
    known = last > 0.0
    if not known.any():
        return 1.0
    crowd = float(np.median(rules.cap * reach[rows][known] / last[known]))
    return max(1.0, crowd) ** rules.room


def nearest_on_map(points: FloatArray, queries: FloatArray, k: int, team: RowTeam) -> IntArray:
    """Return the k nearest points on the map of every query; a point may find itself."""
    k = min(k + 1, len(points))
    # Built for a few queries a point, so that a plain tree is the faster one.
    tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
    found = np.empty((len(queries), k), dtype=np.int32)
    step = block_rows(QUERY_BYTES * k, len(queries))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        near = tree.query(queries[rows], k, workers=team.n_threads)[1]
        found[rows] = near.reshape(-1, k)
    return found
