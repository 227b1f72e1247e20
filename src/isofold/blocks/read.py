"""From whatever holds rows to row blocks: `read_blocks`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isofold._dependencies import require
from isofold._validation import check_choice, check_count
from isofold.blocks.arrays import ArrayBlocks, SequenceBlocks
from isofold.blocks.files import FileBlocks, find_files, read_explained
from isofold.blocks.protocol import Missing, RowBlocks
from isofold.exceptions import InvalidInputError

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
    source : path, list of paths, array, Zarr or Dask collection, list of arrays, or callable
        A .parquet, .csv, .npy or .zarr file; a folder or a pattern of files, which follow each
        other in the order of their names; anything with a shape and slices of rows; arrays that
        follow each other; or a function that returns a new iterator of arrays at every call.
    columns : sequence of str, default=()
        Columns of Parquet and CSV files and of data frames; all if empty.
    rows : int or None, default=None
        Rows of a block; None takes blocks of some 32 MB. No result depends on it.
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
        return source
    if isinstance(source, str | os.PathLike):
        return _open(Path(source), columns, rows, how)
    if is_dask(source):
        from isofold.blocks.dask_blocks import DaskBlocks

        return DaskBlocks.of_collection(source, columns=columns, **how)
    if isinstance(source, list | tuple) and source and all(_is_path(each) for each in source):
        paths = [Path(each) for each in source]
        return FileBlocks(paths, columns=columns, rows=rows, **how)
    if len(getattr(source, "shape", ())) == 2 and hasattr(source, "dtype"):
        return ArrayBlocks(source, rows=rows, **how)
    if callable(source) or isinstance(source, list | tuple):
        return SequenceBlocks(source, **how)
    msg = (
        f"X, a {type(source).__name__}, cannot be read block by block. A map takes two passes, "
        f"and an iterator can be read only once. Pass a path, an array, a list of arrays, or a "
        f"function that returns a new iterator at every call."
    )
    raise InvalidInputError(msg)


def as_blocks(X: Any) -> RowBlocks | None:
    """Return lazy tables as row blocks: row blocks, Dask and Zarr; None for anything else."""
    if isinstance(X, RowBlocks):
        return X
    is_zarr = type(X).__module__.partition(".")[0] == "zarr" and hasattr(X, "chunks")
    return read_blocks(X) if is_zarr or is_dask(X) else None


def is_dask(value: Any) -> bool:
    """Return whether a value is a lazy array or data frame of Dask."""
    package = type(value).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and hasattr(value, "shape")


def _open(path: Path, columns: Sequence[str], rows: int | None, how: dict[str, Any]) -> RowBlocks:
    """Return the blocks of a file, of a folder, or of the files that a pattern names."""
    if path.suffix.lower() == ".zarr" and path.is_dir():
        zarr = require("zarr", extra="zarr", purpose="Reading a .zarr array")
        with read_explained(path):
            return ArrayBlocks(zarr.open_array(path, mode="r"), rows=rows, name=path.name, **how)
    return FileBlocks(find_files(path), columns=columns, rows=rows, **how)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)
