"""The energy of a structure: one smooth term for every kind of datum, and its descent.

For a pair with squared distance g and interval [l, u] the term w·dist(√g, [l, u])² is a convex
function of g: its slope w(1 - u/√g) above u, and w(1 - l/√g) below l, increases in g. So is
-c√g. Sums of such terms are convex in the Gram matrix of the points, whatever their dimension, and
have a dual: `slopes` and `conjugate` are its pieces (`isofold.structure.certificate`).

Signed volumes and rigid shapes are not convex. They enter where the dimension is fixed. A shape is
the misfit Σ min over rotations R and shifts t of |Y - P R - t|² of a group with geometry P: the
stitching error of isometric patch alignment with its frames eliminated. Since R is a rotation, the
hand of every group that fills the space comes out right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy.optimize import minimize

from isofold._progress.stages import interrupted
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure._energy import (
    add_areas,
    add_intervals,
    add_shapes,
    add_stretch,
    add_volumes,
    poses,
)
from isofold.structure.given import DistanceBounds
from isofold.structure.groups import RigidGroup

__all__ = ["Intervals", "Shapes", "Stretch", "Term", "Volumes", "descend"]


class Term(Protocol):
    """A part of the energy."""

    def add(self, Y: FloatArray, gradient: FloatArray) -> float:
        """Add the gradient at Y, and return the energy."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Σ w dist(|y_i - y_j|, [lower, upper])²: convex in the Gram matrix."""

    pairs: IntArray
    lower: FloatArray
    upper: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, bounds: DistanceBounds, *, weight: float = 1.0, scale: float = 1.0) -> Self:
        """Return the term of some bounds, whose lengths are divided by `scale`."""
        pairs = np.ascontiguousarray(bounds.pairs, dtype=np.intp)
        lower, upper = bounds.lower / scale, bounds.upper / scale
        return cls(pairs, lower, upper, weight * bounds.weights)

    def add(self, Y: FloatArray, gradient: FloatArray) -> float:
        """Add the gradient at Y, and return the energy."""
        return add_intervals(Y, self.pairs, self.lower, self.upper, self.weights, gradient)

    def lengths(self, Y: FloatArray) -> FloatArray:
        """Return the distances of the pairs."""
        return np.asarray(np.linalg.norm(Y[self.pairs[:, 0]] - Y[self.pairs[:, 1]], axis=1))

    def excess(self, Y: FloatArray) -> FloatArray:
        """Return by how much each distance is outside of its interval."""
        lengths = self.lengths(Y)
        return np.asarray(lengths - np.clip(lengths, self.lower, self.upper))

    def slopes(self, Y: FloatArray) -> FloatArray:
        """Return the derivative by the squared distance: the multiplier of each pair."""
        length = np.maximum(self.lengths(Y), 1e-12)
        return np.asarray(self.weights * (1.0 - np.clip(length, self.lower, self.upper) / length))

    def conjugate(self, s: FloatArray) -> FloatArray:
        """Return φ*(s) = sup over g of s g - φ(g); infinite from the weight on."""
        at = np.where(s > 0.0, self.upper, self.lower)
        room = self.weights - s
        with np.errstate(divide="ignore", invalid="ignore"):
            value = at**2 * s * self.weights / room
        # Without an upper bound nothing holds a pair that is pushed apart; 0·∞ is no push.
        value = np.where(s == 0.0, 0.0, value)
        return np.asarray(np.where((room > 0.0) | (s <= 0.0), value, np.inf))


@dataclass(frozen=True, eq=False)
class Stretch:
    """-scale Σ c |y_i - y_j|: pulls pairs apart with a bounded force, convex in the Gram matrix."""

    pairs: IntArray
    pulls: FloatArray
    scale: float = 1.0

    def scaled(self, scale: float) -> Stretch:
        """Return the pull with another strength."""
        return replace(self, scale=scale)

    def add(self, Y: FloatArray, gradient: FloatArray) -> float:
        """Add the gradient at Y, and return the energy."""
        return add_stretch(Y, self.pairs, self.pulls, self.scale, gradient)

    def slopes(self, Y: FloatArray) -> FloatArray:
        """Return the derivative by the squared distance: the multiplier of each pair."""
        length = np.linalg.norm(Y[self.pairs[:, 0]] - Y[self.pairs[:, 1]], axis=1)
        return np.asarray(-self.scale * self.pulls / (2.0 * np.maximum(length, 1e-12)))

    def conjugate(self, s: FloatArray) -> FloatArray:
        """Return (-c√·)*(s) = c²/(4|s|), infinite where s is not negative."""
        with np.errstate(divide="ignore"):
            value = (self.scale * self.pulls) ** 2 / (4.0 * np.abs(s))
        return np.asarray(np.where(s < 0.0, value, np.where(self.pulls > 0.0, np.inf, 0.0)))


