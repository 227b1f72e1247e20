"""Closed streams, Ctrl-C at any moment, and what a killed process leaves."""

import os
import signal
import subprocess
import sys

import pytest

from isofold._files import atomic_file
from support.command_runs import read_csv, write_array
from support.quick import quick_are

pytestmark = pytest.mark.usefixtures("ctrl_c")  # which started programs inherit

# What runs before the command line; the signal comes exactly where it says.
PRESS = "signal.raise_signal(signal.SIGINT)"
MOMENTS = {
    # While modules are loaded.
    "import": f"""
class Finder:
    def find_spec(self, name, *_):
        if name == "click":
            {PRESS}
sys.meta_path.insert(0, Finder())
""",
    # Within the command.
    "work": f"""
from isofold.cli import main
main.invoke = lambda ctx: {PRESS}
""",
    # While text is run as code, which Python remembers when it ends.
    "code": f"""
from isofold.cli import main
main.invoke = lambda ctx: exec("{PRESS}")
""",
    # Where an exception is lost.
    "destructor": f"""
from isofold.cli import main
class Last:
    def __del__(self):
        {PRESS}
def invoke(ctx):
    Last()
    return 0
main.invoke = invoke
""",
    # Where a library makes another exception of it.
    "swallowed": f"""
from isofold.cli import main
def invoke(ctx):
    try:
        {PRESS}
    except KeyboardInterrupt:
        raise ImportError("broken") from None
main.invoke = invoke
""",
    # When the command has ended, and Python has not.
    "exit": f"""
from isofold.cli import main
def invoke(ctx):
    atexit.register(lambda: {PRESS})
    return 0
main.invoke = invoke
""",
}


def run_code(code, folder):
    """Run Python code and then the command line, as ``python -m isofold`` is run."""
    end = "from isofold.__main__ import main\nmain()\n"
    (folder / "program.py").write_text(f"import atexit, signal, sys\n{code}\n{end}")
    return subprocess.run(
        [sys.executable, "-m", "program", "datasets"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_at_any_moment_exits_with_130_and_a_line_at_most(moment, tmp_path):
    done = run_code(MOMENTS[moment], tmp_path)
    assert done.returncode == 130, done.stderr
    assert done.stderr.count("\n") <= 1
    assert "Traceback" not in done.stderr


def test_ctrl_c_is_ignored_if_whoever_started_it_says_so(tmp_path):
    ignore = "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    done = run_code(f"{ignore}\n{MOMENTS['work']}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


DIMENSION = ("dimension", "sheet.npy")
EMBED = ("embed", "sheet.npy", "-m", "ipa", "-o", "map.csv")


@pytest.mark.parametrize(
    ("closed", "words"),
    quick_are([((0, 1, 2), EMBED)], [((1,), DIMENSION), ((2,), EMBED), ((0, 1, 2), EMBED)]),
)
def test_closed_streams_are_no_error(closed, words, tmp_path):
    write_array(tmp_path / "sheet.npy")
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-m", "isofold", *words],
        cwd=tmp_path,
        check=False,
        timeout=120,
        preexec_fn=lambda: [os.close(number) for number in closed],
    )
    assert done.returncode == 0
    written = [path for path in tmp_path.iterdir() if path.name != "sheet.npy"]
    assert [path.name for path in written] == ["map.csv"] * (words is EMBED)
    assert all(len(read_csv(path)) == 60 for path in written)


# Writes half a file, says so, and goes on when it is told to.
HALF = """
import sys
from isofold._files import atomic_file

with atomic_file(sys.argv[1], overwrite=True) as target:
    target.write_text("half")
    print("half", flush=True)
    sys.stdin.readline()
    target.write_text("whole")
"""


@pytest.fixture
def writer(tmp_path):
    process = subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", HALF, str(tmp_path / "map.csv")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "half\n"
    yield process
    process.kill()
    process.communicate()


def write(path, text):
    with atomic_file(path, overwrite=True) as target:
        target.write_text(text)


def hidden(folder):
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def test_what_a_killed_process_left_is_removed(writer, tmp_path):
    writer.send_signal(signal.SIGKILL)
    assert writer.wait(timeout=60) == -signal.SIGKILL
    (left,) = hidden(tmp_path)
    assert left.read_text() == "half"
    write(tmp_path / "other.csv", "other")
    assert hidden(tmp_path) == [left]
    write(tmp_path / "map.csv", "new")
    contents = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert contents == {"map.csv": "new", "other.csv": "other"}


def test_what_a_living_process_writes_is_left_alone(writer, tmp_path):
    (theirs,) = hidden(tmp_path)
    write(tmp_path / "map.csv", "ours")
    assert hidden(tmp_path) == [theirs]
    writer.communicate("go on\n", timeout=60)
    assert writer.returncode == 0
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]


def test_what_only_looks_abandoned_is_left_alone(tmp_path):
    (tmp_path / "real").write_text("real")
    names = [".isofold-0123456789ab-map.csv", ".isofold-012345-map.csv", ".0123456789ab-map.csv"]
    (tmp_path / names[0]).symlink_to(tmp_path / "real")
    for name in names[1:]:
        (tmp_path / name).write_text("a user's")
    os.mkfifo(tmp_path / ".isofold-ba9876543210-map.csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    write(tmp_path / "map.csv", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*before, "map.csv"])


def test_a_file_that_was_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    from isofold import _files as _targets

    is_locked, n_looks = _targets._is_locked, 0

    def taken_at_first(descriptor):
        nonlocal n_looks
        n_looks += 1
        if n_looks == 1:
            hidden(tmp_path)[0].unlink()
        return is_locked(descriptor)

    monkeypatch.setattr(_targets, "_is_locked", taken_at_first)
    write(tmp_path / "map.csv", "new")
    assert n_looks == 2
    assert [path.name for path in tmp_path.iterdir()] == ["map.csv"]
