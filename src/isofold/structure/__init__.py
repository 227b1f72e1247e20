"""Coordinates from rigid groups, distances and bounds: proteins, molecules, sensor networks."""

from isofold.structure.groups import RigidGroup
from isofold.structure.problem import StructureProblem
from isofold.structure.result import FreeMotions, RelaxationBound, Structure, Violations

__all__ = [
    "FreeMotions",
    "RelaxationBound",
    "RigidGroup",
    "Structure",
    "StructureProblem",
    "Violations",
]
