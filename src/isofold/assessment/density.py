"""How many of all rows lie where on a map: exact counts of pixels, made block by block.

A map of a hundred million rows is never in memory as a whole. Its images come in blocks; each row
adds one to the pixel it lies in. Counts are whole numbers, so that blocks of any size in any order
give the same counts, and the counts of several workers add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_points
from isofold.exceptions import InvalidInputError

__all__ = ["DensityFrame", "DensityRules", "DensityTiles"]

CHUNK_ROWS = 1 << 14
"""Rows that are counted at a time, so that what is computed for them stays in the cache: 24 to
59 million rows a second, instead of 17 to 21 with sixteen times as many."""

SHOWN_AXES = 2
"""The axes that are counted, and that the page shows first."""


@dataclass(frozen=True)
class DensityRules:
    """How finely all rows of a map are counted.

    Attributes
    ----------
    side : int
        Pixels along the longer axis of a frame.
    margin : float
        What a frame leaves around a sample, relative to the longer extent of it.
    most_side : int
        The largest side that is counted; counts of it take up to two gigabytes.
    """

    # A map on a screen is 800 to 2600 pixels wide: 4096 stay sharp up to a zoom of two to five.
    # Counts of a square take 134 MB, of a holed roll, thrice as long as wide, 41 MB. 10**8 rows
    # are 7 rows a pixel and 9.8 MB of a page on the square, 34 rows and 2.4 MB on the roll. With
    # 2048 they take 3.2 and 0.7 MB, but pixels show as squares at half the zoom.
    side: int = 4096
    # Of 10**8 even rows on a sheet none lies beyond the frame of a sample of 20,000. Of as many
    # normal ones 800 to 5,900 do: the sample reaches to 4 deviations, the frame to 4.3 to 4.5.
    margin: float = 0.05
    most_side: int = 16384


@dataclass(frozen=True)
class DensityFrame:
    """A rectangle of a map, divided into square pixels.

    A map of one axis has a frame of one axis, and one row of pixels.

    Attributes
    ----------
    low, high : tuple of one or two float
        Ends of the axes.
    side : int
        Pixels along the longer axis.

    Examples
    --------
    >>> from isofold.assessment import DensityFrame
    >>> frame = DensityFrame((0.0, 0.0), (4.0, 1.0), side=8)
    >>> frame.pixel, frame.shape
    (0.5, (2, 8))
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    side: int = DensityRules.side

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high)
        most = DensityRules.most_side
        if not 1 <= self.side <= most:
            msg = (
                f"side={self.side} is out of range: a frame has 1 to {most:,} pixels along its "
                f"longer axis. Use side={DensityRules.side}, which is sharp on any screen."
            )
            raise InvalidInputError(msg)

    @classmethod
    def around(cls, images: Any, *, rules: DensityRules | None = None) -> DensityFrame:
        """Return the frame of the images of a sample, with a margin for rows beyond them.

        Parameters
        ----------
        images : array-like of shape (n_rows, n_components)
            Points of the map; of more than two axes the first two count.
        rules : DensityRules or None, default=None
            Side and margin.
        """
        rules = rules or DensityRules()
        points = check_points(images, name="images", min_samples=1)[:, :SHOWN_AXES]
        low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
        # Halves first: the difference of two large numbers may leave the range.
        half = float(np.max(high / 2 - low / 2))
        # A single point gets room as wide as its distance from zero, which floats resolve.
        room = 2 * rules.margin * half or max(1.0, float(np.abs(high).max()))
        return cls(tuple((low - room).tolist()), tuple((high + room).tolist()), rules.side)

    @property
    def pixel(self) -> float:
        """Width and height of a pixel, in units of the map."""
        return max(b - a for a, b in zip(self.low, self.high, strict=True)) / self.side

    @property
    def shape(self) -> tuple[int, int]:
        """Pixels up and across."""
        across, *up = (
            min(self.side, max(1, math.ceil((b - a) / self.pixel)))
            for a, b in zip(self.low, self.high, strict=True)
        )
        return (up[0] if up else 1), across


