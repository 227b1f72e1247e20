"""Upper bounds only: a low-rank interior point method with a two-sided gap.

    primal   min ⟨C, YYᵀ⟩        ⟨A_e, YYᵀ⟩ ≤ u_e, u_e > 0
    dual     max −Σ w_e u_e      w ≥ 0,  S = C + A*(w) ⪰ 0 off the gauge

Maximum variance unfolding with inequalities is C = −I; its dual is the fastest mixing Markov
process on the graph (Sun, Boyd, Xiao and Diaconis 2006). Iterates of `interior` are strictly
feasible, so the primal value needs no repair. The multipliers have S ⪰ −ε only, and are repaired
by `dual.repairs.repair_upper_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from isofold.sdp.certificate import Certificate, relative_gap
from isofold.sdp.dual.certify import certify_upper_bounds
from isofold.sdp.dual.repairs import repair_upper_bounds
from isofold.sdp.dual.spectrum import lowest_modes, proved_floor
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.protocol import Iterate, Options, Phase, Start
from isofold.sdp.solvers.start import multiplier_scale, starting_coordinates
from isofold.sdp.solvers.upper_bounds.interior import Barrier
from isofold.sdp.solvers.upper_bounds.newton import newton_system

__all__ = ["UpperBoundsSolver"]

FIRST_COLUMNS = 3
"""Columns at the start: for large μ the path is flat, and escapes add what it needs later."""

FIRST_BARRIER = 0.5
"""The first μ in units of the price of equal weights."""

BARRIER_FACTOR = 0.15
"""Decrease of μ; 0.08 to 0.3 took the same time within a fifth on swiss rolls."""

STEPS_PER_BARRIER = 60
"""Newton steps for one μ; 2 to 20 are usual. After so many μ is lowered all the same."""

LOOSE_RESIDUAL = 0.2
"""Residual at which a large μ is left; a small one asks for 3 times its fraction of the price."""

SADDLE_FRACTION = 0.5
"""Eigenvalues of the slack below minus half of the barrier's fraction of the price mark a saddle:
the path itself, whose multipliers are exact, has none below zero."""

MODES = 3
"""Eigenvectors looked at, and columns added, at a time."""

LEAST_BARRIER = 1e-13
"""Fraction of the price below which a barrier is lost in rounding."""


class UpperBoundsSolver:
    """Low-rank interior point method for positive upper bounds."""

    task = "unfold"

    def accepts(self, program: Program) -> bool:
        """Tell whether all bounds are hard, positive, from above, and few enough for Newton."""
        envelope = program.envelope
        bounded = envelope.is_hard & np.isinf(envelope.lower) & np.isfinite(envelope.upper)
        if len(program.blocks) or not len(bounded) or not np.all(bounded & (envelope.upper > 0.0)):
            return False
        return newton_system(program, FIRST_COLUMNS) is not None

    def iterates(self, program: Program, options: Options, start: Start) -> Iterator[Iterate]:
        """Yield strictly feasible iterates; the last has a status."""
        yield from _PathRun(program, options, start).iterates()

    def certify(
        self,
        program: Program,
        options: Options,  # noqa: ARG002 - the protocol's
        iterate: Iterate,
    ) -> Certificate:
        """Return the bound that the iterate's multipliers prove."""
        return certify_upper_bounds(program, iterate.Y, iterate.multipliers)


