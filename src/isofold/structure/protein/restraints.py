"""Restraints of NMR experiments: reading NEF and NMR-STAR files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isofold._files import read_path
from isofold._findings import Finding
from isofold.structure.protein.molecule import Molecule, Residue
from isofold.structure.protein.read import gemmi_of, listed, refuse_file, text_of_file
from isofold.structure.protein.sequence import molecule_of_residues

if TYPE_CHECKING:
    from isofold.structure.protein.matching import MatchedRestraints

__all__ = ["Restraint", "Restraints", "read_restraints"]

Row = Mapping[str, str]

NOTHING = frozenset({"", ".", "?"})


@dataclass(frozen=True)
class Restraint:
    """A distance that is bounded.

    Attributes
    ----------
    name : str
        Its number in the file.
    combinations : tuple of tuple of (residue, atom, residue, atom)
        Pairs of atoms by positions of residues and names. All pairs of one of the combinations
        hold; several combinations are an ambiguous restraint.
    lower, upper : float
        The bounds in Å: 0 and infinity where there is none.
    """

    name: str
    combinations: tuple[tuple[tuple[int, str, int, str], ...], ...]
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Restraints:
    """Restraints of a file, and the sequence that they speak of.

    Attributes
    ----------
    residues : tuple of Residue
        The sequence.
    distances : tuple of Restraint
        Restraints on distances.
    disulfides : tuple of (int, int)
        Positions of cysteines that are bonded.
    cis : tuple of int
        Positions of residues with a cis bond to the one before.
    findings : tuple of Finding
        What the file holds that is not used.
    """

    residues: tuple[Residue, ...]
    distances: tuple[Restraint, ...]
    disulfides: tuple[tuple[int, int], ...] = ()
    cis: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()

    def molecule(self) -> Molecule:
        """Return the molecule of the sequence, without coordinates.

        Returns
        -------
        Molecule
            The amino acids of the sequence, with hydrogens.
        """
        return molecule_of_residues(self.residues, self.disulfides, self.cis)

    def bounds(self, molecule: Molecule) -> MatchedRestraints:
        """Return the bounds that the restraints put on the atoms of a molecule.

        Parameters
        ----------
        molecule : Molecule
            The molecule of `molecule`, or one that was read from a file. Its residues are matched
            by chains, numbers and names; numbers may be shifted.

        Returns
        -------
        MatchedRestraints
            Bounds, and findings that name what was left out.
        """
        from isofold.structure.protein.matching import match_restraints

        return match_restraints(self, molecule)


def read_restraints(path: str | os.PathLike[str]) -> Restraints:
    """Read restraints on distances from a NEF or NMR-STAR file, which may be compressed (.gz).

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Restraints
        Sequence and restraints. Its `findings` name what is not used: restraints on torsions and
        residual dipolar couplings.

    Raises
    ------
    InvalidInputError
        If the file is absent, empty, damaged, or has no restraints on distances.
    """
    gemmi = gemmi_of("protein.read_restraints")
    text = text_of_file(read_path(path))
    try:
        document = gemmi.cif.read_string(text)
    except (RuntimeError, ValueError) as error:
        seen = f"it is neither NEF nor NMR-STAR: {' '.join(str(error).split())[:200]}"
        refuse_file(path, seen, "Convert lists of other programs to NEF first")
    tables = list(_tables(document))
    dialect = next((d for d in (NEF, STAR) if any(name == d.distances for name, _ in tables)), None)
    if dialect is None:
        refuse_file(
            path,
            f"it has no restraints on distances ({NEF.distances} or {STAR.distances})",
            "Name the file of restraints, not that of coordinates or shifts",
        )
    residues, keys, cis = _sequence(dialect, tables)
    distances = _distances(dialect, tables, keys, residues)
    findings = list(_unused(tables))
    unbounded = [each.name for each in distances if math.isinf(each.upper) and each.lower == 0]
    if unbounded:
        findings.append(
            Finding.of("restraints_unbounded", n=len(unbounded), which=listed(unbounded))
        )
    bounded = tuple(each for each in distances if not (math.isinf(each.upper) and each.lower == 0))
    if not bounded:
        refuse_file(path, "its restraints have no bounds", "Check that the file is complete")
    return Restraints(
        tuple(residues),
        bounded,
        tuple(_disulfides(dialect, tables, keys, residues)),
        tuple(cis),
        tuple(findings),
    )


@dataclass(frozen=True)
class _Dialect:
    """What the columns of a format are called; ``{}`` is the number of the atom."""

    sequence: tuple[str, ...]
    distances: str
    links: str
    chain: tuple[str, ...]
    number: tuple[str, ...]
    residue: tuple[str, ...]
    atom: tuple[str, ...]
    shown_chain: str
    shown_number: str
    identifier: tuple[str, ...]
    combination: str
    lower: tuple[str, ...]
    upper: tuple[str, ...]
    target: str
    uncertainty: str


NEF = _Dialect(
    ("_nef_sequence",),
    "_nef_distance_restraint",
    "_nef_covalent_links",
    ("chain_code{}",),
    ("sequence_code{}",),
    ("residue_name{}", "residue_type{}"),
    ("atom_name{}",),
    "chain_code",
    "sequence_code",
    ("restraint_id",),
    "restraint_combination_id",
    ("lower_limit", "lower_linear_limit"),
    ("upper_limit", "upper_linear_limit"),
    "target_value",
    "target_value_uncertainty",
)
STAR = _Dialect(
    ("_chem_comp_assembly", "_entity_comp_index", "_entity_poly_seq"),
    "_gen_dist_constraint",
    "_bond",
    ("entity_assembly_id{}", "entity_id{}"),
    ("comp_index_id{}", "seq_id{}"),
    ("comp_id{}", "auth_comp_id{}", "mon_id{}"),
    ("atom_id{}", "auth_atom_id{}"),
    "auth_asym_id",
    "auth_seq_id",
    ("id",),
    "combination_id",
    ("distance_lower_bound_val", "lower_linear_limit"),
    ("distance_upper_bound_val", "upper_linear_limit"),
    "target_val",
    "target_val_uncertainty",
)
# What is told of other restraints, which are not used.
UNUSED = {
    "_nef_dihedral_restraint": "torsions_unused",
    "_torsion_angle_constraint": "torsions_unused",
    "_nef_rdc_restraint": "couplings_unused",
    "_rdc_constraint": "couplings_unused",
}


def _tables(document: Any) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the loops of a document, save frames included, with tags in lower case."""
    for block in document:
        parts = [block, *(item.frame for item in block if item.frame is not None)]
        for part in parts:
            for item in part:
                loop = item.loop
                if loop is None:
                    continue
                tags = [tag.lower().partition(".") for tag in loop.tags]
                rows = [
                    {tags[k][2]: _unquoted(loop[r, k]) for k in range(loop.width())}
                    for r in range(loop.length())
                ]
                yield tags[0][0], rows


