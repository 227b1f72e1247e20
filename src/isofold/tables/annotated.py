"""Annotated matrices, as single-cell tools store them: a matrix, columns of rows, gene names."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.tables.blocks import choose, column_of, distinct, refuse_type, table_of
from isofold.tables.sources import Source, require_room
from isofold.tables.stores import Store, open_hdf5, open_zarr
from isofold.tables.table import Column, Table
from isofold.tables.text_safety import listed, one_line, quoted, refusal

__all__ = ["read_h5ad", "read_zarr"]

GROUPS = ("layers", "obsm")
MOST_SIDES = 2


def read_h5ad(source: Source, key: str | None) -> Table:
    """Read a matrix of an .h5ad file with the columns of ``obs``."""
    with open_hdf5(source) as store:
        return _annotated(store, key)


def read_zarr(source: Source, key: str | None) -> Table:
    """Read an array, a group of arrays, or an annotated matrix from a Zarr store."""
    with open_zarr(source) as store:
        if store.is_array(store.root):
            return table_of(store.array(store.root, "array"), source.name)
        if store.get(store.root, "obs") is not None:
            return _annotated(store, key)
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


def _annotated(store: Store, key: str | None) -> Table:
    path = _find_matrix(store, key)
    node = store.get(store.root, path)
    matrix = store.array(node, path) if store.is_array(node) else _dense(store, node, path)
    if matrix.ndim != MOST_SIDES:
        raise refusal(store.source, f"{quoted(path)} has shape {matrix.shape}: it is not a matrix.")
    names, notes = _feature_names(store, matrix.shape[1]) if path[:4] != "obsm" else ((), ())
    columns, more = _row_columns(store, len(matrix))
    table = table_of(matrix, store.source, names=names)
    return Table(
        columns=distinct(columns, names),
        n_rows=table.n_rows,
        source=table.source,
        has_names=table.has_names,
        block=table.block,
        block_names=table.block_names,
        notes=(*notes, *more),
    )


def _find_matrix(store: Store, key: str | None) -> str:
    """Return the path of the requested matrix."""
    groups = {path: store.get(store.root, path) for path in GROUPS}
    inside = [f"{path}/{name}" for path, group in groups.items() for name in store.names(group)]
    there = [*(["X"] if store.get(store.root, "X") is not None else []), *inside]
    if key is None and "X" in there:
        return "X"
    fitting = [path for path in there if key in (path, path.partition("/")[2])]
    if fitting:
        return fitting[0]
    seen = f"There are {listed(there)}." if there else "It holds no matrix."
    wanted = "X" if key is None else key
    raise refusal(store.source, f"there is no matrix {quoted(wanted)}. {seen} Choose with --key.")


def _dense(store: Store, node: Any, path: str) -> npt.NDArray[Any]:
    """Return a sparse matrix as a dense one, if it fits, since distances need dense rows."""
    import scipy.sparse as sp

    within = f"{store.source}, {quoted(path)}"
    kind = store.attribute(node, "encoding-type") or store.attribute(node, "h5sparse_format")
    shape = store.attribute(node, "shape")
    shape = store.attribute(node, "h5sparse_shape") if shape is None else shape
    if kind not in ("csr_matrix", "csc_matrix", "csr", "csc"):
        raise refusal(within, "this is neither a dense nor a sparse matrix of numbers.")
    n_rows, n_columns = _sides(shape, within)
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


def _feature_names(store: Store, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in ``var``, numbered where they repeat, or none if there are none."""
    frame = store.get(store.root, "var")
    if frame is None or store.is_array(frame):
        return (), ("The features have no names.",)
    index = str(store.attribute(frame, "_index") or "_index")
    column = _column(store, store.get(frame, index), f"var/{index}")
    if column is None or len(column.values) != width:
        raise refusal(store.source, f"'var' does not name the {width:,} columns of the matrix.")
    taken: Counter[str] = Counter()
    names: list[str] = []
    seen: set[str] = set()
    for value in map(str, column.values):
        name = value
        while name in seen:
            taken[value] += 1
            name = f"{value}-{taken[value]}"
        seen.add(name)
        names.append(name)
    repeated = list(taken)
    if not repeated:
        return tuple(names), ()
    return tuple(names), (f"Names that repeat are numbered (name-1, ...): {listed(repeated)}.",)


def _row_columns(store: Store, n_rows: int) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns of ``obs`` that can be read, and notes about the others."""
    frame = store.get(store.root, "obs")
    if frame is None:
        return (), ()
    if store.is_array(frame):
        note = "'obs' has the format of before 2019 and is left out. Convert the file with anndata."
        return (), (note,)
    index = str(store.attribute(frame, "_index") or "_index")
    columns: list[Column] = []
    left_out: list[str] = []
    for name in store.names(frame):
        column = None if name == "__categories" else _column(store, store.get(frame, name), name)
        if column is None:
            left_out.append(name)
        elif len(column.values) != n_rows:
            problem = f"{len(column.values):,} entries, but the matrix has {n_rows:,} rows."
            raise refusal(store.source, f"column {quoted(name)} of 'obs' has {problem}")
        else:
            columns.append(Column("name" if name == index == "_index" else name, column.values))
    notes = (f"Columns of 'obs' that cannot be read: {listed(left_out)}.",) if left_out else ()
    return tuple(columns), notes


def _column(store: Store, node: Any, name: str) -> Column | None:
    """Return one column of a data frame: plain, categorical, or with a mask of the missing."""
    if node is None:
        return None
    if store.is_array(node):
        values = store.array(node, name)
        fits = values.ndim == 1 and values.dtype.kind in "biufUSO"
        return column_of(name, values) if fits else None
    if store.get(node, "categories") is not None:
        return _categorical(store, node, name)
    if store.get(node, "mask") is not None:
        values = store.array(store.get(node, "values"), name)
        mask = store.array(store.get(node, "mask"), name)
        if values.shape != mask.shape or values.ndim != 1 or mask.dtype != bool:
            raise refusal(store.source, f"column {quoted(name)} is damaged: its mask does not fit.")
        return _masked(column_of(name, values), mask)
    return None


def _categorical(store: Store, node: Any, name: str) -> Column:
    categories = column_of(name, store.array(store.get(node, "categories"), name))
    codes = store.array(store.get(node, "codes"), name)
    n_categories = len(categories.values)
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or not _all_within(codes, -1, n_categories):
        raise refusal(store.source, f"column {quoted(name)} is damaged: codes without a category.")
    if n_categories == 0:
        return Column(name, np.full(len(codes), np.nan))
    return _masked(Column(name, categories.values[np.maximum(codes, 0)]), codes < 0)


def _all_within(codes: npt.NDArray[Any], low: int, end: int) -> bool:
    return codes.size == 0 or (int(codes.min()) >= low and int(codes.max()) < end)


def _masked(column: Column, mask: npt.NDArray[np.bool_]) -> Column:
    values = column.values.copy()
    values[mask] = None if column.kind == "text" else np.nan
    return Column(column.name, values)
