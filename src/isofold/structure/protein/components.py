"""Residues as the Chemical Component Dictionary has them: atoms, bonds, ideal coordinates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from isofold._dependencies import require
from isofold._typing import FloatArray

__all__ = [
    "ONE_LETTER",
    "WATERS",
    "Component",
    "component_of",
    "element_of",
    "is_hydrogen_name",
]

ONE_LETTER = {
    "A": "ALA", "R": "ARG", "N": "ASN", "D": "ASP", "C": "CYS", "Q": "GLN", "E": "GLU",
    "G": "GLY", "H": "HIS", "I": "ILE", "L": "LEU", "K": "LYS", "M": "MET", "F": "PHE",
    "P": "PRO", "S": "SER", "T": "THR", "W": "TRP", "Y": "TYR", "V": "VAL", "U": "SEC",
    "O": "PYL",
}  # fmt: skip
"""Letters of sequences."""

WATERS = frozenset({"HOH", "DOD", "WAT", "H2O", "SOL", "TIP", "TIP3", "TP3"})
"""Names of water."""

# Names that programs of molecular dynamics give to residues in a state of protonation.
_ALIASES = {
    "HSD": "HIS", "HSE": "HIS", "HSP": "HIS", "HID": "HIS", "HIE": "HIS", "HIP": "HIS",
    "CYX": "CYS", "CYM": "CYS", "ASH": "ASP", "GLH": "GLU", "LYN": "LYS",
}  # fmt: skip

# Names of heavy atoms in such programs.
_HEAVY_ALIASES = {("ILE", "CD"): "CD1"}
_BACKBONE_ALIASES = {
    "HN": "H", "OT1": "O", "OT2": "OXT", "OT": "O", "O1": "O", "O2": "OXT", "OC1": "O",
    "OC2": "OXT",
}  # fmt: skip

_HYDROGEN = re.compile(r"^[0-9]*[HD]([A-Z0-9'\"*]*)$")
_HEAVY_STARTS = frozenset({"HG", "HO", "HF", "HE", "DY"})
"""Elements whose symbols look like hydrogens; only outside of polymers."""


@dataclass(frozen=True, eq=False)
class Component:
    """A residue or ligand of the dictionary.

    Attributes
    ----------
    name : str
        Its code.
    atom_names, elements : tuple of str
        Its atoms.
    coordinates : ndarray of shape (n_atoms, 3)
        Ideal coordinates of the free molecule.
    bonds : frozenset of (str, str)
        Names of bonded atoms, in both orders.
    kind : str
        "peptide", "nucleotide" or "other".
    """

    name: str
    atom_names: tuple[str, ...]
    elements: tuple[str, ...]
    coordinates: FloatArray
    bonds: frozenset[tuple[str, str]]
    kind: str

    def index(self, atom: str) -> int:
        """Return the number of an atom, or -1."""
        return self.atom_names.index(atom) if atom in self.atom_names else -1

    def neighbors(self, atom: str) -> tuple[str, ...]:
        """Return the names of the atoms that are bonded to one."""
        return tuple(other for other in self.atom_names if (atom, other) in self.bonds)

    def hydrogens_of(self, atom: str) -> tuple[str, ...]:
        """Return the names of the hydrogens that an atom carries."""
        return tuple(
            other for other in self.neighbors(atom) if self.elements[self.index(other)] == "H"
        )

    def canonical(self, atom: str) -> str:
        """Return the dictionary's name of an atom that a program names otherwise."""
        if atom in self.atom_names:
            return atom
        other = _HEAVY_ALIASES.get((self.name, atom))
        if other is None and self.kind == "peptide":
            other = _BACKBONE_ALIASES.get(atom)
        return other if other in self.atom_names else atom


@lru_cache(maxsize=512)
def component_of(name: str) -> Component | None:
    """Return a component of the dictionary, or None if it has none of that name."""
    info = require("biotite.structure.info", extra="structure", purpose="isofold.structure.protein")
    code = _ALIASES.get(name, name)
    names = info.get_from_ccd("chem_comp_atom", code, "atom_id")
    # Single columns: the whole of the dictionary takes seconds to decode.
    where = _coordinates(info, code) if names is not None else None
    if where is None:
        return None
    elements = info.get_from_ccd("chem_comp_atom", code, "type_symbol").as_array()
    ends = [info.get_from_ccd("chem_comp_bond", code, f"atom_id_{k}") for k in (1, 2)]
    bonds = () if None in ends else zip(*(end.as_array() for end in ends), strict=True)
    link = str(info.get_from_ccd("chem_comp", code, "type").as_array()[0]).upper()
    kind = "peptide" if "PEPTIDE" in link else "nucleotide" if "NA LINKING" in link else "other"
    return Component(
        code,
        tuple(str(each) for each in names.as_array()),
        tuple(str(each).upper() for each in elements),
        where,
        frozenset(
            (str(first), str(second)) for a, b in bonds for first, second in ((a, b), (b, a))
        ),
        kind,
    )


def _coordinates(info: Any, code: str) -> FloatArray | None:
    """Return ideal coordinates of a component, else those of an example, else None."""
    for column in ("pdbx_model_Cartn_{}_ideal", "model_Cartn_{}"):
        axes = [info.get_from_ccd("chem_comp_atom", code, column.format(axis)) for axis in "xyz"]
        if all(axis is not None and axis.mask is None for axis in axes):
            where = np.column_stack([axis.as_array(float) for axis in axes])
            if np.isfinite(where).all():
                return where
    return None


def is_hydrogen_name(atom: str) -> bool:
    """Whether an atom of a polymer is a hydrogen by its name."""
    return _HYDROGEN.match(atom) is not None


def element_of(atom: str, component: Component | None, given: str) -> str:
    """Return the element of an atom: from the dictionary, else its name, else as given.

    Notes
    -----
    Element columns are missing or shifted in many files (calcium for CA); names are not.
    """
    if component is not None:
        k = component.index(component.canonical(atom))
        if k >= 0:
            return component.elements[k]
        if component.kind != "other":
            return "H" if is_hydrogen_name(atom) else atom.lstrip("0123456789")[:1]
    symbol = given.strip().upper()
    if symbol in ("D", "H"):
        return "H"
    if symbol not in ("", "X"):
        return symbol
    bare = atom.lstrip("0123456789").upper()
    return "H" if is_hydrogen_name(atom) and bare[:2] not in _HEAVY_STARTS else bare[:1]
