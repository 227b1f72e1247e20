"""Restraints of a file on the atoms of a molecule; what cannot be used is named and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from isofold._findings import Finding, Severity
from isofold._typing import IntArray
from isofold.exceptions import InvalidInputError
from isofold.structure.given import DistanceBounds
from isofold.structure.protein.components import component_of
from isofold.structure.protein.molecule import Molecule, Residue
from isofold.structure.protein.pseudo import carrier_of, named_atoms
from isofold.structure.protein.read import listed
from isofold.structure.protein.restraints import Restraint, Restraints

__all__ = ["MatchedRestraints", "match_restraints"]

LEAST_MATCH = 0.5
"""Fraction of the residues of a chain that must have the same names in the molecule."""


@dataclass(frozen=True, eq=False)
class MatchedRestraints:
    """Restraints as bounds on the atoms of a molecule.

    Attributes
    ----------
    bounds : DistanceBounds
        The bounds.
    names : tuple of str
        The restraint of each bound.
    findings : tuple of Finding
        What was left out or loosened.
    """

    bounds: DistanceBounds
    names: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass
class _Tally:
    """Bounds as they are made, and what was left out."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    n_carried: int = 0
    ambiguous: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    trivial: list[str] = field(default_factory=list)


def match_restraints(restraints: Restraints, molecule: Molecule) -> MatchedRestraints:
    """Return the bounds that restraints put on the atoms of a molecule."""
    places = _aligned(restraints.residues, molecule.residues)
    atoms = _atoms_by_name(molecule)
    tally = _Tally()
    for restraint in restraints.distances:
        if len(restraint.combinations) == 1:
            for pair in restraint.combinations[0]:
                _add(tally, restraint, (pair,), places, atoms, molecule)
        elif all(len(each) == 1 for each in restraint.combinations):
            pairs = tuple(each[0] for each in restraint.combinations)
            _add(tally, restraint, pairs, places, atoms, molecule)
        else:
            tally.ambiguous.append(restraint.name)
    if not tally.pairs:
        msg = (
            f"None of {len(restraints.distances)} restraints speaks of atoms of this molecule: "
            f"their residues are {restraints.residues[0]} to {restraints.residues[-1]}, those of "
            f"the molecule {molecule.residues[0]} to {molecule.residues[-1]}. Use the structure "
            f"that belongs to the restraints."
        )
        raise InvalidInputError(msg)
    bounds = DistanceBounds(
        np.array(tally.pairs, dtype=np.intp).reshape(-1, 2),
        np.array(tally.lower),
        np.array(tally.upper),
        np.ones(len(tally.pairs)),
    )
    findings = _findings(tally, restraints, places)
    return MatchedRestraints(bounds, tuple(tally.names), findings)


def _add(
    tally: _Tally,
    restraint: Restraint,
    pairs: Sequence[tuple[int, str, int, str]],
    places: IntArray,
    atoms: Sequence[dict[str, int]],
    molecule: Molecule,
) -> None:
    """Add the bound of a restraint with one pair, or with several of which one holds."""
    homes = {(pair[0], pair[2]) for pair in pairs}
    if len(homes) > 1:
        tally.ambiguous.append(restraint.name)
        return
    ends = []
    for side in (0, 2):
        home = pairs[0][side]
        place = places[int(home)]
        if place < 0:
            tally.unknown.append(restraint.name)
            return
        names = [named_atoms(molecule.residues[place].name, str(pair[side + 1])) for pair in pairs]
        if not all(names):
            tally.unknown.append(restraint.name)
            return
        end = _end(molecule.residues[place], frozenset().union(*names), atoms[place])
        if end is None:
            # Several atoms that no one atom stands for are an ambiguity; one is not there.
            (tally.ambiguous if len(pairs) > 1 else tally.unknown).append(restraint.name)
            return
        ends.append(end)
    (first, one), (second, other) = ends
    if first == second:
        tally.trivial.append(restraint.name)
        return
    tally.n_carried += one + other > 0
    tally.pairs.append((min(first, second), max(first, second)))
    tally.lower.append(max(0.0, restraint.lower - one - other))
    tally.upper.append(restraint.upper + one + other)
    tally.names.append(restraint.name)


