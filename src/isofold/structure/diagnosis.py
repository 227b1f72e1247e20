"""What a structure has to say about itself, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from isofold._findings import Diagnosis, Finding, Severity
from isofold.linalg import procrustes
from isofold.structure.certificate import broken_triangles
from isofold.structure.result import Structure
from isofold.structure.rules import StructureRules
from isofold.structure.terms import Terms

__all__ = ["diagnose"]


def diagnose(structure: Structure, unit: float, slack: float, rules: StructureRules) -> Diagnosis:
    """Return all findings about a structure."""
    typical = rules.typical_length * unit
    return Diagnosis(
        (
            *_find_parts(structure),
            *_find_broken(structure, typical, slack, rules),
            *_find_contradiction(structure),
            *_find_violations(structure, typical, slack, rules),
            *_find_hand(structure, unit, rules),
            *_find_motions(structure, rules),
            *_find_disagreement(structure, typical, rules),
            *_find_gap(structure, rules),
        )
    )


def _find_parts(structure: Structure) -> Iterator[Finding]:
    """Find parts that nothing joins."""
    sizes = np.bincount(structure.component)
    if len(sizes) > 1:
        yield Finding.of(
            "structure_parts",
            Severity.DOUBT,
            value=len(sizes),
            samples=np.flatnonzero(structure.component != 0),
            sizes=tuple(int(size) for size in sizes),
        )


def _find_broken(
    structure: Structure, typical: float, slack: float, rules: StructureRules
) -> Iterator[Finding]:
    """Find bounds that break the triangle inequality."""
    problem = structure.problem
    problem = replace(problem, bounds=problem.bounds.loosened(slack))
    pairs, excess = broken_triangles(problem)
    if len(pairs):
        first, second = structure.named(pairs[0])
        yield Finding.of(
            "broken_triangles",
            # Ideal bond lengths and noise break many triangles by a little.
            Severity.DOUBT if excess[0] > rules.mean_violation * typical else Severity.NOTE,
            value=len(pairs),
            samples=np.unique(pairs),
            first=first,
            second=second,
            excess=float(excess[0]),
        )


def _find_contradiction(structure: Structure) -> Iterator[Finding]:
    """Find a proof that what was given contradicts itself."""
    proof = structure.relaxation
    if proof is not None and proof.is_contradiction:
        named = tuple("{} to {}".format(*structure.named(pair)) for pair in proof.pairs[:3])
        yield Finding.of(
            "contradictory_bounds",
            Severity.DOUBT,
            value=proof.penalty_bound,
            samples=np.unique(proof.pairs),
            named=named,
        )


def _find_violations(
    structure: Structure, typical: float, slack: float, rules: StructureRules
) -> Iterator[Finding]:
    """Find violations of distances, bounds and angles that are too large, or too many."""
    given = structure.violations.of("distance", "bound", "angle")
    if not len(given):
        return
    # What the user has left as slack is no violation.
    upper = np.where(given.lower < given.upper, slack, 1.0) * given.upper
    excess = np.abs(given.found - np.clip(given.found, given.lower, upper))
    rms = float(np.sqrt((excess**2).mean()))
    worst = int(np.argmax(excess))
    first, second = structure.named(given.pairs[worst])
    limit = rules.largest_violation * typical
    figures = {
        "worst": float(excess[worst]),
        "first": first,
        "second": second,
        "n_large": int((excess > limit).sum()),
        "n_given": len(given),
        "large": limit,
    }
    is_bad = rms > rules.mean_violation * typical
    form = "all" if is_bad else ("some" if figures["n_large"] else "")
    yield Finding.checked(
        "bounds_violated",
        rms,
        rules.mean_violation * typical,
        is_raised=bool(form),
        form=form,
        **figures,
    )


def _find_hand(structure: Structure, unit: float, rules: StructureRules) -> Iterator[Finding]:
    """Find out how sure it is that this is not the mirror image."""
    d = structure.coordinates.shape[1]
    terms = Terms.of(structure.problem, d, unit=unit, slack=1.0, rules=rules)
    hands = terms.hands
    fixing = structure.problem.anchors.positions
    if len(fixing) > d and np.linalg.matrix_rank(fixing - fixing[0]) == d:
        return
    if not np.abs(hands.volumes).any():
        yield Finding.of("hand_unknown")
        return
    wrong = np.sign(hands.found(structure.coordinates)) * hands.volumes < 0.0
    if wrong.any():
        corners = hands.corners[wrong]
        yield Finding.of(
            "wrong_hands",
            Severity.DOUBT,
            value=float(wrong.mean()),
            samples=np.unique(corners),
            n_wrong=int(wrong.sum()),
            n_hands=len(wrong),
            first=structure.problem.name_of(corners[0, 0]),
        )
    ratio = structure.mirror_energy / max(structure.energy, np.finfo(float).tiny)
    if not np.isnan(ratio):
        yield Finding.checked(
            "hand_undecided",
            ratio,
            rules.mirror_ratio,
            is_raised=bool(ratio < rules.mirror_ratio),
            vote=abs(structure.vote),
            energy=structure.energy,
            mirror=structure.mirror_energy,
        )


def _find_motions(structure: Structure, rules: StructureRules) -> Iterator[Finding]:
    """Find motions that nothing given is about."""
    left, n_free = structure.undetermined_motions, structure.free_motions.n_motions
    if not left.is_rigid:
        # Parts that nothing joins move against each other; that is a finding of its own.
        is_one = not structure.component.any()
        is_much = is_one and left.n_motions > rules.undetermined * n_free
        floppy = np.flatnonzero(left.is_floppy)
        yield Finding.of(
            "undetermined_motions",
            Severity.DOUBT if is_much else Severity.NOTE,
            value=left.n_motions,
            samples=floppy,
            n_floppy=len(floppy),
            n_points=len(left.bodies),
            n_free=n_free,
        )


def _find_disagreement(
    structure: Structure, typical: float, rules: StructureRules
) -> Iterator[Finding]:
    """Find another start that ends as well, but elsewhere."""
    ensemble, energies = structure.ensemble, structure.energies
    core = structure.component == 0
    limit = rules.mirror_ratio * float(energies[0]) + rules.mean_violation**2 * typical**2
    for other, energy in zip(ensemble[1:], energies[1:], strict=True):
        apart = procrustes(other[core], ensemble[0][core], reflection=False).residual
        if energy <= limit and apart > rules.elsewhere * typical:
            yield Finding.of(
                "several_structures",
                Severity.DOUBT,
                value=apart,
                energy=float(energies[0]),
                other=float(energy),
            )
            return


def _find_gap(structure: Structure, rules: StructureRules) -> Iterator[Finding]:
    """Find out how good the proof of the relaxation is."""
    proof = structure.relaxation
    if proof is not None:
        yield Finding.checked(
            "relaxation_gap",
            proof.gap,
            rules.certified_gap,
            is_raised=bool(proof.gap > rules.certified_gap),
        )
