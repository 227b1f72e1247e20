"""Data frames of annotated matrices: columns of rows, names of features, and labels among them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.tables.blocks import column_of
from isofold.tables.stores import Store
from isofold.tables.table import Column
from isofold.tables.text_safety import listed, quoted, refusal

__all__ = ["feature_names", "find_label", "record_fields", "row_columns"]

OLD_CATEGORIES = "__categories"
"""Member of a frame in which anndata 0.7 kept the categories of its columns."""

LABELS = (
    "bulklabels", "celltype", "celltypes", "cellontologyclass", "celltypeontologytermid",
    "louvain", "leiden", "labels", "label", "clusters", "cluster",
)  # fmt: skip
"""Names of columns that tell what a row is, small and without signs between; the best first."""


def feature_names(store: Store, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names in ``var``, numbered where they repeat, or none if there are none."""
    frame = store.get(store.root, "var")
    records = record_fields(store, "var")
    if frame is None or (store.is_array(frame) and not records):
        return (), ("The features have no names.",)
    index = next(iter(records), "") or _index_name(store, frame)
    column = (
        column_of(index, records[index])
        if records
        else _column(store, store.get(frame, index), f"var/{index}")
    )
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


def row_columns(store: Store, n_rows: int) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns of ``obs`` that can be read, and notes about the others."""
    frame = store.get(store.root, "obs")
    if frame is None:
        return (), ()
    if store.is_array(frame):
        found = _record_columns(store)
        if not found:
            note = "'obs' has a format of before 2019 and is left out. Convert it with anndata."
            return (), (note,)
    else:
        found = {
            name: _framed_column(store, frame, name)
            for name in store.names(frame)
            if name != OLD_CATEGORIES
        }
    index = "" if store.is_array(frame) else _index_name(store, frame)
    columns: list[Column] = []
    for name, column in found.items():
        if column is None:
            continue
        if len(column.values) != n_rows:
            problem = f"{len(column.values):,} entries, but the matrix has {n_rows:,} rows."
            raise refusal(store.source, f"column {quoted(name)} of 'obs' has {problem}")
        columns.append(Column("name" if name == index == "_index" else name, column.values))
    left_out = [name for name, column in found.items() if column is None]
    notes = (f"Columns of 'obs' that cannot be read: {listed(left_out)}.",) if left_out else ()
    return tuple(columns), notes


def find_label(columns: Iterable[Column]) -> str | None:
    """Return the name of the column that tells what a row is, if one has a usual name."""
    by_stem: dict[str, Column] = {}
    for column in columns:
        by_stem.setdefault(re.sub(r"[\W_]", "", column.name.lower()), column)
    fitting = (by_stem[stem] for stem in LABELS if stem in by_stem)
    return next((column.name for column in fitting if _has_classes(column)), None)


def _has_classes(column: Column) -> bool:
    """Return whether a column holds text or whole numbers, at least two, and most repeat."""
    values = column.values
    if column.kind == "text":
        different = len({value for value in values if value is not None})
    else:
        known = values[~np.isnan(values)]
        if not np.array_equal(known, np.round(known)):
            return False
        different = len(np.unique(known))
    return 2 <= different <= len(values) // 2


def record_fields(store: Store, path: str) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of an array of records, as which anndata stored frames before 2019."""
    node = store.get(store.root, path)
    is_array = node is not None and store.is_array(node)
    if not is_array or node.dtype.names is None or node.dtype.hasobject:
        return {}
    records = store.array(node, path)
    return {name: records[name] for name in records.dtype.names or ()}


def _record_columns(store: Store) -> dict[str, Column | None]:
    """Return the columns of ``obs`` that is an array of records; ``uns`` has the categories."""
    columns: dict[str, Column | None] = {}
    for name, values in record_fields(store, "obs").items():
        categories = store.get(store.root, f"uns/{name}_categories")
        if categories is not None and values.dtype.kind in "iu":
            columns[name] = _categorical(store, categories, values, name)
        else:
            is_readable = values.ndim == 1 and values.dtype.kind in "biufUS"
            columns[name] = column_of(name, values) if is_readable else None
    return columns


def _index_name(store: Store, frame: Any) -> str:
    return str(store.attribute(frame, "_index") or "_index")


def _framed_column(store: Store, frame: Any, name: str) -> Column | None:
    """Return a column of a frame, whose categories may be beside it."""
    node, categories = store.get(frame, name), store.get(frame, f"{OLD_CATEGORIES}/{name}")
    if categories is None or node is None or not store.is_array(node):
        return _column(store, node, name)
    return _categorical(store, categories, store.array(node, name), name)


def _column(store: Store, node: Any, name: str) -> Column | None:
    """Return one column of a data frame: plain, categorical, or with a mask of the missing."""
    if node is None:
        return None
    if store.is_array(node):
        values = store.array(node, name)
        fits = values.ndim == 1 and values.dtype.kind in "biufUSO"
        return column_of(name, values) if fits else None
    if store.get(node, "categories") is not None:
        codes = store.array(store.get(node, "codes"), name)
        return _categorical(store, store.get(node, "categories"), codes, name)
    if store.get(node, "mask") is not None:
        values = store.array(store.get(node, "values"), name)
        mask = store.array(store.get(node, "mask"), name)
        if values.shape != mask.shape or values.ndim != 1 or mask.dtype != bool:
            raise refusal(store.source, f"column {quoted(name)} is damaged: its mask does not fit.")
        return _masked(column_of(name, values), mask)
    return None


def _categorical(store: Store, node: Any, codes: npt.NDArray[Any], name: str) -> Column:
    """Return a column of categories by their codes; a code of -1 is missing."""
    categories = column_of(name, store.array(node, name))
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
