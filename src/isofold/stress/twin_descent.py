"""Descent of the objective of twin kernel embedding, by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from isofold._progress.stages import interrupted, interruptible, stage
from isofold._typing import FloatArray, Matrix
from isofold.stress.twin_objective import (
    LatentKernel,
    TwinGradient,
    TwinObjective,
    random_groups,
)

__all__ = ["TwinResult", "TwinRules", "match_kernels"]


@dataclass(frozen=True)
class TwinRules:
    """Numbers that decide how the objective is lowered.

    Attributes
    ----------
    max_iter : int
        Steps of L-BFGS.
    tol : float
        Relative fall of the objective in a step below which it has converged.
    most_paired : int
        Objects up to which all pairs are in the second term: 0.1 s a step for 3,000.
    group_size, n_rounds : int
        Size of the groups beyond that, and how often they are drawn again: a map that is fitted to
        few pairs crowds the others.
    bound : float
        Factor by which learned parameters may change.
    scales : tuple of float
        Sizes of the start that are tried, in units of 1/√σ.
    """

    max_iter: int = 300
    tol: float = 1e-5
    most_paired: int = 3000
    group_size: int = 1000
    n_rounds: int = 6
    bound: float = 10.0
    scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True, eq=False)
class TwinResult:
    """A map whose kernel was made like that of the objects.

    Attributes
    ----------
    points : ndarray of shape (n, r)
        The map.
    parameters : ndarray
        The map itself, or the coefficients of `features` that make it.
    latent : LatentKernel
        The kernel of the map with what was learned.
    path : ndarray
        The objective at the start and after every step; of many objects its estimate.
    alignment : float
        Cosine of the two kernels.
    is_converged : bool
        Whether the objective no longer falls.
    at_bound : bool
        Whether something learned has come to its bound.
    """

    points: FloatArray
    parameters: FloatArray
    latent: LatentKernel
    path: FloatArray
    alignment: float
    is_converged: bool
    at_bound: bool


@dataclass
class _TwinDescent:
    """What is being minimized: X = F C, or X itself without features, and log γ and log σ."""

    objective: TwinObjective
    features: FloatArray | None
    shape: tuple[int, int]
    best: FloatArray
    path: list[float]
    is_converged: bool = False

    def at(self, theta: FloatArray) -> TwinGradient:
        """Return the objective and its gradients with respect to X."""
        return self.objective.at(self.points(theta), float(theta[-2]), float(theta[-1]))

    def points(self, theta: FloatArray) -> FloatArray:
        """Return the map."""
        parameters = theta[:-2].reshape(self.shape)
        return parameters if self.features is None else self.features @ parameters

    def value_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient with respect to all parameters."""
        found = self.at(theta)
        moved = found.points if self.features is None else self.features.T @ found.points
        return found.value, np.append(moved.ravel(), [found.log_amplitude, found.log_sigma])

    def run(self, bounds: list[tuple[Any, Any]], max_iter: int, tol: float, steps: Any) -> None:
        """Lower the objective until it converges, the steps are used up, or Ctrl-C."""

        def after_step(intermediate_result: OptimizeResult) -> None:
            self.best = intermediate_result.x.copy()
            self.path.append(float(intermediate_result.fun))
            steps.advance(objective=self.path[-1])
            if interrupted():
                raise StopIteration

        found = minimize(
            self.value_and_gradient,
            self.best,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=after_step,
            options={"maxiter": max_iter, "maxfun": 4 * max_iter, "ftol": tol, "gtol": 1e-12},
        )
        self.is_converged = bool(found.success)


def match_kernels(
    similarities: Matrix,
    start: FloatArray,
    latent: LatentKernel,
    rules: TwinRules,
    rng: np.random.RandomState,
    features: FloatArray | None = None,
) -> TwinResult:
    """Move points until their kernel is like given similarities."""
    n = len(start)
    is_exact = n <= rules.most_paired
    descent = _TwinDescent(
        _objective(similarities, latent, rules, rng), features, start.shape, np.empty(0), []
    )
    if features is not None:
        solution = np.linalg.lstsq(features, start, rcond=None)[0]
        descent.shape, start = solution.shape, solution
    descent.best = _well_scaled(descent, start, latent, rules)
    descent.path.append(descent.at(descent.best).value)
    bounds = _bounds(start.size, latent, rules)
    n_rounds = 1 if is_exact else rules.n_rounds
    with interruptible(), stage("match kernels", total=rules.max_iter) as steps:
        for _ in range(n_rounds):
            if interrupted():
                break
            if not is_exact:
                descent.objective = _objective(similarities, latent, rules, rng)
            descent.run(bounds, max(1, rules.max_iter // n_rounds), rules.tol, steps)
    theta = descent.best
    free = [pair for pair in zip(theta[-2:], bounds[-2:], strict=True) if pair[1][0] < pair[1][1]]
    return TwinResult(
        points=descent.points(theta),
        parameters=theta[:-2].reshape(descent.shape),
        latent=replace(
            latent,
            sigma=float(np.exp(theta[-1])) if "sigma" in latent.learn else latent.sigma,
            amplitude=float(np.exp(theta[-2])) if "amplitude" in latent.learn else latent.amplitude,
        ),
        path=np.array(descent.path),
        alignment=descent.at(theta).alignment,
        is_converged=descent.is_converged,
        at_bound=any(value <= low or value >= high for value, (low, high) in free),
    )


def _objective(
    similarities: Matrix, latent: LatentKernel, rules: TwinRules, rng: np.random.RandomState
) -> TwinObjective:
    n = similarities.shape[0]
    groups = None if n <= rules.most_paired else random_groups(n, rules.group_size, rng)
    return TwinObjective.of(similarities, latent, groups)


def _well_scaled(
    descent: _TwinDescent, start: FloatArray, latent: LatentKernel, rules: TwinRules
) -> FloatArray:
    """Return the parameters of the start in the size in which the objective is least."""
    logs = [float(np.log(latent.amplitude)), float(np.log(latent.sigma))]
    unit = float(np.std(descent.points(np.append(start.ravel(), logs)), axis=0).max())
    unit = 1.0 / (unit * latent.sigma**0.5) if unit > 0.0 else 0.0
    tried = [np.append(scale * unit * start.ravel(), logs) for scale in rules.scales]
    return tried[int(np.argmin([descent.at(theta).value for theta in tried]))]


def _bounds(size: int, latent: LatentKernel, rules: TwinRules) -> list[tuple[Any, Any]]:
    """Return no bounds for points, and those of log γ and log σ, which coincide if fixed."""
    bounds: list[tuple[Any, Any]] = [(None, None)] * size
    for name in ("amplitude", "sigma"):
        middle = float(np.log(getattr(latent, name)))
        width = float(np.log(rules.bound)) if name in latent.learn else 0.0
        bounds.append((middle - width, middle + width))
    return bounds
