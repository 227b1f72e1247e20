"""What the map on a page needs: coordinates, columns, neighbors and pictures, within a budget.

Coordinates and distortion are kept of every row. Columns, neighbors and pictures are kept of every
row as long as the page stays below some thirty megabytes, and of a random sample of rows beyond;
notes say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from isofold._typing import FloatArray, IntArray
from isofold.assessment import Assessment, NearPairs
from isofold.extension import SampledRegion, fit_way_back
from isofold.extension.out_of_range import RULES
from isofold.extension.training_points import read_training_points
from isofold.reports.density import pack_density
from isofold.reports.packing import Packer, rounded
from isofold.reports.thumbnails import Thumbnails, thumbnails
from isofold.tables.page_columns import PageColumn

__all__ = ["fill", "pack_column", "to_unit"]

COLUMN_BYTES = 13_000_000
NEIGHBOR_BYTES = 8_000_000
IMAGE_BYTES = 6_000_000
"""Characters that columns and neighbors, and bytes that pictures may take."""

BACK_ROWS = 20_000
"""Rows that tell how a place between the points is shown."""

BASE64 = 4 / 3
"""Characters a byte."""

LARGEST_FLOAT32 = 1e38


def fill(
    packer: Packer,
    assessment: Assessment,
    columns: Sequence[PageColumn],
    *,
    images: npt.NDArray[Any] | None,
    random_state: Any,
) -> tuple[dict[str, Any], list[str]]:
    """Pack all that the map needs, and return how to read it and what was left out."""
    n_points, n_components = assessment.embedding.shape
    order = check_random_state(random_state).permutation(n_points)
    unit, offset, scale = to_unit(assessment.embedding)
    distortion = np.asarray(assessment.distortion, dtype=np.float64)
    distortion = np.where(np.isfinite(distortion), distortion, np.nan)
    manifest: dict[str, Any] = {
        "n": n_points,
        "dims": n_components,
        "offset": offset.tolist(),
        "scale": scale,
        "axes": [packer.add_array(unit[:, axis]) for axis in range(n_components)],
        "distortion": packer.add_array(rounded(np.minimum(distortion, LARGEST_FLOAT32))),
    }
    notes: list[str] = []
    if n_components > 2:
        notes.append(
            f"The map has {n_components} dimensions and the screen two: distances seen here are "
            f"projections and may be too short. Numbers in tables are of all dimensions."
        )
    manifest["columns"] = _pack_columns(packer, columns, order, notes)
    manifest["near"] = _pack_neighbors(packer, assessment.near, scale, order, notes)
    small = None
    if images is not None:
        small = thumbnails(images, order, max_bytes=IMAGE_BYTES)
        manifest["images"] = _pack_images(packer, small, n_points, notes)
    if n_components <= 2 and (columns or small):
        manifest["back"] = _way_back(unit, columns, small, order)
    if assessment.density is not None:
        packed, left_out = pack_density(packer, assessment.density, offset=offset, scale=scale)
        manifest["density"] = packed
        notes += left_out
    return manifest, notes


def _way_back(
    unit: npt.NDArray[np.float32],
    columns: Sequence[PageColumn],
    small: Thumbnails | None,
    order: IntArray,
) -> dict[str, Any]:
    """Return by how many neighbors a place is shown, and how remote one without data is.

    The neighbors are as many as restore pictures, or else numbers, of some rows from others best.
    """
    rows = order[:BACK_ROWS]
    region = SampledRegion.around(read_training_points(unit[rows], unit[rows]), RULES.n_neighbors)
    limit = float(np.quantile(region.remoteness, 1.0 - RULES.map_level, method="higher"))
    if small is not None:
        rows = small.rows[:: -(-len(small.rows) // BACK_ROWS)]
        shown = small.pixels[np.searchsorted(small.rows, rows)].reshape(len(rows), -1)
        way_back = fit_way_back(shown.astype(np.float32), unit[rows])
    else:
        numbers = [_scaled(each.values[rows]) for each in columns if each.kind != "class"]
        way_back = fit_way_back(np.stack([*numbers, np.zeros(len(rows))], axis=1), unit[rows])
    return {"k": way_back.n_neighbors, "limit": limit}


def _scaled(values: FloatArray) -> FloatArray:
    """Return numbers from -1 to 1, zero where there are none."""
    known = np.where(np.isfinite(values), values, 0.0)
    return known / (np.abs(known).max(initial=0.0) or 1.0)


def to_unit(embedding: FloatArray) -> tuple[npt.NDArray[np.float32], FloatArray, float]:
    """Return coordinates relative to the middle and the extent of a map, with both of these.

    Single precision then resolves a ten-millionth of the extent, wherever the map lies and however
    large it is.
    """
    points = np.asarray(embedding, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    # Halves first: the sum of two large numbers may leave the range.
    middle = low / 2 + high / 2
    half = float(np.max(high / 2 - low / 2))
    scale = half if half > 0 else 1.0
    return ((points - middle) / scale).astype(np.float32), middle, scale


def _pack_columns(
    packer: Packer, columns: Sequence[PageColumn], order: IntArray, notes: list[str]
) -> list[dict[str, Any]]:
    n_points = len(order)
    costs = [_cost(column) for column in columns]
    left = float(COLUMN_BYTES)
    whole = [False] * len(columns)
    if sum(costs) <= left:
        whole = [True] * len(columns)
    elif costs[0] <= left / 2:
        # The first one colors the map.
        whole[0] = True
        left -= costs[0]
    rest = sum(cost for cost, kept in zip(costs, whole, strict=True) if not kept)
    some = np.sort(order[: int(n_points * left / rest)]) if rest else order[:0]
    if rest:
        names = "Fields are" if whole[0] else "Labels and fields are"
        notes.append(_kept_note(names, len(some), n_points))
    return [
        pack_column(packer, column, None if kept else some)
        for column, kept in zip(columns, whole, strict=True)
    ]


def _cost(column: PageColumn) -> float:
    """Return how many characters a column may take."""
    if column.kind != "class":
        return BASE64 * column.values.size * _compact(column.values).dtype.itemsize
    # A character takes up to twelve in JSON, so that it is worth counting them.
    texts = sum(len(text) if text.isascii() else 6 * len(text) for text in column.table)
    codes = column.values.size * _codes(column.values, len(column.table)).dtype.itemsize
    return BASE64 * (texts + 4 * len(column.table) + codes)


def pack_column(packer: Packer, column: PageColumn, rows: IntArray | None) -> dict[str, Any]:
    """Pack one column, of some rows or of all."""
    values = column.values if rows is None else column.values[rows]
    packed: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.kind == "class":
        table = column.table
        if rows is not None:
            used = np.unique(values[values >= 0])
            table = tuple(column.table[code] for code in used)
            values = np.where(values >= 0, np.searchsorted(used, values), -1)
        packed["values"] = packer.add_array(_codes(values, len(table)))
        packed["table"] = packer.add_texts(table)
    else:
        packed["values"] = packer.add_array(_compact(values))
    if rows is not None:
        packed["rows"] = packer.add_array(rows.astype(np.int32))
    return packed


def _codes(values: IntArray, n_classes: int) -> npt.NDArray[Any]:
    """Return codes in the smallest type; the last value of it, or -1, is a missing class."""
    for dtype in (np.uint8, np.uint16):
        last = np.iinfo(dtype).max
        if n_classes <= last:
            return np.where(values < 0, last, values).astype(dtype)
    return values.astype(np.int32)


def _compact(values: FloatArray) -> npt.NDArray[Any]:
    """Return numbers in single precision if nothing is lost by it."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single, values, equal_nan=True) else values


