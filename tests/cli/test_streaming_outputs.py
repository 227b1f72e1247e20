"""Outputs of tables in blocks: nothing that is read or that somebody else made is lost."""

import numpy as np
import pytest

import isofold
from isofold.blocks import write_blocks
from isofold.exceptions import InvalidInputError
from support.command_runs import run
from support.streamed_tables import MAKE, points_of, roll_columns

MEMORY = ("--memory", "2GB")


@pytest.fixture(scope="module")
def columns():
    return roll_columns()


@pytest.fixture(scope="module")
def model(columns, tmp_path_factory):
    """A model of the columns without their names."""
    path = tmp_path_factory.mktemp("outputs") / "model.iso"
    isofold.save(isofold.IPA(random_state=0).fit(points_of(columns)), path)
    return path


@pytest.fixture
def points(columns, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, points_of(columns))
    return path


@pytest.fixture
def store(columns, tmp_path):
    """A Zarr array of the points."""
    zarr = pytest.importorskip("zarr")
    X = points_of(columns)
    array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(100, 3), dtype=X.dtype)
    array[:] = X
    return tmp_path / "x.zarr"


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["x.zarr", "x.zarr/c/map.csv", "x.zarr/map.zarr", "link.zarr"])
@pytest.mark.parametrize("command", ["embed", "transform"])
def test_store_that_is_read_stays_as_it_is(store, model, command, name):
    out = store.parent / name
    if name == "link.zarr":
        out.symlink_to(store)
    before = contents(store.parent)
    first, how = ((), MAKE) if command == "embed" else ((model,), ())
    result = run(command, *first, store, "-o", out, *how, *MEMORY, "--force")
    assert result.exit_code == 2
    seen = "inside the input" if "/" in name else "this is the input file"
    assert seen in result.stderr
    assert contents(store.parent) == before


def test_store_that_is_read_at_once_gets_no_files(store):
    before = contents(store.parent)
    result = run("embed", store, *MAKE, "-o", store / "map.csv")
    assert result.exit_code == 2
    assert "inside the input" in result.stderr
    assert contents(store.parent) == before


@pytest.mark.parametrize("kind", ["folder", "group", "old group", "file"])
def test_only_zarr_arrays_are_replaced(points, kind):
    zarr = pytest.importorskip("zarr")
    out = points.parent / "precious.zarr"
    if kind == "file":
        out.write_text("hi", encoding="utf-8")
    elif kind == "folder":
        out.mkdir()
        (out / "notes.txt").write_text("hi", encoding="utf-8")
    else:
        zarr.create_group(out, zarr_format=3 if kind == "group" else 2)
    before = contents(points.parent)
    result = run("embed", points, "-o", out, *MAKE, *MEMORY, "--force")
    assert result.exit_code == 2
    assert "only a Zarr array is replaced" in result.stderr
    with pytest.raises(InvalidInputError, match="only a Zarr array is replaced"):
        write_blocks(isofold.read_blocks(np.eye(3)), out, overwrite=True)
    assert contents(points.parent) == before


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_array_is_replaced_by_force(points, zarr_format):
    zarr = pytest.importorskip("zarr")
    out = points.parent / "map.zarr"
    zarr.create_array(out, shape=(2, 2), dtype=float, zarr_format=zarr_format)
    result = run("embed", points, "-o", out, *MAKE, *MEMORY)
    assert result.exit_code == 2
    assert "Use --force to replace it" in result.stderr
    assert run("embed", points, "-o", out, *MAKE, *MEMORY, "--force").exit_code == 0
    assert zarr.open_array(out, mode="r").shape == (400, 2)
    assert sorted(points.parent.iterdir()) == [out, points]


def test_link_to_a_zarr_array_stays_a_link(points, tmp_path):
    zarr = pytest.importorskip("zarr")
    there, out = tmp_path / "there", tmp_path / "map.zarr"
    there.mkdir()
    zarr.create_array(there / "kept.zarr", shape=(2, 2), dtype=float)
    out.symlink_to(there / "kept.zarr")
    assert run("embed", points, "-o", out, *MAKE, *MEMORY, "--force").exit_code == 0
    assert out.is_symlink()
    assert zarr.open_array(there / "kept.zarr", mode="r").shape == (400, 2)
    assert list(there.iterdir()) == [there / "kept.zarr"]
