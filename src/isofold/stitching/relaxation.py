"""The same stitching with more dimensions: what they would gain, and how many are needed.

A circle cannot be laid into one dimension, nor a cylinder into two. Where the stitching in r
dimensions is not certified as the optimum of the semidefinite program, a coarse cover is stitched
once more without the limit on the rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from isofold._progress.stages import interrupted, stage
from isofold._typing import FloatArray
from isofold.linalg import principal_coordinates
from isofold.neighbors import cover_by_balls, subgraph
from isofold.patches import ChartFit, PatchCover
from isofold.patches.scale import CORE, PATCHES_PER_SIZE, as_cover
from isofold.sdp import LowRankSDP, Status
from isofold.stitching.components import StitchedMap
from isofold.stitching.levels import StitchingPlan, strongest_memberships
from isofold.stitching.rules import RULES, StitchingRules
from isofold.stitching.stitch import Alignment, place, stitch

__all__ = ["Relaxation", "relax", "relax_if_loose"]


NEGLIGIBLE = 0.01
"""Fraction of the variance below which a direction of the unfolding space is not needed."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A stitching in as many dimensions as it takes.

    Attributes
    ----------
    misfit : float
        Its √(misfit / variance).
    narrow_misfit : float
        The same in r dimensions.
    spectrum : ndarray
        Variances of the points along the axes of the unfolding space, largest first.
    """

    misfit: float
    narrow_misfit: float
    spectrum: FloatArray

    @property
    def ratio(self) -> float:
        """How much better patches fit than in r dimensions."""
        return float(self.narrow_misfit / max(self.misfit, np.finfo(float).eps))

    @property
    def n_dimensions(self) -> int:
        """Number of directions that hold more than a hundredth of the variance."""
        return int((self.spectrum > NEGLIGIBLE * self.spectrum.sum()).sum())


def relax_if_loose(
    points: FloatArray, stitched: StitchedMap, plan: StitchingPlan
) -> Relaxation | None:
    """Relax the stitching of the largest component if it is not certified."""
    largest, rules = stitched.components[0], plan.rules
    solution = largest.alignment.solution
    if solution is None or solution.status is Status.CERTIFIED or interrupted():
        return None
    cover, charts = largest.cover, largest.charts
    if cover.n_patches > rules.most_relaxed:
        n = cover.n_points
        graph = subgraph(stitched.graph, largest.nodes)
        size = round(PATCHES_PER_SIZE * n / rules.most_relaxed)
        cover = as_cover(cover_by_balls(graph, np.full(n, size), core=CORE), n)
        charts = plan.covers.charts_of(points[largest.nodes], cover)
    return relax(cover, charts, plan.solver, rules=rules)


@stage("relaxation")
def relax(
    cover: PatchCover, charts: ChartFit, solver: LowRankSDP, *, rules: StitchingRules = RULES
) -> Relaxation:
    """Stitch a cover in r dimensions and in as many as it takes."""
    r = charts.coordinates.shape[1]
    memberships = strongest_memberships(cover, charts, rules)

    def stitched_in(rank: int, most: int) -> Alignment:
        wide = clone(solver).set_params(rank=rank, max_rank=most)
        return stitch(
            cover, memberships, charts.coordinates, solver=wide, dimensions=charts.dimensions
        )

    narrow = best = stitched_in(r, r)
    if narrow.solution is not None and narrow.solution.status is not Status.CERTIFIED:
        best = stitched_in(2 * r + 1, 3 * r + 2)
    placed = place(memberships, charts.coordinates, best.motions)
    spectrum = principal_coordinates(placed, placed.shape[1]).variances
    return Relaxation(best.misfit, narrow.misfit, spectrum)
