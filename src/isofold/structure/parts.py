"""Parts of a problem that nothing joins: each is solved by itself; all are laid side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg import procrustes
from isofold.structure.certificate import prove
from isofold.structure.problem import StructureProblem
from isofold.structure.result import RelaxationBound
from isofold.structure.rules import StructureRules
from isofold.structure.stages import Solution, solve_part
from isofold.structure.terms import Terms

__all__ = ["Part", "assembled", "superimposed"]


@dataclass(frozen=True, eq=False)
class Part:
    """Points that hang together, as a problem of its own."""

    points: IntArray
    problem: StructureProblem
    terms: Terms
    unit: float

    @classmethod
    def of(
        cls,
        problem: StructureProblem,
        inside: BoolArray,
        n_components: int,
        unit: float,
        slack: float,
        rules: StructureRules,
    ) -> Part:
        """Return the part of a problem with some of its points."""
        points = np.flatnonzero(inside)
        own = problem.restricted(points) if len(points) < problem.n_points else problem
        terms = Terms.of(own, n_components, unit=unit, slack=slack, rules=rules)
        return cls(points, own, terms, unit)

    def most_starts(self, rules: StructureRules) -> int:
        """Return how many starts are tried at most."""
        return rules.most_starts[0 if len(self.points) <= rules.small else 1]

    def until_met(self, starts: Iterable[Solution], rules: StructureRules) -> list[Solution]:
        """Return starts up to the first that meets what was given."""
        found: list[Solution] = []
        is_small = len(self.points) <= rules.small
        for each in starts:
            found.append(each)
            if is_small and each.energy <= rules.exact * len(self.points):
                break
            # Starts of small problems differ in their stretch: each kind is tried.
            if (not is_small or len(found) >= len(rules.weaker)) and self._is_met(each, rules):
                break
        return found

    def solution(
        self, start: tuple[int, int], *, strength: float, rules: StructureRules
    ) -> Solution:
        """Return the solution of a numbered start with a seed, in natural units."""
        number, seed = start
        if len(self.points) == 1:
            alone = np.zeros((1, self.terms.n_components))
            where = self.terms.positions.copy() if len(self.terms.anchors) else alone
            return Solution(where, 0.0, np.nan, np.nan, 1.0)
        if len(self.points) <= rules.small:
            strength = strength * rules.weaker[number % len(rules.weaker)]
            rules = replace(rules, shake=max(rules.shake, number * rules.shake_again))
        rng = np.random.default_rng(seed)
        return solve_part(self.problem, self.terms, self.unit, strength, rng, rules)

    def proof(self, seed: int, *, strength: float, rules: StructureRules) -> RelaxationBound:
        """Return what can be proved, in terms of the points of the whole."""
        rng = np.random.default_rng(seed)
        found = prove(self.problem, self.terms, self.unit, strength, rng, rules)
        return replace(found, pairs=self.points[found.pairs])

    def _is_met(self, solution: Solution, rules: StructureRules) -> bool:
        """Return whether a solution meets what was given, and its hand is clear."""
        excess = np.abs(self.terms.bounds.excess(solution.coordinates))
        rms = float(np.sqrt((excess**2).mean())) if len(excess) else 0.0
        # Where centers are undecided, only other starts show whether the data decide.
        is_decided = not abs(solution.vote) < rules.undecided
        return (
            rms <= rules.mean_violation * rules.typical_length
            and excess.max(initial=0.0) <= rules.trapped * rules.typical_length
            and is_decided
        )


def assembled(
    solved: Sequence[tuple[Part, Sequence[Solution]]], unit: float
) -> list[tuple[FloatArray, float]]:
    """Return the best structure of all parts in given units, the second best, and so on."""
    n_starts = max(len(solutions) for _, solutions in solved)
    return [
        _side_by_side([(part, found[min(k, len(found) - 1)]) for part, found in solved], unit)
        for k in range(n_starts)
    ]


def _side_by_side(solved: Sequence[tuple[Part, Solution]], unit: float) -> tuple[FloatArray, float]:
    """Return the points of all parts and their energy; those without anchors lie in a row."""
    n = sum(len(part.points) for part, _ in solved)
    where = np.empty((n, solved[0][0].terms.n_components))
    edge = -np.inf
    for part, solution in sorted(solved, key=lambda each: not len(each[0].terms.anchors)):
        own = unit * solution.coordinates
        if not len(part.terms.anchors):
            own = own - own.mean(axis=0)
            if np.isfinite(edge):
                gap = 3.0 * StructureRules.typical_length * unit
                own[:, 0] += edge + gap - own[:, 0].min()
        where[part.points] = own
        edge = max(edge, float(own[:, 0].max()))
    energy = sum(solution.energy for _, solution in solved)
    return where, energy * unit**2


def superimposed(structures: Sequence[FloatArray], core: BoolArray) -> FloatArray:
    """Return structures rotated onto the first by their largest part."""
    first = structures[0]
    moved = [first]
    for each in structures[1:]:
        fit = procrustes(each[core], first[core], reflection=False)
        moved.append(fit.transform.apply(each))
    return np.stack(moved)
