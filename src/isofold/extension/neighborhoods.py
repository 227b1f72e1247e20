"""The neighbors of points, measured from the nearest one, and the axes along which they spread.

With at most as many columns as neighbors, their coordinates are kept. With more, what matters are
their inner products: G_ij = (x_i − x_1)·(x_j − x_1) and t_i = (x_i − x_1)·(x − x_1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.extension._neighborhoods import decompose, multiply_offsets

__all__ = [
    "Neighborhoods",
    "Offsets",
    "Products",
    "Spread",
    "find_neighborhoods",
    "lengths_of",
    "neighborhoods_of",
]


@dataclass(frozen=True, eq=False)
class Spread:
    """The axes along which the neighbors of m points spread, from widest to thinnest.

    Attributes
    ----------
    fractions : ndarray of shape (m, k)
        Fractions ω of the neighbors, each row with sum one.
    left : ndarray of shape (m, k, r)
        U of diag(√ω)(x_j − m)_j = U S Vᵀ, one column an axis; m are the means.
    widths : ndarray of shape (m, r)
        Standard deviations s along the axes.
    axes : ndarray of shape (m, r, d)
        Vᵀ, one row an axis; without columns if coordinates are not known.
    """

    fractions: FloatArray
    left: FloatArray
    widths: FloatArray
    axes: FloatArray


@dataclass(frozen=True, eq=False)
class Offsets:
    """Coordinates of neighbors and of points, relative to the nearest neighbor or any other origin.

    Attributes
    ----------
    neighbors : ndarray of shape (m, k, d)
        Those of the neighbors.
    targets : ndarray of shape (m, d)
        Those of the points.
    """

    neighbors: FloatArray
    targets: FloatArray

    @property
    def n_columns(self) -> int:
        """Columns of the data."""
        return int(self.neighbors.shape[2])

    def of(self, rows: IntArray) -> Offsets:
        """Return the neighborhoods of some points."""
        return Offsets(self.neighbors[rows], self.targets[rows])

    def lengths(self) -> FloatArray:
        """Return the distances of the neighbors from the origin."""
        return lengths_of(self.neighbors)

    def from_means(self, fractions: FloatArray) -> FloatArray:
        """Return the squared distances of the neighbors from their means."""
        return lengths_of(self._centered(fractions)) ** 2

    def spread(self, fractions: FloatArray) -> Spread:
        """Return the axes of neighbors that have fractions of shape (m, k)."""
        centered = self._centered(fractions) * np.sqrt(fractions)[:, :, None]
        # Each matrix of a stack is factored by itself, so that a row never depends on others.
        left, widths, axes = np.linalg.svd(centered, full_matrices=False)
        return Spread(fractions, left, widths, axes)

    def toward(self, spread: Spread, fractions: FloatArray) -> FloatArray:
        """Return v_l·(x − Σ ω_j x_j) of the axes."""
        means = np.einsum("mk,mkd->md", fractions, self.neighbors)
        return np.einsum("mrd,md->mr", spread.axes, self.targets - means)

    def along(self, spread: Spread, q: int) -> FloatArray:
        """Return v_l·(x_i − m) of the q widest axes."""
        centered = self._centered(spread.fractions)
        products: FloatArray = centered @ spread.axes[:, :q].swapaxes(1, 2)
        return products

    def _centered(self, fractions: FloatArray) -> FloatArray:
        means = np.einsum("mk,mkd->md", fractions, self.neighbors)
        return self.neighbors - means[:, None, :]


@dataclass(frozen=True, eq=False)
class Products:
    """Inner products of what `Offsets` holds, for more columns than neighbors.

    Attributes
    ----------
    among : ndarray of shape (m, k, k)
        Those of the neighbors.
    targets : ndarray of shape (m, k)
        Those of the neighbors with the points.
    n_columns : int
        Columns of the data.
    """

    among: FloatArray
    targets: FloatArray
    n_columns: int

    def of(self, rows: IntArray) -> Products:
        """Return the neighborhoods of some points."""
        return Products(self.among[rows], self.targets[rows], self.n_columns)

    def lengths(self) -> FloatArray:
        """Return the distances of the neighbors from the origin."""
        return np.sqrt(np.einsum("mkk->mk", self.among))

    def from_means(self, fractions: FloatArray) -> FloatArray:
        """Return the squared distances of the neighbors from their means."""
        return np.einsum("mkk->mk", self._centered(fractions))

    def spread(self, fractions: FloatArray) -> Spread:
        """Return the axes of neighbors that have fractions of shape (m, k).

        Squares lose half of the digits: what is thinner than rounding can tell counts as nothing.
        """
        roots = np.sqrt(fractions)
        scaled = self._centered(fractions) * roots[:, :, None] * roots[:, None, :]
        squares, left = np.empty(fractions.shape), np.empty(scaled.shape)
        decompose(scaled, squares, left)
        least = fractions.shape[1] * np.finfo(np.float64).eps * squares[:, :1]
        widths = np.sqrt(np.where(squares > least, squares, 0.0))
        return Spread(fractions, left, widths, np.empty((*widths.shape, 0)))

    def toward(self, spread: Spread, fractions: FloatArray) -> FloatArray:
        """Return v_l·(x − Σ ω_j x_j) of the axes."""
        # (x_j − m)·(x − Σ ω_i x_i), but for what is the same for all j: U has no part along √ω.
        gaps = self.targets - np.einsum("mjk,mk->mj", self.among, fractions)
        gaps -= np.einsum("mk,mk->m", gaps, spread.fractions)[:, None]
        products = np.einsum("mk,mkr->mr", np.sqrt(spread.fractions) * gaps, spread.left)
        return _divided(products, spread.widths)

    def along(self, spread: Spread, q: int) -> FloatArray:
        """Return v_l·(x_i − m) of the q widest axes."""
        weighted = np.sqrt(spread.fractions)[:, :, None] * spread.left[:, :, :q]
        return _divided(self._centered(spread.fractions) @ weighted, spread.widths[:, None, :q])

    def _centered(self, fractions: FloatArray) -> FloatArray:
        """Return (x_i − m)·(x_j − m)."""
        means = np.einsum("mjk,mk->mj", self.among, fractions)
        means -= 0.5 * np.einsum("mk,mk->m", means, fractions)[:, None]
        return self.among - means[:, :, None] - means[:, None, :]


Neighborhoods: TypeAlias = Offsets | Products


def find_neighborhoods(points: FloatArray, used: IntArray, queries: FloatArray) -> Neighborhoods:
    """Return the neighborhoods of queries, of which `used` lists the neighbors, nearest first."""
    (m, k), d = used.shape, points.shape[1]
    if d <= k:
        origins = points[used[:, 0]]
        return Offsets(points[used] - origins[:, None, :], queries - origins)
    among, targets = np.empty((m, k, k)), np.empty((m, k))
    used = np.ascontiguousarray(used, dtype=np.int64)
    multiply_offsets(points, used, np.ascontiguousarray(queries), among, targets)
    return Products(among, targets, d)


def neighborhoods_of(neighbors: FloatArray, targets: FloatArray) -> Neighborhoods:
    """Return the neighborhoods of points whose offsets are known."""
    if neighbors.shape[2] <= neighbors.shape[1]:
        return Offsets(neighbors, targets)
    among = neighbors @ neighbors.swapaxes(1, 2)
    return Products(among, (neighbors @ targets[:, :, None])[:, :, 0], neighbors.shape[2])


def lengths_of(vectors: FloatArray) -> FloatArray:
    """Return the lengths of vectors of shape (m, k, d)."""
    lengths: FloatArray = np.sqrt(np.einsum("mkd,mkd->mk", vectors, vectors))
    return lengths


def _divided(products: FloatArray, widths: FloatArray) -> FloatArray:
    """Return quotients, zero along axes of no width."""
    return np.divide(products, widths, out=np.zeros_like(products), where=widths > 0)
