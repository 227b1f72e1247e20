"""How much each neighbor of a new point counts before its place is looked at."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray

TEAR = 3.0
"""Images this many times farther apart than is usual nearby belong to another part of the map.
Factors from 2 to 4 make no difference on Swiss rolls of 500 points."""

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
