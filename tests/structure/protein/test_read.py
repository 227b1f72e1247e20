"""Reading structures: whatever is left out or repaired is named."""

import gzip

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.structure import protein
from support.peptides import pdb_lines, peptide

WATER = "HETATM 9001  O   HOH A 201      10.000  10.000  10.000  1.00  0.00           O"
ZINC = "HETATM 9002 ZN    ZN A 202      12.000  10.000  10.000  1.00  0.00          ZN"
UNKNOWN = [
    "HETATM 9003  C1  Z0Z A 203      30.000  10.000  10.000  1.00  0.00           C",
    "HETATM 9004  O1  Z0Z A 203      31.200  10.000  10.000  1.00  0.00           O",
]


@pytest.fixture(scope="module")
def chain():
    """Return a short peptide at random torsions."""
    return peptide("GASVL")


def _saved(lines, folder, name="changed.pdb"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def _codes(molecule):
    return [finding.code for finding in molecule.findings]


def _before_end(lines, added):
    atoms = [k for k, line in enumerate(lines) if line.startswith("ATOM")]
    return [*lines[: atoms[-1] + 1], *added, *lines[atoms[-1] + 1 :]]


@pytest.mark.parametrize("name", ["peptide.pdb", "peptide.cif", "peptide.ent", "peptide.mmcif"])
def test_what_is_written_is_read(chain, tmp_path, name):
    protein.write(tmp_path / name, chain)
    back = protein.read(tmp_path / name)
    assert (back.atom_names, back.elements, back.residues) == (
        chain.atom_names, chain.elements, chain.residues,
    )  # fmt: skip
    assert np.abs(back.coordinates - chain.coordinates).max() <= 0.0005 + 1e-9
    assert np.array_equal(back.bonds, chain.bonds)
    assert not back.findings
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert protein.read(packed).atom_names == chain.atom_names
    with pytest.raises(InvalidInputError, match="overwrite=True"):
        protein.write(tmp_path / name, chain)


def test_water_ions_and_unknown_residues_are_named(chain, tmp_path):
    lines = _before_end(pdb_lines(chain, tmp_path), [WATER, ZINC, *UNKNOWN])
    molecule = protein.read(_saved(lines, tmp_path))
    assert molecule.n_atoms == chain.n_atoms + 2
    assert _codes(molecule) == ["single_ions", "waters", "unknown_residues"]
    # The unknown residue is bonded by distance.
    assert [chain.n_atoms, chain.n_atoms + 1] in molecule.bonds.tolist()
    texts = " ".join(finding.message() for finding in molecule.findings)
    assert "A/202 ZN" in texts
    assert "1 molecule of water is left out." in texts
    assert "A/203 Z0Z" in texts


def test_models_are_counted_from_one(chain, tmp_path):
    atoms = [line for line in pdb_lines(chain, tmp_path) if line.startswith("ATOM")]
    moved = [f"{line[:30]}{float(line[30:38]) + 1:8.3f}{line[38:]}" for line in atoms]
    lines = ["MODEL        1", *atoms, "ENDMDL", "MODEL        2", *moved, "ENDMDL", "END"]
    path = _saved(lines, tmp_path)
    first, second = protein.read(path), protein.read(path, model=2)
    assert np.allclose(second.coordinates - first.coordinates, [1, 0, 0])
    assert _codes(first) == ["other_models"]
    with pytest.raises(InvalidInputError, match="it has 2 models, but model=3"):
        protein.read(path, model=3)


def test_the_location_with_the_most_atoms_is_taken(chain, tmp_path):
    lines = []
    for line in pdb_lines(chain, tmp_path):
        if line.startswith("ATOM") and line[17:26] == "SER A   3" and line[12:16].strip() == "HG":
            lines.append(f"{line[:16]}B{line[17:]}")
        elif line.startswith("ATOM") and line[17:26] == "SER A   3" and "OG" in line[12:16]:
            lines += [f"{line[:16]}A{line[17:]}", f"{line[:16]}B{line[17:]}"]
        else:
            lines.append(line)
    path = _saved(lines, tmp_path)
    molecule = protein.read(path)
    assert molecule.atom_names == chain.atom_names
    assert molecule.findings[0].message().endswith("A/3 SER (B).")
    assert protein.read(path, altloc="A").n_atoms == chain.n_atoms - 1
    with pytest.raises(InvalidInputError, match="altloc"):
        protein.read(path, altloc="most")


def test_the_first_of_two_residues_with_one_number(chain, tmp_path):
    lines = pdb_lines(chain, tmp_path)
    last = max(k for k, line in enumerate(lines) if line[17:26] == "SER A   3")
    other = "HETATM 9005  N   THR A   3      10.000  10.000  10.000  1.00  0.00           N"
    lines.insert(last + 1, other)
    molecule = protein.read(_saved(lines, tmp_path))
    assert molecule.sequence == chain.sequence
    assert _codes(molecule) == ["double_residues"]


def test_elements_come_from_names(chain, tmp_path):
    lines = [
        line[:76].ljust(80) if line.startswith("ATOM") else line
        for line in pdb_lines(chain, tmp_path)
    ]
    molecule = protein.read(_saved(lines, tmp_path))
    assert molecule.elements == chain.elements
    lines = [line.replace("           C", "          CA") for line in pdb_lines(chain, tmp_path)]
    molecule = protein.read(_saved(lines, tmp_path))
    assert molecule.elements == chain.elements
    assert _codes(molecule) == ["elements_repaired"]


def test_names_of_other_programs_are_understood(tmp_path):
    chain = peptide("GIL")
    renamed = []
    for line in pdb_lines(chain, tmp_path):
        name = line[12:16].strip()
        if line.startswith("ATOM"):
            if line[17:20] == "ILE" and name in ("CD1", "HD11", "HD12", "HD13"):
                name = {"CD1": "CD"}.get(name, f"HD{name[-1]}")
            elif name == "H":
                name = "HN"
            elif line[17:20] == "LEU" and name in ("HB2", "HB3"):
                name = f"HB{int(name[-1]) - 1}"
        column = name if len(name) == 4 else f" {name:<3}"
        renamed.append(f"{line[:12]}{column}{line[16:]}" if line.startswith("ATOM") else line)
    molecule = protein.read(_saved(renamed, tmp_path))
    assert np.array_equal(molecule.bonds, chain.bonds)
    # HB1 and HB2 are swapped by the hand that they have in the file.
    ideal, own = molecule.groups(), chain.groups()
    for one, other in zip(ideal, own, strict=True):
        assert np.allclose(one.pairs()[1], other.pairs()[1], atol=1e-6)


def test_missing_hydrogens_atoms_and_residues_are_named(chain, tmp_path):
    lines = [line for line in pdb_lines(chain, tmp_path) if line[76:78] != " H"]
    molecule = protein.read(_saved(lines, tmp_path))
    assert _codes(molecule) == ["no_hydrogens"]
    with pytest.raises(InvalidInputError, match="no hydrogens"):
        molecule.nmr_bounds()
    # Peptide planes are flat without their hydrogens, too.
    dimensions = protein.group_dimensions(molecule.groups())
    assert (dimensions == 2).sum() >= 4
    lines = [line for line in lines if line[17:26] != "SER A   3" and line[12:16] != " CG1"]
    molecule = protein.read(_saved(lines, tmp_path))
    assert _codes(molecule) == ["no_hydrogens", "chain_breaks", "missing_atoms"]
    assert "A/2 ALA and 4 VAL" in molecule.findings[1].message()


def test_bonds_of_strange_lengths_are_named(chain, tmp_path):
    lines = pdb_lines(chain, tmp_path)
    places = {line[12:26]: k for k, line in enumerate(lines) if line.startswith("ATOM")}
    one, other = places[" CB  ALA A   2"], places[" HB1 ALA A   2"]
    lines[other] = f"{lines[other][:30]}{lines[one][30:54]}{lines[other][54:]}"
    molecule = protein.read(_saved(lines, tmp_path))
    assert _codes(molecule) == ["strange_bonds"]
    assert "A/2 ALA CB and A/2 ALA HB1 (0.00 Å)" in molecule.findings[0].message()
    assert molecule.groups("structure")


def test_cis_bonds_are_seen(tmp_path):
    chain = peptide("GAG", cis=[2])
    molecule = protein.read(_saved(pdb_lines(chain, tmp_path), tmp_path))
    assert molecule.cis.tolist() == chain.cis.tolist()
    assert _codes(molecule) == ["cis_peptides"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "it is empty"),
        (b"   \n \n", "it is empty"),
        (b"a,b\n1,2\n", "neither a PDB nor an mmCIF file"),
        (b"\x89PNG\r\n\0\0\0", "not a text"),
        (b"\x1f\x8b\x08\x00damaged", "compressed, but damaged"),
        (b"data_x\n_cell.length_a 10\n", "it holds no atoms"),
        (b"data_x\nloop_\n_atom_site.id\n_atom_site.type_symbol\n1 N 2\n", "it is damaged"),
        (f"{WATER}\nEND\n".encode(), "only water"),
        (f"{UNKNOWN[0]}\n{UNKNOWN[1].replace('  31.200', '     nan')}".encode(), "no finite"),
    ],
)
def test_what_is_no_structure_is_refused(data, text, tmp_path):
    path = tmp_path / "file.pdb"
    path.write_bytes(data)
    with pytest.raises(InvalidInputError, match=text) as seen:
        protein.read(path)
    assert "file.pdb" in str(seen.value)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no such file"):
        protein.read(tmp_path / "absent.pdb")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        protein.read(tmp_path)


def test_what_cannot_be_written_is_refused(chain, tmp_path):
    with pytest.raises(InvalidInputError, match="suffix"):
        protein.write(tmp_path / "structure.xyz", chain)
    with pytest.raises(InvalidInputError, match="no coordinates"):
        protein.write(tmp_path / "structure.pdb", protein.from_sequence("G"))
    with pytest.raises(InvalidInputError, match="one row of three finite numbers"):
        protein.write(tmp_path / "structure.pdb", chain, np.zeros((3, 3)))
    long = protein.from_sequence("G", chain="LONG")
    with pytest.raises(InvalidInputError, match="no room"):
        protein.write(tmp_path / "structure.pdb", long, np.zeros((long.n_atoms, 3)))
    assert not list(tmp_path.iterdir())
