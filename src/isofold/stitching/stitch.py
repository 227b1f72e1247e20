"""Stitching: rigid motions of all patches so that shared points coincide.

    min Σ_x Σ_{i<j ∋ x} w_ij(x) |u_i(x) R_i + t_i - u_j(x) R_j - t_j|²,      R_i R_iᵀ = I

With R_i of size r × p and p large it is a semidefinite program in A = RRᵀ with unit diagonal
blocks (thesis, eq. 5.13), whose dual bound certifies the answer; p = r is what a map needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg.motions import RigidMotions
from isofold.patches import Memberships, PatchCover
from isofold.sdp import ConicSDP, DenseSDP, GramSDP, LowRankSDP, Phase, SDPSolution
from isofold.stitching.overlaps import Overlaps, joint_matrix, measure_overlaps
from isofold.stitching.terms import NodeTerms, placement_matrix, pose, solve

__all__ = ["Alignment", "place", "stitch"]

TRUST_REGION_STEPS, NEWTON_STEPS, AUGMENTED_STEPS = 60_000, 20, 1000
"""Steps of the trust region times entries of all rotations, and of Newton's method: patches that
fit need about five of these, and none of those. With further terms, steps of the augmented
Lagrangian: of those that ended with a certificate the slowest took 770."""


@dataclass(frozen=True, eq=False)
class Alignment:
    """Rigid motions u ↦ u R + t of all patches.

    Attributes
    ----------
    motions : RigidMotions
        The motions, from r into p dimensions.
    solution : SDPSolution or None
        The solution of the stitching with its certificate, in units in which the mean variance
        of charts is one; None for a single patch, which needs no stitching.
    overlaps : Overlaps or None
        What was stitched.
    misfit : float
        √(misfit / variance in the overlaps): zero if all patches fit.
    unit : float
        Size of chart coordinates, in units of which the overlaps are measured.
    held : ndarray of int of shape (n_held, 2)
        Pairs of points whose distance further terms hold: known, or at its bound.
    """

    motions: RigidMotions
    solution: SDPSolution | None
    overlaps: Overlaps | None
    misfit: float
    unit: float = 1.0
    held: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    def rigid_groups(self, dimensions: IntArray) -> IntArray:
        """Return the group of every patch; groups can rotate against each other, or flip."""
        if self.overlaps is None:
            return np.zeros(len(self.motions), dtype=np.intp)
        translations = self.motions.translations[:, None, :] / self.unit
        motions = np.concatenate([self.motions.rotations, translations], axis=1)
        return self.overlaps.rigid_groups(motions, dimensions)


def stitch(
    cover: PatchCover,
    memberships: Memberships,
    coordinates: FloatArray,
    *,
    solver: LowRankSDP | DenseSDP | ConicSDP,
    start: FloatArray | None = None,
    dimensions: IntArray | None = None,
    terms: NodeTerms | None = None,
    keep_small: bool = False,
) -> Alignment:
    """Align the patches of a cover; rigid groups keep small overlaps, of two atoms of a bond."""
    c, r = cover.n_patches, coordinates.shape[1]
    dims = np.full(c, r) if dimensions is None else dimensions
    if c == 1 and terms is not None and (terms.variance or len(terms.pairs)):
        msg = (
            "terms act between patches, but there is only one. Pass n_patches of two or more, or "
            "more points."
        )
        raise InvalidInputError(msg)
    if c == 1:
        return Alignment(RigidMotions.identity(1, r), None, None, 0.0)
    # A patch of no extent is but a point: one row for it keeps the program well-posed.
    dims = np.maximum(dims, 1)
    # Rotations are of size one; coordinates of size one keep the joint matrix balanced.
    unit = float(np.sqrt(np.mean(coordinates**2))) or 1.0
    overlaps = measure_overlaps(cover, memberships, coordinates / unit, keep_small=keep_small)
    begin = np.concatenate([[0], np.cumsum(dims + 1)])[:-1]
    matrix, blocks = joint_matrix(overlaps, dims), np.column_stack([begin, dims])
    problem = GramSDP.stitching(matrix, blocks)
    if terms is not None:
        placement = placement_matrix(memberships, coordinates / unit, begin, dims)
        problem = pose(matrix, blocks, placement, overlaps, terms, unit)
    first = None
    if start is not None:
        first = _starting_rows(cover, coordinates / unit, start / unit, dims)
    solution = solve(solver, problem, first, terms, _budget(c * r * r))
    rows = solution.coordinates
    # Patches that span less than r dimensions may all fit into fewer.
    rows = np.pad(rows, ((0, 0), (0, max(0, r - rows.shape[1]))))
    p = rows.shape[1]
    rotations = np.zeros((c, r, p))
    for k in range(r):
        holders = np.flatnonzero(dims > k)
        rotations[holders, k] = rows[begin[holders] + k]
    misfit = float(np.sum(rows * (matrix @ rows)))
    held = None if terms is None else terms.held(unit * (placement @ rows))
    # Overlaps of single points have no extent; that of charts is one.
    extent = overlaps.variance or float(overlaps.weights.sum())
    relative = np.sqrt(max(0.0, misfit) / extent)
    motions = RigidMotions(rotations, unit * rows[begin + dims])
    aligned = Alignment(motions, solution, overlaps, float(relative), unit)
    return aligned if held is None else replace(aligned, held=held)


def _budget(n_entries: int) -> dict[Phase, int]:
    """Return the iterations of the phases in which folds open, where they take long.

    What is stitched after many such steps is no sheet: patches contradict each other. The limit is
    on steps, not on time, so that results are the same on any machine.
    """
    return {
        Phase.TRUST_REGION: max(2, TRUST_REGION_STEPS // n_entries),
        Phase.NEWTON: NEWTON_STEPS,
        Phase.AUGMENTED_LAGRANGIAN: AUGMENTED_STEPS,
    }


def place(memberships: Memberships, coordinates: FloatArray, motions: RigidMotions) -> FloatArray:
    """Return the weighted mean of the images of every point in its patches."""
    images = images_of(memberships, coordinates, motions)
    weighted = memberships.weights[:, None] * images
    begin = memberships.indptr[:-1]
    total = np.add.reduceat(memberships.weights, begin)
    return np.asarray(np.add.reduceat(weighted, begin, axis=0) / total[:, None])


def images_of(
    memberships: Memberships, coordinates: FloatArray, motions: RigidMotions
) -> FloatArray:
    """Return the image of every membership, u R + t."""
    patches = memberships.patches
    r, p = motions.rotations.shape[1:]
    images = np.empty((len(patches), p))
    # Every membership takes a rotation of its own.
    step = block_rows(8 * r * (p + 1), len(patches))
    for start in range(0, len(patches), step):
        block = slice(start, start + step)
        images[block] = motions.apply(coordinates[memberships.entries[block]], patches[block])
    return images


def _starting_rows(
    cover: PatchCover, coordinates: FloatArray, start: FloatArray, dims: IntArray
) -> FloatArray:
    """Return rotations and translations that fit every chart onto a known embedding."""
    c, r, p = cover.n_patches, coordinates.shape[1], start.shape[1]
    w, begin = cover.chart_weights[:, None], cover.indptr[:-1]
    total = np.add.reduceat(w, begin)
    u_mean = np.add.reduceat(w * coordinates, begin) / total
    y_mean = np.add.reduceat(w * start[cover.members], begin) / total
    u = coordinates - u_mean[cover.patches]
    y = start[cover.members] - y_mean[cover.patches]
    cross = _cross_moments(w * u, y, cover)
    left, _, right = np.linalg.svd(cross, full_matrices=False)
    rotations = left @ right
    translations = y_mean - (u_mean[:, None, :] @ rotations)[:, 0]
    used = np.arange(r) < dims[:, None]
    rows = np.concatenate([rotations, translations[:, None, :]], axis=1)
    return np.asarray(rows[np.column_stack([used, np.ones(c, dtype=bool)])].reshape(-1, p))


def _cross_moments(u: FloatArray, y: FloatArray, cover: PatchCover) -> FloatArray:
    """Return Σ uᵀy over the entries of every patch."""
    r, p = u.shape[1], y.shape[1]
    cross = np.empty((cover.n_patches, r, p))
    step = block_rows(8 * int(cover.sizes.max()) * r * p, cover.n_patches)
    for start in range(0, cover.n_patches, step):
        ends = cover.indptr[start : start + step + 1]
        entries = slice(ends[0], ends[-1])
        products = u[entries, :, None] * y[entries, None, :]
        cross[start : start + step] = np.add.reduceat(products, ends[:-1] - ends[0])
    return cross
