"""Bonds of a molecule: by the names of residues, else by distances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.structure.protein.components import component_of
from isofold.structure.protein.molecule import Residue

__all__ = ["COVALENT_RADII", "bonds_of", "neighbors_of", "within_bonds"]

COVALENT_RADII = {
    "H": 0.31, "C": 0.76, "N": 0.71, "O": 0.66, "S": 1.05, "P": 1.07, "SE": 1.20, "F": 0.57,
    "CL": 1.02, "BR": 1.20, "I": 1.39, "B": 0.84, "SI": 1.11,
}  # fmt: skip
"""Radii of atoms in bonds, in Å. Elements that are not listed, metals, are not bonded by them."""

BOND_TOLERANCE = 0.25
"""How much longer than the sum of the radii a bond may be, in Å."""

LONGEST_PEPTIDE = 2.0
"""Distance of C and N, in Å, from which on the chain is broken between two residues."""

LONGEST_DISULFIDE = 2.5
"""Distance of two sulfurs of cysteines, in Å, up to which they are bonded."""

TERMINAL_HYDROGENS = ("H1", "H2", "H3")
"""Names of the hydrogens of the charged first nitrogen of a chain."""


def bonds_of(
    atom_names: Sequence[str],
    elements: Sequence[str],
    residues: Sequence[Residue],
    residue_of: IntArray,
    coordinates: FloatArray | None,
    disulfides: Sequence[tuple[int, int]] = (),
) -> IntArray:
    """Return the bonds of a molecule, sorted.

    Notes
    -----
    With coordinates, links between residues are those that are short enough; without, residues of
    a chain are joined in their order and the disulfides are given.
    """
    members = [np.flatnonzero(residue_of == k) for k in range(len(residues))]
    found: set[tuple[int, int]] = set()
    for residue, atoms in zip(residues, members, strict=True):
        found.update(_named_bonds(residue, atoms, atom_names))
    if coordinates is not None:
        bonded = {atom for pair in found for atom in pair}
        for atoms in members:
            found.update(_near_bonds(atoms, elements, coordinates, bonded))
        found.update(_other_links(residues, residue_of, elements, coordinates))
    by_name = [{atom_names[int(a)]: int(a) for a in atoms} for atoms in members]
    found.update(_peptide_bonds(residues, by_name, coordinates))
    found.update(_phosphate_bonds(residues, by_name, coordinates))
    found.update(_disulfide_bonds(by_name, coordinates, disulfides))
    return np.array(sorted(found), dtype=np.intp).reshape(-1, 2)


def neighbors_of(n_atoms: int, bonds: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the bonded atoms of each atom, sorted."""
    lists: list[list[int]] = [[] for _ in range(n_atoms)]
    for first, second in bonds.tolist():
        lists[first].append(second)
        lists[second].append(first)
    return tuple(tuple(sorted(each)) for each in lists)


