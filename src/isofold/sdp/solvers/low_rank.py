"""The engine: low-rank factorization with the inner solver that fits the shape of the problem.

Instead of G ⪰ 0 of side n the factor Y of G = YYᵀ with few columns is sought (Burer and Monteiro
2003), which is not convex; the dual certificate then tells whether the answer is the optimum of
the convex problem. Three shapes have inner solvers of their own, a fourth takes what is left:

- orthonormal blocks, no other constraints: direct Riemannian Newton, `synchronization`;
- upper bounds only: low-rank primal-dual interior point, `upper_bounds`;
- equalities, soft constraints, other bounds: multiplier steps with L-BFGS, `augmented`;
- blocks and constraints together: augmented Lagrangian on the manifold, `augmented_blocks`, unless
  a dense interior point (`dense`) has certified the program before: up to a few thousand rows.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.base import BaseEstimator

from isofold._parallel import one_blas_thread
from isofold._progress.stages import Stage, interrupt, interrupted, interruptible, stage
from isofold._typing import FloatArray
from isofold._validation import check_count, check_finite, check_positive, check_seed
from isofold.exceptions import InvalidInputError, MemoryLimitError
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program
from isofold.sdp.reduction import INTERRUPTED, Reduced
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import SDPSolution, Status
from isofold.sdp.solvers.augmented.multiplier_steps import AugmentedSolver
from isofold.sdp.solvers.augmented_blocks.search import AugmentedBlocksSolver
from isofold.sdp.solvers.dense import DenseSDP
from isofold.sdp.solvers.protocol import InnerSolver, Iterate, Options, Phase, Start
from isofold.sdp.solvers.synchronization.search import SynchronizationSolver
from isofold.sdp.solvers.upper_bounds.path import UpperBoundsSolver

__all__ = ["LowRankSDP"]

logger = logging.getLogger("isofold")

SLOW = "slow progress for so small a problem"
"""Why a solution ends after `_patience`."""

INNER_SOLVERS: tuple[InnerSolver, ...] = (
    SynchronizationSolver(),
    AugmentedBlocksSolver(),
    UpperBoundsSolver(),
    AugmentedSolver(),
)
"""The first one that accepts a program solves it; the last accepts all without blocks."""


class LowRankSDP(BaseEstimator):
    """Solve a `GramSDP` by low-rank factorization and certify the answer.

    Parameters
    ----------
    tol : float or None, default=None
        Relative duality gap to reach. None: 1e-6 for blocks alone (stitching), 1e-3 for hard
        equalities, 1e-4 otherwise.
    violation_tol : float or None, default=None
        How well hard constraints must be met: for equalities the median relative error of the
        lengths (None: 1e-3), for bounds the largest relative error (None: 1e-6). On sheets a finer
        one is reached by Newton's method after a certificate at 1e-3: 1e-5 on 2,000 points of a
        roll in seconds, with 0.4 % less variance, which the gap tells.
    rank : int or None, default=None
        Columns of the factor at the start. None: the block size for stitching, 8 otherwise. For
        unfolding into r dimensions r + 6 is a good choice.
    max_rank : int or None, default=None
        Columns up to which the rank may grow. None: what always suffices (Barvinok and Pataki),
        at most 64.
    penalty : float, default=16.0
        The weight of hard equalities in multiplier steps, in units of 1/λ₂ of the unit Laplacian.
        Larger is faster, smaller is certified more tightly.
    max_iter : int, default=100
        Outer iterations.
    max_seconds : float or None, default=None
        Time after which the best iterate is returned.
    callback : callable or None, default=None
        Called with every `Iterate`; if it returns True the solver stops.
    random_state : int, RandomState instance or None, default=None
        Source of the random parts of the start.

    See Also
    --------
    ConicSDP : The same problems by an interior-point or splitting solver, for small sizes.

    Examples
    --------
    Two triangles that share an edge open flat.

    >>> from isofold.sdp import GramSDP, LowRankSDP
    >>> pairs = [[0, 1], [1, 2], [2, 0], [1, 3], [2, 3]]
    >>> problem = GramSDP.unfolding(4, pairs, [1.0] * 5)
    >>> solution = LowRankSDP(tol=1e-6, random_state=0).solve(problem)
    >>> solution.rank
    2
    """

    def __init__(
        self,
        *,
        tol: float | None = None,
        violation_tol: float | None = None,
        rank: int | None = None,
        max_rank: int | None = None,
        penalty: float = 16.0,
        max_iter: int = 100,
        max_seconds: float | None = None,
        callback: Callable[[Iterate], Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.tol = tol
        self.violation_tol = violation_tol
        self.rank = rank
        self.max_rank = max_rank
        self.penalty = penalty
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.callback = callback
        self.random_state = random_state

    def solve(
        self,
        problem: GramSDP,
        *,
        start: FloatArray | None = None,
        multipliers: FloatArray | None = None,
        budget: Mapping[Phase, int] | None = None,
        rules: SolverRules = RULES,
    ) -> SDPSolution:
        """Return the solution of a problem with its certificate.

        Parameters
        ----------
        problem : GramSDP
            The problem.
        start : ndarray of shape (n_points, k) or None, default=None
            Coordinates to begin with.
        multipliers : ndarray of shape (n_forms,) or None, default=None
            Dual variables to begin with.
        budget : mapping from Phase to int or None, default=None
            Iterations that each phase may take; phases not named may take any number.
        rules : SolverRules, default=RULES
            The numbers by which the engine decides.

        Returns
        -------
        SDPSolution
            The best point found and how it is to be trusted.

        Raises
        ------
        InvalidInputError
            If an option or the start makes no sense.
        UnboundedProblemError
            If the objective can be improved without end.
        """
        # Patches that are pulled apart would seem to move away together without end. Without
        # constraints nothing pulls, and the free rows are eliminated.
        has_forms = problem.forms.n_forms > 0
        reduced = Reduced.of(problem, translation_gauge=has_forms, rules=rules)
        program = reduced.program
        options = self._options(program, rules)
        if reduced.preflight.contradiction is not None:
            return reduced.infeasible()
        if start is None and multipliers is None and self._suits_dense(program, rules):
            with interruptible():
                dense = self._solve_dense(problem, options, 0)
            if dense is not None:
                return dense
        inner = next(solver for solver in INNER_SOLVERS if solver.accepts(program))
        source = inner.iterates(program, options, _start(program, start, multipliers))
        watch = _Watch(reduced, self.callback, self.max_seconds, budget or {})
        # Many short vectors: the threads of BLAS would wait for each other, more than ten times
        # slower on a busy machine.
        with one_blas_thread():
            with interruptible(), stage(inner.task) as steps:
                limit = _patience(program, rules)
                iterate, reason = watch.follow(source, steps, limit)
                if reason == SLOW and _is_for_dense(program):
                    dense = self._solve_dense(problem, options, iterate.n_iter)
                    if dense is not None:
                        return dense
                if reason == SLOW:
                    limit = rules.most_patience * limit
                    iterate, reason = watch.follow(source, steps, limit)
            if iterate.certificate is None:
                certificate = inner.certify(program, options, iterate)
                iterate = replace(iterate, certificate=certificate)
        return reduced.solution(iterate, tol=options.tol, reason=reason)

    def _solve_dense(self, problem: GramSDP, options: Options, n_before: int) -> SDPSolution | None:
        """Return the solution by an interior point, None if it is not certified or too wide.

        An interrupted one is all that there is if nothing was tried before.
        """
        dense = DenseSDP(tol=options.tol)
        try:
            found = dense.solve(problem, violation_tol=options.violation_tol, rules=options.rules)
        except MemoryLimitError:
            return None
        is_good = found.status is Status.CERTIFIED and found.rank <= options.max_rank
        if not is_good and not (n_before == 0 and interrupted()):
            return None
        return replace(found, n_iter=n_before + found.n_iter)

    def _suits_dense(self, program: Program, rules: SolverRules) -> bool:
        """Tell whether an interior point is the first choice: blocks with a few constraints.

        It has no iterates of few columns to show, or to stop at.
        """
        n_forms = program.forms.n_forms
        n_entries = int(np.sum(program.blocks[:, 1] * (program.blocks[:, 1] + 1) // 2))
        return (
            n_entries > 0
            and 0 < n_forms <= rules.dense_forms - n_entries
            and program.size <= rules.dense_rows
            and not isinstance(program.cost, LinearOperator)
            and self.max_rank is None
            and self.max_seconds is None
            and self.callback is None
        )

    def _options(self, program: Program, rules: SolverRules) -> Options:
        envelope = program.envelope
        equalities = bool(np.any(envelope.is_equality & envelope.is_hard))
        only_blocks = len(program.blocks) > 0 and program.forms.n_forms == 0
        tol = self.tol
        if tol is None:
            tol = rules.gap_of_equalities if equalities else rules.gap
            tol = rules.gap_of_blocks if only_blocks else tol
        violation_tol = self.violation_tol
        if violation_tol is None:
            violation_tol = rules.violation_of_bounds
            if equalities:
                violation_tol = rules.violation_of_equalities
        for name, value in (("tol", tol), ("violation_tol", violation_tol)):
            check_positive(value, name=name)
        check_positive(self.penalty, name="penalty")
        if self.max_seconds is not None:
            check_positive(self.max_seconds, name="max_seconds")
        largest = max(1, program.size - (program.gauge is not None))
        block = int(program.blocks[:, 1].max(initial=0))
        default = block or rules.free_columns
        rank = check_count(default if self.rank is None else self.rank, name="rank")
        enough = block + _sufficient_rank(program)
        most = min(rules.most_columns, enough) if self.max_rank is None else self.max_rank
        max_rank = check_count(most, name="max_rank")
        rank = max(block, min(rank, largest))
        return Options(
            tol=float(tol),
            violation_tol=float(violation_tol),
            rank=rank,
            max_rank=max(rank, min(max_rank, largest)),
            penalty=float(self.penalty),
            max_iter=check_count(self.max_iter, name="max_iter"),
            seed=int(check_seed(self.random_state).randint(0, 2**31 - 1)),
            rules=rules,
        )


class _Watch:
    """What ends a run early: the user, a callback, the clock, a budget of iterations."""

    def __init__(
        self,
        reduced: Reduced,
        callback: Callable[[Iterate], Any] | None,
        max_seconds: float | None,
        budget: Mapping[Phase, int],
    ) -> None:
        self._reduced, self._callback = reduced, callback
        self._max_seconds, self._budget = max_seconds, budget
        self._spent: Counter[Phase] = Counter()

    def follow(self, source: Iterator[Iterate], steps: Stage, limit: float) -> tuple[Iterate, str]:
        """Follow the iterates to the last one, or to where a limit or the user ends it."""
        iterate: Iterate | None = None
        reason: str | None = None
        try:
            for iterate in source:
                logger.debug(
                    "%s, iteration %d: objective %.9g, residual %.2g",
                    iterate.phase.value,
                    iterate.n_iter,
                    iterate.objective,
                    iterate.residual,
                )
                steps.advance(objective=self._reduced.problem.sign * iterate.objective)
                if iterate.status is not None:
                    break
                reason = self._reason_to_end(iterate, limit)
                if reason is not None:
                    break
        except KeyboardInterrupt:
            if iterate is None or interrupted():
                raise
            interrupt()
            reason = INTERRUPTED
        assert iterate is not None, "an inner solver yields at least its start"  # noqa: S101
        return iterate, reason or "iteration limit"

    def _reason_to_end(self, iterate: Iterate, limit: float) -> str | None:
        phase = iterate.phase
        self._spent[phase] += 1
        if interrupted():
            return INTERRUPTED
        if self._callback is not None and self._callback(iterate):
            return "the callback asked for it"
        if phase in self._budget and self._spent[phase] > self._budget[phase]:
            return f"limit of {self._budget[phase]} iterations of the phase {phase.value!r}"
        if iterate.n_iter >= limit:
            return SLOW
        if self._max_seconds is not None and self._reduced.seconds > self._max_seconds:
            return f"time limit of {self._max_seconds:g} s"
        return None


def _patience(program: Program, rules: SolverRules) -> float:
    """Return the iterations after which a program without blocks that is small is slow."""
    is_small = program.size <= rules.small_size and program.forms.n_forms <= rules.small_forms
    return rules.first_patience if is_small and not len(program.blocks) else np.inf


def _is_for_dense(program: Program) -> bool:
    """Tell whether an interior point closes the gap: all forms are soft equalities."""
    envelope = program.envelope
    is_soft = bool(np.all(envelope.is_equality & ~envelope.is_hard))
    return is_soft and not isinstance(program.cost, LinearOperator)


def _sufficient_rank(program: Program) -> int:
    """Return the least p with p(p+1)/2 above the number of constraints."""
    n_constraints = program.forms.n_forms + int(
        np.sum(program.blocks[:, 1] * (program.blocks[:, 1] + 1) // 2)
    )
    return int(np.ceil((np.sqrt(8.0 * n_constraints + 1.0) - 1.0) / 2.0)) + 1


def _start(program: Program, start: Any, multipliers: Any) -> Start:
    Y: FloatArray | None = None
    if start is not None:
        Y = np.asarray(start, dtype=np.float64)
        n_points = program.size if program.basis is None else len(program.basis)
        if Y.ndim != 2 or Y.shape[0] != n_points or Y.shape[1] < 1:
            msg = (
                f"start has shape {Y.shape}, but one row is needed for each of the {n_points} "
                f"points and at least one column."
            )
            raise InvalidInputError(msg)
        check_finite(Y, name="start", advice="Pass finite coordinates, or no start at all.")
        Y = program.center(Y if program.basis is None else program.basis.T @ Y)
    w = None
    if multipliers is not None:
        w = np.asarray(multipliers, dtype=np.float64)
        if w.shape != (program.forms.n_forms,):
            msg = f"multipliers has shape {w.shape}, but there are {program.forms.n_forms} forms."
            raise InvalidInputError(msg)
        check_finite(w, name="multipliers", advice="Pass finite multipliers, or none at all.")
    return Start(Y, w)
