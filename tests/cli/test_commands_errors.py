"""What goes wrong: one line, an exit code, and no partial file."""

import numpy as np
import pytest

from isofold import IPA
from isofold.cli.console import clean
from isofold.cli.steps.outputs import Outputs
from isofold.exceptions import InvalidInputError
from support.command_runs import read_csv, run, run_program, write_array, write_csv, write_roll
from support.fuzzed_files import write_all

# By a program of its own: each takes a second to start.
N_BY_PROGRAM = 4


def assert_one_line(result, code=2):
    stderr = result.stderr
    assert getattr(result, "exit_code", getattr(result, "returncode", None)) == code, stderr
    assert stderr.startswith("isofold: error: "), stderr
    assert len(stderr.splitlines()) == 1, stderr
    assert stderr.endswith("\n")
    assert "Traceback" not in stderr
    assert result.stdout == ""


@pytest.fixture
def sheet(tmp_path):
    return write_array(tmp_path / "sheet.npy")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["embed"], "FILE"),
        (["embed", "a.csv"], "-o OUT"),
        (["embed", "a.csv", "--bad"], "--bad"),
        (["embed", "a.csv", "-o", "b.csv", "-m", "best"], "best"),
        (["embed", "a.csv", "-o", "b.csv", "-d", "0"], "0"),
        (["embed", "a.csv", "-o", "b.csv", "-d", "two"], "two"),
        (["embed", "a.csv", "-o", "b.csv", "-d", "auto", "-m", "mvu"], "auto or ipa"),
        (["embed", "a.csv", "-o", "b.csv", "-m", "ipa", "--max-seconds", "3"], "--method auto"),
        (["embed", "a.csv", "-o", "b.csv", "--max-seconds", "0"], "0"),
        (["embed", "a.csv", "-o", "b.csv", "-m", "colored-mvu"], "--label"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "tolerance"], "name=value"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "nothing=3"], "tolerance"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "kernel=precomputed"], "no such parameter"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "n_jobs=2"], "--jobs"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "tolerance=[1"], "JSON"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "tolerance=NaN"], "JSON"),
        (["embed", "a.csv", "-o", "b.csv", "--set", "tolerance=" + "[" * 5000], "JSON"),
        (["embed", "a.csv", "-o", "b.csv", "--columns", "a,,b"], "empty name"),
        (["embed", "a.csv", "-o", "b.csv", "--columns", '"a'], "names"),
        (["embed", "a.csv", "-o", "b.csv", "--seed", "-1"], "-1"),
        (["embed", "a.csv", "-o", "b.txt"], ".parquet"),
        (["embed", "a.csv", "--report", "b.csv"], ".html"),
        (["embed", "a.csv", "--model", "b.html"], ".iso"),
        (["evaluate", "a.csv", "b.csv", "--json", "--csv"], "--json"),
        (["report", "a.csv", "-o", "p.html"], "--model"),
        (["report", "a.csv", "b.csv", "--model", "m.iso", "-o", "p.html"], "either"),
        (["compare", "a.csv", "-m", "pca,magic"], "magic"),
        (["compare", "a.csv", "-o", "t.npy"], ".csv"),
        (["datasets", "unheard"], "unheard"),
        (["datasets", "-o", "a.csv"], "Name the data"),
        (["datasets", "mnist", "--rows", "3"], "real"),
        (["completion", "ksh"], "ksh"),
        (["embd"], "embd"),
        (["--wrong"], "--wrong"),
    ],
)  # fmt: skip
def test_wrong_usage(words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert_one_line(result)
    assert told in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    array = write_array(tmp_path / "a.npy")
    for words in (
        ["embed", "no.csv", "-o", "b.csv"],
        ["embed", array, "-o", "no/b.csv"],
        ["evaluate", array, "no.csv"],
        ["transform", "no.iso", array, "-o", "b.csv"],
        ["report", array, "--model", "no.iso", "-o", "p.html"],
        ["embed", array, "-o", "b.csv", "--label", "kind"],
        ["embed", array, "-o", "b.csv", "--columns", "kind"],
    ):
        assert_one_line(run(*words))
    assert list(tmp_path.iterdir()) == [array]


def test_what_is_no_model_is_refused(sheet, tmp_path):
    for content in (b"", b"no model", sheet.read_bytes()):
        (tmp_path / "m.iso").write_bytes(content)
        assert_one_line(run("transform", tmp_path / "m.iso", sheet, "-o", tmp_path / "o.csv"))
    assert not (tmp_path / "o.csv").exists()


def test_nothing_is_overwritten_unless_forced(sheet, tmp_path):
    for option, name in (("-o", "map.csv"), ("--model", "m.iso"), ("--report", "p.html")):
        path = tmp_path / name
        path.write_text("precious")
        result = run("embed", sheet, "-m", "ipa", option, path)
        assert_one_line(result)
        assert "--force" in result.stderr
        assert path.read_text() == "precious"
        assert run("embed", sheet, "-m", "ipa", option, path, "--force").exit_code == 0
        assert path.read_bytes() != b"precious"


def test_the_input_is_not_an_output(tmp_path):
    path = write_roll(tmp_path / "roll.csv", 30)
    before = path.read_bytes()
    assert_one_line(run("embed", path, "-o", path, "--force"))
    assert path.read_bytes() == before


def test_every_output_has_a_file_of_its_own(tmp_path):
    # Endings keep them apart, but for links.
    (tmp_path / "p.html").symlink_to(tmp_path / "map.csv")
    with pytest.raises(InvalidInputError, match="named twice"):
        Outputs(tmp_path / "map.csv", None, tmp_path / "p.html").check()


def test_targets_are_checked_before_the_work(sheet, tmp_path, monkeypatch):
    def fit(*_):
        pytest.fail("The fit began before the outputs were checked.")

    monkeypatch.setattr(IPA, "fit", fit)
    (tmp_path / "p.html").write_text("precious")
    words = ["embed", sheet, "-m", "ipa", "-o", tmp_path / "map.csv"]
    assert_one_line(run(*words, "--report", tmp_path / "p.html"))
    gaps = write_roll(tmp_path / "gaps.csv", 30, missing=(2,))
    result = run("embed", gaps, "-m", "ipa", "-o", tmp_path / "map.npy")  # cannot tell the row
    assert_one_line(result)
    assert ".npz" in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 2),
        (OSError(28, "No space left on device", "map.csv"), 2),
        (KeyError("x"), 1),
        (ValueError("of NumPy\nin two lines"), 1),
        (RecursionError(), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_a_failed_fit_leaves_nothing_behind(error, code, sheet, tmp_path, monkeypatch):
    def fit(*_):
        raise error

    monkeypatch.setattr(IPA, "fit", fit)
    outputs = [
        "-o",
        tmp_path / "m.csv",
        "--model",
        tmp_path / "m.iso",
        "--report",
        tmp_path / "m.html",
    ]
    result = run("embed", sheet, "-m", "ipa", *outputs)
    assert_one_line(result, code)
    assert list(tmp_path.iterdir()) == [sheet]
    if code == 1:
        assert type(error).__name__ in result.stderr
        assert "bug in isofold" in result.stderr


def test_tracebacks_are_shown_on_demand(sheet, tmp_path, monkeypatch):
    def fit(*_):
        msg = "x"
        raise KeyError(msg)

    monkeypatch.setattr(IPA, "fit", fit)
    words = ["embed", sheet, "-m", "ipa", "-o", tmp_path / "m.csv"]
    for result in (run(*words, "--debug"), run(*words, env={"ISOFOLD_TRACEBACK": "1"})):
        assert result.exit_code == 1
        assert "Traceback" in result.stderr
        assert result.stderr.splitlines()[-1].startswith("isofold: error: ")


@pytest.mark.parametrize(
    ("place", "error", "code"),
    [
        ("isofold.reports.make_report", RuntimeError("no page"), 1),
        ("isofold.assessment.assess", InvalidInputError("All points coincide."), 2),
        ("isofold.assessment.assess", KeyboardInterrupt(), 130),
    ],
)
def test_a_finished_fit_is_not_lost_for_its_page(place, error, code, sheet, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(place, fail)
    files = ["-o", tmp_path / "m.csv", "--model", tmp_path / "m.iso"]
    result = run("embed", sheet, "-m", "ipa", *files, "--report", tmp_path / "m.html")
    assert result.exit_code == code
    assert "warning: The page was not written" in result.stderr
    assert str(error) in result.stderr
    assert "Traceback" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"sheet.npy", "m.csv", "m.iso"}
    assert len(read_csv(tmp_path / "m.csv")) == 60
    result = run("embed", sheet, "-m", "ipa", "--report", tmp_path / "m.html")
    assert_one_line(result, code)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InvalidInputError("All points coincide."), 0, "note: How true the map is could not be"),
        (KeyboardInterrupt(), 130, "warning: How true the map is was not measured"),
    ],
)
def test_a_finished_fit_is_not_lost_for_its_figures(
    error, code, words, sheet, tmp_path, monkeypatch
):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("isofold.cli.steps.scores.measure", fail)
    result = run("embed", sheet, "-m", "ipa", "-o", tmp_path / "m.csv")
    assert result.exit_code == code
    assert words in result.stderr
    assert len(read_csv(tmp_path / "m.csv")) == 60