class _PathRun:
    """One solution: the scaled program, the barrier, and the best multipliers so far."""

    def __init__(self, program: Program, options: Options, start: Start) -> None:
        self._posed, self._options = program, options
        self._length = float(program.envelope.upper.mean())
        self._cost = program.cost_scale
        self._program = _scaled(program, self._cost, self._length)
        rng = np.random.default_rng(options.seed)
        unit = multiplier_scale(self._program, rng)
        given = None if start.Y is None else start.Y / np.sqrt(self._length)
        n_columns = min(options.rank, FIRST_COLUMNS) if given is None else options.rank
        Y = starting_coordinates(self._program, n_columns, rng, given)
        self._barrier = Barrier(self._program)
        self._mu = FIRST_BARRIER * unit
        self._point = self._barrier.begin(Y, self._mu)
        self._best = np.full(len(self._program.envelope.upper), unit)
        if start.multipliers is not None:
            self._best = np.maximum(start.multipliers, 0.0) / self._cost
        self._bound = -np.inf
        self._residual, self._n_steps, self._at_rank_limit = np.inf, 0, False

    def iterates(self) -> Iterator[Iterate]:
        """Follow the path: Newton steps for one μ, an inspection of the slack, the next μ."""
        yield self._iterate(Phase.INTERIOR_POINT)
        cost = proved_floor(self._program.cost, self._program.gauge)
        if cost.estimate >= -cost.margin:
            # No direction lowers the cost: the origin is the optimum, with multipliers zero.
            self._best = np.zeros_like(self._best)
            self._point = replace(self._point, Y=np.zeros_like(self._point.Y))
            yield self._last(Status.STATIONARY)
            return
        for _ in range(self._options.max_iter):
            for _ in range(STEPS_PER_BARRIER):
                following = self._barrier.step(self._point, self._mu)
                if following is None:
                    break
                self._point, self._n_steps = following, self._n_steps + 1
                self._residual = self._barrier.residual(following)
                yield self._iterate(Phase.INTERIOR_POINT)
                if self._residual <= min(LOOSE_RESIDUAL, 3.0 * self._barrier_fraction()):
                    break
            if self._inspect_slack():
                yield self._iterate(Phase.ESCAPE)
                continue
            certified = self._gap_estimate() <= self._options.tol
            if certified or self._barrier_fraction() <= LEAST_BARRIER:
                last = self._last(self._uncertified())
                yield last
                if last.status is not None:
                    return
            self._mu *= BARRIER_FACTOR
        yield self._last(Status.ITERATION_LIMIT)

    def _inspect_slack(self) -> bool:
        """Keep the multipliers if their bound is better; leave a saddle, if this is one."""
        program, point = self._program, self._point
        w = point.multipliers
        values, vectors = lowest_modes(program.slack(w), program.gauge, MODES)
        # Eigenvalues that are not proved are good enough to tell which multipliers are better.
        bound = repair_upper_bounds(
            program,
            w,
            max(-float(values[0]), 0.0),
            lambda matrix: float(lowest_modes(matrix, program.gauge, 1)[0][0]),
        ).bound(program)
        if bound > self._bound:
            self._bound, self._best = bound, w
        point = self._barrier.condense(point, self._mu)
        saddle = values < -SADDLE_FRACTION * self._barrier_fraction()
        # Far from the path the multipliers, and with them the slack, mean little.
        saddle &= self._residual < -0.5 * values
        wanted = int(np.sum(saddle))
        allowed = min(wanted, self._options.max_rank - point.Y.shape[1])
        self._at_rank_limit = allowed < wanted
        if allowed < 1:
            self._point = point
            return False
        self._point = self._barrier.escape(point, self._mu, vectors[:, :allowed])
        return True

    def _barrier_fraction(self) -> float:
        """Return the barrier's fraction of the multipliers' price, about the gap on the path."""
        w, upper = self._point.multipliers, self._program.envelope.upper
        return self._mu * len(w) / float(w @ upper)

    def _gap_estimate(self) -> float:
        return relative_gap(self._program.linear_value(self._point.Y), self._bound)

    def _uncertified(self) -> Status | None:
        """Return the status if the certificate does not hold, None if it is worth going on."""
        if self._barrier_fraction() > LEAST_BARRIER:
            return None
        return Status.RANK_LIMIT if self._at_rank_limit else Status.STATIONARY

    def _iterate(self, phase: Phase) -> Iterate:
        Y = self._point.Y * np.sqrt(self._length)
        return Iterate(
            Y=Y,
            multipliers=self._best * self._cost,
            objective=self._posed.linear_value(Y),
            residual=self._residual,
            phase=phase,
            n_iter=self._n_steps,
        )

    def _last(self, otherwise: Status | None) -> Iterate:
        """Return the iterate with its certificate, and a status if it is the last one."""
        iterate = self._iterate(Phase.CERTIFICATE)
        certificate = certify_upper_bounds(self._posed, iterate.Y, iterate.multipliers)
        holds = certificate.holds(self._options.tol)
        return replace(
            iterate, certificate=certificate, status=Status.CERTIFIED if holds else otherwise
        )


def _scaled(program: Program, cost_unit: float, length_unit: float) -> Program:
    """Return the program in units in which its cost and its mean bound are one."""
    envelope = replace(program.envelope, upper=program.envelope.upper / length_unit)
    bound = program.trace_bound
    return replace(
        program,
        cost=program.cost / cost_unit,
        envelope=envelope,
        trace_bound=None if bound is None else bound / length_unit,
    )
