"""`make fuzz` finds what fails, goes on, and prints it; property tests leave their number to it."""

import re
import subprocess
import sys
from pathlib import Path

from hypothesis import settings

import fuzz
from support.hypothesis_profiles import USUAL, examples

TESTS = Path(__file__).parent
PROPERTIES = """
from hypothesis import given, strategies as st
from support.hypothesis_profiles import examples

@given(st.integers(0, 10**6))
def test_wrong(number):
    assert number < 1000

@examples(5)
@given(st.integers(0, 10**6))
def test_right(number):
    assert number >= 0

def test_no_property():
    assert False
"""
CRASH = """
import os
from hypothesis import given, strategies as st

@given(st.integers())
def test_crash(number):
    os._exit(11)
"""


def arguments(folder, content):
    """Write tests into a folder; return how pytest finds them."""
    (folder / "conftest.py").write_text("import support.hypothesis_profiles\n", encoding="utf-8")
    (folder / "test_some.py").write_text(content, encoding="utf-8")
    return ["-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(folder), str(folder)]


def test_failures_are_printed_with_their_example(tmp_path):
    found = fuzz.explore(5, end=float("inf"), arguments=arguments(tmp_path, PROPERTIES))
    seed, counts, failures = found
    assert seed == 5
    counts = {name.partition("::")[2]: count for name, count in counts.items()}
    # Four times as many as it says; the number of the other depends on when it fails.
    assert counts.pop("test_right") == 20
    assert list(counts) == ["test_wrong"]
    [(test, text)] = failures
    assert test.endswith("::test_wrong")
    assert "number=1000" in text
    assert "@reproduce_failure(" in text


def test_crashes_are_failures(tmp_path):
    # The least time is one round.
    command = [TESTS / "fuzz.py", "--minutes", 1e-3, "--jobs", 1, "--seed", 5]
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, *map(str, command), *arguments(tmp_path, CRASH)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    assert "from seed 5" in finished.stdout
    summary = finished.stdout.partition("1 round(s), ")[2]
    assert "FAILED test_some.py::test_crash (seed 5)" in summary
    assert "exit code 11" in summary


def test_profiles():
    # A commit has one verdict, whatever the machine and whatever was found earlier.
    assert settings().derandomize
    assert settings().database is None
    assert settings().deadline is None
    assert settings().max_examples == USUAL
    assert examples(25).max_examples == 25
    assert not settings.get_profile("fuzz").derandomize
    assert settings.get_profile("fuzz").deadline is None


def test_no_test_bounds_its_examples_by_itself():
    # A number in settings holds in every profile, so that nothing more would be explored.
    paths = [path for path in TESTS.rglob("*.py") if path.name != "hypothesis_profiles.py"]
    own = [path.name for path in paths if re.search(r"max_examples=\d", path.read_text("utf-8"))]
    assert own == []
