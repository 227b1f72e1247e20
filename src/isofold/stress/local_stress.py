"""Local multidimensional scaling: points that many others move to where their distance is right.

    minimize  Σ_ij w_ij (|y_i - y_j| - d_ij)²,   w = (1 - a) ρ [d_ij ≤ R] + a [|y_i - y_j| < R]

over positions y with distances d along a graph, while the radius R shrinks from most pairs to near
ones (curvilinear distance analysis; local multidimensional scaling). The first weight keeps
neighbors together, the second keeps strangers out: a pair that is near on the map but far in the
data is pushed apart. The weight ρ is Huber's on the relative error: where not all lengths can be
kept, many are kept and some given up, rather than all being a little wrong. R is never smaller
than the distance of a point's own neighbors.

All points move at once, each to the mean of where the others want it (a step of majorization for
given weights), so that nothing depends on chance or on an order of points.

References
----------
Lee, J. A., Lendasse, A., & Verleysen, M. (2004). Nonlinear projection with curvilinear distances:
Isomap versus curvilinear distance analysis. Neurocomputing 57.
Venna, J., & Kaski, S. (2006). Local multidimensional scaling. Neural Networks 19.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._parallel import RowTeam
from isofold._progress.stages import interrupted, interruptible, stage
from isofold._typing import FloatArray
from isofold.stress._pull import sweep_all

__all__ = ["LocalRules", "reach_of", "relax_all", "relax_others"]

TOLERANCE = 0.3
"""Relative length error from which it counts as such, no longer as its square."""

WIDEST = 0.6
"""The first radius in units of the largest distance. Farther pairs are right at the start, or
cannot be."""

SHRINKING = 1.3
"""The radius shrinks this much faster than sweeps pass, so that the last ones have the least."""

SETTLING = 20
"""Sweeps in which others move among points that stay."""

LEAST_ROWS = 200
"""Rows for which a thread of its own is worth while: all pairs of a few hundred take as long as
sharing them out."""

QUANTILE_SAMPLE = 200_000
"""Distances from which quantiles are read."""


@dataclass(frozen=True)
class LocalRules:
    """How points are relaxed.

    Attributes
    ----------
    balance : float
        The fraction a of the weight that keeps strangers out.
    radius : float
        Fraction of all pairs that are within the last radius.
    n_epochs : int
        Number of sweeps.
    """

    balance: float
    radius: float
    n_epochs: int

    def radii(self, distances: FloatArray) -> FloatArray:
        """Return the radius of every sweep, for distances of all pairs."""
        flat = distances.ravel()
        some = flat[:: max(1, len(flat) // QUANTILE_SAMPLE)]
        some = some[some > 0.0]
        if not len(some):
            return np.zeros(self.n_epochs)
        widest, last = WIDEST * float(flat.max()), float(np.quantile(some, self.radius))
        last = min(last, widest)
        passed = np.linspace(0.0, 1.0, self.n_epochs)
        return np.asarray(widest * (last / widest) ** np.minimum(1.0, SHRINKING * passed))


def relax_all(
    distances: FloatArray,
    start: FloatArray,
    reach: FloatArray,
    rules: LocalRules,
    *,
    n_jobs: int | None,
) -> FloatArray:
    """Return where points move each other, all pairs at work."""
    moving: FloatArray = np.array(start, dtype=np.float64, order="C")
    radii = rules.radii(distances)
    bar = stage("relax points", total=len(radii))
    with _team(moving, n_jobs) as team, interruptible(), bar as steps:
        for radius in radii:
            if interrupted():
                break
            moving = _swept(team, moving, moving, distances, reach, reach, radius, rules.balance)
            steps.advance()
    return moving


def relax_others(
    distances: FloatArray,
    start: FloatArray,
    reach: FloatArray,
    fixed: FloatArray,
    fixed_reach: FloatArray,
    rules: LocalRules,
    *,
    radius: float,
    n_jobs: int | None,
) -> FloatArray:
    """Return where points that stay move others, each by itself."""
    moving: FloatArray = np.array(start, dtype=np.float64, order="C")
    with _team(moving, n_jobs) as team:
        for _ in range(SETTLING):
            if interrupted():
                break
            moving = _swept(
                team, moving, fixed, distances, reach, fixed_reach, radius, rules.balance
            )
    return moving


def _team(moving: FloatArray, n_jobs: int | None) -> RowTeam:
    """Return threads that share out the rows of a sweep."""
    return RowTeam(len(moving), n_jobs, least_rows=LEAST_ROWS)


def _swept(
    team: RowTeam,
    moving: FloatArray,
    fixed: FloatArray,
    distances: FloatArray,
    reach: FloatArray,
    fixed_reach: FloatArray,
    radius: float,
    balance: float,
) -> FloatArray:
    """Return where points are after one sweep."""
    moved = np.empty_like(moving)
    team.each(
        sweep_all,
        moving,
        fixed,
        distances,
        reach,
        fixed_reach,
        float(radius),
        balance,
        TOLERANCE,
        moved,
    )
    return moved


def reach_of(distances: FloatArray, n_neighbors: int) -> FloatArray:
    """Return the distance of every point's last own neighbor."""
    k = min(n_neighbors, len(distances) - 1)
    return np.partition(distances, k, axis=1)[:, k].astype(np.float64)
