"""Overlaps of patches: which patches share points, and how many."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import IntArray

__all__ = ["shared_counts"]


def shared_counts(
    members: IntArray, patches: IntArray, n_patches: int
) -> tuple[IntArray, IntArray]:
    """Return the pairs of patches that share points, and how many.

    Examples
    --------
    >>> import numpy as np
    >>> shared_counts(np.array([0, 1, 2, 1, 2, 3]), np.array([0, 0, 0, 1, 1, 1]), 2)
    (array([1]), array([2]))
    """
    n_points = int(members.max(initial=-1)) + 1
    ones = np.ones(len(members), dtype=np.int64)
    holds = sp.csr_array((ones, (patches, members)), shape=(n_patches, n_points))
    shared = sp.coo_array(sp.triu(holds @ holds.T, k=1))
    pairs = shared.row.astype(np.int64) * n_patches + shared.col
    order = np.argsort(pairs)
    return pairs[order], shared.data[order]
