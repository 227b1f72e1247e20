"""Orthonormal blocks and free rows together with constraints of any kind.

    min ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩)      diagonal blocks of YYᵀ are identities

Hard constraints enter through an augmented Lagrangian: its functions ψ with multipliers w̄ and
penalty ν (`Envelope.augmented`) are smooth, and a Riemannian trust region minimizes their sum on
the manifold of the blocks; then w̄ ← ψ'(g), and ν grows if the violation did not fall enough
(Bertsekas 1982). At a critical point Λ = sym((C + A*(w))YYᵀ) on the blocks, and S = C + A*(w) − Λ
is the slack. An eigenvector of a negative eigenvalue, put into a new column of Y, leads down
(Boumal, Voroninski and Bandeira 2016); if there is none, w and Λ prove the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray
from isofold.sdp.certificate import Certificate
from isofold.sdp.dual.certify import block_multipliers_at, certify_with_blocks
from isofold.sdp.dual.farkas import proves_infeasible
from isofold.sdp.dual.spectrum import lowest_modes
from isofold.sdp.envelope import Envelope
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.augmented_blocks.lagrangian import Lagrangian
from isofold.sdp.solvers.augmented_blocks.start import (
    bound_sizes,
    first_penalty,
    spectral_start,
    typical_size,
)
from isofold.sdp.solvers.augmented_blocks.tangent_newton import TangentNewton
from isofold.sdp.solvers.protocol import Iterate, Options, Phase, Start
from isofold.sdp.solvers.trust_region import trust_region
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["AugmentedBlocksSolver"]

START_NOISE = 1e-2
"""Size of the random part of the start, relative to orthonormal rows."""

SPARE_COLUMNS = 2
"""Columns at the start beyond the largest block: at the block's own rank the manifold has many
more local minima."""

START_HALVINGS = 12
"""Scales of the free rows tried at the start, each half of the last."""

LARGEST_PENALTY = 1e8
"""Largest penalty in units of the first: above, rounding spoils the multipliers."""

EASY_STEPS = 4
"""Trust-region steps up to which an inner problem was easy, so that a stiffer one can follow."""

EASY_GROWTH, EASY_DECREASE = 4.0, 0.1
HARD_GROWTH, HARD_DECREASE = 2.0, 0.8
"""Growth of the penalty if the violation did not fall to this fraction of what it was (Bertsekas),
after easy inner problems and after hard ones."""

SHORT_BOUND = 0.05
"""Penalties are inversely proportional to the bounds, so that lengths of all sizes are missed
alike, down to this fraction of the mean bound."""

FIRST_RESIDUAL, LEAST_RESIDUAL, RESIDUAL_FACTOR = 1e-3, 1e-12, 0.2
"""Gradient, relative to its two parts, to which the inner problems are solved: at first, at last,
and the factor between two of them when the constraints are met."""

RESIDUAL_PER_VIOLATION = 1e-3
"""Fraction of the relative violation to which the relative gradient must fall, lest the multipliers
follow the noise of the inner problems."""

SMALL_BOUND = 1e-3
"""Bounds below this fraction of the mean are missed relative to that fraction of it."""

INNER_STEPS = 200
"""Trust-region steps for one set of multipliers."""

ESCAPE_COLUMNS = 2
"""Columns that are added when a saddle is left."""

INSIGNIFICANT = 1e-2
"""Fraction of what an eigenvalue is worth that the first move along its vector must gain."""

NEGLIGIBLE = 1e-5
"""Columns below this fraction of the first one are left out, all but one of them: the change is of
second order, and the one left leads out of saddles."""

PATIENCE, PROGRESS = 4, 0.5
"""Multiplier steps at a critical point in which the gap must fall to this fraction."""

SADDLE = 0.1
"""Fraction of the tolerance of the gap that a negative eigenvalue of the slack must be worth to be
followed."""

ASK_AFTER = range(8, 10**6, 4)
"""Multiplier steps with a violation that does not fall, after which infeasibility is tested; a test
takes longer than a step."""


class AugmentedBlocksSolver:
    """Augmented Lagrangian on a product of Stiefel manifolds and free rows."""

    task = "place rigid groups"

    def accepts(self, program: Program) -> bool:
        """Tell whether there are blocks together with constraints."""
        return len(program.blocks) > 0 and program.forms.n_forms > 0

    def iterates(self, program: Program, options: Options, start: Start) -> Iterator[Iterate]:
        """Yield points on the manifold, nearer and nearer to feasible; the last has a status."""
        yield from _ManifoldRun(program, options, start).iterates()

    def certify(
        self,
        program: Program,
        options: Options,  # noqa: ARG002 - the protocol's
        iterate: Iterate,
    ) -> Certificate:
        """Return the bound that the iterate's multipliers prove."""
        return certify_with_blocks(program, iterate.Y, iterate.multipliers)


