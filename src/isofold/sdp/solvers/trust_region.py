"""Riemannian trust region with preconditioned truncated conjugate gradients.

Minimizes a smooth function of Y on a product of Stiefel manifolds and free rows (Absil, Baker and
Gallivan 2007). Every outer step minimizes the quadratic model along the tangent space by conjugate
gradients, stopped at the border of the trust region or at negative curvature (Steihaug 1983); the
radius is measured in the norm of the preconditioner, in which the model is well conditioned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isofold._typing import FloatArray
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["SmoothObjective", "TrustRegionStep", "trust_region"]

SHRINK, GROW = 0.25, 2.0
"""Factors of the radius after a poor and after a good step, as in Absil, Baker and Gallivan."""

POOR, GOOD, ACCEPT = 0.25, 0.75, 0.05
"""Ratios of true to predicted decrease: below poor shrink, above good grow, above accept move."""

ROUNDING = 1e-13
"""Decreases below this fraction of the value are rounding: sums of many terms of its size agree to
a few hundred units in the last place. Their ratio to the prediction means nothing."""

Product = Callable[[FloatArray], FloatArray]

Local = Callable[[FloatArray], Product | None]
"""A preconditioner for every point."""


class SmoothObjective(Protocol):
    """A smooth function of Y, with Euclidean derivatives."""

    def value(self, Y: FloatArray) -> float:
        """Return f(Y)."""
        ...

    def gradient(self, Y: FloatArray) -> FloatArray:
        """Return the Euclidean gradient, of the shape of Y."""
        ...

    def hessian(self, Y: FloatArray) -> Product:
        """Return the map V ↦ ∇²f(Y)[V]."""
        ...


@dataclass(frozen=True, eq=False)
class TrustRegionStep:
    """Where the method stands after an outer step.

    Parameters
    ----------
    Y : ndarray of shape (size, p)
        The point, on the manifold.
    value : float
        The objective there; it never rises by more than rounding.
    gradient_norm : float
        The Frobenius norm of the gradient along the manifold.
    n_products : int
        Products with the Hessian so far.
    stalled : bool
        Whether no further decrease can be distinguished from rounding; it is the last step then.
    """

    Y: FloatArray
    value: float
    gradient_norm: float
    n_products: int
    stalled: bool


def trust_region(
    manifold: StiefelProduct,
    objective: SmoothObjective,
    Y: FloatArray,
    *,
    precondition: Product | None = None,
    precondition_at: Local | None = None,
    tol: float = 0.0,
    max_iter: int = 100,
    max_products: int = 200,
    forcing: float = 0.1,
    radius: float | None = None,
) -> Iterator[TrustRegionStep]:
    """Yield the start and then one step after the other until the gradient is small."""
    Y = manifold.orthonormalize(Y)
    value, n_products, first_length = objective.value(Y), 0, 0.0
    model: _Model | None = None
    for iteration in range(max_iter + 1):
        if model is None:
            model = _Model.at(manifold, objective, Y, precondition)
            # Not at the last point: a preconditioner may cost more than all else.
            if precondition_at is not None and np.linalg.norm(model.gradient) > tol:
                local = precondition_at(Y)
                model = model if local is None else _Model.at(manifold, objective, Y, local)
        length = np.sqrt(max(float(np.sum(model.gradient * model.direction)), 0.0))
        norm = float(np.linalg.norm(model.gradient))
        yield TrustRegionStep(Y, value, norm, n_products, stalled=False)
        if norm <= tol or iteration == max_iter or length == 0.0:
            return
        first_length = first_length or length
        radius = length if radius is None else radius
        reduction = min(forcing, max(length / first_length, 1e-6))
        step, decrease, used, at_border = model.minimize(radius, reduction, max_products)
        n_products += used
        candidate = manifold.retract(Y, step)
        new_value = objective.value(candidate)
        noise = ROUNDING * max(abs(value), abs(new_value))
        if decrease <= noise:
            # Below rounding the model is to be trusted more than the difference of two values.
            if new_value <= value + noise:
                Y, value = candidate, new_value
            norm = float(np.linalg.norm(_Model.at(manifold, objective, Y, None).gradient))
            yield TrustRegionStep(Y, value, norm, n_products, stalled=True)
            return
        ratio = (value - new_value) / decrease
        if ratio < POOR:
            radius *= SHRINK
        elif ratio > GOOD and at_border:
            radius *= GROW
        if ratio > ACCEPT:
            Y, value, model = candidate, new_value, None


@dataclass(frozen=True, eq=False)
class _Model:
    """The quadratic model of an objective along the tangent space at a point."""

    gradient: FloatArray
    hessian: Product
    precondition: Product
    direction: FloatArray

    @classmethod
    def at(
        cls,
        manifold: StiefelProduct,
        objective: SmoothObjective,
        Y: FloatArray,
        precondition: Product | None,
    ) -> _Model:
        """Return the model at Y."""
        euclidean = objective.gradient(Y)
        multipliers = manifold.multipliers(Y, euclidean)
        gradient = euclidean - manifold.multiply(multipliers, Y)
        product = objective.hessian(Y)

        def hessian(V: FloatArray) -> FloatArray:
            return manifold.project(Y, product(V) - manifold.multiply(multipliers, V))

        def tangent_precondition(V: FloatArray) -> FloatArray:
            return V if precondition is None else manifold.project(Y, precondition(V))

        return cls(gradient, hessian, tangent_precondition, tangent_precondition(gradient))

    def minimize(
        self, radius: float, reduction: float, max_products: int
    ) -> tuple[FloatArray, float, int, bool]:
        """Return a step, the decrease of the model, the products used, whether at the border."""
        residual, direction = self.gradient.copy(), -self.direction
        step, image = np.zeros_like(residual), np.zeros_like(residual)
        energy = -float(np.sum(residual * direction))
        target = reduction**2 * energy
        # Squared lengths in the preconditioner's norm, by recurrence: it is known by its inverse.
        step_step, step_direction, direction_direction = 0.0, 0.0, energy
        used, at_border = 0, False
        while used < max_products:
            product = self.hessian(direction)
            used += 1
            curvature = float(np.sum(direction * product))
            length = energy / curvature if curvature > 0.0 else np.inf
            outside = curvature <= 0.0 or (
                step_step + 2 * length * step_direction + length**2 * direction_direction
                >= radius**2
            )
            if outside:
                inside = max(radius**2 - step_step, 0.0)
                root = np.sqrt(step_direction**2 + direction_direction * inside)
                length, at_border = float((root - step_direction) / direction_direction), True
            step += length * direction
            image += length * product
            if outside:
                break
            step_step += 2 * length * step_direction + length**2 * direction_direction
            residual += length * product
            conditioned = self.precondition(residual)
            new_energy = float(np.sum(residual * conditioned))
            if new_energy <= target:
                break
            ratio, energy = new_energy / energy, new_energy
            step_direction = ratio * (step_direction + length * direction_direction)
            direction_direction = energy + ratio**2 * direction_direction
            direction = ratio * direction - conditioned
        decrease = -float(np.sum(self.gradient * step) + np.sum(step * image) / 2)
        return step, decrease, used, at_border
