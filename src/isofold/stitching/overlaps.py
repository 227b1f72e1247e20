"""Overlaps: what two patches that share points say about how they fit together.

The misfit of a point x in patches i and j is |u_i R_i + t_i - u_j R_j - t_j|². Summed over the
shared points it is a quadratic form of (R_i, t_i, R_j, t_j), given by second moments of the rows
p = (u, 1). Two weightings are in use:

- *consensus*, w_i(x) w_j(x) / Σ_k w_k(x): the sum over all pairs is the scatter of the images of x
  around their weighted mean, so that a point counts by how central it is, not by how many patches
  hold it;
- *by overlap*, 1/n_ij: each overlap counts by the mean over its points (the thesis, eq. 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._findings import parameter
from isofold._memory import require_memory
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.patches import Memberships, PatchCover
from isofold.stitching._moments import group_moments

__all__ = ["Overlaps", "joint_matrix", "measure_overlaps"]

LEAST_TIE = 1e-9
"""Smallest singular value of the cross-covariance of an overlap, in units of the charts' variance,
above which it is not just rounding."""


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of patches that share points, and the moments of those.

    Attributes
    ----------
    pairs : ndarray of shape (n_overlaps, 2)
        Patches i < j.
    counts : ndarray of shape (n_overlaps,)
        Number of shared points.
    cross : ndarray of shape (n_overlaps, r + 1, r + 1)
        Weighted sums of p_i p_jᵀ.
    own : ndarray of shape (n_patches, r + 1, r + 1)
        Weighted sums of p_i p_iᵀ over all overlaps of a patch.
    variance : float
        Weighted variance of the chart coordinates within the overlaps, both sides added: what the
        misfit is measured against.
    """

    pairs: IntArray
    counts: IntArray
    cross: FloatArray
    own: FloatArray
    variance: float

    @property
    def weights(self) -> FloatArray:
        """Total weight of every overlap."""
        return self.cross[:, -1, -1]

    def rigid_groups(self, motions: FloatArray, dimensions: IntArray) -> IntArray:
        """Return the group of every patch: overlaps tie those of one together without a hinge.

        An overlap determines how one patch lies to the other if the points that they share span
        all dimensions of one of them (Theorem 1 of the thesis, where both have dimension r). Then
        that patch lies within the span of the other, and both count as one patch from there on,
        whose overlaps are those of its members together, moved by (R, t) of shape (r + 1, p).
        """
        first, second = (_homogeneous(motions[side]) for side in self.pairs.T)
        pairs: IntArray = self.pairs
        cross: FloatArray = first.swapaxes(1, 2) @ self.cross @ second
        labels: IntArray = np.arange(len(dimensions))
        while True:
            is_tied = _ranks(cross) >= dimensions[pairs].min(axis=1)
            ties = _rigid_ties(pairs[is_tied], dimensions)
            groups = _component_labels(ties, len(dimensions))
            n = int(groups.max(initial=-1)) + 1
            if n == len(dimensions):
                return labels
            labels = groups[labels]
            pairs, cross = _merged(groups[pairs], cross, n)
            members = dimensions
            dimensions = np.zeros(n, dtype=np.intp)
            np.maximum.at(dimensions, groups, members)


def _homogeneous(motions: FloatArray) -> FloatArray:
    """Return motions (R, t) as matrices that take rows (u, 1) to rows (u R + t, 1)."""
    last = np.zeros((*motions.shape[:2], 1))
    last[:, -1] = 1.0
    return np.concatenate([motions, last], axis=2)


def _merged(groups: IntArray, cross: FloatArray, n: int) -> tuple[IntArray, FloatArray]:
    """Return pairs of groups, and the sums of the moments of their members."""
    is_swapped = groups[:, 0] > groups[:, 1]
    cross = np.where(is_swapped[:, None, None], cross.swapaxes(1, 2), cross)
    is_between = groups[:, 0] != groups[:, 1]
    keys, number = np.unique(np.sort(groups[is_between], axis=1) @ [n, 1], return_inverse=True)
    sums = np.zeros((len(keys), *cross.shape[1:]))
    np.add.at(sums, number, cross[is_between])
    return np.column_stack(np.divmod(keys, n)), sums


def _ranks(cross: FloatArray) -> IntArray:
    """Return how many dimensions the points of overlaps span, from their moments."""
    weights = cross[:, -1:, -1:]
    means = cross[:, :-1, -1:] @ cross[:, -1:, :-1] / weights**2
    values = np.linalg.svd(cross[:, :-1, :-1] / weights - means, compute_uv=False)
    return np.asarray((values > LEAST_TIE).sum(axis=1))


def _rigid_ties(ties: IntArray, dimensions: IntArray) -> IntArray:
    """Return ties that hold all patches on a chain of them: those of equal dimension come first.

    Of a smaller patch only one tie counts at a time. It may lie within two larger ones, and does
    not hold them to each other: a bar between two plates is an axis about which they rotate.
    """
    sizes = dimensions[ties]
    is_even = sizes[:, 0] == sizes[:, 1]
    if is_even.any():
        return ties[is_even]
    smaller = np.take_along_axis(ties, sizes.argmin(axis=1)[:, None], axis=1)[:, 0]
    return ties[np.unique(smaller, return_index=True)[1]]


