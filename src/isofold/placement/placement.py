"""Where linked components lie, and what their placement does to shapes and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import KDTree

from isofold._typing import FloatArray
from isofold.linalg import principal_coordinates
from isofold.linalg.motions import RigidMotions
from isofold.placement.links import Links
from isofold.sdp import SDPSolution

__all__ = ["Placement", "mixed_fraction"]

LEAST_EXTENT = 1e-3
"""Directions in which a component extends less than this fraction of its longest have no extent:
what is left there is what the solver's tolerance on lengths allows."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Where components lie: z = y A_p + b_p for the points y of component p.

    Attributes
    ----------
    motions : RigidMotions
        The matrices A_p, orthogonal unless the placement is affine, and the vectors b_p.
    singular_values : ndarray of shape (n_components, q)
        By how much every map stretches its component, descending: 1 is isometric, 0 is squashed.
        Directions in which a component has no extent count as 1.
    link_lengths : ndarray of shape (n_links,)
        Lengths of the links in the map.
    variance : float
        Mean squared distance of all points to their mean.
    mixed : float
        Fraction of points whose nearest neighbor belongs to another component.
    solution : SDPSolution or None
        The solution of the semidefinite program behind an affine placement.
    """

    motions: RigidMotions
    singular_values: FloatArray
    link_lengths: FloatArray
    variance: float
    mixed: float
    solution: SDPSolution | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        shapes: Sequence[FloatArray],
        links: Links,
        motions: RigidMotions,
        *,
        solution: SDPSolution | None = None,
    ) -> Placement:
        """Return the placement by given motions, rotated into principal axes, with its figures."""
        q = motions.rotations.shape[2]
        frame = principal_coordinates(np.concatenate(motions.apply_each(shapes)), q)
        motions = motions.in_frame(frame.mean, frame.axes)
        placed = motions.apply_each(shapes)
        first, second = (
            np.array([placed[p][i] for p, i in zip(owners, members, strict=True)])
            for owners, members in zip(links.owners.T, links.members.T, strict=True)
        )
        stretches = [_stretch(Y, A) for Y, A in zip(shapes, motions.rotations, strict=True)]
        return cls(
            motions=motions,
            singular_values=np.array(stretches),
            link_lengths=np.linalg.norm((first - second).reshape(-1, q), axis=1),
            variance=frame.total_variance,
            mixed=mixed_fraction(placed),
            solution=solution,
        )

    def apply(self, shapes: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the points of every component where they belong."""
        placed = self.motions.apply_each(shapes)
        return [Z.astype(Y.dtype, copy=False) for Z, Y in zip(placed, shapes, strict=True)]


def mixed_fraction(placed: Sequence[FloatArray]) -> float:
    """Return the fraction of points whose nearest neighbor belongs to another component."""
    sizes = np.array([len(Z) for Z in placed])
    points, owner = np.concatenate(placed), np.repeat(np.arange(len(placed)), sizes)
    counted = sizes[owner] > 1
    if not counted.any():
        return 0.0
    # The nearest but itself; of several points in one position any may come first.
    nearest = np.asarray(KDTree(points).query(points[counted], k=2)[1])
    itself = nearest[:, 0] == np.flatnonzero(counted)
    other = np.where(itself, nearest[:, 1], nearest[:, 0])
    return float((owner[other] != owner[counted]).mean())


def _stretch(shape: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the singular values of a map on the directions in which a shape has extent."""
    principal = principal_coordinates(shape)
    least = LEAST_EXTENT**2 * principal.variances.max(initial=0.0)
    extent = principal.axes[:, principal.variances > least]
    values = np.ones(len(matrix))
    values[: extent.shape[1]] = np.linalg.svd(extent.T @ matrix, compute_uv=False)
    return np.sort(values)[::-1]
