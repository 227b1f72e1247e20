"""How much each neighbor of a new point counts before its place is looked at."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray
from isofold.extension.weights import measure_spread

TEAR = 3.0
"""Images this many times farther apart than is usual nearby belong to another part of the map.
Factors from 2 to 4 make no difference on Swiss rolls of 500 points."""

ACQUITTED = 0.3
"""Part of the distance of a suspect's image by which the affine map of the others may miss it."""

FADE = 0.999
"""Just below one, so that neighbors which are all equally far share equally."""


def apply_weights(weights: sp.csr_array, images: FloatArray) -> FloatArray:
    """Return weighted sums of images; a sparse product runs row by row."""
    placed: FloatArray = weights @ images
    return placed.astype(images.dtype, copy=False)


def lengths_of(vectors: FloatArray) -> FloatArray:
    """Return the lengths of vectors of shape (m, k, d)."""
    lengths: FloatArray = np.sqrt(np.einsum("mkd,mkd->mk", vectors, vectors))
    return lengths


def usual_stretch(stretches: FloatArray) -> FloatArray:
    """Return the lower quartile of every row, as a column; infinity if there is none.

    Not the median: where a sheet touches itself, up to half of the neighbors are on the far side.
    """
    n_others = stretches.shape[1]
    if n_others == 0:
        return np.full((len(stretches), 1), np.inf)
    place = (n_others - 1) // 4
    return np.sort(stretches, axis=1)[:, place : place + 1]


def torn(stretches: FloatArray, usual: FloatArray) -> BoolArray:
    """Return which neighbors lie in another part of the map than the nearest."""
    return (stretches > TEAR * usual) & (usual > 0)


def untorn(near: FloatArray, images: FloatArray, floors: FloatArray) -> BoolArray:
    """Return which neighbors lie in the same part of the map as the nearest.

    A neighbor that is suspiciously far is acquitted if the affine map of the others, which may
    stretch one direction more than another, takes it there as well.
    """
    gaps, lengths = lengths_of(near), lengths_of(images)
    stretches = np.divide(lengths, gaps, out=np.zeros_like(gaps), where=gaps > 0)
    suspects = torn(stretches, usual_stretch(stretches[:, 1:]))
    # So many neighbors are needed to tell how the map runs, and one to see that it is no accident.
    rows = np.flatnonzero(suspects.any(axis=1) & ((~suspects).sum(axis=1) > images.shape[2] + 1))
    if len(rows):
        missed = _missed_by_others(near[rows], images[rows], ~suspects[rows], floors[rows])
        suspects[rows] &= missed > ACQUITTED * lengths[rows]
    return ~suspects


def _missed_by_others(
    near: FloatArray, images: FloatArray, kept: BoolArray, floors: FloatArray
) -> FloatArray:
    """Return how far the affine map of the kept neighbors misses every neighbor's image."""
    shares = kept / kept.sum(axis=1, keepdims=True)
    spread = measure_spread(near, shares)
    q = images.shape[2]
    means = np.einsum("mk,mkq->mq", shares, images)[:, None]
    steps = spread.left[:, :, :q].swapaxes(1, 2) @ (np.sqrt(shares)[:, :, None] * (images - means))
    offsets = near - spread.means[:, None]
    # Coordinates along the widest axes in standard deviations: U Sᵀ⁻¹ of all, not only of the kept.
    along = (offsets @ spread.centered.swapaxes(1, 2)) @ spread.left[:, :, :q]
    widths = spread.widths[:, :q]
    scale = np.divide(1.0, widths**2, out=np.zeros_like(widths), where=widths > floors[:, None])
    predicted = means + (along * scale[:, None, :]) @ steps
    return lengths_of(images - predicted)


def fading_shares(distances: FloatArray, kept: BoolArray) -> FloatArray:
    """Return the shares ω of the neighbors, the first columns of ascending distances.

    A further column, if there is one, holds the distance at which shares have faded.
    """
    n_used = kept.shape[1]
    nearest, used = distances[:, :1], distances[:, :n_used]
    closeness = np.divide(nearest, used, out=np.zeros_like(used), where=used > 0)
    if distances.shape[1] > n_used:
        rim = distances[:, n_used:]
        closeness -= FADE * np.divide(nearest, rim, out=np.zeros_like(rim), where=rim > 0)
    shares = np.where(kept, closeness, 0.0)
    # A point that meets its nearest neighbor belongs to it alone.
    shares[distances[:, 0] == 0, 0] = 1.0
    normalized: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return normalized
