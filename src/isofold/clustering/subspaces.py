"""Affine subspaces: the subspace that fits a cluster best, and how far points are from it.

A cluster's subspace passes through its mean b along the top r eigenvectors U of its scatter matrix.
A point is off it by ‖x - b‖² - ‖(x - b)U‖² (thesis, eq. 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.linalg import deterministic_signs
from isofold.linalg.eigen import eigh_slice

__all__ = ["AffineSubspaces", "fit_subspaces"]

SMALL_WIDTH = 64
"""Features up to which points are narrow: all scatter matrices are decomposed at once."""

CACHED_NUMBERS = 2**18
"""Coordinates that are worked on at a time: 2 MB, which stay in the processor's cache."""

RANK_TOLERANCE = 1e-12
"""Eigenvalues below this fraction of the largest are rounding: scatter is summed in float64."""

ROUNDING = 1e-13
"""Fraction of the squared distance from its center below which that from a subspace is rounding."""

TIE = 1e-12
"""Costs that differ by less than this fraction of their size are equal but for rounding."""


@dataclass(frozen=True, eq=False)
class AffineSubspaces:
    """One subspace for every cluster.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, d)
        A point b of each subspace: the mean of its cluster.
    bases : ndarray of shape (n_clusters, d, r)
        Orthonormal columns along each subspace. Columns of zeros where a cluster spans less than r
        dimensions.
    """

    centers: FloatArray
    bases: FloatArray

    @property
    def n_clusters(self) -> int:
        """Number of subspaces."""
        return len(self.centers)

    def coordinates(self, points: FloatArray, cluster: int) -> FloatArray:
        """Return the coordinates of points along one subspace, eq. 4.4."""
        along: FloatArray = (points - self.centers[cluster]) @ self.bases[cluster]
        return along

    def squared_distances_to(self, points: FloatArray, cluster: int) -> FloatArray:
        """Return the squared distances of points from one subspace."""
        return self._squares(points, cluster)[0]

    def own_squared_distances(self, points: FloatArray, labels: IntArray) -> FloatArray:
        """Return the squared distance of every point from the subspace of its cluster."""
        squares = np.empty(len(points))
        for cluster, members in enumerate(members_of(labels, self.n_clusters)):
            offsets = points[members] - self.centers[cluster]
            # Not by eq. 4.5, whose difference leaves rounding where points are in the subspace.
            offsets -= offsets @ self.bases[cluster] @ self.bases[cluster].T
            squares[members] = np.einsum("ij,ij->i", offsets, offsets)
        return squares

    def nearest(self, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the nearest subspace of every point, and the squared distance from it."""
        labels = np.zeros(len(points), dtype=np.intp)
        squares = np.full(len(points), np.inf)
        offsets = np.full(len(points), np.inf)
        for cluster in range(self.n_clusters):
            from_flat, from_center = self._squares(points, cluster)
            is_tied = np.abs(from_flat - squares) <= TIE * squares
            is_nearer = np.where(is_tied, from_center < offsets * (1.0 - TIE), from_flat < squares)
            labels[is_nearer] = cluster
            squares[is_nearer] = from_flat[is_nearer]
            offsets[is_nearer] = from_center[is_nearer]
        return labels, squares

    def _along(self, points: FloatArray, cluster: int) -> tuple[FloatArray, FloatArray]:
        """Return coordinates along a subspace and squared distances from its center."""
        center, basis = self.centers[cluster], self.bases[cluster]
        if points.shape[1] <= SMALL_WIDTH:
            offsets = points - center
            return offsets @ basis, np.einsum("ij,ij->i", offsets, offsets)
        # One product for both: to subtract the center from wide points takes longer than all else.
        products = points @ np.column_stack([basis, center])
        squares = np.einsum("ij,ij->i", points, points) - 2.0 * products[:, -1] + center @ center
        return products[:, :-1] - center @ basis, np.maximum(squares, 0.0)

    def _squares(self, points: FloatArray, cluster: int) -> tuple[FloatArray, FloatArray]:
        """Return squared distances from a subspace and from its center, eq. 4.5."""
        from_center, from_flat = np.empty(len(points)), np.empty(len(points))
        step = max(1, CACHED_NUMBERS // points.shape[1])
        for begin in range(0, len(points), step):
            block = slice(begin, begin + step)
            along, from_center[block] = self._along(points[block], cluster)
            from_flat[block] = from_center[block] - np.einsum("ij,ij->i", along, along)
        # What is left of a point in the subspace is rounding, which must not decide anything.
        from_flat[from_flat < ROUNDING * from_center] = 0.0
        return from_flat, from_center


def members_of(labels: IntArray, n_clusters: int) -> list[IntArray]:
    """Return the members of every cluster, ascending."""
    ends = np.cumsum(np.bincount(labels, minlength=n_clusters))
    return np.split(order_by(labels, n_clusters), ends[:-1])


def order_by(labels: IntArray, n_clusters: int) -> IntArray:
    """Return the nodes by cluster, then by number."""
    # Short numbers are sorted digit by digit, in a tenth of the time.
    short = labels.astype(np.uint16) if n_clusters <= 2**16 else labels
    order: IntArray = np.argsort(short, kind="stable")
    return order


def fit_subspaces(
    points: FloatArray,
    labels: IntArray,
    n_components: int,
    *,
    n_clusters: int,
    weights: FloatArray | None = None,
) -> AffineSubspaces:
    """Return the best subspace of every cluster, eq. 4.14.

    Examples
    --------
    >>> import numpy as np
    >>> cross = np.array([[-1.0, 0.0], [1.0, 0.0], [5.0, -1.0], [5.0, 1.0]])
    >>> subspaces = fit_subspaces(cross, np.array([0, 0, 1, 1]), 1, n_clusters=2)
    >>> subspaces.centers
    array([[0., 0.],
           [5., 0.]])
    >>> subspaces.bases[:, :, 0]
    array([[1., 0.],
           [0., 1.]])
    """
    d = points.shape[1]
    counts = np.ones(len(points)) if weights is None else weights
    centers = np.empty((n_clusters, d))
    bases = np.zeros((n_clusters, d, n_components))
    # Scatter below this is what rounding of the mean leaves.
    noise = np.zeros(n_clusters)
    scatter = np.empty((n_clusters, d, d)) if d <= SMALL_WIDTH else None
    for cluster, members in enumerate(members_of(labels, n_clusters)):
        weight, own = counts[members], points[members]
        centers[cluster] = weight @ own / weight.sum()
        if not n_components:
            continue
        ulp = 4.0 * np.finfo(np.float64).eps * np.abs(centers[cluster]).max()
        noise[cluster] = d * ulp**2 * weight.sum()
        offsets = (own - centers[cluster]) * np.sqrt(weight)[:, None]
        if scatter is None:
            bases[cluster] = _top_directions(offsets, n_components, noise[cluster])
        else:
            scatter[cluster] = offsets.T @ offsets
    if scatter is not None and n_components:
        values, vectors = np.linalg.eigh(scatter)
        values, vectors = values[:, ::-1], vectors[:, :, ::-1][:, :, :n_components]
        least = np.maximum(RANK_TOLERANCE * values[:, 0], noise)
        is_kept = values[:, :n_components] > least[:, None]
        for cluster in range(n_clusters):
            bases[cluster] = deterministic_signs(vectors[cluster]) * is_kept[cluster]
    return AffineSubspaces(centers=centers, bases=bases)


def _top_directions(offsets: FloatArray, n_components: int, noise: float) -> FloatArray:
    """Return the leading right singular vectors of a wide table, zeros beyond its rank."""
    n_rows, d = offsets.shape
    is_wide = n_rows < d
    gram = offsets @ offsets.T if is_wide else offsets.T @ offsets
    r = min(n_components, len(gram))
    values, vectors = eigh_slice(gram, len(gram) - r, len(gram))
    values, vectors = values[::-1], vectors[:, ::-1]
    is_kept = values > max(RANK_TOLERANCE * float(values[0]), noise)
    directions = np.zeros((d, n_components))
    kept = vectors[:, is_kept]
    if is_wide:
        # One step of orthogonalization: dividing by small singular values alone loses digits.
        kept = np.linalg.qr(offsets.T @ (kept / np.sqrt(values[is_kept])))[0]
    directions[:, : kept.shape[1]] = deterministic_signs(kept)
    return directions
