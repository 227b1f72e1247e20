"""Restraints of NMR: files, pseudo-atoms, and what is left out."""

import gzip
from itertools import pairwise

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.structure import protein
from isofold.structure.protein.pseudo import carrier_of, named_atoms
from support.peptides import nef_text, peptide

CODES = ["GLY", "ALA", "LEU", "PHE", "VAL", "SER"]
TORSIONS = """save_torsions
  loop_
    _nef_dihedral_restraint.index
    _nef_dihedral_restraint.target_value
    1 60.0
    2 -60.0
  stop_
save_
"""
STAR = """data_2
save_assembly
  loop_
    _Chem_comp_assembly.Entity_assembly_ID
    _Chem_comp_assembly.Comp_index_ID
    _Chem_comp_assembly.Comp_ID
    _Chem_comp_assembly.Auth_asym_ID
    _Chem_comp_assembly.Auth_seq_ID
    1 1 GLY B 11
    1 2 ALA B 12
    1 3 CYS B 13
    1 4 CYS B 14
  stop_
  loop_
    _Bond.ID
    _Bond.Entity_assembly_ID_1
    _Bond.Comp_index_ID_1
    _Bond.Atom_ID_1
    _Bond.Entity_assembly_ID_2
    _Bond.Comp_index_ID_2
    _Bond.Atom_ID_2
    1 1 3 SG 1 4 SG
  stop_
save_
save_distances
  loop_
    _Gen_dist_constraint.ID
    _Gen_dist_constraint.Member_ID
    _Gen_dist_constraint.Member_logic_code
    _Gen_dist_constraint.Entity_assembly_ID_1
    _Gen_dist_constraint.Comp_index_ID_1
    _Gen_dist_constraint.Comp_ID_1
    _Gen_dist_constraint.Atom_ID_1
    _Gen_dist_constraint.Entity_assembly_ID_2
    _Gen_dist_constraint.Comp_index_ID_2
    _Gen_dist_constraint.Comp_ID_2
    _Gen_dist_constraint.Atom_ID_2
    _Gen_dist_constraint.Distance_lower_bound_val
    _Gen_dist_constraint.Distance_upper_bound_val
    1 1 .  1 2 ALA H   1 4 CYS HA  1.8 4.5
    2 1 OR 1 2 ALA HB1 1 4 CYS H   .   5.0
    2 2 OR 1 2 ALA HB2 1 4 CYS H   .   5.0
    2 3 OR 1 2 ALA HB3 1 4 CYS H   .   5.0
    3 1 OR 1 1 GLY HA2 1 3 CYS H   .   4.0
    3 2 OR 1 2 ALA HA  1 3 CYS H   .   4.0
    4 1 .  1 2 ALA MB  1 3 CYS QB  .   .
  stop_
save_
"""


def _read(text, folder):
    path = folder / "list.nef"
    path.write_text(text)
    return protein.read_restraints(path)


def _found(restraints, molecule):
    matched = restraints.bounds(molecule)
    rows = {}
    for name, pair, low, high in zip(
        matched.names, matched.bounds.pairs, matched.bounds.lower, matched.bounds.upper, strict=True
    ):
        ends = tuple(molecule.names[atom].split(" ", 1)[1] for atom in pair)
        rows[name] = (ends, float(low), float(high))
    return rows, {finding.code: finding for finding in matched.findings}


@pytest.mark.parametrize(
    ("residue", "name", "atoms"),
    [
        ("ALA", "HB%", {"HB1", "HB2", "HB3"}),
        ("ALA", "MB", {"HB1", "HB2", "HB3"}),
        ("LEU", "HBx", {"HB2", "HB3"}),
        ("LEU", "QB", {"HB2", "HB3"}),
        ("LEU", "HB1", {"HB2", "HB3"}),
        ("LEU", "HD1%", {"HD11", "HD12", "HD13"}),
        ("LEU", "HDx%", {f"HD{a}{b}" for a in "12" for b in "123"}),
        ("LEU", "QQD", {f"HD{a}{b}" for a in "12" for b in "123"}),
        ("VAL", "MG1", {"HG11", "HG12", "HG13"}),
        ("ILE", "HG1%", {"HG12", "HG13"}),
        ("ILE", "HG1y", {"HG12", "HG13"}),
        ("PHE", "HD%", {"HD1", "HD2"}),
        ("PHE", "QE", {"HE1", "HE2"}),
        ("GLY", "HA%", {"HA2", "HA3"}),
        ("ARG", "HH2*", {"HH21", "HH22"}),
        ("SER", "HN", {"H"}),
        ("SER", "O", {"O"}),
        ("SER", "HD1", set()),
        ("Z0Z", "H", set()),
    ],
)
def test_names_of_several_atoms(residue, name, atoms):
    assert named_atoms(residue, name) == atoms


