"""The density of all rows on a page: counts of pixels as bytes, in tiles that are not empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._format import count
from isofold._typing import FloatArray, IntArray
from isofold.assessment import DensityTiles
from isofold.exceptions import InvalidInputError
from isofold.reports.packing import Packer

__all__ = ["check_density", "count_steps", "pack_density", "quantized"]

DENSITY_BYTES = 10_000_000
"""Characters that the counts may take; else pixels are twice as wide."""

PAGE_SIDE = 4096
"""Pixels a side that every browser can draw as one picture."""

TILE = 256
"""Pixels a side of a tile: small enough that holes and margins are left out."""

STEPS = 256
"""Counts that a byte can tell apart."""

BISECTIONS = 60
"""More than floats have bits."""

LEAST_COVERED = 0.5
"""Fraction of the points that must lie where rows were counted, within some pixels."""

COVER_LEVEL = 5
"""Points may be 32 pixels away, since a map of new rows moves training rows a little."""


def check_density(density: Any, embedding: FloatArray) -> None:
    """Raise an error if counts of all rows cannot belong to the map of a sample of them."""
    if not isinstance(density, DensityTiles):
        msg = (
            f"density is a {type(density).__name__}, but the page needs counts of all rows. Make "
            f"them with isofold.assessment.DensityTiles.of_blocks(blocks, frame)."
        )
        raise InvalidInputError(msg)
    n_points, n_rows = len(embedding), density.n_rows
    if n_rows < n_points:
        msg = (
            f"density counts {count(n_rows, 'row')}, but the map has {count(n_points, 'point')}, "
            f"which are a sample of them. Count the blocks of all rows, the sample included."
        )
        raise InvalidInputError(msg)
    # Looks up where the points lie, and refuses a frame with other axes.
    here = DensityTiles.of(embedding, density.frame)
    covered = int(here.at_level(COVER_LEVEL)[density.at_level(COVER_LEVEL) > 0].sum())
    if covered < LEAST_COVERED * n_points:
        msg = (
            f"density does not belong to this map: only {covered:,} of its {n_points:,} points lie "
            f"where rows were counted. Count the images of the same model: "
            f"model.transform(block) for every block."
        )
        raise InvalidInputError(msg)


def pack_density(
    packer: Packer, density: DensityTiles, *, offset: FloatArray, scale: float
) -> tuple[dict[str, Any], list[str]]:
    """Pack counts in units of the page, and return how to read them and what was left out."""
    level, codes, steps = _affordable(density)
    n_up, n_across = codes.shape
    tiles, numbers = _filled_tiles(codes)
    low = (np.asarray(density.frame.low) - offset[: len(density.frame.low)]) / scale
    packed = {
        "n": density.n_rows,
        "outside": density.n_outside,
        "columns": n_across,
        "rows": n_up,
        "pixel": density.frame.pixel * 2**level / scale,
        "corner": low.tolist(),
        "steps": steps.tolist(),
        "tile": TILE,
        "tiles": packer.add_array(numbers.astype(np.int32)),
        "codes": packer.add_array(tiles.ravel()),
    }
    return packed, _notes(density, level)


def _affordable(density: DensityTiles) -> tuple[int, npt.NDArray[np.uint8], IntArray]:
    """Return the finest level whose counts fit into a page, with its codes and their counts."""
    level = 0
    while max(density.frame.shape) > PAGE_SIDE << level:
        level += 1
    while True:
        counts = density.at_level(level)
        steps = count_steps(int(counts.max(initial=1)))
        codes = quantized(counts, steps)
        if _characters(codes) <= DENSITY_BYTES:
            return level, codes, steps
        level += 1


def _characters(codes: npt.NDArray[np.uint8]) -> float:
    """Return how many characters of base64 the codes take, by their entropy."""
    of_each = np.bincount(codes.ravel(), minlength=STEPS)
    fractions = of_each[of_each > 0] / codes.size
    bits = -float(np.sum(fractions * np.log2(fractions))) * codes.size
    return bits / 6


def count_steps(most: int) -> IntArray:
    """Return up to 256 counts from 0 to the largest one: all small ones, then in even ratios.

    Every count up to `most` is within half a step of one of them. Up to 255 they are exact, and
    the steps of a hundred million are 7 percent wide.
    """
    if most < STEPS:
        return np.arange(most + 1)
    # The ratio that reaches the end without any step of 1 is too large, but for rounding.
    low, high = 1.0, most ** (1.0 / (STEPS - 2)) * (1.0 + 1e-9)
    for _ in range(BISECTIONS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _ladder(middle)[-1] >= most else (middle, high)
    steps = np.minimum(np.rint(_ladder(high)), most).astype(np.int64)
    return np.unique(steps)


def _ladder(ratio: float) -> FloatArray:
    """Return 0, 1 and larger numbers, each by a ratio above the last one and at least by 1."""
    steps = np.zeros(STEPS)
    for step in range(1, STEPS):
        steps[step] = max(steps[step - 1] + 1.0, steps[step - 1] * ratio)
    return steps


def quantized(counts: IntArray, steps: IntArray) -> npt.NDArray[np.uint8]:
    """Return the number of the nearest step of every count; only an empty pixel has the first."""
    # Middles between whole numbers; 0 has none with 1, since both are steps.
    middles = (steps[1:] + steps[:-1]) / 2
    return np.searchsorted(middles, counts).astype(np.uint8)


def _filled_tiles(codes: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], IntArray]:
    """Return the tiles that hold any rows, and their numbers, counted across and then up."""
    up, across = (-(-size // TILE) for size in codes.shape)
    padded = np.zeros((up * TILE, across * TILE), dtype=np.uint8)
    padded[: codes.shape[0], : codes.shape[1]] = codes
    tiles = padded.reshape(up, TILE, across, TILE).swapaxes(1, 2).reshape(-1, TILE, TILE)
    filled = np.flatnonzero(tiles.any(axis=(1, 2)))
    return tiles[filled], filled


def _notes(density: DensityTiles, level: int) -> list[str]:
    """Return what the density leaves out."""
    notes = []
    if density.n_outside:
        verb = "lies" if density.n_outside == 1 else "lie"
        rows = count(density.n_outside, "row")
        notes.append(f"{rows} {verb} beyond the frame of the density and cannot be seen.")
    if level:
        notes.append(
            f"Pixels of the density are {2**level} times as wide as they were counted, so that the "
            f"page stays small."
        )
    return notes
