"""Embeddings: one file for each method, and `catalog`, the table of all methods."""

from importlib import import_module as _import_module
from typing import Any as _Any

from isofold.embedding.catalog import BY_CLASS as _BY_CLASS
from isofold.embedding.catalog import CATALOG as _CATALOG

__all__ = [method.name for method in _CATALOG if method.is_public]


def __getattr__(name: str) -> _Any:
    # Loaded when first used, so that the catalog costs almost nothing.
    if name in _BY_CLASS:
        return getattr(_import_module(f"{__name__}.{_BY_CLASS[name].home}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