def _pack_neighbors(
    packer: Packer, near: NearPairs, scale: float, order: IntArray, notes: list[str]
) -> dict[str, Any]:
    n_points, n_neighbors = near.indices.shape
    n_kept = min(n_points, int(NEIGHBOR_BYTES / (BASE64 * 8 * max(1, n_neighbors))))
    rows = np.sort(order[:n_kept])
    with np.errstate(over="ignore"):
        before = np.minimum(near.before[rows] / scale, LARGEST_FLOAT32).astype(np.float32)
    packed = {
        "k": n_neighbors,
        "indices": packer.add_array(near.indices[rows].astype(np.int32).ravel()),
        "before": packer.add_array(before.ravel()),
    }
    if n_kept < n_points:
        packed["rows"] = packer.add_array(rows.astype(np.int32))
        notes.append(
            _kept_note("Neighbors are", n_kept, n_points) + " A click picks the nearest of these."
        )
    return packed


def _pack_images(
    packer: Packer, small: Thumbnails, n_points: int, notes: list[str]
) -> dict[str, Any]:
    _, height, width, channels = small.pixels.shape
    packed = {
        "height": height,
        "width": width,
        "channels": channels,
        "pixels": packer.add_array(small.pixels.ravel()),
    }
    if len(small.rows) < n_points:
        packed["rows"] = packer.add_array(small.rows.astype(np.int32))
        notes.append(_kept_note("Pictures are", len(small.rows), n_points))
    return packed


def _kept_note(what: str, n_kept: int, n_points: int) -> str:
    return f"{what} kept for {n_kept:,} of {n_points:,} rows, drawn at random."
