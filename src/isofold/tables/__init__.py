"""Data files of the command line: tables read from strangers' files, maps written whole or not."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from isofold.tables.preparation import Prepared, apply_recipe, prepare
    from isofold.tables.preprocess import Recipe
    from isofold.tables.read import read_table
    from isofold.tables.table import Column, Table
    from isofold.tables.targets import MAP_ENDINGS, TABLE_ENDINGS, atomic_file, check_target
    from isofold.tables.write import check_map_rows, write_embedding, write_table

__all__ = [
    "MAP_ENDINGS",
    "TABLE_ENDINGS",
    "Column",
    "Prepared",
    "Recipe",
    "Table",
    "apply_recipe",
    "atomic_file",
    "check_map_rows",
    "check_target",
    "prepare",
    "read_table",
    "write_embedding",
    "write_table",
]

_HOMES = {
    "MAP_ENDINGS": "targets",
    "TABLE_ENDINGS": "targets",
    "Column": "table",
    "Prepared": "preparation",
    "Recipe": "preprocess",
    "Table": "table",
    "apply_recipe": "preparation",
    "atomic_file": "targets",
    "check_map_rows": "write",
    "check_target": "targets",
    "prepare": "preparation",
    "read_table": "read",
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
