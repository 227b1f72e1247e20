"""Data files of the command line: tables that are read, maps that are written."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from isofold.tables.annotated_copy import (
        ANNOTATED_ENDING,
        MAP_KEY,
        check_annotated,
        write_annotated,
    )
    from isofold.tables.preparation import Prepared, prepare, preprocess
    from isofold.tables.preprocessing import Preprocessing
    from isofold.tables.read import read_table
    from isofold.tables.table import Column, Table
    from isofold.tables.write import (
        MAP_ENDINGS,
        TABLE_ENDINGS,
        atomic_file,
        check_map_rows,
        check_target,
        write_embedding,
        write_table,
    )

__all__ = [
    "ANNOTATED_ENDING",
    "MAP_ENDINGS",
    "MAP_KEY",
    "TABLE_ENDINGS",
    "Column",
    "Prepared",
    "Preprocessing",
    "Table",
    "atomic_file",
    "check_annotated",
    "check_map_rows",
    "check_target",
    "prepare",
    "preprocess",
    "read_table",
    "write_annotated",
    "write_embedding",
    "write_table",
]

_HOMES = {
    "ANNOTATED_ENDING": "annotated_copy",
    "MAP_ENDINGS": "write",
    "MAP_KEY": "annotated_copy",
    "TABLE_ENDINGS": "write",
    "Column": "table",
    "Prepared": "preparation",
    "Preprocessing": "preprocessing",
    "Table": "table",
    "atomic_file": "write",
    "check_annotated": "annotated_copy",
    "check_map_rows": "write",
    "check_target": "write",
    "prepare": "preparation",
    "preprocess": "preparation",
    "read_table": "read",
    "write_annotated": "annotated_copy",
    "write_embedding": "write",
    "write_table": "write",
}


def __getattr__(name: str) -> _Any:
    # Loaded when first used, so that `isofold --help` does not wait for NumPy and Arrow.
    if name in _HOMES:
        return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
