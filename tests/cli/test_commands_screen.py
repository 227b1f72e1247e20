"""What a terminal shows, what a pipe gets, and Ctrl-C."""

import os
import signal
import subprocess
import sys

import pytest

from support.command_runs import read_csv, run_on_screen, run_program, write_array, write_roll
from support.quick import quick_first

# Programs inherit what is done with Ctrl-C.
pytestmark = pytest.mark.usefixtures("ctrl_c")

# A fit that takes its time and can be ended, with a bar after a tenth of a second.
SLOW = """
import time
import isofold
from isofold._progress.stages import fitting, interrupted, interruptible, stage
from isofold.cli import main
from isofold.cli import console

console.PATIENCE = 0.1
fit = isofold.IPA.fit

def slow(self, X, y=None):
    with fitting():
        with interruptible(), stage("stitch slowly", total={steps}) as steps:
            for _ in range({steps}):
                time.sleep(0.1)
                steps.advance()
                if interrupted():
                    break
        return fit(self, X, y)

isofold.IPA.fit = slow
main()
"""
DEAF = SLOW.replace("interruptible(), ", "")
STUBBORN = SLOW.replace("if interrupted():", "if False:")


def interrupt(process):
    os.kill(process.pid, signal.SIGINT)


def test_a_bar_with_the_time_left_is_shown_on_a_screen(tmp_path):
    path, out = write_array(tmp_path / "sheet.npy"), tmp_path / "map.csv"
    words = ["embed", path, "-m", "ipa", "-o", out]
    code, shown = run_on_screen(SLOW.replace("{steps}", "12"), *words)
    assert code == 0, shown
    assert "stitch slowly" in shown
    assert "left" in shown
    assert "\x1b[" in shown
    assert "How true is the map?" in shown


@pytest.mark.slow
def test_quiet_shows_nothing_on_a_screen(tmp_path):
    path, out = write_array(tmp_path / "sheet.npy"), tmp_path / "map.csv"
    words = ["embed", path, "-m", "ipa", "-o", out, "--quiet"]
    code, shown = run_on_screen(SLOW.replace("{steps}", "4"), *words, env={"TERM": "xterm"})
    assert code == 0, shown
    assert shown == ""


def test_no_color_is_respected():
    code = "from isofold.cli import main\nmain()"
    plain = run_on_screen(code, "--wrong", env={"NO_COLOR": "1", "TERM": "xterm"})
    bright = run_on_screen(code, "--wrong", env={"NO_COLOR": "", "TERM": "xterm"})
    assert plain[0] == bright[0] == 2
    assert "\x1b" not in plain[1]
    assert "\x1b" in bright[1]


@pytest.mark.parametrize("columns", quick_first([38, 80]))
def test_lines_and_tables_fit_narrow_screens(columns, tmp_path, monkeypatch):
    path, out = write_array(tmp_path / "sheet.npy"), tmp_path / "m.csv"
    monkeypatch.chdir(tmp_path)
    words = ("embed", path.name, "-m", "ipa", "-o", out.name, "--force")
    code = "from isofold.cli import main\nmain()"
    _, shown = run_on_screen(code, *words, env={"COLUMNS": str(columns), "NO_COLOR": "1"})
    lines = shown.splitlines()
    assert max(map(len, lines)) <= columns
    assert "between neighbors in the data are true" in " ".join(shown.split())
    # Words stand beside their figure if there is room.
    beside = [line for line in lines if line.lstrip().startswith("trustworthiness")]
    assert ("all points" in beside[0]) == (columns == 80)
    if columns < 80:
        # On a screen only lines are wrapped.
        piped = run_program(*words)
        assert piped.stdout == ""
        assert "\x1b" not in piped.stderr
        assert piped.stderr.count("\n") < shown.count("\n")


def test_the_first_ctrl_c_keeps_the_best_map(tmp_path):
    path, out = write_array(tmp_path / "sheet.npy"), tmp_path / "map.csv"
    code, shown = run_on_screen(
        SLOW.replace("{steps}", "300"), "embed", path, "-m", "ipa", "-o", out,
        on_text={"stitch slowly": interrupt},
    )  # fmt: skip
    assert code == 130, shown
    assert "warning:" in shown
    assert "interrupted" in shown
    assert len(read_csv(out)) == 60


@pytest.mark.slow
def test_the_second_ctrl_c_gives_up(tmp_path):
    path = write_array(tmp_path / "sheet.npy")
    code, shown = run_on_screen(
        STUBBORN.replace("{steps}", "300"), "embed", path, "-m", "ipa", "-o", tmp_path / "map.csv",
        on_text={"stitch slowly": interrupt, "ending": interrupt},
    )  # fmt: skip
    assert code == 130, shown
    assert "Interrupted" in shown
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_ctrl_c_without_a_best_map_leaves_nothing(tmp_path):
    path = write_array(tmp_path / "sheet.npy")
    code, shown = run_on_screen(
        DEAF.replace("{steps}", "300"), "embed", path, "-m", "ipa", "-o", tmp_path / "map.csv",
        on_text={"stitch slowly": interrupt},
    )  # fmt: skip
    assert code == 130, shown
    assert "Interrupted" in shown
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_that_nobody_reads_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    finished = subprocess.run(
        [sys.executable, "-m", "isofold", "datasets"],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert finished.stderr == ""
    assert finished.returncode == 141


def test_signs_that_a_terminal_cannot_show_are_no_error():
    finished = run_program("datasets", env={"PYTHONIOENCODING": "iso8859-5"})
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "M\\xf6bius" in finished.stdout


@pytest.mark.slow  # test_commands runs the same commands without starting a program for each
def test_a_whole_story_by_programs(tmp_path):
    write_roll(tmp_path / "roll.csv", 120, missing=(5,))
    write_roll(tmp_path / "new.csv", 30, seed=1)
    made = run_program(
        "embed", "roll.csv", "-o", "map.parquet", "--model", "m.iso", "-l", "kind", "-m", "ipa",
        cwd=tmp_path,
    )  # fmt: skip
    placed = run_program("transform", "m.iso", "new.csv", "-o", "new-map.csv", cwd=tmp_path)
    judged = run_program("evaluate", "roll.csv", "map.parquet", "--csv", "-q", cwd=tmp_path)
    for finished in (made, placed, judged):
        assert finished.returncode == 0, finished.stderr
    assert made.stdout == placed.stdout == judged.stderr == ""
    assert len(read_csv(tmp_path / "new-map.csv")) == 30
    assert judged.stdout.startswith("measure,value")
