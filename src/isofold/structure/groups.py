"""Rigid groups: points whose distances from each other do not depend on the structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.linalg import classical_scaling

__all__ = ["RigidGroup", "read_points_of"]

FLAT = 1e-6
"""Extent of an axis, relative to the largest, below which a group does not extend along it."""

NOT_EUCLIDEAN = 1e-3
"""Misfit of scaled distances, relative to the largest, from which on no points have them."""


@dataclass(frozen=True, eq=False)
class RigidGroup:
    """Points that move as one body, with the geometry that they keep.

    Attributes
    ----------
    points : ndarray of int of shape (n_members,)
        The points of the structure that belong to the group.
    coordinates : ndarray of shape (n_members, n_axes)
        Where they are relative to each other, in any frame.
    has_hand : bool
        Whether the group may be rotated but not mirrored. It matters only for groups that fill
        the space: a flat group is its own mirror image.
    name : str
        What the group is called in findings; may be empty.

    Examples
    --------
    >>> from isofold.structure import RigidGroup
    >>> RigidGroup.of([4, 7, 9], [[0, 0], [1, 0], [0, 1]]).dimension
    2
    """

    points: IntArray
    coordinates: FloatArray
    has_hand: bool = True
    name: str = ""

    @classmethod
    def of(cls, points: Any, coordinates: Any, *, has_hand: bool = True, name: str = "") -> Self:
        """Return a group with given coordinates.

        Parameters
        ----------
        points : array-like of int of shape (n_members,)
            Two points or more.
        coordinates : array-like of shape (n_members, n_axes)
            Their geometry; flat groups may have fewer axes than the structure.
        has_hand : bool, default=True
            Whether the mirror image of the group is another group.
        name : str, default=""
            What the group is called in findings.

        Returns
        -------
        RigidGroup
            The group; it keeps copies.

        Raises
        ------
        InvalidInputError
            If there are fewer than two points, one is named twice, or the coordinates make no
            sense.
        """
        members = read_points_of(points, name="points of a rigid group")
        where = np.array(coordinates, dtype=np.float64, ndmin=2)
        if where.shape[0] != len(members) or where.ndim != 2:
            msg = (
                f"A rigid group has {len(members)} points, but coordinates of shape "
                f"{where.shape}. Pass one row for every point."
            )
            raise InvalidInputError(msg)
        if not np.isfinite(where).all():
            msg = "A rigid group has NaN or infinite coordinates. Leave such points out."
            raise InvalidInputError(msg)
        if len(np.unique(members)) < max(2, len(members)):
            msg = (
                f"A rigid group names the points {members.tolist()}: it needs at least two, and "
                f"each only once."
            )
            raise InvalidInputError(msg)
        return cls(_frozen(members), _frozen(where), bool(has_hand), name)

    @classmethod
    def of_distances(cls, points: Any, distances: Any, *, name: str = "") -> Self:
        """Return a group with given distances; its mirror image is the same group.

        Parameters
        ----------
        points : array-like of int of shape (n_members,)
            Two points or more.
        distances : array-like of shape (n_members, n_members)
            Their distances from each other.
        name : str, default=""
            What the group is called in findings.

        Returns
        -------
        RigidGroup
            The group, with coordinates by classical scaling.

        Raises
        ------
        InvalidInputError
            If no points have these distances.
        """
        given = np.array(distances, dtype=np.float64, ndmin=2)
        if given.ndim != 2 or given.shape[0] != given.shape[1] or not np.isfinite(given).all():
            msg = f"distances of a rigid group have shape {given.shape}: pass a finite square."
            raise InvalidInputError(msg)
        where = classical_scaling(given**2).coordinates
        found = np.linalg.norm(where[:, None] - where[None], axis=2)
        worst = float(np.abs(found - given).max())
        if worst > NOT_EUCLIDEAN * max(float(given.max()), np.finfo(float).tiny):
            msg = (
                f"No points have the distances of a rigid group: coordinates miss them by up to "
                f"{worst:.3g}. Check for a typing error, or pass them as bounds."
            )
            raise InvalidInputError(msg)
        return cls.of(points, where, has_hand=False, name=name)

    @property
    def dimension(self) -> int:
        """How many dimensions the group fills."""
        extents = np.linalg.svd(self.coordinates - self.coordinates.mean(axis=0), compute_uv=False)
        return int((extents > FLAT * max(extents[0], np.finfo(float).tiny)).sum())

    def in_axes(self, n_axes: int) -> FloatArray:
        """Return centered coordinates in a given number of axes, at least its dimension."""
        centered = self.coordinates - self.coordinates.mean(axis=0)
        if centered.shape[1] > n_axes:
            left, extents, _ = np.linalg.svd(centered, full_matrices=False)
            centered = left[:, :n_axes] * extents[:n_axes]
        return np.pad(centered, ((0, 0), (0, n_axes - centered.shape[1])))

    def pairs(self) -> tuple[IntArray, FloatArray]:
        """Return all pairs of its points, with their distances."""
        first, second = np.triu_indices(len(self.points), 1)
        lengths = np.linalg.norm(self.coordinates[first] - self.coordinates[second], axis=1)
        return np.column_stack([self.points[first], self.points[second]]), lengths

    def __iter__(self) -> Iterator[int]:
        return iter(self.points.tolist())

    def __len__(self) -> int:
        return len(self.points)


def read_points_of(points: Any, *, name: str, width: int | None = None) -> IntArray:
    """Return numbers of points: a list of them, or rows of a given width."""
    numbers = np.asarray(points)
    shape = "(n,)" if width is None else f"(n, {width})"
    if numbers.size == 0:
        return np.empty((0,) if width is None else (0, width), dtype=np.intp)
    is_right = numbers.ndim == 1 if width is None else numbers.shape[1:] == (width,)
    if not is_right or numbers.dtype.kind not in "iu":
        msg = (
            f"The {name} must be whole numbers of shape {shape}, but are {numbers.dtype} of shape "
            f"{numbers.shape}. Points are counted from 0."
        )
        raise InvalidInputError(msg)
    return np.array(numbers, dtype=np.intp)


def _frozen(array: Any) -> Any:
    """Return an array that nobody writes to."""
    array.flags.writeable = False
    return array
