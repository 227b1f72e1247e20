"""Coordinates from rigid groups, distances and bounds: proteins, molecules, sensor networks."""

from isofold.structure.groups import RigidGroup
from isofold.structure.problem import StructureProblem
from isofold.structure.result import FreeMotions, RelaxationBound, Structure, Violations
from isofold.structure.rigidity import free_motions
from isofold.structure.solve import StructureFromBounds
from isofold.structure.stitching import GramRows, GroupStitching, gram_rows

__all__ = [
    "FreeMotions",
    "GramRows",
    "GroupStitching",
    "RelaxationBound",
    "RigidGroup",
    "Structure",
    "StructureFromBounds",
    "StructureProblem",
    "Violations",
    "free_motions",
    "gram_rows",
]