def _unquoted(value: str) -> str:
    """Return a value without quotes; nothing for what is missing."""
    if value in NOTHING:
        return ""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def _value(row: Row, names: Sequence[str], atom: int | None = None) -> str:
    """Return the first of some columns that has a value."""
    ending = "" if atom is None else f"_{atom}"
    return next((row[name.format(ending)] for name in names if row.get(name.format(ending))), "")


def _number(row: Row, names: Sequence[str]) -> float:
    """Return the first of some columns that has a number, or NaN."""
    try:
        return float(_value(row, names))
    except ValueError:
        return math.nan


def _sequence(
    dialect: _Dialect, tables: Sequence[tuple[str, list[dict[str, str]]]]
) -> tuple[list[Residue], dict[tuple[str, str], int], list[int]]:
    """Return the residues, their positions by chain and number, and those with a cis bond."""
    residues: list[Residue] = []
    keys: dict[tuple[str, str], int] = {}
    cis: list[int] = []
    found = next((rows for want in dialect.sequence for name, rows in tables if name == want), [])
    for row in found:
        key = _value(row, dialect.chain), _value(row, dialect.number)
        name = _value(row, dialect.residue)
        if key in keys or not name or row.get("linking") in ("dummy", "nonlinear"):
            continue
        chain, number = row.get(dialect.shown_chain) or key[0], row.get(dialect.shown_number)
        keys[key] = len(residues)
        if row.get("cis_peptide", "").lower() in ("true", "yes"):
            cis.append(len(residues))
        residues.append(Residue(chain, number or key[1], name.upper()))
    return residues, keys, cis