@dataclass(frozen=True, eq=False)
class DensityTiles:
    """How many rows lie in each pixel of a frame, and how many beyond it.

    Attributes
    ----------
    frame : DensityFrame
        The rectangle and its pixels.
    counts : ndarray of int64 of shape (n_up, n_across)
        Rows in each pixel. The first row of pixels is the lowest one. A pixel has its lower ends,
        the last ones of the frame have both.
    n_outside : int
        Rows beyond the frame: ``counts.sum() + n_outside == n_rows``.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.assessment import DensityFrame, DensityTiles
    >>> frame = DensityFrame((0.0, 0.0), (2.0, 2.0), side=2)
    >>> first = DensityTiles.of(np.array([[0.5, 0.5], [1.5, 0.5]]), frame)
    >>> both = first.merged(DensityTiles.of(np.array([[1.2, 0.1], [9.0, 0.0]]), frame))
    >>> both.counts.tolist(), both.n_outside, both.n_rows
    ([[1, 2], [0, 0]], 1, 4)
    """

    frame: DensityFrame
    counts: IntArray
    n_outside: int

    @classmethod
    def of(cls, images: Any, frame: DensityFrame) -> DensityTiles:
        """Return the counts of one block of images.

        Parameters
        ----------
        images : array-like of shape (n_rows, n_components)
            Points of the map; of more than two axes the first two count.
        frame : DensityFrame
            Where to count.
        """
        return cls.of_blocks((images,), frame)

    @classmethod
    def of_blocks(cls, blocks: Iterable[Any], frame: DensityFrame) -> DensityTiles:
        """Return the counts of all blocks of images, of which one is held at a time.

        Parameters
        ----------
        blocks : iterable of array-like of shape (n_rows, n_components)
            Points of the map, as they come.
        frame : DensityFrame
            Where to count.
        """
        counts = np.zeros(frame.shape, dtype=np.int64)
        n_outside = 0
        for images in blocks:
            points = _read_block(images, frame)
            for start in range(0, len(points), CHUNK_ROWS):
                n_outside += _add(counts, points[start : start + CHUNK_ROWS], frame)
        return cls(frame, counts, n_outside)

    def merged(self, other: DensityTiles) -> DensityTiles:
        """Return the counts of the rows of both; the frames must be the same.

        Parameters
        ----------
        other : DensityTiles
            Counts of other rows.
        """
        if other.frame != self.frame:
            msg = (
                f"Counts of two frames cannot be added: {self.frame} and {other.frame} have other "
                f"pixels. Count all blocks in one frame."
            )
            raise InvalidInputError(msg)
        return replace(
            self, counts=self.counts + other.counts, n_outside=self.n_outside + other.n_outside
        )

    @property
    def n_rows(self) -> int:
        """Rows that were counted, within the frame and beyond."""
        return int(self.counts.sum()) + self.n_outside

    def at_level(self, level: int) -> IntArray:
        """Return the counts of pixels that are ``2**level`` times as wide.

        Parameters
        ----------
        level : int
            How often the width is doubled; 0 are the counts themselves.
        """
        counts = self.counts
        for _ in range(level):
            counts = _halved(_halved(counts).T).T
        return counts


def _halved(counts: IntArray) -> IntArray:
    """Return the sums of every two rows of pixels; the last one may be single."""
    sums = counts[::2].copy()
    sums[: len(counts) // 2] += counts[1::2]
    return sums


def _check_ends(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    """Raise an error unless both ends are finite and some axis has an extent."""
    extents = [b - a for a, b in zip(low, high, strict=False)]
    is_paired = len(low) == len(high) and 1 <= len(low) <= SHOWN_AXES
    if (
        not is_paired
        or not all(map(math.isfinite, extents))
        or not min(extents) >= 0 < max(extents)
    ):
        msg = (
            f"A frame from low={low} to high={high} has no pixels: both need one or two finite "
            f"numbers, and high must lie above low. Use DensityFrame.around(images)."
        )
        raise InvalidInputError(msg)


def _read_block(images: Any, frame: DensityFrame) -> FloatArray:
    """Return a block of images with as many axes as the frame has."""
    points = check_points(images, name="images", min_samples=0)
    n_axes = len(frame.low)
    if min(points.shape[1], SHOWN_AXES) != n_axes:
        msg = (
            f"images have {points.shape[1]} axes and the frame has {n_axes}, so that rows have no "
            f"pixel. Use DensityFrame.around(images) for the frame of a sample of the same map."
        )
        raise InvalidInputError(msg)
    return points[:, :n_axes]


def _add(counts: IntArray, points: FloatArray, frame: DensityFrame) -> int:
    """Add rows to the counts of their pixels, and return how many lie beyond the frame."""
    # In double precision, whatever the block has: equal rows get equal pixels.
    axes = [points[:, axis].astype(np.float64) for axis in range(points.shape[1])]
    is_inside = np.ones(len(points), dtype=bool)
    for values, low, high in zip(axes, frame.low, frame.high, strict=True):
        is_inside &= (values >= low) & (values <= high)
    n_outside = len(points) - int(np.count_nonzero(is_inside))
    if n_outside:
        axes = [values[is_inside] for values in axes]
    flat = np.zeros(len(axes[0]), dtype=np.int64)
    # Up before across, as the counts are stored.
    sizes = counts.shape[-len(axes) :]
    for values, low, size in zip(axes[::-1], frame.low[::-1], sizes, strict=True):
        np.subtract(values, low, out=values)
        np.divide(values, frame.pixel, out=values)
        flat *= size
        flat += np.minimum(values.astype(np.int64), size - 1)
    np.add.at(counts.reshape(-1), flat, 1)
    return n_outside