def _component_labels(pairs: IntArray, n: int) -> IntArray:
    """Return the connected component of every patch."""
    links = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def measure_overlaps(
    cover: PatchCover,
    memberships: Memberships,
    coordinates: FloatArray,
    *,
    keep_small: bool = False,
) -> Overlaps:
    """Gather the moments of all overlaps, or of all but small ones that others make up for."""
    c, r = cover.n_patches, coordinates.shape[1]
    first, second = _pairs_within(memberships)
    rows = np.column_stack([coordinates, np.ones(len(coordinates))])[memberships.entries]
    what = f"The overlaps of {c} patches share {len(first)} pairs of points; their moments"
    fewer = parameter("n_components")
    instead = f"Use smaller patches, so that a point is in fewer of them, or fewer {fewer}."
    require_memory(8 * len(first) * (4 * (r + 1) + 8), what=what, instead=instead)
    keys = memberships.patches[first] * c + memberships.patches[second]
    found, overlap = np.unique(keys, return_inverse=True)
    counts = np.bincount(overlap, minlength=len(found))
    keep = _worth_keeping(found, counts, c, r)
    if not keep_small and not keep.all():
        inside = keep[overlap]
        first, second = first[inside], second[inside]
        overlap = (np.cumsum(keep) - 1)[overlap[inside]]
        found, counts = found[keep], counts[keep]
    if cover.by_overlap:
        weights = 1.0 / counts[overlap]
    else:
        w = memberships.weights
        total = np.bincount(memberships.points, w, minlength=cover.n_points)
        weights = w[first] * w[second] / total[memberships.points[first]]
    # Once here, and in the joint matrix both ways, with rows and columns.
    require_memory(8 * 8 * (2 * len(found) + c) * (r + 1) ** 2, what=what, instead=instead)
    cross = group_moments(rows, first, second, weights, overlap, len(found))
    n = len(memberships.entries)
    each, load = np.arange(n), np.zeros(n)
    square: FloatArray = (rows[:, :-1] ** 2).sum(axis=1)
    squares = np.zeros((2, len(found)))
    for side, end in enumerate((first, second)):
        load += np.bincount(end, weights, minlength=n)
        squares[side] += np.bincount(overlap, weights * square[end], minlength=len(found))
    return Overlaps(
        pairs=np.column_stack([found // c, found % c]),
        counts=counts,
        cross=cross,
        own=group_moments(rows, each, each, load, memberships.patches, c),
        variance=_variance(squares[0], cross[:, :, -1]) + _variance(squares[1], cross[:, -1, :]),
    )


def joint_matrix(overlaps: Overlaps, dimensions: IntArray) -> sp.csr_array:
    """Return the misfit of all overlaps as a quadratic form of rotations and translations."""
    c, side = overlaps.own.shape[:2]
    i, j = overlaps.pairs.T
    rows = np.concatenate([np.arange(c), i, j])
    columns = np.concatenate([np.arange(c), j, i])
    blocks = np.concatenate([overlaps.own, -overlaps.cross, -overlaps.cross.swapaxes(1, 2)])
    offset = np.arange(side)
    total = c * side
    positions = (
        np.broadcast_to(rows[:, None, None] * side + offset[:, None], blocks.shape).ravel(),
        np.broadcast_to(columns[:, None, None] * side + offset, blocks.shape).ravel(),
    )
    matrix = sp.csr_array(sp.coo_array((blocks.ravel(), positions), shape=(total, total)))
    if (dimensions == side - 1).all():
        return matrix
    used = ((offset < dimensions[:, None]) | (offset == side - 1)).ravel()
    return matrix[used][:, used]


def _pairs_within(memberships: Memberships) -> tuple[IntArray, IntArray]:
    """Return all pairs of memberships of one point, the lower patch first."""
    begin, counts = memberships.indptr[:-1], np.diff(memberships.indptr)
    firsts, seconds = [], []
    for b in range(1, int(counts.max(initial=0))):
        holders = begin[counts > b]
        for a in range(b):
            firsts.append(holders + a)
            seconds.append(holders + b)
    if not firsts:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    swap = memberships.patches[first] > memberships.patches[second]
    return np.where(swap, second, first), np.where(swap, first, second)


def _worth_keeping(keys: IntArray, counts: IntArray, c: int, r: int) -> BoolArray:
    """Return which overlaps are to be kept: all but the small ones that others make up for.

    Small ones say little, and every one of them fills the factors of the stitching. But where no
    third patch overlaps both, a small overlap may be all that closes a ring.
    """
    keep = counts >= r + 2
    if not len(keys):
        return keep
    first, second = np.divmod(keys, c)
    ones = np.ones(int(keep.sum()))
    strong = sp.csr_array((ones, (first[keep], second[keep])), shape=(c, c))
    strong = strong + strong.T
    by_way = strong @ strong
    return keep | (np.asarray(by_way[first, second]).ravel() == 0)


def _variance(squares: FloatArray, sums: FloatArray) -> float:
    """Return Σ w |u - ū|² over all overlaps, from sums of w |u|² and of w p."""
    return float((squares - (sums[:, :-1] ** 2).sum(axis=1) / sums[:, -1]).sum())