def test_carriers_are_near_all_that_they_stand_for():
    cases = (("ALA", "HB%", "CB", 1.1), ("LEU", "HD%", "CG", 2.2), ("PHE", "HE%", "CZ", 2.2))
    for residue, name, atom, most in cases:
        carrier = carrier_of(residue, named_atoms(residue, name))
        assert carrier.atom == atom
        assert most - 0.1 < carrier.correction < most + 0.05
    # No atom is within two bonds of all hydrogens of a phenyl ring.
    assert carrier_of("PHE", frozenset({"HD1", "HE2", "HZ"})) is None


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_carriers_are_never_wrong(seed, tmp_path):
    # One of the named hydrogens is as near as the restraint says, at any torsions.
    chain = peptide(CODES, seed)
    where, pairs = chain.coordinates, []
    names = (("HB%", 1), ("HD%", 2), ("HD1%", 2), ("HE%", 3), ("HG%", 4), ("HBx", 5), ("HA%", 0))
    atoms = {}
    for name, home in names:
        wanted = named_atoms(CODES[home], name)
        atoms[name] = [
            k for k in range(chain.n_atoms)
            if chain.residue_of[k] == home and chain.atom_names[k] in wanted
        ]  # fmt: skip
    for number, ((one, a), (other, b)) in enumerate(pairwise(names)):
        gaps = np.linalg.norm(where[atoms[one]][:, None] - where[atoms[other]][None], axis=2)
        pairs.append((number, ".", a, one, b, other, gaps.min(), gaps.min()))
    pairs = [pair for pair in pairs if pair[2] != pair[4]]
    matched = _read(nef_text(CODES, pairs), tmp_path).bounds(chain)
    assert len(matched.bounds) == len(pairs)
    first, second = matched.bounds.pairs.T
    found = np.linalg.norm(where[first] - where[second], axis=1)
    # Ideal distances from carriers differ a little between groups and the dictionary.
    assert (found < matched.bounds.upper + 0.05).all()
    assert (found > matched.bounds.lower - 0.05).all()


def test_a_nef_file(tmp_path):
    text = nef_text(
        CODES,
        [
            (1, ".", 1, "H", 2, "HA", 1.8, 4.0),
            (2, ".", 1, "HB%", 3, "HA", 1.8, 5.0),
            (3, ".", 2, "HBx", 4, "H", ".", 5.0),
            (4, ".", 1, "H", 3, "H", 1.8, 4.0),
            (4, ".", 2, "H", 4, "H", 1.8, 4.0),
            (5, 1, 1, "H", 2, "H", ".", 3.0),
            (5, 1, 2, "H", 3, "H", ".", 3.0),
            (6, ".", 1, "HX9", 2, "H", ".", 3.0),
            (7, ".", 1, "HB1", 1, "HB%", ".", 3.0),
            (8, ".", 1, "HB%", 1, "CB", ".", 3.0),
        ],
        TORSIONS,
    )
    restraints = _read(text, tmp_path)
    assert [finding.code for finding in restraints.findings] == ["torsions_unused"]
    assert "2 restraints on torsions" in restraints.findings[0].message()
    molecule = restraints.molecule()
    assert molecule.sequence == tuple(CODES)
    rows, findings = _found(restraints, molecule)
    assert rows["1"] == (("ALA H", "LEU HA"), 1.8, 4.0)
    ends, low, high = rows["2"]
    assert ends == ("ALA CB", "PHE HA")
    assert 0.65 < low < 0.75
    assert 6.05 < high < 6.15
    assert rows["3"][0] == ("LEU CB", "VAL H")
    assert rows["5"] == (("LEU H", "PHE H"), 0.0, 3.0)
    assert sorted(rows) == ["1", "2", "3", "5", "7"]
    assert dict(findings["restraints_ambiguous"].parameters)["which"] == "4"
    assert dict(findings["restraints_unknown"].parameters)["which"] == "6"
    assert dict(findings["restraints_trivial"].parameters)["which"] == "8"
    assert findings["restraints_unknown"].is_raised
    packed = tmp_path / "list.nef.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert len(protein.read_restraints(packed).distances) == len(restraints.distances)


