"""A reference moved onto a structure, and how far apart the two are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg import procrustes
from isofold.reports.structure.view import StructureView
from isofold.structure import Structure

__all__ = ["MovedReference", "knows_hand", "superimpose"]

ROUNDING = 1e-9
"""Distances up to this fraction of the extent of a structure are zero."""

MIRRORED = 0.5
"""Ratio of misfits below which the mirror image of a structure counts as the better fit."""


@dataclass(frozen=True, eq=False)
class MovedReference:
    """A reference in the frame of a structure.

    Attributes
    ----------
    positions : ndarray of shape (n_points, n_components)
        The reference, moved; NaN where it is not known.
    errors : ndarray of shape (n_points,)
        Distances from it; NaN where it is not known.
    core : ndarray of int
        The points over which it was superimposed.
    is_moved : bool
        Whether it was moved as a whole; components with anchors are not.
    mirror_rms : float
        Root mean square distance if mirror images are allowed, too.
    """

    positions: FloatArray
    errors: FloatArray
    core: IntArray
    is_moved: bool
    mirror_rms: float

    @property
    def rms(self) -> float:
        """Root mean square distance over all known points."""
        return _rms(self.errors)

    @property
    def core_rms(self) -> float:
        """Root mean square distance over the points that were superimposed."""
        return _rms(self.errors[self.core])

    @property
    def is_mirrored(self) -> bool:
        """Whether the mirror image of the reference fits much better."""
        return self.mirror_rms < MIRRORED * self.core_rms


def knows_hand(structure: Structure) -> bool:
    """Return whether anything given tells a structure from its mirror image."""
    problem, dimension = structure.problem, structure.coordinates.shape[1]
    anchors = problem.anchors.positions
    if len(anchors) > dimension and np.linalg.matrix_rank(anchors - anchors[0]) == dimension:
        return True
    if not np.isnan(structure.vote):
        return True
    return any(group.has_hand and group.dimension >= dimension for group in problem.groups)


def superimpose(structure: Structure, view: StructureView) -> MovedReference | None:
    """Return the reference of a view, moved onto the structure by rotations and shifts.

    Every component is moved by itself, since nothing tells where they lie relative to each other,
    but not those with anchors, whose frame is that of the reference.
    Mirror images are allowed only where nothing tells the hand.
    """
    if view.reference is None:
        return None
    coordinates = np.asarray(structure.coordinates, dtype=np.float64)
    is_known = ~np.isnan(view.reference).any(axis=1)
    is_core = is_known.copy()
    if view.core is not None:
        is_core &= np.isin(np.arange(len(is_core)), view.core)
    positions, mirrored = (
        _moved(view.reference, structure, is_core, is_known, reflection=reflection)
        for reflection in (not knows_hand(structure), True)
    )
    positions = np.where(is_known[:, None], positions, np.nan)
    return MovedReference(
        positions=positions,
        errors=_errors(positions, coordinates),
        core=np.flatnonzero(is_core),
        is_moved=len(structure.problem.anchors) == 0,
        mirror_rms=_rms(_errors(mirrored, coordinates)[is_core]),
    )


def _moved(
    reference: FloatArray,
    structure: Structure,
    is_core: BoolArray,
    is_known: BoolArray,
    *,
    reflection: bool,
) -> FloatArray:
    """Return a reference with each component moved onto that of the structure; anchors hold it."""
    moved = reference.copy()
    held = structure.component[structure.problem.anchors.points]
    for part in np.setdiff1d(structure.component, held):
        inside = (structure.component == part) & is_known
        rows = inside & is_core if (inside & is_core).any() else inside
        if not rows.any():
            continue
        fit = procrustes(reference[rows], structure.coordinates[rows], reflection=reflection)
        moved[inside] = fit.transform.apply(reference[inside])
    return moved


def _errors(positions: FloatArray, coordinates: FloatArray) -> FloatArray:
    """Return distances of points, zero where they are rounding."""
    errors = np.linalg.norm(positions - coordinates, axis=1)
    return np.where(errors <= ROUNDING * np.ptp(coordinates, axis=0).max(), 0.0, errors)


def _rms(errors: FloatArray) -> float:
    known = errors[~np.isnan(errors)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else float("nan")
