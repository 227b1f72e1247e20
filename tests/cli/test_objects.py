"""Maps of objects that are not rows of numbers, from the command line."""

import inspect

import numpy as np
import pytest

from isofold import similarity
from isofold.cli.steps.method import FitOptions, make_estimator
from isofold.cli.steps.similarity import COMPARISONS, DEFAULTS, make_comparison
from isofold.embedding.catalog import BY_SHELL_NAME
from support.command_runs import read_csv, run

LETTERS = list("ACDEFGHIKLMNPQRSTVWY")


@pytest.fixture
def fasta(tmp_path):
    """Return a file of two families of ten mutated sequences each."""
    rng, lines = np.random.RandomState(0), []
    for family in ("kinase", "globin"):
        base = rng.choice(LETTERS, 40)
        for member in range(10):
            changed = rng.rand(40) < 0.15
            sequence = np.where(changed, rng.choice(LETTERS, 40), base)
            lines.append(f">{family}{member} {family}\n{''.join(sequence)}\n")
    path = tmp_path / "proteins.fasta"
    path.write_text("".join(lines))
    return path


def test_a_map_of_sequences(fasta, tmp_path):
    target, page = tmp_path / "map.csv", tmp_path / "page.html"
    # Fewer neighbors than a family has members: else some are of the other family.
    result = run("embed", fasta, "-o", target, "--report", page, "--label", "description",
                 "-m", "neighbor-map", "-k", "5")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "Read proteins.fasta: 20 sequences." in result.stderr
    assert "Compared 190 pairs by spectrum" in result.stderr
    rows = read_csv(target)
    assert list(rows[0])[:5] == ["row", "name", "description", "x1", "x2"]
    assert [row["name"] for row in rows[::10]] == ["kinase0", "globin0"]
    Y = np.array([[float(row["x1"]), float(row["x2"])] for row in rows])
    families = np.array([row["description"] for row in rows])
    gaps = np.linalg.norm(Y[:, None] - Y, axis=2) + np.diag(np.full(20, np.inf))
    assert (families[gaps.argmin(axis=1)] == families).all()
    shown = page.read_text("utf-8")
    assert "20 rows, mapped to 2 dimensions: NeighborMap" in shown
    assert '{"name": "name", "kind": "class"' in shown
    assert "distances_from_kernel(SpectrumKernel(length=3, normalize=True)(sequences))" in shown


def test_another_similarity_and_another_file(fasta, tmp_path):
    target = tmp_path / "map.npz"
    typed = "mismatch:length=3,mismatches=1,alphabet=ACDEFGHIKLMNPQRSTVWY"
    result = run("embed", fasta, "-o", target, "--similarity", typed, "-m", "local-mds")
    assert result.exit_code == 0, result.stderr
    with np.load(target) as arrays:
        assert arrays["name"][0] == "kinase0"
        assert arrays["embedding"].shape == (20, 2)


@pytest.mark.parametrize("similarity", ["spectrum", "edit:normalize=true"])
def test_a_method_of_kernels_takes_both(fasta, tmp_path, similarity):
    target, page = tmp_path / "map.csv", tmp_path / "page.html"
    result = run("embed", fasta, "-o", target, "-m", "kernel-eigenmaps", "-k", "5",
                 "--similarity", similarity, "--report", page)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert len(read_csv(target)) == 20
    assert page.exists()
    again = run("embed", fasta, "-o", target, "--force", "-m", "kernel-eigenmaps", "-k", "5",
                "--similarity", similarity)  # fmt: skip
    figures = [line for line in result.stderr.splitlines() if "trustworthiness  " in line]
    assert figures == [line for line in again.stderr.splitlines() if "trustworthiness  " in line]
    assert len(figures) == 1


@pytest.mark.parametrize("method", BY_SHELL_NAME)
def test_every_method_takes_objects(method):
    made = make_estimator(FitOptions(method), metric="precomputed").get_params(deep=False)
    assert "precomputed" in (made.get("metric"), made.get("kernel"))


def test_molecules_and_those_that_cannot_be_read(tmp_path):
    smiles = [f"{'C' * n}O alcohol{n}" for n in range(1, 8)]
    smiles += ["c1ccccc1( broken", *(f"c1ccccc1{'C' * n} ring{n}" for n in range(7))]
    path, target = tmp_path / "some.smi", tmp_path / "map.csv"
    path.write_text("\n".join(smiles))
    result = run("embed", path, "-o", target, "-m", "local-mds", "-k", "4")
    assert result.exit_code == 0, result.stderr
    assert "14 of 15 molecules" in result.stderr
    rows = read_csv(target)
    named = [(row["row"], row["name"]) for row in rows[6:8]]
    assert named == [("6", "alcohol7"), ("8", "ring0")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--object", "molecules"], "holds sequences, not molecules"),
        (["--similarity", "wl"], "does not compare sequences"),
        (["--similarity", "spectrum:size=3"], "has no parameter 'size'; it has length, normalize"),
        (["--similarity", "spectrum:length=0"], "length=0 must be a whole number"),
        (["--similarity", "spectrum:length"], "is not of the form"),
        (["--label", "color"], "They have 'description' and 'length'"),
        (["--model", "m.iso"], "--model keeps no objects"),
        (["--scale", "standard"], "--scale is for columns of numbers"),
    ],
)
def test_what_does_not_fit_is_refused(fasta, tmp_path, options, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("embed", fasta, "-o", "map.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "map.csv").exists()


def test_a_similarity_of_a_table_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    result = run("embed", path, "-o", tmp_path / "map.csv", "--similarity", "edit")
    assert result.exit_code == 2
    assert "say with --object what they are" in result.stderr


def test_every_comparison_can_be_made_and_every_kind_has_one():
    for name, comparison in COMPARISONS.items():
        for kind in comparison.kinds:
            made = make_comparison(name, kind)
            assert type(made).__name__ == comparison.name
            assert comparison.name in similarity.__all__
    for kind, text in DEFAULTS.items():
        assert make_comparison(text, kind) is not None
    assert make_comparison("tfidf:analyzer=char,n_gram=[2,3]", "texts").n_gram == (2, 3)
    assert make_comparison("subsequence:decay=0.7", "strings").decay == 0.7
    assert inspect.isabstract(similarity.ObjectKernel)
