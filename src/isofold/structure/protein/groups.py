"""Which atoms of a molecule move as one body: stars of atoms, merged where bonds cannot turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.structure.protein.molecule import Molecule

__all__ = ["AtomGroup", "atom_groups", "is_flat_around", "rings_with"]

FLAT_ANGLE_SUM = np.deg2rad(350.0)
"""Sum of the angles between three bonds beyond which they lie in a plane."""

LARGEST_RING = 6
"""Atoms of a ring whose bonds do not turn."""


@dataclass(frozen=True)
class AtomGroup:
    """Atoms that move as one body.

    Attributes
    ----------
    centers : tuple of int
        Atoms all of whose neighbors belong to the group.
    atoms : tuple of int
        The atoms, sorted.
    is_flat : bool
        Whether they lie in a plane by their chemistry.
    """

    centers: tuple[int, ...]
    atoms: tuple[int, ...]
    is_flat: bool


def atom_groups(
    molecule: Molecule,
    neighbors: Sequence[Sequence[int]],
    is_planar: BoolArray,
    *,
    with_rings: bool,
) -> tuple[AtomGroup, ...]:
    """Return the rigid groups of a molecule, by their first atoms.

    Notes
    -----
    The star of an atom with two or more neighbors is rigid. Stars at both ends of a bond that
    cannot turn are one group: both ends are planar, or the bond belongs to a small ring.
    """
    parent = {a: a for a in range(molecule.n_atoms) if len(neighbors[a]) >= 2}

    def root(atom: int) -> int:
        while parent[atom] != atom:
            atom = parent[atom]
        return atom

    for first, second in molecule.bonds.tolist():
        if first not in parent or second not in parent:
            continue
        is_stiff = is_planar[first] and is_planar[second]
        if is_stiff or (with_rings and rings_with(first, second, neighbors)):
            low, high = sorted((root(first), root(second)))
            parent[high] = low
    centers: dict[int, list[int]] = {}
    for atom in parent:
        centers.setdefault(root(atom), []).append(atom)
    groups = []
    for members in centers.values():
        atoms = sorted({other for a in members for other in (a, *neighbors[a])})
        # Three atoms are always flat; a star of a planar atom and what it merges with, too.
        is_flat = len(atoms) == 3 or all(is_planar[a] or len(neighbors[a]) == 2 for a in members)
        groups.append(AtomGroup(tuple(members), tuple(atoms), is_flat))
    return tuple(sorted(groups, key=lambda group: group.atoms))


def rings_with(first: int, second: int, neighbors: Sequence[Sequence[int]]) -> bool:
    """Whether a bond belongs to a ring of few atoms."""
    seen, front = {first}, {first}
    for step in range(LARGEST_RING - 1):
        front = {
            other
            for atom in front
            for other in neighbors[atom]
            if other not in seen and not (step == 0 and other == second)
        }
        if second in front:
            return True
        seen |= front
    return False


def is_flat_around(center: FloatArray, around: FloatArray) -> bool:
    """Whether three bonds of an atom lie in a plane."""
    bonds = around - center
    lengths = np.linalg.norm(bonds, axis=1)
    if not lengths.all():  # two atoms at one place
        return False
    bonds = bonds / lengths[:, None]
    angles = [np.arccos(np.clip(bonds[i] @ bonds[j], -1, 1)) for i, j in ((0, 1), (0, 2), (1, 2))]
    return bool(sum(angles) > FLAT_ANGLE_SUM)
