"""Structures of proteins, from the command line."""

import json

import numpy as np
import pytest

from isofold.structure import protein
from support.command_runs import run
from support.peptides import nef_text, peptide

CODES = ["GLY", "ALA", "SER", "VAL", "LEU", "GLY"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a structure and a list of restraints on it."""
    where = tmp_path_factory.mktemp("peptide")
    chain = peptide(CODES)
    protein.write(where / "peptide.pdb", chain)
    bounds = chain.nmr_bounds(keep=1.0, noise=0.0, random_state=0)
    homes = chain.residue_of
    rows = [
        (k, ".", homes[a], chain.atom_names[a], homes[b], chain.atom_names[b], 1.8, f"{high:.2f}")
        for k, ((a, b), high) in enumerate(zip(bounds.pairs, bounds.upper + 0.01, strict=True))
        if high > 1.9
    ]
    (where / "list.nef").write_text(nef_text(CODES, rows))
    return where


def test_a_structure_is_found_and_compared(folder, tmp_path):
    out, page = tmp_path / "found.pdb", tmp_path / "page.html"
    result = run("protein", folder / "peptide.pdb", "-o", out, "--keep", "1", "--core", "2-5",
                 "--report", page)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    table = result.stdout.split("\n\n")[0].replace(" Å", "")
    lines = dict(line.rsplit(None, 1) for line in table.splitlines())
    molecule = protein.read(out)
    assert int(lines["atoms"]) == molecule.n_atoms
    reference = protein.read(folder / "peptide.pdb")
    found = protein.compare(molecule.coordinates, reference, core="2-5")
    # Files keep three decimals, the table three digits.
    assert float(lines["RMSD of the backbone"]) == pytest.approx(found.backbone, abs=2e-3)
    assert float(lines["RMSD of the core"]) == pytest.approx(found.core, abs=2e-3)
    assert found.has_right_hand
    assert f"Wrote {out}." in result.stderr
    assert "<title>peptide.pdb" in page.read_text("utf-8")
    again = run("protein", folder / "peptide.pdb", "-o", out)
    assert again.exit_code == 2
    assert "--force" in again.stderr


def test_a_structure_from_restraints_alone(folder, tmp_path):
    out = tmp_path / "found.cif"
    result = run("protein", "--restraints", folder / "list.nef", "-o", out, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert "RMSD_of_the_backbone" not in told
    molecule = protein.read(out)
    assert molecule.sequence == tuple(CODES)
    compared = run("protein", folder / "peptide.pdb", "--restraints", folder / "list.nef",
                   "-o", tmp_path / "other.cif", "--json")  # fmt: skip
    figures = json.loads(compared.stdout)
    assert figures["bounds"] == told["bounds"]
    assert figures["RMSD_of_the_backbone"] < 1.0
    reference = protein.read(folder / "peptide.pdb")
    shared = {name: k for k, name in enumerate(reference.names)}
    order = [shared[name] for name in molecule.names]
    where = np.empty_like(molecule.coordinates)
    where[order] = molecule.coordinates
    assert protein.compare(where, reference).has_right_hand


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["-o", "out.pdb"], "Name a structure"),
        (["absent.pdb", "-o", "out.pdb"], "there is no such file"),
        (["peptide.pdb", "-o", "out.xyz"], "suffix"),
        (["peptide.pdb", "-o", "peptide.pdb", "--force"], "read and written"),
        (["peptide.pdb", "-o", "out.pdb", "--report", "page.txt"], ".html"),
        (["peptide.pdb", "-o", "out.pdb", "--model", "4"], "it has 1 model"),
        (["peptide.pdb", "-o", "out.pdb", "--core", "70-80"], "0 atoms of the backbone"),
        (["--restraints", "list.nef", "-o", "out.pdb", "--core", "1-3"], "--core needs"),
        (["--restraints", "peptide.pdb", "-o", "out.pdb"], "neither NEF nor NMR-STAR"),
    ],
)
def test_what_cannot_be_done_is_said(folder, monkeypatch, args, text):
    monkeypatch.chdir(folder)
    result = run("protein", *args)
    assert result.exit_code == 2
    assert text in result.stderr
    assert not (folder / "out.pdb").exists()