def test_a_map_of_three_rows_says_that_it_has_no_page(tmp_path):
    path = write_csv(tmp_path / "few.csv", ["a", "b"], np.random.RandomState(0).rand(3, 2))
    result = run("embed", path, "-o", tmp_path / "m.csv", "--report", tmp_path / "m.html")
    assert result.exit_code == 2
    assert "at least 4 points are needed" in result.stderr
    assert len(read_csv(tmp_path / "m.csv")) == 3
    assert not (tmp_path / "m.html").exists()


def test_wrong_values_of_settings_are_told(sheet, tmp_path):
    result = run("embed", sheet, "-o", tmp_path / "m.csv", "--set", "tolerance=-3")
    assert_one_line(result)
    assert "tolerance" in result.stderr


def test_too_few_rows(tmp_path):
    for n_rows in (1, 2, 3):
        path = write_csv(tmp_path / "few.csv", ["a", "b"], np.random.RandomState(0).rand(n_rows, 2))
        result = run("embed", path, "-o", tmp_path / "m.csv", "--force")
        if n_rows == 1:
            assert_one_line(result)
        else:
            assert result.exit_code == 0, result.stderr
            assert len(read_csv(tmp_path / "m.csv")) == n_rows


@pytest.mark.slow  # test_files_fuzzed reads the same files without the command around it
def test_fuzzed_files_give_one_line_and_no_output(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    out, by_program = tmp_path / "out" / "map.csv", []
    for path, must_fail in write_all(tmp_path / "in"):
        result = run("embed", path, "-o", out, "-m", "ipa", "--quiet")
        if must_fail or result.exit_code != 0:
            assert_one_line(result)
            assert list(out.parent.iterdir()) == [], path
            by_program.append(path)
        else:
            assert np.isfinite([float(row["x1"]) for row in read_csv(out)]).all()
            out.unlink()
    for path in by_program[:: len(by_program) // N_BY_PROGRAM][:N_BY_PROGRAM]:
        assert_one_line(run_program("embed", path, "-o", out))
        assert list(out.parent.iterdir()) == []


def test_text_of_strangers_cannot_order_terminals_about():
    assert clean("a\x1b[2Jb\nc\u202ed") == "a\ufffd[2Jb c\ufffdd"
    assert len(clean("x" * 10**5)) < 2000
    assert clean("  a ") == "  a"
