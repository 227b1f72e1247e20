"""How true maps of tables in blocks are, on the command line."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from isofold.quality import scorecard
from support.command_runs import run
from support.streamed_tables import N_ROWS, points_of, roll_columns, write_parts

X = points_of(roll_columns())
Y = X[:, :2] + 0.02 * np.random.default_rng(0).normal(size=(N_ROWS, 2))


def write_map(path, images, rows):
    columns = {"row": rows, "x1": images[:, 0], "x2": images[:, 1]}
    parquet.write_table(pa.table(columns), path)
    return path


def columns_of(points):
    return dict(zip("xyz", points.T, strict=True))


def evaluated(*args):
    result = run("evaluate", *args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout), result.stderr


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    columns = {**columns_of(X), "id": np.arange(N_ROWS), "kind": np.arange(N_ROWS) % 3}
    return write_parts(tmp_path_factory.mktemp("evaluated") / "parts", columns)


def test_figures_are_those_of_all_rows(parts, tmp_path):
    images = write_map(tmp_path / "map.parquet", Y, np.arange(N_ROWS))
    found, said = evaluated(parts, images, "--label", "kind")
    # Of so few rows all are sampled.
    known = scorecard(X, Y, n_neighbors=12, n_samples=None)
    assert found["n_points"] == N_ROWS
    for name, entry in found["measures"].items():
        assert entry["value"] == pytest.approx(float(known[name]), rel=1e-9), name
    assert "Classes are not measured" in said
    np.save(tmp_path / "map.npy", Y)
    again, _ = evaluated(parts, tmp_path / "map.npy", "--label", "kind")
    assert again["measures"] == found["measures"]


@pytest.mark.parametrize("options", [(), ("--missing", "median", "--scale", "standard")])
def test_rows_are_prepared_as_at_once(tmp_path, options):
    gappy = X.copy()
    gappy[::7, 1] = np.nan
    parts = write_parts(tmp_path / "parts", columns_of(gappy))
    csv.write_csv(pa.table(columns_of(gappy)), tmp_path / "all.csv")
    kept = np.flatnonzero(~np.isnan(gappy[:, 1])) if not options else np.arange(N_ROWS)
    images = write_map(tmp_path / "map.parquet", Y[kept], kept)
    found, said = evaluated(parts, images, *options)
    known, _ = evaluated(tmp_path / "all.csv", images, *options)
    assert found["n_points"] == len(kept) == known["n_points"]
    # Scaled by sums of some hundred numbers, which round in another order.
    for name, entry in found["measures"].items():
        assert entry["value"] == pytest.approx(known["measures"][name]["value"], rel=1e-9), name
    assert (f"{len(kept)} of them used" in said) == (not options)


def test_maps_of_other_rows_are_refused(parts, tmp_path):
    cases = {
        "column 'row' must hold numbers": (Y, np.arange(N_ROWS)[::-1]),
        "map.parquet: it has 399 rows, but the data have 400": (Y[1:], np.arange(1, N_ROWS)),
        "numbers of rows of the data": (Y, np.arange(N_ROWS) + 1),
    }
    for message, (images, rows) in cases.items():
        result = run("evaluate", parts, write_map(tmp_path / "map.parquet", images, rows))
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stdout == ""
    with_text = tmp_path / "map.csv"
    with_text.write_text("x1,x2\none,two\n")
    assert run("evaluate", parts, with_text).exit_code == 2
    assert run("evaluate", parts, with_text.with_suffix(".npz")).exit_code == 2
