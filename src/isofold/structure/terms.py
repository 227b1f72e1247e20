"""A problem in natural units, as the terms of an energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import cKDTree

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.energy import Intervals, Shapes, Term, Volumes
from isofold.structure.groups import RigidGroup
from isofold.structure.problem import StructureProblem
from isofold.structure.rules import StructureRules
from isofold.structure.start import group_lengths

__all__ = ["ContactList", "Terms", "natural_unit"]

NEARLY_FLAT = 0.05
"""Least extent of a group, relative to its largest, whose hand counts: a peptide plane that is bent
by 2 % has one, but noise decides which."""


def natural_unit(problem: StructureProblem, rules: StructureRules) -> float:
    """Return the length that is one in natural units."""
    given = group_lengths(problem).joined(problem.bounds).joined(problem.angles)
    lengths = np.where(np.isfinite(given.upper), given.upper, given.lower)
    lengths = lengths[lengths > 0.0]
    if not len(lengths):
        return 1.0
    return float(np.median(lengths)) / rules.typical_length


@dataclass(frozen=True, eq=False)
class ContactList:
    """Points that must not come too near, unless they are exempt."""

    radii: FloatArray
    exempt: IntArray
    reach: float

    @classmethod
    def of(cls, problem: StructureProblem, *, scale: float, rules: StructureRules) -> Self | None:
        """Return the contacts of a problem, if it has any."""
        if problem.contacts is None or not problem.contacts.radii.any():
            return None
        radii = problem.contacts.radii / scale
        bounds = problem.bounds
        # Whoever gives a lower bound of his own knows better.
        own = [bounds.pairs[bounds.lower > 0.0], problem.angles.pairs, problem.contacts.exempt]
        pairs = np.sort(np.concatenate([group_lengths(problem).pairs, *own]), axis=1)
        keys = np.unique(pairs[:, 0] * problem.n_points + pairs[:, 1])
        return cls(radii, keys, rules.contact_reach * 2.0 * float(radii.max()))

    def near(self, Y: FloatArray) -> Intervals:
        """Return least distances of pairs that are near now."""
        pairs = np.sort(cKDTree(Y).query_pairs(self.reach, output_type="ndarray"), axis=1)
        keys = pairs[:, 0] * len(Y) + pairs[:, 1]
        order = np.argsort(keys)
        place = np.searchsorted(self.exempt, keys[order])
        known = self.exempt[np.minimum(place, len(self.exempt) - 1)] if len(self.exempt) else None
        kept = order if known is None else order[known != keys[order]]
        pairs = np.ascontiguousarray(pairs[kept], dtype=np.intp)
        lower = self.radii[pairs].sum(axis=1)
        infinite = np.full(len(pairs), np.inf)
        return Intervals(pairs, lower, infinite, np.ones(len(pairs)))


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a problem in natural units.

    Attributes
    ----------
    lengths : Intervals
        Distances inside of groups, for columns beyond the dimension.
    bounds : Intervals
        Distances, bounds and angles.
    shapes : Shapes
        Groups as shapes, for the dimension itself.
    hands : Volumes
        Everything that tells a structure from its mirror image.
    free_hands : Volumes
        The centers that no shape keeps.
    contacts : ContactList or None
        Points that must not come too near.
    anchors : ndarray of int of shape (n_anchors,)
        Points that stay.
    positions : ndarray of shape (n_anchors, n_components)
        Where they are.
    """

    n_points: int
    n_components: int
    lengths: Intervals
    bounds: Intervals
    shapes: Shapes
    hands: Volumes
    free_hands: Volumes
    contacts: ContactList | None
    anchors: IntArray
    positions: FloatArray

    @classmethod
    def of(
        cls,
        problem: StructureProblem,
        n_components: int,
        *,
        unit: float,
        slack: float,
        rules: StructureRules,
    ) -> Self:
        """Return the terms of a problem whose lengths are divided by a unit."""
        loosened = problem.bounds.joined(problem.angles).loosened(slack)
        is_kept, hands = _hands(problem, n_components)
        volume = unit**n_components
        return cls(
            problem.n_points,
            n_components,
            Intervals.of(group_lengths(problem), weight=rules.group_weight, scale=unit),
            Intervals.of(loosened, scale=unit),
            Shapes.of(problem.groups, n_components, scale=unit),
            Volumes(hands.corners, hands.volumes / volume),
            Volumes(hands.corners[~is_kept].copy(), hands.volumes[~is_kept] / volume),
            ContactList.of(problem, scale=unit, rules=rules),
            problem.anchors.points,
            problem.anchors.positions.reshape(-1, n_components) / unit,
        )

    def soft(self, Y: FloatArray, *, with_contacts: bool) -> list[Term]:
        """Return the terms while groups are sets of distances, in any number of columns."""
        terms: list[Term] = [self.lengths, self.bounds]
        if with_contacts:
            terms += [self.hands, *self.contacts_at(Y)]
        return terms

    def rigid(self, Y: FloatArray, weight: float) -> list[Term]:
        """Return the terms while groups are shapes, in as many columns as there are dimensions."""
        return [self.shapes.weighted(weight), self.bounds, self.free_hands, *self.contacts_at(Y)]

    def contacts_at(self, Y: FloatArray) -> list[Term]:
        """Return the term of contacts at present."""
        return [] if self.contacts is None else [self.contacts.near(Y)]


def _hands(problem: StructureProblem, d: int) -> tuple[BoolArray, Volumes]:
    """Return whether a shape keeps each center, and the centers: given ones and those of groups."""
    corners, volumes = problem.centers.corners, problem.centers.volumes
    holders: dict[int, list[int]] = {}
    filling = [k for k, group in enumerate(problem.groups) if group.has_hand and len(group) > d]
    for k in filling:
        for point in problem.groups[k]:
            holders.setdefault(point, []).append(k)
    voted = set()
    kept = np.zeros(len(corners), dtype=bool)
    for row, four in enumerate(corners.tolist()):
        shared = set.intersection(*(set(holders.get(point, ())) for point in four))
        kept[row] = bool(shared)
        voted |= shared
    widest = (_widest(problem.groups[k], d) for k in filling if k not in voted)
    own = [each for each in widest if each is not None]
    if own:
        own_corners = np.array([points for points, _ in own], dtype=np.intp)
        corners = np.concatenate([corners.reshape(-1, d + 1), own_corners])
        volumes = np.concatenate([volumes, [volume for _, volume in own]])
        kept = np.concatenate([kept, np.ones(len(own), dtype=bool)])
    rows = np.ascontiguousarray(corners.reshape(-1, d + 1), dtype=np.intp)
    return kept, Volumes(rows, np.asarray(volumes, dtype=np.float64))


def _widest(group: RigidGroup, d: int) -> tuple[IntArray, float] | None:
    """Return d + 1 points of a group that span much, with their signed volume; None if flat."""
    if group.dimension < d:
        return None
    where = group.in_axes(d)
    chosen = [int(np.argmax(np.linalg.norm(where, axis=1)))]
    rest = where - where[chosen[0]]
    extents = []
    for _ in range(d):
        # Each is the farthest from the subspace of those before: a pivoted QR.
        far = int(np.argmax(np.linalg.norm(rest, axis=1)))
        extents.append(float(np.linalg.norm(rest[far])))
        axis = rest[far] / extents[-1]
        rest = rest - np.outer(rest @ axis, axis)
        chosen.append(far)
    if extents[-1] < NEARLY_FLAT * extents[0]:
        return None
    corners = np.array([chosen])
    volume = float(Volumes(corners, np.zeros(1)).found(where)[0])
    return group.points[chosen], volume
