"""Small pictures of the rows of image data, as plain gray or color bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._typing import IntArray
from isofold.exceptions import InvalidInputError

__all__ = ["Thumbnails", "check_images", "thumbnails"]

MAX_SIDE = 48
"""Pixels along the longer side; larger pictures are reduced by a whole factor."""


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Pictures of some rows.

    Attributes
    ----------
    rows : ndarray of int of shape (n_kept,)
        Which rows, ascending.
    pixels : ndarray of uint8 of shape (n_kept, height, width, 1 or 3)
        Their pictures.
    """

    rows: IntArray
    pixels: npt.NDArray[np.uint8]


def check_images(images: Any, n_points: int) -> npt.NDArray[Any]:
    """Return pictures as an array with one of them a row, or say what is wrong with them."""
    array = np.asarray(images)
    is_gray = array.ndim == 3
    is_color = array.ndim == 4 and array.shape[3] in (1, 3)
    fits = (is_gray or is_color) and len(array) == n_points and 0 not in array.shape
    if not fits or array.dtype.kind not in "biuf":
        msg = (
            f"images has shape {array.shape} and dtype {array.dtype}, but one gray or color "
            f"picture for each of {n_points:,} points is needed. Pass numbers of shape "
            f"({n_points}, height, width) or ({n_points}, height, width, 3)."
        )
        raise InvalidInputError(msg)
    return array if is_color else array[..., None]


def thumbnails(images: npt.NDArray[Any], order: IntArray, *, max_bytes: int) -> Thumbnails:
    """Return small pictures of as many rows as there is room for."""
    _, height, width, channels = images.shape
    factor = -(-max(height, width) // MAX_SIDE)
    size = max(1, height // factor) * max(1, width // factor) * channels
    rows = np.sort(order[: max(1, max_bytes // size)])
    return Thumbnails(rows, _bytes(_reduced(images[rows], factor)))


def _reduced(images: npt.NDArray[Any], factor: int) -> npt.NDArray[Any]:
    """Return means of blocks of pixels."""
    if factor == 1:
        return images
    n, height, width, channels = images.shape
    # A side that is shorter than a block is a block by itself.
    down, across = min(factor, height), min(factor, width)
    h, w = height // down, width // across
    blocks = images[:, : h * down, : w * across].reshape(n, h, down, w, across, channels)
    means: npt.NDArray[Any] = blocks.mean(axis=(2, 4), dtype=np.float32)
    return means.round().astype(np.uint8) if images.dtype == np.uint8 else means


def _bytes(images: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return gray levels from 0 to 255; what is not finite is black."""
    if images.dtype == np.uint8:
        return images
    values = images.astype(np.float32)
    finite = np.isfinite(values)
    low = float(values[finite].min()) if finite.any() else 0.0
    high = float(values[finite].max()) if finite.any() else 0.0
    unit = (np.where(finite, values, low) - low) / ((high - low) or 1.0)
    return (unit * 255.0).round().astype(np.uint8)