def _end(
    residue: Residue, names: frozenset[str], atoms: dict[str, int]
) -> tuple[int, float] | None:
    """Return the atom that stands for some of a residue, and how far it is from them."""
    present = [atoms[name] for name in sorted(names) if name in atoms]
    if len(names) == 1 and present:
        return present[0], 0.0
    if len(present) == 1 and names <= {"H", "H1", "H2", "H3"}:
        return present[0], 0.0
    carrier = carrier_of(residue.name, names)
    if carrier is None or carrier.atom not in atoms:
        return None
    return atoms[carrier.atom], carrier.correction


def _atoms_by_name(molecule: Molecule) -> list[dict[str, int]]:
    """Return the atoms of each residue by the dictionary's names."""
    from isofold.structure.protein.templates import Templates

    found: list[dict[str, int]] = [{} for _ in molecule.residues]
    for atom, name in enumerate(Templates(molecule).names):
        own = molecule.atom_names[atom]
        found[molecule.residue_of[atom]][own if own in ("H1", "H3") else name or own] = atom
    return found


def _aligned(wanted: Sequence[Residue], present: Sequence[Residue]) -> IntArray:
    """Return the residue of a molecule for each residue of a file, or -1."""
    places = np.full(len(wanted), -1, dtype=np.intp)
    taken: set[str] = set()
    for chain in dict.fromkeys(residue.chain for residue in wanted):
        rows = [k for k, residue in enumerate(wanted) if residue.chain == chain]
        best: tuple[int, int, int, dict[int, int], str] | None = None
        for other in dict.fromkeys(residue.chain for residue in present):
            for shift in _shifts([wanted[k] for k in rows], present, other):
                found = _matches(wanted, rows, present, other, shift)
                score = (len(found), other == chain, -abs(shift))
                if other not in taken and (best is None or score > best[:3]):
                    best = (*score, found, other)
        if best is not None and best[0] >= LEAST_MATCH * len(rows):
            taken.add(best[4])
            for k, place in best[3].items():
                places[k] = place
    return places


def _shifts(rows: Sequence[Residue], present: Sequence[Residue], chain: str) -> list[int]:
    """Return shifts of numbers that could bring a chain onto another."""
    ours = [number for residue in rows if (number := _number(residue)) is not None]
    theirs = [
        number
        for residue in present
        if residue.chain == chain and (number := _number(residue)) is not None
    ]
    if not ours or not theirs:
        return []
    low, high = min(theirs) - max(ours), max(theirs) - min(ours)
    return sorted(range(low, high + 1), key=abs)


def _matches(
    wanted: Sequence[Residue],
    rows: Sequence[int],
    present: Sequence[Residue],
    chain: str,
    shift: int,
) -> dict[int, int]:
    """Return the residues of the same name at shifted numbers."""
    there = {_number(r): j for j, r in enumerate(present) if r.chain == chain}
    found = {}
    for k in rows:
        number = _number(wanted[k])
        place = None if number is None else there.get(number + shift)
        if place is not None and _same(wanted[k].name, present[place].name):
            found[k] = place
    return found


def _number(residue: Residue) -> int | None:
    """Return the number of a residue, or None if it has an insertion code."""
    try:
        return int(residue.number)
    except ValueError:
        return None


def _same(first: str, second: str) -> bool:
    """Whether two codes name one residue; restraints may name none."""
    one, other = component_of(first), component_of(second)
    alike = one is not None and other is not None and one.name == other.name
    return not first or first == second or alike


def _findings(tally: _Tally, restraints: Restraints, places: IntArray) -> tuple[Finding, ...]:
    """Return what was left out or loosened."""
    findings = []
    if tally.n_carried:
        findings.append(Finding.of("restraints_carried", n=tally.n_carried, total=len(tally.pairs)))
    for code, severity, names in (
        ("restraints_ambiguous", Severity.NOTE, tally.ambiguous),
        ("restraints_unknown", Severity.DOUBT, tally.unknown),
        ("restraints_trivial", Severity.NOTE, tally.trivial),
    ):
        if names:
            findings.append(
                Finding.of(
                    code, severity,
                    n=len(names), total=len(restraints.distances), which=listed(names),
                )
            )  # fmt: skip
    lost = [str(r) for r, place in zip(restraints.residues, places, strict=True) if place < 0]
    if lost:
        findings.append(Finding.of("residues_unmatched", n=len(lost), which=listed(lost)))
    return tuple(findings)
