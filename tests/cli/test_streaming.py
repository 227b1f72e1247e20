"""Tables larger than memory: the same bytes however they are read, killed runs that continue."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import isofold
from isofold.blocks.checkpoint import Checkpoint, Fingerprint
from isofold.storage import load_with_notes
from isofold.tables import prepare, read_table, write_embedding
from support.command_runs import PATIENCE, run, run_program
from support.streamed_tables import MAKE, N_ROWS, points_of, roll_columns, write_parts


@pytest.fixture(scope="module")
def columns():
    return roll_columns()


@pytest.fixture(scope="module")
def parts(tmp_path_factory, columns):
    return write_parts(tmp_path_factory.mktemp("streamed") / "parts", columns)


@pytest.fixture(scope="module")
def made(parts):
    """A map and a model of the parts, made by an undisturbed run."""
    out, model = parts.parent / "made.parquet", parts.parent / "made.iso"
    result = run("embed", parts, *MAKE, "--label", "kind", "-o", out, "--model", model)
    assert result.exit_code == 0, result.stderr
    assert "block by block: it is a folder of files" in result.stderr
    assert not out.with_name("made.parquet.checkpoint").exists()
    return out, model


def test_map_is_the_one_that_is_written_at_once(made, columns, tmp_path):
    out, model = made
    X = points_of(columns)
    at_once = tmp_path / "at-once.parquet"
    Y = isofold.load(model).transform(X)
    rows = np.arange(N_ROWS)
    write_embedding(at_once, Y, rows=rows, labels=columns["kind"], label_name="kind")
    assert out.read_bytes() == at_once.read_bytes()
    assert (
        isofold.load(model).transform(X) == isofold.IPA(random_state=0).fit(X).transform(X)
    ).all()


def test_bytes_do_not_depend_on_input_and_blocks(made, columns, tmp_path):
    X = points_of(columns)
    Y = isofold.load(made[1]).transform(X)
    np.save(tmp_path / "all.npy", X)
    assert run("embed", tmp_path / "all.npy", *MAKE, "-o", tmp_path / "a.npy",
               "--memory", "2GB").exit_code == 0  # fmt: skip
    np.save(tmp_path / "Y.npy", Y)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "Y.npy").read_bytes()

    csv.write_csv(pa.table(columns), tmp_path / "all.csv")
    result = run("embed", tmp_path / "all.csv", *MAKE, "-o", tmp_path / "a.csv", "--label", "kind",
                 "--memory", "2GB")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    write_embedding(
        tmp_path / "Y.csv", Y, rows=np.arange(N_ROWS), labels=columns["kind"], label_name="kind"
    )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "Y.csv").read_bytes()


def test_zarr_and_pattern(made, parts, tmp_path):
    zarr = pytest.importorskip("zarr")
    out = tmp_path / "map.zarr"
    result = run("embed", parts / "*.parquet", *MAKE, "--exclude", "kind", "-o", out)
    assert result.exit_code == 0, result.stderr
    table = parquet.read_table(made[0])
    Y = np.column_stack([table["x1"], table["x2"]])
    assert (zarr.open_array(out, mode="r")[:] == Y).all()
    assert run("embed", parts, *MAKE, "-o", out).exit_code == 2
    assert list(tmp_path.iterdir()) == [out]


def test_transform_of_blocks_is_that_of_the_table(made, parts, columns, tmp_path):
    parquet.write_table(pa.table(columns), tmp_path / "all.parquet")
    for name, file in (("at-once", tmp_path / "all.parquet"), ("blocks", parts)):
        result = run("transform", made[1], file, "-o", tmp_path / f"{name}.csv")
        assert result.exit_code == 0, result.stderr
    assert (tmp_path / "at-once.csv").read_bytes() == (tmp_path / "blocks.csv").read_bytes()


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_gaps_and_scale_are_those_of_the_whole_table(columns, tmp_path, missing):
    gappy = {**columns, "id": np.arange(N_ROWS), "empty": np.full(N_ROWS, np.nan)}
    gappy["y"] = np.where(np.arange(N_ROWS) % 7 == 3, np.nan, columns["y"])
    folder = write_parts(tmp_path / "parts", gappy)
    out, model = tmp_path / "map.csv", tmp_path / "model.iso"
    result = run("embed", folder, *MAKE, "-o", out, "--model", model, "--missing", missing,
                 "--scale", "standard")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    parquet.write_table(pa.table(gappy), tmp_path / "all.parquet")
    known = prepare(read_table(tmp_path / "all.parquet"), missing=missing, scale="standard")
    found = load_with_notes(model)[1]["isofold embed"]["recipe"]
    wanted = known.preprocessing.to_json()
    # The sample is all rows here, so that medians are those of the table; sums of some hundred
    # numbers round by some units in the last place.
    for key in ("fill", "center", "scale"):
        if wanted[key] is not None:
            np.testing.assert_allclose(found.pop(key), wanted.pop(key), rtol=1e-13)
    assert found == wanted
    rows = [int(line.split(",")[0]) for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    assert rows == known.rows.tolist()
    if missing == "drop":
        for note in known.notes:
            assert note in result.stderr
        assert run("embed", folder, *MAKE, "-o", tmp_path / "map.npy").exit_code == 2
    else:
        assert "Medians are those of 400 rows, drawn at random." in result.stderr


def test_page_is_of_the_fitted_rows(parts, tmp_path):
    page = tmp_path / "page.html"
    result = run("embed", parts, *MAKE, "--label", "kind", "--report", page)
    assert result.exit_code == 0, result.stderr
    assert "near" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("500MB", 5 * 10**8), ("2GB", 2 * 10**9), ("1.5GiB", 1.5 * 2**30)]
)
def test_amounts_of_memory(text, n_bytes):
    from isofold.cli.options import MemoryType

    assert MemoryType().convert(text, None, None) == n_bytes


def test_too_little_memory_is_refused_with_what_works(parts, tmp_path):
    out = tmp_path / "map.csv"
    result = run("embed", parts, *MAKE, "-o", out, "--memory", "100MB")
    assert result.exit_code == 2
    least = result.stderr.partition("at least ")[2].partition(" are")[0].replace(" ", "")
    assert run("embed", parts, *MAKE, "-o", out, "--memory", least).exit_code == 0
    assert run("embed", parts, *MAKE, "-o", out, "--memory", "much").exit_code == 2


# A command line that kills itself when its checkpoint is about to get its n-th file.
KILLED = """
import os, sys
from isofold import _files
from isofold.cli import main

