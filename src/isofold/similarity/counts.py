"""Kernels that are inner products of counts: k(a, b) = Σ_t w_t ⟨φ_t(a), φ_t(b)⟩.

Counts are sparse, so that thousands of strings or graphs are compared by a few sparse products.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray
from isofold.similarity.objects import ObjectKernel, read_objects

__all__ = ["CountKernel", "count_table", "unit_diagonal"]

DENSE = 0.05
"""Fraction of stored counts beyond which a dense product is the quicker one."""


@dataclass(frozen=True)
class CountKernel(ObjectKernel):
    """An inner product of counts, which `_terms` finds in all objects at once."""

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every object of A with every object of B, or of A with itself."""
        first = read_objects(A, name="A")
        second = [] if B is None else read_objects(B, name="B")
        n, n_all = len(first), len(first) + len(second)
        rows = slice(0, n) if B is None else slice(n, n_all)
        K, own = np.zeros((n, rows.stop - rows.start)), np.zeros(n_all)
        for weight, counts in self._terms([*first, *second]):
            K += weight * _product(counts[:n], counts[rows])
            own += weight * np.asarray(counts.multiply(counts).sum(axis=1)).ravel()
        return unit_diagonal(K, own[:n], own[rows]) if self._is_normalized else K

    @property
    def _is_normalized(self) -> bool:
        """Whether every object has the kernel 1 with itself."""
        return bool(getattr(self, "normalize", True))

    @abstractmethod
    def _terms(self, objects: Sequence[Any]) -> Iterator[tuple[float, sp.csr_array]]:
        """Yield weights and counts, a row for each object."""


def unit_diagonal(K: FloatArray, own_rows: FloatArray, own_columns: FloatArray) -> FloatArray:
    """Return K_ij / √(k_ii k_jj); objects whose kernel with themselves is 0 stay zero vectors."""
    # √(x·x) is x to the bit, so that copies have exactly 1.
    sizes = np.sqrt(np.multiply.outer(own_rows, own_columns))
    return np.asarray(np.divide(K, sizes, out=np.zeros_like(K), where=sizes > 0))


def count_table(owners: IntArray, features: IntArray, n_objects: int) -> sp.csr_array:
    """Return how often each object has each feature, from one entry for each time."""
    n_features = int(features.max(initial=-1)) + 1
    shape = (n_objects, max(n_features, 1))
    counted = sp.coo_array((np.ones(len(owners)), (owners, features)), shape=shape)
    return sp.csr_array(counted)


def _product(F: sp.csr_array, G: sp.csr_array) -> FloatArray:
    """Return F Gᵀ as a dense array."""
    if G.nnz > DENSE * G.shape[0] * G.shape[1]:
        return np.asarray(F @ G.toarray().T)
    return np.asarray((F @ G.T).toarray())
