"""Files that a command writes: of a known kind, none that is read, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from isofold import _files as _targets
from isofold._files import check_path, refuse_path

__all__ = ["MAP_ENDINGS", "TABLE_ENDINGS", "atomic_file", "check_target"]

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
MAP_ENDINGS = (*TABLE_ENDINGS, ".npy", ".npz")
ALL_ENDINGS = (*MAP_ENDINGS, ".html", ".iso")
PERMISSION = "--force"


def check_target(
    path: str | os.PathLike[str],
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the one option that every caller has
    *,
    endings: Iterable[str] = ALL_ENDINGS,
    inputs: Iterable[str | os.PathLike[str]] = (),
) -> Path:
    """Refuse a file that could not be written at the end of a long work, before it starts."""
    place = Path(path)
    if place.suffix.lower() not in (known := tuple(endings)):
        refuse_path(place, f"the name must end in one of {', '.join(known)}")
    check_path(place, overwrite=overwrite, permission=PERMISSION)
    for source in inputs:
        with suppress(OSError):
            if place.exists() and os.path.samefile(place, source):
                refuse_path(place, "this is the input file. Write to another one")
    return place


def atomic_file(
    path: str | os.PathLike[str],
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the one option that every caller has
) -> AbstractContextManager[Path]:
    """Give a temporary file to write to, which becomes the wanted one when all went well."""
    return _targets.atomic_file(path, overwrite=overwrite, permission=PERMISSION)
