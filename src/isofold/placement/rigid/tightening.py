"""Rigid shapes of largest variance under bounds on distances between their points.

Where links form cycles, or shapes must not come too near to each other, the layout maximizes

    Σ n_p |m_p − m|²    subject to    |z_i − z_j| ≤ d   or   |z_i − z_j| ≥ d

over rotations R_p = R_p⁰ (I − A_p)(I + A_p)⁻¹ (Cayley, A_p skew) and centroids m_p, by an augmented
Lagrangian whose minima are found with L-BFGS. Rotations stay orthogonal throughout. Bounds that
contradict each other are missed by as little as a large penalty on the squares allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from isofold._typing import FloatArray, IntArray
from isofold.linalg.motions import RigidMotions

__all__ = ["Bounds", "Tolerance", "tighten", "tighten_from_several"]

FIRST_PENALTY, PENALTY_GROWTH, LARGEST_PENALTY = 10.0, 4.0, 1e6
"""Penalties on squared distances in units of the mean squared distance to the center."""

ENOUGH_PROGRESS = 0.25
"""A round that leaves more than this fraction of the violation makes the penalty grow."""


N_SHAKES, SHAKE = 2, 0.3
"""Further starts, and by how much they differ, in radians and fractions of the layout's size."""

SAME_MISS = 1e-4
"""Layouts that miss their bounds by as much up to this fraction count as equally near."""


@dataclass(frozen=True)
class Tolerance:
    """When to stop.

    Attributes
    ----------
    violation : float
        Violation of squared distances, in units of the mean squared distance to the center, that
        ends the rounds.
    gradient : float
        Largest entry of the gradient that ends a round.
    rounds : int
        Rounds of multipliers at most.
    steps : int
        Steps of L-BFGS in each round at most.
    """

    violation: float = 1e-11
    gradient: float = 1e-9
    rounds: int = 30
    steps: int = 300


