"""Commands on .h5ad files: the matrix they map, the labels they find, and the map in a copy."""

import json

import anndata
import numpy as np
import pandas as pd
import pytest

from isofold import load
from support.command_runs import WORDS, read_csv, run, write_csv

N = 80
FIT = ("-m", "local-mds", "--set", "n_epochs=20")


@pytest.fixture
def cells(tmp_path):
    generator = np.random.default_rng(0)
    obs = pd.DataFrame({"leiden": pd.Categorical(np.array(WORDS)[np.arange(N) % 3])})
    obs["batch"] = pd.Categorical(np.array(["one", "two"])[np.arange(N) % 2])
    obs.index = obs.index.astype(str)
    components = generator.normal(size=(N, 4))
    components[5, 0] = np.nan
    data = anndata.AnnData(
        generator.normal(size=(N, 7)), obs=obs, obsm={"X_pca": components}, uns={"seed": 1}
    )
    data.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_components_labels_and_page(cells, tmp_path):
    out, page, model = tmp_path / "map.csv", tmp_path / "page.html", tmp_path / "model.iso"
    made = run("embed", cells, *FIT, "-o", out, "--report", page, "--model", model)
    assert made.exit_code == 0, made.stderr
    used = "Used obsm/X_pca (4 columns) of cells.h5ad; --key X maps the 7 columns of X."
    assert made.stderr.count(used) == 1
    assert made.stderr.count("Colored by the column 'leiden'; --label COLUMN chooses another.") == 1
    rows = read_csv(out)
    assert [row["leiden"] for row in rows[:3]] == list(WORDS)
    assert len(rows) == N - 1
    text = page.read_text(encoding="utf-8")
    assert "# X: 4 columns of obsm/X_pca in cells.h5ad" in text
    again = tmp_path / "again.html"
    assert run("report", cells, "--model", model, "-o", again).exit_code == 0
    assert again.read_text(encoding="utf-8") == text
    assert run("report", cells, out, "-o", again, "--force").exit_code == 0
    assert "leiden" in again.read_text(encoding="utf-8")


def test_the_user_chooses(cells, tmp_path):
    out = tmp_path / "map.csv"
    made = run("embed", cells, *FIT, "--key", "X", "-l", "batch", "-o", out)
    assert made.exit_code == 0, made.stderr
    assert "7 columns" in made.stderr
    assert "Colored by" not in made.stderr
    assert "Used" not in made.stderr
    assert list(read_csv(out)[0])[:2] == ["row", "batch"]
    made = run("embed", cells, *FIT, "-x", "leiden", "-o", out, "--force")
    assert list(read_csv(out)[0])[:2] == ["row", "x1"]


def test_new_rows_are_read_as_those_of_the_map(cells, tmp_path):
    model, out = tmp_path / "model.iso", tmp_path / "new.csv"
    assert run("embed", cells, *FIT, "--model", model).exit_code == 0
    made = run("transform", model, cells, "-o", out)
    assert made.exit_code == 0, made.stderr
    assert "Used obsm/X_pca (4 columns) of cells.h5ad, as for the map." in made.stderr
    assert "from the new rows alone do not fit" in made.stderr
    data = anndata.read_h5ad(cells)
    known = np.delete(data.obsm["X_pca"], 5, axis=0)
    found = [[float(row["x1"]), float(row["x2"])] for row in read_csv(out)]
    np.testing.assert_array_equal(found, load(model).transform(known))
    # The same columns of a file of another kind, which has no such matrix.
    np.save(tmp_path / "new.npy", known)
    assert run("transform", model, tmp_path / "new.npy", "-o", out, "--force").exit_code == 0
    del data.obsm["X_pca"]
    data.write_h5ad(tmp_path / "raw.h5ad")
    refused = run("transform", model, tmp_path / "raw.h5ad", "-o", out, "--force")
    assert refused.exit_code == 2
    assert "the map needs the matrix 'obsm/X_pca', which is not there" in refused.stderr


def test_a_model_of_genes_reads_genes(cells, tmp_path):
    model, out = tmp_path / "model.iso", tmp_path / "new.csv"
    assert run("embed", cells, *FIT, "--key", "X", "--model", model).exit_code == 0
    assert run("transform", model, cells, "-o", out).exit_code == 0
    assert len(read_csv(out)) == N


def test_the_map_in_a_copy(cells, tmp_path):
    out, model = tmp_path / "out.h5ad", tmp_path / "model.iso"
    made = run("embed", cells, *FIT, "-o", out, "--model", model)
    assert made.exit_code == 0, made.stderr
    assert "the data with the map in obsm" in made.stderr
    data = anndata.read_h5ad(out)
    fitted = load(model)
    np.testing.assert_array_equal(np.delete(data.obsm["X_isofold"], 5, axis=0), fitted.embedding_)
    assert np.isnan(data.obsm["X_isofold"][5]).all()
    about = data.uns["isofold"]
    assert (about["matrix"], about["method"]) == ("obsm/X_pca", "LocalMDS")
    told = {finding["code"]: finding["text"] for finding in json.loads(about["findings"])}
    assert told == {f.code: f.text() for f in (*fitted.diagnosis_.raised, *fitted.diagnosis_.notes)}
    # Commands that measure find it there.
    scores = run("evaluate", cells, out, "--json")
    assert scores.exit_code == 0, scores.stderr
    assert json.loads(scores.stdout)["n_points"] == N - 1
    placed = tmp_path / "placed.h5ad"
    assert run("transform", model, cells, "-o", placed).exit_code == 0
    assert anndata.read_h5ad(placed).obsm["X_isofold"].shape == (N, 2)


def test_a_copy_needs_such_a_file(cells, tmp_path):
    table = write_csv(tmp_path / "table.csv", ["a", "b"], [[1, 2], [3, 4]])
    refused = run("embed", table, "-o", tmp_path / "out.h5ad")
    assert refused.exit_code == 2
    assert "'table.csv' is no .h5ad file" in refused.stderr
    assert run("embed", cells, "-o", cells, "--force").exit_code == 2
