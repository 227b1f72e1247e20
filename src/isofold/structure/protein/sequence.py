"""Molecules from their sequences, without coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold.exceptions import InvalidInputError
from isofold.structure.protein.bonds import bonds_of
from isofold.structure.protein.components import ONE_LETTER, Component, component_of
from isofold.structure.protein.molecule import Molecule, Residue

__all__ = ["from_sequence", "molecule_of_residues"]

ACID_HYDROGENS = {("ASP", "HD2"), ("GLU", "HE2")}
"""Hydrogens of the dictionary that carboxyl groups lose in water."""


def from_sequence(
    sequence: str | Sequence[str],
    *,
    chain: str = "A",
    first: int = 1,
    disulfides: Sequence[tuple[int, int]] = (),
    cis: Sequence[int] = (),
) -> Molecule:
    """Make a molecule of amino acids, with hydrogens and without coordinates.

    Parameters
    ----------
    sequence : str or sequence of str
        Letters of amino acids, or codes of the Chemical Component Dictionary.
    chain : str, default="A"
        Name of the chain.
    first : int, default=1
        Number of the first residue.
    disulfides : sequence of (int, int), default=()
        Numbers of the cysteines that are bonded to each other.
    cis : sequence of int, default=()
        Numbers of the residues whose peptide bond to the residue before is cis, mostly prolines.

    Returns
    -------
    Molecule
        The molecule as it is in water: both ends, aspartate and glutamate are charged.

    Raises
    ------
    InvalidInputError
        If a letter or code is not an amino acid of the dictionary.

    Examples
    --------
    >>> from isofold.structure import protein
    >>> protein.from_sequence("MKV").sequence
    ('MET', 'LYS', 'VAL')
    """
    if isinstance(sequence, str):
        letters = "".join(sequence.split()).upper()
        wrong = sorted({letter for letter in letters if letter not in ONE_LETTER})
        if wrong:
            msg = (
                f"The sequence has the letters {', '.join(wrong)}, which are no amino acids. Pass "
                f"a list of codes such as ['ALA', 'MSE'] for others."
            )
            raise InvalidInputError(msg)
        codes: Sequence[str] = [ONE_LETTER[letter] for letter in letters]
    else:
        codes = [str(code).upper() for code in sequence]
    residues = [Residue(chain, str(first + k), code) for k, code in enumerate(codes)]
    bridges = [(one - first, other - first) for one, other in disulfides]
    return molecule_of_residues(residues, bridges, [number - first for number in cis])


def molecule_of_residues(
    residues: Sequence[Residue],
    disulfides: Sequence[tuple[int, int]] = (),
    cis: Sequence[int] = (),
) -> Molecule:
    """Return a molecule of residues, given disulfides and cis bonds by their positions."""
    if not residues:
        msg = "The sequence is empty: there is no molecule to make. Pass at least one amino acid."
        raise InvalidInputError(msg)
    components = [_amino_acid(residue) for residue in residues]
    _check_positions(residues, disulfides, cis)
    bridged = {k for pair in disulfides for k in pair}
    names: list[str] = []
    elements: list[str] = []
    residue_of: list[int] = []
    for k, (residue, component) in enumerate(zip(residues, components, strict=True)):
        is_first = k == 0 or residues[k - 1].chain != residue.chain
        is_last = k + 1 == len(residues) or residues[k + 1].chain != residue.chain
        for atom in _atoms_of(component, is_first=is_first, is_last=is_last):
            if atom != "HG" or component.name != "CYS" or k not in bridged:
                names.append(atom)
                elements.append("H" if atom.startswith("H") else _element(component, atom))
                residue_of.append(k)
    where = np.array(residue_of, dtype=np.intp)
    bonds = bonds_of(names, elements, residues, where, None, disulfides)
    links = [
        (a, b)
        for a, b in bonds.tolist()
        if where[a] != where[b] and names[b] == "N" and where[b] in set(cis)
    ]
    return Molecule(
        tuple(names),
        tuple(elements),
        tuple(residues),
        where,
        bonds,
        cis=np.array(links, dtype=np.intp).reshape(-1, 2),
    )


def _amino_acid(residue: Residue) -> Component:
    """Return the component of a residue, or say that it is no amino acid."""
    component = component_of(residue.name)
    if component is None or component.kind != "peptide":
        what = "not in the Chemical Component Dictionary" if component is None else "no amino acid"
        msg = (
            f"Residue {residue} is {what}: there is no ideal geometry for it in a chain. Leave it "
            f"out, or read the molecule from a file with coordinates."
        )
        raise InvalidInputError(msg)
    return component


def _atoms_of(component: Component, *, is_first: bool, is_last: bool) -> list[str]:
    """Return the atoms of a residue inside or at an end of a chain."""
    is_ring = ("N", "CD") in component.bonds
    ends = {"H1", "H2", "H3"} if is_first and not is_ring else {"H2", "H3"} if is_first else {"H"}
    atoms = []
    for atom in component.atom_names:
        if atom in ("H", "H2", "H3") and ("N", atom) in component.bonds:
            continue
        is_lost = atom == "HXT" or (atom == "OXT" and not is_last)
        if not is_lost and (component.name, atom) not in ACID_HYDROGENS:
            atoms.append(atom)
            if atom == "N":
                atoms += [] if is_ring and not is_first else sorted(ends)
    return atoms


def _element(component: Component, atom: str) -> str:
    return component.elements[component.index(atom)]


def _check_positions(
    residues: Sequence[Residue], disulfides: Sequence[tuple[int, int]], cis: Sequence[int]
) -> None:
    """Refuse disulfides of other residues than cysteines, and residues that are not there."""
    known = range(len(residues))
    for pair in disulfides:
        if any(k not in known or residues[k].name != "CYS" for k in pair):
            msg = (
                f"A disulfide joins the positions {pair[0] + 1} and {pair[1] + 1}, but these are "
                f"not both cysteines of the sequence. Give the numbers of two cysteines."
            )
            raise InvalidInputError(msg)
    if any(k not in known or k == 0 for k in cis):
        msg = "A cis peptide bond is named whose residue is not there or has none before it."
        raise InvalidInputError(msg)