def test_an_nmr_star_file(tmp_path):
    restraints = _read(STAR, tmp_path)
    assert restraints.disulfides == ((2, 3),)
    assert str(restraints.residues[0]) == "B/11 GLY"
    assert [finding.code for finding in restraints.findings] == ["restraints_unbounded"]
    molecule = restraints.molecule()
    rows, findings = _found(restraints, molecule)
    assert rows["1"] == (("ALA H", "CYS HA"), 1.8, 4.5)
    # Three hydrogens of one methyl are no ambiguity: their carbon stands for them.
    assert rows["2"][0] == ("ALA CB", "CYS H")
    assert dict(findings["restraints_ambiguous"].parameters)["which"] == "3"


def test_numbers_may_be_shifted(tmp_path):
    restraints = _read(nef_text(CODES, [(1, ".", 1, "H", 3, "HA", 1.8, 4.0)], first=101), tmp_path)
    chain = peptide(CODES)
    rows, findings = _found(restraints, chain)
    assert rows["1"] == (("ALA H", "PHE HA"), 1.8, 4.0)
    assert not findings
    # One residue more, which the molecule does not have.
    text = nef_text([*CODES, "TRP"], [(1, ".", 1, "H", 3, "HA", 1.8, 4.0)])
    assert set(_found(_read(text, tmp_path), chain)[1]) == {"residues_unmatched"}
    with pytest.raises(InvalidInputError, match="None of 1 restraints"):
        restraints.bounds(peptide("WWWWWW"))


def test_hydrogens_that_a_structure_lacks_are_carried(tmp_path):
    chain = peptide(CODES)
    heavy = np.flatnonzero(~chain.is_hydrogen)
    path = tmp_path / "heavy.pdb"
    protein.write(path, chain)
    kept = [line for line in path.read_text().splitlines() if line[76:78] != " H"]
    path.write_text("\n".join(kept))
    molecule = protein.read(path)
    assert molecule.n_atoms == len(heavy)
    restraints = _read(nef_text(CODES, [(1, ".", 1, "H", 3, "HA", 1.8, 4.0)]), tmp_path)
    ((ends, low, high),) = _found(restraints, molecule)[0].values()
    assert ends == ("ALA N", "PHE CA")
    assert high > 6.0
    assert low == 0.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("assign (resid 1 and name HA) (resid 2 and name HN) 4 2 1", "neither NEF nor NMR-STAR"),
        ("data_x\n_a.b 1\n", "no restraints on distances"),
        (nef_text(CODES, [(1, ".", 1, "H", 2, "H", ".", ".")]), "have no bounds"),
    ],
)
def test_what_is_no_list_of_restraints_is_refused(text, told, tmp_path):
    with pytest.raises(InvalidInputError, match=told):
        _read(text, tmp_path)


def test_a_list_without_a_sequence_needs_a_structure(tmp_path):
    text = nef_text([], []).replace("_nef_sequence.", "_other.").replace("\n\n", "\n")
    row = "1 1 . A 2 ALA H A 4 PHE HA . . 1.8 4.0"
    text = text.replace("_nef_distance_restraint.upper_limit\n",
                        f"_nef_distance_restraint.upper_limit\n    {row}\n")  # fmt: skip
    text = text[: text.index("save_nef_molecular")] + text[text.index("save_nef_distance") :]
    restraints = _read(text, tmp_path)
    rows, _ = _found(restraints, peptide(CODES))
    assert rows["1"][0] == ("ALA H", "PHE HA")
