"""The repulsion of neighbor embedding: from all pairs of few points, or by a mesh.

Each point is pushed by Σ_j q_ij² (y_i - y_j) with q_ij = 1/(1 + |y_i - y_j|²), which is minus half
the gradient of the potential φ(y) = Σ_j 1/(1 + |y - y_j|²). On a mesh φ is a convolution: points
are spread on the nodes by cubic B-splines, two Fourier transforms convolve them with the kernel,
and potential and gradient are read at the points (a particle-mesh method, as for gravity). A sweep
takes O(n + m log m) for m nodes.

References
----------
Hockney, R. W., & Eastwood, J. W. (1988). Computer simulation using particles.
Linderman, G. C., et al. (2019). Fast interpolation-based t-SNE for improved visualization of
single-cell RNA-seq data. Nature Methods 16.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.fft

from isofold._parallel import RowTeam
from isofold._typing import FloatArray
from isofold.stress._forces import repel
from isofold.stress._mesh import gather, spread

__all__ = ["ForceField", "Mesh"]

MESH_WIDTH = 0.5
"""Distance of the nodes, where the kernel has a width of 1. The force is then right to 3-5 %; to
20 % at twice the width."""

MARGIN, GROWTH = 6, 1.1
"""Nodes beyond the last point, which splines need, and room for the map to grow before the
kernel is made anew."""

LEAST_TRANSFORM = 0.03
"""The splines' own transform is divided out, except where it is nearly zero."""

MOST_PAIRED = 500
"""Points up to which all pairs are as fast as a mesh."""


@dataclass(frozen=True, eq=False)
class ForceField:
    """What repels the points of a map.

    Attributes
    ----------
    force : ndarray of shape (n, p)
        Σ_j q_ij² (y_i - y_j).
    total : float
        Σ_i Σ_{j≠i} q_ij, the normalization.
    """

    force: FloatArray
    total: float


class Mesh:
    """Repulsion of all points of a map; the transformed kernel is kept while its size suits.

    Parameters
    ----------
    n_components : int
        Dimension of the map: 1, 2 or 3.
    team : RowTeam
        Threads, and the rows that each of them owns.
    """

    def __init__(self, n_components: int, team: RowTeam) -> None:
        self._p = n_components
        self._team = team
        self._nodes = 0
        self._kernel: FloatArray = np.empty(0)

    def field(self, points: FloatArray) -> ForceField:
        """Return the forces at all points."""
        n = len(points)
        force, potential = np.empty_like(points), np.empty(n)
        if n <= MOST_PAIRED:
            self._team.each(repel, points, force, potential)
        else:
            self._by_mesh(points, force, potential)
        return ForceField(force, max(float(potential.sum()) - n, np.finfo(float).tiny))

    def _by_mesh(self, points: FloatArray, force: FloatArray, potential: FloatArray) -> None:
        cells = (points - points.min(axis=0)) / MESH_WIDTH
        self._fit_kernel(float(cells.max()))
        m, p = self._nodes, self._p
        used = (2 * m, 2 * m if p == 3 else 1, 2 * m if p > 1 else 1)
        grid = np.zeros(used, dtype=np.float32)
        # NumPy sorts numbers of two bytes by counting.
        slices = cells[:, 0].astype(np.uint16 if m <= np.iinfo(np.uint16).max else np.int64)
        order = np.argsort(slices, kind="stable")
        starts = np.searchsorted(slices[order], np.arange(m + 1))

        self._team.each_part(np.diff(starts), spread, cells, order, starts, grid)
        axes = tuple(axis for axis in range(3) if used[axis] > 1)
        workers = self._team.n_threads
        transform = scipy.fft.rfftn(grid, axes=axes, workers=workers)
        transform *= self._kernel
        grid = scipy.fft.irfftn(
            transform, s=[used[axis] for axis in axes], axes=axes, workers=workers
        )
        self._team.each(gather, cells, grid, force, potential)
        force *= -0.5 / MESH_WIDTH

    def _fit_kernel(self, extent: float) -> None:
        """Make the transform of the kernel for a map of so many cells, unless it is there."""
        needed = int(extent) + MARGIN
        if self._nodes >= needed > 0.8 * self._nodes:
            return
        m = scipy.fft.next_fast_len(int(GROWTH * extent) + MARGIN + 2, real=True)
        double, p = 2 * m, self._p
        offset = np.minimum(np.arange(double), double - np.arange(double)) * MESH_WIDTH
        # Spreading and reading each multiply by the transform of the spline, sinc⁴.
        whole = np.sinc(np.fft.fftfreq(double)) ** 4
        shape = (double, double if p == 3 else 1, double if p > 1 else 1)
        square, damping = np.zeros(shape), np.ones(shape)
        for axis in range(3):
            if shape[axis] > 1:
                square = square + np.expand_dims(offset**2, [a for a in range(3) if a != axis])
                damping = damping * np.expand_dims(whole, [a for a in range(3) if a != axis])
        axes = [axis for axis in range(3) if shape[axis] > 1]
        transform = scipy.fft.rfftn((1.0 / (1.0 + square)).astype(np.float32), axes=axes).real
        half = damping[tuple(slice(size) for size in transform.shape)]
        self._kernel = (transform / np.maximum(half**2, LEAST_TRANSFORM)).astype(np.float32)
        self._nodes = m
