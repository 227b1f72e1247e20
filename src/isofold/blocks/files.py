"""Row blocks of files that follow each other: Parquet by row groups, CSV and .npy by rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.blocks.arrays import rules_for
from isofold.blocks.protocol import RowBlocks, TablePart, default_rows
from isofold.exceptions import InvalidInputError

__all__ = ["ENDINGS", "MISSING", "FileBlocks", "column_types", "find_files", "read_explained"]

PARQUET, CSV, NPY = (".parquet", ".pq"), (".csv", ".tsv"), (".npy",)
ENDINGS = (*PARQUET, *CSV, *NPY)

MISSING = (
    "", "NA", "na", "N/A", "n/a", "#N/A", "NaN", "nan", "-NaN", "NAN",
    "null", "NULL", "Null", "None", "none", "?", "-",
)  # fmt: skip
"""What stands for a missing value in a text file."""

BYTES_A_NUMBER = 16
"""Characters that a number in a CSV file takes, about: blocks of CSV are counted in bytes."""


class FileBlocks(RowBlocks):
    """Blocks of files of one kind that follow each other."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        columns: Sequence[str] = (),
        rows: int | None = None,
        dtype: Any = None,
        missing: Any = "error",
    ) -> None:
        self.paths = tuple(paths)
        if len({_kind(path) for path in self.paths}) > 1:
            seen = ", ".join(sorted({path.suffix for path in self.paths}))
            msg = (
                f"The files of one table need one kind, but these end in {seen}. Name one of them."
            )
            raise InvalidInputError(msg)
        first = self.paths[0]
        with read_explained(first):
            kinds = column_types(first)
            self.names = tuple(columns) or (() if _kind(first) == NPY else tuple(kinds))
            _refuse_absent(first, self.names, kinds)
            types = [kinds[name] for name in self.names] or list(kinds.values())
            _refuse_text(first, self.names, types)
        self.rules = rules_for(len(types), np.result_type(*types), dtype, missing)
        self._step = rows or default_rows(len(types))
        self._parts = [part for path in self.paths for part in self._parts_of(path)]
        counts = [part.n_rows for part in self._parts]
        self.n_rows = None if None in counts else sum(n or 0 for n in counts)

    def parts(self) -> Sequence[TablePart]:
        """Return the parts: row groups of Parquet, slices of .npy, whole CSV files."""
        return self._parts

    def _parts_of(self, path: Path) -> Iterator[TablePart]:
        if _kind(path) == CSV:
            yield _TextPart(path, self.names, self._step)
            return
        with read_explained(path):
            yield from (self._groups if _kind(path) == PARQUET else self._slices)(path)

    def _groups(self, path: Path) -> Iterator[TablePart]:
        """Yield runs of row groups of up to a block's rows; a larger group is a run of its own."""
        from pyarrow import parquet

        metadata = parquet.read_metadata(path)
        run: list[int] = []
        n = 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if run and n + size > self._step:
                yield _GroupPart(path, self.names, tuple(run), n, self._step)
                run, n = [], 0
            run.append(group)
            n += size
        if run:
            yield _GroupPart(path, self.names, tuple(run), n, self._step)

    def _slices(self, path: Path) -> Iterator[TablePart]:
        n = int(_memory_map(path).shape[0])
        for start in range(0, n, self._step):
            yield _SlicePart(path, start, min(start + self._step, n))


@dataclass(frozen=True)
class _GroupPart:
    """Row groups of a Parquet file."""

    path: Path
    names: tuple[str, ...]
    groups: tuple[int, ...]
    n_rows: int
    step: int

    @property
    def name(self) -> str:
        return self.path.name

    def read(self) -> Iterator[npt.NDArray[Any]]:
        from pyarrow import parquet

        # Without buffers of whole groups: blocks are all that memory holds.
        with (
            read_explained(self.path),
            parquet.ParquetFile(self.path, memory_map=False, pre_buffer=False) as file,
        ):
            _refuse_absent(self.path, self.names, file.schema_arrow.names)
            names, groups = list(self.names), list(self.groups)
            batches = file.iter_batches(
                self.step, row_groups=groups, columns=names, use_threads=False
            )
            for batch in batches:
                yield _table(batch, self.names, self.path)


@dataclass(frozen=True)
class _TextPart:
    """A CSV file."""

    path: Path
    names: tuple[str, ...]
    step: int
    n_rows: None = None

    @property
    def name(self) -> str:
        return self.path.name

    def read(self) -> Iterator[npt.NDArray[Any]]:
        import pyarrow as pa
        from pyarrow import csv

        types = {name: pa.float64() for name in self.names}
        convert = csv.ConvertOptions(
            column_types=types, include_columns=list(self.names), null_values=list(MISSING)
        )
        size = max(2**16, min(2**28, BYTES_A_NUMBER * self.step * len(self.names)))
        options = csv.ReadOptions(block_size=size, use_threads=False)
        with (
            read_explained(self.path),
            csv.open_csv(
                self.path,
                read_options=options,
                parse_options=_parsing(self.path),
                convert_options=convert,
            ) as reader,
        ):
            for batch in reader:
                yield _table(batch, self.names, self.path)


