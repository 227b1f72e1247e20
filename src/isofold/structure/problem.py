"""What is known of a structure: rigid groups, distances, angles, hands of centers, anchors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.stitching.terms import end_distances
from isofold.structure.given import Anchors, Centers, Contacts, DistanceBounds
from isofold.structure.groups import RigidGroup, read_points_of

__all__ = ["StructureProblem"]


@dataclass(frozen=True, eq=False)
class StructureProblem:
    """All that is known of a structure; every `with_…` method returns a new problem.

    Parameters
    ----------
    n_points : int
        Number of points.
    names : tuple of str, default=()
        What points are called in findings and files; their numbers if empty.

    Attributes
    ----------
    groups : tuple of RigidGroup
        Points that move as one body.
    bounds : DistanceBounds
        Distances that are known or bounded.
    angles : DistanceBounds
        Angles, as distances of the ends of their legs.
    centers : Centers
        Centers of known hand.
    anchors : Anchors
        Points whose coordinates are known.
    contacts : Contacts or None
        How near points may come that nothing joins.

    Examples
    --------
    A triangle hinged to another one, and one bound across the hinge:

    >>> from isofold.structure import RigidGroup, StructureProblem
    >>> triangle = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]]
    >>> problem = (
    ...     StructureProblem(4)
    ...     .with_groups([RigidGroup.of([0, 1, 2], triangle), RigidGroup.of([0, 1, 3], triangle)])
    ...     .with_bounds([[2, 3]], upper=[1.2])
    ... )
    >>> len(problem.groups), len(problem.bounds)
    (2, 1)
    """

    n_points: int
    names: tuple[str, ...] = ()
    groups: tuple[RigidGroup, ...] = ()
    bounds: DistanceBounds = field(default_factory=DistanceBounds)
    angles: DistanceBounds = field(default_factory=DistanceBounds)
    centers: Centers = field(default_factory=Centers)
    anchors: Anchors = field(default_factory=Anchors)
    contacts: Contacts | None = None

    def __post_init__(self) -> None:
        is_count = isinstance(self.n_points, int | np.integer)
        if not is_count or isinstance(self.n_points, bool) or self.n_points < 1:
            msg = f"n_points={self.n_points!r} must be a whole number of at least 1."
            raise InvalidInputError(msg)
        if self.names and len(self.names) != self.n_points:
            msg = f"There are {len(self.names)} names for {self.n_points} points."
            raise InvalidInputError(msg)

    def with_groups(self, groups: Iterable[RigidGroup]) -> Self:
        """Return the problem with further rigid groups.

        Parameters
        ----------
        groups : iterable of RigidGroup
            Groups that may share points: two that share two points are a hinge.

        Returns
        -------
        StructureProblem
            The new problem.
        """
        added = tuple(groups)
        for group in added:
            self._refuse_unknown(group.points, name=f"rigid group {group.name}".strip())
        return replace(self, groups=(*self.groups, *added))

    def with_distances(self, pairs: Any, lengths: Any, *, weights: Any = 1.0) -> Self:
        """Return the problem with further known distances.

        Parameters
        ----------
        pairs : array-like of int of shape (n_pairs, 2)
            The pairs of points.
        lengths : array-like of shape (n_pairs,) or float
            Their distances.
        weights : array-like of shape (n_pairs,) or float, default=1.0
            Weights of the squared violations.

        Returns
        -------
        StructureProblem
            The new problem.
        """
        return self.with_bounds(pairs, lower=lengths, upper=lengths, weights=weights)

    def with_bounds(
        self, pairs: Any, *, lower: Any = None, upper: Any = None, weights: Any = 1.0
    ) -> Self:
        """Return the problem with further bounds on distances.

        Parameters
        ----------
        pairs : array-like of int of shape (n_pairs, 2)
            The pairs of points.
        lower, upper : array-like of shape (n_pairs,), float or None, default=None
            Bounds on their distances; None for none.
        weights : array-like of shape (n_pairs,) or float, default=1.0
            Weights of the squared violations.

        Returns
        -------
        StructureProblem
            The new problem.

        Raises
        ------
        InvalidInputError
            If a bound is negative or NaN, or a lower one exceeds its upper one.
        """
        bounds = self._read_bounds(pairs, lower, upper, weights, name="bounds")
        return replace(self, bounds=self.bounds.joined(bounds))

    def with_angles(self, corners: Any, *, legs: Any, lower: Any = None, upper: Any = None) -> Self:
        """Return the problem with further angles that are known or bounded.

        Parameters
        ----------
        corners : array-like of int of shape (n_angles, 3)
            Points a, b, c with the angle at b.
        legs : array-like of shape (n_angles, 2), (2,) or float
            The lengths from b to a and to c: between legs of known lengths, an angle is a distance.
        lower, upper : array-like of shape (n_angles,), float or None, default=None
            Bounds on the angles in radians, from 0 to π; None for none.

        Returns
        -------
        StructureProblem
            The new problem.

        Raises
        ------
        InvalidInputError
            If an angle is not between 0 and π, or a leg not positive.
        """
        triples = self._read_rows(corners, 3, name="corners")
        legs = _numbers(legs, (len(triples), 2), name="legs")
        if not (np.isfinite(legs) & (legs > 0.0)).all():
            msg = (
                "The legs of an angle must be positive and finite: only between legs of known "
                "lengths is an angle a distance. Pass the lengths from the middle point to the "
                "other two."
            )
            raise InvalidInputError(msg)
        low = None if lower is None else _end_distances(legs, lower, name="lower angle")
        high = None if upper is None else _end_distances(legs, upper, name="upper angle")
        bounds = self._read_bounds(triples[:, ::2], low, high, 1.0, name="angles")
        return replace(self, angles=self.angles.joined(bounds))

    def with_centers(self, corners: Any, volumes: Any) -> Self:
        """Return the problem with further centers of known hand.

        Parameters
        ----------
        corners : array-like of int of shape (n_centers, 4)
            Four neighbors a, b, c, d of each center (or three and the center).
        volumes : array-like of shape (n_centers,)
            Signed volumes (b - a)·((c - a) × (d - a)) / 6 of their tetrahedra. The sign is the
            hand.

        Returns
        -------
        StructureProblem
            The new problem.
        """
        fours = self._read_rows(corners, 4, name="corners of centers")
        given = _numbers(volumes, (len(fours),), name="volumes")
        if not np.isfinite(given).all():
            msg = "A volume of a center is NaN or infinite. Leave such centers out."
            raise InvalidInputError(msg)
        known = self.centers
        return replace(
            self,
            centers=Centers(
                np.concatenate([known.corners, fours]), np.concatenate([known.volumes, given])
            ),
        )

    def with_anchors(self, points: Any, positions: Any) -> Self:
        """Return the problem with points whose coordinates are known; they replace earlier ones.

        Parameters
        ----------
        points : array-like of int of shape (n_anchors,)
            The points.
        positions : array-like of shape (n_anchors, n_components)
            Their coordinates.

        Returns
        -------
        StructureProblem
            The new problem.
        """
        numbers = read_points_of(points, name="anchors")
        self._refuse_unknown(numbers, name="anchors")
        where = np.array(positions, dtype=np.float64, ndmin=2)
        if len(where) != len(numbers) or where.ndim != 2 or not np.isfinite(where).all():
            msg = (
                f"There are {len(numbers)} anchors, but positions of shape {where.shape} "
                f"{'with NaN or infinite numbers' if len(where) == len(numbers) else ''}. Pass one "
                f"row of finite numbers for every anchor."
            )
            raise InvalidInputError(msg)
        if len(np.unique(numbers)) < len(numbers):
            msg = "A point is an anchor twice. Pass each point once."
            raise InvalidInputError(msg)
        return replace(self, anchors=Anchors(numbers, where))

    def with_contacts(self, radii: Any, *, exempt: Any = ()) -> Self:
        """Return the problem with a least distance of points that nothing joins.

        Parameters
        ----------
        radii : array-like of shape (n_points,) or float
            Two points are no nearer than the sum of their radii.
        exempt : array-like of int of shape (n_exempt, 2), default=()
            Pairs that may be nearer. Pairs inside of rigid groups, and pairs with a lower bound
            of their own, always may.

        Returns
        -------
        StructureProblem
            The new problem.
        """
        sizes = _numbers(radii, (self.n_points,), name="radii")
        if not (np.isfinite(sizes) & (sizes >= 0.0)).all():
            msg = "Contact radii must be finite and not negative."
            raise InvalidInputError(msg)
        return replace(
            self, contacts=Contacts(sizes, self._read_rows(exempt, 2, name="exempt pairs"))
        )

    def restricted(self, points: IntArray) -> Self:
        """Return what is known of some of the points, counted from 0 in their order."""
        number = np.full(self.n_points, -1)
        number[points] = np.arange(len(points))
        anchored = number[self.anchors.points] >= 0
        held = number[self.centers.corners]
        inside = (held >= 0).all(axis=1)
        contacts = self.contacts
        if contacts is not None:
            exempt = number[contacts.exempt]
            contacts = Contacts(contacts.radii[points], exempt[(exempt >= 0).all(axis=1)])
        return replace(
            self,
            n_points=len(points),
            names=tuple(self.names[point] for point in points) if self.names else (),
            groups=tuple(
                replace(group, points=number[group.points])
                for group in self.groups
                if (number[group.points] >= 0).all()
            ),
            bounds=self.bounds.renumbered(number),
            angles=self.angles.renumbered(number),
            centers=Centers(held[inside], self.centers.volumes[inside]),
            anchors=Anchors(
                number[self.anchors.points[anchored]], self.anchors.positions[anchored]
            ),
            contacts=contacts,
        )

    def name_of(self, point: int) -> str:
        """Return what a point is called."""
        return self.names[point] if self.names else str(int(point))

    def _read_bounds(
        self, pairs: Any, lower: Any, upper: Any, weights: Any, *, name: str
    ) -> DistanceBounds:
        """Return bounds on distances, checked."""
        two = self._read_rows(pairs, 2, name=f"pairs of {name}")
        n = len(two)
        if n and lower is None and upper is None:
            msg = f"There are {n} pairs of {name}, but neither lower nor upper bounds of them."
            raise InvalidInputError(msg)
        low = _numbers(0.0 if lower is None else lower, (n,), name=f"lower {name}")
        high = _numbers(np.inf if upper is None else upper, (n,), name=f"upper {name}")
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            k = int(crossed[0])
            a, b = (self.name_of(point) for point in two[k])
            msg = (
                f"The lower bound {low[k]:g} on the distance of {a} and {b} exceeds the upper "
                f"bound {high[k]:g}: nothing is between them. Swap or widen them."
            )
            raise InvalidInputError(msg)
        if np.isinf(low).any():
            msg = f"A lower bound of {name} is infinite. Pass finite ones."
            raise InvalidInputError(msg)
        weight = _numbers(weights, (n,), name="weights")
        if not (np.isfinite(weight) & (weight > 0.0)).all():
            msg = "Weights of bounds must be positive and finite. Leave out bounds without weight."
            raise InvalidInputError(msg)
        return DistanceBounds(two, low, high, weight)

    def _read_rows(self, rows: Any, width: int, *, name: str) -> IntArray:
        """Return rows of points that differ, checked."""
        numbers = read_points_of(rows, name=name, width=width)
        self._refuse_unknown(numbers, name=name)
        ordered = np.sort(numbers, axis=1)
        same = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(same):
            msg = f"Row {same[0]} of {name} names a point twice: {numbers[same[0]].tolist()}."
            raise InvalidInputError(msg)
        return numbers

    def _refuse_unknown(self, points: IntArray, *, name: str) -> None:
        """Refuse points that the problem does not have."""
        wrong = points[(points < 0) | (points >= self.n_points)]
        if len(wrong):
            msg = f"The {name} name point {wrong.flat[0]}, but points are 0 to {self.n_points - 1}."
            raise InvalidInputError(msg)


def _numbers(values: Any, shape: tuple[int, ...], *, name: str) -> FloatArray:
    """Return numbers in a given shape, none of them NaN; only volumes may be negative."""
    try:
        numbers = np.array(np.broadcast_to(np.asarray(values, dtype=np.float64), shape))
    except (TypeError, ValueError) as error:
        msg = f"The {name} must be a number, or numbers of shape {shape}: {error}."
        raise InvalidInputError(msg) from error
    if np.isnan(numbers).any() or (name != "volumes" and (numbers < 0.0).any()):
        msg = f"The {name} hold NaN or negative numbers. Leave such rows out."
        raise InvalidInputError(msg)
    return numbers


def _end_distances(legs: FloatArray, angles: Any, *, name: str) -> FloatArray:
    """Return the distances between the ends of legs with given angles."""
    theta = _numbers(angles, (len(legs),), name=name)
    if len(theta) and theta.max() > np.pi:
        msg = (
            f"An angle is {theta.max():g}, but angles are radians from 0 to π. Convert degrees by "
            f"numpy.deg2rad."
        )
        raise InvalidInputError(msg)
    return end_distances(legs, theta)
