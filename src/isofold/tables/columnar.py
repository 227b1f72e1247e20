"""Arrow columns, which text tables and Parquet files share, and Parquet files themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import IntArray
from isofold.tables.sources import Source, refuse_bomb, require_room
from isofold.tables.table import EXACT, Column, Table, as_floats
from isofold.tables.text_safety import listed, one_line, refusal

__all__ = ["column_of", "columns_of", "read_parquet", "text_of"]

BITS_OF_LARGE = 64
BYTES_PER_VALUE = 24
"""A number of eight bytes as stored, as a column and as a feature."""


def read_parquet(source: Source) -> Table:
    """Read a Parquet file with pyarrow."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # Arrow does not take names with bytes that are not text, but it takes files.
        with (
            source.path.open("rb") as stream,
            parquet.ParquetFile(stream, page_checksum_verification=True) as file,
        ):
            rows, width = file.metadata.num_rows, file.metadata.num_columns
            _refuse_impossible(rows, width, source)
            data = file.read()
            data.validate(full=True)
    except (pa.ArrowException, OSError) as error:
        problem = f"the Parquet file is damaged or cut off: {one_line(error)}. Write it again."
        raise refusal(source.name, problem) from None
    if data.num_rows == 0 or data.num_columns == 0:
        problem = f"the table has {data.num_rows} rows and {data.num_columns} columns: it is empty."
        raise refusal(source.name, problem)
    columns, notes = columns_of(data, data.column_names, source.name)
    return Table(columns=columns, n_rows=data.num_rows, source=source.name, notes=notes)


def _refuse_impossible(rows: int, width: int, source: Source) -> None:
    if rows < 0 or width < 0:
        raise refusal(source.name, f"the Parquet file is damaged: it claims to have {rows} rows.")
    needed = BYTES_PER_VALUE * rows * width
    refuse_bomb(source.size, 8 * rows * width, source.name)
    require_room(needed, source.name)


def columns_of(
    data: Any, names: Sequence[str], source: str
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Return the columns of an Arrow table that are numbers or text, and notes about the rest."""
    _refuse_repeated(names, source)
    columns: list[Column] = []
    strange: dict[str, str] = {}
    rounded: list[str] = []
    for name, values in zip(names, data.columns, strict=True):
        made = _columns_from(name, values, rounded)
        columns.extend(made)
        if not made:
            strange[name] = one_line(values.type)
    _refuse_repeated([column.name for column in columns], source)
    notes = []
    if strange:
        notes.append(f"Neither numbers nor text, and left out: {listed(strange)}.")
    if rounded:
        notes.append(
            f"Whole numbers beyond 2**53 are rounded to 16 digits, in {listed(rounded)}. If they "
            f"are identifiers, leave them out."
        )
    return tuple(columns), tuple(notes)


def _refuse_repeated(names: Sequence[str], source: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        problem = (
            f"several columns have the same name: {listed(repeated)}. A name must say which column "
            f"is meant. Rename them (or pass --no-header, if the first row holds data)."
        )
        raise refusal(source, problem)


def _columns_from(name: str, values: Any, rounded: list[str]) -> list[Column]:
    import pyarrow as pa
    from pyarrow import types

    if isinstance(values.type, pa.BaseExtensionType):
        values = pa.chunked_array([c.storage for c in values.chunks], values.type.storage_type)
    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if types.is_null(kind):
        return [Column(name, np.full(len(values), np.nan))]
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        numbers = _numbers(values)
        if types.is_integer(kind) and kind.bit_width == BITS_OF_LARGE and _is_rounded(numbers):
            rounded.append(name)
        return [Column(name, numbers)]
    if types.is_decimal(kind):
        return [Column(name, _numbers(values.cast(pa.float64(), safe=False)))]
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return [_text_or_numbers(name, values)]
    if types.is_temporal(kind):
        return [Column(name, _texts(*_coded(values.cast(pa.string()))))]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _columns_from_list(name, values)
    return []


def column_of(name: str, values: Any) -> Column:
    """Return an array of Arrow as a column; what is neither numbers nor text becomes text."""
    import pyarrow as pa

    made = _columns_from(name, pa.chunked_array([values]), [])
    return made[0] if len(made) == 1 else Column(name, text_of(values))


def text_of(values: Any) -> npt.NDArray[Any]:
    """Return an array of Arrow as text, None where it is missing."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    distinct, codes = _coded(values.cast(pa.string()))
    return _texts(_known(distinct), codes)


def _is_rounded(numbers: npt.NDArray[Any]) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool(known.size) and max(-known.min(), known.max()) > EXACT


def _numbers(values: Any) -> npt.NDArray[Any]:
    """Return numbers with NaN where they are missing; float32 stays what it is."""
    from pyarrow import types

    numbers = values.to_numpy()  # floating-point numbers, where an integer is missing
    if types.is_floating(values.type):
        return as_floats(numbers)
    if numbers.dtype == object:  # truth values and None
        numbers = np.array([np.nan if value is None else value for value in numbers])
    return numbers.astype(np.float64)


def _text_or_numbers(name: str, values: Any) -> Column:
    """Return text as numbers if blanks around them or around marks of the missing hid them."""
    import pyarrow as pa

    distinct, codes = _coded(values)
    known = _known(distinct)
    try:
        numbers = _numbers(pa.chunked_array([known.cast(pa.float64())]))
    except pa.ArrowInvalid:
        return Column(name, _texts(known, codes))
    return Column(name, np.append(numbers, np.nan)[codes])


def _coded(values: Any) -> tuple[Any, IntArray]:
    """Return the distinct values, and which of them every entry is; none, the last, if missing."""
    import pyarrow as pa

    encoded = values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    distinct = encoded.dictionary
    return distinct, encoded.indices.fill_null(len(distinct)).to_numpy()


def _known(texts: Any) -> Any:
    """Return an array of text without blanks around it, and without marks of the missing."""
    import pyarrow as pa
    from pyarrow import compute

    from isofold.tables.sniff import MISSING

    trimmed = compute.utf8_trim_whitespace(texts)
    is_missing = compute.is_in(trimmed, value_set=pa.array(MISSING))
    return compute.if_else(is_missing, pa.scalar(None, trimmed.type), trimmed)


def _texts(distinct: Any, codes: IntArray) -> npt.NDArray[Any]:
    """Return text as objects, every distinct value stored once."""
    texts: npt.NDArray[Any] = np.array([*distinct.to_pylist(), None], dtype=object)[codes]
    return texts


def _columns_from_list(name: str, values: Any) -> list[Column]:
    """Return one column for each entry of lists that are equally long: stored vectors."""
    import pyarrow as pa
    from pyarrow import compute, types

    inner = values.type.value_type
    if not (types.is_integer(inner) or types.is_floating(inner)) or values.null_count:
        return []
    lengths = compute.min_max(compute.list_value_length(values)).as_py()
    width = lengths["max"]
    if lengths["min"] != width or not width:
        return []
    flat = pa.chunked_array([c.flatten() for c in values.chunks], inner)
    table = _numbers(flat).reshape(len(values), width)
    return [Column(f"{name}[{entry}]", table[:, entry]) for entry in range(width)]