@dataclass(frozen=True)
class _SlicePart:
    """Rows of a .npy file."""

    path: Path
    start: int
    stop: int

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def n_rows(self) -> int:
        return self.stop - self.start

    def read(self) -> Iterator[npt.NDArray[Any]]:
        with read_explained(self.path):
            yield np.array(_memory_map(self.path)[self.start : self.stop])


def find_files(path: Path) -> list[Path]:
    """Return the file, the files of a folder, or those that a pattern names, in natural order."""
    if path.is_dir():
        found = [p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
        where = f"{path}: the folder holds no file that ends in {', '.join(ENDINGS)}."
    elif path.exists():
        return [path]
    else:
        from glob import glob

        found = [Path(name) for name in glob(str(path), recursive=True)]
        where = f"{path}: there is no such file."
    # What tools put beside their data, such as _SUCCESS or .crc files, is not data.
    found = [p for p in found if not p.name.startswith((".", "_"))]
    if not found:
        raise InvalidInputError(where)
    return sorted(found, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    """Return a key by which part-2 comes before part-10."""
    import re

    pieces = re.split(r"(\d+)", str(path))
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in pieces]


@contextmanager
def read_explained(path: Path) -> Iterator[None]:
    """Name the file in errors of the system, of NumPy and of Arrow."""
    try:
        yield
    except InvalidInputError:
        raise
    except (OSError, ValueError, KeyError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or "it is empty"
        msg = f"{path.name}: the file cannot be read: {reason.rstrip('.')}. Write it again."
        raise InvalidInputError(msg) from error


def _kind(path: Path) -> tuple[str, ...]:
    ending = path.suffix.lower()
    for kind in (PARQUET, CSV, NPY):
        if ending in kind:
            return kind
    msg = f"{path.name}: only {', '.join(ENDINGS)} files and .zarr are read block by block."
    raise InvalidInputError(msg)


def column_types(path: Path) -> dict[str, Any]:
    """Return the columns of a file with the types of their numbers; text has type object."""
    kind = _kind(path)
    if kind == NPY:
        array = _memory_map(path)
        if array.ndim != 2:
            msg = (
                f"{path.name}: the array has shape {array.shape}, but a table has rows and columns."
            )
            raise InvalidInputError(msg)
        return {f"column{i + 1}": array.dtype for i in range(array.shape[1])}
    if kind == PARQUET:
        from pyarrow import parquet

        schema = parquet.read_schema(path)
    else:
        with open_text(path) as reader:
            schema = reader.schema
    return {field.name: number_type(field.type) for field in schema}


def number_type(arrow: Any) -> Any:
    """Return the NumPy type of a column of numbers, or object for any other."""
    from pyarrow import types

    if types.is_floating(arrow) or types.is_integer(arrow) or types.is_boolean(arrow):
        single = types.is_float16(arrow) or types.is_float32(arrow)
        return np.dtype(np.float32 if single else np.float64)
    # A column of a CSV file whose first block is empty has no type yet.
    return np.dtype(np.float64) if types.is_null(arrow) else np.dtype(object)


def open_text(path: Path, columns: Mapping[str, Any] | None = None) -> Any:
    """Open a CSV file: all columns by what they hold, or some of them as types of Arrow."""
    from pyarrow import csv

    options = csv.ConvertOptions(
        null_values=list(MISSING),
        strings_can_be_null=True,
        include_columns=list(columns or ()),
        column_types=columns,
    )
    return csv.open_csv(path, parse_options=_parsing(path), convert_options=options)


def _parsing(path: Path) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",")


def _refuse_absent(path: Path, names: Sequence[str], known: Any) -> None:
    absent = [name for name in names if name not in known]
    if absent:
        msg = (
            f"{path.name}: there is no column {absent[0]!r}. All files of a table need the same "
            f"columns; this one has {', '.join(map(repr, list(known)[:8]))}."
        )
        raise InvalidInputError(msg)


def _refuse_text(path: Path, names: Sequence[str], types: Sequence[Any]) -> None:
    for name, kind in zip(names, types, strict=False):
        if kind.kind == "O":
            msg = (
                f"{path.name}: column {name!r} does not hold numbers, but features do. Name the "
                f"columns to read, without it: columns=[...]."
            )
            raise InvalidInputError(msg)


def _memory_map(path: Path) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _table(batch: Any, names: Sequence[str], path: Path) -> npt.NDArray[Any]:
    """Return columns of a record batch as one array; a missing number is NaN."""
    columns = []
    for name in names:
        kind = number_type(batch.schema.field(name).type)
        _refuse_text(path, [name], [kind])
        values = batch.column(name).to_numpy(zero_copy_only=False)
        # A column without any number is an array of None.
        columns.append(values.astype(kind, copy=False))
    rows = np.empty((batch.num_rows, len(names)), dtype=np.result_type(*columns))
    for position, column in enumerate(columns):
        rows[:, position] = column
    return rows


def total_bytes(paths: Sequence[Path]) -> int:
    """Return how large files are together."""
    return sum(os.stat(path).st_size for path in paths)
