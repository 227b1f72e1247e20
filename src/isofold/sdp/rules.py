"""The numbers by which the engine decides, with the evidence for each.

Sizes of buffers and constants of one textbook algorithm (damping, line searches) stay where they
are used. A test that needs other numbers passes `replace(RULES, ...)`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "SolverRules"]


@dataclass(frozen=True)
class SolverRules:
    """What the engine aims at, when it changes its method, and when it gives up."""

    # Relative gaps to reach if the user asks for none. Stitching converges quadratically; hard
    # equalities on a neighbor graph have no multipliers, and their gap closes slowly.
    gap_of_blocks: float = 1e-6
    gap_of_equalities: float = 1e-3
    gap: float = 1e-4

    # Violations to reach if the user asks for none: the median relative error of lengths for
    # equalities, the largest relative error for bounds.
    violation_of_equalities: float = 1e-3
    violation_of_bounds: float = 1e-6

    # Columns of Y where nothing is known of the rank: the papers' few dimensions, and six spare.
    # It may grow to what always suffices, at most to so many.
    free_columns: int = 8
    most_columns: int = 64

    # Points and forms of a small program, iterations after which it is slow, and how many times
    # more it may take if there is no other solver. Lengths of many sizes make valleys of as many
    # widths, along which gradients creep; where they get to after so many iterations they hardly
    # leave any more.
    small_size: int = 60
    small_forms: int = 500
    first_patience: int = 1500
    most_patience: int = 10

    # Blocks with constraints, up to so many rows and so many constraints (entries of blocks among
    # them), are given to the interior point first: 300 rows take it a second, and the augmented
    # Lagrangian five to thirty. Beyond, memory and time grow with the square and the cube.
    dense_rows: int = 2500
    dense_forms: int = 6000

    # Rows up to which one thread of BLAS is faster than several in dense algebra.
    few_rows: int = 1000

    # Bounds on squared distances that contradict each other by less, relatively, are left to the
    # solver: distances computed in float32 are right to 1e-7 or so, and solvers promise no more.
    contradiction: float = 1e-6

    # Up to so many points all paths of upper bounds are searched for a contradiction, above it
    # those of two steps (triangles).
    all_paths_side: int = 2000

    # Rounds of local repair, and negative modes lifted in each: 1 to 9 rounds were needed on
    # neighbor graphs of 2,000 to 50,000 points, of which the largest have 170 modes at first.
    repair_rounds: int = 12
    repair_modes: int = 64

    # The fraction of the tolerated gap that the local repair may leave to scaling.
    repair_fraction: float = 0.03

    # Squared lengths below this fraction of the mean have no larger weight than that would give.
    short_length: float = 0.05

    # Gaps below this ask for inner problems solved to the end and a penalty that grows.
    fine_gap: float = 1e-4

    # Very many upper bounds, of which only violated ones are used: the gap to reach (a third for
    # the program, a third for bounds left out), rounds of adding bounds (five to ten are usual),
    # and bounds added at a time in units of the size of the basis: more would slow the program.
    active_set_gap: float = 3e-3
    active_set_rounds: int = 40
    active_set_added: int = 5

    # Two stages, least squares and then stretching. Least errors up to `exact` count as zero: they
    # are the accuracy of the solvers. Where exact equations have no certified solution, the error
    # may exceed the least one by a fraction `excess` of its square, and at least by `least_slack`.
    stretch_exact: float = 1e-5
    stretch_least_slack: float = 1e-4
    stretch_excess: float = 1e-3

    # The first λ in units of the inverse slack: rigid tesserae of rolls need one to two, single
    # points ten. Then how nearly the budget must be met, which fraction of it must be used, in how
    # many solutions at most, how much λ may change between two of them, and the ratio of two λ
    # between which no third one is tried.
    stretch_first_weight: float = 3.0
    stretch_near: float = 1.1
    stretch_used: float = 0.25
    stretch_solves: int = 8
    stretch_growth: float = 1e3
    stretch_ratio: float = 2.0


RULES = SolverRules()
"""The rules that hold unless others are passed."""
