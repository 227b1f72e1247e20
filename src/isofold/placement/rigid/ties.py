"""Among layouts of equal variance, the one whose distances agree best with the data.

Cut a link: the branch beyond it may rotate about the line from the link's end to the branch's mean
as one rigid body, since this moves no end and no mean. Likewise a shape may rotate across the span
of its own ends. Such a rotation is W ∈ O(k) on the complement N of the fixed directions, and with
coordinates n_i = (z_i − c) N the squared distances of moved to other points are linear in it,

    |z_i − z_j|² = κ_ij − 2 n_i W n_jᵀ,

so that the relative s-stress Σ (|z_i − z_j|² − δ_ij²)² / δ_ij⁴ is a convex quadratic in W. On
O(k) its linearization, shifted by a multiple of |W|² = k, is a bound that a polar factor
minimizes. Both parts of O(k), det = ±1, are tried. In the plane W is a sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg.motions import RigidMotions
from isofold.placement.rigid.link_tree import LinkTree
from isofold.placement.rigid.tightening import Bounds

__all__ = ["FreeRotation", "TieBreaker"]

MOST_ROUNDS = 3
"""Rounds over all rotations at most; one or two are usual."""

MOST_REPRESENTATIVES = 300
"""Representatives of all shapes together, about: more would settle nothing else."""

MOST_STEPS, LEAST_CHANGE = 30, 1e-6
"""Steps of one rotation at most, and the relative change of its stress that ends them."""

LEAST_GAIN = 1e-9
"""A rotation is taken if it lowers the stress by more than this fraction: ties stay as they are."""

LEAST_LENGTH = 1e-9
"""Vectors shorter than this, relative to the largest length, have no direction."""

NEAREST = 1e-2
"""Distances below this fraction of their mean are raised to it, so that none has all the weight."""


@dataclass(frozen=True, eq=False)
class FreeRotation:
    """A rigid motion that leaves the variance as it is.

    Attributes
    ----------
    moved : ndarray of bool of shape (n_shapes,)
        The shapes that rotate together.
    center : ndarray of shape (q,)
        A point that stays.
    complement : ndarray of shape (q, k)
        Orthonormal directions, as columns, in which the shapes may rotate.
    """

    moved: BoolArray
    center: FloatArray
    complement: FloatArray

    def matrix(self, W: FloatArray) -> FloatArray:
        """Return the rotation W of the complement as a matrix of all directions."""
        N = self.complement
        return np.eye(len(N)) + N @ (W - np.eye(len(W))) @ N.T

    def added_to(self, motions: RigidMotions, W: FloatArray) -> RigidMotions:
        """Return motions followed by the rotation W of these shapes as one rigid body."""
        rotations, centroids = motions.rotations.copy(), motions.translations.copy()
        moved, matrix = self.moved, self.matrix(W)
        rotations[moved] = rotations[moved] @ matrix
        centroids[moved] = self.center + (centroids[moved] - self.center) @ matrix
        return RigidMotions(rotations, centroids)


@dataclass(frozen=True, eq=False)
class TieBreaker:
    """Distances between representatives of different shapes, and the layout that fits them.

    Attributes
    ----------
    owner : ndarray of int of shape (n_representatives,)
        The shape of every representative.
    centered : ndarray of shape (n_representatives, q)
        Representatives relative to the centroids of their shapes.
    distances : ndarray of shape (n_representatives, n_representatives)
        Their distances in the data.
    """

    owner: IntArray
    centered: FloatArray
    distances: FloatArray

    @classmethod
    def of(cls, owner: IntArray, centered: FloatArray, distances: FloatArray) -> TieBreaker:
        """Return the representatives with their distances, thinned out where they are many."""
        step = -(-len(owner) // MOST_REPRESENTATIVES)
        # Every shape keeps its first: what is thinned is the list within each.
        within = np.arange(len(owner)) - np.searchsorted(owner, owner)
        kept = within % step == 0
        return cls(owner[kept], centered[kept], distances[np.ix_(kept, kept)])

    def settled(
        self, motions: RigidMotions, tree: LinkTree, links: Bounds, weights: FloatArray
    ) -> RigidMotions:
        """Return the motions of the same variance that agrees best with the distances."""
        # First every shape joins those nearer to the root, whatever lies beyond it, so that the
        # result does not depend on how ties happened to fall; then all see all others.
        is_seen = np.zeros(len(weights), dtype=bool)
        for shape in tree.order:
            alone = np.arange(len(weights)) == shape
            for kind in ROTATIONS:
                free = kind(motions, tree, links, weights, shape)
                motions = self._rotated(motions, free, alone, is_seen)
            is_seen |= alone
        for _ in range(MOST_ROUNDS):
            before = motions
            for shape, kind in product(tree.order, ROTATIONS):
                free = kind(motions, tree, links, weights, shape)
                motions = self._rotated(motions, free, free.moved, ~free.moved)
            if motions is before:
                break
        return motions

    def _rotated(
        self, motions: RigidMotions, free: FreeRotation, judged: BoolArray, against: BoolArray
    ) -> RigidMotions:
        """Return motions with a rotation that lowers the stress of some shapes against others."""
        rows, columns = judged[self.owner], against[self.owner]
        if not rows.any() or not columns.any() or free.complement.shape[1] == 0:
            return motions
        Z = motions.apply(self.centered, self.owner)
        moved, others = ((Z[side] - free.center) @ free.complement for side in (rows, columns))
        distances = self.distances[np.ix_(rows, columns)]
        least = NEAREST * float(distances.mean())
        scale = 1.0 / np.maximum(distances, least) ** 4 if least > 0.0 else np.ones_like(distances)
        constant = cdist(Z[rows], Z[columns], "sqeuclidean") + 2.0 * moved @ others.T
        stress = _RotationStress(moved, others, constant - distances**2, scale)
        W = stress.minimum()
        before = stress.value(np.eye(len(W)))
        if before - stress.value(W) <= LEAST_GAIN * before:
            return motions
        return free.added_to(motions, W)


def _branch_rotation(
    motions: RigidMotions, tree: LinkTree, links: Bounds, weights: FloatArray, shape: int
) -> FreeRotation:
    """Return the rotation of the branch of a shape; none in a cycle of links, or of the root."""
    branch, parent = tree.branches[shape], tree.parent[shape]
    if parent < 0 or not tree.is_bridge(shape, links.shapes):
        return FreeRotation(branch, motions.translations[shape], np.zeros((links.ends.shape[2], 0)))
    end = motions.translations[parent] + tree.near[shape] @ motions.rotations[parent]
    mean = weights[branch] @ motions.translations[branch] / weights[branch].sum()
    return FreeRotation(branch, end, _complement((mean - end)[None], tree.unit))


def _own_rotation(
    motions: RigidMotions, tree: LinkTree, links: Bounds, weights: FloatArray, shape: int
) -> FreeRotation:
    """Return the rotation of a shape alone, across the span of its link ends."""
    ends = links.ends[links.shapes == shape] @ motions.rotations[shape]
    alone = np.arange(len(weights)) == shape
    return FreeRotation(alone, motions.translations[shape], _complement(ends, tree.unit))


ROTATIONS = (_branch_rotation, _own_rotation)


def _complement(vectors: FloatArray, unit: float) -> FloatArray:
    """Return orthonormal directions across given vectors, as columns."""
    _, sizes, axes = np.linalg.svd(vectors, full_matrices=True)
    return axes[int((sizes > LEAST_LENGTH * unit).sum()) :].T


@dataclass(frozen=True, eq=False)
class _RotationStress:
    """Σ s_ij (c_ij − 2 n_i W n_jᵀ)² as a function of W."""

    moved: FloatArray
    others: FloatArray
    excess: FloatArray
    scale: FloatArray

    def value(self, W: FloatArray) -> float:
        return float((self.scale * self._residual(W) ** 2).sum())

    def _residual(self, W: FloatArray) -> FloatArray:
        return self.excess - 2.0 * self.moved @ W @ self.others.T

    def _descent(self, W: FloatArray) -> FloatArray:
        """Return a quarter of the negative gradient."""
        return self.moved.T @ (self.scale * self._residual(W)) @ self.others

    def minimum(self) -> FloatArray:
        """Return the better of the minima with positive and negative determinant."""
        # The start does not depend on how the shapes lie now: the gradient at W = 0.
        start = self._descent(np.zeros((self.moved.shape[1],) * 2))
        found = [self._descended(start, sign) for sign in (1.0, -1.0)]
        return min(found, key=self.value)

    def _descended(self, start: FloatArray, sign: float) -> FloatArray:
        W = _polar(start, sign)
        if len(W) == 1:
            return W
        value = self.value(W)
        bound = 2.0 * float((self.moved**2).sum(axis=1) @ self.scale @ (self.others**2).sum(axis=1))
        shift = bound / len(W) ** 2
        for _ in range(MOST_STEPS):
            descent = self._descent(W)
            # The shift that proves descent is far too careful: try a smaller one first.
            while True:
                trial = _polar(descent + shift * W, sign)
                new = self.value(trial)
                if new <= value or shift >= bound:
                    break
                shift *= 2.0
            if value - new <= LEAST_CHANGE * value:
                break
            W, value, shift = trial, new, shift / 2.0
        return W


def _polar(matrix: FloatArray, sign: float) -> FloatArray:
    """Return the orthogonal matrix with a determinant of given sign that agrees best."""
    left, _, right = np.linalg.svd(matrix)
    if np.linalg.det(left) * np.linalg.det(right) * sign < 0:
        left[:, -1] *= -1.0
    return left @ right
