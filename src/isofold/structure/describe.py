"""A structure with all that is known about it, from what its stages have found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from isofold._findings import Diagnosis, Finding
from isofold._typing import FloatArray, IntArray
from isofold.structure.diagnosis import diagnose
from isofold.structure.problem import StructureProblem
from isofold.structure.result import RelaxationBound, Structure
from isofold.structure.rigidity import free_motions
from isofold.structure.rules import StructureRules
from isofold.structure.stages import Solution
from isofold.structure.violations import violations_of

__all__ = ["describe"]


def describe(
    problem: StructureProblem,
    best: Solution,
    ensemble: FloatArray,
    energies: FloatArray,
    *,
    unit: float,
    component: IntArray,
    relaxation: RelaxationBound | None,
    rules: StructureRules,
    slack: float = 1.0,
    further: Iterable[Finding] = (),
) -> Structure:
    """Return a structure with its violations, motions and findings.

    `best` has the figures of the largest part, in natural units. The ensemble is in given units,
    and its first structure is the one that is described.
    """
    where = ensemble[0]
    found = Structure(
        problem,
        where,
        float(energies[0]),
        vote=best.vote,
        mirror_energy=best.mirror_energy * unit**2,
        variance_fraction=best.variance_fraction,
        violations=violations_of(problem, where, rules),
        free_motions=free_motions(problem, where),
        undetermined_motions=free_motions(problem, where, with_bounds=True),
        relaxation=relaxation,
        component=component,
        ensemble=ensemble,
        energies=energies,
    )
    findings = diagnose(found, unit, slack, rules).findings
    return replace(found, diagnosis=Diagnosis((*findings, *further)))
