"""Tesserae: disjoint clusters of points, each flattened onto a few principal axes and kept rigid.

Tessera ℓ holds the points C_ℓ with local coordinates P_ℓ (n_ℓ × d_ℓ, of mean zero). Placed by a
rotation R_ℓ and a translation t_ℓ they are P_ℓR_ℓ + 1t_ℓ, so that all points are Y = US with the
block-diagonal U of blocks [P_ℓ 1] and S of stacked (R_ℓ; t_ℓ).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray

__all__ = ["Tesserae", "cut_tesserae"]

RANK_TOLERANCE = 1e-10
"""Singular values below this part of the largest of all tesserae are rounding."""


@dataclass(frozen=True, eq=False)
class Tesserae:
    """Tesserae: flat groups of points.

    Attributes
    ----------
    labels : ndarray of shape (n_points,)
        The tessera of every point.
    local : ndarray of shape (n_points, r)
        Coordinates in the axes of its tessera; zero beyond the tessera's rank.
    ranks : ndarray of shape (n_tesserae,)
        d_ℓ, at most r.
    residual : float
        Fraction of the squared distances from the tesserae's means that the axes do not hold.
    thickness : float
        Root mean square distance of the points from their tesserae: how much these are bent.
    """

    labels: IntArray
    local: FloatArray
    ranks: IntArray
    residual: float
    thickness: float

    @property
    def n_tesserae(self) -> int:
        """Their number c."""
        return len(self.ranks)

    def scaled(self, factor: float) -> Tesserae:
        """Return the same tesserae in other units of length."""
        return replace(self, local=factor * self.local, thickness=factor * self.thickness)

    @cached_property
    def first_row(self) -> IntArray:
        """The first of the d_ℓ + 1 rows of S that belong to each tessera; the last is t_ℓ."""
        ends: IntArray = np.cumsum(self.ranks + 1)
        return ends - self.ranks - 1

    @property
    def n_rows(self) -> int:
        """γ, the number of rows of S."""
        return int(np.sum(self.ranks + 1))

    @property
    def blocks(self) -> IntArray:
        """First row and size of every rotation, as `GramSDP` takes them."""
        has_axes = self.ranks > 0
        return np.column_stack([self.first_row[has_axes], self.ranks[has_axes]])

    @cached_property
    def matrix(self) -> sp.csr_array:
        """U, sparse."""
        n, r = self.local.shape
        rank = self.ranks[self.labels]
        columns = self.first_row[self.labels][:, None] + np.arange(r + 1)
        values = np.column_stack([self.local, np.zeros(n)])
        values[np.arange(n), rank] = 1.0
        used = np.arange(r + 1) <= rank[:, None]
        indptr = np.concatenate([[0], np.cumsum(rank + 1)])
        return sp.csr_array((values[used], columns[used], indptr), shape=(n, self.n_rows))


def cut_tesserae(points: FloatArray, labels: IntArray, n_components: int) -> Tesserae:
    """Flatten every cluster onto its principal axes.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.patches.tesserae import cut_tesserae
    >>> bent = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [3.0, 2.0]])
    >>> tesserae = cut_tesserae(bent, np.array([0, 0, 0, 1, 1]), 2)
    >>> tesserae.ranks
    array([1, 1])
    """
    n, c = len(points), int(labels.max()) + 1
    local, ranks = np.zeros((n, n_components)), np.zeros(c, dtype=np.intp)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=c))
    spectra, kept_variance, variance = [], 0.0, 0.0
    for members in np.split(order, ends[:-1]):
        own = points[members].astype(np.float64)
        own -= own.mean(axis=0)
        left, singular, _ = np.linalg.svd(own, full_matrices=False)
        width = min(n_components, len(singular))
        local[members, :width] = left[:, :width] * singular[:width]
        spectra.append(singular[:width])
        variance += float(np.sum(singular**2))
        kept_variance += float(np.sum(singular[:width] ** 2))
    largest = max((float(s.max(initial=0.0)) for s in spectra), default=0.0)
    for number, singular in enumerate(spectra):
        ranks[number] = int(np.sum(singular > RANK_TOLERANCE * largest))
    beyond = np.arange(n_components) >= ranks[labels][:, None]
    local[beyond] = 0.0
    lost = max(0.0, variance - kept_variance)
    return Tesserae(
        labels=labels,
        local=local,
        ranks=ranks,
        residual=lost / variance if variance > 0.0 else 0.0,
        thickness=float(np.sqrt(lost / n)),
    )
