"""Layers: sheets that lie closer to each other than their points, and look like one noisy sheet.

Noise spreads the residuals of a chart: their kurtosis is 3 if it is Gaussian, 1.8 if it is uniform.
Two layers leave residuals of two values, kurtosis 1, and three of three, 1.5. With noise of a fifth
of the gap between two layers it is 1.5. Residuals of a surface that bends more than its chart may
have a kurtosis as low, but they vary smoothly along the patch; those of layers do not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.patches.atlas import Atlas, quadratic_features
from isofold.patches.batches import Batch, gather_batch, similar_patches
from isofold.patches.charts import ChartFit
from isofold.patches.cover import PatchCover

__all__ = ["find_layers"]

SMALLEST_KURTOSIS = 1.7
"""Kurtosis of residuals below which they are those of layers. In patches of 200 points uniform
noise is below it in 6 of 100, Gaussian noise in none."""

LARGEST_CORRELATION = 0.3
"""Correlation of residuals at nearest points above which they are a bend, not layers."""

LEAST_POINTS, ENOUGH_POINTS = 16, 200
"""Points of a patch below which its residuals tell nothing; it is thinned from twice the second."""

MOST_PATCHES = 200
"""Patches that are looked at: enough to know the fraction of layered ones to three in a hundred."""

LEAST_RESIDUAL = 0.2
"""Residual relative to the distance of nearest points along the patch below which layers do not
matter: those of layers a fifth of the spacing of points apart."""


def find_layers(
    points: FloatArray, cover: PatchCover, charts: ChartFit
) -> tuple[IntArray, BoolArray]:
    """Look for layers in some of the patches."""
    examined = np.unique(np.linspace(0, cover.n_patches - 1, MOST_PATCHES).astype(np.intp))
    found = np.zeros(cover.n_patches, dtype=bool)
    if points.shape[1] == charts.coordinates.shape[1] or charts.estimators:
        return examined, found[examined]
    cover, entries = cover.thinned(np.maximum(1, cover.sizes // ENOUGH_POINTS))
    is_examined = np.zeros(cover.n_patches, dtype=bool)
    is_examined[examined] = True
    d, q = (int(width) for width in (points.shape[1], charts.atlas.coefficients.shape[1]))

    def n_numbers(size: int) -> int:
        return size * (8 * d + 2 * q + 4 * size) + d * q

    for group in similar_patches(cover, enough=LEAST_POINTS, n_numbers=n_numbers):
        patches = group[is_examined[group]]
        if not len(patches):
            continue
        batch = gather_batch(points, cover, patches)
        counts = batch.is_member & ~charts.is_off[entries[batch.entries]]
        atlas = charts.atlas.chosen(patches)
        atlas = replace(atlas, origins=atlas.origins - batch.centers)
        found[patches] = _batch_is_layered(batch, atlas, counts)
    return examined, found[examined]


def _batch_is_layered(batch: Batch, atlas: Atlas, counts: BoolArray) -> BoolArray:
    """Return which patches of a batch hold several layers, judged by the points that count."""
    relative = batch.points - atlas.origins[:, None, :]
    t = relative @ atlas.axes
    left = relative - t @ atlas.axes.swapaxes(1, 2)
    if not atlas.is_flat:
        left -= quadratic_features(t) @ atlas.coefficients
    n = np.maximum(counts.sum(axis=1), 1)[:, None]
    left = np.where(counts[..., None], left, 0.0)
    left = np.where(counts[..., None], left - left.sum(axis=1, keepdims=True) / n[..., None], 0.0)
    values = _along_main_axis(left)
    nearest, squares = _nearest(t, counts)
    spacing = np.sqrt(np.where(counts, squares, 0.0).sum(axis=1) / n[:, 0])
    size = np.sqrt((values**2).sum(axis=1) / n[:, 0])
    is_visible = size > LEAST_RESIDUAL * spacing
    values = values / np.where(is_visible, size, 1.0)[:, None]
    kurtosis = (values**4).sum(axis=1) / n[:, 0]
    steps = (values - np.take_along_axis(values, nearest, axis=1)) ** 2
    correlation = 1.0 - np.where(counts, steps, 0.0).sum(axis=1) / n[:, 0] / 2.0
    is_told = is_visible & (n[:, 0] >= LEAST_POINTS)
    is_random = correlation < LARGEST_CORRELATION
    return np.asarray(is_told & is_random & (kurtosis < SMALLEST_KURTOSIS))


def _along_main_axis(vectors: FloatArray) -> FloatArray:
    """Return the coordinates of vectors along the axis on which they differ most."""
    m, d = vectors.shape[1:]
    if d <= m:
        axes = np.linalg.eigh(vectors.swapaxes(1, 2) @ vectors)[1][:, :, -1:]
        return np.asarray((vectors @ axes)[..., 0])
    values, left = np.linalg.eigh(vectors @ vectors.swapaxes(1, 2))
    return np.asarray(left[:, :, -1] * np.sqrt(np.maximum(values[:, -1:], 0.0)))


def _nearest(t: FloatArray, counts: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest other point that counts, and its squared distance, for every point."""
    squares = (t**2).sum(axis=2)
    apart = squares[:, :, None] + squares[:, None, :] - 2.0 * t @ t.swapaxes(1, 2)
    apart[~np.broadcast_to(counts[:, None, :], apart.shape)] = np.inf
    diagonal = np.arange(t.shape[1])
    apart[:, diagonal, diagonal] = np.inf
    nearest = apart.argmin(axis=2)
    found = np.take_along_axis(apart, nearest[..., None], axis=2)[..., 0]
    # Where a single point counts it has no other.
    return nearest, np.where(np.isfinite(found), np.maximum(found, 0.0), 0.0)
