"""The sparse graph of a kernel: of every object its most similar others.

    W_ij = K_ij  if j is among the n largest of row i, or i among those of row j, and K_ij > 0

Of equal values the first counts. Objects that the kernel cannot tell apart are one node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.similarity.kernels import SAME, ComparedRows, Gram, is_sparse

__all__ = ["KernelGraph", "build_kernel_graph", "kernel_distances", "weights_of_rows"]


@dataclass(frozen=True, eq=False)
class KernelGraph:
    """A graph of the largest values of a kernel.

    Attributes
    ----------
    gram : Gram
        The kernel of the nodes.
    weights : csr_array of shape (n_nodes, n_nodes)
        Its symmetric weights, all positive; nothing on the diagonal.
    reach : ndarray of shape (n_nodes,)
        The least value among the n largest of every node; next to zero if fewer are positive.
    n_neighbors : int
        n.
    negative : float
        Fraction of the values that are negative: they are no weights.
    node_of_sample, sample_of_node : ndarray of int
        The node of every sample, and the first sample of every node.
    """

    gram: Gram
    weights: Matrix
    reach: FloatArray
    n_neighbors: int
    negative: float
    node_of_sample: IntArray
    sample_of_node: IntArray

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.weights.shape[0])

    @property
    def degrees(self) -> FloatArray:
        """Sums of the weights."""
        return np.asarray(self.weights.sum(axis=1)).ravel()


def build_kernel_graph(gram: Gram, n_neighbors: int) -> KernelGraph:
    """Return the graph of the largest values of a kernel, with copies as one node."""
    nearest, first, negative = _nearest(gram, n_neighbors)
    node_of_sample = sample_of_node = np.arange(gram.n_objects)
    if np.any(first != sample_of_node):
        n = len(first)
        links = sp.csr_array((np.ones(n), (np.arange(n), first)), shape=(n, n))
        labels = connected_components(links, directed=False)[1]
        _, sample_of_node, number = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(sample_of_node, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        node_of_sample, sample_of_node = rank[number], sample_of_node[order]
        gram = gram.restrict(sample_of_node)
        nearest = _nearest(gram, n_neighbors)[0]
    # Those that list fewer than n others list all that are similar to them at all.
    is_full = np.diff(nearest.indptr) >= n_neighbors
    reach = np.full(gram.n_objects, np.nextafter(0.0, 1.0))
    least = np.minimum.reduceat(np.append(nearest.data, np.inf), nearest.indptr[:-1])
    # Less the rounding of a row that is computed by itself.
    reach[is_full] = least[is_full] * (1.0 - SAME * gram.source.eps)
    return KernelGraph(
        gram=gram,
        weights=sp.csr_array(nearest.maximum(nearest.T)),
        reach=reach,
        n_neighbors=n_neighbors,
        negative=negative,
        node_of_sample=np.asarray(node_of_sample, dtype=np.intp),
        sample_of_node=np.asarray(sample_of_node, dtype=np.intp),
    )


def weights_of_rows(rows: ComparedRows, reach: FloatArray, n_neighbors: int) -> Matrix:
    """Return the weights that new objects would have: their largest, or one of another's."""
    largest = _largest(rows.values, n_neighbors)
    values = sp.csr_array(rows.values)
    numbers = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    kept = values.data >= reach[values.indices]
    listed = sp.csr_array(
        (values.data[kept], (numbers[kept], values.indices[kept])), shape=values.shape
    )
    return sp.csr_array(largest.maximum(listed))


def kernel_distances(gram: Gram, pairs: IntArray) -> FloatArray:
    """Return √(k_ii + k_jj − 2k_ij) of pairs of objects; what is negative there counts as zero."""
    own, (i, j) = gram.own, (pairs[:, 0], pairs[:, 1])
    if gram.is_sparse:
        values = np.asarray(gram.values[i, j]).ravel() if len(i) else np.empty(0)
    elif gram.values is not None:
        values = gram.values[i, j]
    else:
        values = np.empty(len(i))
        step = 4096
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            few, back = np.unique(j[part], return_inverse=True)
            values[part] = gram.block(i[part], few)[np.arange(len(back)), back]
    return np.sqrt(np.maximum(own[i] + own[j] - 2.0 * values, 0.0))


def _nearest(gram: Gram, k: int) -> tuple[Matrix, IntArray, float]:
    """Return the largest values of every row, the first copy of every object, and how many are < 0.

    An object is a copy of another if their squared distance is zero up to rounding.
    """
    n, own, tolerance = gram.n_objects, gram.own, SAME * gram.source.eps
    if gram.is_sparse:
        return _nearest_stored_values(gram, k)
    parts, first, n_negative = [], np.empty(n, dtype=np.intp), 0
    for rows, block in gram.blocks():
        numbers = np.arange(rows.start, rows.stop)
        squares = np.abs(own[rows, None] + own - 2.0 * block)
        is_copy = squares <= tolerance * np.maximum(own[rows, None], own)
        is_copy &= own[rows, None] > 0.0
        is_copy[np.arange(len(numbers)), numbers] = True
        first[rows] = is_copy.argmax(axis=1)
        n_negative += int((block < 0.0).sum())
        block[np.arange(len(numbers)), numbers] = 0.0
        parts.append(_largest(block, k))
    return sp.csr_array(sp.vstack(parts)), first, n_negative / n**2


def _nearest_stored_values(gram: Gram, k: int) -> tuple[Matrix, IntArray, float]:
    """Do the same with stored values."""
    n, own, values = gram.n_objects, gram.own, gram.values
    rows = np.repeat(np.arange(n), np.diff(values.indptr))
    squares = np.abs(own[rows] + own[values.indices] - 2.0 * values.data)
    limit = SAME * gram.source.eps * np.maximum(own[rows], own[values.indices])
    is_copy = (squares <= limit) & (own[rows] > 0.0)
    first = np.arange(n)
    np.minimum.at(first, rows[is_copy], values.indices[is_copy])
    others = values.copy()
    others.setdiag(0.0)
    return _largest(others, k), first, float((values.data < 0.0).sum()) / n**2


def _largest(values: Matrix, k: int) -> Matrix:
    """Return the k largest entries of every row, only positive ones; of equal ones the first."""
    if is_sparse(values):
        found = sp.csr_array(values)
        rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
        order = np.lexsort((found.indices, -found.data, rows))
        rank = np.arange(len(order)) - found.indptr[rows[order]]
        order = order[(rank < k) & (found.data[order] > 0.0)]
        return sp.csr_array((found.data[order], (rows[order], found.indices[order])), found.shape)
    n = values.shape[1]
    if k >= n:
        return sp.csr_array(np.where(values > 0.0, values, 0.0))
    least = np.partition(values, n - k, axis=1)[:, n - k, None]
    chosen = values > least
    tied = values == least
    missing = k - chosen.sum(axis=1, keepdims=True)
    # Counting is only for rows in which more are tied than are missing.
    crowded = np.flatnonzero(tied.sum(axis=1) > missing[:, 0])
    tied[crowded] &= np.cumsum(tied[crowded], axis=1) <= missing[crowded]
    return sp.csr_array(np.where((chosen | tied) & (values > 0.0), values, 0.0))
