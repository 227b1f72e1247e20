"""Row blocks of files that follow each other: Parquet by row groups, CSV and .npy by rows."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.blocks.arrays import refuse_columns, rules_for
from isofold.blocks.columns import (
    CSV,
    ENDINGS,
    MISSING,
    NPY,
    PARQUET,
    arrow_types,
    column_types,
    file_kind,
    memory_map,
    parsing,
    refuse_absent,
    refuse_text,
    rows_of_batch,
)
from isofold.blocks.protocol import RowBlocks, TablePart, default_rows
from isofold.exceptions import InvalidInputError

__all__ = ["FileBlocks", "find_files", "read_explained"]

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
        if len({file_kind(path) for path in self.paths}) > 1:
            seen = ", ".join(sorted({path.suffix for path in self.paths}))
            msg = (
                f"The files of one table need one kind, but these end in {seen}. Name one of them."
            )
            raise InvalidInputError(msg)
        first = self.paths[0]
        if columns and file_kind(first) == NPY:
            refuse_columns(first.name)
        with read_explained(first):
            kinds = column_types(first)
            self.names = tuple(columns) or (() if file_kind(first) == NPY else tuple(kinds))
            refuse_absent(first, self.names, kinds)
            types = [kinds[name] for name in self.names] or list(kinds.values())
            refuse_text(first, self.names, types)
        self.rules = rules_for(len(types), np.result_type(*types), dtype, missing)
        self._step = rows or default_rows(len(types))
        self._parts = [part for path in self.paths for part in self._parts_of(path)]
        counts = [part.n_rows for part in self._parts]
        self.n_rows = None if None in counts else sum(n or 0 for n in counts)

    def parts(self) -> Sequence[TablePart]:
        """Return the parts: row groups of Parquet, slices of .npy, whole CSV files."""
        return self._parts

    def _parts_of(self, path: Path) -> Iterator[TablePart]:
        if file_kind(path) == CSV:
            yield _TextPart(path, self.names, self._step)
            return
        with read_explained(path):
            yield from (self._groups if file_kind(path) == PARQUET else self._slices)(path)

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
        n = int(memory_map(path).shape[0])
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
            refuse_absent(self.path, self.names, file.schema_arrow.names)
            names, groups = list(self.names), list(self.groups)
            batches = file.iter_batches(
                self.step, row_groups=groups, columns=names, use_threads=False
            )
            for batch in batches:
                yield rows_of_batch(batch, self.names, self.path)


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
        from pyarrow import csv

        size = max(2**16, min(2**28, BYTES_A_NUMBER * self.step * len(self.names)))
        options = csv.ReadOptions(block_size=size, use_threads=False)
        with (
            read_explained(self.path),
            csv.open_csv(
                self.path,
                read_options=options,
                parse_options=parsing(self.path),
                convert_options=self._conversion(),
            ) as reader,
        ):
            for batch in reader:
                yield rows_of_batch(batch, self.names, self.path)

    def _conversion(self) -> Any:
        """Return the types of the columns: numbers of double precision, or flags."""
        import pyarrow as pa
        from pyarrow import csv

        found = arrow_types(self.path)
        refuse_absent(self.path, self.names, found)
        are_flags = {name: pa.types.is_boolean(found[name]) for name in self.names}
        return csv.ConvertOptions(
            column_types={n: pa.bool_() if are_flags[n] else pa.float64() for n in self.names},
            include_columns=list(self.names),
            null_values=list(MISSING),
        )


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
            yield np.array(memory_map(self.path)[self.start : self.stop])


def find_files(path: Path) -> list[Path]:
    """Return the file, the files of a folder, or those that a pattern names, in natural order."""
    if path.is_dir():
        found = [p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()]
        where = f"{path}: the folder holds no file that ends in {', '.join(ENDINGS)}."
    elif path.exists():
        return [path]
    else:
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]
        where = f"{path}: there is no such file."
    found = [p for p in found if not _is_beside_data(p, path)]
    if not found:
        raise InvalidInputError(where)
    return sorted(found, key=_natural)


def _is_beside_data(file: Path, source: Path) -> bool:
    """Return whether tools put a file beside their data, such as _SUCCESS or .tmp/part-1.csv.

    Only what the folder or pattern did not name counts.
    """
    patterns = (i for i, part in enumerate(source.parts) if glob.has_magic(part))
    named = next(patterns, len(source.parts))
    return any(part.startswith((".", "_")) for part in file.parts[named:])


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return a key by which part-2 comes before part-10."""
    pieces = re.split(r"([0-9]+)", str(path))
    key = [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
    return key, str(path)


@contextmanager
def read_explained(path: Path) -> Iterator[None]:
    """Name the file in errors of the system, of NumPy and of Arrow."""
    try:
        yield
    except InvalidInputError:
        raise
    except FileNotFoundError:
        msg = f"{path}: there is no such file."
        raise InvalidInputError(msg) from None
    except PermissionError:
        msg = f"{path}: you have no permission to read this file. Ask its owner for it."
        raise InvalidInputError(msg) from None
    except (OSError, ValueError, KeyError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0] or "it is empty"
        msg = f"{path.name}: the file cannot be read: {reason.rstrip('.')}. Write it again."
        raise InvalidInputError(msg) from error
