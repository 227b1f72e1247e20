"""What is refused before or while a table is read in blocks, and what is left behind then."""

import errno
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from isofold._files import disk_explained
from support.command_runs import run
from support.streamed_tables import MAKE, roll_columns, write_parts

MEMORY = ("--memory", "2GB")


@pytest.fixture(scope="module")
def columns():
    return roll_columns()


@pytest.fixture(scope="module")
def model(columns, tmp_path_factory):
    """A model that knows of the label."""
    made = tmp_path_factory.mktemp("refusals")
    parquet.write_table(pa.table(columns), made / "all.parquet")
    result = run("embed", made / "all.parquet", *MAKE, "--label", "kind", "--model", made / "m.iso")
    assert result.exit_code == 0, result.stderr
    return made / "m.iso"


@pytest.fixture
def folder(columns, tmp_path):
    return write_parts(tmp_path / "parts", columns, n_parts=3)


@pytest.mark.parametrize("command", ["embed", "transform"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_label_must_be_in_all_files(folder, model, command, ending):
    if ending == "csv":
        for path in folder.iterdir():
            csv.write_csv(parquet.read_table(path), path.with_suffix(".csv"))
            path.unlink()
    last = folder / f"part-2.{ending}"
    write = csv.write_csv if ending == "csv" else parquet.write_table
    write(pa.table({name: [1.0] for name in "xyz"}), last)
    out = folder.parent / "map.csv"
    first, how = ((), (*MAKE, "--label", "kind")) if command == "embed" else ((model,), ())
    result = run(command, *first, folder, "-o", out, *how)
    assert result.exit_code == 2, result.stderr
    assert f"part-2.{ending}: there is no column 'kind', which holds the labels" in result.stderr
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize("ending", [".npy", ".zarr"])
@pytest.mark.parametrize("command", ["embed", "transform"])
def test_coordinates_alone_cannot_tell_rows_left_out(folder, model, command, ending):
    pytest.importorskip("zarr")
    table = parquet.read_table(folder / "part-0.parquet").to_pydict()
    table["y"][-1] = None  # at the end of a block, so that those before it are as if it was not
    parquet.write_table(pa.table(table), folder / "part-0.parquet")
    out = folder.parent / f"map{ending}"
    first, how = ((), MAKE) if command == "embed" else ((model,), ())
    result = run(command, *first, folder, "-o", out, *how)
    assert result.exit_code == 2, result.stderr
    assert f"map{ending}: rows with missing values are left out, and a {ending}" in result.stderr
    assert "Write .csv, .tsv or .parquet" in result.stderr
    assert ("--missing median" in result.stderr) == (command == "embed")
    assert not out.exists()


INSIDE = {
    "folder": ("parts", "parts/map.parquet"),
    "deeper": ("parts", "parts/more/map.csv"),
    "dots": ("more/../parts", "parts/more/../map.parquet"),
    "link": ("link", "parts/map.parquet"),
    "linked": ("parts", "link.parquet"),
    "pattern": ("parts/*.parquet", "parts/map.parquet"),
    "all": ("parts/*", "parts/map.parquet"),
    "checkpoint": ("parts/**/*.parquet", "parts/more/map.parquet"),
    "folders": ("pa[r]ts/*/*.csv", "parts/map.csv"),
}


@pytest.mark.parametrize("command", ["embed", "transform"])
@pytest.mark.parametrize("case", INSIDE)
def test_output_is_not_among_what_is_read(folder, model, command, case):
    file, out = (folder.parent / name for name in INSIDE[case])
    (folder / "more").mkdir()
    (folder.parent / "more").mkdir()
    (folder.parent / "link").symlink_to(folder)
    (folder.parent / "link.parquet").symlink_to(folder / "map.parquet")
    before = sorted(folder.parent.rglob("*"))
    first, how = ((), MAKE) if command == "embed" else ((model,), ())
    result = run(command, *first, file, "-o", out, *how, "--force")
    assert result.exit_code == 2
    assert "would be taken for data. Write to another folder" in result.stderr
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("file", "out"), [("parts/part-?.parquet", "map.parquet"), ("parts", "parts.csv")]
)
def test_output_beside_what_is_read(folder, file, out):
    target = (folder if "?" in file else folder.parent) / out
    for _ in range(2):
        result = run("embed", folder.parent / file, "-o", target, *MAKE, "--force")
        assert result.exit_code == 0, result.stderr


def test_models_may_be_beside_data(folder):
    for _ in range(2):
        result = run("embed", folder, "--model", folder / "model.iso", *MAKE, "--force")
        assert result.exit_code == 0, result.stderr


def test_pattern_of_folders(folder):
    file, out = folder.parent / "par[t]*" / "part-0.parquet", folder.parent / "map.csv"
    result = run("embed", file, "-o", out, *MAKE)
    assert result.exit_code == 0, result.stderr
    assert "it is a pattern of names" in result.stderr


REFUSED = {
    "gaps": ({"x": [None, 1.0, 2.0]}, ("--missing", "error"), "pass --missing drop"),
    "one row": (None, (), "row"),
    "no rows": (None, (), "no rows"),
    "duplicates": (None, (), "row"),
    "left out": ({"x": [None, 1.0, 2.0]}, ("-o", "map.npy"), "are left out"),
    "infinite": ({"x": [np.inf, 1.0, 2.0]}, (), "Remove or correct such rows of the file"),
    "text": ({"x": ["a", "b", "c"]}, (), "part-2.parquet"),
    "parameter": (None, ("--set", "n_patches=-1"), "n_patches"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_input_leaves_nothing(columns, tmp_path, case):
    changed, options, seen = REFUSED[case]
    n_rows = {"one row": 1, "no rows": 0}.get(case, 400)
    table = {name: columns[name][:n_rows] for name in "xyz"}
    if case == "duplicates":
        table = {name: np.full(20, 1.0) for name in "xyz"}
    folder = write_parts(tmp_path / "parts", table, n_parts=3)
    if changed is not None:
        last = {name: [1.0, 2.0, 3.0] for name in "xyz"} | changed
        parquet.write_table(pa.table(last), folder / "part-2.parquet")
    out = [tmp_path / each if each.startswith("map") else each for each in options]
    result = run("embed", folder, *MAKE, "-o", tmp_path / "map.csv", *out)
    assert result.exit_code == 2, result.stderr
    assert seen in result.stderr
    assert "Finished work" not in result.stderr
    assert list(tmp_path.iterdir()) == [folder]


def test_advice_on_gaps_can_be_followed(folder):
    last = folder / "part-2.parquet"
    table = parquet.read_table(last).to_pydict()
    table["y"][3] = None
    parquet.write_table(pa.table(table), last)
    command = ("embed", folder, *MAKE, "-o", folder.parent / "map.csv")
    assert run(*command, "--missing", "error").exit_code == 2
    result = run(*command, "--missing", "drop")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_damaged_file_can_be_written_again(folder, ending):
    if ending == "csv":
        for path in folder.iterdir():
            csv.write_csv(parquet.read_table(path), path.with_suffix(".csv"))
            path.unlink()
    last = folder / f"part-2.{ending}"
    good = last.read_bytes()
    last.write_bytes(good[:-10] if ending == "parquet" else good + b"1.0,2.0\n")
    command = ("embed", folder, *MAKE, "-o", folder.parent / "map.csv")
    result = run(*command)
    assert result.exit_code == 2
    assert f"part-2.{ending}: the file cannot be read" in result.stderr
    last.write_bytes(good)
    result = run(*command)
    assert result.exit_code == 0, result.stderr


def test_placed_rows_are_kept(folder, model):
    last = folder / "part-2.parquet"
    good = last.read_bytes()
    table = parquet.read_table(last).to_pydict()
    parquet.write_table(pa.table(table | {"z": ["one"] * len(table["z"])}), last)
    out = folder.parent / "map.csv"
    checkpoint = out.with_name("map.csv.checkpoint")
    result = run("transform", model, folder, "-o", out)
    assert result.exit_code == 2
    assert "part-2.parquet" in result.stderr
    assert f"Finished work is kept in {checkpoint}: the same command" in result.stderr
    assert "begin again with --force" in result.stderr
    last.write_bytes(good)
    result = run("transform", model, folder, "-o", out)
    assert result.exit_code == 2
    assert "part-2.parquet was changed" in result.stderr
    assert run("transform", model, folder, "-o", out, "--force").exit_code == 0
    assert not checkpoint.exists()


def test_full_disk_keeps_what_was_looked_at(folder, monkeypatch):
    from isofold.blocks import checkpoint

    save = checkpoint.save_arrays

    def fail(where, path, arrays, *, packed):
        if path.parent.name.startswith(where):
            with disk_explained(path):
                raise OSError(errno.ENOSPC, "No space left on device")
        save(path, arrays, packed=packed)

    command = ("embed", folder, *MAKE, "-o", folder.parent / "map.csv")
    for name in ("columns", "placed"):
        monkeypatch.setattr(checkpoint, "save_arrays", partial(fail, name))
        result = run(*command)
        assert result.exit_code == 2
        assert "the disk is full" in result.stderr
        assert "Finished work is kept" in result.stderr
    monkeypatch.undo()
    assert run(*command).exit_code == 0
