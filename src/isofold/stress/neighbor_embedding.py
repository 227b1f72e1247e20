"""Neighbor embedding: who is near whom, without lengths (t-SNE with uniform affinities).

    minimize  KL(p | q),   p_ij = (1/k)/n on the k nearest neighbors, symmetrized,
                           q_ij = (1/(1 + |y_i - y_j|²)) / Z

by gradient descent with momentum and a gain a coordinate. Affinities are exaggerated at first, so
that neighbors find each other across the map, and less and less until they are what they are.
Repulsion comes from a mesh (`isofold.stress.mesh`).

References
----------
van der Maaten, L., & Hinton, G. (2008). Visualizing data using t-SNE. JMLR 9.
Böhm, J. N., Berens, P., & Kobak, D. (2022). Attraction-repulsion spectrum in neighbor embeddings.
JMLR 23. (Uniform affinities.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from isofold._parallel import RowTeam
from isofold._progress.stages import interrupted, interruptible, stage
from isofold._typing import FloatArray
from isofold.stress._forces import step
from isofold.stress.mesh import Mesh
from isofold.stress.near_lists import NearLists

__all__ = ["DescentRules", "embed_neighbors"]


@dataclass(frozen=True)
class DescentRules:
    """How points descend.

    Attributes
    ----------
    exaggeration : float
        Factor of the affinities in the first sweep.
    n_annealed, n_sweeps : int
        Sweeps in which it falls to 1, and sweeps after that.
    slow, fast : float
        Momentum in the first and in the second of these stages.
    """

    exaggeration: float = 12.0
    n_annealed: int = 100
    n_sweeps: int = 150
    slow: float = 0.5
    fast: float = 0.9

    @classmethod
    def for_points(cls, n_points: int) -> DescentRules:
        """Return the rules for so many points: many take longer to find their neighbors."""
        return cls() if n_points <= MOST_QUICK else cls(n_sweeps=180)


MOST_QUICK = 10_000
"""Points up to which few sweeps suffice."""


def embed_neighbors(
    lists: NearLists, start: FloatArray, *, n_jobs: int | None, rules: DescentRules | None = None
) -> FloatArray:
    """Return a map on which neighbors are near.

    Parameters
    ----------
    lists : NearLists
        The neighbors of every point.
    start : ndarray of shape (n, p)
        Where points start, within some hundredths of each other; p is 1, 2 or 3.
    n_jobs : int or None
        Threads.
    rules : DescentRules, optional
        How points descend; by default as suits their number.

    Returns
    -------
    ndarray of shape (n, p)
        The map, in units of its own.
    """
    rules = DescentRules.for_points(len(start)) if rules is None else rules
    affinities = lists.affinities()
    points: FloatArray = np.array(start, dtype=np.float64, order="C")
    n, p = points.shape
    velocity, gain, moved = np.zeros_like(points), np.ones_like(points), np.empty_like(points)
    order = np.arange(n)
    n_all = rules.n_annealed + rules.n_sweeps
    with RowTeam(n, n_jobs) as team, interruptible(), stage("place neighbors", total=n_all) as bar:
        mesh = Mesh(p, team)
        for sweep in range(n_all):
            if interrupted():
                break
            if sweep == rules.n_annealed:
                gain[:], velocity[:] = 1.0, 0.0
                # In the order of the map, so that what is near is also near in memory.
                order = cKDTree(points).indices
                points, affinities = points[order], affinities.reordered(order)
            remaining = max(0.0, 1.0 - sweep / rules.n_annealed)
            attraction = rules.exaggeration**remaining
            field = mesh.field(points)
            team.each(
                step,
                points,
                affinities.indptr,
                affinities.indices,
                affinities.values,
                field.force,
                attraction,
                n / field.total,
                1.0 / attraction,
                rules.fast if attraction == 1.0 else rules.slow,
                velocity,
                gain,
                moved,
            )
            points, moved = moved, points
            points -= points.mean(axis=0)
            bar.advance()
    restored = np.empty_like(points)
    restored[order] = points
    return restored
