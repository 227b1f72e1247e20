"""Unfolding of one connected piece: cover, charts, stitching, from coarse to fine.

A coarse cover, with patches of twice the size and a tolerance of twice the noise and bending, is
stitched first. Its embedding starts the fine one (the multilevel start), and how far the two differ
tells how much the choice of scale matters (the error estimate).

Data that are no sheet of this dimension are laid out along shortest paths instead, and patches only
make its lengths truer (`isofold.stitching.alternation`); unless the user chose the patches, which
are stitched then, as the thesis does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg import principal_coordinates, procrustes
from isofold.linalg.motions import RigidMotions
from isofold.neighbors import NeighborGraph
from isofold.neighbors.edge_errors import edge_errors
from isofold.patches import ChartFit, Memberships, PatchCover, fit_charts
from isofold.patches.coarse import pruned
from isofold.sdp import LowRankSDP
from isofold.stitching.alternation import N_ROUNDS, alternate, layout_by_paths
from isofold.stitching.evidence import (
    HOPELESS,
    LARGEST_MISFIT,
    LARGEST_WEAK,
    is_large,
    unsure_share,
    weak_share,
)
from isofold.stitching.stitch import Alignment, images_of, place, stitch
from isofold.stitching.terms import NodeTerms

__all__ = [
    "Piece",
    "Recipe",
    "flat_piece",
    "parts_of_cover",
    "stray_members",
    "strongest_memberships",
    "unfold_piece",
]

MOST_PATCHES = 5
"""Patches that a point of a ball cover keeps: three are too few under noise, all only cost time."""

MOST_GROWTH = 2.0
"""How many more memberships may be taken to hold a hinge."""

PATIENT_ROUNDS = 200
"""Rounds in the place of Newton's method for patches that fit, but are too many for it."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A connected piece with its map.

    Attributes
    ----------
    nodes : ndarray of int
        The nodes of the piece.
    cover : PatchCover
        Its patches; members count within the piece.
    charts : ChartFit
        Their charts.
    memberships : Memberships
        The patches of every node of the piece.
    alignment : Alignment
        The motions.
    embedding : ndarray of shape (n_nodes, r)
        The placed nodes.
    spectrum : ndarray
        Variances of the placed nodes along the axes of the space in which they were stitched; more
        than r if the solver was allowed more columns.
    agreement : float
        Relative distance of the embedding from that of the coarse cover, or from the layout by
        shortest paths; NaN if there is none.
    weak : float
        Share of points in patches whose tangent does not stand out from the noise.
    coarse_misfit : float
        How badly the patches of the coarse cover fit together, as `Alignment.misfit`; NaN if there
        is none.
    is_projected : bool
        Whether the piece was projected as a whole, as no stitching was possible.
    """

    nodes: IntArray
    cover: PatchCover
    charts: ChartFit
    memberships: Memberships
    alignment: Alignment
    embedding: FloatArray
    spectrum: FloatArray
    agreement: float
    weak: float
    coarse_misfit: float = np.nan
    is_projected: bool = False

    @cached_property
    def patch_error(self) -> FloatArray:
        """Misfit of every patch with the embedding, over the extent of the patch."""
        weights, patches = self.memberships.weights, self.memberships.patches
        images = images_of(self.memberships, self.charts.coordinates, self.alignment.motions)
        squares = ((images - self.embedding[self.memberships.points]) ** 2).sum(axis=1)
        c = self.cover.n_patches
        misfit = np.bincount(patches, weights * squares, minlength=c)
        total = np.bincount(patches, weights, minlength=c)
        extent = self.charts.spread * self.charts.coordinates.shape[1]
        tiny = np.finfo(np.float64).tiny
        return np.sqrt(misfit / np.maximum(total * extent, tiny))

    def moved(self, motions: RigidMotions) -> Piece:
        """Return the component after a single rigid motion."""
        (embedding,) = motions.apply_each([self.embedding])
        alignment = replace(self.alignment, motions=self.alignment.motions.then(motions))
        return replace(self, embedding=embedding, alignment=alignment)

    @property
    def layout(self) -> str:
        """How the piece came to its map: "stitched", "paths" or "projection" (a single patch)."""
        if self.cover.n_patches == 1:
            return "projection"
        return "paths" if self.is_rough else "stitched"

    @property
    def is_rough(self) -> bool:
        """Whether the piece was laid out along shortest paths rather than stitched."""
        return self.cover.n_patches > 1 and self.alignment.solution is None


@dataclass(frozen=True, eq=False)
class Recipe:
    """How pieces are to be covered, charted and stitched.

    Attributes
    ----------
    charted : callable (points, graph, nodes, level) -> (PatchCover, ChartFit) or None
        Cover with charts of a piece with given nodes, the fine one at level 0 and a coarse one at
        level 1; None if a piece is too small for it, or there is none.
    chart : callable (points, cover) -> ChartFit
        The charts of a cover.
    solver : LowRankSDP
        The solver.
    terms : callable (nodes) -> NodeTerms or None
        Further terms for a piece with given nodes, if there are any.
    rough : callable (points, graph) -> (PatchCover, ChartFit) or None
        Cover with charts of a piece that is no sheet; None to take the fine one.
    is_chosen : bool
        Whether the user chose the cover: it is stitched, whatever the data are.
    n_jobs : int or None
        Threads, by scikit-learn's convention.
    """

    charted: Callable[
        [FloatArray, NeighborGraph, IntArray, int], tuple[PatchCover, ChartFit] | None
    ]
    chart: Callable[[FloatArray, PatchCover], ChartFit]
    solver: LowRankSDP
    terms: Callable[[IntArray], NodeTerms] | None = None
    rough: Callable[[FloatArray, NeighborGraph], tuple[PatchCover, ChartFit]] | None = None
    is_chosen: bool = False
    n_jobs: int | None = None


def unfold_piece(
    points: FloatArray,
    graph: NeighborGraph,
    nodes: IntArray,
    recipe: Recipe,
    *,
    charted: tuple[PatchCover, ChartFit] | None = None,
) -> Piece:
    """Unfold a connected piece."""
    fine = charted or recipe.charted(points, graph, nodes, 0) or _as_one(points, recipe)
    weak = weak_share(*fine)
    piece = None
    if recipe.terms is not None or (recipe.is_chosen and fine[0].n_patches > 1):
        piece = _stitch_levels(points, graph, nodes, recipe, fine, weak)
    elif weak <= HOPELESS and is_large(*fine):
        recipe = replace(recipe, rough=None)
    elif weak <= HOPELESS:
        must_fit = unsure_share(*fine) > HOPELESS
        piece = _stitch_levels(points, graph, nodes, recipe, fine, weak, must_fit=must_fit)
    return piece or _lay_out(points, graph, nodes, recipe, fine, weak)


def _stitch_levels(
    points: FloatArray,
    graph: NeighborGraph,
    nodes: IntArray,
    recipe: Recipe,
    fine: tuple[PatchCover, ChartFit],
    weak: float,
    *,
    must_fit: bool = False,
) -> Piece | None:
    """Stitch a coarse cover, if there is one, and from there the fine one.

    None if they must fit and one of them does not.
    """
    coarse = recipe.charted(points, graph, nodes, 1) if fine[0].n_patches > 1 else None
    start, coarse_misfit = None, np.nan
    if coarse is not None:
        _, alignment, start, _ = _align(*coarse, recipe.solver, None)
        coarse_misfit = alignment.misfit
        if must_fit and alignment.misfit > LARGEST_MISFIT:
            return None
    terms = None if recipe.terms is None else recipe.terms(nodes)
    memberships, alignment, embedding, spectrum = _align(*fine, recipe.solver, start, terms)
    if must_fit and alignment.misfit > LARGEST_MISFIT:
        return None
    agreement = np.nan if start is None else _relative_distance(start, embedding)
    return Piece(
        *(nodes, *fine, memberships, alignment, embedding, spectrum, agreement, weak),
        coarse_misfit=coarse_misfit,
    )


def _lay_out(
    points: FloatArray,
    graph: NeighborGraph,
    nodes: IntArray,
    recipe: Recipe,
    fine: tuple[PatchCover, ChartFit],
    weak: float,
) -> Piece:
    """Lay a piece out along shortest paths, and make its lengths true by patches.

    By those of the rough cover if the recipe has one, else by the fine ones. Where a projection
    keeps the lengths of edges better (or there is only one patch), it is the projection.
    """
    completed = pruned(points, graph, n_jobs=recipe.n_jobs)
    cover, charts = fine if recipe.rough is None else recipe.rough(points, completed)
    if cover.n_patches == 1:
        return replace(single_patch(nodes, cover, charts), weak=weak, is_projected=True)
    r = charts.coordinates.shape[1]
    memberships = Memberships.strongest(cover, None, charts.is_off)
    start = layout_by_paths(completed, r, n_jobs=recipe.n_jobs)
    rounds = N_ROUNDS if weak > LARGEST_WEAK else PATIENT_ROUNDS
    alignment = alternate(cover, memberships, charts.coordinates, start, n_rounds=rounds)
    embedding = place(memberships, charts.coordinates, alignment.motions)
    projected = flat_piece(points, nodes, r)
    errors = [np.median(edge_errors(Y, graph)) for Y in (projected.embedding, embedding)]
    if errors[0] <= errors[1]:
        return replace(projected, weak=weak, is_projected=True)
    return Piece(
        nodes,
        cover,
        charts,
        memberships,
        alignment,
        embedding,
        spectrum=principal_coordinates(embedding, r).variances,
        agreement=_relative_distance(start, embedding),
        weak=weak,
    )


def flat_piece(points: FloatArray, nodes: IntArray, n_components: int) -> Piece:
    """Return points projected onto their r principal axes as a piece of one patch."""
    cover = PatchCover.whole(points)
    return single_patch(nodes, cover, fit_charts(points, cover, n_components, quadratic=False))


def single_patch(nodes: IntArray, cover: PatchCover, charts: ChartFit) -> Piece:
    """Return a piece of one patch: its chart is its map."""
    r = charts.coordinates.shape[1]
    memberships = Memberships.strongest(cover, None)
    alignment = Alignment(RigidMotions.identity(1, r), None, None, 0.0)
    embedding = place(memberships, charts.coordinates, alignment.motions)
    spectrum = principal_coordinates(embedding, r).variances
    return Piece(nodes, cover, charts, memberships, alignment, embedding, spectrum, np.nan, 0.0)


def stray_members(cover: PatchCover, charts: ChartFit, is_settled: BoolArray) -> BoolArray:
    """Return which points are far off most patches around them, or in none with a settled seed."""
    off = np.bincount(cover.members, charts.is_far, minlength=cover.n_points)
    count = np.bincount(cover.members, minlength=cover.n_points)
    is_held = np.zeros(cover.n_points, dtype=bool)
    is_held[cover.members[is_settled[cover.seeds][cover.patches]]] = True
    return np.asarray((2 * off > count) | ~is_held)


def parts_of_cover(cover: PatchCover) -> list[IntArray]:
    """Return the points of every group of patches that share points with each other."""
    n = cover.n_points
    shape = (n + cover.n_patches, n + cover.n_patches)
    ones = np.ones(len(cover.members), dtype=bool)
    links = sp.csr_array((ones, (cover.members, n + cover.patches)), shape=shape)
    labels = connected_components(links, directed=False)[1][:n]
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def strongest_memberships(cover: PatchCover, charts: ChartFit) -> Memberships:
    """Return the patches that count at every point: all, where fewer would not hold together."""
    memberships = Memberships.strongest(cover, MOST_PATCHES, charts.is_off)
    if cover.by_overlap or n_groups(memberships, cover.n_patches) > 1:
        memberships = Memberships.strongest(cover, None, charts.is_off)
    return memberships


def n_groups(memberships: Memberships, n_patches: int) -> int:
    """Return into how many groups patches fall that share points with each other."""
    first = memberships.indptr[:-1]
    lead = np.repeat(memberships.patches[first], np.diff(memberships.indptr))
    shape = (n_patches, n_patches)
    ones = np.ones(len(lead), dtype=bool)
    links = sp.csr_array((ones, (lead, memberships.patches)), shape=shape)
    return int(connected_components(links, directed=False)[0])


def _as_one(points: FloatArray, recipe: Recipe) -> tuple[PatchCover, ChartFit]:
    cover = PatchCover.whole(points)
    return cover, recipe.chart(points, cover)


def _align(
    cover: PatchCover,
    charts: ChartFit,
    solver: LowRankSDP,
    start: FloatArray | None,
    terms: NodeTerms | None = None,
) -> tuple[Memberships, Alignment, FloatArray, FloatArray]:
    """Return memberships, motions, the placed points in r dimensions, and their spectrum."""
    memberships = strongest_memberships(cover, charts)

    def stitched() -> Alignment:
        return stitch(
            cover,
            memberships,
            charts.coordinates,
            solver=solver,
            start=start,
            dimensions=charts.dimensions,
            terms=terms,
        )

    alignment = stitched()
    all_members, few_more = len(cover.members), MOST_GROWTH * len(memberships.entries)
    if (
        len(memberships.entries) < all_members <= few_more
        and alignment.n_rigid_groups(charts.dimensions) > 1
    ):
        # A hinge: points that belong to more patches may hold it.
        memberships = Memberships.strongest(cover, None, charts.is_off)
        alignment = stitched()
    placed = place(memberships, charts.coordinates, alignment.motions)
    # Step 11 of Algorithm 5: what the solver laid out in more dimensions is projected to r.
    principal = principal_coordinates(placed, placed.shape[1])
    r = charts.coordinates.shape[1]
    if placed.shape[1] > r:
        axes = principal.axes[:, :r]
        placed = placed @ axes
        origin = np.zeros(len(axes))
        alignment = replace(alignment, motions=alignment.motions.in_frame(origin, axes))
    return memberships, alignment, placed, principal.variances


def _relative_distance(first: FloatArray, second: FloatArray) -> float:
    """Return the root mean square distance after a rigid motion, relative to the extent."""
    spread = float(np.linalg.norm(second - second.mean(axis=0)))
    if spread == 0.0:
        return 0.0
    return float(procrustes(first, second).residual * np.sqrt(len(first)) / spread)
