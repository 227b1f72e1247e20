"""Writing tables and maps: .csv, .tsv, .parquet, .npy and .npz; whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold import _files
from isofold._files import check_path, refuse_input, refuse_path
from isofold.exceptions import InvalidInputError
from isofold.tables.distinct import distinct_of
from isofold.tables.text_safety import one_line, quoted

__all__ = [
    "MAP_ENDINGS",
    "TABLE_ENDINGS",
    "atomic_file",
    "check_map_rows",
    "check_target",
    "write_embedding",
    "write_table",
]

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
    location = Path(path)
    if location.suffix.lower() not in (known := tuple(endings)):
        refuse_path(location, f"the name must end in one of {', '.join(known)}")
    check_path(location, overwrite=overwrite, permission=PERMISSION)
    refuse_input(location, inputs)
    return location


def atomic_file(
    path: str | os.PathLike[str],
    overwrite: bool = False,  # noqa: FBT001, FBT002 - the one option that every caller has
) -> AbstractContextManager[Path]:
    """Give a temporary file to write to, which becomes the wanted one when all went well."""
    return _files.atomic_file(path, overwrite=overwrite, permission=PERMISSION)


def write_table(
    path: str | os.PathLike[str], columns: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write named columns as a table, whole or not at all."""
    location = check_target(path, overwrite, endings=TABLE_ENDINGS)
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    with atomic_file(location, overwrite) as target:
        _write(target, location, arrays)


def write_embedding(
    path: str | os.PathLike[str],
    embedding: npt.ArrayLike,
    *,
    rows: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    label_name: str = "label",
    names: Sequence[str] = (),
    distortion: npt.ArrayLike | None = None,
    overwrite: bool = False,
) -> None:
    """Write a map, whole or not at all.

    A table has the columns ``row``, ``name`` where rows have names, the label, ``x1`` to ``xr``,
    and ``distortion``. A .npz file holds the same as the arrays ``row``, ``name``, ``label``,
    ``embedding`` and ``distortion``; a .npy file only the coordinates.
    """
    location = check_target(path, overwrite, endings=MAP_ENDINGS)
    ending = location.suffix.lower()
    Y = np.asarray(embedding)
    check_map_rows(location, rows)
    numbers = np.asarray(rows, dtype=np.int64)
    called = {"name": np.array(names, dtype=object)} if names else {}
    errors = {} if distortion is None else {"distortion": np.asarray(distortion)}
    columns = {
        **map_columns(numbers, Y, labels=labels, label_name=label_name, beside=called),
        **errors,
    }
    lengths = {name: len(values) for name, values in columns.items()}
    if set(lengths.values()) != {len(Y)}:
        msg = f"A map of {len(Y):,} points cannot be written with columns of lengths {lengths}."
        raise InvalidInputError(msg)
    with atomic_file(location, overwrite) as target:
        if ending == ".npy":
            _write_arrays(target, location, Y)
        elif ending == ".npz":
            plain = {} if labels is None else {"label": _plain(np.asarray(labels))}
            plain |= {name: _plain(values) for name, values in called.items()}
            arrays = {"row": numbers, **plain, "embedding": Y, **errors}
            _write_arrays(target, location, arrays)
        else:
            _write(target, location, columns)


def map_columns(
    rows: npt.NDArray[Any],
    Y: npt.NDArray[Any],
    *,
    labels: npt.ArrayLike | None,
    label_name: str,
    beside: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a map: rows, what is beside them, labels, coordinates."""
    columns = {"row": rows, **beside}
    coordinates = {f"x{axis + 1}": Y[:, axis] for axis in range(Y.shape[1])}
    if labels is not None:
        taken = {*columns, *coordinates, "distortion"}
        columns[f"label {label_name}" if label_name in taken else label_name] = np.asarray(labels)
    return {**columns, **coordinates}


def check_map_rows(path: str | os.PathLike[str], rows: npt.ArrayLike) -> None:
    """Refuse a .npy file for a map of some rows only: it could not say which they are."""
    used = np.asarray(rows)
    location = Path(path)
    if location.suffix.lower() == ".npy" and not np.array_equal(used, np.arange(len(used))):
        msg = (
            f"{quoted(location.name)[1:-1]}: rows with missing values are left out, and a .npy "
            f"file, which holds only coordinates, cannot say which. Write .csv, .parquet or .npz, "
            f"or pass --missing median."
        )
        raise InvalidInputError(msg)


def _write(target: Path, location: Path, columns: Mapping[str, npt.NDArray[Any]]) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    data = pa.table({name: arrow_of(values) for name, values in columns.items()})
    try:
        # Arrow does not take names with bytes that are not text, but it takes files.
        with target.open("wb") as file:
            if location.suffix.lower() == ".parquet":
                parquet.write_table(data, file)
            else:
                delimiter = "\t" if location.suffix.lower() == ".tsv" else ","
                csv.write_csv(data, file, csv.WriteOptions(delimiter=delimiter))
    except (pa.ArrowException, OSError) as error:
        raise _failure(location, error) from None


def arrow_of(values: npt.NDArray[Any]) -> Any:
    """Return values as an array of Arrow."""
    import pyarrow as pa

    if values.dtype.kind not in "OUST":
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    distinct, codes = distinct_of(values)
    # Half characters, from names that were no valid text, cannot be written as UTF-8.
    texts = [None if v is None else str(v).encode("utf-8", "replace").decode() for v in distinct]
    return pa.array(texts, pa.string()).take(pa.array(codes))


def _write_arrays(target: Path, location: Path, content: Any) -> None:
    try:
        with target.open("wb") as file:
            if isinstance(content, dict):
                np.savez_compressed(file, allow_pickle=False, **content)
            else:
                np.save(file, content, allow_pickle=False)
    except OSError as error:
        raise _failure(location, error) from None


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return objects as text of fixed width, which needs no pickle."""
    if values.dtype != object:
        return values
    return np.array(["" if value is None else str(value) for value in values], dtype=np.str_)


def _failure(location: Path, error: Exception) -> InvalidInputError:
    reason = getattr(error, "strerror", None) or error
    problem = f"the file cannot be written: {one_line(reason)}."
    return InvalidInputError(f"{quoted(location.name)[1:-1]}: {problem}")
