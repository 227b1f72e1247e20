"""Keep some squares in the least-squares sense, then stretch: the two stages of affine embeddings.

    1.  e*² = min  mean_e (⟨A_e, G⟩ − b_e)²/u_e²         over G ⪰ 0 (with blocks, in a basis)
    2.  max ⟨M, G⟩   subject to   mean_e (⟨A_e, G⟩ − b_e)²/u_e² ≤ e*² + s²

where the units u_e of errors are the targets b_e unless others are given.
With slack s = 0 the second stage is the problem of embedding by affine transformations: among all
least-squares solutions the one that stretches most. Its feasible set is that of linear equations if
some solution of the normal equations is positive semidefinite. Otherwise, and for s > 0, the budget
is a Lagrangian: the maximum of ⟨M, G⟩ − λ·mean(...)² stretches most among all G with no larger
error than its own, whatever λ is, so that the certificate of that soft program is one of the second
stage. λ is raised until the budget is met.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from isofold._progress.stages import interrupted
from isofold._typing import FloatArray
from isofold.exceptions import EarlyInterrupt, InvalidInputError
from isofold.sdp.forms import PairForms
from isofold.sdp.posing.compression import CompressedSDP, compress
from isofold.sdp.problem import Constraints, GramSDP
from isofold.sdp.rules import RULES, SolverRules
from isofold.sdp.solution import SDPSolution, Status

__all__ = ["MOST_FUNCTIONS", "Stretched", "relative_error", "stretch"]

MOST_FUNCTIONS = 60
"""Columns of a basis up to which pairs are compressed to the entries of the small Gram matrix."""


class Solver(Protocol):
    """What solves a `GramSDP`."""

    def solve(self, problem: GramSDP) -> SDPSolution:
        """Return the solution with its certificate."""
        ...


@dataclass(frozen=True, eq=False)
class Stretched:
    """The solution of both stages.

    Parameters
    ----------
    solution : SDPSolution
        The stretched points, with the certificate of the program that was solved last.
    error : float
        The root of the mean of (⟨A_e, G⟩ − b_e)²/u_e² there.
    least_error : float or None
        e*, the least such error; None if the slack did without it.
    weight : float
        λ; infinite if the equations of the first stage were kept exactly.
    """

    solution: SDPSolution
    error: float
    least_error: float | None
    weight: float


def stretch(
    problem: GramSDP,
    *,
    slack: float,
    solver: Solver,
    units: FloatArray | None = None,
    least_error: float | None = None,
    rules: SolverRules = RULES,
) -> Stretched:
    """Return the points that stretch most among those that keep squares as well as possible."""
    units = _kept(problem).upper if units is None else units
    if not _stretches(problem):
        # Nothing is pulled apart: the first stage is all there is.
        solution = _solve(_first_stage(problem, units), solver)
        error = relative_error(problem, solution.coordinates, units)
        return Stretched(solution, error, error, np.inf)
    if slack == 0.0:
        least_error = _least_error(problem, units, solver) if least_error is None else least_error
        exact = _exact(problem, units, solver, least_error, rules)
        if exact is not None and exact.status is Status.CERTIFIED:
            error = relative_error(problem, exact.coordinates, units)
            return Stretched(exact, error, least_error, np.inf)
        slack = max(np.sqrt(rules.stretch_excess) * least_error, rules.stretch_least_slack)
    tried: list[Stretched] = []
    budget = rules.stretch_near * slack
    weight: float | None = rules.stretch_first_weight / slack
    while weight is not None:
        try:
            solution = _solve(_soft(problem, units, weight), solver)
        except EarlyInterrupt:
            if not tried:
                raise
            break
        error = relative_error(problem, solution.coordinates, units)
        tried.append(Stretched(solution, error, least_error, weight))
        if interrupted():
            break
        if least_error is None and len(tried) > 1 and error > budget:
            least_error = _least_error(problem, units, solver)
        weight = _next_weight(tried, slack, least_error, rules)
    within = [one for one in tried if _excess(one.error, least_error) <= budget]
    best = min(within, key=lambda one: one.weight) if within else tried[-1]
    return replace(best, least_error=least_error)


def _next_weight(
    tried: list[Stretched], slack: float, least_error: float | None, rules: SolverRules
) -> float | None:
    """Return the λ to try next, None if the budget is met and used, or cannot be."""
    excess = {one.weight: _excess(one.error, least_error) for one in tried}
    within = [weight for weight, used in excess.items() if used <= rules.stretch_near * slack]
    beyond = [weight for weight, used in excess.items() if used > rules.stretch_near * slack]
    if len(tried) == rules.stretch_solves:
        return None
    if not within:
        # The error falls about as 1/λ at first, then more slowly.
        largest = max(beyond)
        return largest * float(np.clip(excess[largest] / slack, 2.0, rules.stretch_growth))
    least = min(within)
    if excess[least] >= rules.stretch_used * slack:
        return None
    if not beyond and tried[-1].solution.status is Status.CERTIFIED:
        return least * float(np.clip(excess[least] / slack, 1.0 / rules.stretch_growth, 1.0))
    if not beyond or least < rules.stretch_ratio * max(beyond):
        return None
    return float(np.sqrt(least * max(beyond)))


def _stretches(problem: GramSDP) -> bool:
    """Tell whether the objective is more than nothing."""
    return float(abs(problem.objective).max()) > 0.0 if problem.n_points else False


def _excess(error: float, least_error: float | None) -> float:
    return float(np.sqrt(max(error**2 - (least_error or 0.0) ** 2, 0.0)))


def _least_error(problem: GramSDP, units: FloatArray, solver: Solver) -> float:
    """Return e* of the first stage."""
    least = _solve(_first_stage(problem, units), solver)
    return relative_error(problem, least.coordinates, units)


def _first_stage(problem: GramSDP, units: FloatArray) -> GramSDP:
    nothing = sp.csr_array((problem.n_points, problem.n_points))
    return _soft(replace(problem, objective=nothing), units, 1.0)


def _exact(
    problem: GramSDP,
    units: FloatArray,
    solver: Solver,
    least_error: float,
    rules: SolverRules,
) -> SDPSolution | None:
    """Return the solution among all that solve the normal equations, None if there is none."""
    if least_error <= rules.stretch_exact:
        return _solve(problem, solver)
    if not _is_compressible(problem):
        return None
    small = compress(_soft(problem, units, 1.0))
    # What the equations, solved by a symmetric matrix that need not be semidefinite, leave.
    symmetric = np.sqrt(max(small.constant, 0.0))
    if least_error > symmetric * (1.0 + rules.stretch_excess) + rules.stretch_exact:
        return None
    constraints = _kept(small.problem)
    hard = replace(constraints, penalty=np.full(len(constraints.penalty), np.inf))
    solution = solver.solve(replace(small.problem, constraints=hard))
    return CompressedSDP(small.problem, 0.0, small.basis).lift(solution)


def _soft(problem: GramSDP, units: FloatArray, weight: float) -> GramSDP:
    """Return the maximum of ⟨M, G⟩ − λ·mean (⟨A_e, G⟩ − b_e)²/u_e²."""
    penalty = 2.0 * weight / (len(units) * units**2)
    return replace(problem, constraints=replace(_kept(problem), penalty=penalty))


def _kept(problem: GramSDP) -> Constraints:
    """Return what a program keeps."""
    if problem.constraints is None:
        msg = "The program has no constraints: there is nothing to keep. Pass equalities."
        raise InvalidInputError(msg)
    return problem.constraints


def _is_compressible(problem: GramSDP) -> bool:
    return (
        isinstance(_kept(problem).forms, PairForms)
        and problem.basis is not None
        and problem.basis.shape[1] <= MOST_FUNCTIONS
    )


def _solve(problem: GramSDP, solver: Solver) -> SDPSolution:
    """Solve a program, with its pairs compressed where that makes it smaller."""
    constraints = _kept(problem)
    if _is_compressible(problem) and problem.basis is not None:
        n_entries = problem.basis.shape[1] * (problem.basis.shape[1] + 1) // 2
        is_soft = bool(np.all(np.isfinite(constraints.penalty)))
        if is_soft and n_entries < constraints.forms.n_forms:
            small = compress(problem)
            return small.lift(solver.solve(small.problem))
    return solver.solve(problem)


def relative_error(
    problem: GramSDP, coordinates: FloatArray, units: FloatArray | None = None
) -> float:
    """Return the root of the mean of (⟨A_e, G⟩ − b_e)²/u_e² at coordinates of the points."""
    constraints = _kept(problem)
    if len(constraints.upper) == 0:
        return 0.0
    missed = constraints.forms.values(coordinates) - constraints.upper
    return float(np.sqrt(np.mean((missed / (constraints.upper if units is None else units)) ** 2)))
