"""Atoms that restraints name together: methyls, pairs of hydrogens, unassigned groups.

A restraint on "HB%" says that one of several hydrogens is near, not which. A heavy atom that
carries all of them, at most two bonds away, is at a distance from each that no torsion changes. If
one hydrogen is within u of a point, the carrier is within u plus the largest of these distances:
the bound on the carrier is looser, and never wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from isofold.structure.protein.components import Component, component_of

__all__ = ["Carrier", "carrier_of", "named_atoms"]

CARRIER_BONDS = 2
"""Bonds between a carrier and its hydrogens: a distance over two does not depend on torsions."""


@dataclass(frozen=True)
class Carrier:
    """The atom that stands for others.

    Attributes
    ----------
    atom : str
        Its name in the dictionary.
    correction : float
        Its largest distance from one of the atoms that it stands for, in Å.
    """

    atom: str
    correction: float


@lru_cache(maxsize=4096)
def named_atoms(residue: str, name: str) -> frozenset[str]:
    """Return the atoms of the dictionary that a restraint names; none if it is not understood.

    Notes
    -----
    ``%``, ``*`` and ``#`` stand for any digits, ``x`` and ``y`` for one digit that was not
    assigned, ``M`` and ``Q`` for the hydrogens of a methyl or of a pair, ``QQ`` for two methyls.
    """
    component = component_of(residue)
    if component is None:
        return frozenset()
    atoms = _all_names(component)
    given = component.canonical(name.strip().strip("'\""))
    if given in atoms:
        return frozenset({given})
    pseudo = re.fullmatch(r"(?:QQ|Q|M)([A-Z]\d?)", given.upper())
    wild = f"H{pseudo[1]}%" if pseudo else given
    wild = "H%" if wild in ("HN", "H") else wild
    start = re.match(r"[A-Z]+[0-9]*", wild)
    rest = wild[start.end() :] if start else wild
    if start and re.fullmatch(r"[xyXY]?[%*#]?", rest) and rest:
        pattern = re.escape(start[0])
        pattern += r"\d" if rest[0] in "xyXY" else ""
        pattern += r"\d*" if rest[-1] in "%*#" else ""
        return frozenset(atom for atom in atoms if re.fullmatch(pattern, atom))
    if re.fullmatch(r"[A-Z]+[XY][%*#]?", wild):
        return named_atoms(residue, re.sub(r"[XY]([%*#]?)$", r"x\1", wild))
    # HB1 and HB2 for what is HB2 and HB3: which is which is not known.
    old = re.fullmatch(r"(H[A-Z]+\d?)[12]", wild)
    return named_atoms(residue, f"{old[1]}x") if old else frozenset()


@lru_cache(maxsize=4096)
def carrier_of(residue: str, atoms: frozenset[str]) -> Carrier | None:
    """Return the heavy atom that stands for atoms of a residue, or None if there is none."""
    component = component_of(residue)
    if component is None:
        return None
    found = []
    for k, (heavy, element) in enumerate(
        zip(component.atom_names, component.elements, strict=True)
    ):
        near = _near(component, heavy)
        if element == "H" or not atoms <= set(near):
            continue
        others = [near[atom] for atom in sorted(atoms)]
        distances = np.linalg.norm(component.coordinates[others] - component.coordinates[k], axis=1)
        found.append(Carrier(heavy, float(distances.max())))
    return min(found, key=lambda carrier: carrier.correction) if found else None


def _all_names(component: Component) -> tuple[str, ...]:
    """Return the names of a residue's atoms in a chain or at its ends."""
    ends = ("H1", "H2", "H3") if component.kind == "peptide" else ()
    return (*component.atom_names, *(name for name in ends if name not in component.atom_names))


def _near(component: Component, heavy: str) -> dict[str, int]:
    """Return the atoms within a few bonds of one, by name, with whose coordinates they have."""
    seen = {heavy}
    for _ in range(CARRIER_BONDS):
        seen |= {other for atom in seen for other in component.neighbors(atom)}
    near = {atom: component.index(atom) for atom in seen}
    if "H" in near and component.kind == "peptide":
        near |= {name: near["H"] for name in ("H1", "H2", "H3") if name not in near}
    return near
