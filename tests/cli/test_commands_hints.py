"""Maps that are measured against data as they were not made of, and other traps for users."""

import os
import re
import sys
import warnings

import numpy as np
import pytest

from isofold import IPA, load, reports
from isofold._findings import SHELL, Severity
from support.command_runs import read_csv, run, write_array, write_csv

ASKED = "Was the map made with --scale"


@pytest.fixture
def sheet(tmp_path):
    """A sheet whose columns have different units, and a gap, in a folder of its own."""
    X = np.load(write_array(tmp_path / "sheet.npy")) * [1.0, 1000.0, 1.0]
    rows = [["" if i == 7 else x, y, z] for i, (x, y, z) in enumerate(X)]
    return write_csv(tmp_path / "sheet.csv", ["x", "y", "z"], rows)


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_a_map_of_scaled_columns_is_recognized(ending, sheet):
    out = sheet.with_name(f"map.{ending}")
    run("embed", sheet, "-o", out, "-m", "ipa", "--scale", "standard")
    same = run("evaluate", sheet, out, "--scale", "standard")
    assert same.exit_code == 0, same.stderr
    assert ASKED not in same.stderr
    other = run("evaluate", sheet, out, "--quiet")
    assert f"warning: {ASKED} standard?" in other.stderr
    page = run("report", sheet, out, "-o", sheet.with_name(f"{ending}.html"))
    assert f"warning: {ASKED} standard?" in page.stderr


def test_a_map_of_columns_as_they_are_is_recognized(sheet):
    out = sheet.with_name("map.csv")
    run("embed", sheet, "-o", out, "-m", "ipa")
    assert ASKED not in run("evaluate", sheet, out).stderr
    assert f"{ASKED} none?" in run("evaluate", sheet, out, "--scale", "standard").stderr


def test_a_map_of_filled_rows_is_told_from_one_without_them(sheet):
    out = sheet.with_name("map.npz")
    run("embed", sheet, "-o", out, "-m", "ipa", "--missing", "median")
    result = run("evaluate", sheet, out)
    assert result.exit_code == 2
    assert "--missing median" in result.stderr
    assert run("evaluate", sheet, out, "--missing", "median").exit_code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_of_files_need_not_be_text(ending, sheet):
    strange = sheet.with_name(os.fsdecode(b"caf\xe9"))
    words = ["-m", "ipa", "--force"]
    outputs = [f"{strange}.{end}" for end in (ending, "iso", "html")]
    first = run("embed", sheet, "-o", outputs[0], "--model", outputs[1], *words)
    assert first.exit_code == 0, first.stderr
    # A map is a table, too.
    again = run("embed", outputs[0], "-o", f"{strange}2.csv", "--report", outputs[2], *words)
    assert again.exit_code == 0, again.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("embed FILE -o m.csv -m ipa -d 4", "--n-components 3"),
        ("embed FILE -o m.csv -m plml -d 4", "--n-components 3"),
        ("embed FILE -o m.csv -m auto -d 4", "--n-components 3"),
        ("embed FILE -o m.csv -m local-mds --jobs 0", "--jobs 0 must be"),
        ("embed FILE -o m.csv -m ipa --set n_patches=0", "--set n_patches=0 must be"),
        ("embed FILE -o m.csv -m ipa --set n_patches=90", "Pass at most --set n_patches="),
        ("embed FILE -o m.csv -m ipa --set chart=round", "--set chart=round is unknown"),
        ("embed FILE -o m.csv -m mvu --set angles=3", "--set angles=3 must be"),
        ("embed FILE -o m.csv -m plml --set merge=isomap -d 1", "Use --set merge=parallel"),
        ("embed FILE -o m.csv --set tolerance=2", "--set tolerance=2 must be"),
        ("embed FILE -o m.csv --max-seconds inf", "--max-seconds inf must be"),
        ("evaluate sheet.npy sheet.npy -k 40", "Pass --n-neighbors <= 29"),
        ("datasets swiss_roll --noise 1e300", "Pass --noise 0.0"),
        ("datasets holed_swiss_roll --rows 1", "--rows 1 must be"),
    ],
)
def test_errors_of_methods_name_options(words, named, sheet, monkeypatch):
    monkeypatch.chdir(sheet.parent)
    result = run(*(sheet.name if word == "FILE" else word for word in words.split()))
    assert result.exit_code == 2, result.stderr
    assert named in result.stderr
    assert not re.search(r"(?<!--set )\b[a-z]+_[a-z]+=|n_components|n_neighbors", result.stderr)


