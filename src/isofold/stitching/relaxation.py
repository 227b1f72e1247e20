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
from isofold.stitching.components import Unfolding
from isofold.stitching.levels import Recipe, strongest_memberships
from isofold.stitching.stitch import Alignment, place, stitch

__all__ = ["Relaxation", "relax", "relax_if_loose"]

MOST_RELAXED = 120
"""Patches of the coarse cover: the trust region with spare columns takes about a second then."""

NEGLIGIBLE = 0.01
"""Share of the variance below which a direction of the unfolding space is not needed."""


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


def relax_if_loose(points: FloatArray, unfolding: Unfolding, recipe: Recipe) -> Relaxation | None:
    """Relax the stitching of the largest piece if it is not certified."""
    piece = unfolding.pieces[0]
    solution = piece.alignment.solution
    if solution is None or solution.status is Status.CERTIFIED or interrupted():
        return None
    cover, charts = piece.cover, piece.charts
    if cover.n_patches > MOST_RELAXED:
        n = cover.n_points
        graph = subgraph(unfolding.graph, piece.nodes)
        size = round(PATCHES_PER_SIZE * n / MOST_RELAXED)
        cover = as_cover(cover_by_balls(graph, np.full(n, size), core=CORE), n)
        charts = recipe.chart(points[piece.nodes], cover)
    return relax(cover, charts, recipe.solver)


@stage("relaxation")
def relax(cover: PatchCover, charts: ChartFit, solver: LowRankSDP) -> Relaxation:
    """Stitch a cover in r dimensions and in as many as it takes."""
    r = charts.coordinates.shape[1]
    memberships = strongest_memberships(cover, charts)

    def stitched(rank: int, most: int) -> Alignment:
        wide = clone(solver).set_params(rank=rank, max_rank=most)
        return stitch(
            cover, memberships, charts.coordinates, solver=wide, dimensions=charts.dimensions
        )

    narrow = best = stitched(r, r)
    if narrow.solution is not None and narrow.solution.status is not Status.CERTIFIED:
        best = stitched(2 * r + 1, 3 * r + 2)
    placed = place(memberships, charts.coordinates, best.motions)
    spectrum = principal_coordinates(placed, placed.shape[1]).variances
    return Relaxation(best.misfit, narrow.misfit, spectrum)
