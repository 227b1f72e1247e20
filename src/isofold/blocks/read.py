"""From whatever holds rows to row blocks: `read_blocks`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isofold._dependencies import require
from isofold._validation import check_choice, check_count
from isofold.blocks.arrays import READ_ONCE, ArrayBlocks, SequenceBlocks, refuse_columns
from isofold.blocks.files import FileBlocks, find_files, read_explained
from isofold.blocks.protocol import Missing, RowBlocks
from isofold.exceptions import InputTypeError, InvalidInputError

__all__ = ["as_blocks", "read_blocks"]


def read_blocks(
    source: Any,
    *,
    columns: Sequence[str] = (),
    rows: int | None = None,
    dtype: Any = None,
    missing: Missing = "error",
) -> RowBlocks:
    """Open a table that may be larger than memory; its rows are read block by block.

    Parameters
    ----------
    source : path, list of paths, array, data frame, Zarr or Dask collection, list, or callable
        A .parquet, .csv, .npy or .zarr file; a folder or a pattern of files, which follow each
        other in the order of their names; anything with a shape and slices of rows; arrays or data
        frames that follow each other; or a function that returns a new iterator of these at every
        call. Masked entries are missing values.
    columns : sequence of str, default=()
        Columns of Parquet and CSV files and of data frames; all if empty.
    rows : int or None, default=None
        Rows of a block; None takes blocks of some 32 MB, and tables of a list as they are. No
        result depends on it. Not for Dask, whose partitions are the blocks.
    dtype : "float32", "float64" or None, default=None
        Precision; None takes that of the first block, and refuses a block of another one.
    missing : {"error", "drop", "keep"}, default="error"
        Rows with NaN are refused, left out, or kept as they are (for methods that take them).

    Returns
    -------
    RowBlocks
        The table. Every embedder takes it in `fit`, `fit_transform` and `transform`.

    Examples
    --------
    >>> import numpy as np
    >>> import isofold
    >>> from isofold.blocks import draw_sample
    >>> table = np.arange(20.0).reshape(10, 2)
    >>> blocks = isofold.read_blocks(table, rows=4)
    >>> [block.start for block in blocks]
    [0, 4, 8]
    >>> other = isofold.read_blocks([table[:1], table[1:]])
    >>> draw_sample(blocks, 3).rows == draw_sample(other, 3).rows  # whatever the blocks
    array([ True,  True,  True])
    """
    if rows is not None:
        check_count(rows, name="rows")
    check_choice(missing, ("error", "drop", "keep"), name="missing")
    how = {"dtype": dtype, "missing": missing}
    if isinstance(source, RowBlocks):
        if columns or rows is not None or dtype is not None or missing != "error":
            msg = (
                "X is opened already, and how it is read was decided then. Pass columns, rows, "
                "dtype and missing where it was opened."
            )
            raise InvalidInputError(msg)
        return source
    if isinstance(source, str | os.PathLike):
        return _open(_path(source), columns, rows, how)
    if is_dask(source):
        return _open_dask(source, columns, rows, how)
    if isinstance(source, list | tuple) and source and all(_is_path(each) for each in source):
        return FileBlocks(list(map(_path, source)), columns=columns, rows=rows, **how)
    if hasattr(source, "iloc"):
        source = [source]
    elif hasattr(source, "shape") and hasattr(source, "dtype"):
        if columns:
            refuse_columns("X")
        return ArrayBlocks(source, rows=rows, **how)
    if callable(source) or isinstance(source, list | tuple):
        return SequenceBlocks(source, columns=columns, rows=rows, **how)
    msg = f"X, a {type(source).__name__}, cannot be read block by block. {READ_ONCE}"
    raise InvalidInputError(msg)


def as_blocks(X: Any) -> RowBlocks | None:
    """Return lazy tables as row blocks: row blocks, Dask and Zarr; None for anything else."""
    if isinstance(X, RowBlocks):
        return X
    if hasattr(type(X), "__dask_graph__") and not is_dask(X):
        msg = (
            f"X is a {type(X).__name__} of Dask, which does not say what it holds. Pass "
            f"X.compute(), or a Dask array made with dask.array.from_delayed."
        )
        raise InputTypeError(msg)
    is_zarr = type(X).__module__.partition(".")[0] == "zarr" and hasattr(X, "chunks")
    return read_blocks(X) if is_zarr or is_dask(X) else None


def is_dask(value: Any) -> bool:
    """Return whether a value is a lazy array or data frame of Dask."""
    package = type(value).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and isinstance(getattr(value, "ndim", None), int)


def _open(path: Path, columns: Sequence[str], rows: int | None, how: dict[str, Any]) -> RowBlocks:
    """Return the blocks of a file, of a folder, or of the files that a pattern names."""
    if path.suffix.lower() == ".zarr" and path.is_dir():
        zarr = require("zarr", extra="zarr", purpose="Reading a .zarr array")
        if columns:
            refuse_columns(path.name)
        with read_explained(path):
            array = zarr.open(path, mode="r")
        if not hasattr(array, "shape"):
            msg = (
                f"{path.name}: this is a Zarr group, not an array. Open it with zarr.open_group, "
                f"and pass the array in it that holds the rows."
            )
            raise InvalidInputError(msg)
        return ArrayBlocks(array, rows=rows, name=path.name, **how)
    return FileBlocks(find_files(path), columns=columns, rows=rows, **how)


def _open_dask(
    collection: Any, columns: Sequence[str], rows: int | None, how: dict[str, Any]
) -> RowBlocks:
    """Return the blocks of an array or data frame of Dask."""
    from isofold.blocks.dask_blocks import DaskBlocks

    if rows is not None:
        msg = (
            f"rows={rows} cannot be chosen for Dask, whose partitions are the blocks. Leave it "
            f"out, and change the partitions with rechunk or repartition."
        )
        raise InvalidInputError(msg)
    return DaskBlocks.of_collection(collection, columns=columns, **how)


def _path(source: str | os.PathLike[str]) -> Path:
    if not os.fspath(source):
        msg = "The path is empty. Pass the path of a file, of a folder, or a pattern of files."
        raise InvalidInputError(msg)
    return Path(source)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)
