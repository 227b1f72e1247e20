"""Multiplier steps: soft and hard equalities (and any other bounds), without orthonormal blocks.

Hard equalities on a neighbor graph have no strictly feasible point and so no multipliers; soft
ones with a large penalty make the inconsistency of chords into noise of the dual. Steps of the
method of multipliers with a small constant penalty avoid both:

    Y ← argmin ⟨C, YYᵀ⟩ + Σ ψ_e(g_e; w̄_e, ν s_e),      w̄ ← w̄ + ν s (mean of g − b).

The mean runs over the last half of the inner iterations, which averages the noise away. Each
step's problem is convex in G and has a dual of its own, D(w) = −Σ h*(w) − Σ (w − w̄)²/(2νs), so that
its gap is rigorous; the sum Σ w b alone bounds the problem as posed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold.linalg.ldl import FactorCache
from isofold.sdp.certificate import Certificate
from isofold.sdp.dual.certify import certify_origin, certify_step
from isofold.sdp.dual.farkas import proves_infeasible
from isofold.sdp.dual.spectrum import lowest_modes
from isofold.sdp.envelope import Envelope
from isofold.sdp.forms import PairForms
from isofold.sdp.program import Program, principal_axes
from isofold.sdp.solution import Status
from isofold.sdp.solvers.augmented.lbfgs import Point, evaluate, line_search, minimize
from isofold.sdp.solvers.augmented.restoration import keep_lengths
from isofold.sdp.solvers.augmented.sheet import flat_start
from isofold.sdp.solvers.protocol import Iterate, Options, Phase, Start
from isofold.sdp.solvers.start import START_NOISE, multiplier_scale, starting_coordinates

__all__ = ["AugmentedSolver"]

ROUND = 25
"""Inner iterations with one Laplacian preconditioner, which moves the large scales; it is made
anew after so many, since it goes stale as the shape unfolds."""

FIRST_ROUNDS, LATER_ROUNDS = 4, 2
"""Such rounds in the first step, which comes from far, and in the others."""

SHEET_STEPS = 2
"""Steps from the map of a sheet before the first certificate: on a roll of 50,000 points lengths
are then as true as they were from the start by geodesics, and half of the modes are negative."""

PLAIN = 80
"""Inner iterations without it: they settle single edges."""

SHORTEST = 5e-4
"""Squared lengths below this fraction of the mean have no larger penalty than that would give. With
0.05 the largest relative error on rolls of 1,000 to 10,000 points is two to five times as large."""

ZERO_LENGTH = 1e-3
"""The squared length that stands for zero in the penalty of pairs that must coincide."""

MOST_GROWTH = 4.0**10
"""How much a penalty may grow. Lengths that are not met by then contradict each other or have no
multipliers, and larger penalties would only make the numbers meaningless."""

AVERAGE_EVERY = 3
"""Inner iterations between two terms of the average of multipliers."""

RESOLVED = 1e-7
"""Residual below which the last multipliers are better than their average."""

MOST_PATIENCE = 50.0
"""How many times more plain iterations a fine gap may take."""

PROOF_EVERY = 10
"""Steps between two tests for a proof that the constraints contradict each other."""

CRITICAL = 1e-2
"""Residual below which a point is near enough to a critical one to ask whether it is a saddle."""

SADDLE = 1e-6
"""Eigenvalues of the slack below minus this fraction of the cost lead down; others are rounding."""

MOST_LEADING = 3
"""Coordinates with a preconditioner of their own."""


class AugmentedSolver:
    """Inner solver for all programs without blocks: multiplier steps, L-BFGS, local repair."""

    task = "unfold"

    def accepts(self, program: Program) -> bool:
        """Tell whether there are no blocks."""
        return len(program.blocks) == 0

    def iterates(self, program: Program, options: Options, start: Start) -> Iterator[Iterate]:
        """Yield iterates; the last one is certified or says why not."""
        if program.forms.n_forms == 0 or program.size == (program.gauge is not None):
            # Nothing is asked, or there is nothing to move: the preflight has seen that no
            # direction lowers the cost.
            yield _origin(program, options.rank)
            return
        yield from _StepsRun(program, options, start).iterates()

    def certify(self, program: Program, options: Options, iterate: Iterate) -> Certificate:
        """Return a valid bound for the step's problem, or for the posed one if that is close."""
        return _certify(program, options, iterate, FactorCache())


