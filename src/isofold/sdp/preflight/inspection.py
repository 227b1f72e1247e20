"""What can be known of a program before any iteration: unbounded, infeasible, not strict.

`boundedness` looks for directions in which the objective improves without end, `contradictions`
for hard bounds that exclude each other, `strictness` for hard constraints that leave no positive
definite Gram matrix. The inspection is short beside any solution; what it
does not see may still be so.
"""

from __future__ import annotations

from dataclasses import dataclass

from isofold.sdp.preflight.boundedness import refuse_unbounded
from isofold.sdp.preflight.contradictions import find_contradiction, hard_pair_bounds
from isofold.sdp.preflight.strictness import (
    CliqueReport,
    impossible_clique,
    inspect_cliques,
    strictness_warnings,
)
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules

__all__ = ["Preflight", "inspect_program"]


@dataclass(frozen=True)
class Preflight:
    """What was seen of a program before any iteration.

    Parameters
    ----------
    contradiction : str or None
        Why no Gram matrix meets the constraints, if that was seen.
    warnings : tuple of str
        What else a user should know.
    """

    contradiction: str | None = None
    warnings: tuple[str, ...] = ()


def inspect_program(program: Program, *, rules: SolverRules = RULES) -> Preflight:
    """Return what is known of a program before any iteration."""
    bounds = hard_pair_bounds(program)
    contradiction = find_contradiction(program, bounds, rules=rules)
    cliques = CliqueReport() if bounds is None else inspect_cliques(bounds, rules=rules)
    contradiction = contradiction or impossible_clique(cliques)
    if contradiction is not None:
        return Preflight(contradiction)
    refuse_unbounded(program)
    return Preflight(warnings=strictness_warnings(program, cliques))
