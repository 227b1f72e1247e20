"""Writing structures to PDB and mmCIF files."""

from __future__ import annotations

import os
from typing import Any

from isofold._files import atomic_file, read_path
from isofold.exceptions import InvalidInputError
from isofold.structure.protein.molecule import Molecule
from isofold.structure.protein.read import gemmi_of

__all__ = ["check_suffix", "write"]

SUFFIXES = {".pdb": "pdb", ".ent": "pdb", ".cif": "cif", ".mmcif": "cif"}


def write(
    path: str | os.PathLike[str],
    molecule: Molecule,
    coordinates: Any = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write a structure to a file, whole or not at all.

    Parameters
    ----------
    path : str or path-like
        The file; .pdb or .ent for PDB, .cif or .mmcif for mmCIF.
    molecule : Molecule
        Names, elements and residues.
    coordinates : array-like of shape (n_atoms, 3), default=None
        Where the atoms are, in Å; those of the molecule if None.
    overwrite : bool, default=False
        Whether a file that exists is replaced.

    Raises
    ------
    InvalidInputError
        If the suffix is not known, or the file cannot be written.
    """
    kind = check_suffix(path)
    gemmi = gemmi_of("protein.write")
    if coordinates is None:
        where = molecule.need_coordinates("writing it")
    else:
        where = molecule.check_coordinates(coordinates)
    structure = _structure(gemmi, molecule, where, kind)
    with atomic_file(path, overwrite=overwrite) as temporary:
        if kind == "pdb":
            structure.write_pdb(str(temporary))
        else:
            structure.make_mmcif_document().write_file(str(temporary))


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's name asks for, or refuse it."""
    suffix = read_path(path).suffix.lower()
    if suffix not in SUFFIXES:
        msg = (
            f"{str(path)[:160]}: the suffix {suffix!r} says no format of structures. Use one of "
            f"{', '.join(SUFFIXES)}."
        )
        raise InvalidInputError(msg)
    return SUFFIXES[suffix]


def _structure(gemmi: Any, molecule: Molecule, where: Any, kind: str) -> Any:
    """Return the structure as the library has it."""
    if kind == "pdb":
        _refuse_wide(molecule)
    structure = gemmi.Structure()
    structure.name = "isofold"
    model = gemmi.Model(1)
    chains: dict[str, Any] = {}
    entries: list[Any] = []
    for residue in molecule.residues:
        chain = chains.setdefault(residue.chain, gemmi.Chain(residue.chain))
        entry = gemmi.Residue()
        entry.name, entry.seqid = residue.name, gemmi.SeqId(residue.number)
        entries.append(entry)
    for atom in range(molecule.n_atoms):
        made = gemmi.Atom()
        made.name = molecule.atom_names[atom]
        made.element = gemmi.Element(molecule.elements[atom].capitalize())
        made.pos = gemmi.Position(*where[atom].tolist())
        made.occ = 1.0
        entries[molecule.residue_of[atom]].add_atom(made)
    for residue, entry in zip(molecule.residues, entries, strict=True):
        chain = chains[residue.chain]
        chain.add_residue(entry)
    for chain in chains.values():
        model.add_chain(chain)
    structure.add_model(model)
    structure.setup_entities()
    structure.assign_serial_numbers()
    return structure


def _refuse_wide(molecule: Molecule) -> None:
    """Refuse what the columns of a PDB file cannot hold."""
    wide = [r for r in molecule.residues if len(r.chain) > 2 or len(r.name) > 3]
    if wide:
        msg = (
            f"A PDB file has no room for residue {wide[0]}: chains have two letters at most and "
            f"residues three. Write an mmCIF file (.cif)."
        )
        raise InvalidInputError(msg)
