"""One small valid table in every format, as bytes."""

import gzip
import io
import zipfile
from functools import cache
from types import MappingProxyType

import h5py
import numpy as np
import pyarrow as pa
import zarr
from pyarrow import parquet

N_ROWS = 77
WORDS = ("red", "green", "blue")


def example() -> tuple[np.ndarray, np.ndarray]:
    """Return features and labels."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, 4)).round(6)
    return X, np.array(WORDS)[generator.integers(3, size=N_ROWS)]


def csv_bytes(delimiter: str = ",") -> bytes:
    X, labels = example()
    rows = [
        delimiter.join((*map(repr, map(float, x)), word)) for x, word in zip(X, labels, strict=True)
    ]
    return "\n".join((delimiter.join(("a", "b", "c", "d", "color")), *rows, "")).encode()


def npy_bytes(array: np.ndarray, **options: bool) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz_bytes(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, write_page_checksum=True)
    return buffer.getvalue()


def write_frame(group: h5py.Group, index: list[str], **columns: np.ndarray) -> None:
    """Write a data frame as anndata does."""
    group.attrs.update({"_index": "_index", "encoding-type": "dataframe"})
    group.attrs["column-order"] = np.array(list(columns), dtype=h5py.string_dtype())
    group.create_dataset("_index", data=np.array(index, dtype=object), dtype=h5py.string_dtype())
    for name, values in columns.items():
        is_text = values.dtype.kind in "OU"
        kind = {"dtype": h5py.string_dtype()} if is_text else {}
        group.create_dataset(name, data=values.astype(object) if is_text else values, **kind)


def h5ad_bytes() -> bytes:
    X, labels = example()
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.create_dataset("X", data=X.astype(np.float32))
        write_frame(file.create_group("var"), list("abcd"))
        write_frame(file.create_group("obs"), [f"cell{i}" for i in range(N_ROWS)], color=labels)
    return buffer.getvalue()


def zarr_files(array: np.ndarray, **options: object) -> dict[str, bytes]:
    """Return the files of a Zarr store by their path in it."""
    store = zarr.storage.MemoryStore()
    made = zarr.create_array(store=store, shape=array.shape, dtype=array.dtype, **options)
    made[...] = array
    # Sorted, since chunks are written at the same time and in any order.
    return {name: value.to_bytes() for name, value in sorted(store._store_dict.items())}


def zip_bytes(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return buffer.getvalue()


@cache
def valid_files() -> MappingProxyType[str, bytes]:
    """Return the contents of a valid file by its ending."""
    X, labels = example()
    columns = {name: X[:, place] for place, name in enumerate("abcd")}
    files = {
        "csv": csv_bytes(),
        "csv.gz": gzip.compress(csv_bytes(), mtime=0),
        "parquet": parquet_bytes(pa.table({**columns, "color": labels})),
        "npy": npy_bytes(X),
        "npz": npz_bytes(X=X, color=labels),
        "h5ad": h5ad_bytes(),
        "zarr.zip": zip_bytes(zarr_files(X, chunks=(20, 4))),
    }
    return MappingProxyType(files)
