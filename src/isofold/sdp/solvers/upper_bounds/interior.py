"""Low-rank interior point method for bounds from above: steps, escapes from saddles, ranks.

For min ⟨C, YYᵀ⟩ subject to ⟨A_e, YYᵀ⟩ ≤ u_e with u_e > 0 the point Y = 0 is strictly feasible,
and the central path minimizes φ_μ(Y) = ⟨C, YYᵀ⟩ − μ Σ log(u_e − g_e). Its multipliers are w_e =
μ/(u_e − g_e). As in convex interior point methods they are variables of their own, so that
Newton's system

    [2S ⊗ I + 4 Σ (w_e/z_e) (A_eY)(A_eY)ᵀ + λI] dY = −∇φ_μ(Y),      z = u − g,  S = C + A*(w),

is good far from the path too (Wright 1997; Burer and Monteiro 2003 for the factorization). Its
solution is a descent direction of φ_μ if the matrix is positive definite, which λ sees to. Every
iterate is strictly feasible. For large μ the path has a low rank; where it becomes a saddle an
eigenvector of a negative eigenvalue of S, put into a new column, leads down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from isofold._typing import FloatArray
from isofold.sdp.program import Program
from isofold.sdp.solvers.upper_bounds.newton import NewtonSystem, newton_system

__all__ = ["Barrier", "InteriorPoint"]

TO_BORDER = 0.9
"""Fraction of the distance to the nearest bound that a step may go."""

LEAST_DAMPING, FIRST_DAMPING, LARGEST_DAMPING = 1e-9, 1e-3, 1e6
"""The damping λ in units of the cost's size. With the largest the steps are those of steepest
descent, with the least they are Newton's."""

DAMPING_FACTOR = 4.0
"""Change of λ after a poor step or a good one."""

POOR_STEP, GOOD_STEP = 0.1, 0.5
"""Step lengths below and above which λ is changed."""

SPREAD = 100.0
"""How far multipliers may lie from μ/z, as a factor in either direction."""

ARMIJO = 1e-4
"""Fraction of the predicted decrease that a step must reach."""

HALVINGS = 40
"""Halvings of a step; 2⁻⁴⁰ is below rounding."""