def within_bonds(neighbors: tuple[tuple[int, ...], ...], n_bonds: int) -> IntArray:
    """Return pairs of atoms with at most so many bonds between them."""
    pairs = []
    for start in range(len(neighbors)):
        seen, front = {start}, {start}
        for _ in range(n_bonds):
            front = {other for atom in front for other in neighbors[atom]} - seen
            seen |= front
        pairs += [(start, other) for other in sorted(seen) if other > start]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _named_bonds(
    residue: Residue, atoms: IntArray, atom_names: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the bonds that the dictionary has for a residue."""
    component = component_of(residue.name)
    if component is None:
        return
    names = {component.canonical(atom_names[a]): int(a) for a in atoms}
    terminal = {("N", name) for name in TERMINAL_HYDROGENS if component.kind == "peptide"}
    for first, second in component.bonds | terminal:
        if first in names and second in names:
            yield min(names[first], names[second]), max(names[first], names[second])


def _near_bonds(
    atoms: IntArray, elements: Sequence[str], coordinates: FloatArray, bonded: set[int]
) -> Iterator[tuple[int, int]]:
    """Yield bonds of atoms that have none by name: hydrogens to the nearest heavy atom."""
    heavy = [int(a) for a in atoms if elements[a] != "H"]
    for atom in (int(a) for a in atoms if a not in bonded):
        others = [a for a in heavy if a != atom]
        if not others:
            continue
        distances = np.linalg.norm(coordinates[others] - coordinates[atom], axis=1)
        radii = [COVALENT_RADII.get(elements[a], -np.inf) for a in others]
        reach = COVALENT_RADII.get(elements[atom], -np.inf) + np.array(radii) + BOND_TOLERANCE
        near = np.flatnonzero(distances <= reach)
        if elements[atom] == "H":
            near = near[np.argsort(distances[near], kind="stable")][:1]
        for k in near:
            yield min(atom, others[k]), max(atom, others[k])


def _other_links(
    residues: Sequence[Residue],
    residue_of: IntArray,
    elements: Sequence[str],
    coordinates: FloatArray,
) -> Iterator[tuple[int, int]]:
    """Yield bonds of ligands, caps and unknown residues to other residues, by distance."""
    polymers = {"peptide", "nucleotide"}
    kinds = [component_of(residue.name) for residue in residues]
    is_other = np.array([kind is None or kind.kind not in polymers for kind in kinds])
    radii = np.array([COVALENT_RADII.get(element, -np.inf) for element in elements])
    heavy = np.flatnonzero((np.array(elements) != "H") & np.isfinite(radii))
    for atom in heavy[is_other[residue_of[heavy]]]:
        distances = np.linalg.norm(coordinates[heavy] - coordinates[atom], axis=1)
        is_near = distances <= radii[heavy] + radii[atom] + BOND_TOLERANCE
        for other in heavy[is_near & (residue_of[heavy] != residue_of[atom])].tolist():
            yield min(int(atom), other), max(int(atom), other)


def _peptide_bonds(
    residues: Sequence[Residue],
    by_name: Sequence[dict[str, int]],
    coordinates: FloatArray | None,
) -> Iterator[tuple[int, int]]:
    """Yield the bonds between neighboring amino acids of a chain."""
    for k in range(len(residues) - 1):
        carbon, nitrogen = by_name[k].get("C"), by_name[k + 1].get("N")
        if carbon is None or nitrogen is None or residues[k].chain != residues[k + 1].chain:
            continue
        kinds = [component_of(residues[j].name) for j in (k, k + 1)]
        known = all(kind is None or kind.kind == "peptide" for kind in kinds)
        if known and _is_short((carbon, nitrogen), coordinates, LONGEST_PEPTIDE):
            yield carbon, nitrogen


def _phosphate_bonds(
    residues: Sequence[Residue],
    by_name: Sequence[dict[str, int]],
    coordinates: FloatArray | None,
) -> Iterator[tuple[int, int]]:
    """Yield the bonds between neighboring nucleotides of a chain."""
    for k in range(len(residues) - 1):
        oxygen, phosphorus = by_name[k].get("O3'"), by_name[k + 1].get("P")
        if oxygen is None or phosphorus is None or residues[k].chain != residues[k + 1].chain:
            continue
        if _is_short((oxygen, phosphorus), coordinates, LONGEST_PEPTIDE):
            yield oxygen, phosphorus


def _disulfide_bonds(
    by_name: Sequence[dict[str, int]],
    coordinates: FloatArray | None,
    given: Sequence[tuple[int, int]],
) -> Iterator[tuple[int, int]]:
    """Yield the bonds between sulfurs: the given ones, or those that are short."""
    if coordinates is None:
        for first, second in given:
            a, b = by_name[first]["SG"], by_name[second]["SG"]
            yield min(a, b), max(a, b)
        return
    sulfurs = [names["SG"] for names in by_name if "SG" in names]
    for k, first in enumerate(sulfurs):
        for second in sulfurs[k + 1 :]:
            if _is_short((first, second), coordinates, LONGEST_DISULFIDE):
                yield first, second


def _is_short(link: tuple[int, int], coordinates: FloatArray | None, longest: float) -> bool:
    """Whether two atoms are near enough for a bond; without coordinates they always are."""
    if coordinates is None:
        return True
    first, second = (coordinates[atom] for atom in link)
    return bool(np.linalg.norm(first - second) <= longest)
