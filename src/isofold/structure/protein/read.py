"""Reading molecules from PDB and mmCIF files; whatever is left out or repaired is named."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from isofold._dependencies import require
from isofold._files import read_path
from isofold._findings import Finding, Severity, setting
from isofold._format import count
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_count
from isofold.exceptions import InvalidInputError
from isofold.structure.protein.bonds import COVALENT_RADII, bonds_of
from isofold.structure.protein.components import (
    WATERS,
    component_of,
    element_of,
)
from isofold.structure.protein.molecule import Molecule, Residue

__all__ = ["finished", "gemmi_of", "read", "refuse_file", "text_of_file"]

CIS_BELOW = np.pi / 2
"""Torsion ω of a peptide bond, in radians, below which it is cis."""

SHORTEST_BOND, LONGEST_BOND = 0.7, 1.4
"""Lengths of bonds, relative to the sum of covalent radii, beyond which names or places are wrong.
The bonds of the six structures of docs/structure-protein.md are between 0.85 and 1.09."""

MOST_NAMED = 5
"""Residues or atoms that a finding names."""


def gemmi_of(purpose: str) -> Any:
    """Return the library that reads and writes structures."""
    return require("gemmi", extra="structure", purpose=purpose)


def read(path: str | os.PathLike[str], *, model: int = 1, altloc: str = "largest") -> Molecule:
    """Read a molecule from a PDB or mmCIF file, which may be compressed (.gz).

    Parameters
    ----------
    path : str or path-like
        The file. Its contents decide about the format, not its name.
    model : int, default=1
        Which of several models, counted from 1 in the order of the file.
    altloc : str, default="largest"
        Which alternate location: "largest" takes the one with the most atoms in each residue, a
        letter takes that one wherever there is one.

    Returns
    -------
    Molecule
        The molecule. Its `findings` name what was left out (water, other models, other locations,
        single ions) and what was repaired (elements).

    Raises
    ------
    InvalidInputError
        If the file is absent, empty, damaged or no structure, or if it has no such model.

    Examples
    --------
    >>> from isofold.structure import protein
    >>> molecule = protein.read("1ubq.cif.gz")  # doctest: +SKIP
    >>> [finding.message() for finding in molecule.findings]  # doctest: +SKIP
    ['58 molecules of water are left out.']
    """
    number = check_count(model, name="model")
    if altloc != "largest" and not (isinstance(altloc, str) and len(altloc) == 1):
        check_choice(altloc, ["largest", "A", "B"], name="altloc")
    structure = _parsed(read_path(path))
    models = [each for each in structure if sum(len(r) for chain in each for r in chain)]
    if not models:
        refuse_file(path, "it holds no atoms", "Check that the download is complete")
    if number > len(models):
        refuse_file(
            path,
            f"it has {count(len(models), 'model')}, but {setting('model', number)} is wanted",
            "Models are counted from 1",
        )
    atoms = _Atoms()
    for chain in models[number - 1]:
        _add_chain(atoms, chain, altloc)
    if not atoms.names:
        refuse_file(path, "it holds only water and single ions", "There is no structure to find")
    if len(models) > 1:
        atoms.findings.append(Finding.of("other_models", n=len(models), model=number))
    coordinates = np.array(atoms.coordinates)
    strange = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if len(strange):
        where = f"{atoms.residues[atoms.residue_of[strange[0]]]} {atoms.names[strange[0]]}"
        refuse_file(path, f"{where} has no finite coordinates", "Mend or remove its line")
    return finished(atoms, coordinates)


@dataclass
class _Atoms:
    """Atoms as they are read, and what is to be told."""

    names: list[str] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)
    residues: list[Residue] = field(default_factory=list)
    residue_of: list[int] = field(default_factory=list)
    coordinates: list[list[float]] = field(default_factory=list)
    n_repaired: int = 0
    n_waters: int = 0
    ions: list[str] = field(default_factory=list)
    alternates: list[str] = field(default_factory=list)
    doubles: list[str] = field(default_factory=list)
    twins: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def finished(atoms: _Atoms, coordinates: FloatArray) -> Molecule:
    """Return a molecule with its bonds and all that is to be told of it."""
    residue_of = np.array(atoms.residue_of, dtype=np.intp)
    bonds = bonds_of(atoms.names, atoms.elements, atoms.residues, residue_of, coordinates)
    coordinates.flags.writeable = False
    molecule = Molecule(
        tuple(atoms.names),
        tuple(atoms.elements),
        tuple(atoms.residues),
        residue_of,
        bonds,
        coordinates,
    )
    cis = _cis_bonds(molecule)
    findings = (*atoms.findings, *_reading_findings(atoms), *_content_findings(molecule, cis))
    return Molecule(
        molecule.atom_names,
        molecule.elements,
        molecule.residues,
        residue_of,
        bonds,
        coordinates,
        cis,
        findings,
    )


def text_of_file(path: Path) -> str:
    """Return the text of a file, decompressed if need be, or say why there is none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        refuse_file(path, "there is no such file", "Check its name and folder")
    except OSError as error:
        refuse_file(path, f"it cannot be read: {error.strerror or error}", "Name a readable file")
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            refuse_file(path, "it is compressed, but damaged", "Download it again")
    if not data.strip():
        refuse_file(path, "it is empty", "Check that the download is complete")
    if b"\0" in data[:4096]:
        refuse_file(path, "it is not a text", "Name a PDB or mmCIF file, or a list of restraints")
    return data.decode("utf-8", errors="replace")


