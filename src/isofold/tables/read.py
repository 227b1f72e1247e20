"""Reading tables: one function for every format, and no error but isofold's own."""

from __future__ import annotations

import os
import warnings

from isofold.exceptions import InvalidInputError, MemoryLimitError, MissingDependencyError
from isofold.tables.sources import Source, find_source
from isofold.tables.table import Table
from isofold.tables.text_safety import one_line, refusal

__all__ = ["read_table"]


def read_table(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    encoding: str = "utf-8",
    header: bool | None = None,
    delimiter: str | None = None,
    fitted_key: str | None = None,
) -> Table:
    """Read a table from a file of any supported format.

    The ending of the name decides: .csv, .tsv and .txt (also with .gz), .parquet or .pq, .npy,
    .npz, .h5ad, and .zarr, a folder or a zip archive. Arrays are memory-mapped where possible.
    Nothing in a file is ever run, and sizes are checked before memory is taken.

    Of an annotated matrix (.h5ad, some .zarr) the matrix `key` is read; without one `fitted_key`,
    which a map was made of; without both ``obsm/X_pca`` where it is there, else ``X``.
    """
    source = find_source(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries: what matters is said in notes
            if source.format in ("h5ad", "zarr"):
                from isofold.tables.annotated import read_h5ad, read_zarr

                read = read_h5ad if source.format == "h5ad" else read_zarr
                return read(source, key, fitted_key)
            return _read(source, key=key, encoding=encoding, header=header, delimiter=delimiter)
    except (InvalidInputError, MemoryLimitError, MissingDependencyError):
        raise
    except MemoryError:
        msg = f"{source.name}: there is not enough memory to read it. Take fewer rows or columns."
        raise MemoryLimitError(msg) from None
    except Exception as error:
        # Damaged files make libraries fail in ways that their authors did not foresee.
        problem = f"the file is damaged, or not what its name says: {one_line(error)}."
        raise refusal(source.name, problem) from error


def _read(
    source: Source,
    *,
    key: str | None,
    encoding: str,
    header: bool | None,
    delimiter: str | None,
) -> Table:
    if source.format == "text":
        from isofold.tables.text import read_text

        return read_text(source, encoding=encoding, header=header, delimiter=delimiter)
    if source.format == "parquet":
        from isofold.tables.columnar import read_parquet

        return read_parquet(source)
    from isofold.tables.arrays import read_npy, read_npz

    return read_npy(source) if source.format == "npy" else read_npz(source, key)
