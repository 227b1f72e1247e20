"""Annotated matrices, as single-cell tools store them: a matrix, columns of rows, gene names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._format import count
from isofold.tables.blocks import choose, distinct, refuse_type, table_of
from isofold.tables.frames import feature_names, find_label, record_fields, row_columns
from isofold.tables.sources import Source, require_room
from isofold.tables.stores import Store, open_hdf5, open_zarr
from isofold.tables.table import Table
from isofold.tables.text_safety import listed, one_line, quoted, refusal

__all__ = ["read_h5ad", "read_zarr"]

GROUPS = ("layers", "obsm")
REDUCED, WHOLE = "obsm/X_pca", "X"
"""What is mapped if nothing else is requested: principal components, as all tools of the field
measure distances between, and where there are none the matrix itself."""

MOST_SIDES = 2


def read_h5ad(source: Source, key: str | None, fitted_key: str | None) -> Table:
    """Read a matrix of an .h5ad file with the columns of ``obs``."""
    with open_hdf5(source) as store:
        return _annotated(store, key, fitted_key)


def read_zarr(source: Source, key: str | None, fitted_key: str | None) -> Table:
    """Read an array, a group of arrays, or an annotated matrix from a Zarr store."""
    with open_zarr(source) as store:
        if store.is_array(store.root):
            return table_of(store.array(store.root, "array"), source.name)
        if store.get(store.root, "obs") is not None:
            return _annotated(store, key, fitted_key)
        return _group(store, key)


def _group(store: Store, key: str | None) -> Table:
    arrays = {name: store.get(store.root, name) for name in store.names(store.root)}
    shapes = {n: tuple(map(int, a.shape)) for n, a in arrays.items() if store.is_array(a)}
    if not shapes:
        inside = f" It holds {listed(arrays)}." if arrays else " It is empty."
        raise refusal(store.source, f"there is no array at the top of the store.{inside}")
    chosen = choose(shapes, key, store.source)
    features = store.array(arrays[chosen], chosen)
    beside = {
        name: store.array(arrays[name], name)
        for name, shape in shapes.items()
        if name != chosen and shape == features.shape[:1]
    }
    readable = {name: values for name, values in beside.items() if values.dtype.kind in "biufUSO"}
    others = sorted(set(arrays) - {chosen, *readable})
    notes = [f"The features are the array {quoted(chosen)}."] if len(arrays) > 1 else []
    if others:
        notes.append(f"Other arrays are left out: {listed(others)}.")
    return table_of(features, store.source, beside=readable, notes=tuple(notes))


def _annotated(store: Store, key: str | None, fitted_key: str | None) -> Table:
    path, about = _find_matrix(store, key, fitted_key)
    matrix = _matrix(store, path)
    if matrix.ndim != MOST_SIDES:
        raise refusal(store.source, f"{quoted(path)} has shape {matrix.shape}: it is not a matrix.")
    names, notes = feature_names(store, matrix.shape[1]) if path[:4] != "obsm" else ((), ())
    columns, more = row_columns(store, len(matrix))
    table = table_of(matrix, store.source, names=names)
    beside = distinct(columns, names)
    return Table(
        columns=beside,
        n_rows=table.n_rows,
        source=table.source,
        has_names=table.has_names,
        block=table.block,
        block_names=table.block_names,
        key=path,
        label=find_label(beside),
        notes=(*about, *notes, *more),
    )


def _find_matrix(
    store: Store, key: str | None, fitted_key: str | None
) -> tuple[str, tuple[str, ...]]:
    """Return the path of the matrix to read, and what there is to say about the choice."""
    inside = [f"{group}/{name}" for group in GROUPS for name in _names(store, group)]
    there = [*([WHOLE] if store.get(store.root, WHOLE) is not None else []), *inside]
    seen = f"There are {listed(there)}." if there else "It holds no matrix."
    if key is not None:
        fitting = [path for path in there if key in (path, path.partition("/")[2])]
        if fitting:
            return fitting[0], ()
        raise refusal(store.source, f"there is no matrix {quoted(key)}. {seen} Choose with --key.")
    if fitted_key is not None:
        if fitted_key in there:
            return fitted_key, (f"{_used(store, fitted_key)}, as for the map.",)
        problem = (
            f"the map needs the matrix {quoted(fitted_key)}, which is not there. {seen} Add it, "
            f"computed as for the map, or name the one that holds the same numbers with --key."
        )
        raise refusal(store.source, problem)
    shape = _shape(store, WHOLE)
    if REDUCED in there and len(_shape(store, REDUCED)) == MOST_SIDES:
        others = f"; --key X maps the {count(shape[-1], 'column')} of X" if shape else ""
        return REDUCED, (f"{_used(store, REDUCED)}{others}.",)
    if WHOLE in there:
        return WHOLE, ()
    raise refusal(store.source, f"there is no matrix {quoted(WHOLE)}. {seen} Choose with --key.")


def _used(store: Store, path: str) -> str:
    shape = _shape(store, path)
    columns = f" ({count(shape[-1], 'column')})" if shape else ""
    return f"Used {quoted(path)[1:-1]}{columns} of {store.source}"


def _names(store: Store, group: str) -> list[str]:
    """Return the names of the matrices in a group, or in an array of records of before 2019."""
    node = store.get(store.root, group)
    if node is not None and store.is_array(node):
        return list(node.dtype.names or ())
    return store.names(node)


def _shape(store: Store, path: str) -> tuple[int, ...]:
    """Return the shape of a matrix that was not read yet; nothing if it is none."""
    node = store.get(store.root, path)
    if node is None:
        group, _, name = path.partition("/")
        records = store.get(store.root, group)
        has_field = records is not None and store.is_array(records) and records.dtype.names
        if not has_field or name not in records.dtype.names:
            return ()
        shape = (*records.shape, *records.dtype[name].shape)
    else:
        shape = node.shape if store.is_array(node) else _sparse_shape(store, node)
    try:
        return tuple(int(side) for side in shape)
    except (TypeError, ValueError):  # of what has no shape, or a damaged one
        return ()


def _matrix(store: Store, path: str) -> npt.NDArray[Any]:
    """Read a matrix: dense, sparse, or a field of records."""
    node = store.get(store.root, path)
    if node is None:
        group, _, name = path.partition("/")
        fields = record_fields(store, group)
        if name not in fields:
            raise refusal(store.source, f"{quoted(path)} is not a matrix of numbers.")
        return fields[name]
    return store.array(node, path) if store.is_array(node) else _dense(store, node, path)


def _sparse_shape(store: Store, node: Any) -> Any:
    shape = store.attribute(node, "shape")
    return store.attribute(node, "h5sparse_shape") if shape is None else shape


def _dense(store: Store, node: Any, path: str) -> npt.NDArray[Any]:
    """Return a sparse matrix as a dense one, if it fits, since distances need dense rows."""
    import scipy.sparse as sp

    within = f"{store.source}, {quoted(path)}"
    kind = store.attribute(node, "encoding-type") or store.attribute(node, "h5sparse_format")
    if kind not in ("csr_matrix", "csc_matrix", "csr", "csc"):
        raise refusal(within, "this is neither a dense nor a sparse matrix of numbers.")
    n_rows, n_columns = _sides(_sparse_shape(store, node), within)
    arrays = {name: store.array(store.get(node, name), f"{path}/{name}") for name in
             ("data", "indices", "indptr")}  # fmt: skip
    refuse_type(arrays["data"].dtype, within)
    if arrays["indices"].dtype.kind not in "iu" or arrays["indptr"].dtype.kind not in "iu":
        raise refusal(within, "the sparse matrix is damaged: its indices are not whole numbers.")
    require_room(3 * n_rows * n_columns * arrays["data"].dtype.itemsize, within)
    make = sp.csr_array if str(kind).startswith("csr") else sp.csc_array
    try:
        matrix = make(
            (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns)
        )
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        problem = f"the sparse matrix is damaged: {one_line(error)}. Write the file again."
        raise refusal(within, problem) from None
    return matrix.toarray()


def _sides(shape: Any, within: str) -> tuple[int, int]:
    try:
        n_rows, n_columns = (int(side) for side in np.asarray(shape).tolist())
    except (TypeError, ValueError):
        raise refusal(within, "the sparse matrix has no shape.") from None
    if n_rows <= 0 or n_columns <= 0:
        raise refusal(within, f"the matrix is empty: its shape is ({n_rows}, {n_columns}).")
    return n_rows, n_columns
