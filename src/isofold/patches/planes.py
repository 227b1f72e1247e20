"""Planes: disjoint cells of points, each described by its mean and its widest axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray

__all__ = ["Planes", "fit_planes"]

NOTHING = 1e-12
"""Variance relative to the largest that counts as none: rounding of coordinates off the origin."""


@dataclass(frozen=True, eq=False)
class Planes:
    """The q-dimensional planes that describe cells best.

    Attributes
    ----------
    labels : ndarray of int of shape (n_points,)
        The cell of every point.
    means : ndarray of shape (n_cells, d)
        The means m of the cells.
    axes : ndarray of shape (n_cells, d, q)
        Their principal axes U, orthonormal.
    ranks : ndarray of int of shape (n_cells,)
        How many of the axes the points of a cell span; the others are arbitrary.
    off : ndarray of shape (n_cells,)
        Fraction of the variance of a cell that lies off its plane.
    extents : ndarray of shape (n_cells,)
        Four standard deviations along the widest axis: about the diameter of a cell.
    """

    labels: IntArray
    means: FloatArray
    axes: FloatArray
    ranks: IntArray
    off: FloatArray
    extents: FloatArray

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.means)

    @property
    def sizes(self) -> IntArray:
        """Number of points of every cell."""
        return np.bincount(self.labels, minlength=self.n_cells)

    def coordinates(self, points: FloatArray, cells: IntArray) -> FloatArray:
        """Return (x − m)U for points in given cells, one row after the other."""
        n, q = len(points), self.axes.shape[2]
        coordinates = np.empty((n, q))
        step = block_rows(8 * (q + 2) * points.shape[1], n)
        for start in range(0, n, step):
            block = slice(start, start + step)
            at = cells[block]
            offsets = points[block] - self.means[at]
            coordinates[block] = (offsets[:, None, :] @ self.axes[at])[:, 0]
        return coordinates

    def points(self, coordinates: FloatArray, cells: IntArray) -> FloatArray:
        """Return m + uUᵀ for coordinates in given cells, one row after the other."""
        n, d = len(coordinates), self.means.shape[1]
        points = np.empty((n, d))
        step = block_rows(8 * (self.axes.shape[2] + 2) * d, n)
        for start in range(0, n, step):
            block = slice(start, start + step)
            at = cells[block]
            back = (self.axes[at] @ coordinates[block, :, None])[:, :, 0]
            points[block] = self.means[at] + back
        return points


def fit_planes(points: FloatArray, labels: IntArray, n_components: int) -> Planes:
    """Fit a plane to every cell."""
    n_cells, d = int(labels.max()) + 1, points.shape[1]
    means, axes = np.empty((n_cells, d)), np.empty((n_cells, d, n_components))
    ranks = np.empty(n_cells, dtype=np.intp)
    off, extents = np.empty(n_cells), np.empty(n_cells)
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=n_cells)
    begin = np.concatenate([[0], np.cumsum(sizes)])
    # All cells of a size at once; each matrix of the stack is factored by itself.
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        step = block_rows(8 * 4 * d * max(size, n_components), len(same))
        for start in range(0, len(same), step):
            cells = same[start : start + step]
            members = points[order[begin[cells][:, None] + np.arange(size)]].astype(np.float64)
            means[cells] = members.mean(axis=1)
            found = _widest(members - means[cells][:, None, :], n_components)
            axes[cells], ranks[cells], off[cells], extents[cells] = found
    return Planes(labels, means, axes, ranks, off, extents)


def _widest(members: FloatArray, q: int) -> tuple[FloatArray, ...]:
    """Return the widest axes of centered cells, their ranks, the fraction off them, extents."""
    _, m, d = members.shape
    # As many rows as axes are wanted: missing ones are filled with nothing, and axes completed.
    if m < q:
        members = np.pad(members, ((0, 0), (0, q - m), (0, 0)))
    if d <= m:
        squares, vectors = np.linalg.eigh(members.swapaxes(1, 2) @ members)
        squares, vectors = squares[:, ::-1], vectors[:, :, ::-1][:, :, :q]
    else:
        widths, right = np.linalg.svd(members, full_matrices=False)[1:]
        squares, vectors = widths**2, right[:, :q].swapaxes(1, 2)
    squares = np.maximum(squares, 0.0)
    total = squares.sum(axis=1)
    ranks = (squares[:, :q] > NOTHING * np.maximum(total, np.finfo(float).tiny)[:, None]).sum(
        axis=1
    )
    left = squares[:, q:].sum(axis=1)
    off = np.divide(left, total, out=np.zeros_like(total), where=total > 0)
    return vectors, ranks, off, 4.0 * np.sqrt(squares[:, 0] / m)