NULL_COLUMN = 3e-3
"""Columns smaller than this fraction of the largest are dropped: if the path needs them, an escape
brings them back at their best size."""


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A strictly feasible point with multipliers.

    Parameters
    ----------
    Y : ndarray of shape (size, rank)
        The coordinates.
    room : ndarray of shape (n_forms,)
        The distances z = u − g from the bounds, all positive.
    multipliers : ndarray of shape (n_forms,)
        The weights w, all positive.
    """

    Y: FloatArray
    room: FloatArray
    multipliers: FloatArray


class Barrier:
    """The steps of the method for one program.

    Parameters
    ----------
    program : Program
        Hard upper bounds, all positive and about 1, and a cost of size about 1.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._damping = FIRST_DAMPING
        self._system: NewtonSystem | None = None
        self._rank = 0

    def begin(self, Y: FloatArray, mu: float) -> InteriorPoint:
        """Return Y, scaled until the nearest bound is half used, with the path's multipliers."""
        upper = self._program.envelope.upper
        used = float(np.max(self._program.forms.values(Y) / upper, initial=0.0))
        Y = self._program.center(Y * np.sqrt(0.5 / used) if used > 0.0 else Y)
        room = upper - self._program.forms.values(Y)
        return InteriorPoint(Y, room, mu / room)

    def residual(self, point: InteriorPoint) -> float:
        """Return ‖(C + A*(w))Y‖ / ‖CY‖, off the gauge; zero at the origin, a critical point."""
        # Where the path is the origin Y would shrink without end and never be it.
        if np.all(point.room == self._program.envelope.upper):
            return 0.0
        product = np.asarray(self._program.cost @ point.Y)
        scale = float(np.linalg.norm(product))
        image = self._program.center(
            product + self._program.forms.adjoint(point.multipliers) @ point.Y
        )
        return float(np.linalg.norm(image)) / scale if scale > 0.0 else 0.0

    def step(self, point: InteriorPoint, mu: float) -> InteriorPoint | None:
        """Return the point after one Newton step for φ_μ, None if rounding forbids any."""
        program, z, w = self._program, point.room, point.multipliers
        if self._system is None or self._rank != point.Y.shape[1]:
            self._rank = point.Y.shape[1]
            self._system = newton_system(program, self._rank)
        if self._system is None:
            return None
        gradient = self._gradient(point, mu)
        self._system.assemble(program, point.Y, w, w / z)
        direction = self._system.solve(self._damping, gradient)
        while direction is None:
            self._damping = max(DAMPING_FACTOR * self._damping, FIRST_DAMPING)
            if self._damping > LARGEST_DAMPING:
                return None
            direction = self._system.solve(self._damping, gradient)
        direction = program.center(direction)
        line = _Line(program, point, direction, mu)
        t = line.first_decrease(1.0, slope=float(np.vdot(gradient, direction)))
        if t is None:
            return None
        change = (mu - z * w + 2.0 * w * line.mixed) / z
        falling = change < 0.0
        # The inverse of how far w may go, which unlike that distance cannot overflow.
        steepness = float(np.max(-change[falling] / w[falling], initial=0.0))
        longest = TO_BORDER / max(steepness, TO_BORDER)
        w = w + min(t if t < POOR_STEP else 1.0, longest) * change
        self._adapt(t)
        return self._at(point.Y + t * direction, w, mu, SPREAD)

    def escape(self, point: InteriorPoint, mu: float, modes: FloatArray) -> InteriorPoint:
        """Return the point with new columns along the modes, as long as lowers φ_μ most."""
        zeros = np.zeros((len(point.Y), modes.shape[1]))
        wide = InteriorPoint(np.hstack([point.Y, zeros]), point.room, point.multipliers)
        direction = np.hstack([np.zeros_like(point.Y), modes])
        line = _Line(self._program, wide, direction, mu)
        t = line.best_of_halvings()
        # Along a saddle the multipliers of the path change at once.
        return self._at(wide.Y + t * direction, point.multipliers, mu, np.sqrt(np.sqrt(SPREAD)))

    def condense(self, point: InteriorPoint, mu: float) -> InteriorPoint:
        """Return the point in principal axes without its null columns."""
        left, sizes, _ = scipy.linalg.svd(point.Y, full_matrices=False)
        rank = max(1, int(np.sum(sizes > NULL_COLUMN * sizes[0])))
        if rank == point.Y.shape[1]:
            return point
        return self._at(left[:, :rank] * sizes[:rank], point.multipliers, mu, SPREAD)

    def _at(self, Y: FloatArray, w: FloatArray, mu: float, spread: float) -> InteriorPoint:
        Y = np.ascontiguousarray(self._program.center(Y))
        upper = self._program.envelope.upper
        # No distance can be distinguished from a bound's own rounding.
        room = np.maximum(upper - self._program.forms.values(Y), np.finfo(float).eps * upper)
        return InteriorPoint(Y, room, np.clip(w, mu / room / spread, mu / room * spread))

    def _gradient(self, point: InteriorPoint, mu: float) -> FloatArray:
        adjoint = self._program.forms.adjoint(mu / point.room)
        return self._program.center(
            2.0 * np.asarray(self._program.cost @ point.Y + adjoint @ point.Y)
        )

    def _adapt(self, t: float) -> None:
        if t > GOOD_STEP:
            self._damping = max(self._damping / DAMPING_FACTOR, LEAST_DAMPING)
        elif t < POOR_STEP:
            self._damping = max(DAMPING_FACTOR * self._damping, FIRST_DAMPING)


class _Line:
    """φ_μ along a direction: bounds are quadratics of the step, known by two numbers each."""

    def __init__(
        self, program: Program, point: InteriorPoint, direction: FloatArray, mu: float
    ) -> None:
        product = np.asarray(program.cost @ direction)
        self.mixed, self._squared = program.forms.cross_and_values(point.Y, direction)
        self._linear = 2.0 * float(np.vdot(product, point.Y))
        self._quadratic = float(np.vdot(product, direction))
        self._room, self._mu = point.room, mu
        # The first t > 0 with z − 2t·mixed − t²·squared = 0, if there is one.
        inside = self.mixed**2 + self._squared * point.room
        below = self.mixed + np.sqrt(np.maximum(inside, 0.0))
        meets = (below > 0.0) & (inside >= 0.0)
        self._border = float(np.min(point.room[meets] / below[meets], initial=np.inf))

    def change(self, t: float) -> float:
        """Return φ_μ(Y + tD) − φ_μ(Y)."""
        used = t * (2.0 * self.mixed + t * self._squared) / self._room
        if np.any(used >= 1.0):
            return np.inf
        barrier = -self._mu * float(np.sum(np.log1p(-used)))
        return t * (self._linear + t * self._quadratic) + barrier

    def first_decrease(self, t: float, slope: float) -> float | None:
        """Return the first of t, t/2, t/4, … that lowers φ_μ enough."""
        t = min(t, TO_BORDER * self._border)
        for _ in range(HALVINGS):
            if self.change(t) <= ARMIJO * t * slope:
                return t
            t /= 2.0
        return None

    def best_of_halvings(self) -> float:
        """Return the best of the halvings of the distance to the border, zero if none is better."""
        if not np.isfinite(self._border):
            return 0.0
        steps = TO_BORDER * self._border * 0.5 ** np.arange(HALVINGS)
        changes = [self.change(float(t)) for t in steps]
        best = int(np.argmin(changes))
        return float(steps[best]) if changes[best] < 0.0 else 0.0