def test_doubts_are_those_of_the_model_with_options_in_place_of_parameters(tmp_path):
    ball = tmp_path / "ball.npy"
    np.save(ball, np.random.RandomState(0).randn(60, 12))
    result = run("embed", ball, "--model", tmp_path / "m.iso", "-m", "ipa", "--quiet")
    diagnosis = load(tmp_path / "m.iso").diagnosis_
    doubts = [f"warning: {finding.text(SHELL)}" for finding in diagnosis.raised]
    assert result.stderr.splitlines() == doubts
    assert len(doubts) > 1
    assert "--n-components" in result.stderr


def test_a_decision_is_told_once_without_what_is_shown_elsewhere(tmp_path):
    ball = tmp_path / "ball.npy"
    np.save(ball, np.random.RandomState(0).randn(60, 12))
    result = run("embed", ball, "--model", tmp_path / "m.iso", "--max-seconds", 2)
    model = load(tmp_path / "m.iso")
    for finding in model.decision_.findings:
        n_shown = 0 if finding.code == "quality" or finding.severity is Severity.CHECKED else 1
        assert result.stderr.count(finding.text(SHELL)) == n_shown, finding
    assert f"warning: {model.diagnosis_['lost_distances'].text(SHELL)}" in result.stderr


def test_warnings_of_other_libraries_are_notes(tmp_path, monkeypatch):
    fit = IPA.fit

    def warn(self, X, y=None):
        warnings.warn("a library\nwarns", RuntimeWarning, stacklevel=2)
        warnings.warn("something is old", DeprecationWarning, stacklevel=2)
        return fit(self, X, y)

    monkeypatch.setattr(IPA, "fit", warn)
    flat = write_array(tmp_path / "flat.npy")
    result = run("embed", flat, "-o", tmp_path / "m.csv", "-m", "ipa", "--strict")
    assert result.exit_code == 0, result.stderr
    assert "note: a library warns\n" in result.stderr
    assert "something is old" not in result.stderr


def test_pages_number_rows_as_the_file_does(sheet, monkeypatch):
    given = []
    make = reports.make_report
    monkeypatch.setattr(
        reports, "make_report", lambda *args, **how: given.append(how) or make(*args, **how)
    )
    run("embed", sheet, "-m", "ipa", "--report", sheet.with_name("page.html"))
    assert given[0]["row_numbers"].tolist() == [i for i in range(60) if i != 7]


def test_options_that_would_do_nothing_are_refused(sheet):
    model, page = sheet.with_name("m.iso"), sheet.with_name("m.html")
    run("embed", sheet, "--model", model, "-m", "ipa", "--scale", "standard")
    result = run("report", sheet, "--model", model, "-o", page, "--scale", "none")
    assert result.exit_code == 2
    assert "leave out --scale" in result.stderr
    assert run("report", sheet, "--model", model, "-o", page).exit_code == 0


def test_ctrl_c_keeps_what_methods_before_have_found(sheet, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("isofold.LocalMDS.fit", stop)
    table = sheet.with_name("table.csv")
    result = run("compare", sheet, "-m", "pca,local-mds,ipa", "-o", table)
    assert result.exit_code == 130
    assert "local-mds was interrupted; methods after it were not run" in result.stderr
    assert [row["method"] for row in read_csv(table)] == ["pca", "local-mds"]
    assert "pca" in result.stdout
    assert run("compare", sheet, "-m", "local-mds,pca").stdout == ""


def test_rows_without_label_are_told(tmp_path):
    rows = [
        [x, y, "" if i < 3 else "ab"[i % 2]]
        for i, (x, y) in enumerate(np.random.RandomState(0).rand(9, 2))
    ]
    path = write_csv(tmp_path / "t.csv", ["x", "y", "kind"], rows)
    result = run("evaluate", path, path, "--label", "kind")
    assert result.exit_code == 0, result.stderr
    assert "3 rows have no label" in result.stderr


def test_a_small_file_has_smaller_neighborhoods(tmp_path):
    path = write_csv(tmp_path / "t.csv", ["x", "y"], np.random.RandomState(0).rand(9, 2))
    assert "4 neighbors" in run("evaluate", path, path).stdout
    result = run("evaluate", path, path, "-k", "5")
    assert result.exit_code == 2
    assert "Pass --n-neighbors <= 4" in result.stderr
