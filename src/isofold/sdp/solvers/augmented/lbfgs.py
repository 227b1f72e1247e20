"""L-BFGS for P(Y) = ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩) with an exact line search.

Along a direction D every form is a quadratic of the step t, g(t) = g + 2t·⟨A, YDᵀ⟩ + t²·⟨A, DDᵀ⟩,
so that P(Y + tD) is a quartic while no bound changes its activity. Its minimum costs no product
with a matrix beyond those of one gradient.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import daxpy, ddot

from isofold._typing import FloatArray
from isofold.sdp.program import Program

__all__ = ["Point", "evaluate", "line_search", "minimize"]

MEMORY = 6
"""Pairs of steps and gradient changes that are remembered."""

FIRST_STEP = 1e-3
"""Scale of the first direction, before any curvature is known; the line search corrects it."""

EXPANSION = 0.1
"""First step, in units of the coordinates, where the active bounds put no end to a descent."""

DOUBLINGS = 60
"""Doublings of such a step; bounded problems end it long before."""

HALVINGS = 40
"""Halvings of a step that does not lower the objective; 2⁻⁴⁰ is below rounding."""


@dataclass(frozen=True, eq=False)
class Point:
    """Coordinates with all that is known about the objective there.

    Parameters
    ----------
    Y : ndarray of shape (size, rank)
        The coordinates.
    cost_product : ndarray of shape (size, rank)
        CY.
    values : ndarray of shape (n_forms,)
        The forms g.
    multipliers : ndarray of shape (n_forms,)
        Their derivatives w = ψ'(g).
    gradient : ndarray of shape (size, rank)
        2(C + A*(w))Y, off the gauge.
    linear : float
        ⟨C, YYᵀ⟩.
    objective : float
        P(Y).
    residual : float
        ‖gradient‖ / 2κ‖Y‖ with the scale κ of the cost.
    """

    Y: FloatArray
    cost_product: FloatArray
    values: FloatArray
    multipliers: FloatArray
    gradient: FloatArray
    linear: float
    objective: float
    residual: float


def evaluate(program: Program, Y: FloatArray) -> Point:
    """Return the point at Y; all penalties must be finite."""
    Y = np.ascontiguousarray(program.center(Y))
    return _point(program, Y, np.asarray(program.cost @ Y), program.forms.values(Y))


def minimize(
    program: Program,
    point: Point,
    *,
    max_iter: int,
    residual_tol: float,
    precondition: Callable[[FloatArray], FloatArray] | None = None,
) -> Iterator[Point]:
    """Yield points of decreasing objective until the residual is small or the steps end."""
    memory: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)
    for _ in range(max_iter):
        if point.residual <= residual_tol:
            return
        direction = program.center(_direction(point.gradient, memory, precondition))
        if float(np.vdot(direction, point.gradient)) >= 0.0:
            memory.clear()
            direction = program.center(_direction(point.gradient, memory, precondition))
        following = line_search(program, point, direction)
        if following is None:
            if not memory:
                return
            memory.clear()
            continue
        step = following.Y - point.Y
        change = following.gradient - point.gradient
        curvature = float(np.vdot(step, change))
        if curvature > 1e-14 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            memory.append((step.ravel(), change.ravel(), 1.0 / curvature))
        point = following
        yield point


def _point(program: Program, Y: FloatArray, product: FloatArray, values: FloatArray) -> Point:
    multipliers = program.envelope.multipliers(values)
    gradient = product + np.asarray(program.forms.adjoint(multipliers) @ Y)
    gradient *= 2.0
    gradient = program.center(gradient)
    linear = float(np.vdot(Y, product))
    size = 2.0 * program.cost_scale * float(np.linalg.norm(Y))
    return Point(
        Y=Y,
        cost_product=product,
        values=values,
        multipliers=multipliers,
        gradient=gradient,
        linear=linear,
        objective=linear + program.envelope.total(values),
        residual=float(np.linalg.norm(gradient)) / size if size > 0.0 else 0.0,
    )


def _direction(
    gradient: FloatArray,
    memory: deque[tuple[FloatArray, FloatArray, float]],
    precondition: Callable[[FloatArray], FloatArray] | None,
) -> FloatArray:
    """Return −H·gradient by the two-loop recursion."""
    q = gradient.ravel().copy()
    weights = []
    for step, change, inverse in reversed(memory):
        weight = inverse * ddot(step, q)
        weights.append(weight)
        daxpy(change, q, a=-weight)
    if precondition is not None:
        q = np.ascontiguousarray(precondition(q.reshape(gradient.shape))).ravel()
    elif memory:
        _, change, inverse = memory[-1]
        q *= 1.0 / (inverse * ddot(change, change))
    else:
        q *= FIRST_STEP
    for (step, change, inverse), weight in zip(memory, reversed(weights), strict=True):
        daxpy(step, q, a=weight - inverse * ddot(change, q))
    return -q.reshape(gradient.shape)


def line_search(program: Program, point: Point, direction: FloatArray) -> Point | None:
    """Return the point of lowest objective along a direction, None if there is none."""
    product = np.asarray(program.cost @ direction)
    mixed, squared = program.forms.cross_and_values(point.Y, direction)
    linear = 2.0 * float(np.vdot(point.cost_product, direction))
    quadratic = float(np.vdot(product, direction))
    w, curvature = point.multipliers, program.envelope.curvature(point.values)
    bent = curvature * squared
    t = _lowest_of_quartic(
        linear + 2.0 * float(w @ mixed),
        quadratic + float(w @ squared) + 2.0 * float((curvature * mixed) @ mixed),
        2.0 * float(bent @ mixed),
        0.5 * float(bent @ squared),
    )

    def along(t: float) -> tuple[float, FloatArray]:
        values = point.values + t * (2.0 * mixed + t * squared)
        linear_part = point.linear + t * (linear + t * quadratic)
        return linear_part + program.envelope.total(values), values

    if t <= 0.0:
        t = _expand(along, point, direction)
    for _ in range(HALVINGS):
        objective, values = along(t)
        if objective < point.objective:
            # The direction is off the gauge, and so is the sum.
            Y = point.Y + t * direction
            return _point(program, Y, point.cost_product + t * product, values)
        t *= 0.5
    return None


def _expand(
    along: Callable[[float], tuple[float, FloatArray]], point: Point, direction: FloatArray
) -> float:
    """Return a step that ends a descent without curvature: it goes on until a bound is met."""
    length = float(np.linalg.norm(direction)) or 1.0
    t = EXPANSION * (float(np.linalg.norm(point.Y)) or 1.0) / length
    lowest = along(t)[0]
    for _ in range(DOUBLINGS):
        following = along(2.0 * t)[0]
        if not following < lowest:
            break
        t, lowest = 2.0 * t, following
    return t


def _lowest_of_quartic(a1: float, a2: float, a3: float, a4: float) -> float:
    """Return the first positive stationary t with a₁t + a₂t² + a₃t³ + a₄t⁴ < 0, else the best."""
    roots = np.roots([4.0 * a4, 3.0 * a3, 2.0 * a2, a1])
    real = np.sort(roots.real[np.abs(roots.imag) <= 1e-9 * (1.0 + np.abs(roots.real))])
    real = real[real > 0.0]
    if len(real) == 0:
        return 0.0
    values = real * (a1 + real * (a2 + real * (a3 + real * a4)))
    return float(real[0] if values[0] < 0.0 else real[np.argmin(values)])
