"""Row blocks into files: Parquet, .npy, CSV and Zarr, block by block, whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._files import (
    PERMISSION,
    PREFIX,
    atomic_file,
    check_store,
    explained,
    read_path,
    refuse_path,
)
from isofold.blocks.protocol import Block, RowBlocks
from isofold.blocks.read import read_blocks

__all__ = ["COORDINATES_ONLY", "WRITTEN_ENDINGS", "ZARR_CHUNK", "check_written", "write_blocks"]

COORDINATES_ONLY = (".npy", ".zarr")
WRITTEN_ENDINGS = (".parquet", ".csv", *COORDINATES_ONLY)

ZARR_CHUNK = 2**18
"""Rows of a chunk of a .zarr array, whatever the blocks."""


def write_blocks(
    blocks: Any,
    path: str | os.PathLike[str],
    *,
    numbered: bool = False,
    overwrite: bool = False,
) -> int:
    """Write blocks to a file, block by block, and return the number of rows.

    Parameters
    ----------
    blocks : RowBlocks, or anything that `isofold.read_blocks` opens
        The rows, such as `transform` returns for blocks. Columns are called x1, x2, ... unless they
        have names.
    path : path
        A .parquet, .csv or .npy file, or a .zarr folder.
    numbered : bool, default=False
        Whether a first column `row` says which row of the table it was (Parquet and CSV).
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Returns
    -------
    int
        Rows written.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> import isofold
    >>> from isofold.blocks import write_blocks
    >>> blocks = isofold.read_blocks(np.eye(5), rows=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.parquet")
    ...     n = write_blocks(blocks, path)
    ...     again = isofold.read_blocks(path).to_array()
    >>> n, bool((again == np.eye(5)).all())
    (5, True)
    """
    table = read_blocks(blocks)
    target = check_written(path, overwrite=overwrite)
    ending = target.suffix.lower()
    if numbered and ending in COORDINATES_ONLY:
        refuse_path(target, f"a {ending} file has no place for row numbers. Write .parquet or .csv")
    if ending == ".zarr":
        return _write_zarr(table, target)
    with atomic_file(path, overwrite=overwrite) as temporary, explained(target):
        if ending == ".npy":
            return _write_npy(table, temporary, table.n_features, table.dtype)
        return _write_table(table, temporary, numbered=numbered)


def check_written(
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    inputs: Iterable[str | os.PathLike[str]] = (),
    permission: str = PERMISSION,
) -> Path:
    """Refuse a file that blocks cannot be written to."""
    target = read_path(path)
    if target.suffix.lower() not in WRITTEN_ENDINGS:
        refuse_path(target, f"the name must end in {', '.join(WRITTEN_ENDINGS)}")
    if target.suffix.lower() == ".zarr":
        require("zarr", extra="zarr", purpose="Writing a .zarr array")
        check_store(target, overwrite=overwrite, inputs=inputs, permission=permission)
    return target


def record_batch(block: Block, names: Sequence[str], *, numbered: bool) -> Any:
    """Return a block as a record batch of Arrow."""
    import pyarrow as pa

    columns = [np.ascontiguousarray(column) for column in block.rows.T]
    if numbered:
        return pa.record_batch([block.numbers.astype(np.int64), *columns], ["row", *names])
    return pa.record_batch(columns, list(names))


def _write_table(blocks: RowBlocks, target: Path, *, numbered: bool) -> int:
    """Write Parquet or CSV, as the name of the file says."""
    from pyarrow import csv, parquet

    names = blocks.names or tuple(f"x{axis + 1}" for axis in range(blocks.n_features))
    none = Block(0, np.empty((0, blocks.n_features), dtype=blocks.dtype))
    schema = record_batch(none, names, numbered=numbered).schema
    make = parquet.ParquetWriter if target.suffix.lower() == ".parquet" else csv.CSVWriter
    n = 0
    with make(target, schema) as writer:
        for block in blocks:
            writer.write_batch(record_batch(block, names, numbered=numbered))
            n += len(block.rows)
    return n


def _write_npy(blocks: Iterable[Block], target: Path, width: int, dtype: npt.DTypeLike) -> int:
    """Write rows behind a header, in which NumPy leaves room for the length to grow."""
    n = 0
    with target.open("wb") as file:
        write_header(file, 0, width, dtype)
        for block in blocks:
            file.write(np.ascontiguousarray(block.rows, dtype=dtype).tobytes())
            n += len(block.rows)
        file.seek(0)
        write_header(file, n, width, dtype)
    return n


def write_header(file: Any, n: int, width: int, dtype: npt.DTypeLike) -> None:
    """Write the header of a .npy file."""
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n, width)}
    np.lib.format.write_array_header_1_0(file, header)


def _write_zarr(blocks: RowBlocks, path: Path) -> int:
    zarr = require("zarr", extra="zarr", purpose="Writing a .zarr array")
    temporary = path.with_name(f"{PREFIX}{secrets.token_hex(6)}-{path.name}")
    shape = (0, blocks.n_features)
    chunks = (max(1, min(blocks.n_rows or ZARR_CHUNK, ZARR_CHUNK)), blocks.n_features)
    try:
        with explained(path):
            array = zarr.create_array(temporary, shape=shape, chunks=chunks, dtype=blocks.dtype)
            for block in blocks:
                array.append(block.rows)
            if path.exists():
                shutil.rmtree(path)
            temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return int(array.shape[0])
