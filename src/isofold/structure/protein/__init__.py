"""Proteins: files, rigid groups, restraints and comparisons."""

from isofold.structure.protein.compare import Superposition, compare
from isofold.structure.protein.geometry import MoleculeGeometry, group_dimensions
from isofold.structure.protein.matching import MatchedRestraints
from isofold.structure.protein.molecule import Molecule, Residue
from isofold.structure.protein.read import read
from isofold.structure.protein.restraints import Restraint, Restraints, read_restraints
from isofold.structure.protein.sequence import from_sequence
from isofold.structure.protein.write import write

__all__ = [
    "MatchedRestraints",
    "Molecule",
    "MoleculeGeometry",
    "Residue",
    "Restraint",
    "Restraints",
    "Superposition",
    "compare",
    "from_sequence",
    "group_dimensions",
    "read",
    "read_restraints",
    "write",
]