EXACTLY = Tolerance()


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on distances between points of different shapes.

    Attributes
    ----------
    shapes : ndarray of int of shape (n_bounds, 2)
        The two shapes of every bound.
    ends : ndarray of shape (n_bounds, 2, q)
        The two points, relative to the centroids of their shapes.
    lengths : ndarray of shape (n_bounds,)
        The bounds.
    signs : ndarray of shape (n_bounds,)
        1 where the distance may be at most the bound, −1 where at least.
    """

    shapes: IntArray
    ends: FloatArray
    lengths: FloatArray
    signs: FloatArray

    def only(self, rows: IntArray) -> Bounds:
        """Return some of the bounds."""
        return Bounds(self.shapes[rows], self.ends[rows], self.lengths[rows], self.signs[rows])

    @classmethod
    def joined(cls, lists: list[Bounds]) -> Bounds:
        """Return all bounds of several lists."""
        names = ("shapes", "ends", "lengths", "signs")
        return cls(*(np.concatenate([getattr(one, name) for one in lists]) for name in names))

    def vectors(self, motions: RigidMotions) -> FloatArray:
        """Return the vectors from the first to the second point of every bound."""
        first, second = (
            motions.apply(self.ends[:, side], self.shapes[:, side]) for side in range(2)
        )
        return second - first


def tighten(
    motions: RigidMotions, weights: FloatArray, bounds: Bounds, tolerance: Tolerance = EXACTLY
) -> RigidMotions:
    """Return motions of (locally) largest variance within bounds."""
    fractions = weights / weights.sum()
    center = fractions @ motions.translations
    rotations, centroids = motions.rotations, motions.translations - center
    unit = float(np.sqrt(fractions @ (centroids**2).sum(axis=1)))
    unit = max(unit, float(bounds.lengths.max()), np.finfo(np.float64).tiny)
    scaled = Bounds(bounds.shapes, bounds.ends / unit, bounds.lengths / unit, bounds.signs)
    centroids, multipliers = centroids / unit, np.zeros(len(bounds.lengths))
    penalty, before = FIRST_PENALTY, np.inf
    for _ in range(tolerance.rounds):
        lagrangian = _Lagrangian(rotations, fractions, scaled, multipliers, penalty)
        rotations, centroids = lagrangian.minimum(centroids, tolerance)
        excess = lagrangian.excess(rotations, centroids)
        violation = float(np.abs(np.maximum(excess, -multipliers / penalty)).max())
        if violation <= tolerance.violation:
            break
        if penalty >= LARGEST_PENALTY and violation >= before:
            break
        multipliers = np.maximum(0.0, multipliers + penalty * excess)
        if violation > ENOUGH_PROGRESS * before:
            penalty = min(PENALTY_GROWTH * penalty, LARGEST_PENALTY)
        before = violation
    left, _, right = np.linalg.svd(rotations)
    return RigidMotions(left @ right, centroids * unit + center)


def tighten_from_several(
    starts: Sequence[RigidMotions],
    weights: FloatArray,
    bounds: Bounds,
    random_state: np.random.RandomState,
) -> RigidMotions:
    """Return the best of the motions within bounds that are found from several starts.

    Some more starts lie near the first one, since shapes along a line never leave it. Of
    two layouts the better one misses the bounds by less, or by as little with a larger variance.
    """
    motions, fractions = starts[0], weights / weights.sum()
    unit = float(
        np.linalg.norm(motions.translations - fractions @ motions.translations, axis=1).max()
    )
    found = [tighten(start, weights, bounds) for start in starts]
    for _ in range(N_SHAKES):
        noise = random_state.normal(size=motions.rotations.shape)
        left, _, right = np.linalg.svd(motions.rotations + SHAKE * noise)
        shifts = SHAKE * unit * random_state.normal(size=motions.translations.shape)
        shaken = RigidMotions(left @ right, motions.translations + shifts)
        found.append(tighten(shaken, weights, bounds))
    gaps = [np.linalg.norm(bounds.vectors(one), axis=1) for one in found]
    missed = [
        float((np.maximum(0.0, bounds.signs * (g - bounds.lengths)) ** 2).sum()) for g in gaps
    ]
    centered = [one.translations - fractions @ one.translations for one in found]
    variances = [float(fractions @ (m**2).sum(axis=1)) for m in centered]
    allowed = min(missed) * (1.0 + SAME_MISS) + (SAME_MISS * unit) ** 2
    best = np.argmax(np.where(np.array(missed) <= allowed, variances, -1.0))
    return found[int(best)]


@dataclass(frozen=True, eq=False)
class _Lagrangian:
    """The augmented Lagrangian around rotations, as a function of skew matrices and centroids."""

    rotations: FloatArray
    fractions: FloatArray
    bounds: Bounds
    multipliers: FloatArray
    penalty: float

    def minimum(self, centroids: FloatArray, tolerance: Tolerance) -> tuple[FloatArray, FloatArray]:
        """Return rotations and centroids that minimize it."""
        n_shapes, q = centroids.shape
        start = np.concatenate([np.zeros(n_shapes * q * (q - 1) // 2), centroids.ravel()])
        found = minimize(
            self.value,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": tolerance.steps, "ftol": 0.0, "gtol": tolerance.gradient},
        )
        cayley, _, centroids = self._unpacked(found.x)
        return self.rotations @ cayley, centroids

    def excess(self, rotations: FloatArray, centroids: FloatArray) -> FloatArray:
        """Return by how much squared distances are beyond their bounds; negative within."""
        gaps = self._gaps(rotations, centroids)
        return self.bounds.signs * ((gaps**2).sum(axis=1) - self.bounds.lengths**2)

    def _gaps(self, rotations: FloatArray, centroids: FloatArray) -> FloatArray:
        return -self.bounds.vectors(RigidMotions(rotations, centroids))

    @cached_property
    def _incidence(self) -> sp.csr_array:
        """The first and second end of every bound, as +1 and −1 in the row of its shape."""
        n_bounds = len(self.bounds.lengths)
        signs = np.repeat([1.0, -1.0], n_bounds)
        positions = (self.bounds.shapes.T.ravel(), np.arange(2 * n_bounds))
        return sp.csr_array((signs, positions), shape=(len(self.fractions), 2 * n_bounds))

    def value(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and its gradient."""
        cayley, inverse, centroids = self._unpacked(x)
        n_shapes, q = centroids.shape
        rotations = self.rotations @ cayley
        gaps = self._gaps(rotations, centroids)
        bounds = self.bounds
        excess = bounds.signs * ((gaps**2).sum(axis=1) - bounds.lengths**2)
        force = np.maximum(0.0, self.multipliers + self.penalty * excess)
        centered = centroids - self.fractions @ centroids
        value = float((force**2).sum()) / (2.0 * self.penalty) - float(
            self.fractions @ (centered**2).sum(axis=1)
        )
        pull = (2.0 * force * bounds.signs)[:, None] * gaps
        to_centroids = -2.0 * self.fractions[:, None] * centered
        ends = bounds.ends.transpose(1, 0, 2).reshape(-1, q)
        pulls = np.concatenate([pull, pull])
        to_centroids += self._incidence @ pulls
        torques = (ends[:, :, None] * pulls[:, None, :]).reshape(len(ends), -1)
        to_rotations = (self._incidence @ torques).reshape(n_shapes, q, q)
        # R = R⁰ C with C = (I − A)(I + A)⁻¹ has dC = −(I + C) dA (I + A)⁻¹.
        back = (np.eye(q) + cayley).transpose(0, 2, 1)
        to_skew = (
            -back @ self.rotations.transpose(0, 2, 1) @ to_rotations @ inverse.transpose(0, 2, 1)
        )
        rows, columns = np.triu_indices(q, 1)
        to_skew = to_skew[:, rows, columns] - to_skew[:, columns, rows]
        return value, np.concatenate([to_skew.ravel(), to_centroids.ravel()])

    def _unpacked(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return Cayley transforms, the inverses in them, and centroids."""
        n_shapes, q = self.rotations.shape[:2]
        n_skew = n_shapes * q * (q - 1) // 2
        rows, columns = np.triu_indices(q, 1)
        skew = np.zeros((n_shapes, q, q))
        skew[:, rows, columns] = x[:n_skew].reshape(n_shapes, -1)
        skew -= skew.transpose(0, 2, 1)
        inverse = np.linalg.inv(np.eye(q) + skew)
        return (np.eye(q) - skew) @ inverse, inverse, x[n_skew:].reshape(n_shapes, q)
