"""Writing maps into annotated matrices: a copy of an .h5ad file, with the map in ``obsm``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._files import refuse_path
from isofold.tables.text_safety import one_line, quoted, refusal
from isofold.tables.write import atomic_file, check_target

__all__ = ["ANNOTATED_ENDING", "MAP_KEY", "check_annotated", "write_annotated"]

ANNOTATED_ENDING = ".h5ad"
MAP_KEY = "X_isofold"
"""Name of the map in ``obsm``."""

ABOUT = "isofold"
"""Name in ``uns`` of what there is to know about the map."""

# How anndata marks what it writes, by kind: its name and the version of its layout.
ENCODINGS = {"array": "0.2.0", "string": "0.2.0", "dict": "0.1.0"}


def check_annotated(path: Path, source: Path) -> None:
    """Refuse a copy of a file that could not hold a map, before any work is done."""
    if source.suffix.lower() != ANNOTATED_ENDING:
        problem = f"a copy of the input holds the map, but {quoted(source.name)} is no .h5ad file"
        refuse_path(path, f"{problem}. Write .csv, .tsv, .parquet, .npy or .npz")
    h5py = _h5py(path)
    try:
        with h5py.File(source, "r") as file:
            kinds = [file.get(name, getclass=True) for name in ("obsm", "uns")]
    except (OSError, RuntimeError, ValueError, KeyError):
        return  # whoever reads the file says what is wrong with it
    if any(kind not in (None, h5py.Group) for kind in kinds):
        problem = "it has the format of before 2019, to which no map can be added. Read and write "
        raise refusal(quoted(source.name)[1:-1], f"{problem}it with anndata first.")


def write_annotated(
    path: str | os.PathLike[str],
    embedding: npt.ArrayLike,
    *,
    source: Path,
    rows: npt.ArrayLike,
    n_rows: int,
    about: Mapping[str, str],
    overwrite: bool = False,
) -> None:
    """Write a copy of an .h5ad file with a map in ``obsm``, whole or not at all.

    ``obsm["X_isofold"]`` has a row for each of the file, NaN for those that are not on the map,
    and ``uns["isofold"]`` the texts `about` it. Nothing else differs.
    """
    location = check_target(path, overwrite, endings=(ANNOTATED_ENDING,), inputs=(source,))
    h5py = _h5py(location)
    Y = np.asarray(embedding)
    everywhere = np.full((n_rows, Y.shape[1]), np.nan, dtype=Y.dtype)
    everywhere[np.asarray(rows)] = Y
    with atomic_file(location, overwrite) as target:
        try:
            shutil.copyfile(source, target)
            # The temporary file is locked already, by us.
            with h5py.File(target, "r+", locking=False) as file:
                _put(_group(file, "obsm"), MAP_KEY, everywhere, "array")
                uns = _group(file, "uns")
                if ABOUT in uns:
                    del uns[ABOUT]
                texts = _group(uns, ABOUT)
                for name, text in about.items():
                    _put(texts, name, text, "string")
        except (OSError, RuntimeError, ValueError) as error:
            problem = f"the file cannot be written: {one_line(error)}."
            raise refusal(quoted(location.name)[1:-1], problem) from None


def _h5py(path: Path) -> ModuleType:
    return require("h5py", extra="h5ad", purpose=f"Writing {quoted(path.name)[1:-1]}")


def _group(parent: Any, name: str) -> Any:
    """Return a group, made as anndata makes a dictionary if it is not there."""
    if name in parent:
        return parent[name]
    group = parent.create_group(name)
    _mark(group, "dict")
    return group


def _put(group: Any, name: str, value: Any, kind: str) -> None:
    if name in group:
        del group[name]
    group[name] = value
    _mark(group[name], kind)


def _mark(node: Any, kind: str) -> None:
    node.attrs["encoding-type"] = kind
    node.attrs["encoding-version"] = ENCODINGS[kind]
