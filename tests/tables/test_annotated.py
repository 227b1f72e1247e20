"""Annotated matrices: which matrix is read, which column labels the rows, and copies with a map."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest

from isofold.exceptions import InvalidInputError
from isofold.tables import check_annotated, prepare, read_table, write_annotated
from isofold.tables.frames import find_label
from isofold.tables.table import Column

N = 6
X = np.arange(18.0).reshape(N, 3)
PCA = X[:, :2] + 0.5
KINDS = np.array(["T", "B", "T", "B", "T", "B"], dtype=object)


@pytest.fixture
def cells(tmp_path):
    obs = pd.DataFrame({"louvain": pd.Categorical(list("010101")), "Cell Type": KINDS})
    obs.index = obs.index.astype(str)
    data = anndata.AnnData(X, obs=obs, obsm={"X_pca": PCA}, uns={"seed": 3})
    data.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def without(path, *members):
    """Remove members of a file."""
    with h5py.File(path, "r+") as file:
        for member in members:
            del file[member]
    return path


def test_components_are_read_where_they_are_there(cells):
    assert read_table(cells).key == "obsm/X_pca"
    assert read_table(cells, key="X").key == "X"
    alone = read_table(without(cells, "X"))
    assert alone.notes[0] == "Used obsm/X_pca (2 columns) of cells.h5ad."
    with pytest.raises(InvalidInputError, match=r"no matrix 'X'. It holds no matrix"):
        read_table(without(cells, "obsm/X_pca"))


def test_components_that_are_no_matrix_are_not_taken_unasked(cells):
    with h5py.File(without(cells, "obsm/X_pca"), "r+") as file:
        file["obsm/X_pca"] = np.arange(6.0)
    table = read_table(cells)
    assert table.key == "X"
    np.testing.assert_array_equal(table.block, X)


def test_the_matrix_of_a_map_is_read_again(cells):
    assert read_table(cells, fitted_key="X").key == "X"
    assert read_table(cells, fitted_key="X", key="X_pca").key == "obsm/X_pca"
    told = "Used obsm/X_pca (2 columns) of cells.h5ad, as for the map."
    assert read_table(cells, fitted_key="obsm/X_pca").notes[0] == told
    without(cells, "obsm/X_pca")
    with pytest.raises(InvalidInputError, match=r"needs the matrix 'obsm/X_pca'.*'X'.*--key"):
        read_table(cells, fitted_key="obsm/X_pca")


def test_the_best_name_labels_the_rows(cells):
    assert read_table(cells).label == "Cell Type"
    assert read_table(without(cells, "obs/Cell Type")).label == "louvain"
    assert read_table(without(cells, "obs/louvain")).label is None


@pytest.mark.parametrize(
    ("values", "is_label"),
    [
        (KINDS, True),
        (np.array([0, 1, 0, 1, np.nan, 1.0]), True),
        (np.array([0, 1, 0, 1, 0.5, 1.0]), False),
        (np.zeros(N), False),
        (np.full(N, np.nan), False),
        (np.array(["T"] * N, dtype=object), False),
        (np.array(list("abcdef"), dtype=object), False),
    ],
)
def test_labels_are_classes(values, is_label):
    columns = [Column("clusters", values), Column("other", KINDS)]
    assert find_label(columns) == ("clusters" if is_label else None)


def test_categories_beside_their_column(cells):
    with h5py.File(without(cells, "obs/louvain", "obs/Cell Type"), "r+") as file:
        file["obs/leiden"] = np.array([0, 1, -1, 1, 0, 1], dtype=np.int8)
        file["obs/__categories/leiden"] = ["NK", "B cell"]
    table = read_table(cells)
    assert table.label == "leiden"
    assert prepare(table, label="leiden").labels.tolist() == ["NK", "B cell", "", "B cell", "NK",
                                                             "B cell"]  # fmt: skip


def test_records_of_before_2019(tmp_path):
    path = tmp_path / "old.h5ad"
    obs = np.zeros(N, dtype=[("index", "S4"), ("louvain", "i1"), ("depth", "f4")])
    obs["index"], obs["louvain"], obs["depth"] = b"cell", [0, 1, 0, 1, 0, 1], np.arange(N)
    obsm = np.zeros(N, dtype=[("X_pca", "f4", (2,))])
    obsm["X_pca"] = PCA
    var = np.array([(b"g1",), (b"g2",), (b"g3",)], dtype=[("index", "S2")])
    with h5py.File(path, "w") as file:
        file["X"], file["obs"], file["obsm"], file["var"] = X, obs, obsm, var
        file["uns/louvain_categories"] = np.array([b"NK", b"B"])
    table = read_table(path)
    assert (table.key, table.label) == ("obsm/X_pca", "louvain")
    prepared = prepare(table, label="louvain")
    np.testing.assert_array_equal(prepared.X, PCA)
    assert prepared.labels.tolist() == ["NK", "B"] * 3
    np.testing.assert_array_equal(prepared.fields["depth"], np.arange(N))
    assert read_table(path, key="X").block_names == ("g1", "g2", "g3")
    with pytest.raises(InvalidInputError, match="before 2019"):
        check_annotated(tmp_path / "new.h5ad", path)


def test_a_copy_has_the_map_and_nothing_else_differs(cells, tmp_path):
    rows, Y = np.array([0, 2, 3, 4, 5]), np.arange(10.0).reshape(5, 2)
    target = tmp_path / "out.h5ad"
    for factor in (1, 2):  # the second replaces the map of the first
        source = cells if factor == 1 else tmp_path / "first.h5ad"
        write_annotated(
            target, factor * Y, source=source, rows=rows, n_rows=N, about={"method": "IPA"}
        )
        made, before = anndata.read_h5ad(target), anndata.read_h5ad(cells)
        found = made.obsm.pop("X_isofold")
        np.testing.assert_array_equal(found[rows], factor * Y)
        assert np.isnan(found[1]).all()
        assert made.uns.pop("isofold") == {"method": "IPA"}
        np.testing.assert_array_equal(made.X, before.X)
        np.testing.assert_array_equal(made.obsm["X_pca"], before.obsm["X_pca"])
        pd.testing.assert_frame_equal(made.obs, before.obs)
        assert set(made.obsm) == {"X_pca"}
        assert dict(made.uns) == dict(before.uns)
        target.rename(tmp_path / "first.h5ad")


def test_copies_have_the_same_bytes(cells, tmp_path):
    paths = [tmp_path / f"{name}.h5ad" for name in "ab"]
    for path in paths:
        write_annotated(path, PCA, source=cells, rows=np.arange(N), n_rows=N, about={"a": "b"})
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_copy_never_replaces_its_source(cells):
    before = cells.read_bytes()
    with pytest.raises(InvalidInputError, match="this is the input file"):
        write_annotated(
            cells, PCA, source=cells, rows=np.arange(N), n_rows=N, about={}, overwrite=True
        )
    assert cells.read_bytes() == before
