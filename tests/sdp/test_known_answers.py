"""Problems with known optimum: value, Gram matrix, multipliers and certificate of every solver."""

import numpy as np
import pytest

from support.sdp_checks import (
    SOLVER_TOL,
    SOLVERS,
    assert_kkt,
    assert_valid_bound,
    solver_name,
    takes,
)
from support.sdp_problems import known_problems

PROBLEMS = known_problems()
STRICT = [known for known in PROBLEMS if known.is_strict and known.value != 0.0]
VANISHING = [known for known in PROBLEMS if known.value == 0.0]
RIGID = [known for known in PROBLEMS if not known.is_strict]

# Both sides of the optimum are within the gap, and violated constraints add as much again for
# every unit of Σ|w|b, which for these problems is the optimum itself.
VALUE_TOL = 4 * SOLVER_TOL

# Near the optimum the objective grows with the square of a distance from it, so that a gap of
# 1e-6 leaves an error of 1e-3 in the solution; the zoo's constants of growth are near one.
SOLUTION_TOL = 3 * np.sqrt(SOLVER_TOL)


def each_solver_of(problems):
    """Return every problem with every solver that takes problems of its kind."""
    cases = [
        pytest.param(known, solver, id=f"{known}-{solver_name(solver)}")
        for known in problems
        for solver in SOLVERS
        if takes(solver, known.problem)
    ]
    return pytest.mark.parametrize(("known", "solver"), cases)


_solutions = {}


def solved(known, solver):
    """Return a solver's solution of a problem, found once."""
    key = id(known), id(solver)
    if key not in _solutions:
        _solutions[key] = solver.solve(known.problem)
    return _solutions[key]


def scale_of(known):
    """Return the size of the value, of its terms where they cancel (consistent patches)."""
    if known.value:
        return abs(known.value)
    return float(np.abs(known.problem.objective).sum())


@each_solver_of(STRICT)
def test_strictly_feasible_problems_are_certified(known, solver):
    solution = solved(known, solver)
    seen = assert_kkt(known.problem, solution, SOLVER_TOL)
    assert not solution.certificate.is_shifted
    allowed = VALUE_TOL * scale_of(known)
    assert solution.primal == pytest.approx(known.value, rel=0, abs=allowed)
    assert solution.dual == pytest.approx(known.value, rel=0, abs=allowed)
    if known.gram is not None:
        size = np.abs(known.gram).max()
        np.testing.assert_allclose(seen.G, known.gram, rtol=0, atol=SOLUTION_TOL * size)
    if known.multipliers is not None:
        size = np.abs(known.multipliers).max()
        np.testing.assert_allclose(seen.w, known.multipliers, rtol=0, atol=SOLUTION_TOL * size)
    if known.block_multipliers is not None:
        size = max(1.0, np.abs(known.block_multipliers).max())
        np.testing.assert_allclose(
            seen.Lambda, known.block_multipliers, rtol=0, atol=SOLUTION_TOL * size
        )


@each_solver_of(PROBLEMS)
def test_no_bound_excludes_the_known_optimum(known, solver):
    """A maximum is never above what the certificate allows for the problem as posed."""
    solution = solved(known, solver)
    assert_valid_bound(known.problem, solution)
    bound = solution.certificate.posed_bound
    sign = -1.0 if known.problem.maximize else 1.0
    floor = solution.certificate.rounding_floor + 1e-12 * scale_of(known)
    assert sign * (known.value - bound) >= -floor


@each_solver_of(RIGID)
def test_rigid_points_come_back_without_a_strictly_feasible_point(known, solver):
    """The points are pinned by their distances, whatever is known of the dual."""
    solution = solved(known, solver)
    size = np.abs(known.gram).max()
    np.testing.assert_allclose(solution.gram, known.gram, rtol=0, atol=SOLUTION_TOL * size)


@each_solver_of(VANISHING)
def test_a_vanishing_optimum_is_found_to_the_accuracy_of_its_terms(known, solver):
    """No gap is small relative to zero: only the rounding floor can certify such a problem."""
    solution = solved(known, solver)
    seen = assert_valid_bound(known.problem, solution)
    allowed = SOLVER_TOL * scale_of(known)
    assert -solution.certificate.rounding_floor <= solution.primal <= allowed
    assert -allowed <= solution.dual
    np.testing.assert_allclose(seen.Lambda, known.block_multipliers, rtol=0, atol=allowed)
    if solver_name(solver) == "low rank":
        assert_kkt(known.problem, solution, SOLVER_TOL)
