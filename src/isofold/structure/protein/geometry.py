"""What is known of a molecule without its conformation: groups, hands, contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from isofold._findings import Finding, Severity
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_choice
from isofold.exceptions import InvalidInputError
from isofold.linalg import procrustes
from isofold.structure.given import DistanceBounds
from isofold.structure.groups import RigidGroup
from isofold.structure.problem import StructureProblem
from isofold.structure.protein.bonds import neighbors_of, within_bonds
from isofold.structure.protein.groups import AtomGroup, atom_groups, is_flat_around
from isofold.structure.protein.molecule import Geometry, Molecule
from isofold.structure.protein.templates import Templates

__all__ = ["MoleculeGeometry", "geometry_of", "group_dimensions", "problem_of"]

CONTACT_RADII = {"H": 0.95, "C": 1.40, "N": 1.30, "O": 1.20, "S": 1.60}
"""How near atoms may come that nothing joins, in Å."""

OTHER_RADIUS = 1.60
"""The same of other elements."""

EXEMPT_BONDS = 3
"""Atoms with so few bonds between them may be nearer."""

ALIKE = ("H", "O", "F")
"""Elements of which an atom may carry several that differ only in their names."""

CLEAR_HAND = 0.9
"""Misfit of a template, relative to that of its mirror image, from which on it is mirrored."""

FLAT_THICKNESS = 0.12
"""Root mean squared distance from a plane, in Å, up to which a group counts as flat."""


@dataclass(frozen=True, eq=False)
class MoleculeGeometry:
    """Rigid groups of a molecule and the hands of its tetrahedral centers.

    Attributes
    ----------
    groups : tuple of RigidGroup
        The groups; flat ones in two axes, if they come from templates.
    corners : ndarray of int of shape (n_centers, 4)
        The neighbors of atoms that have four.
    volumes : ndarray of shape (n_centers,)
        Signed volumes of their tetrahedra.
    findings : tuple of Finding
        Groups whose ideal geometry is not known.
    """

    groups: tuple[RigidGroup, ...]
    corners: IntArray
    volumes: FloatArray
    findings: tuple[Finding, ...]


def geometry_of(molecule: Molecule, geometry: Geometry) -> MoleculeGeometry:
    """Return groups and hands, from ideal residues or from the coordinates of the molecule."""
    check_choice(geometry, ["template", "structure"], name="geometry")
    templates = Templates(molecule)
    is_template = geometry == "template"
    if not is_template:
        molecule.need_coordinates('geometry="structure"')
    flat = _planar_atoms(molecule, templates, from_structure=not is_template)
    found = atom_groups(molecule, templates.neighbors, flat, with_rings=not is_template)
    groups, corners, volumes = [], [], []
    untold: list[AtomGroup] = []
    mirrored: list[AtomGroup] = []
    names = molecule.names
    for group in found:
        where = templates.geometry(group) if is_template else None
        if where is not None:
            where, is_mirrored = _as_labeled(molecule, templates, group, where)
            mirrored += [group] if is_mirrored else []
        else:
            untold += [group] if is_template else []
            where = _own_coordinates(molecule, group, names)
        # A structure bends its flat groups a little, and what it says is taken as it is.
        shape = _in_plane(where) if group.is_flat and is_template else where
        groups.append(RigidGroup.of(group.atoms, shape, name=names[group.centers[0]]))
        for quad, volume in _tetrahedra(templates, group, where):
            corners.append(quad)
            volumes.append(volume)
    return MoleculeGeometry(
        tuple(groups),
        np.array(corners, dtype=np.intp).reshape(-1, 4),
        np.array(volumes, dtype=np.float64),
        tuple(_findings(names, untold, mirrored)),
    )


def group_dimensions(groups: Sequence[RigidGroup]) -> IntArray:
    """Return how many dimensions groups fill: 2 for flat ones, slightly bent or not.

    Parameters
    ----------
    groups : sequence of RigidGroup
        The groups.

    Returns
    -------
    ndarray of int of shape (n_groups,)
        1, 2 or 3. Their sum is the number of rows of a Gram matrix of the groups.
    """
    extents = [np.linalg.svd(group.in_axes(3), compute_uv=False) for group in groups]
    sizes = np.sqrt([len(group) for group in groups])
    thick = [each > FLAT_THICKNESS * size for each, size in zip(extents, sizes, strict=True)]
    return np.array([int(each.sum()) for each in thick], dtype=np.intp)


def problem_of(
    molecule: Molecule, geometry: Geometry, bounds: DistanceBounds | None
) -> StructureProblem:
    """Return what is known of the structure of a molecule."""
    known = geometry_of(molecule, geometry)
    neighbors = neighbors_of(molecule.n_atoms, molecule.bonds)
    radii = [CONTACT_RADII.get(element, OTHER_RADIUS) for element in molecule.elements]
    problem = (
        StructureProblem(molecule.n_atoms, molecule.names)
        .with_groups(known.groups)
        .with_centers(known.corners, known.volumes)
        .with_contacts(radii, exempt=within_bonds(neighbors, EXEMPT_BONDS))
    )
    return problem if bounds is None else replace(problem, bounds=problem.bounds.joined(bounds))


def _planar_atoms(molecule: Molecule, templates: Templates, *, from_structure: bool) -> BoolArray:
    """Return which atoms have all bonds in a plane: by coordinates, or by their chemistry."""
    planar = np.zeros(molecule.n_atoms, dtype=bool)
    seen = np.zeros(molecule.n_atoms, dtype=bool)
    where = molecule.coordinates
    for atom, around in enumerate(templates.neighbors):
        known = templates.is_planar(atom)
        is_looked_at = where is not None and len(around) == 3 and (from_structure or known is None)
        if is_looked_at and where is not None:
            planar[atom] = is_flat_around(where[atom], where[list(around)])
            seen[atom] = True
        else:
            planar[atom] = bool(known)
    # A nitrogen is held flat only by a flat carbon beside it.
    for held in np.flatnonzero(planar & seen).tolist():
        if molecule.elements[held] == "N":
            planar[held] = any(
                planar[other] and molecule.elements[other] == "C"
                for other in templates.neighbors[held]
            )
    return planar


def _own_coordinates(molecule: Molecule, group: AtomGroup, names: tuple[str, ...]) -> FloatArray:
    """Return the coordinates of a group in the molecule."""
    if molecule.coordinates is None:
        which = ", ".join(names[atom] for atom in group.atoms)
        msg = (
            f"The ideal geometry of the atoms {which} is not known, and the molecule has no "
            f"coordinates to take it from. Use residues of the Chemical Component Dictionary, or "
            f"read a file with coordinates."
        )
        raise InvalidInputError(msg)
    return molecule.coordinates[list(group.atoms)]


def _in_plane(where: FloatArray) -> FloatArray:
    """Return coordinates of a flat group in its plane."""
    left, extents, _ = np.linalg.svd(where - where.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, :2] * extents[:2])


def _tetrahedra(
    templates: Templates, group: AtomGroup, where: FloatArray
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield four neighbors of each center that has so many, with their signed volume."""
    place = {atom: k for k, atom in enumerate(group.atoms)}
    for center in group.centers:
        around = templates.neighbors[center]
        if len(around) == 4:
            a, b, c, d = (where[place[atom]] for atom in around)
            yield around, float((b - a) @ np.cross(c - a, d - a)) / 6


