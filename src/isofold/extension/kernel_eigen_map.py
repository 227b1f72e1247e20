"""New objects among Laplacian eigenvectors of a kernel graph, by Nyström's formula.

    x_k(y) = Σ_j w(y, y_j) x_jk / ((1 − λ_k) Σ_j w(y, y_j))

with the weights that y would have in the graph. On a training object this is L x = λ D x itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from isofold._memory import block_rows
from isofold._typing import BoolArray, FloatArray, IntArray, Matrix
from isofold.extension.way_back import LocalInverse
from isofold.linalg.motions import RigidMotions
from isofold.similarity.kernel_graph import weights_of_rows
from isofold.similarity.kernels import ComparedRows, KernelSource

__all__ = ["KernelEigenMap", "KernelNodes", "MapOfNodes"]

LEAST_SIMILARITY = 0.1
"""Similarity 1 - λ_k from which on Nyström's formula divides by it. Below, neighbors have little to
do with a coordinate, and their mean is taken as it is."""


@dataclass(frozen=True, eq=False)
class KernelNodes:
    """Training objects with which new ones are compared.

    Attributes
    ----------
    source : KernelSource
        The kernel, and the objects.
    columns : ndarray of int or None
        Their columns in precomputed rows.
    reach : ndarray of shape (n,)
        The value from which on an object is a neighbor of each.
    n_neighbors : int
        How many neighbors a new object has at least.
    """

    source: KernelSource
    columns: IntArray | None
    reach: FloatArray
    n_neighbors: int

    def blocks(self, X: Any) -> list[slice]:
        """Return parts of new objects whose kernel rows fit into memory."""
        n = X.shape[0]
        step = block_rows(8 * 8 * len(self.reach), n)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def rows(self, X: Any) -> ComparedRows:
        """Return the kernel of new objects with the training objects."""
        if self.columns is not None:
            X = X[:, self.columns]
        return self.source.rows(X)

    def is_outside(self, X: Any) -> BoolArray:
        """Return which objects are similar to no training object."""
        counts = [np.diff(self.weights(self.rows(X[part])).indptr) for part in self.blocks(X)]
        return np.concatenate(counts) == 0

    def weights(self, rows: ComparedRows) -> Matrix:
        """Return the weights of new objects in the graph."""
        return weights_of_rows(rows, self.reach, self.n_neighbors)


class MapOfNodes(LocalInverse):
    """What maps of objects share: a way back if they are points, and who is similar to none."""

    nodes: KernelNodes
    images: FloatArray

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the training points and their images."""
        points = np.asarray(self.nodes.source.objects)
        return points.astype(np.float64, copy=False), self.images

    @available_if(lambda new_map: isinstance(new_map.nodes.source.objects, np.ndarray))
    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return the points of the data that belong to points of the map."""
        return super().inverse_transform(Y)

    def is_outside(self, X_new: Any) -> BoolArray:
        """Return which objects are similar to no training object, so that nothing places them.

        Parameters
        ----------
        X_new : ndarray, sparse matrix or sequence
            As in `transform`.

        Returns
        -------
        ndarray of bool of shape (n_new,)
            Whether they are.
        """
        return self.nodes.is_outside(X_new)


@dataclass(frozen=True, eq=False)
class KernelEigenMap(MapOfNodes):
    """A map of new objects by Nyström's formula.

    Attributes
    ----------
    nodes : KernelNodes
        The training objects.
    shapes : ndarray of shape (n, r)
        Eigenvectors, of each component its own.
    factors : ndarray of shape (n_parts, r)
        1/(1 − λ_k) of each component.
    component : ndarray of int of shape (n,)
        The component of each training object.
    motions : RigidMotions
        Where components were placed.
    images : ndarray of shape (n, r)
        Where training objects are on the map.
    """

    nodes: KernelNodes
    shapes: FloatArray
    factors: FloatArray
    component: IntArray
    motions: RigidMotions
    images: FloatArray

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new objects, each by itself; a training object gets its own.

        Parameters
        ----------
        X_new : ndarray, sparse matrix or sequence
            The objects, as the embedder gets them, or their kernel rows.

        Returns
        -------
        ndarray of shape (n_new, r)
            Their images. An object that is similar to none goes to the center of the map.
        """
        images = np.empty((X_new.shape[0], self.images.shape[1]))
        for part in self.nodes.blocks(X_new):
            rows = self.nodes.rows(X_new[part])
            nearest, is_copy = self.nodes.source.nearest_copy(rows)
            found = self.extended(self.nodes.weights(rows))
            images[part] = np.where(is_copy[:, None], self.images[nearest], found)
        return images

    def extended(self, weights: Matrix) -> FloatArray:
        """Return where objects with given weights belong, by their most similar component."""
        n_parts = len(self.factors)
        owners = np.zeros(weights.shape[0], dtype=np.intp)
        if n_parts > 1:
            part_of = sp.csr_array(
                (np.ones(len(self.component)), (np.arange(len(self.component)), self.component)),
                shape=(len(self.component), n_parts),
            )
            owners = _largest_column(sp.csr_array(weights @ part_of))
            rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
            is_own = self.component[weights.indices] == owners[rows]
            kept = (rows[is_own], weights.indices[is_own])
            weights = sp.csr_array((weights.data[is_own], kept), shape=weights.shape)
        total = np.asarray(weights.sum(axis=1)).ravel()
        is_placed = total > 0.0
        means = (weights @ self.shapes) / np.where(is_placed, total, 1.0)[:, None]
        images = self.motions.apply(means * self.factors[owners], owners)
        return np.where(is_placed[:, None], images, self.images.mean(axis=0))


def nystrom_factors(eigenvalues: FloatArray) -> FloatArray:
    """Return 1/(1 − λ), or 1 where neighbors say little of a coordinate."""
    similar = np.where(np.isnan(eigenvalues), 0.0, 1.0 - eigenvalues)
    return np.where(similar >= LEAST_SIMILARITY, 1.0 / np.maximum(similar, LEAST_SIMILARITY), 1.0)


def _largest_column(table: Matrix) -> IntArray:
    """Return the column of the largest entry of every row, the first of equal ones."""
    table.sort_indices()
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    order = np.lexsort((table.indices, -table.data, rows))
    first, at = np.unique(rows[order], return_index=True)
    columns = np.zeros(table.shape[0], dtype=np.intp)
    columns[first] = table.indices[order][at]
    return columns
