"""Frames of structures with anchors: principal axes and mirror images that leave anchors alone."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from isofold._typing import FloatArray

__all__ = ["mirrored", "principal"]

DEGENERATE = 1e-6
"""Extent of anchors along an axis, relative to the largest, below which they do not span it."""


def principal(Y: FloatArray, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return points in principal axes, as far as anchors allow, and the variance of each column.

    The first columns are those of the structure. What anchors span stays where it is; the rest is
    rotated so that most variance lies in the remaining columns of the structure.
    """
    p, d = Y.shape[1], positions.shape[1]
    free = _free_axes(positions)
    # Axes that anchors leave: first those of the structure, then the extra columns.
    axes = np.zeros((len(free) + p - d, p))
    axes[: len(free), :d] = free
    axes[len(free) :, d:] = np.eye(p - d)
    center = np.pad(positions[0], (0, p - d)) if len(positions) else Y.mean(axis=0)
    off = (Y - center) @ axes.T
    rotation = np.linalg.svd(off.T @ off)[2]
    moved = Y - center + (off @ rotation.T - off) @ axes
    return moved + (center if len(positions) else 0.0), np.asarray(moved.var(axis=0))


def mirrored(Y: FloatArray, positions: FloatArray) -> FloatArray | None:
    """Return the mirror image in the columns of the structure; None if anchors do not allow it."""
    free = _free_axes(positions)
    if not len(free):
        return None
    axis = free[-1]
    center = positions[0] if len(positions) else np.zeros(len(axis))
    image = Y.copy()
    image[:, : len(axis)] -= 2.0 * np.outer((Y[:, : len(axis)] - center) @ axis, axis)
    return image


def _free_axes(positions: FloatArray) -> FloatArray:
    """Return orthonormal axes (rows) about which anchors say nothing: all without anchors."""
    if len(positions) < 2:
        return np.eye(positions.shape[1])
    return np.asarray(null_space(positions - positions[0], rcond=DEGENERATE).T)
