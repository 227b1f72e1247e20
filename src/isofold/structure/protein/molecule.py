"""A molecule: its atoms, residues and bonds, with or without coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from isofold._findings import Finding
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.structure.given import DistanceBounds
from isofold.structure.problem import StructureProblem

if TYPE_CHECKING:
    from isofold.structure.groups import RigidGroup
    from isofold.structure.protein.geometry import MoleculeGeometry

__all__ = ["Geometry", "Law", "Molecule", "Residue"]

Geometry = Literal["template", "structure"]
Law = Literal["half", "two_sided", "class"]

BACKBONE = ("N", "CA", "C")


@dataclass(frozen=True)
class Residue:
    """A residue of a chain, or a ligand.

    Attributes
    ----------
    chain : str
        Name of the chain.
    number : str
        Number in the file, with its insertion code if it has one.
    name : str
        Code of the Chemical Component Dictionary, such as "LEU".
    """

    chain: str
    number: str
    name: str

    def __str__(self) -> str:
        return f"{self.chain}/{self.number} {self.name}"


@dataclass(frozen=True, eq=False)
class Molecule:
    """Atoms, residues and bonds of a molecule.

    Made by `read` and `from_sequence`.

    Attributes
    ----------
    atom_names, elements : tuple of str
        Name and element of each atom.
    residues : tuple of Residue
        The residues.
    residue_of : ndarray of int of shape (n_atoms,)
        Residue of each atom.
    bonds : ndarray of int of shape (n_bonds, 2)
        Bonded atoms.
    coordinates : ndarray of shape (n_atoms, 3) or None
        Where the atoms are, in Å.
    cis : ndarray of int of shape (n_cis, 2)
        Peptide bonds (atoms C and N) that are cis; all others are trans.
    findings : tuple of Finding
        What was left out, repaired or found strange when the molecule was read.

    Examples
    --------
    >>> from isofold.structure import protein
    >>> molecule = protein.from_sequence("GA")
    >>> molecule.n_atoms, molecule.names[-1]
    (20, 'A/2 ALA HB3')
    """

    atom_names: tuple[str, ...]
    elements: tuple[str, ...]
    residues: tuple[Residue, ...]
    residue_of: IntArray
    bonds: IntArray
    coordinates: FloatArray | None = None
    cis: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    findings: tuple[Finding, ...] = ()

    @property
    def n_atoms(self) -> int:
        """Number of atoms."""
        return len(self.atom_names)

    @property
    def names(self) -> tuple[str, ...]:
        """What the atoms are called, such as "A/12 LEU HB2"."""
        return tuple(
            f"{self.residues[k]} {atom}"
            for k, atom in zip(self.residue_of, self.atom_names, strict=True)
        )

    @property
    def is_hydrogen(self) -> BoolArray:
        """Whether each atom is a hydrogen."""
        return np.array([element == "H" for element in self.elements], dtype=bool)

    @property
    def is_backbone(self) -> BoolArray:
        """Whether each atom is N, CA or C of an amino acid."""
        from isofold.structure.protein.components import component_of

        kinds = {name: component_of(name) for name in {r.name for r in self.residues}}
        peptides = {name for name, kind in kinds.items() if kind and kind.kind == "peptide"}
        return np.array(
            [
                atom in BACKBONE and self.residues[k].name in peptides
                for atom, k in zip(self.atom_names, self.residue_of, strict=True)
            ],
            dtype=bool,
        )

    @property
    def traces(self) -> tuple[tuple[int, ...], ...]:
        """Alpha carbons of each unbroken chain, in their order."""
        is_alpha = self.is_backbone & np.array([name == "CA" for name in self.atom_names])
        linked = {
            (int(first), int(second))
            for first, second in self.residue_of[self.bonds]
            if first != second
        }
        chains: list[list[int]] = []
        for atom in np.flatnonzero(is_alpha).tolist():
            home = int(self.residue_of[atom])
            if chains and (int(self.residue_of[chains[-1][-1]]), home) in linked:
                chains[-1].append(atom)
            else:
                chains.append([atom])
        return tuple(tuple(chain) for chain in chains)

    @property
    def sequence(self) -> tuple[str, ...]:
        """Codes of the residues."""
        return tuple(residue.name for residue in self.residues)

    def with_coordinates(self, coordinates: Any) -> Self:
        """Return the molecule at other coordinates.

        Parameters
        ----------
        coordinates : array-like of shape (n_atoms, 3)
            Where the atoms are, in Å.

        Returns
        -------
        Molecule
            The new molecule.
        """
        return replace(self, coordinates=self.check_coordinates(coordinates))

    def groups(self, geometry: Geometry = "template") -> tuple[RigidGroup, ...]:
        """Return the rigid groups: atoms whose distances do not depend on the conformation.

        Parameters
        ----------
        geometry : {"template", "structure"}, default="template"
            Where bond lengths and angles come from: ideal residues, or the coordinates of the
            molecule. Rings that are not flat (proline) are one group only in the second case: their
            pucker is not known without a structure.

        Returns
        -------
        tuple of RigidGroup
            Peptide planes and other flat groups, in two axes if they come from templates, and
            tetrahedral ones. `group_dimensions` tells them apart.
        """
        return self.geometry(geometry).groups

    def geometry(self, geometry: Geometry = "template") -> MoleculeGeometry:
        """Return groups, hands of centers, and what is to be told of them.

        Parameters
        ----------
        geometry : {"template", "structure"}, default="template"
            Where bond lengths and angles come from, see `groups`.

        Returns
        -------
        MoleculeGeometry
            Its `findings` name groups without ideal geometry, and centers of the other hand.
        """
        from isofold.structure.protein.geometry import geometry_of

        return geometry_of(self, geometry)

    def problem(
        self, *, geometry: Geometry = "template", bounds: DistanceBounds | None = None
    ) -> StructureProblem:
        """Return what is known of the structure, without its coordinates.

        Parameters
        ----------
        geometry : {"template", "structure"}, default="template"
            Where bond lengths and angles come from, see `groups`.
        bounds : DistanceBounds, default=None
            Bounds on distances, from `nmr_bounds` or `Restraints.bounds`.

        Returns
        -------
        StructureProblem
            Groups, hands of tetrahedral centers, contact radii and bounds. Atoms that no bond and
            no bound holds are part of it, too.
        """
        from isofold.structure.protein.geometry import problem_of

        return problem_of(self, geometry, bounds)

    def nmr_bounds(
        self,
        cutoff: float = 6.0,
        keep: float = 0.5,
        noise: float = 0.1,
        law: Law = "half",
        random_state: Any = None,
    ) -> DistanceBounds:
        """Make upper bounds on distances of hydrogens as an NMR experiment would.

        Parameters
        ----------
        cutoff : float, default=6.0
            Hydrogens farther apart, in Å, are not seen.
        keep : float, default=0.5
            Fraction of the pairs that are seen, drawn at random. Pairs inside of rigid groups say
            nothing and are never taken.
        noise : float, default=0.1
            Relative error σ of the bounds.
        law : {"half", "two_sided", "class"}, default="half"
            The bound on a distance d: d(1 + σ|ε|), which is never too short; d(1 + σε), which is
            too short half of the time; or the least of 2.7, 3.5, 5.0 and 6.0 Å that is not less
            than d, as tables of restraints have it. ε is standard normal.
        random_state : int, RandomState instance or None, default=None
            Seed of all draws.

        Returns
        -------
        DistanceBounds
            The bounds.

        Raises
        ------
        InvalidInputError
            If the molecule has no coordinates or no hydrogens.
        """
        from isofold.structure.protein.nmr import bounds_between_hydrogens

        return bounds_between_hydrogens(
            self, cutoff=cutoff, keep=keep, noise=noise, law=law, random_state=random_state
        )

    def check_coordinates(self, coordinates: Any) -> FloatArray:
        """Return coordinates of the atoms, or refuse what is none."""
        try:
            where = np.array(coordinates, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"Coordinates of a molecule must be numbers: {error}."
            raise InvalidInputError(msg) from error
        if where.shape != (self.n_atoms, 3) or not np.isfinite(where).all():
            what = f"shape {where.shape}" if where.shape != (self.n_atoms, 3) else "NaN or infinity"
            msg = (
                f"Coordinates of this molecule have {what}, but it has {self.n_atoms} atoms in "
                f"three dimensions. Pass one row of three finite numbers for every atom."
            )
            raise InvalidInputError(msg)
        where.flags.writeable = False
        return where

    def need_coordinates(self, purpose: str) -> FloatArray:
        """Return the coordinates, or say what they are needed for."""
        if self.coordinates is None:
            msg = (
                f"This molecule has no coordinates, but {purpose} needs them. Read a file with "
                f"atoms, or use with_coordinates."
            )
            raise InvalidInputError(msg)
        return self.coordinates
