"""Coordinates from rigid groups, distances and bounds.

Points y_1 … y_n in the plane or in space minimize one energy with a term for every datum:

    Σ w dist(|y_i - y_j|, [l, u])²  over distances, bounds, angles and contacts
    + Σ w min over rotations R, shifts t of |Y_C - P R - t|²  over rigid groups C with geometry P,

found through a relaxation that is convex in the Gram matrix (`isofold.structure.stages`). Groups
are the patches of isometric patch alignment [1]_: the second sum is its stitching error with the
frames eliminated. The stretch of the relaxation is that of maximum variance unfolding, bounded.

References
----------
.. [1] P. Khajehpour Tadavani, "Nonlinear Dimensionality Reduction by Manifold Unfolding", PhD
   thesis, University of Waterloo, 2013, section 5.2.3.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from isofold._parallel import ordered_map
from isofold._progress.stages import interrupted, interruptible, stage, until_interrupted
from isofold._typing import Auto
from isofold._validation import check_count, check_flag, check_positive, check_seed
from isofold.exceptions import InvalidInputError
from isofold.structure.base import BaseStructureSolver
from isofold.structure.describe import describe
from isofold.structure.parts import Part, assembled, superimposed
from isofold.structure.problem import StructureProblem
from isofold.structure.result import Structure
from isofold.structure.rules import StructureRules
from isofold.structure.start import parts_of
from isofold.structure.terms import natural_unit

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
    n_init : int or "auto", default="auto"
        Number of starts. The one with the least energy is kept; all are in `ensemble_`. With
        "auto" there are up to 4 starts (16 for up to 200 points), until one meets what was given.
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
    ensemble_ : ndarray of shape (n_starts, n_points, n_components)
        The structures of all starts, least energy first, superimposed on the first.
    energies_ : ndarray of shape (n_starts,)
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
        n_init: int | Auto = "auto",
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
        is_auto = isinstance(self.n_init, str) and self.n_init == "auto"
        n_init = None if is_auto else check_count(self.n_init, name="n_init")
        is_certified = check_flag(self.certify, name="certify")
        rng = check_seed(self.random_state)
        component = parts_of(problem)
        unit = natural_unit(problem, rules)
        solved = []
        for number in range(int(component.max()) + 1):
            part = Part.of(problem, component == number, self.n_components, unit, slack, rules)
            seeds = rng.randint(2**31 - 1, size=n_init or part.most_starts(rules))
            run = partial(part.solution, strength=strength, rules=rules)
            with interruptible(), stage("solve a part", total=len(seeds)) as steps:
                starts = ordered_map(
                    run, enumerate(seeds), n_jobs=self.n_jobs, is_pure=True, steps=steps
                )
                starts = until_interrupted(starts)
                found = list(starts) if n_init else part.until_met(starts, rules)
                solved.append((part, sorted(found, key=lambda each: each.energy)))
        ensemble = assembled(solved, unit)
        proof = None
        if is_certified and not interrupted():
            with interruptible(), stage("certify"):
                proof = solved[0][0].proof(rng.randint(2**31 - 1), strength=strength, rules=rules)
        return describe(
            problem,
            solved[0][1][0],
            superimposed([each for each, _ in ensemble], component == 0),
            np.array([energy for _, energy in ensemble]),
            unit=unit,
            component=component,
            relaxation=proof,
            rules=rules,
            slack=slack,
        )
