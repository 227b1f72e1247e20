"""Maps that are written chunk by chunk, to the same bytes as those that are written at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._typing import FloatArray, IntArray
from isofold.blocks.write import ZARR_CHUNK, write_header
from isofold.tables.write import TABLE_ENDINGS, arrow_of, map_columns

__all__ = ["STREAMED_ENDINGS", "MapChunk", "write_chunks"]

STREAMED_ENDINGS = (*TABLE_ENDINGS, ".npy", ".zarr")

ROW_GROUP = 2**20
"""Rows of a row group of a Parquet file that is written at once."""


@dataclass(frozen=True, eq=False)
class MapChunk:
    """Some rows of a map.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Their numbers in the table.
    embedding : ndarray of shape (n, n_components)
        Their coordinates.
    labels : ndarray of shape (n,) or None
        Their labels.
    """

    rows: IntArray
    embedding: FloatArray
    labels: npt.NDArray[Any] | None


def write_chunks(
    target: Path, ending: str, chunks: Iterable[MapChunk], *, n_rows: int, label_name: str
) -> None:
    """Write a map to a new file, or to a new folder of Zarr, by the ending that it will have."""
    if ending == ".zarr":
        _write_zarr(target, chunks, n_rows)
    elif ending == ".npy":
        _write_npy(target, chunks, n_rows)
    else:
        _write_table(target, ending, _regular(chunks), label_name)


def _regular(chunks: Iterable[MapChunk]) -> Iterator[MapChunk]:
    """Yield the same rows in chunks of a row group, so that files do not depend on blocks."""
    held: list[MapChunk] = []
    n = 0
    for chunk in chunks:
        held.append(chunk)
        n += len(chunk.rows)
        while n >= ROW_GROUP:
            whole = _joined(held)
            yield _slice(whole, 0, ROW_GROUP)
            held, n = [_slice(whole, ROW_GROUP, n)], n - ROW_GROUP
    if n:
        yield _joined(held)


def _joined(chunks: list[MapChunk]) -> MapChunk:
    labels = [chunk.labels for chunk in chunks if chunk.labels is not None]
    return MapChunk(
        np.concatenate([chunk.rows for chunk in chunks]),
        np.concatenate([chunk.embedding for chunk in chunks]),
        np.concatenate(labels) if labels else None,
    )


def _slice(chunk: MapChunk, start: int, stop: int) -> MapChunk:
    labels = None if chunk.labels is None else chunk.labels[start:stop]
    return MapChunk(chunk.rows[start:stop], chunk.embedding[start:stop], labels)


def _write_table(target: Path, ending: str, chunks: Iterator[MapChunk], label_name: str) -> None:
    import pyarrow as pa

    with target.open("wb") as file:
        writer = None
        try:
            for chunk in chunks:
                columns = map_columns(
                    chunk.rows, chunk.embedding, labels=chunk.labels, label_name=label_name
                )
                table = pa.table({name: arrow_of(values) for name, values in columns.items()})
                writer = writer or _table_writer(file, ending, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def _table_writer(file: Any, ending: str, schema: Any) -> Any:
    from pyarrow import csv, parquet

    if ending == ".parquet":
        return parquet.ParquetWriter(file, schema)
    options = csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",")
    return csv.CSVWriter(file, schema, write_options=options)


def _write_npy(target: Path, chunks: Iterable[MapChunk], n_rows: int) -> None:
    with target.open("wb") as file:
        for number, chunk in enumerate(chunks):
            Y = np.ascontiguousarray(chunk.embedding)
            if number == 0:
                write_header(file, n_rows, Y.shape[1], Y.dtype)
            file.write(Y.data)


def _write_zarr(target: Path, chunks: Iterable[MapChunk], n_rows: int) -> None:
    zarr = require("zarr", extra="zarr", purpose="Writing a .zarr array")
    array, start = None, 0
    for chunk in chunks:
        Y = chunk.embedding
        if array is None:
            size = (min(n_rows, ZARR_CHUNK), Y.shape[1])
            shape = (n_rows, Y.shape[1])
            array = zarr.create_array(target, shape=shape, chunks=size, dtype=Y.dtype)
        array[start : start + len(Y)] = Y
        start += len(Y)
