"""What is recorded of a structure that was found."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.structure.molecules import Law, Protein
from isofold._typing import FloatArray
from isofold.structure import StructureFromBounds, StructureProblem, protein
from isofold.structure.rules import StructureRules
from isofold.structure.violations import violations_of

__all__ = ["FAILED", "NOTHING", "OURS", "judged", "said", "solved", "timed"]

NOTHING = "-"
OURS = "StructureFromBounds"
FAILED = 2.5
"""Distance of the backbone of the core from the reference, in Å, beyond which a fold is wrong."""


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what work returns, and its seconds of processor time."""
    begin = time.process_time()
    done = work()
    return done, time.process_time() - begin


def solved(
    problem: StructureProblem, law: Law, seed: int, **options: Any
) -> tuple[StructureFromBounds, float]:
    """Return a fitted estimator, and its seconds of processor time."""
    solver = StructureFromBounds(
        slack=law.slack, n_init=law.n_init, random_state=seed, n_jobs=1, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return timed(lambda: solver.fit(problem))


def judged(
    one: Protein, molecule: protein.Molecule, problem: StructureProblem, coordinates: FloatArray
) -> dict[str, Any]:
    """Return how near a structure is to the reference and to what was given."""
    near = protein.compare(coordinates, molecule, one.core)
    bounds = violations_of(problem, coordinates, StructureRules()).of("bound")
    groups = violations_of(problem, coordinates, StructureRules()).of("group")
    centers = protein_centers(problem, coordinates)
    return {
        "all atoms": near.all_atoms,
        "backbone": near.backbone,
        "core": near.core,
        "mirror": near.mirror,
        "right hand": bool(near.has_right_hand),
        "centers": centers,
        "mean violation": bounds.mean,
        "rms violation": float(np.sqrt((bounds.excess**2).mean())) if len(bounds) else 0.0,
        "worst violation": bounds.worst,
        "worst length": groups.worst,
    }


def protein_centers(problem: StructureProblem, coordinates: FloatArray) -> float:
    """Return the fraction of centers whose hand is right."""
    centers = problem.centers
    if not len(centers):
        return 1.0
    edges = coordinates[centers.corners[:, 1:]] - coordinates[centers.corners[:, :1]]
    return float((np.linalg.det(edges) * centers.volumes > 0.0).mean())


def said(solver: StructureFromBounds) -> dict[str, Any]:
    """Return what a result says of itself."""
    structure = solver.structure_
    codes = [finding.code for finding in solver.diagnosis_.raised]
    undecided = np.isnan(structure.mirror_energy)
    return {
        "findings": " ".join(codes) or NOTHING,
        "energy": structure.energy,
        "vote": structure.vote,
        "mirror energy": NOTHING if undecided else structure.mirror_energy,
        "variance": structure.variance_fraction,
        "starts": len(structure.energies),
    }
