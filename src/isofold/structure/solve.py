"""Coordinates from rigid groups, distances and bounds.

Points y_1 … y_n in the plane or in space minimize one energy with a term for every datum:

    Σ w dist(|y_i - y_j|, [l, u])²  over distances, bounds, angles and contacts
    + Σ w min over rotations R, shifts t of |Y_C - P R - t|²  over rigid groups C with geometry P,

found through a relaxation that is convex in the Gram matrix (`isofold.structure.stages`). Groups
are the patches of isometric patch alignment [1]_: the second sum is its stitching error with the
frames eliminated. The stretch of the relaxation is that of maximum variance unfolding, bounded.

References
----------
.. [1] P. Karimi Tadavani, "Nonlinear dimensionality reduction by isometric patch alignment", PhD
   thesis, University of Waterloo, 2013, section 5.2.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from isofold._parallel import ordered_map
from isofold._progress.stages import interrupted, stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_flag, check_positive, check_seed
from isofold.exceptions import InvalidInputError
from isofold.linalg import procrustes
from isofold.structure.base import BaseStructureSolver
from isofold.structure.certificate import prove
from isofold.structure.diagnosis import diagnose
from isofold.structure.problem import StructureProblem
from isofold.structure.result import RelaxationBound, Structure
from isofold.structure.rigidity import free_motions
from isofold.structure.rules import StructureRules
from isofold.structure.stages import Solution, solve_part
from isofold.structure.start import parts_of
from isofold.structure.terms import Terms, natural_unit
from isofold.structure.violations import violations_of

__all__ = ["StructureFromBounds"]


class StructureFromBounds(BaseStructureSolver):
    """Coordinates of points from rigid groups, distances, bounds, angles, hands and anchors.

    Parameters
    ----------
    n_components : {2, 3}, default=3
        Dimension of the structure.
    stretch : float, default=3.0
        Strength of the pull that spreads the relaxation, relative to a bound of weight 1. Without
        it the relaxation has many solutions. It is gone from the final structure.
    slack : float, default=1.0
        Factor of the upper bounds while the structure is sought. If bounds have noise of relative
        size σ in both directions, half of them are too short and shrink the structure: pass
        ``1 + 2σ``. Violations are those of the bounds as given.
    n_init : int, default=1
        Number of starts. The one with the least energy is kept; all are in `ensemble_`.
    certify : bool, default=False
        Whether to relax with more columns and steps until the relaxation is proved to be optimal,
        and to look for a proof that what was given contradicts itself.
    random_state : int, RandomState or None, default=None
        Seed of the starts.
    n_jobs : int or None, default=None
        Number of starts at a time.
    verbose : bool, default=False
        Whether to show progress.

    Attributes
    ----------
    structure_ : Structure
        What was found, all in one.
    coordinates_ : ndarray of shape (n_points, n_components)
        Where the points are.
    violations_ : Violations
        How far the structure is from what was given, worst first.
    free_motions_ : FreeMotions
        Motions that rigid groups and known distances leave.
    certificate_ : RelaxationBound or None
        What was proved; None unless `certify`.
    diagnosis_ : Diagnosis
        What was found, in plain words.
    ensemble_ : ndarray of shape (n_init, n_points, n_components)
        The structures of all starts, least energy first, superimposed on the first.
    energies_ : ndarray of shape (n_init,)
        Their energies.
    spread_ : ndarray of shape (n_points,)
        Root mean square distance of each point from its mean over the starts. It shows where
        solutions differ, and is no error bar: on sparse protein data the error is three times as
        large.

    Notes
    -----
    The relaxation is convex and can be certified. The structure itself minimizes an energy with
    many local minima: nothing proves that it is the only one, or the best.

    Examples
    --------
    Six bars fix the corners of a square:

    >>> from isofold.structure import StructureFromBounds, StructureProblem
    >>> pairs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    >>> square = StructureProblem(4).with_distances(pairs, [1, 1, 1, 1, 2**0.5, 2**0.5])
    >>> solver = StructureFromBounds(n_components=2, random_state=0).fit(square)
    >>> solver.violations_.worst < 1e-9, solver.free_motions_.n_motions
    (True, 0)
    """

    def __init__(
        self,
        n_components: int = 3,
        *,
        stretch: float = 3.0,
        slack: float = 1.0,
        n_init: int = 1,
        certify: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.stretch = stretch
        self.slack = slack
        self.n_init = n_init
        self.certify = certify
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _solve(self, problem: StructureProblem) -> Structure:
        """Return the structure: parts that nothing joins are solved one by one."""
        rules = StructureRules()
        strength = check_positive(self.stretch, name="stretch")
        slack = check_positive(self.slack, name="slack")
        if slack < 1.0:
            msg = f"slack={slack:g} would tighten the bounds. Pass 1 or more."
            raise InvalidInputError(msg)
        n_init = check_count(self.n_init, name="n_init")
        is_certified = check_flag(self.certify, name="certify")
        seeds = check_seed(self.random_state).randint(2**31 - 1, size=n_init)
        component = parts_of(problem)
        unit = natural_unit(problem, rules)
        solved = []
        for number in range(int(component.max()) + 1):
            part = _Part.of(problem, component == number, self.n_components, unit, slack, rules)
            run = partial(part.solution, strength=strength, rules=rules)
            with stage("solve a part", total=n_init) as steps:
                found = ordered_map(run, seeds, n_jobs=self.n_jobs, steps=steps)
                solved.append((part, sorted(found, key=lambda each: each.energy)))
        ensemble = [_assembled([(p, s[k]) for p, s in solved], unit) for k in range(n_init)]
        proof = None
        if is_certified and not interrupted():
            with stage("certify"):
                proof = solved[0][0].proof(int(seeds[0]), strength=strength, rules=rules)
        where = ensemble[0][0]
        best = solved[0][1][0]
        structure = Structure(
            problem,
            where,
            ensemble[0][1],
            vote=best.vote,
            mirror_energy=best.mirror_energy * unit**2,
            variance_fraction=best.variance_fraction,
            violations=violations_of(problem, where, rules),
            free_motions=free_motions(problem, where),
            undetermined_motions=free_motions(problem, where, with_bounds=True),
            relaxation=proof,
            component=component,
            ensemble=_superimposed([each for each, _ in ensemble], component == 0),
            energies=np.array([energy for _, energy in ensemble]),
        )
        return replace(structure, diagnosis=diagnose(structure, unit, slack, rules))


@dataclass(frozen=True, eq=False)
class _Part:
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
    ) -> _Part:
        """Return the part of a problem with some of its points."""
        points = np.flatnonzero(inside)
        own = problem.restricted(points) if len(points) < problem.n_points else problem
        terms = Terms.of(own, n_components, unit=unit, slack=slack, rules=rules)
        return cls(points, own, terms, unit)

    def solution(self, seed: int, *, strength: float, rules: StructureRules) -> Solution:
        """Return one solution in natural units."""
        if len(self.points) == 1:
            alone = np.zeros((1, self.terms.n_components))
            where = self.terms.positions.copy() if len(self.terms.anchors) else alone
            return Solution(where, 0.0, np.nan, np.nan, 1.0)
        rng = np.random.default_rng(seed)
        return solve_part(self.problem, self.terms, self.unit, strength, rng, rules)

    def proof(self, seed: int, *, strength: float, rules: StructureRules) -> RelaxationBound:
        """Return what can be proved, in terms of the points of the whole."""
        rng = np.random.default_rng(seed)
        found = prove(self.problem, self.terms, self.unit, strength, rng, rules)
        return replace(found, pairs=self.points[found.pairs])


def _assembled(solved: list[tuple[_Part, Solution]], unit: float) -> tuple[FloatArray, float]:
    """Return the points of all parts in given units, those without anchors side by side."""
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


def _superimposed(structures: list[FloatArray], core: BoolArray) -> FloatArray:
    """Return structures rotated onto the first by their largest part."""
    first = structures[0]
    moved = [first]
    for each in structures[1:]:
        fit = procrustes(each[core], first[core], reflection=False)
        moved.append(fit.transform.apply(each))
    return np.stack(moved)
