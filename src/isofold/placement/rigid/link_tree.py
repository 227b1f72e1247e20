"""A spanning tree of linked shapes, from the largest shape outward."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["LinkTree"]


@dataclass(frozen=True, eq=False)
class LinkTree:
    """The shortest links that connect all shapes.

    Attributes
    ----------
    order : ndarray of int of shape (n_shapes,)
        Shapes, parents before children; the first is the root.
    parent : ndarray of int of shape (n_shapes,)
        The shape that a shape hangs on; -1 for the root.
    link : ndarray of int of shape (n_shapes,)
        The link to the parent; -1 for the root.
    near, far : ndarray of shape (n_shapes, q)
        Ends of that link in the parent and in the shape, relative to their centroids.
    length : ndarray of shape (n_shapes,)
        Length of that link.
    """

    order: IntArray
    parent: IntArray
    link: IntArray
    near: FloatArray
    far: FloatArray
    length: FloatArray

    @classmethod
    def of(
        cls, owners: IntArray, ends: FloatArray, lengths: FloatArray, sizes: IntArray
    ) -> LinkTree:
        """Return the tree of least total length, rooted at the largest shape."""
        n_shapes, q = len(sizes), ends.shape[2]
        # Ranks stand for lengths: distinct and positive, so that the tree is unique.
        by_length = np.lexsort((np.arange(len(lengths)), lengths))
        low, high = owners.min(axis=1)[by_length], owners.max(axis=1)[by_length]
        _, first = np.unique(low * n_shapes + high, return_index=True)
        graph = sp.csr_array((first + 1.0, (low[first], high[first])), shape=(n_shapes, n_shapes))
        tree = csgraph.minimum_spanning_tree(graph)
        ranks = sp.csr_array(tree + tree.T)
        root = int(np.argmax(sizes))
        order, parent = csgraph.breadth_first_order(ranks, root, directed=False)
        parent = np.where(parent < 0, -1, parent)
        link = np.full(n_shapes, -1)
        near, far, length = np.zeros((n_shapes, q)), np.zeros((n_shapes, q)), np.zeros(n_shapes)
        for child in order[1:]:
            link[child] = by_length[int(ranks[parent[child], child]) - 1]
            side = int(owners[link[child], 0] == child)
            near[child], far[child] = ends[link[child], side], ends[link[child], 1 - side]
            length[child] = lengths[link[child]]
        return cls(order, parent, link, near, far, length)

    @property
    def unit(self) -> float:
        """The largest length in the tree."""
        sizes = [np.abs(each).max(initial=0.0) for each in (self.near, self.far, self.length)]
        return float(max(sizes))

    def ends_of(self, shape: int) -> FloatArray:
        """Return the ends of all links of a shape, relative to its centroid."""
        own = self.far[[shape]] if self.parent[shape] >= 0 else self.far[:0]
        return np.concatenate([own, self.near[self.parent == shape]])

    @cached_property
    def branches(self) -> BoolArray:
        """For every shape, which shapes hang on it: itself, children, their children."""
        below = np.eye(len(self.parent), dtype=bool)
        for child in self.order[:0:-1]:
            below[self.parent[child]] |= below[child]
        return below

    def is_bridge(self, shape: int, owners: IntArray) -> bool:
        """Return whether one link alone, of all those given, holds a shape and its branch."""
        inside = self.branches[shape][owners]
        return int((inside[:, 0] != inside[:, 1]).sum()) == 1