left, move = [int(sys.argv.pop(1))], _files._move

def move_or_die(temporary, final, *rest, **options):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), 9)
    move(temporary, final, *rest, **options)

_files._move = move_or_die
main(sys.argv[1:])
"""


def run_killed(n_files, *args):
    """Run a command line that is killed when it moves its n-th file; return its exit code."""
    command = [sys.executable, "-c", KILLED, str(n_files), *map(str, args)]
    return subprocess.run(  # noqa: S603 - our own code in our own interpreter
        command, capture_output=True, check=False, timeout=PATIENCE
    ).returncode


def test_killed_run_continues_to_the_same_bytes(made, parts, tmp_path):
    out = tmp_path / "map.parquet"
    command = ("embed", parts, *MAKE, "--label", "kind", "-o", out)
    checkpoint = tmp_path / "map.parquet.checkpoint"
    # The first while it looks at columns, the second while it places rows, the third when the map
    # is written and about to appear.
    for n_files in (4, 8, 6):
        assert run_killed(n_files, *command) == -signal.SIGKILL
        assert checkpoint.is_dir()
        assert not out.exists()
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    assert "Continuing an earlier run: 400 of 400 rows were placed before." in result.stderr
    assert out.read_bytes() == made[0].read_bytes()
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.slow
def test_run_that_is_killed_again_and_again_ends_as_others_do(made, parts, tmp_path):
    out, model = tmp_path / "map.parquet", tmp_path / "model.iso"
    command = ("embed", parts, *MAKE, "--label", "kind", "-o", out, "--model", model)
    rng = np.random.default_rng(0)
    n_kills = 0
    while n_kills < 20:
        code = run_killed(int(rng.integers(1, 5)), *command)
        n_kills += 1
        if code == 0:  # it had come to its end
            assert out.read_bytes() == made[0].read_bytes()
            out.unlink()
            model.unlink()
            continue
        assert code == -signal.SIGKILL
        assert not out.exists() or out.read_bytes() == made[0].read_bytes()
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    assert out.read_bytes() == made[0].read_bytes()
    assert sorted(tmp_path.iterdir()) == [out, model]


def test_other_input_or_options_are_refused(parts, columns, tmp_path):
    folder = write_parts(tmp_path / "parts", columns)
    out = tmp_path / "map.csv"
    command = ("embed", folder, *MAKE, "-o", out)
    assert run_killed(4, *command) == -signal.SIGKILL
    result = run(*command, "--seed", "1")
    assert result.exit_code == 2
    assert "--seed was 0 and is 1" in result.stderr
    parquet.write_table(
        pa.table({name: columns[name] for name in "xyz"}), folder / "part-4.parquet"
    )
    result = run(*command)
    assert result.exit_code == 2
    assert "part-4.parquet was changed" in result.stderr
    assert "--force" in result.stderr
    assert run(*command, "--force").exit_code == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == N_ROWS + N_ROWS // 5 * 4 + 1


BROKEN = {
    "gaps": ({"x": [1.0], "y": [np.nan], "z": [0.0]}, "rows 320 to 320: values are missing in 'y'"),
    "width": ({"x": [1.0], "y": [2.0]}, "there is no column 'z'"),
    "type": ({"x": [1.0], "y": [2.0], "z": ["one"]}, "column 'z' does not hold numbers"),
    "precision": (
        {name: np.ones(1, dtype=np.float32) for name in "xyz"},
        "this block holds float32 numbers, but the first one float64",
    ),
}


@pytest.mark.parametrize("kind", [*BROKEN, "empty", "unreadable"])
def test_errors_name_the_file(columns, tmp_path, kind):
    folder = write_parts(tmp_path / "parts", {name: columns[name] for name in "xyz"})
    broken = folder / "part-4.parquet"
    text = "the file cannot be read"
    if kind == "empty":
        broken.write_bytes(b"")
    elif kind == "unreadable":
        broken.write_bytes(broken.read_bytes()[:-10])
    else:
        table, text = BROKEN[kind]
        parquet.write_table(pa.table(table), broken)
    result = run("embed", folder, *MAKE, "-o", tmp_path / "map.csv", "--missing", "error")
    assert result.exit_code == 2
    assert "part-4.parquet" in result.stderr
    assert text in result.stderr
    assert not (tmp_path / "map.csv").exists()


def test_second_run_of_the_same_output_is_refused(parts, tmp_path):
    out = tmp_path / "map.csv"
    folder = tmp_path / "map.csv.checkpoint"
    with Checkpoint.open(folder, Fingerprint("", (), ()), over=False):
        result = run("embed", parts, *MAKE, "-o", out)
    assert result.exit_code == 2
    assert "another run is writing the same output" in result.stderr


def test_unreachable_scheduler(parts, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from isofold.cli.steps import placing

    monkeypatch.setattr(placing, "CONNECTION_SECONDS", 0.2)
    address = "tcp://127.0.0.1:1"
    result = run("embed", parts, *MAKE, "-o", tmp_path / "map.csv", "--scheduler", address)
    assert result.exit_code == 2
    assert "no Dask scheduler answers there" in result.stderr


@pytest.mark.slow
def test_scheduler_makes_the_same_bytes(made, parts, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, processes=True, dashboard_address=None) as cluster:
        out = tmp_path / "map.parquet"
        result = run_program("embed", parts, *MAKE, "--label", "kind", "-o", out,
                             "--scheduler", cluster.scheduler_address)  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert out.read_bytes() == made[0].read_bytes()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of some hundred kilobytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:  # noqa: S603
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


@pytest.mark.slow
def test_full_disk_keeps_finished_work(made, parts, small_disk):
    out, ballast = small_disk / "map.parquet", small_disk / "ballast"
    command = ("embed", parts, *MAKE, "--label", "kind", "-o", out)
    ballast.write_bytes(bytes(900_000))
    result = run(*command)
    assert result.exit_code == 2
    assert "disk is full" in result.stderr or "No space left" in result.stderr
    assert "Finished work is kept" in result.stderr
    assert not out.exists()
    ballast.unlink()
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    assert out.read_bytes() == made[0].read_bytes()
    assert Path(small_disk) / "map.parquet.checkpoint" not in list(small_disk.iterdir())
