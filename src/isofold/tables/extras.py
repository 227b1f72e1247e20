"""What belongs to the rows but is no feature: labels, other fields, pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import IntArray
from isofold.tables.table import EXACT, Column, Table

__all__ = ["fields_of", "images_of", "labels_of"]

COLORS = 3


def labels_of(column: Column, rows: IntArray) -> npt.NDArray[Any]:
    """Return labels: text as str with "" for the missing, whole numbers as int64, else floats."""
    values = column.values[rows]
    if column.kind == "text":
        return _filled(values)
    known = ~np.isnan(values)
    whole = values[known]
    if not whole.size or not ((whole == np.round(whole)) & (abs(whole) < EXACT)).all():
        return values
    if known.all():
        return values.astype(np.int64)
    # Classes by number, some of them unknown: only text can say so without inventing a class.
    texts = np.full(len(values), "", dtype=object)
    texts[known] = [str(int(value)) for value in whole]
    return texts


def _filled(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.array([*("" if value is None else value for value in values), None], dtype=object)[
        :-1
    ]


def fields_of(table: Table, rows: IntArray, used: set[int | None]) -> dict[str, npt.NDArray[Any]]:
    """Return the named columns that are not used otherwise, for the rows that are."""
    fields = {}
    for place, column in enumerate(table.columns, start=table.n_wide):
        if place not in used:
            values = column.values[rows]
            fields[column.name] = _filled(values) if column.kind == "text" else values
    return fields


def images_of(table: Table, rows: IntArray, positions: tuple[int, ...]) -> npt.NDArray[Any] | None:
    """Return the rows as pictures (n, height, width[, 3]), if that is what they were."""
    shape, block = table.image_shape, table.block
    if shape is None or block is None or positions != tuple(range(table.n_wide)):
        return None
    pixels = block if len(rows) == table.n_rows else block[rows]
    images = pixels.reshape(len(rows), *shape)
    if len(shape) == 3 and shape[0] in (1, COLORS) and shape[2] not in (1, COLORS):
        images = np.moveaxis(images, 1, 3)  # colors first, as deep-learning tools store them
    if images.ndim == 4 and images.shape[3] == 1:
        images = images[..., 0]
    is_picture = images.ndim == 3 or (images.ndim == 4 and images.shape[3] == COLORS)
    return images if is_picture and min(images.shape[1:3]) > 1 else None
