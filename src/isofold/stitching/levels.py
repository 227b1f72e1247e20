"""Stitching of one connected component: cover, charts, stitching, from coarse to fine.

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
from isofold.linalg.body_velocities import free_motions_of
from isofold.linalg.motions import RigidMotions
from isofold.neighbors.edge_errors import edge_errors
from isofold.neighbors.point_set import PointSet
from isofold.patches import ChartFit, Memberships, PatchCover, fit_charts
from isofold.patches.coarse import pruned
from isofold.sdp import LowRankSDP
from isofold.stitching.alternation import alternate, layout_by_paths
from isofold.stitching.covers import CoverMaker
from isofold.stitching.evidence import is_large, unsure_fraction, weak_fraction
from isofold.stitching.rules import RULES, StitchingRules
from isofold.stitching.stitch import Alignment, images_of, place, stitch
from isofold.stitching.terms import NodeTerms

__all__ = [
    "StitchedComponent",
    "StitchingPlan",
    "groups_of_cover",
    "outlying_members",
    "projected_component",
    "stitch_component",
    "strongest_memberships",
]


@dataclass(frozen=True, eq=False)
class StitchedComponent:
    """A connected component with its map.

    Attributes
    ----------
    nodes : ndarray of int
        The nodes of the component.
    cover : PatchCover
        Its patches; members count within the component.
    charts : ChartFit
        Their charts.
    memberships : Memberships
        The patches of every node of the component.
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
        Fraction of points in patches whose tangent does not stand out from the noise.
    coarse_misfit : float
        How badly the patches of the coarse cover fit together, as `Alignment.misfit`; NaN if there
        is none.
    is_projected : bool
        Whether the component was projected as a whole, as no stitching was possible.
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

    @cached_property
    def rigid_groups(self) -> IntArray:
        """Group of every patch; groups can rotate against each other, or flip."""
        return self.alignment.rigid_groups(self.charts.dimensions)

    @cached_property
    def n_free_motions(self) -> int:
        """Number of independent motions of the rigid groups against each other."""
        groups, patches = self.rigid_groups, self.memberships.patches
        n = len(self.embedding)
        keys = np.unique(groups[patches] * n + self.memberships.points)
        owners, points = np.divmod(keys, n)
        bodies = np.split(points, np.flatnonzero(np.diff(owners)) + 1)
        return free_motions_of(self.embedding, bodies, bars=self.alignment.held).n_motions

    def moved(self, motions: RigidMotions) -> StitchedComponent:
        """Return the component after a single rigid motion."""
        (embedding,) = motions.apply_each([self.embedding])
        alignment = replace(self.alignment, motions=self.alignment.motions.then(motions))
        return replace(self, embedding=embedding, alignment=alignment)

    @property
    def layout(self) -> str:
        """How the component was mapped: "stitched", "paths" or "projection" (a single patch)."""
        if self.cover.n_patches == 1:
            return "projection"
        return "paths" if self.is_by_paths else "stitched"

    @property
    def is_by_paths(self) -> bool:
        """Whether the component was laid out along shortest paths rather than stitched."""
        return self.cover.n_patches > 1 and self.alignment.solution is None


@dataclass(frozen=True, eq=False)
class StitchingPlan:
    """How components are to be covered, charted and stitched.

    Attributes
    ----------
    covers : CoverMaker
        Makes covers and charts.
    solver : LowRankSDP
        The solver.
    terms : callable (nodes) -> NodeTerms or None
        Further terms for a component with given nodes, if there are any.
    n_jobs : int or None
        Threads, by scikit-learn's convention.
    rules : StitchingRules
        The numbers that decide.
    """

    covers: CoverMaker
    solver: LowRankSDP
    terms: Callable[[IntArray], NodeTerms] | None = None
    n_jobs: int | None = None
    rules: StitchingRules = RULES

    @property
    def is_chosen(self) -> bool:
        """Whether the user chose the cover: it is stitched, whatever the data are."""
        return not self.covers.is_free


def stitch_component(
    points: PointSet, plan: StitchingPlan, charted: tuple[PatchCover, ChartFit] | None = None
) -> StitchedComponent:
    """Stitch a connected component, or lay it out in another way where that is no use."""
    rules = plan.rules
    fine = charted or plan.covers.charted(points, 0) or plan.covers.charted_whole(points.points)
    weak = weak_fraction(*fine, rules)
    has_own_cover = not plan.is_chosen
    component = None
    if plan.terms is not None or (plan.is_chosen and fine[0].n_patches > 1):
        component = _stitch_levels(points, plan, fine, weak)
    elif weak <= rules.hopeless and is_large(*fine, rules):
        has_own_cover = False
    elif weak <= rules.hopeless:
        must_fit = unsure_fraction(*fine) > rules.hopeless
        component = _stitch_levels(points, plan, fine, weak, must_fit=must_fit)
    return component or _lay_out(points, plan, fine, weak, has_own_cover=has_own_cover)


