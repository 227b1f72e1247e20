"""Tables of structures count what they say, and compare what belongs together."""

import io
import tarfile

import numpy as np
import pytest
from experiments.structure.measures import NOTHING, judged
from experiments.structure.molecules import Protein, load
from experiments.structure.protein_pictures import draw_traces
from experiments.structure.proteins import _counted, _hinges
from matplotlib.figure import Figure

from support.peptide import PEPTIDE

FAR_AWAY = """\
HETATM   38  C1  EDO B   1      60.000   0.000   0.000  1.00 20.00           C
HETATM   39  O1  EDO B   1      61.400   0.000   0.000  1.00 20.00           O
"""


@pytest.fixture(scope="module")
def peptide(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    with tarfile.open(folder / "stand_in-1.tar.gz", "w:gz") as archive:
        content = (FAR_AWAY + PEPTIDE).encode()
        member = tarfile.TarInfo("stand_in-1/peptide.pdb")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOFOLD_DATA", str(folder))
        return load(Protein("peptide", "stand_in", "peptide.pdb"))


def test_only_the_chain_is_taken(peptide):
    assert peptide.n_atoms == PEPTIDE.count("ATOM")
    assert [residue.name for residue in peptide.residues] == ["ALA", "TRP"]
    lengths = np.linalg.norm(np.diff(peptide.coordinates[peptide.bonds], axis=1), axis=2)
    # Bonds of hydrogen and of carbon, nitrogen and oxygen: they belong to the right atoms.
    assert 0.8 < lengths.min() < lengths.max() < 1.7


def test_a_mirror_image_is_judged_as_one(peptide):
    problem = peptide.problem(geometry="structure", bounds=peptide.nmr_bounds(random_state=0))
    one = Protein("peptide", "stand_in", "peptide.pdb")
    true = judged(one, peptide, problem, peptide.coordinates)
    assert true["right hand"]
    assert true["centers"] == 1.0
    # Bounds are no shorter than the distances that they are made from.
    assert true["core"] == pytest.approx(0.0, abs=1e-9)
    assert true["worst violation"] == pytest.approx(0.0, abs=1e-9)
    mirrored = judged(one, peptide, problem, peptide.coordinates * [1.0, 1.0, -1.0])
    assert not mirrored["right hand"]
    assert mirrored["centers"] == 0.0
    assert mirrored["worst violation"] == pytest.approx(0.0, abs=1e-9)


def test_hinges_are_shared_bonds():
    assert _hinges([[0, 1, 2], [1, 2, 3], [3, 4]]) == 1
    # A bond that three groups share makes two hinges.
    assert _hinges([[0, 1, 2], [1, 0, 3], [4, 0, 1]]) == 2


def test_flags_and_failures_are_counted():
    def run(core, hand, findings, law="a"):
        return {"law": law, "core": core, "right hand": hand, "findings": findings}

    rows = [
        run(0.5, True, NOTHING),
        run(0.5, True, "bounds_violated"),
        run(3.0, True, "bounds_violated"),
        run(3.0, True, NOTHING, "b"),
        run(0.5, False, NOTHING, "b"),
    ]
    first, second, every = (list(row.values()) for row in _counted(rows))
    assert first == ["a", 3, 1, 0, 0, 1, 1]
    assert second == ["b", 2, 0, 2, 1, 0, 0]
    assert every == ["all", 5, 1, 2, 1, 1, 1]


def test_traces_name_their_distance(peptide, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *_, **__: seen.extend(a.get_title() for a in self.axes)
    )
    shifted = np.add(peptide.coordinates, [0.0, 0.3, 0.4])
    draw_traces(peptide, {"own": peptide.coordinates, "shifted": shifted}, tmp_path / "x.png")
    assert seen == ["own: 0.00 Å", "shifted: 0.50 Å"]
