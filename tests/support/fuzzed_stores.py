"""HDF5 and Zarr stores that are no tables, lead elsewhere, or are larger than any memory."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np

from support.valid_files import N_ROWS, example, write_frame, zarr_files, zip_bytes

Variant = tuple[str, bytes | Callable[[Path], None], bool]
MATRIX = np.arange(12.0).reshape(4, 3)


def store_variants() -> Iterator[Variant]:
    for name, build in HDF5.items():
        yield f"{name}.h5ad", _hdf5(build), True
    # Written late, since HDF5 fills up this one with whatever bytes it finds in memory.
    yield "virtual.h5ad", lambda path: path.write_bytes(_hdf5(_virtual)), True
    for name, files in _zarr_stores().items():
        yield f"{name}.zarr", _folder(files), True
        yield f"{name}.zarr.zip", zip_bytes(files), True
    yield "valid-group.zarr", _folder(_group({"X": MATRIX, "y": MATRIX[:, 0]})), False
    yield "valid-sparse.h5ad", _hdf5(_sparse()), False
    yield "valid-no-names.h5ad", _hdf5(_dense(MATRIX)), False
    yield "missing-chunks.zarr", _folder(_without_chunks()), False


def _hdf5(build: Callable[[h5py.File], None]) -> bytes:
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        build(file)
    return buffer.getvalue()


def _dense(array: object, **options: object) -> Callable[[h5py.File], None]:
    return lambda file: file.create_dataset("X", data=array, **options)


def _large(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Callable[[h5py.File], None]:
    return lambda file: file.create_dataset("X", shape, "f8", chunks=chunks)


def _sparse(**changes: object) -> Callable[[h5py.File], None]:
    """Return what writes a sparse matrix of two entries in which some part is wrong."""
    parts = {
        "data": np.array([1.0, 2.0]),
        "indices": np.array([0, 2]),
        "indptr": np.array([0, 1, 2]),
    }
    attributes = {"encoding-type": "csr_matrix", "shape": np.array([2, 3])}

    def build(file: h5py.File) -> None:
        group = file.create_group("X")
        for name, values in {**parts, **changes}.items():
            if name in parts and values is not None:
                group.create_dataset(name, data=values)
        for name, value in {**attributes, **changes}.items():
            if name not in parts and value is not None:
                group.attrs[name] = value

    return build


def _with_frame(place: str, n_rows: int, **columns: np.ndarray) -> Callable[[h5py.File], None]:
    def build(file: h5py.File) -> None:
        file.create_dataset("X", data=MATRIX)
        write_frame(file.create_group(place), [f"n{i}" for i in range(n_rows)], **columns)

    return build


def _categories(codes: list[int]) -> Callable[[h5py.File], None]:
    def build(file: h5py.File) -> None:
        file.create_dataset("X", data=MATRIX)
        write_frame(file.create_group("obs"), list("pqrs"))
        column = file["obs"].create_group("kind")
        column.create_dataset("codes", data=np.array(codes))
        column.create_dataset("categories", data=["a", "b"], dtype=h5py.string_dtype())

    return build


def _external_link(file: h5py.File) -> None:
    file["X"] = h5py.ExternalLink("other.h5ad", "/X")


def _external_data(file: h5py.File) -> None:
    file.create_dataset("X", (4, 3), "f8", external=[("/etc/passwd", 0, 96)])


def _virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(shape=(4, 3), dtype="f8")
    layout[...] = h5py.VirtualSource("other.h5ad", "X", shape=(4, 3))
    file.create_virtual_dataset("X", layout)


def _soft_circle(file: h5py.File) -> None:
    file["X"] = h5py.SoftLink("/Y")
    file["Y"] = h5py.SoftLink("/X")


def _own_parent(file: h5py.File) -> None:
    file["X"] = file["/"]


def _references(file: h5py.File) -> None:
    target = file.create_dataset("other", data=MATRIX)
    file.create_dataset("X", data=np.array([[target.ref]] * 4, dtype=h5py.ref_dtype))


def _lists(file: h5py.File) -> None:
    dataset = file.create_dataset("X", (4,), h5py.vlen_dtype(np.float64))
    dataset[0] = [1.0, 2.0]


def _masked(file: h5py.File) -> None:
    file.create_dataset("X", data=MATRIX)
    write_frame(file.create_group("obs"), list("pqrs"))
    column = file["obs"].create_group("count")
    column.create_dataset("values", data=np.arange(4))
    column.create_dataset("mask", data=np.zeros(9, dtype=bool))


HDF5: dict[str, Callable[[h5py.File], object]] = {
    "nothing": lambda file: None,
    "no-matrix": lambda file: write_frame(file.create_group("obs"), list("abc")),
    "empty-group": lambda file: file.create_group("X"),
    "text": _dense([["a", "b"], ["c", "d"]]),
    "number": _dense(5.0),
    "list": _dense(np.arange(9.0)),
    "cube": _dense(np.zeros((3, 3, 3))),
    "null": _dense(h5py.Empty("f8")),
    "zero-rows": _dense(np.zeros((0, 5))),
    "zero-columns": _dense(np.zeros((5, 0))),
    "complex": _dense(MATRIX + 1j),
    "records": _dense(np.zeros((3, 2), dtype=[("a", "f8"), ("b", "i4")])),
    "infinite": _dense(np.where(MATRIX == 5, np.inf, MATRIX)),
    "missing": _dense(np.full((5, 5), np.nan)),
    "huge": _dense(MATRIX * 1e300),
    "constant": _dense(np.ones((5, 5))),
    "one-row": _dense(MATRIX[:1]),
    "terabytes": _large((10**9, 1000), (1000, 100)),
    "exabytes": _large((2**40, 2**20), (100, 100)),
    "gigabytes-of-nothing": _large((2**20, 2**10), (100, 100)),
    "large-chunks": _large((10**6, 10**6), (20_000, 20_000)),
    "sparse-no-data": _sparse(data=None),
    "sparse-no-indices": _sparse(indices=None),
    "sparse-no-pointers": _sparse(indptr=None),
    "sparse-no-shape": _sparse(shape=None),
    "sparse-no-type": _sparse(**{"encoding-type": None}),
    "sparse-strange-type": _sparse(**{"encoding-type": "coo_matrix"}),
    "sparse-outside": _sparse(indices=np.array([0, 99])),
    "sparse-negative": _sparse(indices=np.array([0, -1])),
    "sparse-pointers-decrease": _sparse(indptr=np.array([0, 2, 1])),
    "sparse-pointers-beyond": _sparse(indptr=np.array([0, 1, 10**6])),
    "sparse-pointers-few": _sparse(indptr=np.array([0, 2])),
    "sparse-pointers-start": _sparse(indptr=np.array([1, 1, 2])),
    "sparse-text": _sparse(data=np.array([b"a", b"b"])),
    "sparse-fractions": _sparse(indices=np.array([0.5, 1.5])),
    "sparse-terabytes": _sparse(shape=np.array([2, 10**13])),
    "sparse-square": _sparse(shape=np.array([10**9, 10**9])),
    "sparse-negative-shape": _sparse(shape=np.array([-2, 3])),
    "sparse-flat-shape": _sparse(shape=np.array([6])),
    "sparse-word-shape": _sparse(shape="two by three"),
    "external-link": _external_link,
    "external-data": _external_data,
    "circle": _soft_circle,
    "own-parent": _own_parent,
    "references": _references,
    "lists": _lists,
    "obs-too-long": _with_frame("obs", 9),
    "obs-column-short": _with_frame("obs", 4, depth=np.arange(3.0)),
    "var-too-long": _with_frame("var", 9),
    "codes-beyond": _categories([0, 1, 2, 0]),
    "codes-negative": _categories([0, 1, -7, 0]),
    "codes-few": _categories([0, 1]),
    "mask-too-long": _masked,
}


def _zarr_stores() -> dict[str, dict[str, bytes]]:
    """Return the files of stores that cannot be tables."""
    X, _ = example()
    good = zarr_files(X, chunks=(20, 4))
    chunk = next(name for name in good if name != "zarr.json")
    text = good["zarr.json"]
    old = zarr_files(X, chunks=(20, 4), zarr_format=2)

    def changed(**parts: object) -> dict[str, bytes]:
        return {**good, "zarr.json": json.dumps({**json.loads(text), **parts}).encode()}

    def old_changed(**parts: object) -> dict[str, bytes]:
        return {**old, ".zarray": json.dumps({**json.loads(old[".zarray"]), **parts}).encode()}

    def grid(*sides: int) -> dict[str, object]:
        return {"name": "regular", "configuration": {"chunk_shape": sides}}

    raw = [{"name": "bytes", "configuration": {"endian": "little"}}]
    stores = {
        "no-metadata": {name: value for name, value in good.items() if name != "zarr.json"},
        "metadata-empty": {**good, "zarr.json": b""},
        "metadata-half": {**good, "zarr.json": text[: len(text) // 2]},
        "metadata-list": {**good, "zarr.json": b"[]"},
        "metadata-binary": {**good, "zarr.json": bytes(range(256))},
        "metadata-deep": {**good, "zarr.json": b"[" * 100_000},
        "format": changed(zarr_format=9),
        "node": changed(node_type="planet"),
        "type": changed(data_type="quaternion"),
        "type-text": changed(data_type="string"),
        "type-complex": changed(data_type="complex128", fill_value=[0.0, 0.0]),
        "shape-negative": changed(shape=[-5, 4]),
        "shape-text": changed(shape="large"),
        "shape-terabytes": changed(shape=[10**12, 4]),
        "shape-exabytes": changed(shape=[2**62, 4]),
        "shape-zero": changed(shape=[0, 4]),
        "chunks-terabytes": changed(shape=[10**12, 4], chunk_grid=grid(10**12, 4)),
        "chunks-zero": changed(chunk_grid=grid(0, 4)),
        "chunks-other": changed(chunk_grid=grid(77, 4), codecs=raw),
        "codec-unknown": changed(codecs=[*raw, {"name": "numcodecs.pickle"}]),
        "codec-none": changed(codecs=[]),
        "fill-infinite": changed(shape=[N_ROWS + 40, 4], fill_value="Infinity"),
        "chunk-empty": {**good, chunk: b""},
        "chunk-noise": {**good, chunk: bytes(range(256))},
        "chunk-cut": {**good, chunk: good[chunk][: len(good[chunk]) // 2]},
        "old-pickle": old_changed(dtype="|O", filters=[{"id": "pickle"}], fill_value=None),
        "old-json": old_changed(dtype="|O", filters=[{"id": "json2"}], fill_value=None),
        "old-codec": old_changed(compressor={"id": "nonsense"}),
        "old-shape": old_changed(shape=[2**61, 4]),
        "old-text": old_changed(dtype="<U9", fill_value=""),
        "old-dates": old_changed(dtype="<M8[s]", fill_value=0),
        "group-empty": _group({}),
        "group-of-lists": _group({"a": MATRIX[:, 0], "b": MATRIX[:, 1]}),
        "group-unclear": _group({"train": MATRIX, "test": MATRIX}),
        "missing": zarr_files(np.full((9, 3), np.nan)),
        "infinite": zarr_files(np.where(MATRIX == 5, np.inf, MATRIX)),
        "constant": zarr_files(np.ones((9, 3))),
    }
    return {f"store-{name}": files for name, files in stores.items()}


def _group(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    files = {"zarr.json": b'{"zarr_format": 3, "node_type": "group", "attributes": {}}'}
    for name, array in arrays.items():
        files.update({f"{name}/{part}": c for part, c in zarr_files(array).items()})
    return files


def _without_chunks() -> dict[str, bytes]:
    X, _ = example()
    files = zarr_files(X, chunks=(20, 4))
    return {name: content for name, content in files.items() if not name.endswith("1/0")}


def _folder(files: dict[str, bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        for name, content in files.items():
            target = path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    return write
