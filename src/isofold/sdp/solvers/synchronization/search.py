"""Synchronization: min ⟨C, YYᵀ⟩ over orthonormal blocks and free rows, with nothing else to obey.

    primal   min ⟨C, YYᵀ⟩          Y_i Y_iᵀ = I on blocks
    dual     max tr Λ              C − Λ ⪰ 0, Λ block-diagonal on the orthonormal blocks

The search goes from cheap to thorough and ends with the first certificate that holds: (1) the
softest modes of C and Newton's method at p = max r_i columns, which is all that clean data need;
(2) with noise that point is a fold: the most spread-out combination of more modes, and Newton's
method; (3) a trust region with three spare columns in which folds open, projected onto the
principal max r_i columns, and Newton's method; (4) if the optimum itself needs more columns the
spare ones stay, and a negative eigenvector of C − Λ adds another as long as there is one (the rank
staircase).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.sdp.certificate import Certificate
from isofold.sdp.dual.blocks import BlockBound, bound_blocks
from isofold.sdp.dual.certify import certify_blocks
from isofold.sdp.joint_matrix import JointMatrix
from isofold.sdp.program import Program
from isofold.sdp.solution import Status
from isofold.sdp.solvers.protocol import Iterate, Options, Phase, Start
from isofold.sdp.solvers.synchronization.modes import isometric_combination, low_modes
from isofold.sdp.solvers.synchronization.newton import newton_steps
from isofold.sdp.solvers.trust_region import trust_region
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["SynchronizationSolver"]

SPARE_COLUMNS = 3
"""Columns beside max r_i in which folds open: one or two do as well but take more steps."""

MODE_SHIFT = 1e-9
"""Shift of the joint matrix in units of its scale, well below the eigenvalues of soft modes."""

N_MODES, MODE_ITERATIONS = 20, 6
"""Modes that a noisy start combines, and solves to find them."""

LOOSE_GRADIENT = 1e-3
"""Relative gradient at which the trust region hands over to Newton's method, which then needs
four or five steps."""

LARGEST_OPERATOR = 2000
"""Side up to which an objective that is known by its products only is written out as a matrix."""


class SynchronizationSolver:
    """Inner solver for orthonormal blocks without further constraints."""

    task = "stitch patches"

    def accepts(self, program: Program) -> bool:
        """Tell whether there are blocks and nothing else."""
        return len(program.blocks) > 0 and program.forms.n_forms == 0

    def iterates(self, program: Program, options: Options, start: Start) -> Iterator[Iterate]:
        """Yield better and better iterates; the last has a status."""
        return _Search(_joint_matrix(program), options).run(start)

    def certify(self, program: Program, options: Options, iterate: Iterate) -> Certificate:
        """Return a valid bound for an iterate that has no certificate yet."""
        joint = _joint_matrix(program)
        Y = joint.with_best_free_rows(iterate.Y)
        bound = bound_blocks(joint, Y, joint.product(Y), tol=options.tol, repair=True)
        assert bound is not None, "a repaired bound always exists"  # noqa: S101
        return certify_blocks(joint, bound, iterate.Y, joint.value(iterate.Y)[0])


def _joint_matrix(program: Program) -> JointMatrix:
    cost = program.cost
    if isinstance(cost, LinearOperator):
        if program.size > LARGEST_OPERATOR:
            msg = (
                f"The objective is an operator on {program.size} rows, but orthonormal blocks are "
                f"solved by factorization, and at most {LARGEST_OPERATOR} columns are written out. "
                f"Pass the objective as a sparse matrix; a Schur complement is passed by its joint "
                f"matrix, with free rows."
            )
            raise InvalidInputError(msg)
        cost = np.asarray(cost @ np.eye(program.size))
        cost = (cost + cost.T) / 2
    return JointMatrix(sp.csr_array(cost), StiefelProduct(program.blocks, program.size))


@dataclass(eq=False)
class _Search:
    """The search for a certified point, with what is known so far."""

    joint: JointMatrix
    options: Options
    bound: BlockBound | None = None
    best: Iterate | None = field(default=None, init=False)
    allowed: Iterate | None = field(default=None, init=False)
    n_iter: int = field(default=0, init=False)
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.options.seed)

    def run(self, start: Start) -> Iterator[Iterate]:
        """Yield iterates, from cheap to thorough, until one is certified."""
        p, manifold = self.options.rank, self.joint.manifold
        narrow, given = p == manifold.smallest_rank, start.Y is not None
        Y = self._modes(p) if start.Y is None else _with_columns(start.Y, p)
        if narrow:
            yield from self._newton(Y, patient=given)
            if (final := self._certified()) is not None:
                yield final
                return
        if narrow or not given:
            Y = self._combined_modes(max(p, manifold.smallest_rank + SPARE_COLUMNS))
        if narrow:
            yield from self._newton(Y[:, :p], patient=False)
            if (final := self._certified()) is not None:
                yield final
                return
        yield from self._trust_region(Y, LOOSE_GRADIENT)
        lifted = self._last().Y
        if narrow:
            yield from self._newton(_principal_columns(manifold, lifted, p), patient=True)
            if (final := self._certified()) is not None:
                yield final
                return
        yield from self._staircase(lifted)

    def _staircase(self, Y: FloatArray) -> Iterator[Iterate]:
        """Yield points of growing rank until one is certified or the rank may not grow."""
        options, before = self.options, self.n_iter
        allowed = self.best if self._last().Y.shape[1] <= options.max_rank else None
        while True:
            yield from self._trust_region(Y, 0.0)
            point = self._last()
            bound = self._improve_bound(point)
            allowed = self._better_allowed(allowed, point)
            certificate = certify_blocks(
                self.joint, self.bound or bound, allowed.Y, allowed.objective
            )
            if certificate.holds(options.tol):
                yield self._final(allowed, certificate, Status.CERTIFIED)
                return
            if self.n_iter - before > options.max_iter:
                yield self._final(allowed, certificate, Status.ITERATION_LIMIT)
                return
            p, before = point.Y.shape[1], self.n_iter
            optimal = certify_blocks(self.joint, bound, point.Y, point.objective)
            if p >= options.max_rank or optimal.holds(options.tol):
                status = Status.RANK_LIMIT if p >= options.max_rank else Status.STATIONARY
                yield self._final(allowed, certificate, status)
                return
            Y = self._escape(point, bound)

    def _better_allowed(self, allowed: Iterate | None, point: Iterate) -> Iterate:
        """Return the lower of two points, the second one with no more columns than allowed."""
        if point.Y.shape[1] > self.options.max_rank:
            manifold = self.joint.manifold
            Y = _principal_columns(manifold, point.Y, self.options.max_rank)
            Y = self.joint.with_best_free_rows(manifold.orthonormalize(Y))
            point = replace(point, Y=Y, objective=self.joint.value(Y)[0])
        return point if allowed is None or point.objective < allowed.objective else allowed

    def _improve_bound(self, point: Iterate) -> BlockBound:
        image = self.joint.product(point.Y)
        bound = bound_blocks(self.joint, point.Y, image, tol=self.options.tol, repair=True)
        assert bound is not None, "a repaired bound always exists"  # noqa: S101
        if self.bound is None or bound.dual > self.bound.dual:
            self.bound = bound
        return bound

    def _escape(self, point: Iterate, bound: BlockBound) -> FloatArray:
        """Return the point with another column along a negative eigenvector of the slack.

        The objective falls like τ²·vᵀSv along the retraction; τ is halved until it does.
        """
        joint, size = self.joint, np.sqrt(self.joint.manifold.n_orthonormal_rows)
        Y = np.column_stack([point.Y, np.zeros(len(point.Y))])
        if bound.direction is None:
            return Y
        V = np.zeros_like(Y)
        V[:, -1] = size * bound.direction
        step = 1.0
        while step > np.finfo(float).eps:
            moved = joint.with_best_free_rows(joint.manifold.retract(Y, step * V))
            if joint.value(moved)[0] < point.objective:
                return moved
            step /= 2.0
        return Y

    def _certified(self) -> Iterate | None:
        """Return the last point as the final one if the bound of its multipliers suffices."""
        point = self._last()
        image = self.joint.product(point.Y)
        bound = bound_blocks(self.joint, point.Y, image, tol=self.options.tol, repair=False)
        if bound is None:
            return None
        self.bound = bound
        certificate = certify_blocks(self.joint, bound, point.Y, point.objective)
        if not certificate.holds(self.options.tol):
            return None
        return self._final(point, certificate, Status.CERTIFIED)

    def _newton(self, Y: FloatArray, *, patient: bool) -> Iterator[Iterate]:
        """Yield Newton steps; an impatient run ends where the Hessian is indefinite."""
        tol, limit = self.options.tol, self.options.max_iter
        for step in newton_steps(self.joint, Y, tol=tol, max_iter=limit, patient=patient):
            yield self._note(step.Y, step.value, step.residual, Phase.NEWTON)

    def _trust_region(self, Y: FloatArray, loose: float) -> Iterator[Iterate]:
        """Yield steps of the trust region until the relative gradient is loosely or fully small."""
        joint = self.joint
        rows = joint.manifold.n_orthonormal_rows
        factor, _ = joint.positive_factor(1e3 * MODE_SHIFT * joint.scale)
        unit = joint.scale * np.sqrt(rows)
        cost = _QuadraticCost(joint)
        Y = joint.with_best_free_rows(joint.manifold.orthonormalize(Y))
        steps = trust_region(
            joint.manifold,
            cost,
            Y,
            precondition=factor.solve,
            tol=2.0 * unit * max(loose, 1e-14),
            max_iter=self.options.max_iter,
        )
        for step in steps:
            accurate = 0.01 * self.options.tol * abs(step.value) / rows
            residual = step.gradient_norm / (2.0 * unit)
            yield self._note(step.Y, step.value, residual, Phase.TRUST_REGION)
            if step.gradient_norm <= accurate:
                break
        best = joint.with_best_free_rows(self._last().Y)
        yield self._note(best, joint.value(best)[0], self._last().residual, Phase.TRUST_REGION)

    def _modes(self, p: int) -> FloatArray:
        factor, _ = self.joint.positive_factor(MODE_SHIFT * self.joint.scale)
        return low_modes(self.joint, factor, n_modes=p, n_iter=MODE_ITERATIONS, rng=self.rng)

    def _combined_modes(self, p: int) -> FloatArray:
        n_modes = min(max(N_MODES, p), self.joint.manifold.n_orthonormal_rows)
        modes = self._modes(n_modes)
        if n_modes < p:
            return _with_columns(modes, p)
        return isometric_combination(self.joint, modes, p, self.rng)

    def _note(self, Y: FloatArray, value: float, residual: float, phase: Phase) -> Iterate:
        """Record where the search is; return the best point so far that has few enough columns.

        Whoever stops the search gets the latter: points with spare columns are only intermediate.
        """
        self.n_iter += 1
        self.best = Iterate(Y, np.empty(0), value, residual, phase, self.n_iter)
        if Y.shape[1] > self.options.max_rank:
            if self.allowed is None:
                return self.best
            return replace(self.allowed, phase=phase, n_iter=self.n_iter)
        if self.allowed is None or value <= self.allowed.objective:
            self.allowed = self.best
        return replace(self.allowed, phase=phase, n_iter=self.n_iter)

    def _last(self) -> Iterate:
        assert self.best is not None, "every phase yields its start"  # noqa: S101
        return self.best

    def _final(self, point: Iterate, certificate: Certificate, status: Status) -> Iterate:
        return replace(point, certificate=certificate, status=status, n_iter=self.n_iter)


@dataclass(frozen=True, eq=False)
class _QuadraticCost:
    """⟨C, YYᵀ⟩ as a smooth objective."""

    joint: JointMatrix

    def value(self, Y: FloatArray) -> float:
        """Return ⟨C, YYᵀ⟩."""
        return self.joint.value(Y)[0]

    def gradient(self, Y: FloatArray) -> FloatArray:
        """Return 2CY."""
        return 2.0 * self.joint.product(Y)

    def hessian(self, Y: FloatArray) -> _Doubled:  # noqa: ARG002 - smooth costs have it
        """Return V ↦ 2CV, the same everywhere."""
        return _Doubled(self.joint)


@dataclass(frozen=True, eq=False)
class _Doubled:
    joint: JointMatrix

    def __call__(self, V: FloatArray) -> FloatArray:
        return np.asarray(2.0 * (self.joint.matrix @ V))


def _with_columns(Y: FloatArray, p: int) -> FloatArray:
    """Return Y with columns of zeros added, or its p principal columns."""
    if Y.shape[1] <= p:
        return np.hstack([Y, np.zeros((len(Y), p - Y.shape[1]))])
    return np.asarray(Y @ np.linalg.svd(Y, full_matrices=False)[2][:p].T)


def _principal_columns(manifold: StiefelProduct, Y: FloatArray, p: int) -> FloatArray:
    """Return the p principal columns of the orthonormal rows."""
    gram = sum(np.einsum("iak,ial->kl", Y[rows], Y[rows]) for rows in manifold.groups)
    axes = np.linalg.eigh(gram)[1][:, ::-1][:, :p]
    return np.asarray(Y @ axes)