def _distances(
    dialect: _Dialect,
    tables: Sequence[tuple[str, list[dict[str, str]]]],
    keys: dict[tuple[str, str], int],
    residues: list[Residue],
) -> list[Restraint]:
    """Return the restraints on distances; residues that no sequence has are appended to it."""
    found = []
    for number, rows in enumerate(rows for name, rows in tables if name == dialect.distances):
        groups: dict[str, list[Row]] = {}
        for k, entry in enumerate(rows):
            label = _value(entry, dialect.identifier) or f"row {k + 1}"
            groups.setdefault(label, []).append(entry)
        for identifier, members in groups.items():
            combinations: dict[str, list[tuple[int, str, int, str]]] = {}
            for k, row in enumerate(members):
                is_and = row.get("member_logic_code", "").upper() == "AND"
                label = row.get(dialect.combination) or ("all" if is_and else f"row {k}")
                one, other = (_end(dialect, row, atom, keys, residues) for atom in (1, 2))
                combinations.setdefault(label, []).append((*one, *other))
            lower, upper = _limits(dialect, members[0])
            name = identifier if number == 0 else f"{identifier} of list {number + 1}"
            found.append(Restraint(name, tuple(map(tuple, combinations.values())), lower, upper))
    return found


def _end(
    dialect: _Dialect,
    row: Row,
    atom: int,
    keys: dict[tuple[str, str], int],
    residues: list[Residue],
) -> tuple[int, str]:
    """Return the position of the residue and the name of one of the two atoms of a row."""
    key = _value(row, dialect.chain, atom), _value(row, dialect.number, atom)
    name = _value(row, dialect.residue, atom).upper()
    if key not in keys:
        keys[key] = len(residues)
        residues.append(Residue(key[0], key[1], name))
    return keys[key], _value(row, dialect.atom, atom)


def _limits(dialect: _Dialect, row: Row) -> tuple[float, float]:
    """Return the bounds of a restraint: as given, or around its target."""
    target, margin = _number(row, (dialect.target,)), _number(row, (dialect.uncertainty,))
    lower, upper = _number(row, dialect.lower), _number(row, dialect.upper)
    lower = target - margin if math.isnan(lower) else lower
    upper = target + margin if math.isnan(upper) else upper
    lower = 0.0 if math.isnan(lower) else max(lower, 0.0)
    return lower, math.inf if math.isnan(upper) or upper <= 0.0 else max(upper, lower)


def _disulfides(
    dialect: _Dialect,
    tables: Sequence[tuple[str, list[dict[str, str]]]],
    keys: dict[tuple[str, str], int],
    residues: Sequence[Residue],
) -> Iterator[tuple[int, int]]:
    """Yield the positions of cysteines that a file says are bonded."""
    for row in (row for name, rows in tables if name == dialect.links for row in rows):
        first, second = (
            keys.get((_value(row, dialect.chain, k), _value(row, dialect.number, k)), -1)
            for k in (1, 2)
        )
        atoms = {_value(row, dialect.atom, k) for k in (1, 2)}
        names = {residues[place].name for place in (first, second) if place >= 0}
        if min(first, second) >= 0 and atoms == {"SG"} and names == {"CYS"}:
            yield first, second


def _unused(tables: Sequence[tuple[str, list[dict[str, str]]]]) -> Iterator[Finding]:
    """Yield what the file holds beside distances."""
    counts: dict[str, int] = {}
    for name, rows in tables:
        if name in UNUSED:
            counts[UNUSED[name]] = counts.get(UNUSED[name], 0) + len(rows)
    for code, n in counts.items():
        yield Finding.of(code, n=n)
