"""The stages by which a structure is found: relaxation, hand, squeeze, refinement, polish.

1. Shortest paths through known lengths and upper bounds, scaled into more columns than the
   structure has dimensions.
2. Relaxation: in many columns the energy has no false minima, since it is convex in the Gram
   matrix. A bounded stretch pulls sampled pairs apart. Without it the set of solutions is large,
   and its main axes mean nothing.
3. The hand: local centers vote. If they are undecided, both mirror images are finished and the
   one with less energy is kept.
4. Squeeze: extra columns are weighted more and more and then dropped. They let a mirrored side
   chain turn inside out.
5. Refinement with rigid groups as shapes, which keep their hands, and a polish by Gauss and Newton.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from isofold._progress.stages import interrupted, stage
from isofold._typing import FloatArray
from isofold.structure.energy import Stretch, descend
from isofold.structure.frames import mirrored, principal
from isofold.structure.polish import polish
from isofold.structure.problem import StructureProblem
from isofold.structure.rules import StructureRules
from isofold.structure.start import begin, onto_anchors
from isofold.structure.terms import Terms

__all__ = ["Solution", "better_hand", "finish", "solve_part"]


@dataclass(frozen=True, eq=False)
class Solution:
    """A structure in natural units, with what its stages have shown.

    Attributes
    ----------
    coordinates : ndarray of shape (n_points, n_components)
        Where the points are.
    energy : float
        Energy with groups as shapes.
    vote : float
        How clearly centers tell the structure from its mirror image; NaN if there are none.
    mirror_energy : float
        Energy of the mirror image, refined as well; NaN if the vote was clear.
    variance_fraction : float
        Fraction of the variance of the relaxation in as many axes as the structure has.
    """

    coordinates: FloatArray
    energy: float
    vote: float
    mirror_energy: float
    variance_fraction: float


def solve_part(
    problem: StructureProblem,
    terms: Terms,
    unit: float,
    strength: float,
    rng: np.random.Generator,
    rules: StructureRules,
) -> Solution:
    """Find the structure of points that hang together."""
    d = terms.n_components
    with stage("shortest paths"):
        beginning = begin(problem, unit, d + rules.extra_columns, rng, rules)
        pull = beginning.pull.scaled(strength)
    with stage("relax"):
        relaxed = relax(terms, beginning.places, pull, rules.relaxation_steps)
    relaxed, variances = principal(relaxed, terms.positions)
    fraction = float(variances[:d].sum() / max(variances.sum(), np.finfo(float).tiny))
    shake = rules.shake * rng.standard_normal((problem.n_points, d))
    ended = partial(finish, pull=pull, shake=shake, rules=rules)
    return better_hand(terms, relaxed, fraction, ended, rules)


def better_hand(
    terms: Terms,
    relaxed: FloatArray,
    fraction: float,
    finished: Callable[[Terms, FloatArray], tuple[FloatArray, float]],
    rules: StructureRules,
) -> Solution:
    """Return what a relaxation ends as, mirrored if centers say so, or if that has less energy."""
    vote, image = hand(terms, relaxed)
    if vote < 0.0 and image is not None:
        relaxed, image, vote = image, relaxed, -vote
    found, energy = finished(terms, relaxed)
    mirror_energy = np.nan
    if image is not None and abs(vote) < rules.undecided and not interrupted():
        other, mirror_energy = finished(terms, image)
        if mirror_energy < energy:
            found, energy, mirror_energy, vote = other, mirror_energy, energy, -vote
    return Solution(found, energy, vote, mirror_energy, fraction)


def relax(
    terms: Terms, Y: FloatArray, pull: Stretch, iterations: int, *, tol: float = 1e-9
) -> FloatArray:
    """Return a minimum of the convex terms, with anchors where they belong."""
    fixed = None
    if len(terms.anchors):
        Y, fixed = onto_anchors(Y, terms.anchors, terms.positions), terms.anchors
    return descend(
        [*terms.soft(Y, with_contacts=False), pull], Y, iterations, fixed=fixed, tol=tol
    )[0]


def hand(terms: Terms, Y: FloatArray) -> tuple[float, FloatArray | None]:
    """Return how centers vote for these points, from -1 to 1, and their mirror image."""
    volumes = terms.hands.volumes
    if not np.abs(volumes).any():
        return np.nan, None
    vote = np.sign(terms.hands.found(Y)) @ volumes / np.abs(volumes).sum()
    return float(vote), mirrored(Y, terms.positions)


def finish(
    terms: Terms, Y: FloatArray, pull: Stretch, shake: FloatArray, rules: StructureRules
) -> tuple[FloatArray, float]:
    """Return points in the dimension of the structure, and their energy."""
    d = terms.n_components
    fixed = terms.anchors if len(terms.anchors) else None
    Z = np.ascontiguousarray(Y[:, : d + rules.squeezed_columns])
    with stage("squeeze into the dimension", total=len(rules.squeeze)) as steps:
        for weight, fraction in rules.squeeze:
            squeeze = np.where(np.arange(Z.shape[1]) < d, 0.0, weight)
            soft = terms.soft(Z, with_contacts=True)
            if fraction:
                soft.append(pull.scaled(fraction * pull.scale))
            Z, energy = descend(soft, Z, rules.squeeze_steps, squeeze=squeeze, fixed=fixed)
            steps.advance(objective=energy)
    Z = Z[:, :d] + shake
    Z[terms.anchors] = terms.positions
    weight = 1.0
    total = sum(rounds for _, _, rounds in rules.refinement)
    with stage("refine", total=total) as steps:
        for weight, iterations, rounds in rules.refinement:
            for _ in range(rounds):
                Z, energy = descend(terms.rigid(Z, weight), Z, iterations, fixed=fixed)
                steps.advance(objective=energy)
    with stage("polish"):
        return polish(terms, Z, weight, rules.polish_steps)