class _StepsRun:
    """One solution: its random numbers, and the factors that come again and again."""

    def __init__(self, program: Program, options: Options, start: Start) -> None:
        self._program, self._options, self._start = program, options, start
        self._rng = np.random.default_rng(options.seed)
        self._slack_factors = FactorCache()
        # One for each group of coordinates, since all are needed at once.
        self._factors = [FactorCache() for _ in range(MOST_LEADING + 1)]

    def iterates(self) -> Iterator[Iterate]:
        """Yield the iterates of all steps until a certificate holds."""
        program, options = self._program, self._options
        unit = program.envelope.length_unit
        scaled = program.with_envelope(program.envelope.in_units(unit))
        scale = multiplier_scale(scaled, self._rng)
        weights = _penalty_weights(scaled.envelope, options.penalty * scale)
        most = MOST_GROWTH * weights
        Y, center, is_near = self._begin(scaled, weights, scale, unit)
        hard = scaled.envelope.is_hard
        grows = options.tol < options.rules.fine_gap or not np.any(
            hard & scaled.envelope.is_equality
        )
        next_certificate, asked = self._first_aims(is_near=is_near)
        n_iter, previous = 0, np.inf
        for step in range(options.max_iter):
            augmented = scaled.with_envelope(scaled.envelope.augmented(center, weights))
            posed = program.envelope.augmented(center, weights / unit)
            wrap = _Wrapper(unit, posed)
            average = np.zeros(len(weights))
            n_terms = 0
            point = evaluate(augmented, Y)
            n_rounds = LATER_ROUNDS if step or is_near else FIRST_ROUNDS
            inner = self._inner(augmented, point, scale, n_rounds, is_near=is_near)
            for counts, point in inner:
                n_iter += 1
                if counts:
                    average += point.multipliers
                    n_terms += 1
                yield wrap(point, point.multipliers, n_iter)
            Y = _escaped(augmented, point, options)
            w = point.multipliers
            if n_terms and point.residual > RESOLVED:
                w = average / n_terms
            iterate = wrap(point, w, n_iter)
            error = _length_error(scaled, point.values, options.rules.short_length)
            if error <= asked and step >= next_certificate:
                certificate = _certify(program, options, iterate, self._slack_factors)
                iterate = replace(iterate, certificate=certificate)
                next_certificate = step + 1 + _steps_to_wait(program, certificate.gap, options.tol)
                if certificate.holds(options.tol) and _shift_is_small(
                    program, iterate, options.tol
                ):
                    certified = replace(iterate, status=Status.CERTIFIED)
                    is_coarse = error > options.violation_tol
                    yield from (
                        self._kept(scaled, augmented, iterate, wrap) if is_coarse else [certified]
                    )
                    return
            yield iterate
            tests = step % PROOF_EVERY == PROOF_EVERY - 1 and error > options.violation_tol
            if tests and proves_infeasible(scaled, w):
                yield replace(iterate, status=Status.INFEASIBLE)
                return
            if grows and error > max(0.25 * previous, 0.1 * options.violation_tol):
                weights = np.where(hard, np.minimum(4.0 * weights, most), weights)
            previous = error
            center = np.where(hard, w, center)
        yield replace(iterate, status=Status.ITERATION_LIMIT)

    def _first_aims(self, *, is_near: bool) -> tuple[int, float]:
        """Return the step of the first certificate, and the error of lengths that it needs."""
        options = self._options
        if not is_near or self._start.multipliers is not None:
            return 0, options.violation_tol
        # Two more steps cost less than a certificate, and halve the errors of a sheet each. Beyond
        # the usual tolerance Newton's method keeps its lengths.
        return SHEET_STEPS, max(options.violation_tol, options.rules.violation_of_equalities)

    def _kept(
        self, scaled: Program, augmented: Program, iterate: Iterate, wrap: _Wrapper
    ) -> Iterator[Iterate]:
        """Yield iterates of ever truer lengths; the last is certified anew, or says it is not."""
        options, w, error = self._options, iterate.multipliers, np.inf
        start, weights = iterate.Y / np.sqrt(wrap.unit), _penalty_weights(scaled.envelope, 1.0)
        for Y in keep_lengths(scaled, start, weights):
            point = evaluate(augmented, Y)
            iterate = wrap(point, w, iterate.n_iter + 1)
            error = _length_error(scaled, point.values, SHORTEST)
            if error <= options.violation_tol:
                break
            yield iterate
        certificate = _certify(self._program, options, iterate, self._slack_factors)
        good = error <= options.violation_tol and certificate.holds(options.tol)
        status = Status.CERTIFIED if good else Status.ITERATION_LIMIT
        yield replace(iterate, certificate=certificate, status=status)

    def _begin(
        self, program: Program, weights: FloatArray, scale: float, unit: float
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return coordinates, multipliers, and whether both are near those of the solution."""
        start, options = self._start, self._options
        given = None if start.Y is None else start.Y / np.sqrt(unit)
        Y = starting_coordinates(program, options.rank, self._rng, given)
        if start.multipliers is not None:
            return Y, start.multipliers, given is not None
        found = None
        if options.tol >= options.rules.fine_gap:
            found = flat_start(program, Y, weights, options.rules.short_length * scale)
        if found is None:
            return Y, np.zeros(len(weights)), False
        flat, multipliers = found
        # Noise in the other columns, so that points can leave the plane.
        Y = START_NOISE * self._rng.standard_normal(Y.shape)
        Y[:, : flat.shape[1]] = flat
        return program.center(Y), multipliers, True

    def _inner(
        self, program: Program, point: Point, scale: float, n_rounds: int, *, is_near: bool
    ) -> Iterator[tuple[bool, Point]]:
        """Minimize one step, preconditioned and then plain; tell which points to average.

        From a near start the multipliers of the last point have little noise to be averaged away.
        """
        tol, rules = self._options.tol, self._options.rules
        residual_tol = min(1e-6, 1e-2 * tol)
        if isinstance(program.forms, PairForms) and not program.is_dense:
            for _ in range(n_rounds):
                point = evaluate(program, point.Y @ principal_axes(point.Y)[1])
                precondition = _laplacian_preconditioner(
                    program, program.forms, point, scale, self._factors, rules.short_length
                )
                steps = minimize(
                    program,
                    point,
                    max_iter=ROUND,
                    residual_tol=residual_tol,
                    precondition=precondition,
                )
                for point in steps:
                    yield False, point
            if is_near and tol >= rules.fine_gap:
                return
        n_plain = int(PLAIN * min(MOST_PATIENCE, max(1.0, rules.fine_gap / tol)))
        steps = minimize(program, point, max_iter=n_plain, residual_tol=residual_tol)
        for k, point in enumerate(steps):
            yield 2 * k >= n_plain and k % AVERAGE_EVERY == 0, point


def _certify(
    program: Program, options: Options, iterate: Iterate, cache: FactorCache
) -> Certificate:
    """Return the certificate of an iterate; the cache holds factors of slacks."""
    return certify_step(
        program,
        iterate.Y,
        iterate.multipliers,
        iterate.envelope,
        tol=options.tol,
        cache=cache,
        rules=options.rules,
    )


def _origin(program: Program, rank: int) -> Iterate:
    """Return the origin as the certified end."""
    certificate = certify_origin(program)
    return Iterate(
        Y=np.zeros((program.size, rank)),
        multipliers=certificate.multipliers,
        objective=certificate.primal,
        residual=0.0,
        phase=Phase.CERTIFICATE,
        n_iter=0,
        certificate=certificate,
        status=Status.CERTIFIED,
    )


def _shift_is_small(program: Program, iterate: Iterate, tol: float) -> bool:
    """Tell whether the penalties of bounds add next to nothing to the value of the step's problem.

    Where a bound is met exactly, or is inactive with w̄ = 0, ψ is zero. Elsewhere it is −w̄²/(2ν),
    however large w̄ was: beside that any gap looks small. Equalities are what shifting is for.
    """
    if iterate.envelope is None or iterate.certificate is None:
        return True
    bounds = program.envelope.is_hard & ~program.envelope.is_equality
    if not iterate.certificate.is_shifted or not np.any(bounds):
        return True
    shifted = iterate.envelope.part(bounds)
    values = program.forms.values(iterate.Y)[bounds]
    return abs(shifted.total(values)) <= tol * abs(program.primal_value(iterate.Y))


@dataclass(frozen=True, eq=False)
class _Wrapper:
    """Convert points in units of the mean length into iterates in the units of the program."""

    unit: float
    envelope: Envelope

    def __call__(self, point: Point, multipliers: FloatArray, n_iter: int) -> Iterate:
        return Iterate(
            Y=point.Y * np.sqrt(self.unit),
            multipliers=multipliers,
            objective=point.objective * self.unit,
            residual=point.residual,
            phase=Phase.MULTIPLIER_STEP,
            n_iter=n_iter,
            envelope=self.envelope,
        )


def _escaped(program: Program, point: Point, options: Options) -> FloatArray:
    """Return the coordinates, moved off a saddle along the lowest mode of the slack if at one.

    Where YYᵀ is not optimal for the step's convex problem, that mode is a direction of descent in
    a column of its own, or in the weakest one if the rank may not grow.
    """
    if point.residual > CRITICAL:
        return point.Y
    values, vectors = lowest_modes(program.slack(point.multipliers), program.gauge, 1)
    if len(values) == 0 or values[0] >= -SADDLE * program.cost_scale:
        return point.Y
    Y = np.ascontiguousarray(point.Y @ principal_axes(point.Y)[1])
    if Y.shape[1] < options.max_rank:
        Y = np.column_stack([Y, np.zeros(program.size)])
    direction = np.zeros_like(Y)
    direction[:, -1] = vectors[:, 0]
    left = evaluate(program, Y)
    if np.vdot(left.gradient, direction) > 0.0:
        direction = -direction
    moved = line_search(program, left, direction)
    return Y if moved is None else moved.Y


def _steps_to_wait(program: Program, gap: float, tol: float) -> int:
    """Return the steps in which a gap cannot be expected to fall to the tolerance.

    The certificate of a dense cost takes all eigenvalues of the slack, more than many steps; a step
    halves the gap at best.
    """
    if not program.is_dense or not np.isfinite(gap):
        return 0
    return int(np.clip(np.log2(max(gap / tol, 1.0)), 0.0, 5.0))


def _laplacian_preconditioner(
    program: Program,
    forms: PairForms,
    point: Point,
    scale: float,
    caches: list[FactorCache],
    short_length: float,
) -> Callable[[FloatArray], FloatArray]:
    """Return the inverse of the Hessian without its couplings between coordinates.

    The Hessian for coordinate k is 2(C + A*(w)) + 4·A*(ν δ_k²) with the differences δ_k of the
    pairs; negative parts are dropped and a little is added so that it is positive definite.
    """
    first, second = forms.pairs.T
    curvature = program.envelope.curvature(point.values)
    weights = np.maximum(point.multipliers, 0.0) + short_length * scale
    ridge = 0.2 * program.cost_scale * sp.eye_array(program.size, format="csr")
    variances = np.einsum("ik,ik->k", point.Y, point.Y)
    leading = int(np.clip(np.sum(variances > 1e-3 * variances.sum()), 1, MOST_LEADING))
    groups = [slice(k, k + 1) for k in range(leading)]
    if leading < point.Y.shape[1]:
        groups.append(slice(leading, point.Y.shape[1]))
    factors = []
    for group, cache in zip(groups, caches, strict=False):
        differences = point.Y[first, group] - point.Y[second, group]
        stretch = 2.0 * curvature * np.mean(differences**2, axis=1)
        matrix = 2.0 * forms.adjoint(weights + stretch) + ridge
        factors.append(cache.factor(matrix))

    def precondition(gradient: FloatArray) -> FloatArray:
        out = np.empty_like(gradient)
        for group, factor in zip(groups, factors, strict=True):
            out[:, group] = factor.solve(gradient[:, group])
        return out

    return precondition


def _penalty_weights(envelope: Envelope, penalty: float) -> FloatArray:
    """Return ν s_e with s_e = 1/b_e but for the shortest: relative errors of lengths are alike."""
    targets = np.abs(envelope.targets)
    # Points that must coincide have no length to be relative to, and multipliers without end.
    return penalty / np.where(targets > 0.0, np.maximum(targets, SHORTEST), ZERO_LENGTH)


def _length_error(program: Program, values: FloatArray, short_length: float) -> float:
    """Return the median relative error of hard lengths, or the largest of bounds if greater."""
    envelope = program.envelope
    equal = envelope.is_hard & envelope.is_equality
    size = np.maximum(np.abs(envelope.targets), short_length)
    relative = np.abs(np.sqrt(np.maximum(1.0 + (values - envelope.targets) / size, 0.0)) - 1.0)
    median = float(np.median(relative[equal])) if np.any(equal) else 0.0
    bounds = envelope.violation(values) / size
    return max(median, float(bounds[~equal].max(initial=0.0)))
