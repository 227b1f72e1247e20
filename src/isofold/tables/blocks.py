"""Arrays without a table around them: which one holds the features, and what it becomes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold.tables.table import NUMBER_KINDS, Column, Table, as_floats
from isofold.tables.text_safety import listed, quoted, refusal

__all__ = ["choose", "column_of", "distinct", "refuse_type", "table_of"]

USUAL_NAMES = ("X", "x", "data", "features", "arr_0")

TYPES = {
    "O": "Python objects, which are never unpacked, because that could run code from the file",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "V": "records of several fields",
    "U": "text",
    "S": "bytes",
    "T": "text",
}


def refuse_type(dtype: np.dtype[Any], source: str) -> None:
    """Refuse an array whose entries are not real numbers."""
    if dtype.kind not in NUMBER_KINDS:
        problem = (
            f"the array holds {TYPES.get(dtype.kind, quoted(dtype))}, but features are real "
            f"numbers. Save a plain array of numbers, or a table as .csv or .parquet."
        )
        raise refusal(source, problem)


def choose(shapes: Mapping[str, tuple[int, ...]], key: str | None, source: str) -> str:
    """Return the name of the array that holds the features."""
    described = listed({name: " x ".join(map(str, shape)) for name, shape in shapes.items()})
    if key is not None:
        if key in shapes:
            return key
        close = difflib.get_close_matches(key, shapes, n=1)
        hint = f" Did you mean {quoted(close[0])}?" if close else ""
        raise refusal(source, f"there is no array {quoted(key)}.{hint} There are {described}.")
    wide = [name for name, shape in shapes.items() if len(shape) >= 2]
    usual = [name for name in USUAL_NAMES if name in wide]
    if usual or len(wide) == 1:
        return (usual or wide)[0]
    if not wide and len(shapes) == 1:
        return next(iter(shapes))
    problem = (
        f"it is not clear which array holds the features: {described}. "
        f"Say which, with --key {(wide or list(shapes) or ['NAME'])[0]!r}."
    )
    raise refusal(source, problem)


def column_of(name: str, values: npt.NDArray[Any]) -> Column:
    """Return numbers or text of any NumPy type as a column."""
    flat = values.reshape(len(values))
    if flat.dtype.kind in NUMBER_KINDS:
        return Column(name, as_floats(flat))
    if flat.dtype.kind == "S":
        texts = [value.decode("utf-8", errors="replace") for value in flat.tolist()]
    else:
        texts = [value if value is None else str(value) for value in flat.tolist()]
    return Column(name, np.array([*texts, None], dtype=object)[:-1])


def distinct(columns: Sequence[Column], taken: Sequence[str]) -> tuple[Column, ...]:
    """Return columns whose names differ from those of the features."""
    names = set(taken)
    return tuple(
        Column(f"{column.name} (of the row)", column.values) if column.name in names else column
        for column in columns
    )


def table_of(
    array: npt.NDArray[Any],
    source: str,
    *,
    beside: Mapping[str, npt.NDArray[Any]] | None = None,
    names: Sequence[str] = (),
    notes: tuple[str, ...] = (),
) -> Table:
    """Return an array as a table: a list is one column, pictures are flattened."""
    refuse_type(array.dtype, source)
    if array.ndim == 0 or array.size == 0:
        kind = "a single number" if array.ndim == 0 else f"empty: its shape is {array.shape}"
        raise refusal(source, f"the array is {kind}. Features are a table of rows and columns.")
    image_shape = tuple(map(int, array.shape[1:])) if array.ndim > 2 else None
    if image_shape is not None:
        sides = " x ".join(map(str, image_shape))
        notes = (*notes, f"Each of the {len(array):,} entries of {sides} becomes a row.")
    return Table(
        columns=distinct([column_of(n, v) for n, v in (beside or {}).items()], names),
        n_rows=len(array),
        source=source,
        has_names=bool(names),
        block=array.reshape(len(array), -1),
        block_names=tuple(names),
        image_shape=image_shape,
        notes=notes,
    )
