"""The same table in every format is the same table; each format keeps what it alone can say."""

import gzip
import sys

import anndata
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import zarr
from pyarrow import parquet

from isofold import tables as files
from isofold.exceptions import InvalidInputError, MemoryLimitError, MissingDependencyError
from isofold.tables import prepare, read_table
from support.valid_files import csv_bytes, example, valid_files

X, LABELS = example()


def write_zarr_group(path):
    group = zarr.open_group(path, mode="w")
    group.create_array("X", data=X)
    group.create_array("color", shape=LABELS.shape, dtype=str)[...] = LABELS


WRITERS = {
    "a.csv": lambda path: path.write_bytes(csv_bytes()),
    "a.CSV": lambda path: path.write_bytes(csv_bytes()),
    "a.tsv": lambda path: path.write_bytes(csv_bytes("\t")),
    "a.txt": lambda path: path.write_bytes(csv_bytes(";")),
    "bar.txt": lambda path: path.write_bytes(csv_bytes("|")),
    "blank.txt": lambda path: path.write_bytes(csv_bytes(" ")),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(csv_bytes())),
    "a.parquet": lambda path: path.write_bytes(valid_files()["parquet"]),
    "a.pq": lambda path: path.write_bytes(valid_files()["parquet"]),
    "a.npy": lambda path: np.save(path, X),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(X)),
    "big-endian.npy": lambda path: np.save(path, X.astype(">f8")),
    "a.npz": lambda path: np.savez(path, X=X, color=LABELS),
    "packed.npz": lambda path: np.savez_compressed(path, arr_0=X, color=LABELS),
    "a.zarr": write_zarr_group,
    "a.zarr.zip": lambda path: path.write_bytes(valid_files()["zarr.zip"]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_same_table_in_every_format(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    table = read_table(path)
    with_label = "color" in table.names
    prepared = prepare(table, label="color" if with_label else None)
    np.testing.assert_array_equal(prepared.X, X)
    assert prepared.X.dtype == np.float64
    assert with_label == (not name.endswith((".npy", ".zip")))
    if with_label:
        np.testing.assert_array_equal(prepared.labels, LABELS)


@pytest.mark.parametrize(
    "encode", [np.asarray, sp.csr_matrix, sp.csc_matrix], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
@pytest.mark.filterwarnings("ignore:Writing zarr v2:UserWarning")
def test_annotated_matrix(tmp_path, ending, encode):
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(["u", "v", None, "u"]),
            "depth": [1.5, np.nan, 2.5, 3.5],
            "count": pd.array([1, None, 3, 4], dtype="Int64"),
            "doublet": [True, False, False, True],
        },
        index=list("pqrs"),
    )
    matrix = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0], [0, 0, 7]], dtype=np.float32)
    data = anndata.AnnData(encode(matrix), obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    data.obsm["X_pca"] = np.arange(8.0).reshape(4, 2)
    data.layers["double"] = encode(2 * matrix)
    path = tmp_path / f"a.{ending}"
    (data.write_h5ad if ending == "h5ad" else data.write_zarr)(path)
    prepared = prepare(read_table(path, key="X"), label="kind")
    np.testing.assert_array_equal(prepared.X, matrix)
    assert prepared.X.dtype == np.float32
    assert prepared.preprocessing.features == ("g1", "g2", "g3")
    assert prepared.preprocessing.key == "X"
    assert prepared.labels.tolist() == ["u", "v", "", "u"]
    assert prepared.fields["name"].tolist() == list("pqrs")
    assert prepared.fields["doublet"].tolist() == [1, 0, 0, 1]
    np.testing.assert_array_equal(prepared.fields["count"], [1, np.nan, 3, 4])
    np.testing.assert_array_equal(prepared.fields["depth"], [1.5, np.nan, 2.5, 3.5])
    layer = prepare(read_table(path, key="double"))
    np.testing.assert_array_equal(layer.X, 2 * matrix)
    for key in ("obsm/X_pca", "X_pca", None):
        reduced = prepare(read_table(path, key=key))
        np.testing.assert_array_equal(reduced.X, data.obsm["X_pca"])
        assert reduced.preprocessing.features == 2
        assert reduced.preprocessing.key == "obsm/X_pca"
    told = f"Used obsm/X_pca (2 columns) of a.{ending}; --key X maps the 3 columns of X."
    assert reduced.notes[0] == told
    with pytest.raises(InvalidInputError, match=r"no matrix 'Y'.*'layers/double'"):
        read_table(path, key="Y")


def test_repeated_gene_names_are_numbered(tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = X[:, :3]
        file.create_group("var").create_dataset("_index", data=["g", "g", "h"])
    table = read_table(path)
    assert table.names == ("g", "g-1", "h")
    assert any("numbered" in note for note in table.notes)


def test_sparse_that_would_not_fit_is_refused_with_the_figure(tmp_path, monkeypatch):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": [1000, 10**6]})
        group["data"], group["indices"] = np.ones(2), np.array([0, 5])
        group["indptr"] = np.minimum(np.arange(1001), 2)
    monkeypatch.setattr("isofold._memory.available_bytes", lambda: 2**33)
    with pytest.raises(MemoryLimitError, match=r"22\.4 GiB, but 8\.0 GiB"):
        read_table(path)


def test_large_arrays_stay_on_the_disk(tmp_path):
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    prepared = prepare(read_table(tmp_path / "a.npy"))
    assert prepared.X.dtype == np.float32
    assert isinstance(prepared.X, np.memmap)


def test_files_larger_than_memory_are_not_read(tmp_path, monkeypatch):
    for ending in ("csv", "csv.gz", "parquet", "npz", "h5ad", "zarr.zip"):
        path = tmp_path / f"a.{ending}"
        path.write_bytes(valid_files()[ending])
        read_table(path)
        with monkeypatch.context() as patch:
            patch.setattr("isofold._memory.available_bytes", lambda: 1000)
            patch.setattr("isofold.tables.encoding.available_bytes", lambda: 1000)
            with pytest.raises(MemoryLimitError, match="are available"):
                read_table(path)


@pytest.mark.parametrize(
    ("shape", "pictures"),
    [
        ((5, 4, 3), (5, 4, 3)),
        ((5, 4, 6, 3), (5, 4, 6, 3)),
        ((5, 4, 6, 1), (5, 4, 6)),
        ((5, 3, 4, 6), (5, 4, 6, 3)),
        ((5, 2, 2, 2, 2), None),
        ((5, 1, 7), None),
    ],
)
def test_pictures_are_flattened_and_remembered(tmp_path, shape, pictures):
    array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    np.save(tmp_path / "a.npy", array)
    prepared = prepare(read_table(tmp_path / "a.npy"))
    np.testing.assert_array_equal(prepared.X, array.reshape(5, -1))
    assert prepared.X.dtype == np.float32
    assert (None if prepared.images is None else prepared.images.shape) == pictures
    if pictures == shape:
        np.testing.assert_array_equal(prepared.images, array)
        assert prepared.images.dtype == np.uint8


def test_a_list_is_one_column(tmp_path):
    np.save(tmp_path / "a.npy", np.array([3, 1, 2]))
    assert prepare(read_table(tmp_path / "a.npy")).X.tolist() == [[3.0], [1.0], [2.0]]


def test_archive_with_several_arrays(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, train=X, test=X[:9], y=np.arange(len(X)) % 3, other=np.ones(4))
    with pytest.raises(InvalidInputError, match=r"'train' \(77 x 4\), 'test' \(9 x 4\).*--key"):
        read_table(path)
    with pytest.raises(InvalidInputError, match="Did you mean 'train'"):
        read_table(path, key="trains")
    table = read_table(path, key="train")
    assert [column.name for column in table.columns] == ["y"]
    assert any("'test' and" in note or "'other' and 'test'" in note for note in table.notes)
    # What lies beside an array is no feature of it.
    assert prepare(table).X.shape == X.shape


def test_parquet_types(tmp_path):
    columns = {
        "f4": pa.array([1.5, None, 2.5], pa.float32()),
        "i8": pa.array([1, 2, None], pa.int8()),
        "flag": pa.array([True, None, False]),
        "money": pa.array(["1.25", "2.50", None]).cast(pa.decimal128(9, 2)),
        "day": pa.array([0, 1, None], pa.date32()),
        "word": pa.array(["x", None, "y"]).dictionary_encode(),
        "nothing": pa.nulls(3),
        "vector": pa.array([[1, 2], [3, 4], [5, 6]]),
        "large": pa.array([2**60, 1, 2]),
        "nested": pa.array([{"a": 1}, {"a": 2}, {"a": 3}]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    found = {column.name: column for column in table.columns}
    nan = np.nan
    for name, values in {
        "f4": [1.5, nan, 2.5], "i8": [1, 2, nan], "flag": [1, nan, 0], "money": [1.25, 2.5, nan],
        "nothing": [nan] * 3, "vector[0]": [1, 3, 5], "vector[1]": [2, 4, 6],
    }.items():  # fmt: skip
        np.testing.assert_array_equal(found[name].values, values)
        assert found[name].kind == "number"
    assert found["f4"].values.dtype == np.float32
    assert found["day"].values.tolist() == ["1970-01-01", "1970-01-02", None]
    assert found["word"].values.tolist() == ["x", None, "y"]
    assert found["nothing"].is_empty
    assert "nested" not in found
    assert any("'nested'" in note for note in table.notes)
    assert any("'large'" in note and "2**53" in note for note in table.notes)


def test_float32_columns_make_float32_features(tmp_path):
    data = pa.table(
        {"a": pa.array([1, 2, 3], pa.float32()), "b": pa.array([1, 0, 5], pa.float32())}
    )
    parquet.write_table(data, tmp_path / "a.parquet")
    assert prepare(read_table(tmp_path / "a.parquet")).X.dtype == np.float32


@pytest.mark.parametrize(("ending", "module"), [("h5ad", "h5py"), ("zarr.zip", "zarr")])
def test_missing_packages_are_named(tmp_path, monkeypatch, ending, module):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(valid_files()[ending])
    monkeypatch.setitem(sys.modules, module, None)
    extra = ending.partition(".")[0]
    with pytest.raises(MissingDependencyError, match=rf"isofold\[{extra}\]") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "name of the input file is empty"),
        ("-", "Tables are not read from a pipe"),
        ("a\0b.csv", "cannot be opened"),
        ("x" * 5000 + ".csv", "cannot be opened"),
        ("/dev/zero", "device"),
        ("tabel.csv", r"no such file\. Did you mean 'table\.csv'"),
        ("no/such/folder.csv", "no such file"),
    ],
)
def test_paths_that_are_no_files(tmp_path, monkeypatch, path, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_bytes(csv_bytes())
    with pytest.raises(InvalidInputError, match=words) as caught:
        read_table(path)
    assert str(caught.value).isprintable()


def test_files_one_may_not_read(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_bytes(csv_bytes())

    def forbidden(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", forbidden)
    with pytest.raises(InvalidInputError, match="cannot be read: Permission denied"):
        read_table(path)


def test_every_public_name_is_there():
    assert all(getattr(files, name) is not None for name in files.__all__)
    assert set(files.__all__) <= set(dir(files))
    with pytest.raises(AttributeError, match="no_such_name"):
        files.no_such_name  # noqa: B018