class _ManifoldRun:
    """One solution: the point, the multipliers, the penalty."""

    def __init__(self, program: Program, options: Options, start: Start) -> None:
        self._program, self._options = program, options
        self._manifold = StiefelProduct(program.blocks, program.size)
        rank = max(options.rank, min(options.rank + SPARE_COLUMNS, options.max_rank))
        bounds = bound_sizes(program.envelope)
        typical = typical_size(bounds)
        self._weight = typical / np.maximum(bounds, SHORT_BOUND * typical)
        self._first_penalty = first_penalty(program, self._weight)
        self._penalty = self._first_penalty
        if start.Y is None:
            given = spectral_start(program, rank, self._penalty * self._weight * bounds)
        else:
            given = start.Y[:, :rank]
        Y = START_NOISE * self._manifold.random_point(rank, np.random.default_rng(options.seed))
        Y[:, : given.shape[1]] += given
        self._Y = program.center(self._manifold.orthonormalize(Y))
        n_forms = program.forms.n_forms
        self._w = np.zeros(n_forms) if start.multipliers is None else start.multipliers
        self._w = program.envelope.admissible(self._w)
        self._cost = program.cost_scale
        self._Y = self._scaled_start()
        self._residual_tol, self._residual = FIRST_RESIDUAL, np.inf
        self._n_steps, self._inner_stalled = 0, False
        self._least_gap, self._n_idle = np.inf, 0

    def iterates(self) -> Iterator[Iterate]:
        """Alternate trust-region steps and multiplier steps until a certificate holds."""
        options = self._options
        yield self._iterate(Phase.AUGMENTED_LAGRANGIAN)
        previous, best, stalled = np.inf, np.inf, 0
        for _ in range(options.max_iter):
            begin = self._n_steps
            yield from self._inner()
            if self._residual > self._residual_tol and not self._inner_stalled:
                # Multipliers of a point that is far from critical would be noise.
                continue
            if self._leave_saddle():
                yield self._iterate(Phase.ESCAPE)
                continue
            self._drop_columns()
            before = self._w
            self._w = self._augmented().multipliers(self._program.forms.values(self._Y))
            violation = self._violation()
            stalled = 0 if violation < 0.9 * best else stalled + 1
            best = min(best, violation)
            is_feasible = violation <= options.violation_tol
            if is_feasible:
                stalled = 0
                last = self._judged()
                yield last
                if last.status is not None:
                    return
            elif stalled in ASK_AFTER and self._is_infeasible(before):
                yield self._last(Status.INFEASIBLE)
                return
            self._tighten(violation, previous, easy=self._n_steps - begin <= EASY_STEPS)
            previous = violation
        infeasible = best > options.violation_tol and self._is_infeasible(np.zeros_like(self._w))
        yield self._last(Status.INFEASIBLE if infeasible else Status.ITERATION_LIMIT)

    def _tighten(self, violation: float, previous: float, *, easy: bool) -> None:
        """Raise the penalty if the violation did not fall enough, and lower the residual."""
        is_feasible = violation <= self._options.violation_tol
        enough = EASY_DECREASE if easy else HARD_DECREASE
        if violation > enough * previous and (not is_feasible or self._n_idle > 0):
            grown = (EASY_GROWTH if easy else HARD_GROWTH) * self._penalty
            self._penalty = min(grown, LARGEST_PENALTY * self._first_penalty)
        wanted = min(self._residual_tol, RESIDUAL_PER_VIOLATION * violation)
        if is_feasible:
            wanted = RESIDUAL_FACTOR * self._residual_tol
        self._residual_tol = max(wanted, LEAST_RESIDUAL)

    def _judged(self) -> Iterate:
        """Return a feasible point with its certificate; with a status if no better one will come.

        Rounding ends the inner problems before the multipliers have converged: only a gap that no
        longer falls from one multiplier step to the next tells that this is all.
        """
        last = self._last(None)
        if last.status is not None or last.certificate is None:
            return last
        gap = last.certificate.gap
        self._n_idle = 0 if gap < PROGRESS * self._least_gap else self._n_idle + 1
        self._least_gap = min(self._least_gap, gap)
        tight = self._inner_stalled or self._residual_tol <= LEAST_RESIDUAL
        if tight and self._n_idle >= PATIENCE:
            return replace(last, status=self._uncertified(last))
        return last

    def _scaled_start(self) -> FloatArray:
        """Return the start with its free rows as long as the augmented Lagrangian likes best."""
        objective = Lagrangian(self._program.with_envelope(self._augmented()))
        candidates = []
        for halvings in range(START_HALVINGS):
            Y = self._Y.copy()
            Y[self._manifold.free] *= 0.5**halvings
            candidates.append(Y)
        return min(candidates, key=objective.value)

    def _augmented(self) -> Envelope:
        penalty = self._penalty * self._weight
        return self._program.envelope.augmented(self._w, penalty)

    def _inner(self) -> Iterator[Iterate]:
        """Minimize the augmented Lagrangian for the present multipliers."""
        program = self._program.with_envelope(self._augmented())
        objective = Lagrangian(program)
        scale = 2.0 * self._cost * float(np.linalg.norm(self._Y))
        scale += 2.0 * float(np.linalg.norm(program.forms.adjoint(self._w) @ self._Y))
        newton = None
        if TangentNewton.fits(program):
            newton = TangentNewton(program, self._manifold).inverse_at
        steps = trust_region(
            self._manifold,
            objective,
            self._Y,
            precondition_at=newton,
            tol=self._residual_tol * scale,
            max_iter=INNER_STEPS,
        )
        for step in steps:
            # The manifold's steps do not know the gauge; no term of the objective does either.
            self._Y, self._residual = program.center(step.Y), step.gradient_norm / scale
            self._n_steps += 1
            self._inner_stalled = step.stalled
            yield self._iterate(Phase.AUGMENTED_LAGRANGIAN)

    def _violation(self) -> float:
        """Return the largest violation, relative to the bound or to a typical one."""
        envelope, bounds = self._program.envelope, bound_sizes(self._program.envelope)
        missed = envelope.violation(self._program.forms.values(self._Y))
        scale = np.maximum(bounds, SMALL_BOUND * typical_size(bounds))
        return float(np.max(missed / scale, initial=0.0))

    def _leave_saddle(self) -> bool:
        """Add columns along negative eigenvectors of the slack, and tell whether that led down."""
        program, Y = self._program, self._Y
        n_new = min(ESCAPE_COLUMNS, self._options.max_rank - Y.shape[1])
        if n_new <= 0:
            return False
        objective = Lagrangian(program.with_envelope(self._augmented()))
        w = objective.multipliers(Y)
        blocks = block_multipliers_at(program, Y, w)
        values, vectors = lowest_modes(program.slack(w, blocks), program.gauge, n_new)
        # −λ·‖Y‖² is about what an eigenvalue λ < 0 costs in the bound.
        size = float(np.linalg.norm(Y))
        accuracy = max(self._options.tol, min(self._violation(), 1.0))
        worth = SADDLE * accuracy * abs(program.primal_value(Y)) / size**2
        # Eigenvalues that the residual explains may vanish with it.
        threshold = max(worth, self._residual * self._cost)
        vectors = vectors[:, values < -threshold]
        if vectors.shape[1] == 0:
            return False
        wide = np.hstack([Y, np.zeros_like(vectors)])
        direction = np.hstack([np.zeros_like(Y), vectors])
        now, t = objective.value(wide), size
        best, best_value = wide, now
        while t > 1e-6 * size:
            candidate = self._manifold.retract(wide, t * direction)
            value = objective.value(candidate)
            if value < best_value:
                best, best_value = candidate, value
            t /= 2.0
        # Stiff penalties make the first move short: at a feasible point any descent counts.
        is_feasible = self._violation() <= self._options.violation_tol
        if now - best_value <= (0.0 if is_feasible else INSIGNIFICANT * worth * size**2):
            return False
        self._Y = program.center(best)
        return True

    def _drop_columns(self) -> None:
        """Rotate the columns to principal axes and leave out those that are next to nothing."""
        _, sizes, axes = np.linalg.svd(self._Y, full_matrices=False)
        largest = int(self._manifold.blocks[:, 1].max())
        kept = max(int(np.sum(sizes > NEGLIGIBLE * sizes[0])) + 1, largest + 1)
        if kept < self._Y.shape[1]:
            Y = self._manifold.orthonormalize(self._Y @ axes[:kept].T)
            self._Y = self._program.center(Y)

    def _is_infeasible(self, before: FloatArray) -> bool:
        """Tell whether the multipliers, or their last change, prove a contradiction."""
        program = self._program
        zero = program.cost * 0.0 if not isinstance(program.cost, LinearOperator) else None
        for w in (self._w - before, self._w):
            if zero is None:
                return proves_infeasible(program, w)
            idle = replace(program, cost=zero)
            blocks = block_multipliers_at(idle, self._Y, w)
            if proves_infeasible(program, w, blocks):
                return True
        return False

    def _uncertified(self, last: Iterate) -> Status:
        """Say why a critical point has no certificate."""
        certificate = last.certificate
        negative = certificate is not None and (
            certificate.min_eigenvalue < -self._options.tol * self._cost
        )
        at_limit = self._Y.shape[1] >= self._options.max_rank
        return Status.RANK_LIMIT if negative and at_limit else Status.STATIONARY

    def _iterate(self, phase: Phase) -> Iterate:
        return Iterate(
            Y=self._Y,
            multipliers=self._w,
            objective=self._program.primal_value(self._Y),
            residual=self._residual,
            phase=phase,
            n_iter=self._n_steps,
        )

    def _last(self, otherwise: Status | None) -> Iterate:
        iterate = self._iterate(Phase.CERTIFICATE)
        certificate = certify_with_blocks(self._program, self._Y, self._w)
        holds = certificate.holds(self._options.tol) and otherwise is None
        status = Status.CERTIFIED if holds else otherwise
        return replace(iterate, certificate=certificate, status=status)
