"""Copies of a sample: found exactly, in sorting time.

Copies of a point carry no distance of their own, but they fill neighbor lists: with five
copies of every point a 4-nearest-neighbor graph falls into pairs of nothing. So the graph
is built over the distinct points (*nodes*) and the samples refer to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from isofold._typing import FloatArray, IntArray

# Odd 64-bit multiplier of a linear congruential generator (Steele and Vigna, 2022); its
# powers weigh the columns of a row's hash.
_MULTIPLIER = 0xD1342543DE82EF95
_MODULUS = 2**64

_BLOCK = 2**16
"""Entries that are hashed at a time: they stay in the cache."""


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of a table.

    Attributes
    ----------
    node_of_sample : ndarray of shape (n_samples,)
        The node at which a sample sits. Nodes are numbered in order of first appearance.
    sample_of_node : ndarray of shape (n_nodes,)
        The first sample of a node.
    """

    node_of_sample: IntArray
    sample_of_node: IntArray

    @property
    def n_nodes(self) -> int:
        """Number of distinct rows."""
        return len(self.sample_of_node)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.node_of_sample)

    @property
    def has_copies(self) -> bool:
        """Whether any two rows are equal."""
        return self.n_nodes < self.n_samples

    def samples_by_node(self) -> tuple[IntArray, IntArray]:
        """Return the samples grouped by node: node i has ``samples[indptr[i]:indptr[i + 1]]``."""
        counts = np.bincount(self.node_of_sample, minlength=self.n_nodes)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return indptr, np.argsort(self.node_of_sample, kind="stable")


def from_labels(labels: IntArray) -> Distinct:
    """Return the nodes that arbitrary group labels mean, numbered by first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Distinct(node_of_sample=rank[inverse], sample_of_node=first[order])


def find_distinct(X: FloatArray) -> Distinct:
    """Return the distinct rows of a table.

    Rows are grouped by a 64-bit hash, which costs one sort of n numbers; the groups are
    then compared entry by entry, so the answer is exact.

    Examples
    --------
    >>> import numpy as np
    >>> find_distinct(np.array([[1.0], [0.0], [1.0]])).node_of_sample
    array([0, 1, 0])
    """
    n_samples = len(X)
    hashes = _hash_rows(X)
    in_order = np.sort(hashes)
    if (in_order[1:] != in_order[:-1]).all():
        every = np.arange(n_samples)
        return Distinct(node_of_sample=every, sample_of_node=every)
    distinct = from_labels(hashes)
    copies = np.flatnonzero(
        distinct.sample_of_node[distinct.node_of_sample] != np.arange(n_samples)
    )
    originals = distinct.sample_of_node[distinct.node_of_sample[copies]]
    if np.array_equal(X[copies], X[originals]):
        return distinct
    # Different rows shared a hash: fall back to the slow, collision-free method.
    return from_labels(np.unique(X, axis=0, return_inverse=True)[1].ravel())


def _hash_rows(X: FloatArray) -> IntArray:
    """Return one 64-bit number a row, equal for equal rows."""
    n, d = X.shape
    bits = np.uint64 if X.dtype == np.float64 else np.uint32
    powers = accumulate(range(d), lambda weight, _: weight * _MULTIPLIER % _MODULUS, initial=1)
    weights = np.array(list(powers)[1:], dtype=np.uint64)
    hashes = np.empty(n, dtype=np.uint64)
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        # Adding zero makes -0.0 to 0.0, which compare equal but differ in their bits.
        block = np.ascontiguousarray(X[start : start + step]) + 0
        bit_words = block.view(bits).astype(np.uint64)
        # Low bits of round floating-point numbers are zero: fold the high ones down.
        bit_words ^= bit_words >> np.uint64(29)
        hashes[start : start + step] = bit_words @ weights
    return hashes