def _stitch_levels(
    points: PointSet,
    plan: StitchingPlan,
    fine: tuple[PatchCover, ChartFit],
    weak: float,
    *,
    must_fit: bool = False,
) -> StitchedComponent | None:
    """Stitch a coarse cover, if there is one, and from there the fine one.

    None if they must fit and one of them does not.
    """
    limit = plan.rules.largest_misfit
    coarse = plan.covers.charted(points, 1) if fine[0].n_patches > 1 else None
    start, coarse_misfit = None, np.nan
    if coarse is not None:
        _, alignment, start, _ = _align(*coarse, plan, None)
        coarse_misfit = alignment.misfit
        if must_fit and alignment.misfit > limit:
            return None
    terms = None if plan.terms is None else plan.terms(points.samples)
    memberships, alignment, embedding, spectrum = _align(*fine, plan, start, terms)
    if must_fit and alignment.misfit > limit:
        return None
    return StitchedComponent(
        points.samples,
        *fine,
        memberships,
        alignment,
        embedding,
        spectrum,
        agreement=np.nan if start is None else _relative_distance(start, embedding),
        weak=weak,
        coarse_misfit=coarse_misfit,
    )


def _lay_out(
    points: PointSet,
    plan: StitchingPlan,
    fine: tuple[PatchCover, ChartFit],
    weak: float,
    *,
    has_own_cover: bool,
) -> StitchedComponent:
    """Lay a component out along shortest paths, and make its lengths true by patches.

    By those of a cover of its own, or by the fine ones. Where a projection keeps the lengths of
    edges better (or there is only one patch), it is the projection.
    """
    X, graph, rules = points.points, points.graph, plan.rules
    completed = pruned(X, graph, n_jobs=plan.n_jobs)
    cover, charts = plan.covers.charted_no_sheet(X, completed) if has_own_cover else fine
    if cover.n_patches == 1:
        single = single_patch(points.samples, cover, charts)
        return replace(single, weak=weak, is_projected=True)
    r = charts.coordinates.shape[1]
    memberships = Memberships.strongest(cover, None, charts.is_off)
    start = layout_by_paths(completed, r, n_jobs=plan.n_jobs, rules=rules)
    rounds = rules.n_rounds if weak > rules.largest_weak else rules.patient_rounds
    alignment = alternate(cover, memberships, charts.coordinates, start, n_rounds=rounds)
    embedding = place(memberships, charts.coordinates, alignment.motions)
    projected = projected_component(X, points.samples, r)
    errors = [np.median(edge_errors(Y, graph)) for Y in (projected.embedding, embedding)]
    if errors[0] <= errors[1]:
        return replace(projected, weak=weak, is_projected=True)
    return StitchedComponent(
        points.samples,
        cover,
        charts,
        memberships,
        alignment,
        embedding,
        spectrum=principal_coordinates(embedding, r).variances,
        agreement=_relative_distance(start, embedding),
        weak=weak,
    )


def projected_component(
    points: FloatArray, nodes: IntArray, n_components: int
) -> StitchedComponent:
    """Return points projected onto their r principal axes, as a component of one patch."""
    cover = PatchCover.whole(points)
    return single_patch(nodes, cover, fit_charts(points, cover, n_components, quadratic=False))


def single_patch(nodes: IntArray, cover: PatchCover, charts: ChartFit) -> StitchedComponent:
    """Return a component of one patch: its chart is its map."""
    r = charts.coordinates.shape[1]
    memberships = Memberships.strongest(cover, None)
    alignment = Alignment(RigidMotions.identity(1, r), None, None, 0.0)
    embedding = place(memberships, charts.coordinates, alignment.motions)
    spectrum = principal_coordinates(embedding, r).variances
    return StitchedComponent(
        nodes, cover, charts, memberships, alignment, embedding, spectrum, np.nan, 0.0
    )


def outlying_members(cover: PatchCover, charts: ChartFit, is_settled: BoolArray) -> BoolArray:
    """Return which points are far off most patches around them, or in none with a settled seed."""
    off = np.bincount(cover.members, charts.is_far, minlength=cover.n_points)
    count = np.bincount(cover.members, minlength=cover.n_points)
    is_held = np.zeros(cover.n_points, dtype=bool)
    is_held[cover.members[is_settled[cover.seeds][cover.patches]]] = True
    return np.asarray((2 * off > count) | ~is_held)


def groups_of_cover(cover: PatchCover) -> list[IntArray]:
    """Return the points of every group of patches that share points with each other."""
    n = cover.n_points
    shape = (n + cover.n_patches, n + cover.n_patches)
    ones = np.ones(len(cover.members), dtype=bool)
    links = sp.csr_array((ones, (cover.members, n + cover.patches)), shape=shape)
    labels = connected_components(links, directed=False)[1][:n]
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def strongest_memberships(
    cover: PatchCover, charts: ChartFit, rules: StitchingRules = RULES
) -> Memberships:
    """Return the patches that count at every point: all, where fewer would not hold together."""
    memberships = Memberships.strongest(cover, rules.most_patches, charts.is_off)
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


def _align(
    cover: PatchCover,
    charts: ChartFit,
    plan: StitchingPlan,
    start: FloatArray | None,
    terms: NodeTerms | None = None,
) -> tuple[Memberships, Alignment, FloatArray, FloatArray]:
    """Return memberships, motions, the placed points in r dimensions, and their spectrum."""
    memberships = strongest_memberships(cover, charts, plan.rules)

    def stitched() -> Alignment:
        return stitch(
            cover,
            memberships,
            charts.coordinates,
            solver=plan.solver,
            start=start,
            dimensions=charts.dimensions,
            terms=terms,
            keep_small=plan.covers.has_patches,
        )

    alignment = stitched()
    all_members, few_more = len(cover.members), plan.rules.most_growth * len(memberships.entries)
    if (
        len(memberships.entries) < all_members <= few_more
        and alignment.rigid_groups(charts.dimensions).any()
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