def _as_labeled(
    molecule: Molecule, templates: Templates, group: AtomGroup, where: FloatArray
) -> tuple[FloatArray, bool]:
    """Return a template with its hydrogens labeled as in the file, and whether it is mirrored.

    Notes
    -----
    Files name the two hydrogens of a carbon by different conventions, and those of methyls and
    oxygens of phosphates by none. Which is which says nothing about the conformation. A center of
    the other hand is a residue of the other hand, or has two side chains whose names are swapped.
    """
    if molecule.coordinates is None:
        return where, False
    target = molecule.coordinates[list(group.atoms)]
    place = {atom: k for k, atom in enumerate(group.atoms)}
    misfit = _misfit(where, target)
    for center in group.centers:
        ends = [a for a in templates.neighbors[center] if len(templates.neighbors[a]) == 1]
        for element in ALIKE:
            twins = [place[a] for a in ends if molecule.elements[a] == element]
            if len(twins) < 2:
                continue
            order = np.arange(len(where))
            order[twins[:2]] = order[twins[1::-1]]
            swapped = _misfit(where[order], target)
            if swapped < misfit:
                where, misfit = where[order], swapped
    if group.is_flat:
        return where, False
    mirror = where * [1.0, 1.0, -1.0]
    is_mirrored = _misfit(mirror, target) < CLEAR_HAND * misfit
    return (mirror, True) if is_mirrored else (where, False)


def _misfit(where: FloatArray, target: FloatArray) -> float:
    """Return the root mean squared distance after the best rotation."""
    return procrustes(where, target, reflection=False).residual


def _findings(
    names: tuple[str, ...], untold: list[AtomGroup], mirrored: list[AtomGroup]
) -> Iterator[Finding]:
    """Yield which groups have no ideal geometry, and which have the other hand."""
    for code, severity, groups in (
        ("no_template", Severity.NOTE, untold),
        ("other_hand", Severity.DOUBT, mirrored),
    ):
        if groups:
            atoms = [group.centers[0] for group in groups]
            which = ", ".join(names[atom] for atom in atoms[:5])
            yield Finding.of(code, severity, samples=atoms, n=len(atoms), which=which)