@dataclass(frozen=True, eq=False)
class Volumes:
    """Σ w (signed volume, or area in the plane, of d + 1 points - given)², in d columns."""

    corners: IntArray
    volumes: FloatArray
    weight: float = 1.0

    def add(self, Y: FloatArray, gradient: FloatArray) -> float:
        """Add the gradient at Y, and return the energy."""
        kernel = add_volumes if self.corners.shape[1] == 4 else add_areas
        return kernel(Y, self.corners, self.volumes, self.weight, gradient)

    def found(self, Y: FloatArray) -> FloatArray:
        """Return the signed volumes in Y."""
        d = self.corners.shape[1] - 1
        edges = Y[self.corners[:, 1:], :d] - Y[self.corners[:, :1], :d]
        if d == 2:
            (px, py), (qx, qy) = edges[:, 0].T, edges[:, 1].T
            return np.asarray((px * qy - py * qx) / 2.0)
        sides = np.cross(edges[:, 1], edges[:, 2])
        return np.asarray((edges[:, 0] * sides).sum(axis=1) / 6.0)


@dataclass(frozen=True, eq=False)
class Shapes:
    """Σ w min over rotations R and shifts t of |Y_group - P R - t|²: rigid groups."""

    begin: IntArray
    members: IntArray
    shapes: FloatArray
    has_hand: BoolArray
    weight: float = 1.0

    @classmethod
    def of(
        cls,
        groups: Sequence[RigidGroup],
        n_components: int,
        *,
        weight: float = 1.0,
        scale: float = 1.0,
    ) -> Self:
        """Return the term of some groups, whose lengths are divided by `scale`."""
        begin = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
        members = np.concatenate([[], *(group.points for group in groups)])
        shapes = [group.in_axes(n_components) / scale for group in groups]
        return cls(
            begin.astype(np.intp),
            members.astype(np.intp),
            np.ascontiguousarray(np.vstack([np.empty((0, n_components)), *shapes])),
            np.array([group.has_hand for group in groups], dtype=np.uint8),
            weight,
        )

    def add(self, Y: FloatArray, gradient: FloatArray) -> float:
        """Add the gradient at Y, and return the energy."""
        return add_shapes(
            Y, self.begin, self.members, self.shapes, self.has_hand, self.weight, gradient
        )

    def weighted(self, weight: float) -> Shapes:
        """Return the term with another weight."""
        return replace(self, weight=weight)

    def posed(self, Y: FloatArray) -> FloatArray:
        """Return where the members of all groups belong: each shape moved to fit best."""
        where = np.empty_like(self.shapes)
        poses(Y, self.begin, self.members, self.shapes, self.has_hand, where)
        return where


def descend(
    terms: Sequence[Term],
    Y: FloatArray,
    iterations: int,
    *,
    squeeze: FloatArray | None = None,
    fixed: IntArray | None = None,
    tol: float = 1e-9,
) -> tuple[FloatArray, float]:
    """Minimize a sum of terms by L-BFGS; return the points and their energy.

    `squeeze` weights the squares of each column, and `fixed` points stay where they are.
    """
    shape = Y.shape

    def energy(y: FloatArray) -> tuple[float, FloatArray]:
        places = y.reshape(shape)
        gradient = np.zeros(shape)
        value = sum(term.add(places, gradient) for term in terms)
        if squeeze is not None:
            value += float((places**2 @ squeeze).sum())
            gradient += 2.0 * squeeze * places
        if fixed is not None:
            gradient[fixed] = 0.0
        return value, gradient.ravel()

    def look(_: FloatArray) -> None:
        """Keep what there is once the user asks for an end."""
        if interrupted():
            raise StopIteration

    budget = {"maxiter": iterations, "maxfun": 2 * iterations}
    settings: Any = {**budget, "maxcor": 12, "ftol": tol, "gtol": 1e-3 * np.sqrt(tol)}
    start = np.array(Y, dtype=np.float64).ravel()
    after_each: Any = look
    found = minimize(
        energy, start, jac=True, method="L-BFGS-B", options=settings, callback=after_each
    )
    return found.x.reshape(shape), float(found.fun)