def refuse_file(path: Any, seen: str, advice: str) -> NoReturn:
    """Raise the error that says why a file cannot be used."""
    msg = f"{str(path)[:160]}: {seen}. {advice}."
    raise InvalidInputError(msg)


def _parsed(path: Path) -> Any:
    """Return what the library reads in a file."""
    gemmi = gemmi_of("protein.read")
    text = text_of_file(path)
    start = next(
        (line for line in text.splitlines() if line.strip() and not line.startswith("#")), ""
    )
    is_cif = start.lstrip().lower().startswith(("data_", "loop_", "_"))
    if not is_cif and not any(line.startswith(("ATOM  ", "HETATM")) for line in text.splitlines()):
        refuse_file(
            path,
            f"it starts with {start.strip()[:40]!r} and has no ATOM records, so that it is neither "
            f"a PDB nor an mmCIF file",
            "Name a file with the coordinates of a structure",
        )
    try:
        if not is_cif:
            return gemmi.read_pdb_string(text)
        block = gemmi.cif.read_string(text).sole_block() if text.count("data_") == 1 else None
        block = block or gemmi.cif.read_string(text)[0]
        return gemmi.make_structure_from_block(block)
    except (RuntimeError, ValueError, IndexError) as error:
        refuse_file(
            path,
            f"it is damaged: {' '.join(str(error).split())[:200]}",
            "Download it again, or mend the line",
        )


def _add_chain(atoms: _Atoms, chain: Any, altloc: str) -> None:
    """Add the residues of a chain: the first where two have one number, no water, no ions."""
    before = ""
    for residue in chain:
        label = f"{chain.name}/{residue.seqid} {residue.name}"
        if residue.name in WATERS:
            atoms.n_waters += 1
            continue
        if len({atom.name for atom in residue}) == 1 and component_kind(residue.name) != "peptide":
            atoms.ions.append(label)
            continue
        # A residue without a number gets one after those that were read.
        has_number = residue.seqid.num is not None
        number = str(residue.seqid) if has_number else str(len(atoms.residues) + 1)
        if number == before:
            atoms.doubles.append(label)
            continue
        before = number
        _add_residue(atoms, Residue(chain.name, number, residue.name), residue, altloc)


def component_kind(name: str) -> str:
    """Return the kind of a component, or "unknown"."""
    found = component_of(name)
    return "unknown" if found is None else found.kind


def _add_residue(atoms: _Atoms, entry: Residue, residue: Any, altloc: str) -> None:
    """Add the atoms of a residue at one of its alternate locations."""
    component = component_of(residue.name)
    letters = sorted({atom.altloc for atom in residue} - {"\0"})
    chosen = _chosen_location(residue, letters, altloc)
    if letters:
        atoms.alternates.append(f"{entry} ({chosen})")
    seen = set()
    atoms.residues.append(entry)
    for atom in residue:
        if atom.altloc not in ("\0", chosen):
            continue
        if atom.name in seen:
            atoms.twins.append(f"{entry} {atom.name}")
            continue
        seen.add(atom.name)
        given = atom.element.name
        element = element_of(atom.name, component, given)
        atoms.n_repaired += element != ("H" if given == "D" else given.upper())
        atoms.names.append(atom.name)
        atoms.elements.append(element)
        atoms.residue_of.append(len(atoms.residues) - 1)
        atoms.coordinates.append([atom.pos.x, atom.pos.y, atom.pos.z])


def _chosen_location(residue: Any, letters: Sequence[str], altloc: str) -> str:
    """Return the alternate location with the most atoms, the first of several; or the wanted."""
    if altloc in letters or not letters:
        return altloc
    counts = {letter: sum(atom.altloc == letter for atom in residue) for letter in letters}
    return max(letters, key=lambda letter: counts[letter])


def _reading_findings(atoms: _Atoms) -> list[Finding]:
    """Return what was left out or repaired while reading."""
    findings = []
    for code, labels in (
        ("alternate_locations", atoms.alternates),
        ("double_residues", atoms.doubles),
        ("double_atoms", atoms.twins),
        ("single_ions", atoms.ions),
    ):
        if labels:
            findings.append(Finding.of(code, n=len(labels), which=listed(labels)))
    if atoms.n_waters:
        findings.append(Finding.of("waters", n=atoms.n_waters))
    if atoms.n_repaired:
        findings.append(Finding.of("elements_repaired", n=atoms.n_repaired))
    return findings


