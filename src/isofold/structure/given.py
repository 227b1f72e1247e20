"""What can be given of a structure beside rigid groups, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from isofold._typing import FloatArray, IntArray

__all__ = ["Anchors", "Centers", "Contacts", "DistanceBounds"]


def _nobody(width: int) -> IntArray:
    return np.empty((0, width), dtype=np.intp)


def _nothing() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class DistanceBounds:
    """Distances that are known or bounded.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_bounds, 2)
        The pairs of points.
    lower, upper : ndarray of shape (n_bounds,)
        Bounds on their distances: equal for known distances, 0 and infinity where there is none.
    weights : ndarray of shape (n_bounds,)
        Weights of the squared violations.
    """

    pairs: IntArray = field(default_factory=lambda: _nobody(2))
    lower: FloatArray = field(default_factory=_nothing)
    upper: FloatArray = field(default_factory=_nothing)
    weights: FloatArray = field(default_factory=_nothing)

    def __len__(self) -> int:
        return len(self.pairs)

    def joined(self, other: DistanceBounds) -> DistanceBounds:
        """Return these bounds and others."""
        return DistanceBounds(
            np.concatenate([self.pairs, other.pairs]),
            np.concatenate([self.lower, other.lower]),
            np.concatenate([self.upper, other.upper]),
            np.concatenate([self.weights, other.weights]),
        )

    def loosened(self, slack: float) -> DistanceBounds:
        """Return the bounds with upper ones multiplied by a factor; known distances stay."""
        upper = np.where(self.lower < self.upper, slack * self.upper, self.upper)
        return DistanceBounds(self.pairs, self.lower, upper, self.weights)

    def renumbered(self, number: IntArray) -> DistanceBounds:
        """Return the bounds between points that have a new number; others have a negative one."""
        pairs = number[self.pairs]
        kept = (pairs >= 0).all(axis=1)
        return DistanceBounds(pairs[kept], self.lower[kept], self.upper[kept], self.weights[kept])


@dataclass(frozen=True, eq=False)
class Centers:
    """Centers of known hand: signed volumes of the tetrahedra of four neighbors."""

    corners: IntArray = field(default_factory=lambda: _nobody(4))
    volumes: FloatArray = field(default_factory=_nothing)

    def __len__(self) -> int:
        return len(self.corners)


@dataclass(frozen=True, eq=False)
class Anchors:
    """Points whose coordinates are known."""

    points: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    positions: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True, eq=False)
class Contacts:
    """How near points may come that nothing joins.

    Attributes
    ----------
    radii : ndarray of shape (n_points,)
        Two points are no nearer than the sum of their radii.
    exempt : ndarray of int of shape (n_exempt, 2)
        Pairs that may be nearer, such as atoms within three bonds. Pairs inside of rigid groups
        and pairs with a lower bound of their own always may.
    """

    radii: FloatArray
    exempt: IntArray = field(default_factory=lambda: _nobody(2))
