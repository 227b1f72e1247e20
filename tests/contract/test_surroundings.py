"""The tests pass wherever and however they are started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUCHY = (
    "tests/test_interruption.py::test_the_first_asks_and_the_second_raises",
    "tests/test_docs.py::test_examples_run[models.md]",
    "tests/cli/test_commands_screen.py::test_ctrl_c_without_a_best_map_leaves_nothing",
    "tests/tables/test_write.py::test_replacement_keeps_permissions_and_links",
    "tests/tables/test_page_columns.py",
)
"""Tests that press Ctrl-C, here and in other programs, or look at permissions, texts and times."""

START = """
import os, signal, sys
for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGALRM", "SIGPIPE"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
os.umask(0o077)
os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:]])
"""


@pytest.mark.slow
def test_in_the_background_of_another_country(tmp_path):
    options = ["-q", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT]
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", START, *map(str, options), *(f"{ROOT}/{name}" for name in TOUCHY)],
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout


def test_ctrl_c_as_at_a_terminal(ctrl_c):
    # What a shell has told a program to ignore its programs ignore, too.
    code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert finished.stdout == "True\n"