def _content_findings(molecule: Molecule, cis: IntArray) -> list[Finding]:
    """Return what is strange about the molecule that was read."""
    findings = []
    names = molecule.names
    if not molecule.is_hydrogen.any():
        findings.append(Finding.of("no_hydrogens", Severity.DOUBT, n=molecule.n_atoms))
    kinds = [component_kind(residue.name) for residue in molecule.residues]
    for code, kind in (("unknown_residues", "unknown"), ("nucleotides", "nucleotide")):
        labels = [str(r) for r, k in zip(molecule.residues, kinds, strict=True) if k == kind]
        if labels:
            findings.append(Finding.of(code, n=len(labels), which=listed(labels)))
    ligands = [str(r) for r, k in zip(molecule.residues, kinds, strict=True) if k == "other"]
    if ligands:
        findings.append(Finding.of("ligands", n=len(ligands), which=listed(ligands)))
    degree = np.bincount(molecule.bonds.ravel(), minlength=molecule.n_atoms)
    lone = np.flatnonzero(degree == 0)
    if len(lone):
        which = listed([names[a] for a in lone])
        findings.append(
            Finding.of("lone_atoms", Severity.DOUBT, samples=lone, n=len(lone), which=which)
        )
    strange = _strange_bonds(molecule)
    if strange:
        findings.append(
            Finding.of("strange_bonds", Severity.DOUBT, n=len(strange), which=listed(strange))
        )
    breaks = _breaks(molecule, kinds)
    if breaks:
        findings.append(Finding.of("chain_breaks", n=len(breaks), which=listed(breaks)))
    missing = _missing_heavy(molecule)
    if missing:
        findings.append(Finding.of("missing_atoms", n=len(missing), which=listed(missing)))
    if len(cis):
        which = listed([str(molecule.residues[molecule.residue_of[n]]) for _, n in cis])
        findings.append(Finding.of("cis_peptides", n=len(cis), which=which))
    return findings


def listed(labels: Sequence[str]) -> str:
    """Return a few labels, and whether there are more."""
    shown = ", ".join(labels[:MOST_NAMED])
    return f"{shown}, …" if len(labels) > MOST_NAMED else shown


def _strange_bonds(molecule: Molecule) -> list[str]:
    """Return bonds that are much too short or too long for their elements."""
    where, names = molecule.need_coordinates("the length of bonds"), molecule.names
    first, second = molecule.bonds.T
    lengths = np.linalg.norm(where[first] - where[second], axis=1)
    radii = np.array([COVALENT_RADII.get(element, np.nan) for element in molecule.elements])
    ratio = lengths / (radii[first] + radii[second])
    wrong = (ratio < SHORTEST_BOND) | (ratio > LONGEST_BOND)
    return [
        f"{names[first[k]]} and {names[second[k]]} ({lengths[k]:.2f} Å)"
        for k in np.flatnonzero(wrong)
    ]


def _breaks(molecule: Molecule, kinds: Sequence[str]) -> list[str]:
    """Return the residues after which a chain of amino acids is broken."""
    linked = {tuple(sorted(molecule.residue_of[list(pair)].tolist())) for pair in molecule.bonds}
    residues = molecule.residues
    return [
        f"{residues[k]} and {residues[k + 1].number} {residues[k + 1].name}"
        for k in range(len(residues) - 1)
        if kinds[k] == kinds[k + 1] == "peptide"
        and residues[k].chain == residues[k + 1].chain
        and (k, k + 1) not in linked
    ]


def _missing_heavy(molecule: Molecule) -> list[str]:
    """Return the heavy atoms that residues lack, the second oxygen of the end not counted."""
    present: list[set[str]] = [set() for _ in molecule.residues]
    for atom, k in zip(molecule.atom_names, molecule.residue_of, strict=True):
        component = component_of(molecule.residues[k].name)
        present[k].add(atom if component is None else component.canonical(atom))
    missing = []
    for residue, names in zip(molecule.residues, present, strict=True):
        component = component_of(residue.name)
        if component is not None and component.kind == "peptide":
            missing += [
                f"{residue} {atom}"
                for atom, element in zip(component.atom_names, component.elements, strict=True)
                if element != "H" and atom != "OXT" and atom not in names
            ]
    return missing


def _cis_bonds(molecule: Molecule) -> IntArray:
    """Return the peptide bonds, as atoms C and N, that are cis in the coordinates."""
    where = molecule.need_coordinates("the torsion of peptide bonds")
    by_name: list[dict[str, int]] = [{} for _ in molecule.residues]
    for atom, (name, k) in enumerate(zip(molecule.atom_names, molecule.residue_of, strict=True)):
        by_name[k][name] = atom
    found = []
    for first, second in molecule.bonds.tolist():
        k, j = molecule.residue_of[first], molecule.residue_of[second]
        if k == j or (molecule.atom_names[first], molecule.atom_names[second]) != ("C", "N"):
            continue
        ends = by_name[k].get("CA"), by_name[j].get("CA")
        if None in ends:
            continue
        a, b, c, d = where[[ends[0], first, second, ends[1]]]
        left, right = np.cross(b - a, c - b), np.cross(c - b, d - c)
        cosine = left @ right / (np.linalg.norm(left) * np.linalg.norm(right))
        if np.arccos(np.clip(cosine, -1.0, 1.0)) < CIS_BELOW:
            found.append((first, second))
    return np.array(found, dtype=np.intp).reshape(-1, 2)
